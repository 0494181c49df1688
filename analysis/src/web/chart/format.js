// Numbers as text, in the same form as the tables below the charts.

// About three significant digits: 0.0123, 4.56, 789, 12.3k, 4.5M.
export function short(value) {
  const size = Math.abs(value);
  if (!Number.isFinite(value)) return "–";
  if (size >= 999_500_000) return `${digits(value / 1e9)}G`;
  if (size >= 999_500) return `${digits(value / 1e6)}M`;
  if (size >= 9_999.5) return `${digits(value / 1e3)}k`;
  if (size > 0 && size < 0.001) return value.toExponential(1).replace("-", "−");
  return digits(value);
}

function digits(value) {
  const size = Math.abs(value);
  const decimals = size >= 99.95 ? 0 : size >= 9.995 ? 1 : size >= 0.0995 || size === 0 ? 2 : 4;
  const text = value.toFixed(decimals);
  return (text.includes(".") ? text.replace(/\.?0+$/, "") : text).replace("-", "−");
}

// A value at an axis: its label, or the number in the axis' form.
export function axisText(axis, value, decimals = 0) {
  const label = axis.labels.find(([position]) => position === value);
  if (label) return label[1];
  if (axis.scale === "share") return `${(100 * value).toFixed(decimals)} %`.replace(/^-(?=[0.]+ %)/, "").replace("-", "−");
  if (axis.scale === "integer") return value.toFixed(Number.isInteger(value) ? 0 : 1);
  return short(value);
}
