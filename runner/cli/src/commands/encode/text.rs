//! Positions as text: every plane with its name, drawn as a board if some but not all squares are set.

use std::fmt::Write as _;

use super::{Encoded, PlaneContent};
use dc0_process::format::counted;

/// Moves per line.
const MOVES_ACROSS: usize = 4;

pub(super) fn write(positions: &[Encoded<'_>]) -> String {
    positions.iter().map(page).collect::<Vec<_>>().join("\n")
}

fn page(position: &Encoded<'_>) -> String {
    let encoding = position.encoding;
    let (version, fen) = (encoding.name().version(), position.game.position().fen());
    let mut page = format!("{encoding}, version {version}\n{fen}\n\n");
    for (index, (plane, content)) in encoding.planes().iter().zip(&position.planes).enumerate() {
        let name = plane.describe(encoding.orientation());
        let divisor = plane.divisor().map(|divisor| format!(" / {divisor}")).unwrap_or_default();
        writeln!(page, "{index:>3}  {name}{divisor}:{}", value(*content)).expect("text takes everything");
    }
    page.push_str(&moves(position));
    page
}

fn value(content: PlaneContent) -> String {
    match content {
        PlaneContent::Number(number) => format!(" {number}"),
        PlaneContent::Bits(0) => " no square".to_owned(),
        PlaneContent::Bits(u64::MAX) => " all squares".to_owned(),
        PlaneContent::Bits(squares) => board(squares),
    }
}

/// Eight lines, the eighth rank on top.
fn board(squares: u64) -> String {
    let rank = |rank: u32| -> String {
        let square = |file| if squares >> (8 * rank + file) & 1 == 1 { " 1" } else { " ." };
        (0..8).map(square).collect()
    };
    (0..8).rev().map(|number| format!("\n     {}", rank(number))).collect()
}

fn moves(position: &Encoded<'_>) -> String {
    let one = |mv: &super::IndexedMove| {
        format!("{:<5} {:>4} {:>4}", mv.chess_move.to_string(), mv.policy, mv.leela)
    };
    let all: Vec<String> = position.moves.iter().map(one).collect();
    let lines = all.chunks(MOVES_ACROSS).map(|line| format!("     {}\n", line.join("    ")));
    let count = counted(position.moves.len(), "legal move");
    format!("\n{count}, each with its index of 4672 and Leela's of 1858\n{}", lines.collect::<String>())
}
