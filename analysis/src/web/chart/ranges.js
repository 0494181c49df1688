// The ends and the ticks of axes.

const PADDING = 0.04;

const isPositive = (value) => value > 0;

// Whether an axis may be logarithmic: its values are not negative, and of different sizes. Zeros are then left out.
export function mayBeLogarithmic(axis, values) {
  if (axis.scale === "categories" || axis.scale === "share" || values.some((value) => value < 0)) return false;
  const positive = values.filter(isPositive);
  return positive.length > 1 && Math.max(...positive) > 1.5 * Math.min(...positive);
}

// The values of a series as they are drawn: null where an axis is logarithmic and cannot show the point.
export function drawn(values, rows, isLogarithmic) {
  const isOn = (key, value) => isPositive(value) || !isLogarithmic[key];
  return values.map((value, row) => (isOn("x", rows[row]) && isOn("y", value) ? value : null));
}

// The ends of an axis that shows all values. Its own bounds are exact; other ends are padded.
export function home(axis, values, isLogarithmic) {
  const finite = values.filter(Number.isFinite);
  if (axis.scale === "categories") return [0.5, Math.max(1, axis.labels.length) + 0.5];
  if (isLogarithmic) {
    const positive = finite.filter(isPositive);
    if (positive.length === 0) return [0.1, 10];
    const [least, most] = [Math.min(...positive), Math.max(...positive)];
    const factor = Math.max(most / least, 2) ** PADDING;
    return [least / factor, most * factor];
  }
  const bounds = [axis.from, axis.to].filter((bound) => bound !== null);
  let [least, most] = [Math.min(...finite, ...bounds), Math.max(...finite, ...bounds)];
  if (!(least <= most)) return [0, 1];
  if (least === most) [least, most] = [least - 0.5, most + 0.5];
  const padding = PADDING * (most - least);
  return [least === axis.from ? least : least - padding, most === axis.to ? most : most + padding];
}

// Round numbers between the ends of a logarithmic axis.
export function logarithmicTicks(least, most, wanted) {
  const powers = [];
  for (let power = Math.floor(Math.log10(least)); power <= Math.ceil(Math.log10(most)); power += 1) powers.push(10 ** power);
  const within = (factors) => powers.flatMap((power) => factors.map((factor) => factor * power)).filter((tick) => tick >= least && tick <= most);
  const fine = within([1, 2, 5]);
  if (fine.length <= 2) return linearTicks(least, most, wanted);
  if (fine.length <= wanted) return fine;
  const coarse = within([1]);
  return coarse.filter((_, index) => index % Math.ceil(coarse.length / wanted) === 0);
}

// Evenly spaced round numbers between two ends.
export function linearTicks(least, most, wanted, isInteger = false) {
  const rough = (most - least) / Math.max(1, wanted);
  const power = 10 ** Math.floor(Math.log10(rough));
  let step = [1, 2, 2.5, 5, 10].map((factor) => factor * power).find((found) => found >= rough * 0.999_999);
  if (isInteger) step = Math.max(1, Math.ceil(step));
  const ticks = [];
  for (let count = Math.ceil(least / step - 1e-9); count * step <= most + 1e-9 * step; count += 1) ticks.push(count * step);
  return ticks;
}

// Of the labels of an axis, as many as fit side by side.
export function fittingLabels(labels, least, most, wanted) {
  const shown = labels.map(([position]) => position).filter((position) => position >= least && position <= most);
  return shown.filter((_, index) => index % Math.ceil(shown.length / Math.max(1, wanted)) === 0);
}
