// Draws the charts of a page again with uPlot, from the data beside their pictures: with values at the pointer, zoom by dragging,
// logarithmic axes, and series that can be hidden. Without this script the pictures stay. uPlot is a global of the page.
import { axisText } from "./format.js";
import { drawn, fittingLabels, home, linearTicks, logarithmicTicks, mayBeLogarithmic } from "./ranges.js";
import { colour, paint } from "./paint.js";
import { nearest, showTooltip } from "./tooltip.js";

const HEIGHT = 300;
const LABEL_WIDTH = 60;
const FONT = "12px system-ui, sans-serif";

const make = (tag, className, text) => {
  const element = document.createElement(tag);
  element.className = className;
  if (text) element.textContent = text;
  return element;
};

const button = (text, action) => {
  const made = make("button", "", text);
  made.type = "button";
  made.addEventListener("click", action);
  return made;
};

class LiveChart {
  constructor(figure) {
    this.figure = figure;
    this.data = JSON.parse(figure.querySelector("script.data").textContent);
    this.isShown = this.data.series.map(() => true);
    this.isLogarithmic = { x: this.data.x.scale === "logarithm", y: this.data.y.scale === "logarithm" };
    this.zoom = { x: null, y: null };
    this.plot = null;
    this.buildFrame();
    this.hideOnClick();
    new ResizeObserver(() => this.fit()).observe(this.frame);
  }

  buildFrame() {
    const picture = this.figure.querySelector(".picture");
    this.frame = make("div", "live");
    this.tools = make("div", "tools");
    this.canvas = make("div", "canvas");
    this.canvas.tabIndex = 0;
    this.canvas.setAttribute("role", "img");
    this.canvas.setAttribute("aria-label", `${picture.getAttribute("aria-label")} Arrow keys move along the chart, Escape shows all of it.`);
    this.canvas.addEventListener("keydown", (event) => this.onKey(event));
    this.tooltip = make("div", "tooltip");
    this.tooltip.setAttribute("role", "status");
    this.tooltip.hidden = true;
    this.reset = button("whole range", () => this.zoomTo(null, null));
    this.reset.dataset.tool = "reset";
    this.tools.append(this.reset);
    for (const key of ["x", "y"]) {
      if (this.data.stacked || !mayBeLogarithmic(this.data[key], this.valuesOf(key, () => true))) continue;
      const toggle = button(`log ${key}`, () => {
        this.isLogarithmic[key] = !this.isLogarithmic[key];
        toggle.setAttribute("aria-pressed", String(this.isLogarithmic[key]));
        this.build();
      });
      toggle.dataset.tool = `log-${key}`;
      toggle.setAttribute("aria-pressed", String(this.isLogarithmic[key]));
      this.tools.append(toggle);
    }
    this.frame.append(this.tools, this.canvas);
    picture.after(this.frame);
    this.figure.classList.add("is-live");
  }

  // The entries of the legend hide and show their series.
  hideOnClick() {
    if (this.data.stacked || this.data.series.length < 2) return;
    [...this.figure.querySelectorAll(".legend li")].slice(0, this.data.series.length).forEach((entry, index) => {
      const toggle = make("button", "");
      toggle.type = "button";
      toggle.setAttribute("aria-pressed", "true");
      toggle.append(...entry.childNodes);
      toggle.addEventListener("click", () => {
        this.isShown[index] = !this.isShown[index];
        toggle.setAttribute("aria-pressed", String(this.isShown[index]));
        this.plot?.setSeries(index + 1, { show: this.isShown[index] });
        this.apply();
      });
      entry.replaceChildren(toggle);
    });
  }

  // All values along an axis, of the rows that `isIn` takes.
  valuesOf(key, isIn) {
    if (key === "x") return this.data.rows;
    const rows = this.data.rows.map((row, index) => index).filter((index) => isIn(this.data.rows[index]));
    const of = (values) => rows.map((row) => values[row]).filter((value) => value !== null);
    const shown = this.data.series.filter((_, index) => this.isShown[index]);
    return [...shown.flatMap((series) => [series.values, ...(series.intervals ?? [])].flatMap(of)), ...this.data.levels.map(([level]) => level)];
  }

  // The ends of an axis: those of the zoom, or else all values; the vertical axis fits to what is shown of the horizontal one.
  ends(key) {
    if (this.zoom[key]) return this.zoom[key];
    const axis = this.data[key];
    if (key === "x") return home(axis, this.data.rows, this.isLogarithmic.x);
    if (this.data.stacked) return home(axis, this.sums().at(-1) ?? [], false);
    const [from, to] = this.ends("x");
    // What was zoomed to has the whole height.
    const fitted = this.zoom.x ? { ...axis, from: null, to: null } : axis;
    return home(fitted, this.valuesOf("y", (x) => x >= from && x <= to), this.isLogarithmic.y);
  }

  // uPlot draws later series above earlier ones, so the parts of a stack come from the top one to the bottom one. A zero on a
  // logarithmic axis it would draw as a small number.
  columns() {
    const { rows, series, stacked } = this.data;
    if (stacked) return [rows, ...this.sums().reverse()];
    return [rows, ...series.map(({ values }) => drawn(values, rows, this.isLogarithmic))];
  }

  // The upper end of each part of a stack, from the lowest part, in each row.
  sums() {
    const { rows, series } = this.data;
    return series.map((_, index) => rows.map((_row, row) => series.slice(0, index + 1).reduce((sum, part) => sum + part.values[row], 0)));
  }

  seriesOptions() {
    const { series, stacked } = this.data;
    if (stacked) {
      const paths = uPlot.paths.bars({ size: [0.86, 90] });
      return [...series].reverse().map((part) => ({ label: part.name, paths, fill: () => colour(part.colour), width: 0, points: { show: false } }));
    }
    return series.map((one, index) => ({
      label: one.name, stroke: () => colour(one.colour), dash: one.dash, spanGaps: true, show: this.isShown[index],
      width: one.style === "line" ? 1.8 : 1.5, points: { show: false }, ...(one.style === "markers" ? { paths: () => null } : {}),
    }));
  }

  axisOptions(key) {
    const axis = this.data[key];
    const isAcross = key === "x";
    const splits = (plot, _index, least, most) => {
      const wanted = Math.floor((isAcross ? plot.width / LABEL_WIDTH : plot.height / 45));
      if (axis.scale === "categories") return fittingLabels(axis.labels, least, most, wanted);
      const positions = axis.labels.map(([position]) => position);
      const end = positions.length ? Math.max(...this.data.rows.filter((row) => !positions.includes(row))) : Infinity;
      const ticks = this.isLogarithmic[key] ? logarithmicTicks(least, most, wanted) : linearTicks(least, most, wanted, axis.scale === "integer");
      return [...ticks.filter((tick) => tick <= end), ...fittingLabels(axis.labels, least, most, wanted)];
    };
    const line = { stroke: () => colour("--grid"), width: 1 };
    return {
      scale: key, label: axis.label, labelSize: 22, labelGap: 0, labelFont: FONT, font: FONT, gap: 4,
      size: isAcross ? 34 : (_plot, texts) => 14 + 7 * Math.max(2, ...(texts ?? []).map((text) => text.length)),
      stroke: () => colour("--muted"), grid: line, ticks: { ...line, size: 5 }, splits,
      filter: (_plot, found) => found, values: (_plot, found) => found.map((value) => axisText(axis, value)),
    };
  }

  build() {
    this.plot?.destroy();
    this.tooltip.hidden = true;
    const width = this.canvas.clientWidth;
    const scale = (key) => ({ time: false, distr: this.isLogarithmic[key] ? 3 : 1, range: () => this.ends(key) });
    this.plot = new uPlot({
      width, height: HEIGHT, legend: { show: false }, scales: { x: scale("x"), y: scale("y") },
      axes: [this.axisOptions("x"), this.axisOptions("y")], series: [{}, ...this.seriesOptions()],
      cursor: { points: { show: false }, drag: { x: true, y: true, uni: 30, dist: 6, setScale: false }, bind: { dblclick: () => () => this.zoomTo(null, null) } },
      hooks: {
        draw: [(plot) => paint(plot, this.data, this.isShown)],
        setCursor: [(plot) => this.point(plot)],
        setSelect: [(plot) => this.take(plot)],
      },
    }, this.columns(), this.canvas);
    this.plot.over.append(this.tooltip);
    this.reset.disabled = !this.zoom.x && !this.zoom.y;
  }

  // Zooms to what was selected by dragging.
  take(plot) {
    const { left, top, width, height } = plot.select;
    if (width < 1 || height < 1) return;
    const { clientWidth, clientHeight } = plot.over;
    const ends = (key, from, to) => [plot.posToVal(from, key), plot.posToVal(to, key)];
    const x = width < clientWidth - 1 ? ends("x", left, left + width) : this.zoom.x;
    const y = height < clientHeight - 1 ? ends("y", top + height, top) : this.zoom.y;
    plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
    this.zoomTo(x, y);
  }

  zoomTo(x, y) {
    this.zoom = { x, y };
    this.apply();
  }

  // Setting the horizontal scale makes uPlot request both ranges again.
  apply() {
    const [min, max] = this.ends("x");
    this.plot?.setScale("x", { min, max });
    this.reset.disabled = !this.zoom.x && !this.zoom.y;
  }

  point(plot) {
    const { left, top } = plot.cursor;
    const { clientWidth: width } = plot.over;
    const isInside = left !== null && left >= 0 && top >= 0;
    showTooltip(this.tooltip, this.data, isInside ? nearest(plot, this.data, this.isShown, left, top) : [], { left, top, width });
  }

  onKey(event) {
    if (event.key === "Escape") this.zoomTo(null, null);
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!by || !this.plot || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    const [from, to] = this.ends("x");
    const rows = [...new Set(this.data.rows)].filter((row) => row >= from && row <= to);
    const left = this.plot.cursor.left ?? -1;
    const here = left < 0 ? -Infinity : this.plot.posToVal(left, "x");
    const slack = 1e-6 * (to - from);
    const next = by > 0 ? rows.find((row) => row > here + slack) : rows.findLast((row) => row < here - slack);
    if (next === undefined) return;
    this.plot.setCursor({ left: this.plot.valToPos(next, "x"), top: this.plot.over.clientHeight / 3 });
  }

  fit() {
    const width = this.canvas.clientWidth;
    if (width === 0) return;
    if (!this.plot) this.build();
    else if (this.plot.width !== width) this.plot.setSize({ width, height: HEIGHT });
  }

  redraw() {
    this.plot?.redraw(true);
  }
}

// Draws each chart when it comes near the visible part of the page.
export function startCharts() {
  if (typeof uPlot === "undefined") return;
  const live = [];
  const observer = new IntersectionObserver((entries) => {
    for (const { isIntersecting, target } of entries) {
      if (!isIntersecting) continue;
      observer.unobserve(target);
      live.push(new LiveChart(target));
    }
  }, { rootMargin: "400px" });
  for (const data of document.querySelectorAll("figure.chart > script.data")) observer.observe(data.parentElement);
  const redraw = () => live.forEach((chart) => chart.redraw());
  new MutationObserver(redraw).observe(document.documentElement, { attributeFilter: ["data-theme"] });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
}
