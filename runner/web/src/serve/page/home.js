import { at, badge, duration, encoded, listen, make, patch, percent, when } from "./common.js";

function card(row) {
  const isSweep = row.kind === "sweep";
  const title = make("h2", { children: [make("a", { text: row.name, href: `/${row.kind}/${encoded(row.path)}` })] });
  const facts = isSweep
    ? [`sweep of ${row.trials} trials`]
    : [row.script, `${row.steps} steps`, duration(row.seconds), `last ${when(row.last)}`].filter(Boolean);
  const parts = [title, badge(row.state), make("p", { text: facts.join(" · "), class: "facts" })];
  if (!isSweep && row.state !== "rests" && row.total) {
    parts.push(make("p", { text: `${row.label}: ${percent(row.done / row.total)}` + (row.state === "running" && row.left !== null ? `, ${duration(row.left)} left` : "") }));
    parts.push(make("progress", { max: row.total, value: row.done, "aria-label": `${row.name}: ${row.label}` }));
  }
  return make("section", { class: "card", "data-run": row.path, "data-key": row.path, children: parts });
}

listen("/api/events", {
  list: (runs) => {
    patch(at("list"), runs.map(card));
    at("none").hidden = runs.length > 0;
  },
});
