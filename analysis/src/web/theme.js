"use strict";
// Before anything is drawn: the reader's choice of light or dark, if there is one.
(() => {
  try {
    const chosen = localStorage.getItem("dc0-theme");
    if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
  } catch { /* Pages from files may have no storage; then the system's choice holds. */ }
})();
