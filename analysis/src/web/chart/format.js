// Numbers as text, in the same form as the tables below the charts.

// About three significant digits: 0.0123, 4.56, 789, 12.3k, 4.5M.
export function short(value) {
  const size = Math.abs(value);
  if (!Number.isFinite(value)) return "–";
  if (size >= 999_500_000) return `${digits(value / 1e9)}G`;
  if (size >= 999_500) return `${digits(value / 1e6)}M`;
  if (size >= 9_999.5) return `${digits(value / 1e3)}k`;
  if (size > 0 && size < 0.001) return value.toExponential(1).replaceAll("-", "−");
  return digits(value);
}

function digits(value) {
  const size = Math.abs(value);
  const decimals = size >= 99.95 ? 0 : size >= 9.995 ? 1 : size >= 0.995 || size === 0 ? 2 : size >= 0.0995 ? 3 : 4;
  const text = rounded(value, decimals);
  return (text.includes(".") ? text.replace(/\.?0+$/, "") : text).replace("-", "−");
}

// A number that lies halfway between two others is rounded to the even one, as in the tables.
function rounded(value, decimals) {
  const text = value.toFixed(decimals);
  const isHalfway = Math.abs(value * 2 ** (decimals + 1)) % 2 === 1;
  return isHalfway && "13579".includes(text.at(-1)) ? (value * (1 - Number.EPSILON)).toFixed(decimals) : text;
}

// A value at an axis: its label, or the number in the axis' form.
export function axisText(axis, value, decimals = 0) {
  const label = axis.labels.find(([position]) => position === value);
  if (label) return label[1];
  if (axis.scale === "share") return `${rounded(100 * value, decimals)} %`.replace(/^-(?=[0.]+ %)/, "").replace("-", "−");
  if (axis.scale === "integer") return value.toFixed(Number.isInteger(value) ? 0 : 1);
  return short(value);
}
