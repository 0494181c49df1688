"use strict";
// The switch between light and dark, and the buttons that select one of several charts.
(() => {
  const root = document.documentElement;
  const button = document.getElementById("theme");
  const system = matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : system.matches);
  const name = () => { button.textContent = isDark() ? "Light" : "Dark"; };
  button.hidden = false;
  button.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    try { localStorage.setItem("dc0-theme", root.dataset.theme); } catch { /* No storage: the choice is not saved. */ }
    name();
  });
  system.addEventListener("change", name);
  name();

  for (const choice of document.querySelectorAll(".choice")) {
    const buttons = [...choice.querySelectorAll("button[data-shows]")];
    const show = (shown) => {
      for (const other of buttons) {
        const is = other === shown;
        other.setAttribute("aria-pressed", String(is));
        document.getElementById(other.dataset.shows).hidden = !is;
      }
    };
    choice.querySelector(".buttons").hidden = false;
    for (const other of buttons) other.addEventListener("click", () => show(other));
    if (buttons.length) show(buttons[0]);
  }
})();
