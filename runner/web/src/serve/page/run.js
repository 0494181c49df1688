import { amount, at, badges, counted, duration, encoded, listen, make, pagePath, patch, setText, showLog, when } from "./common.js";
import { Games } from "./games.js";
import { Report } from "./report.js";

const run = pagePath();
const games = new Games(run);
const report = new Report(`/api/report/${encoded(run)}?of=`);

function entry(name, value) {
  return make("div", { children: [make("dt", { text: name }), make("dd", { text: value })] });
}

function showStep(status) {
  const step = status.step;
  at("bar").hidden = !step?.total;
  if (!step?.total) patch(at("figures"), []);
  if (!step) {
    setText(at("step"), "No step is running.");
    return;
  }
  const isRunning = status.state === "running";
  setText(at("step"), (isRunning ? "" : "Not running: ") + step.label + (step.total ? `, ${step.done} of ${step.total} ${step.unit}` : ""));
  if (!step.total) return;
  at("bar").max = step.total;
  at("bar").value = step.done;
  const rates = step.rates.map(([unit, rate]) => entry(`${unit} per second`, amount(rate)));
  const figures = Object.entries(step.figures).map(([name, value]) => entry(name, value.toFixed(3)));
  const left = isRunning ? [entry("time left", step.left === null ? "not known yet" : `about ${duration(step.left)}`)] : [];
  const beside = status.beside.map((other) => entry("beside it", besideText(other, isRunning)));
  patch(at("figures"), [entry("elapsed", duration(step.elapsed)), ...left, ...rates, ...figures, ...beside]);
}

// A step that goes on beside the one that the script does.
function besideText(step, isRunning) {
  const left = isRunning && step.left != null ? `, about ${duration(step.left)} left` : "";
  return step.label + (step.total ? `, ${step.done} of ${step.total} ${step.unit}` : "") + left;
}

// The workers that do the step's shards, and what waits for them.
function showFleet(fleet) {
  at("fleet").hidden = !fleet;
  if (!fleet) return;
  setText(at("queue"), `${counted(fleet.waiting, "shard")} not handed out, ${fleet.issued} handed out, ${fleet.done} done by workers`);
  const seen = (worker) => (worker.last_seen_secs === null ? "gone" : `${worker.last_seen_secs.toFixed(0)} s before`);
  const row = (worker) => make("tr", { "data-key": worker.worker, children: [
    make("td", { text: worker.worker }),
    make("td", { text: String(worker.shards), class: "n" }),
    make("td", { text: worker.shards ? (worker.secs / worker.shards).toFixed(1) : "", class: "n" }),
    make("td", { text: `${worker.busy} of ${worker.lanes}`, class: "n" }),
    make("td", { text: amount(worker.evaluations_per_sec), class: "n" }),
    make("td", { text: String(worker.failed), class: "n" }),
    make("td", { text: worker.aside ? `put aside: ${worker.aside}` : seen(worker) }),
    make("td", { text: worker.platform }),
  ] });
  patch(at("workers"), fleet.workers.map(row));
}

function showJournal(lines) {
  // Lines may be of the same second and event.
  const earlier = (line, index) => lines.slice(index + 1).filter((other) => other.at === line.at && other.event === line.event && other.step === line.step);
  const row = (line, index) => make("tr", { "data-key": `${line.at} ${line.event} ${line.step ?? ""} ${earlier(line, index).length}`, children: [
    make("td", { text: when(line.at) }),
    make("td", { text: line.event + (line.because ? `: ${line.because}` : "") }),
    make("td", { text: [line.kind, line.step].filter(Boolean).join(" ") }),
    make("td", { text: line.secs ? duration(line.secs) : "", class: "n" }),
  ] });
  patch(at("journal"), lines.map(row));
}

function showState(status) {
  document.title = `${status.name} · dc0`;
  const [sweep, , trial] = status.path.split("/");
  const parts = trial ? [make("a", { text: sweep, href: `/sweep/${encoded(sweep)}` }), ` trial ${trial}`] : [status.name];
  patch(at("name"), parts);
  patch(at("state"), badges(status));
  at("damage").hidden = !status.damage;
  setText(at("damage"), status.damage ?? "");
  setText(at("facts"), [
    status.script, status.seed === null ? null : `seed ${status.seed}`, status.device, `${counted(status.steps, "step")} in ${duration(status.seconds)}`,
    status.generation === null ? null : `generation ${status.generation}`,
    status.process === null ? null : `process ${status.process}`,
  ].filter(Boolean).join(" · "));
  showStep(status);
  const first = (member) => [status.step, ...status.beside].find((step) => step?.[member])?.[member];
  showFleet((status.state === "running" && first("fleet")) || null);
  games.now((status.state === "running" && first("game")) || null);
  showJournal(status.recent);
}

at("play").append(make("a", { text: "Play against its nets", href: `/play?run=${encodeURIComponent(run)}` }));
listen(`/api/events/${encoded(run)}`, {
  state: showState,
  log: showLog,
  games: (source) => games.load(source),
  charts: (version) => report.show(version),
});
