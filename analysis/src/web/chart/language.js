// uPlot formats numbers in the browser's language, and cannot be loaded where that is no language tag, as in the POSIX locale.
try {
  new Intl.NumberFormat(navigator.language);
} catch {
  Object.defineProperty(navigator, "language", { value: "en-US", configurable: true });
}
