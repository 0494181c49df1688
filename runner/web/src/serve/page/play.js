import { Rejected, at, counted, encoded, make, pause, percent, request, setText, signed, visible } from "./common.js";
import { draw, pieceName, piecesOf, squareName } from "./board.js";

let game = null;
let chosen = null;
let focus = 12;
let flipped = false;
let watching = 0;

const storeId = (id) => { try { sessionStorage.setItem("dc0-game", id); } catch { /* Then a reload starts without a game. */ } };
const storedId = () => { try { return sessionStorage.getItem("dc0-game"); } catch { return null; } };

// Shows an error, or none; one of `watch` goes once there is a connection again.
function problem(text, source = "") {
  at("problem").hidden = !text;
  at("problem").textContent = text ?? "";
  at("problem").dataset.source = source;
}

// Does something and shows its error, if any. Returns whether it succeeded.
async function guarded(work) {
  try {
    problem(null);
    await work();
    return true;
  } catch (error) {
    problem(error.message);
    return false;
  }
}

// Sends an action in the game.
const act = (verb, body) => guarded(async () => {
  const state = await request(`/api/play/${game.id}/${verb}`, { method: "POST", body });
  take(state);
  if (state.refused) throw new Error(state.refused);
});

// Leaves the game.
function leave() {
  watching += 1;
  game = null;
  at("desk").hidden = true;
  storeId("");
}

const GONE = "The game has ended: in another window, after a long time without a viewer, or with the server.";

function take(state) {
  if (state.gone) {
    leave();
    throw new Error(GONE);
  }
  if (game && state.id === game.id && state.version < game.version) return;
  const isNew = !game || state.id !== game.id || state.version !== game.version;
  game = state;
  if (isNew) {
    chosen = null;
    at("promotion").hidden = true;
  }
  show();
}

// Follows the game for as long as it is the current one and the page is visible; lost connections are retried.
async function watch(id) {
  const own = ++watching;
  while (own === watching) {
    try {
      await visible();
      if (own !== watching) return;
      const state = await request(`/api/play/${id}?after=${game.version}`);
      if (own !== watching) return;
      if (at("problem").dataset.source === "watch") problem(null);
      if (state.gone) {
        leave();
        problem(GONE);
        return;
      }
      // After an older version, pause before the next request.
      if (state.version < game.version) await pause(1000);
      take(state);
    } catch (error) {
      if (own !== watching) return;
      problem(error instanceof Rejected ? error.message : `${error.message} Trying again.`, "watch");
      await pause(2000);
    }
  }
}

async function begin() {
  const old = game?.id;
  const [net, side, fen] = ["net", "side", "fen"].map((id) => at(id).value);
  const body = { net, side, fen: fen.trim() || null, simulations: Number(at("simulations").value) };
  let state = await request("/api/play", { method: "POST", body });
  if (old && (state.full || !state.refused)) {
    watching += 1;
    await request(`/api/play/${old}`, { method: "DELETE" });
  }
  if (old && state.full) {
    leave();
    state = await request("/api/play", { method: "POST", body });
  }
  if (state.refused) throw new Error(state.refused);
  game = null;
  flipped = side === "black";
  open(state);
}

function open(state) {
  at("flip").setAttribute("aria-pressed", String(flipped));
  at("desk").hidden = false;
  storeId(state.id);
  take(state);
  watch(state.id);
}

const mayMove = () => !game.result && (game.human === null || game.human === game.turn);
const movesFrom = (square) => (mayMove() ? game.legal.filter(([, from]) => from === square) : []);

function pick(square) {
  const goals = chosen === null ? [] : movesFrom(chosen).filter(([, , to]) => to === square);
  if (goals.length === 1) { chosen = null; act("move", { move: goals[0][0] }); return; }
  if (goals.length > 1) { choosePromotion(goals); return; }
  chosen = chosen !== square && movesFrom(square).length > 0 ? square : null;
  show();
}

function choosePromotion(goals) {
  const box = at("promotion");
  const names = { q: "queen", r: "rook", b: "bishop", n: "knight" };
  const button = (letter) => {
    const goal = goals.find(([, , , promotion]) => promotion === letter);
    const choice = make("button", { type: "button", text: names[letter] });
    choice.addEventListener("click", () => { closePromotion(); act("move", { move: goal[0] }); });
    return choice;
  };
  const none = make("button", { type: "button", text: "cancel" });
  none.addEventListener("click", closePromotion);
  box.replaceChildren(...["q", "r", "b", "n"].map(button), none);
  box.hidden = false;
  box.firstElementChild.focus();
}

// The keyboard goes back to the board.
function closePromotion() {
  at("promotion").hidden = true;
  chosen = null;
  show();
  focusOn(focus);
}

function show() {
  showBoard();
  showSearch();
  showMoves();
  const turn = game.turn === "white" ? "White" : "Black";
  setText(at("where"), game.result ? `${game.result}: ${game.reason}`
    : game.thinking ? "The net is thinking …"
      : `${turn} to move${game.check ? ", in check" : ""}${mayMove() && game.human ? ". Your turn." : ""}`);
  setText(at("now"), game.fen);
  at("pgn").href = `/api/play/${game.id}/pgn`;
  at("undo").disabled = !game.undo;
  for (const id of ["hint", "go"]) at(id).disabled = Boolean(game.result) || game.thinking;
  at("stop").disabled = !game.thinking;
  if (game.error) problem(game.error);
}

function showBoard() {
  const search = game.thought;
  const isCurrent = search && search.placement === game.placement;
  draw(at("board"), {
    placement: game.placement, last: game.last ?? [], flipped, check: game.check ? game.turn : null,
    marks: chosen === null ? [] : [chosen],
    targets: chosen === null ? [] : [...new Set(movesFrom(chosen).map(([, , to]) => to))],
    arrows: isCurrent ? search.lines.slice(0, 3).map((line) => [line.from, line.to, line.share]) : [],
  });
  const pieces = piecesOf(game.placement);
  const order = [...Array(64).keys()].map((index) => (flipped ? (index >> 3) * 8 + 7 - (index % 8) : (7 - (index >> 3)) * 8 + (index % 8)));
  const grid = at("grid");
  if (grid.children.length === 0) {
    for (let row = 0; row < 8; row += 1) {
      const line = make("div", { role: "row", class: "row" });
      for (let column = 0; column < 8; column += 1) line.append(make("button", { type: "button", role: "gridcell", tabindex: "-1" }));
      grid.append(line);
    }
  }
  const cells = [...grid.querySelectorAll("button")];
  cells.forEach((cell, index) => {
    const square = order[index];
    const piece = pieces.get(square);
    cell.dataset.square = square;
    cell.dataset.name = squareName(square);
    cell.tabIndex = square === focus ? 0 : -1;
    cell.setAttribute("aria-label", squareName(square) + (piece ? `, ${pieceName(piece)}` : ""));
    cell.setAttribute("aria-selected", String(square === chosen));
  });
}

function showSearch() {
  const search = game.thought;
  at("searched").hidden = !search;
  at("more").textContent = "";
  const [win, draws, loss] = search?.chances ?? [500, 0, 500];
  const white = (win + draws / 2) / 10;
  at("eval").firstElementChild.style.height = `${white}%`;
  at("eval").classList.toggle("flipped", flipped);
  at("eval").setAttribute("aria-label", `White wins ${win / 10} %, draw ${draws / 10} %, Black wins ${loss / 10} %`);
  if (!search) { at("opinion").replaceChildren(); at("moves").tBodies[0].replaceChildren(); return; }
  const pair = (name, text) => make("div", { children: [make("dt", { text: name }), make("dd", { text })] });
  at("opinion").replaceChildren(pair("for White", search.score), pair("White wins", percent(win / 1000)), pair("draw", percent(draws / 1000)), pair("Black wins", percent(loss / 1000)));
  const side = search.side === "white" ? "White" : "Black";
  at("caption").textContent = `The most visited moves for ${side} at ply ${search.ply}, ${counted(search.simulations, "simulation")}; q is for ${side}`;
  at("moves").tBodies[0].replaceChildren(...search.lines.map((line) => make("tr", { class: line.chosen ? "played" : null, children: [
    make("th", { text: line.san, scope: "row" }),
    make("td", { text: signed(line.q), class: "n" }),
    make("td", { text: line.visits, class: "n" }),
    make("td", { text: percent(line.prior), class: "n" }),
    make("td", { text: line.line, class: "line" }),
  ] })));
  at("more").textContent = search.more ? `${counted(search.more, "more move")} ${search.more === 1 ? "was" : "were"} visited.` : "";
}

function showMoves() {
  const list = at("list");
  list.replaceChildren();
  let number = game.number;
  let isWhite = game.first === "white";
  let item = null;
  for (const san of game.moves) {
    if (isWhite || !item) {
      item = make("li", { text: `${number}${isWhite ? "." : "…"} ${san}` });
      list.append(item);
    } else item.textContent += ` ${san}`;
    if (!isWhite) number += 1;
    isWhite = !isWhite;
  }
  list.scrollTop = list.scrollHeight;
}

function focusOn(square) {
  focus = square;
  showBoard();
  at("grid").querySelector(`[data-square="${square}"]`).focus();
}

at("grid").addEventListener("click", (event) => {
  if (event.target.dataset.square === undefined) return;
  focus = Number(event.target.dataset.square);
  pick(focus);
});
at("grid").addEventListener("keydown", (event) => {
  const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key];
  if (event.key === "Escape") { chosen = null; show(); }
  if (!step) return;
  event.preventDefault();
  const sign = flipped ? -1 : 1;
  const [file, rank] = [(focus % 8) + sign * step[0], (focus >> 3) + sign * step[1]];
  if (file >= 0 && file < 8 && rank >= 0 && rank < 8) focusOn(rank * 8 + file);
});
at("promotion").addEventListener("keydown", ({ key }) => { if (key === "Escape") closePromotion(); });
for (const verb of ["undo", "hint", "go", "stop"]) at(verb).addEventListener("click", () => act(verb));
at("flip").addEventListener("click", () => {
  flipped = !flipped;
  at("flip").setAttribute("aria-pressed", String(flipped));
  show();
});
at("typed").addEventListener("submit", (event) => {
  event.preventDefault();
  const text = at("move").value.trim();
  if (text) act("move", { move: text }).then((isDone) => { if (isDone) at("move").value = ""; });
});
at("end").addEventListener("click", () => guarded(async () => {
  await request(`/api/play/${game.id}`, { method: "DELETE" });
  leave();
  at("begin").focus();
}));
at("setup").addEventListener("submit", async (event) => {
  event.preventDefault();
  const focused = document.activeElement;
  at("begin").disabled = true;
  await guarded(begin);
  at("begin").disabled = false;
  if (document.activeElement === document.body) focused.focus();
});

async function start() {
  const wanted = new URLSearchParams(location.search).get("run");
  const [limits, runs] = await Promise.all([request("/api/limits"), request("/api/nets")]);
  at("simulations").max = limits.simulations;
  at("simulations").value = Math.min(at("simulations").value, limits.simulations);
  if (wanted && !runs.some(({ run }) => run === wanted)) runs.push(await request(`/api/nets/${encoded(wanted)}`));
  const option = (value, text) => make("option", { value, text });
  at("net").append(option("", "the shipped net"));
  for (const { run, nets } of runs) {
    at("net").append(make("optgroup", { label: run, children: nets.map((net) => option(`${run}:${net}`, `${run} ${String(net).padStart(4, "0")}`)) }));
  }
  const own = wanted && runs.find(({ run }) => run === wanted);
  if (own?.nets.length) at("net").value = `${wanted}:${own.nets[0]}`;
  const id = storedId();
  if (!id) return;
  const state = await request(`/api/play/${id}`).catch(() => null);
  if (!state || state.gone) return;
  flipped = state.about.side === "black";
  open(state);
}
guarded(start);
