import { at, badge, duration, encoded, listen, make, percent, renew, when } from "./common.js";

function card(of) {
  const isSweep = of.kind === "sweep";
  const title = make("h2", { children: [make("a", { text: of.name, href: `/${of.kind}/${encoded(of.path)}` })] });
  const facts = isSweep
    ? [`sweep of ${of.trials} trials`]
    : [of.script, `${of.steps} steps`, duration(of.seconds), `last ${when(of.last)}`].filter(Boolean);
  const parts = [title, badge(of.state), make("p", { text: facts.join(" · "), class: "facts" })];
  if (!isSweep && of.state !== "rests" && of.total) {
    parts.push(make("p", { text: `${of.label}: ${percent(of.done / of.total)}` + (of.state === "running" && of.left !== null ? `, ${duration(of.left)} left` : "") }));
    parts.push(make("progress", { max: of.total, value: of.done, "aria-label": `${of.name}: ${of.label}` }));
  }
  return make("section", { class: "card", "data-run": of.path, "data-key": of.path, children: parts });
}

listen("/api/events", {
  list: (runs) => {
    renew(at("list"), runs.map(card));
    at("none").hidden = runs.length > 0;
  },
});
