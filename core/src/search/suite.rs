//! Fixed positions, searches of many games at once, and one number for what the search does.

use super::{Search, SearchParams};
use crate::board::{Game, Position, Rules, random_opening};
use crate::encoding::{Encoding, EncodingName, Orientation};
use crate::network::fake::Hashed;
use crate::network::{Batch, Evaluations, Evaluator, EvaluatorError};
use crate::rng::{Purpose, Seed};

const RULES: Rules = Rules { max_plies: 512 };

/// Fifteen positions: random games of 0 to 77 plies, a mate in one, a draw at hand, and one with every kind of move.
pub fn positions() -> Vec<Game> {
    let opened = (0..12).map(|game| {
        let mut stream = Seed { run: 9, step: 0 }.stream(game, Purpose::Opening);
        random_opening(game as u32 * 7, &RULES, &mut stream)
    });
    let fens = [
        "6k1/5ppp/8/8/8/8/5PPP/3R2K1 w - - 0 1",
        "8/8/8/8/8/3k4/4p3/4K3 w - - 96 90",
        "r3k2r/Pppp1ppp/1b3nbN/nP6/BBP1P3/q4N2/Pp1P2PP/R2Q1RK1 w kq - 0 1",
    ];
    let from_fen =
        |fen| Game::from_position(Position::from_fen(fen).expect("the positions of the suite are legal"));
    opened.chain(fens.map(from_fen)).collect()
}

/// Searches games side by side, the leaves of all in every batch, until all are done. `after_batch` is told the rows of every
/// batch, and may end it.
pub fn search_in_lockstep<E: From<EvaluatorError>>(
    searches: &mut [Search],
    evaluator: &mut dyn Evaluator,
    after_batch: &mut dyn FnMut(usize) -> Result<(), E>,
) -> Result<(), E> {
    let (mut batch, mut answers) = (Batch::default(), Evaluations::default());
    let encoding = evaluator.encoding().clone();
    let mut first_rows = Vec::new();
    while searches.iter().any(|search| !search.is_done()) {
        batch.clear();
        first_rows.clear();
        for search in &mut *searches {
            search.search_by_reference(evaluator)?;
            first_rows.push(batch.len());
            search.gather(&encoding, &mut batch);
            search.take_damage().map_err(EvaluatorError::from)?;
        }
        evaluator.evaluate(&batch, &mut answers)?;
        for (search, first_row) in searches.iter_mut().zip(&first_rows) {
            search.apply(&batch, &answers, *first_row)?;
        }
        after_batch(batch.len())?;
    }
    Ok(())
}

/// A signature in 31 bits, which match servers keep.
pub fn short(signature: u64) -> u32 {
    (signature ^ signature >> 32) as u32 >> 1
}

/// One number for the visits of the default search with 500 simulations on the suite's positions. It changes when the
/// behaviour of the search does, which must be meant and announced.
pub fn signature() -> Result<u64, EvaluatorError> {
    let params = SearchParams { simulations: 500, ..SearchParams::default() };
    let mut signature = 0u64;
    for (salt, game) in (0..).zip(positions()) {
        let mut evaluator = Hashed::new(Encoding::new(EncodingName::Dc0, Orientation::SideToMove), salt);
        let mut search = [Search::new(game, RULES, params.clone())];
        search_in_lockstep(&mut search, &mut evaluator, &mut |_| Ok::<_, EvaluatorError>(()))?;
        for seen in search[0].root_moves() {
            let item = u64::from(seen.played.packed()) << 32 | u64::from(seen.visits);
            // FNV-1a's step (Fowler, Noll & Vo).
            signature = (signature ^ item).wrapping_mul(0x100_0000_01b3);
        }
    }
    Ok(signature)
}
