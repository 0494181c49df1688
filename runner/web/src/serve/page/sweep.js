import { at, badge, badges, counted, duration, encoded, listen, make, pagePath, patch, percent, precise, setText, showLog } from "./common.js";
import { Ticks } from "./compared.js";
import { Report } from "./report.js";

const sweep = pagePath();
const report = new Report(`/api/report/${encoded(sweep)}?of=`);

const ticks = new Ticks(at("trials"), at("compare"));

const runLink = (path) => make("a", { text: path.split("/").pop(), href: `/run/${encoded(path)}` });

function interval(measured) {
  if (!measured) return "–";
  const [mean, low, high] = measured.map(precise);
  return low === high ? mean : `${mean} [${low}, ${high}]`;
}

function rowOf(row, index) {
  const point = row.point.map(([name, setting]) => `${name} ${setting}`).join(", ");
  return make("tr", { "data-key": row.trial, class: index === 0 && row.state === "complete" ? "out" : null, children: [
    make("td", { children: [row.runs.length > 0 && ticks.box(row.runs[0], `trial ${row.trial}`)] }),
    make("td", { text: index + 1, class: "n" }),
    make("td", { text: row.trial, class: "n" }),
    make("td", { text: point }),
    make("td", { text: row.state + (row.because ? `: ${row.because}` : "") }),
    make("td", { text: interval(row.value) }),
    make("td", { text: interval(row.to_the_best) }),
    make("td", { text: duration(row.seconds), class: "n" }),
    make("td", { children: row.runs.flatMap((path) => [runLink(path), " "]) }),
  ] });
}

function runningTrial(run) {
  const share = run.total ? `${run.label}: ${percent(run.done / run.total)}` : run.label ?? "";
  return make("p", { "data-key": run.path, children: [runLink(run.path), " ", badge(run.state), ` ${share}`] });
}

function show(state) {
  document.title = `${state.name} · dc0`;
  setText(at("name"), state.name);
  patch(at("state"), badges(state));
  at("damage").hidden = !state.damage;
  setText(at("damage"), state.damage ?? "");
  setText(at("facts"), `${counted(state.trials, "trial")}` + (state.objective ? ` · ${state.direction} ${state.objective}` : ""));
  patch(at("running"), state.running.length ? state.running.map(runningTrial) : [make("p", { text: "None." })]);
  at("error").hidden = !state.error;
  setText(at("error"), state.error ?? "");
  setText(at("objective"), state.objective ?? "value");
  patch(at("rows"), (state.rows ?? []).map(rowOf));
  ticks.show((state.rows ?? []).flatMap(({ runs }) => runs.slice(0, 1)));
  const more = (state.all ?? 0) - (state.rows ?? []).length;
  setText(at("more"), more > 0 ? `${more} more trials` : "");
}

listen(`/api/events/${encoded(sweep)}`, { state: show, log: showLog, charts: (version) => report.show(version) });
