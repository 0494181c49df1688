// Draws a position. It knows no rules: men, moves and arrows are given.

const SVG = "http://www.w3.org/2000/svg";
const SIDE = 45;

function put(tag, attributes, parent) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  parent.append(element);
  return element;
}

export const squareName = (square) => "abcdefgh"[square % 8] + ((square >> 3) + 1);

// The men of a position by square, of the first field of a FEN.
export function menOf(men) {
  const found = new Map();
  let square = 56;
  for (const letter of men.split(" ")[0]) {
    if (letter === "/") square -= 16;
    else if (letter >= "1" && letter <= "8") square += Number(letter);
    else found.set(square++, letter);
  }
  return found;
}

const NAMES = { p: "pawn", n: "knight", b: "bishop", r: "rook", q: "queen", k: "king" };
export const manName = (letter) => `${letter === letter.toUpperCase() ? "white" : "black"} ${NAMES[letter.toLowerCase()]}`;

// `last` and `marks` are squares, `arrows` are [from, to, share].
export function draw(board, { men, last = [], marks = [], targets = [], arrows = [], flipped = false, check = null }) {
  board.replaceChildren();
  const place = (square) => {
    const [file, rank] = [square % 8, square >> 3];
    return flipped ? [(7 - file) * SIDE, rank * SIDE] : [file * SIDE, (7 - rank) * SIDE];
  };
  const cover = (square, className) => {
    const [x, y] = place(square);
    put("rect", { x, y, width: SIDE, height: SIDE, class: className }, board);
  };
  for (let square = 0; square < 64; square += 1) {
    const isLight = (square + (square >> 3)) % 2 === 1;
    cover(square, isLight ? "light" : "dark");
    label(board, square, place(square), isLight, flipped);
  }
  for (const square of last) cover(square, "moved");
  for (const square of marks) cover(square, "marked");
  const found = menOf(men);
  for (const [square, letter] of found) {
    if (check && letter === (check === "white" ? "K" : "k")) cover(square, "checked");
  }
  for (const [square, letter] of found) {
    const [x, y] = place(square);
    const side = letter === letter.toUpperCase() ? "white" : "black";
    put("use", { href: "#pc-" + letter.toLowerCase(), x, y, class: "man " + side }, board);
  }
  for (const square of targets) {
    const [x, y] = place(square).map((corner) => corner + SIDE / 2);
    put("circle", { cx: x, cy: y, r: found.has(square) ? 19 : 7, class: found.has(square) ? "take" : "target" }, board);
  }
  arrows.forEach((arrow, index) => pointer(board, arrow, place, index));
}

function label(board, square, [x, y], isLight, flipped) {
  const [file, rank] = [square % 8, square >> 3];
  const className = isLight ? "on-light" : "on-dark";
  const edge = flipped ? 7 : 0;
  if (rank === edge) put("text", { x: x + SIDE - 7, y: y + SIDE - 3, class: className }, board).textContent = "abcdefgh"[file];
  if (file === edge) put("text", { x: x + 2, y: y + 10, class: className }, board).textContent = String(rank + 1);
}

function pointer(board, [from, to, share], place, index) {
  if (share < 0.02) return;
  const [x1, y1] = place(from).map((side) => side + SIDE / 2);
  const [x2, y2] = place(to).map((side) => side + SIDE / 2);
  const length = Math.hypot(x2 - x1, y2 - y1);
  const [dx, dy] = [(x2 - x1) / length, (y2 - y1) / length];
  const [width, head] = [2 + 7 * share, 7 + 6 * share];
  const [ex, ey] = [x2 - dx * head, y2 - dy * head];
  const side = (sign, size, x, y) => `${x - sign * dy * size} ${y + sign * dx * size}`;
  const d = `M${side(1, width / 2, x1, y1)}L${side(1, width / 2, ex, ey)}L${side(1, head / 1.6, ex, ey)}L${x2} ${y2}` +
    `L${side(-1, head / 1.6, ex, ey)}L${side(-1, width / 2, ex, ey)}L${side(-1, width / 2, x1, y1)}Z`;
  put("path", { d, class: "arrow", opacity: index === 0 ? 0.75 : 0.45 }, board);
}
