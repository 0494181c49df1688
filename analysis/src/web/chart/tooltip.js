// The values at the pointer.
import { axisText, short } from "./format.js";

// How much farther from the pointer than the nearest value others may be, in pixels.
const SLACK = 6;

// For each shown series the row that is nearest to the pointer, if it is about as near as the nearest of all.
export function nearest(plot, chart, isShown, left, top) {
  const across = (row) => Math.abs(plot.valToPos(chart.rows[row], "x") - left);
  const down = (series, row) => Math.abs(plot.valToPos(series.values[row], "y") - top);
  const [least, most] = [plot.scales.x.min, plot.scales.x.max];
  const rows = chart.series.map((series, index) => chart.rows.map((_, row) => row)
    .filter((row) => isShown[index] && series.values[row] !== null && chart.rows[row] >= least && chart.rows[row] <= most));
  const least_distance = Math.min(...rows.flat().map(across));
  return rows.flatMap((own, index) => {
    const near = own.filter((row) => across(row) <= least_distance + SLACK);
    if (near.length === 0) return [];
    // Of several points at the same x, the one at the pointer; of a line's points, the one below it.
    const series = chart.series[index];
    const distance = chart.stacked || series.style === "line" ? across : (row) => down(series, row);
    return [{ series, row: near.reduce((best, row) => (distance(row) < distance(best) ? row : best)) }];
  });
}

const element = (tag, className, text) => {
  const made = document.createElement(tag);
  if (className) made.className = className;
  if (text !== undefined) made.textContent = text;
  return made;
};

export function showTooltip(tooltip, chart, found, { left, top, width }) {
  tooltip.hidden = found.length === 0;
  if (found.length === 0) return;
  const value = (series, row) => {
    const decimals = 1;
    const [low, high] = series.intervals ? series.intervals.map((ends) => ends[row]) : [null, null];
    const text = (number) => axisText(chart.y, number, decimals);
    return text(series.values[row]) + (low === null ? "" : ` [${text(low)}, ${text(high)}]`);
  };
  const head = (row) => {
    const label = chart.x.labels.some(([position]) => position === chart.rows[row]);
    return label ? `${chart.x.label} ${axisText(chart.x, chart.rows[row])}` : `${chart.x.label} ${chart.x.scale === "integer" ? axisText(chart.x, chart.rows[row]) : short(chart.rows[row])}`;
  };
  const rows = new Set(found.map(({ row }) => chart.rows[row]));
  const lines = found.map(({ series, row }) => {
    const line = element("div", "value");
    const swatch = element("span", "swatch");
    swatch.style.background = `var(${series.colour})`;
    // Series whose values are not at the same x say where theirs is.
    const own = rows.size > 1 ? ` at ${axisText(chart.x, chart.rows[row])}` : "";
    line.append(swatch, element("span", "", chart.series.length > 1 ? series.name : ""), element("b", "", value(series, row) + own));
    return line;
  });
  tooltip.replaceChildren(element("div", "head", rows.size > 1 ? chart.x.label : head(found[0].row)), ...lines);
  const isRight = left > width / 2;
  tooltip.style.left = isRight ? "" : `${left + 14}px`;
  tooltip.style.right = isRight ? `${width - left + 14}px` : "";
  tooltip.style.top = `${Math.max(0, top - 20)}px`;
}
