import { at, badge, duration, encoded, listen, make, named, percent, showLog } from "./common.js";
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
  return make("tr", { class: index === 0 && row.state === "complete" ? "out" : null, children: [
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
  return make("p", { children: [runLink(run.path), " ", badge(run.state), ` ${share}`] });
}

function show(told) {
  document.title = `${told.name} · dc0`;
  at("name").textContent = told.name;
  at("state").replaceChildren(badge(told.state));
  at("facts").textContent = `${told.trials} runs` + (told.objective ? ` · ${told.direction} ${told.objective}` : "");
  at("running").replaceChildren(...(told.running.length ? told.running.map(underWay) : [make("p", { text: "None." })]));
  at("error").hidden = !told.error;
  at("error").textContent = told.error ?? "";
  at("objective").textContent = told.objective ?? "value";
  at("rows").replaceChildren(...(told.rows ?? []).map(rowOf));
  const more = (told.all ?? 0) - (told.rows ?? []).length;
  at("more").textContent = more > 0 ? `${more} more trials` : "";
}

listen(`/api/events/${encoded(sweep)}`, { state: show, log: showLog, charts: (version) => report.show(version) });
