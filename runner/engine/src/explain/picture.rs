//! The tree as a picture: the root on the left, a column for each ply, boards of the leading lines below.

use std::fmt::Write as _;

use dc0_analysis::web::PIECE_SYMBOLS;
use dc0_core::board::{Game, Side};

use super::figures::{percent, signed};
use super::squares::squares;
use super::study::{Searched, Study};
use super::tree::{Branches, TreeNode, tree};
use crate::variation::whole_moves;
use dc0_process::format::counted;

/// The picture's style sheet, for light and dark themes.
pub(super) const STYLE: &str = include_str!("picture.css");

const MARGIN: f64 = 24.0;
/// Distance between two columns of nodes.
const COLUMN: f64 = 178.0;
/// Distance between two rows of nodes.
const ROW: f64 = 42.0;
/// The radius of a node with all visits, and of the smallest one.
const LARGEST: f64 = 17.0;
const SMALLEST: f64 = 4.0;
/// The width of a letter of a label, at most.
const LETTER: f64 = 6.5;
/// The width of a board, and how many lines have one.
const BOARD: f64 = 168.0;
const BOARDS: usize = 3;

/// A self-contained picture.
pub(super) fn standalone(study: &Study) -> String {
    let style = STYLE.replace('\n', " ");
    picture(study, &format!("<style>{style}</style>"))
}

/// The picture; `head` is inserted first.
pub(super) fn picture(study: &Study, head: &str) -> String {
    let branches = tree(study);
    let mut drawing =
        Drawing { all: study.search.visits(), rows: 0.0, edges: String::new(), nodes: String::new() };
    let top = MARGIN + 34.0;
    let root = drawing.branches(&branches, 1, top);
    let value = study.search.root_value().value;
    drawing.node((MARGIN + LARGEST, root), study.search.visits(), value, study.search.proof().is_some());
    drawing.label((MARGIN + LARGEST, root), ["root", &signed(value), &visits(study.search.visits())]);
    let below = top + drawing.rows.max(1.0) * ROW + 8.0;
    let boards = boards(study, below);
    let columns = f64::from(deepest(&branches)) + 1.0;
    let width = (2.0 * MARGIN + columns * COLUMN).max(2.0 * MARGIN + boards.1);
    let height = below + boards.2 + MARGIN;
    let side = study.side();
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"explain\" viewBox=\"0 0 {width:.0} {height:.0}\" width=\"{width:.0}\" \
         height=\"{height:.0}\" role=\"img\" aria-label=\"The search tree\">{head}<defs>{PIECE_SYMBOLS}</defs>\
         <rect class=\"paper\" width=\"{width:.0}\" height=\"{height:.0}\" rx=\"8\"/>{}{}{}{}</svg>",
        legend(side),
        drawing.edges,
        drawing.nodes,
        boards.0
    )
}

fn legend(side: Side) -> String {
    let y = MARGIN + 4.0;
    format!(
        "<circle class=\"good\" cx=\"{:.0}\" cy=\"{y:.0}\" r=\"8\"/>{}<text x=\"{:.0}\" y=\"{:.0}\">good for {side:?}</text>\
         <rect class=\"bad\" x=\"{:.0}\" y=\"{:.0}\" width=\"15\" height=\"15\"/>{}<text x=\"{:.0}\" y=\"{:.0}\">bad for {side:?}; \
         the larger, the more visits</text>",
        MARGIN + 8.0,
        sign((MARGIN + 8.0, y), "+"),
        MARGIN + 22.0,
        y + 4.0,
        MARGIN + 138.0,
        y - 7.5,
        sign((MARGIN + 145.5, y), "−"),
        MARGIN + 160.0,
        y + 4.0,
    )
}

fn sign((x, y): (f64, f64), sign: &str) -> String {
    format!("<text class=\"sign\" x=\"{x:.1}\" y=\"{:.1}\">{sign}</text>", y + 4.5)
}

fn visits(count: u32) -> String {
    counted(count as usize, "visit")
}

fn deepest(branches: &Branches) -> u16 {
    branches.shown.iter().map(|node| node.depth.max(deepest(&node.below))).max().unwrap_or(0)
}

/// The drawing so far.
struct Drawing {
    /// Visits of the root.
    all: u32,
    /// Rows that are in use.
    rows: f64,
    edges: String,
    nodes: String,
}

impl Drawing {
    /// Draws the moves of a position. Returns the height of the position itself, in the middle of its moves.
    fn branches(&mut self, branches: &Branches, depth: u16, top: f64) -> f64 {
        let heights: Vec<f64> = branches.shown.iter().map(|node| self.subtree(node, top)).collect();
        if heights.is_empty() {
            self.rows += 1.0;
            return top + (self.rows - 0.5) * ROW;
        }
        let middle = f64::midpoint(heights[0], heights[heights.len() - 1]);
        let parent = MARGIN + LARGEST + f64::from(depth - 1) * COLUMN;
        for (node, height) in branches.shown.iter().zip(&heights) {
            self.edge((parent, middle), (parent + COLUMN, *height), node.visits);
        }
        middle
    }

    fn subtree(&mut self, node: &TreeNode, top: f64) -> f64 {
        let y = self.branches(&node.below, node.depth + 1, top);
        let centre = (MARGIN + LARGEST + f64::from(node.depth) * COLUMN, y);
        self.node(centre, node.visits, node.q, node.proof.is_some());
        let proof = node.proof.map_or(String::new(), |proof| format!(", proven {proof}"));
        let about = format!("{}, P {}{proof}", visits(node.visits), percent(node.prior.into()));
        self.label(centre, [&node.san, &signed(node.q), &about]);
        y
    }

    fn radius(&self, visits: u32) -> f64 {
        SMALLEST + (LARGEST - SMALLEST) * (f64::from(visits) / f64::from(self.all)).sqrt()
    }

    /// A circle if the move is good for the side at the root, a square if it is bad.
    fn node(&mut self, (x, y): (f64, f64), visits: u32, q: f64, is_proven: bool) {
        let radius = self.radius(visits);
        let proven = if is_proven { " proven" } else { "" };
        // As it is shown: +0.000 is not bad.
        let (shape, mark) = if signed(q).starts_with('+') {
            (format!("<circle class=\"good{proven}\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius:.1}\"/>"), "+")
        } else {
            let (left, top, size) = (x - radius, y - radius, 2.0 * radius);
            let rect = format!("x=\"{left:.1}\" y=\"{top:.1}\" width=\"{size:.1}\" height=\"{size:.1}\"");
            (format!("<rect class=\"bad{proven}\" {rect}/>"), "−")
        };
        self.nodes += &shape;
        if radius >= 6.0 {
            self.nodes += &sign((x, y), mark);
        }
    }

    fn label(&mut self, (x, y): (f64, f64), [name, value, about]: [&str; 3]) {
        let x = x + LARGEST + 5.0;
        let letters = (name.chars().count() + 1 + value.chars().count()).max(about.chars().count());
        // The edges to the next moves pass behind it.
        write!(
            self.nodes,
            "<rect class=\"paper\" x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"30\"/><text x=\"{x:.1}\" y=\"{:.1}\"><tspan class=\"name\">{name}</tspan> {value}</text>\
             <text class=\"small\" x=\"{x:.1}\" y=\"{:.1}\">{about}</text>",
            x - 2.0,
            y - 15.0,
            letters as f64 * LETTER + 4.0,
            y - 3.0,
            y + 11.0
        )
        .expect("writing to a string cannot fail");
    }

    fn edge(&mut self, (x, y): (f64, f64), (to_x, to_y): (f64, f64), visits: u32) {
        let width = 1.0 + 6.0 * f64::from(visits) / f64::from(self.all);
        let bend = to_x - 34.0;
        write!(
            self.edges,
            "<path class=\"edge\" stroke-width=\"{width:.1}\" d=\"M{x:.1} {y:.1}C{bend:.1} {y:.1} {bend:.1} {to_y:.1} {to_x:.1} {to_y:.1}\"/>"
        )
        .expect("writing to a string cannot fail");
    }
}

/// Boards of the position and of the ends of the leading lines, with their total width and height.
fn boards(study: &Study, top: f64) -> (String, f64, f64) {
    let is_flipped = study.side() == Side::Black;
    let game = study.game();
    let mut drawn = String::new();
    let mut x = MARGIN;
    let mut put = |game: &Game, title: &str| {
        let last = game.moves().last().copied();
        drawn += &squares(game.position(), last, is_flipped, (x, top + 18.0, BOARD));
        write!(drawn, "<text class=\"small\" x=\"{x:.1}\" y=\"{:.1}\">{title}</text>", top + 12.0)
            .expect("writing to a string cannot fail");
        x += BOARD + 20.0;
    };
    put(game, &format!("{:?} to move", study.side()));
    for searched in study.moves.iter().filter(|searched| searched.edge.visits > 0).take(BOARDS) {
        let depth = study.params.depth;
        put(&after(game, searched, depth), &whole_moves(game.position(), shown(searched, depth), 30));
    }
    (drawn, x - MARGIN - 20.0, BOARD + 18.0)
}

/// The moves of a line that the tree shows.
fn shown(searched: &Searched, depth: u32) -> &[dc0_core::board::Move] {
    &searched.line[..searched.line.len().min(depth as usize)]
}

fn after(game: &Game, searched: &Searched, depth: u32) -> Game {
    let mut game = game.clone();
    for mv in shown(searched, depth) {
        game.play_unchecked(*mv);
    }
    game
}
