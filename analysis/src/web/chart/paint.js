// What is painted onto a chart besides its lines and bars: intervals, markers and reference lines.

export const colour = (variable) => getComputedStyle(document.documentElement).getPropertyValue(variable).trim();

const MARKER_SCALE = 1.05;

// Paints within the axes, and as far beyond them as half a marker.
export function paint(plot, chart, isShown) {
  const { ctx, bbox } = plot;
  const ratio = devicePixelRatio;
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left - 5 * ratio, bbox.top - 5 * ratio, bbox.width + 10 * ratio, bbox.height + 10 * ratio);
  ctx.clip();
  paintReferences(plot, chart, ratio);
  chart.series.forEach((series, index) => {
    if (chart.stacked || !isShown[index]) return;
    if (series.intervals) paintIntervals(plot, series, chart.rows, ratio);
    const isSingle = series.values.filter((value) => value !== null).length === 1;
    if (series.style !== "line" || isSingle) paintMarkers(plot, series, chart.rows, ratio);
  });
  ctx.restore();
}

const x = (plot, value) => plot.valToPos(value, "x", true);
const y = (plot, value) => plot.valToPos(value, "y", true);

function paintReferences(plot, { levels, diagonal }, ratio) {
  const { ctx, bbox } = plot;
  ctx.strokeStyle = colour("--axis");
  ctx.fillStyle = colour("--muted");
  ctx.lineWidth = ratio;
  ctx.font = `${12 * ratio}px system-ui, sans-serif`;
  ctx.setLineDash([5 * ratio, 4 * ratio]);
  for (const [level, label, end, side] of levels) {
    const height = y(plot, level);
    line(ctx, [bbox.left, height], [bbox.left + bbox.width, height]);
    ctx.textAlign = end;
    ctx.textBaseline = side === "above" ? "alphabetic" : "top";
    ctx.fillText(label, end === "left" ? bbox.left + 4 * ratio : bbox.left + bbox.width - 4 * ratio, height + (side === "above" ? -4 : 4) * ratio);
  }
  if (diagonal) {
    const [from, to] = [Math.max(plot.scales.x.min, plot.scales.y.min), Math.min(plot.scales.x.max, plot.scales.y.max)];
    if (from < to) line(ctx, [x(plot, from), y(plot, from)], [x(plot, to), y(plot, to)]);
  }
  ctx.setLineDash([]);
}

function line(ctx, from, to) {
  ctx.beginPath();
  ctx.moveTo(...from);
  ctx.lineTo(...to);
  ctx.stroke();
}

// Error bars at markers, a band along a line without them.
function paintIntervals(plot, series, rows, ratio) {
  const { ctx } = plot;
  const [lows, highs] = series.intervals;
  const known = rows.map((_, row) => row).filter((row) => lows[row] !== null);
  ctx.strokeStyle = ctx.fillStyle = colour(series.colour);
  if (series.style === "line" && known.length > 1) {
    ctx.globalAlpha = 0.16;
    ctx.beginPath();
    for (const row of known) ctx.lineTo(x(plot, rows[row]), y(plot, lows[row]));
    for (const row of [...known].reverse()) ctx.lineTo(x(plot, rows[row]), y(plot, highs[row]));
    ctx.fill();
    ctx.globalAlpha = 1;
    return;
  }
  ctx.lineWidth = ratio;
  for (const row of known) {
    const [at, low, high] = [x(plot, rows[row]), y(plot, lows[row]), y(plot, highs[row])];
    line(ctx, [at, low], [at, high]);
    for (const end of [low, high]) line(ctx, [at - 3 * ratio, end], [at + 3 * ratio, end]);
  }
}

// The series' own shape, which is drawn around (14, 6).
function paintMarkers(plot, series, rows, ratio) {
  const { ctx } = plot;
  const shape = new Path2D(series.marker);
  ctx.fillStyle = colour(series.colour);
  rows.forEach((row, index) => {
    if (series.values[index] === null) return;
    ctx.save();
    ctx.translate(x(plot, row), y(plot, series.values[index]));
    ctx.scale(MARKER_SCALE * ratio, MARKER_SCALE * ratio);
    ctx.translate(-14, -6);
    ctx.fill(shape);
    ctx.restore();
  });
}
