// Runs that are ticked for a comparison, and the addresses of comparisons.
import { counted, make } from "./common.js";

// As many as there are colours.
const MAX_COMPARED = 8;

const address = (paths) => `/compare?${new URLSearchParams(paths.map((path) => ["run", path]))}`;

// The runs in the page's address, each once.
export const comparedPaths = () => [...new Set(new URLSearchParams(location.search).getAll("run"))];

// The boxes in a table, and the button that compares what is ticked.
export class Ticks {
  constructor(table, button) {
    this.table = table;
    this.button = button;
    this.ticked = new Set();
    table.addEventListener("change", ({ target }) => {
      if (!target.dataset.tick) return;
      if (target.checked) this.ticked.add(target.dataset.tick);
      else this.ticked.delete(target.dataset.tick);
      this.showCount();
    });
    button.addEventListener("click", () => location.assign(address([...this.ticked])));
    this.showCount();
  }

  // The box of a run.
  box(path, name) {
    return make("input", { type: "checkbox", "data-tick": path, "aria-label": `Compare ${name}` });
  }

  // Shows what is ticked after the table was made again; `paths` are all runs that are there.
  show(paths) {
    for (const path of this.ticked) if (!paths.includes(path)) this.ticked.delete(path);
    for (const box of this.table.querySelectorAll("[data-tick]")) box.checked = this.ticked.has(box.dataset.tick);
    this.showCount();
  }

  showCount() {
    const count = this.ticked.size;
    this.button.disabled = count < 2 || count > MAX_COMPARED;
    this.button.textContent = count ? `Compare ${counted(count, "run")}` : "Compare";
    this.button.title = count > MAX_COMPARED ? `at most ${MAX_COMPARED} runs are compared` : "";
  }
}
