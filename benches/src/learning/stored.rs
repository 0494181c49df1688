//! What the stored rows teach, whatever the net: targets on mates, positions of games that were cut off, and what tablebases say of
//! results and targets.

use std::error::Error;

use dc0_core::arena::mating_moves;
use dc0_core::board::{Ending, Game, Move, Reason};
use dc0_core::store::PositionRow;

use super::study::{Row, Study, mean};

/// Bounds of the net's value in the table of mates.
const VALUES: [(&str, f32, f32); 4] = [
    ("target on mates in one that were played: net's value < 0.6", -1.1, 0.6),
    ("target on mates in one that were played: 0.6 to 0.8", 0.6, 0.8),
    ("target on mates in one that were played: 0.8 to 0.9", 0.8, 0.9),
    ("target on mates in one that were played: from 0.9", 0.9, 1.1),
];

/// The share of the policy target on moves that mate, where one was played.
pub(super) fn mates(study: &mut Study) -> Result<Vec<Row>, Box<dyn Error>> {
    let mut shares: Vec<(f32, f64)> = Vec::new();
    for position in study.positions.iter().filter(|position| position.row.full) {
        let mates = mates_in_one(&position.game);
        if mates.iter().any(|mv| mv.packed() == position.row.played) {
            let on_mates = share(&position.row, |packed| mates.iter().any(|mv| mv.packed() == packed));
            shares.push((position.row.net_q, on_mates));
        }
    }
    let row = |(what, low, high): (&'static str, f32, f32)| {
        let inside = || shares.iter().filter(|(value, _)| (low..high).contains(value));
        Row { what, value: mean(inside().map(|(_, share)| *share)), positions: inside().count() }
    };
    Ok(VALUES.into_iter().map(row).collect())
}

/// The moves that mate.
fn mates_in_one(game: &Game) -> Vec<Move> {
    // Nearly all positions have none, which is found quickly.
    let has_mate = game.position().mate_in_one(&game.position().legal_moves()).is_some();
    if has_mate { mating_moves(&mut game.clone(), 1) } else { Vec::new() }
}

/// The share of a row's policy target on some moves.
fn share(row: &PositionRow, is_counted: impl Fn(u16) -> bool) -> f64 {
    let weight = |counted: bool| -> f64 {
        let moves = row.moves.iter().zip(&row.target).filter(|(mv, _)| !counted || is_counted(**mv));
        moves.map(|(_, target)| f64::from(*target)).sum()
    };
    weight(true) / weight(false)
}

/// Positions of games that the ply cap ended.
pub(super) fn capped(study: &mut Study) -> Result<Vec<Row>, Box<dyn Error>> {
    let is_capped = study.positions.iter().map(|position| position.end == Ending::Rules(Reason::PlyCap));
    let value = mean(is_capped.map(|is_capped| f64::from(u8::from(is_capped))));
    let what = "share of positions in games that the ply cap ended";
    Ok(vec![Row { what, value, positions: study.positions.len() }])
}

/// Stored results and policy targets in positions that the tablebases know.
pub(super) fn endings(study: &mut Study) -> Result<Vec<Row>, Box<dyn Error>> {
    let Some(tables) = &study.tables else { return Ok(Vec::new()) };
    let (mut wrong, mut losing) = (Vec::new(), Vec::new());
    for position in &study.positions {
        if let Some(known) = tables.probe_with_clock(position.game.position())? {
            wrong.push(f64::from(u8::from(known.outcome() != position.row.result)));
        }
        let Some(ranked) = tables.rank_root(&position.game)?.filter(|_| position.row.full) else { continue };
        let best = ranked.iter().map(|ranked| ranked.result.outcome()).max();
        let loses = |packed: u16| {
            let of_move = ranked.iter().find(|ranked| ranked.mv.packed() == packed);
            of_move.is_some_and(|ranked| Some(ranked.result.outcome()) < best)
        };
        losing.push(share(&position.row, loses));
    }
    let row = |what, numbers: Vec<f64>| Row {
        what,
        value: mean(numbers.iter().copied()),
        positions: numbers.len(),
    };
    Ok(vec![
        row("share of stored results that tablebases contradict", wrong),
        row("target on moves that throw the tablebases' result away", losing),
    ])
}
