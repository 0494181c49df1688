// The list of runs: searched, sorted, and ticked for comparison. What is searched and how it is sorted is part of the address.
import { at, badges, counted, duration, encoded, listen, make, patch, percent, precise, setText, signedWhole, when } from "./common.js";
import { Ticks } from "./compared.js";

const wanted = new URLSearchParams(location.search);
const sorting = { by: wanted.get("by"), isFalling: wanted.get("order") === "falling" };
const ticks = new Ticks(at("runs"), at("compare"));
let runs = [];
let glances = {};

const STATES = ["running", "cut", "stopped", "rests"];

// What a column sorts by; runs without a value come last.
const KEYS = {
  name: (row) => row.name.toLowerCase(),
  state: (row) => STATES.indexOf(row.state),
  elo: (row) => glances[row.path]?.elo?.elo,
  loss: (row) => glances[row.path]?.loss,
  steps: (row) => row.steps,
  seconds: (row) => row.seconds,
  last: (row) => row.last,
};

// In these columns the largest values are looked for.
const FALLING_FIRST = ["elo", "steps", "seconds", "last"];

function sorted(rows) {
  const key = KEYS[sorting.by];
  if (!key) return rows;
  const has = (row) => key(row) !== undefined && key(row) !== null;
  const compared = (a, b) => (key(a) < key(b) ? -1 : key(a) > key(b) ? 1 : 0) * (sorting.isFalling ? -1 : 1);
  return [...rows.filter(has).sort(compared), ...rows.filter((row) => !has(row))];
}

function isFound(row) {
  const shown = badges(row).map((badge) => badge.textContent ?? badge);
  const text = [row.name, row.script, row.kind, row.state, ...shown].filter(Boolean).join(" ").toLowerCase();
  return at("search").value.toLowerCase().split(/\s+/).every((word) => text.includes(word));
}

function sweepFacts(row) {
  const failed = row.failed ? `, ${row.failed} failed` : "";
  const best = row.best ? `; best ${row.objective} ${precise(row.best[0])}` : "";
  return `sweep of ${counted(row.trials, "trial")}: ${row.complete} complete${failed}${best}`;
}

function state(row) {
  const parts = badges(row);
  if (row.damage) parts.push(make("p", { text: row.damage, class: "damage" }));
  if (row.kind === "run" && row.state !== "rests" && row.total) {
    const left = row.state === "running" && row.left !== null ? `, ${duration(row.left)} left` : "";
    parts.push(make("div", { text: `${row.label}: ${percent(row.done / row.total)}${left}` }));
    parts.push(make("progress", { max: row.total, value: row.done, "aria-label": `${row.name}: ${row.label}` }));
  }
  return parts;
}

function elo({ elo, low, high, net }) {
  const interval = low < high ? `[${signedWhole(low)}, ${signedWhole(high)}]` : "";
  const title = `net ${String(net).padStart(4, "0")}${interval ? `, 95 % interval ${interval}` : ""}`;
  return [make("span", { text: signedWhole(elo), title }), make("div", { text: interval, class: "facts" })];
}

// A cell; its label is shown where the columns have no heads.
const cell = (label, children, kind) => make("td", { class: kind, "data-label": label, children });

function line(row) {
  const glance = glances[row.path] ?? {};
  const isRun = row.kind === "run";
  const text = (shown) => [document.createTextNode(shown)];
  const name = make("th", { scope: "row", children: [
    make("a", { text: row.name, href: `/${row.kind}/${encoded(row.path)}` }),
    make("div", { text: isRun ? row.script : sweepFacts(row), class: "facts" }),
  ] });
  return make("tr", { "data-run": row.path, "data-key": row.path, children: [
    make("td", { class: "tick", children: [isRun && ticks.box(row.path, row.name)] }),
    name,
    cell("state", state(row)),
    cell("Elo", glance.elo ? elo(glance.elo) : text("–"), "n"),
    cell("loss", text(typeof glance.loss === "number" ? glance.loss.toFixed(3) : "–"), "n"),
    cell("steps", text(isRun ? String(row.steps) : "–"), "n"),
    cell("time", text(isRun ? duration(row.seconds) : "–"), "n"),
    cell("last step", text(when(row.last))),
  ] });
}

function show() {
  const found = runs.filter(isFound);
  patch(at("list"), sorted(found).map(line));
  ticks.show(runs.map(({ path }) => path));
  for (const button of document.querySelectorAll("[data-sort]")) {
    const is = button.dataset.sort === sorting.by;
    const head = button.closest("th");
    if (is) head.setAttribute("aria-sort", sorting.isFalling ? "descending" : "ascending");
    else head.removeAttribute("aria-sort");
  }
  at("runs").hidden = runs.length === 0;
  at("find").hidden = runs.length === 0;
  at("none").hidden = runs.length > 0;
  const text = found.length === runs.length ? "" : `${found.length} of ${runs.length}`;
  setText(at("found"), text);
}

function keepInAddress() {
  const kept = new URLSearchParams();
  if (at("search").value) kept.set("search", at("search").value);
  if (sorting.by) kept.set("by", sorting.by);
  if (sorting.by && sorting.isFalling) kept.set("order", "falling");
  history.replaceState(null, "", kept.size ? `/?${kept}` : "/");
}

at("search").value = wanted.get("search") ?? "";
at("search").addEventListener("input", () => { keepInAddress(); show(); });
// A first click sorts by a column, a second one the other direction, a third one as the server does.
at("runs").tHead.addEventListener("click", ({ target }) => {
  const by = target.closest("[data-sort]")?.dataset.sort;
  if (!by) return;
  const first = FALLING_FIRST.includes(by);
  if (sorting.by !== by) Object.assign(sorting, { by, isFalling: first });
  else if (sorting.isFalling === first) sorting.isFalling = !first;
  else sorting.by = null;
  keepInAddress();
  show();
});
at("find").addEventListener("submit", (event) => event.preventDefault());
listen("/api/events", {
  list: (rows) => {
    runs = rows;
    show();
  },
  unshown: (names) => {
    at("unshown").hidden = names.length === 0;
    setText(at("unshown"), `Not shown, because no address can hold such a name; rename the folder: ${names.join(", ")}`);
  },
  glances: (known) => { glances = known; show(); },
});
