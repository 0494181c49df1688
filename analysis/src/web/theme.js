"use strict";
// Applies the reader's choice of light or dark, if there is one, before the page is drawn.
(() => {
  try {
    const chosen = localStorage.getItem("dc0-theme");
    if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
  } catch { /* Pages opened from files may have no storage; then the system's setting applies. */ }
})();
