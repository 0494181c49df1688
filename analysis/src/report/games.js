// Steps through stored games on a board. It does not know the rules: every position comes with its pieces and moves.
(() => {
  const games = JSON.parse(document.getElementById("games-data").textContent);
  const byId = (id) => document.getElementById(id);
  const html = (tag, text, parent, className) => {
    const element = document.createElement(tag);
    if (text !== null) element.textContent = text;
    if (className) element.className = className;
    if (parent) parent.append(element);
    return element;
  };
  let game = games[0];
  let ply = 0;
  let flipped = false;
  let timer = 0;

  // In a game of PGN, which no net searched, the evaluations are those of its file, and the move played has a visit. A net's answer
  // without a search has none.
  const isOfFile = (search) => game.white === "?" && search.s <= 1 && search.v > 0;
  const searches = () => game.plies.flatMap((position) => position.t ?? []);
  const isWhite = (position) => position.b.endsWith(" w");
  const white = (position, value) => (isWhite(position) ? value : -value);
  const signed = (value) => (value <= -0.005 ? "−" : "+") + Math.abs(value).toFixed(2);
  // The plies before a position, counted as its game counts moves.
  const before = (index) => game.before + index;
  const number = (index) => Math.floor(before(index) / 2) + 1;
  const percent = (share) => (100 * share).toFixed(share > 0 && share < 0.1 ? 1 : 0) + " %";

  function drawBoard(position) {
    const arrows = (position.t && !isOfFile(position.t) ? position.t.p : []).slice(0, 3).map(([, from, to, , share]) => [from, to, share]);
    draw(byId("board"), { placement: position.b, last: position.m ? [position.m[1], position.m[2]] : [], arrows, flipped });
  }

  function drawSearch(position) {
    const search = position.t;
    const last = position.m ? `${number(ply - 1)}${before(ply) % 2 ? "." : "…"} ${position.m[0]}` : "Start";
    const side = isWhite(position) ? "White" : "Black";
    const end = ply === game.plies.length - 1;
    byId("where").textContent = end ? `${last}: ${game.result}, ${game.reason}` : `${last}; ${side} to move (move ${number(ply)})`;
    const values = byId("values");
    values.replaceChildren();
    const entry = (name, text) => { const box = html("div", null, values); html("dt", name, box); html("dd", text, box); };
    const body = byId("moves").querySelector("tbody");
    body.replaceChildren();
    byId("moves").hidden = !search || isOfFile(search);
    bar(search ? white(position, search.q[0]) : end ? { "1–0": 1, "0–1": -1 }[game.result] ?? 0 : 0);
    if (search && isOfFile(search)) {
      byId("note").textContent = "Nobody searched this position.";
      entry("evaluation in the file", signed(white(position, search.q[0])) + ", draw " + percent(search.q[1]));
      return;
    }
    byId("note").textContent = !search
      ? (end ? "The game is over." : unsearched())
      : `${search.s} simulation${search.s === 1 ? "" : "s"}` + (game.white === "?" ? "" : ` by net ${game.white}`) + (search.a > search.p.length ? `; ${search.a - search.p.length} more move${search.a - search.p.length === 1 ? "" : "s"}` : "") +
        (search.f ? "." : "; this search is not a policy target.");
    if (!search) return;
    entry("search", signed(white(position, search.q[0])) + ", draw " + percent(search.q[1]));
    entry("net alone", signed(white(position, search.n[0])) + ", draw " + percent(search.n[1]));
    for (const [san, , , visits, share, isPlayed] of search.p) {
      const row = html("tr", null, body, isPlayed ? "played" : "");
      html("th", san + (isPlayed ? " (played)" : ""), row).scope = "row";
      const cell = html("td", null, row);
      const track = html("span", null, cell, "track");
      html("span", null, track).style.width = 100 * share + "%";
      html("span", percent(share), cell, "share");
      html("td", String(visits), row, "n");
    }
  }

  function unsearched() {
    if (searches().length === 0) return "Nobody searched this game.";
    if (ply < game.opening) return "This move was not searched: it belongs to the opening.";
    return searches().every(isOfFile) ? "The file has no evaluation of this position, or one equal to the result." : "This move was not searched.";
  }

  function bar(value) {
    byId("eval").firstElementChild.style.height = 50 * (1 + value) + "%";
    byId("eval").classList.toggle("flipped", flipped);
    byId("eval").setAttribute("aria-label", "White's value " + signed(value));
  }

  function drawCurve() {
    const curve = byId("curve");
    curve.replaceChildren();
    const last = Math.max(1, game.plies.length - 1);
    const x = (index) => (360 * index) / last;
    const y = (value) => 42 - 38 * value;
    const isSearched = searches().length === 0 || !searches().every(isOfFile);
    byId("first-value").textContent = isSearched ? "search" : "evaluation in the file, for White";
    byId("second-value").hidden = !isSearched;
    put("path", { d: "M0 42H360", class: "zero" }, curve);
    for (const [key, className] of [["n", "net"], ["q", "search"]]) {
      let [d, pen] = ["", "M"];
      game.plies.forEach((position, index) => {
        if (!position.t || (key === "n" && isOfFile(position.t))) { pen = "M"; return; }
        d += `${pen}${x(index).toFixed(1)} ${y(white(position, position.t[key][0])).toFixed(1)}`;
        // A value without neighbours is a short dash.
        if (pen === "M" && !game.plies[index + 1]?.t) d += "h4";
        pen = "L";
      });
      put("path", { d, class: className }, curve);
    }
    put("path", { id: "cursor", d: "", class: "cursor" }, curve);
  }

  function drawList() {
    const list = byId("list");
    list.replaceChildren();
    list.style.counterReset = `move ${number(0) - 1}`;
    // Where Black moves first, the first number has only Black's move.
    for (let index = 1 - (before(0) % 2); index < game.plies.length; index += 2) {
      const item = html("li", null, list, index === 0 ? "black" : "");
      for (const half of [index, index + 1]) {
        if (half === 0) continue;
        if (half >= game.plies.length) break;
        const button = html("button", game.plies[half].m[0], item);
        button.type = "button";
        button.dataset.ply = half;
      }
    }
  }

  function show(wanted) {
    ply = Math.max(0, Math.min(game.plies.length - 1, wanted));
    const position = game.plies[ply];
    drawBoard(position);
    drawSearch(position);
    byId("ply").value = ply;
    byId("ply").setAttribute("aria-valuetext", byId("where").textContent);
    const cursor = (360 * ply) / Math.max(1, game.plies.length - 1);
    document.getElementById("cursor").setAttribute("d", `M${cursor} 0V84`);
    byId("board").setAttribute("aria-label", "Board after " + byId("where").textContent + ", " + position.b);
    for (const button of byId("list").querySelectorAll("button")) {
      const is = Number(button.dataset.ply) === ply;
      button.classList.toggle("now", is);
      // Scrolls the list, but not the page.
      if (is) byId("list").scrollTop = button.offsetTop - (byId("list").clientHeight - button.offsetHeight) / 2;
    }
    if (ply === game.plies.length - 1) stop();
  }

  function stop() {
    clearInterval(timer);
    timer = 0;
    byId("play").textContent = "Play";
    byId("play").setAttribute("aria-pressed", "false");
  }

  function load(index) {
    stop();
    game = games[index];
    byId("ply").max = game.plies.length - 1;
    drawCurve();
    drawList();
    show(Math.min(game.opening, game.plies.length - 1));
  }

  const steps = { first: () => 0, back: () => ply - 1, next: () => ply + 1, last: () => game.plies.length - 1 };
  for (const [id, goal] of Object.entries(steps)) byId(id).addEventListener("click", () => { stop(); show(goal()); });
  const keys = { ArrowLeft: "back", ArrowRight: "next", Home: "first", End: "last" };
  byId("viewer").addEventListener("keydown", (event) => {
    const step = keys[event.key];
    if (!step || event.target.tagName === "SELECT" || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    stop();
    show(steps[step]());
  });
  byId("ply").addEventListener("input", (event) => { stop(); show(Number(event.target.value)); });
  byId("game").addEventListener("change", (event) => load(Number(event.target.value)));
  byId("list").addEventListener("click", (event) => { if (event.target.dataset.ply) { stop(); show(Number(event.target.dataset.ply)); } });
  byId("curve").addEventListener("click", (event) => {
    const box = byId("curve").getBoundingClientRect();
    stop();
    show(Math.round(((event.clientX - box.left) / box.width) * (game.plies.length - 1)));
  });
  byId("flip").addEventListener("click", () => { flipped = !flipped; byId("flip").setAttribute("aria-pressed", String(flipped)); show(ply); });
  byId("play").addEventListener("click", () => {
    if (timer) { stop(); return; }
    if (ply === game.plies.length - 1) show(0);
    timer = setInterval(() => show(ply + 1), 700);
    byId("play").textContent = "Pause";
    byId("play").setAttribute("aria-pressed", "true");
  });
  byId("viewer").hidden = false;
  load(0);
})();
