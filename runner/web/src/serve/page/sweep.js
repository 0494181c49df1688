import { at, badge, duration, encoded, listen, make, named, percent, renew, showLog, tell } from "./common.js";
import { Report } from "./report.js";

const sweep = named();
const report = new Report(sweep);

const runLink = (path) => make("a", { text: path.split("/").pop(), href: `/run/${encoded(path)}` });

function value(row) {
  if (!row.value) return "–";
  const [mean, low, high] = row.value.map((of) => of.toFixed(4));
  return low === high ? mean : `${mean} [${low}, ${high}]`;
}

function rowOf(row, index) {
  const point = row.point.map(([name, of]) => `${name} ${of}`).join(", ");
  return make("tr", { "data-key": row.trial, class: index === 0 && row.state === "complete" ? "out" : null, children: [
    make("td", { text: index + 1, class: "n" }),
    make("td", { text: row.trial, class: "n" }),
    make("td", { text: point }),
    make("td", { text: row.state + (row.because ? `: ${row.because}` : "") }),
    make("td", { text: value(row) }),
    make("td", { text: duration(row.seconds), class: "n" }),
    make("td", { children: row.runs.flatMap((path) => [runLink(path), " "]) }),
  ] });
}

function underWay(run) {
  const share = run.total ? `${run.label}: ${percent(run.done / run.total)}` : run.label ?? "";
  return make("p", { "data-key": run.path, children: [runLink(run.path), " ", badge(run.state), ` ${share}`] });
}

function show(told) {
  document.title = `${told.name} · dc0`;
  tell(at("name"), told.name);
  renew(at("state"), [badge(told.state)]);
  tell(at("facts"), `${told.trials} runs` + (told.objective ? ` · ${told.direction} ${told.objective}` : ""));
  renew(at("running"), told.running.length ? told.running.map(underWay) : [make("p", { text: "None." })]);
  at("error").hidden = !told.error;
  tell(at("error"), told.error ?? "");
  tell(at("objective"), told.objective ?? "value");
  renew(at("rows"), (told.rows ?? []).map(rowOf));
  const more = (told.all ?? 0) - (told.rows ?? []).length;
  tell(at("more"), more > 0 ? `${more} more trials` : "");
}

listen(`/api/events/${encoded(sweep)}`, { state: show, log: showLog, charts: (version) => report.show(version) });
