// Draws a position. It does not know the rules: the pieces, squares and arrows are given.

const SVG = "http://www.w3.org/2000/svg";
const SIZE = 45; // The side of a square.

function put(tag, attributes, parent) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  parent.append(element);
  return element;
}

export const squareName = (square) => "abcdefgh"[square % 8] + ((square >> 3) + 1);

// The letters of the pieces by square, from the first field of a FEN.
export function piecesOf(placement) {
  const pieces = new Map();
  let square = 56;
  for (const letter of placement.split(" ")[0]) {
    if (letter === "/") square -= 16;
    else if (letter >= "1" && letter <= "8") square += Number(letter);
    else pieces.set(square++, letter);
  }
  return pieces;
}

const NAMES = { p: "pawn", n: "knight", b: "bishop", r: "rook", q: "queen", k: "king" };
export const pieceName = (letter) => `${letter === letter.toUpperCase() ? "white" : "black"} ${NAMES[letter.toLowerCase()]}`;

// `placement` is a FEN or its first field; `last`, `marks` and `targets` are squares; `arrows` are [from, to, share].
export function draw(board, { placement, last = [], marks = [], targets = [], arrows = [], flipped = false, check = null }) {
  board.replaceChildren();
  const corner = (square) => {
    const [file, rank] = [square % 8, square >> 3];
    return flipped ? [(7 - file) * SIZE, rank * SIZE] : [file * SIZE, (7 - rank) * SIZE];
  };
  const cover = (square, className) => {
    const [x, y] = corner(square);
    put("rect", { x, y, width: SIZE, height: SIZE, class: className }, board);
  };
  for (let square = 0; square < 64; square += 1) {
    const isLight = (square + (square >> 3)) % 2 === 1;
    cover(square, isLight ? "light" : "dark");
    label(board, square, corner(square), isLight, flipped);
  }
  for (const square of last) cover(square, "moved");
  for (const square of marks) cover(square, "marked");
  const pieces = piecesOf(placement);
  for (const [square, letter] of pieces) {
    if (check && letter === (check === "white" ? "K" : "k")) cover(square, "checked");
  }
  for (const [square, letter] of pieces) {
    const [x, y] = corner(square);
    const side = letter === letter.toUpperCase() ? "white" : "black";
    put("use", { href: "#pc-" + letter.toLowerCase(), x, y, class: "piece " + side }, board);
  }
  for (const square of targets) {
    const [x, y] = corner(square).map((start) => start + SIZE / 2);
    put("circle", { cx: x, cy: y, r: pieces.has(square) ? 19 : 7, class: pieces.has(square) ? "take" : "target" }, board);
  }
  arrows.forEach((arrow, index) => drawArrow(board, arrow, corner, index));
}

function label(board, square, [x, y], isLight, flipped) {
  const [file, rank] = [square % 8, square >> 3];
  const className = isLight ? "on-light" : "on-dark";
  const edge = flipped ? 7 : 0;
  if (rank === edge) put("text", { x: x + SIZE - 7, y: y + SIZE - 3, class: className }, board).textContent = "abcdefgh"[file];
  if (file === edge) put("text", { x: x + 2, y: y + 10, class: className }, board).textContent = String(rank + 1);
}

function drawArrow(board, [from, to, share], corner, index) {
  if (share < 0.02) return;
  const [x1, y1] = corner(from).map((start) => start + SIZE / 2);
  const [x2, y2] = corner(to).map((start) => start + SIZE / 2);
  const length = Math.hypot(x2 - x1, y2 - y1);
  const [dx, dy] = [(x2 - x1) / length, (y2 - y1) / length];
  const [width, head] = [2 + 7 * share, 7 + 6 * share];
  const [ex, ey] = [x2 - dx * head, y2 - dy * head];
  const side = (sign, size, x, y) => `${x - sign * dy * size} ${y + sign * dx * size}`;
  const d = `M${side(1, width / 2, x1, y1)}L${side(1, width / 2, ex, ey)}L${side(1, head / 1.6, ex, ey)}L${x2} ${y2}` +
    `L${side(-1, head / 1.6, ex, ey)}L${side(-1, width / 2, ex, ey)}L${side(-1, width / 2, x1, y1)}Z`;
  put("path", { d, class: "arrow", opacity: index === 0 ? 0.75 : 0.45 }, board);
}
