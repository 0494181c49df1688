// Stored games of a run, position by position, and the game in progress.
import { at, make, percent, signed } from "./common.js";
import { draw } from "./board.js";
import { GamePages } from "./game_pages.js";

const STEP = 700;
const PAUSE_AT_END = 2500;

export class Games {
  constructor(run) {
    this.run = run;
    // The page that the games are from.
    this.page = null;
    this.games = [];
    this.game = null;
    // Games stored meanwhile; they follow once the game on the board has ended.
    this.newer = null;
    // The game in progress, and whether it is the one on the board.
    this.playing = null;
    this.isLive = false;
    this.ply = 0;
    this.flipped = false;
    this.isMoving = !matchMedia("(prefers-reduced-motion: reduce)").matches;
    this.timer = 0;
    this.pages = new GamePages(run, (found) => this.take(found));
    at("back").addEventListener("click", () => this.step(-1));
    at("next").addEventListener("click", () => this.step(1));
    at("pace").addEventListener("click", () => this.pace(!this.isMoving));
    at("flip").addEventListener("click", () => {
      this.flipped = !this.flipped;
      at("flip").setAttribute("aria-pressed", String(this.flipped));
      this.show();
    });
    at("game").addEventListener("change", (event) => {
      if (event.target.value === "now") this.goLive();
      else this.choose(Number(event.target.value));
    });
    at("viewer").addEventListener("keydown", (event) => {
      const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (!by || event.target.tagName === "SELECT" || event.altKey || event.ctrlKey || event.metaKey) return;
      event.preventDefault();
      this.step(by);
    });
    this.pace(this.isMoving);
  }

  // Takes the game in progress, or null for none. It is shown while no game is stored yet.
  now(game) {
    const hasChanged = JSON.stringify(game) !== JSON.stringify(this.playing);
    const hasStartedOrEnded = Boolean(game) !== Boolean(this.playing);
    this.playing = game;
    if (hasStartedOrEnded) this.listGames();
    if (game && !this.game && !this.isLive) this.goLive();
    else if (game && this.isLive && hasChanged) this.show();
    else if (!game && this.isLive) this.leave();
  }

  goLive() {
    this.isLive = true;
    at("viewer").hidden = false;
    at("no-games").hidden = true;
    at("game").value = "now";
    at("players").textContent = "";
    at("source").textContent = "reported by the run every second or two; search results come with the stored games";
    this.enableControls();
    this.pages.choose(null);
    this.show();
    this.schedule();
  }

  leave() {
    this.isLive = false;
    if (this.newer) this.showNewer();
    else if (this.game) this.choose(0);
    else {
      at("viewer").hidden = true;
      at("no-games").hidden = false;
      this.pages.choose(null);
    }
  }

  // Takes the stored games off the board, where none of the page can be read.
  clear() {
    [this.page, this.games, this.game, this.newer] = [null, [], null, null];
    this.listGames();
    this.schedule();
    if (!this.isLive) this.leave();
  }

  // Fills the list of games.
  listGames() {
    const chosen = at("game").value;
    const stored = this.games.map((game, index) =>
      make("option", { text: `${game.title}: ${game.result}, ${game.plies.length - 1} plies`, value: index }));
    at("game").replaceChildren(...(this.playing ? [make("option", { text: "now: in progress", value: "now" })] : []), ...stored);
    at("game").value = chosen;
  }

  enableControls() {
    for (const id of ["back", "pace", "next"]) at(id).disabled = this.isLive;
  }

  // The latest stored games have changed.
  load(source) {
    this.pages.refresh(source);
  }

  // Takes a page of games. The game on the board is finished first, at a faster pace, unless the reader chose the page.
  take(found) {
    const isNow = found.isChosen || !this.game;
    if (found.games.length === 0) {
      if (isNow) this.clear();
      return;
    }
    this.newer = found;
    if (isNow) this.showNewer();
    else if (!this.isLive) this.schedule();
  }

  // Switches to the newer games.
  showNewer() {
    this.page = this.newer;
    this.newer = null;
    this.games = this.page.games;
    at("viewer").hidden = false;
    at("no-games").hidden = true;
    this.listGames();
    this.choose(0);
  }

  choose(index) {
    this.isLive = false;
    this.enableControls();
    this.game = this.games[index];
    this.index = index;
    this.pages.choose(this.game.index, this.page);
    at("game").value = String(index);
    at("players").textContent = this.game.white === this.game.black ? this.game.white : `White ${this.game.white}, Black ${this.game.black}`;
    this.ply = Math.min(this.game.opening, this.game.plies.length - 1);
    this.show();
    this.schedule();
  }

  step(by) {
    if (this.isLive) return;
    this.pace(false);
    this.ply = Math.max(0, Math.min(this.game.plies.length - 1, this.ply + by));
    this.show();
  }

  pace(isMoving) {
    this.isMoving = isMoving;
    at("pace").textContent = isMoving ? "Pause" : "Play";
    at("pace").setAttribute("aria-pressed", String(isMoving));
    this.schedule();
  }

  schedule() {
    clearTimeout(this.timer);
    if (!this.isMoving || !this.game || this.isLive) return;
    const isEnd = this.ply >= this.game.plies.length - 1;
    this.timer = setTimeout(() => {
      if (isEnd && this.newer) this.showNewer();
      else if (isEnd) this.choose((this.index + 1) % this.games.length);
      else {
        this.ply += 1;
        this.show();
        this.schedule();
      }
    }, isEnd ? PAUSE_AT_END : this.newer ? STEP / 4 : STEP);
  }

  show() {
    const position = this.isLive ? this.playing : this.game.plies[this.ply];
    const thought = position.t;
    const isWhite = position.b.endsWith(" w");
    const white = (value) => (isWhite ? value : -value);
    const isEnd = !this.isLive && this.ply === this.game.plies.length - 1;
    const ply = this.isLive ? `Now, ${position.title}, ply ${position.ply}` : `Ply ${this.ply}`;
    const move = position.m ? position.m[0] : "start";
    at("where").textContent = `${ply}: ${move}` + (isEnd ? `. ${this.game.result}, ${this.game.reason}` : `; ${isWhite ? "White" : "Black"} to move`);
    draw(at("board"), {
      placement: position.b, last: position.m ? position.m.slice(1) : [], flipped: this.flipped,
      arrows: (thought?.p ?? []).slice(0, 3).map(([, from, to, , share]) => [from, to, share]),
    });
    at("board").setAttribute("aria-label", `Board, ${at("where").textContent}`);
    const ends = { "1–0": 1, "0–1": -1 };
    const value = thought ? white(thought.q[0]) : isEnd ? ends[this.game.result] ?? 0 : 0;
    at("eval").firstElementChild.style.height = `${50 * (1 + value)}%`;
    at("eval").classList.toggle("unknown", this.isLive || !this.game.plies.some((ply) => ply.t));
    at("eval").classList.toggle("flipped", this.flipped);
    at("eval").setAttribute("aria-label", `White's value ${signed(value)}`);
    at("moves").hidden = !thought;
    if (!this.isLive) at("source").textContent = `from ${this.page.source}` + (thought && !thought.f ? "; this search is not a policy target" : "");
    const pair = (name, [q, d]) => make("div", { children: [make("dt", { text: name }), make("dd", { text: `${signed(white(q))}, draw ${percent(d)}` })] });
    at("opinion").replaceChildren(...(thought ? [pair("search, for White", thought.q), pair("net alone", thought.n)] : []));
    at("moves").tBodies[0].replaceChildren(...(thought?.p ?? []).map(([san, , , visits, share, isPlayed]) => {
      const width = make("span");
      width.style.width = `${100 * share}%`;
      return make("tr", { class: isPlayed ? "played" : null, children: [
        make("th", { text: san + (isPlayed ? " (played)" : ""), scope: "row" }),
        make("td", { children: [make("span", { class: "track", children: [width] }), make("span", { class: "share", text: percent(share) })] }),
        make("td", { text: visits, class: "n" }),
      ] });
    }));
  }
}
