// Values at the pointer in charts of parallel coordinates, which stay pictures: the line at the pointer is drawn again, above the
// others, and its values are listed.

// How far from the pointer a line may be, in units of the picture.
const REACH = 14;
const SVG = "http://www.w3.org/2000/svg";

const piece = (tag, className, text) => {
  const made = document.createElement(tag);
  made.className = className;
  if (text !== undefined) made.textContent = text;
  return made;
};

class ParallelChart {
  constructor(figure) {
    this.data = JSON.parse(figure.querySelector("script.lines").textContent);
    this.picture = figure.querySelector(".picture");
    this.chosen = -1;
    this.tooltip = piece("div", "tooltip");
    this.tooltip.setAttribute("role", "status");
    this.tooltip.hidden = true;
    this.picture.classList.add("pointed");
    this.picture.append(this.tooltip);
    this.picture.tabIndex = 0;
    const about = this.picture.getAttribute("aria-label");
    this.picture.setAttribute("aria-label", `${about} Arrow keys choose a line, from the best one on, Escape none.`);
    this.picture.addEventListener("pointermove", (event) => this.point(event));
    this.picture.addEventListener("pointerleave", () => this.choose(-1));
    this.picture.addEventListener("blur", () => this.choose(-1));
    this.picture.addEventListener("keydown", (event) => this.onKey(event));
  }

  // The picture that is shown, and where its axes are.
  shown() {
    const index = [...this.picture.querySelectorAll(":scope > div > svg")].findIndex((svg) => svg.clientWidth > 0);
    return { svg: this.picture.querySelectorAll(":scope > div > svg")[index], axes: this.data.pictures[index] };
  }

  point(event) {
    const { svg, axes } = this.shown();
    if (!svg) return;
    const box = svg.getBoundingClientRect();
    const [x, y] = [(event.clientX - box.left) * axes.width / box.width, (event.clientY - box.top) * axes.height / box.height];
    const right = axes.across.findIndex((axis) => axis >= x);
    const after = right < 0 ? axes.across.length - 1 : Math.max(right, 1);
    const [from, to] = [axes.across[after - 1], axes.across[after]];
    const share = Math.min(1, Math.max(0, (x - from) / (to - from)));
    const height = (heights) => axes.bottom + (axes.top - axes.bottom) * (heights[after - 1] + share * (heights[after] - heights[after - 1]));
    const distances = this.data.lines.map(({ heights }) => Math.abs(height(heights) - y));
    const least = Math.min(...distances);
    this.choose(least <= REACH ? distances.indexOf(least) : -1, { left: event.clientX, top: event.clientY });
  }

  onKey(event) {
    if (event.key === "Escape") this.choose(-1);
    const by = { ArrowUp: -1, ArrowLeft: -1, ArrowDown: 1, ArrowRight: 1 }[event.key];
    if (!by || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    const box = this.picture.getBoundingClientRect();
    const next = Math.min(this.data.lines.length - 1, Math.max(0, this.chosen + by));
    this.choose(next, { left: box.left + box.width / 3, top: box.top + 30 });
  }

  choose(index, pointer) {
    this.picture.querySelectorAll(".chosen-line").forEach((line) => line.remove());
    this.chosen = index;
    this.tooltip.hidden = index < 0;
    if (index < 0) return;
    const { svg, axes } = this.shown();
    const { name, heights, values } = this.data.lines[index];
    const line = document.createElementNS(SVG, "polyline");
    const at = (height, axis) => `${axes.across[axis]},${axes.bottom + (axes.top - axes.bottom) * height}`;
    line.setAttribute("points", heights.map(at).join(" "));
    line.setAttribute("class", "chosen-line");
    svg.append(line);
    const rows = this.data.axes.map((axis, row) => {
      const made = piece("div", "value");
      made.append(piece("span", "", axis), piece("b", "", values[row]));
      return made;
    });
    this.tooltip.replaceChildren(piece("div", "head", `${this.data.label} ${name}`), ...rows);
    const box = this.picture.getBoundingClientRect();
    const [left, top] = [pointer.left - box.left, pointer.top - box.top];
    const isRight = left > box.width / 2;
    this.tooltip.style.left = isRight ? "" : `${left + 14}px`;
    this.tooltip.style.right = isRight ? `${box.width - left + 14}px` : "";
    this.tooltip.style.top = `${Math.max(0, top - 20)}px`;
  }
}

export function startParallel() {
  for (const data of document.querySelectorAll("figure.chart > script.lines")) new ParallelChart(data.parentElement);
}
