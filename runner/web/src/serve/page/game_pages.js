// Which stored games are shown: of which step, which page of them, and the links to their PGN files.
import { at, counted, encoded, make, pause, request, setText, visible } from "./common.js";

// The option for the latest stored games, which change while the run is running.
const LATEST = "";

export class GamePages {
  // `take` receives each page of games, also one of which none can be read.
  constructor(run, take) {
    this.run = run;
    this.take = take;
    this.from = 0;
    this.shown = { from: 0, next: 0, all: 0, games: [] };
    this.loads = 0;
    at("source-step").addEventListener("change", () => this.goTo(0));
    at("earlier").addEventListener("click", () => this.goTo(Math.max(0, this.shown.from - this.size)));
    at("later").addEventListener("click", () => this.goTo(this.shown.next));
    this.size = 24;
  }

  query(step, more) {
    return new URLSearchParams({ ...(step === LATEST ? {} : { step }), ...more });
  }

  // There are new games: they are shown if the reader looks at the latest ones, and counted otherwise.
  refresh(source) {
    if (!source) return;
    this.list();
    if (at("source-step").value === LATEST) this.load(0, false);
  }

  async list() {
    const steps = await request(`/api/game-steps/${encoded(this.run)}`).catch(() => null);
    if (!steps) return;
    const chosen = at("source-step").value;
    const option = ({ id, name, games }) => make("option", { value: id, text: `${name}: ${counted(games, "game")}` });
    at("source-step").replaceChildren(make("option", { value: LATEST, text: "the latest shard" }), ...steps.reverse().map(option));
    at("source-step").value = steps.some(({ id }) => id === chosen) ? chosen : LATEST;
    at("pages").hidden = false;
  }

  goTo(from) {
    this.load(from, true);
  }

  async load(from, isChosen) {
    const own = ++this.loads;
    const step = at("source-step").value;
    // Another shard may be the latest by now.
    const shown = from > 0 ? { source: this.shown.source } : {};
    let found;
    try {
      found = await request(`/api/games/${encoded(this.run)}?${this.query(step, { from, ...shown })}`);
    } catch {
      found = { again: true };
    }
    if (own !== this.loads) return;
    if (found.again) {
      // A file has moved meanwhile, the server is busy, or it is gone.
      await pause(2000);
      await visible();
      if (own === this.loads) this.load(from, isChosen);
      return;
    }
    this.shown = { ...found, step };
    this.show();
    if (found.games.length > 0 || found.unreadable) this.take({ ...this.shown, isChosen });
  }

  show() {
    const { from, next, all, unreadable, because } = this.shown;
    const range = next > from ? `${from + 1} to ${next} of ${all}` : "none";
    const missing = unreadable ? `; ${unreadable} of them cannot be read` : "";
    setText(at("range"), range + missing + (because ? `: ${because}` : ""));
    setText(at("no-games"), unreadable ? "None of these games can be read." : "No game is stored yet.");
    at("earlier").disabled = from === 0;
    at("later").disabled = next >= all;
    at("pgn-all").href = this.pgn(this.shown);
  }

  // The game on the board with the page that it is from; null for the one in progress, which is not stored.
  choose(index, page) {
    at("pgn-one").hidden = index === null;
    if (index !== null) at("pgn-one").href = this.pgn(page, { game: index });
  }

  // The source is named, so that the file is never of games that became the latest since the page was shown.
  pgn({ step, source }, more = {}) {
    return `/api/pgn/${encoded(this.run)}?${this.query(step, { ...(source ? { source } : {}), ...more })}`;
  }
}
