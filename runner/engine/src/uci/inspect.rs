//! Commands for people: the net's evaluation, the moves of the last search, the speed.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use dc0_core::board::{Game, Move, Position};
use dc0_core::network::{EvaluatorError, PositionValue};
use dc0_core::poison::IgnorePoison as _;
use dc0_core::search::bench::{positions, short, signature};
use dc0_core::search::{RootMove, Search, SearchParams};
use dc0_process::clock::Stopwatch;

use super::engine::{RULES, run_on};
use super::notation::Notation;
use super::options::Settings;
use super::signal::Signal;
use super::time::BatchTime;
use super::watch::{Limits, Watch, watched};
use super::workers::Pool;

/// Simulations of each position of `bench`.
const BENCH_SIMULATIONS: u32 = 1000;

/// The net's evaluation of a position that has a legal move: its value, and the priors of all moves.
pub(super) fn evaluation(pool: &Pool, settings: &Settings, game: Game) -> Result<String, EvaluatorError> {
    // One simulation is the root's own evaluation.
    let params = SearchParams { simulations: 1, leaf_batch: 1, reuse_tree: false, ..settings.search.clone() };
    let searched = Arc::new(Mutex::new(Search::with_tablebases(game, RULES, params, None)));
    let search = Arc::clone(&searched);
    pool.one(Box::new(move |evaluator| search.lock().ignore_poison().run(evaluator)))?;
    let searched = searched.lock().ignore_poison();
    Ok(evaluation_text(&searched, settings))
}

/// The root moves of a search as a table.
pub(super) fn visited_moves(search: &Search, notation: Notation) -> String {
    let position = search.game().position();
    let mut moves: Vec<RootMove> = search.root_moves().collect();
    moves.sort_by(|a, b| b.visits.cmp(&a.visits).then(b.prior.total_cmp(&a.prior)));
    let line = |edge: &RootMove| {
        let value = edge.value.map_or("-".to_owned(), |value| format!("{value:+.3}"));
        let proof = edge.proof.map_or(String::new(), |proof| format!("  proven {proof:?}").to_lowercase());
        format!(
            "\n{:<6}{:>8}{:>8.2}{:>9}{proof}",
            notation.text(position, edge.played),
            edge.visits,
            100.0 * edge.prior,
            value
        )
    };
    let lines: String = moves.iter().map(line).collect();
    format!("move    visits  prior%    value{lines}")
}

/// The most plies of [`perft`]: more than can be counted, and few enough for the call stack.
pub(super) const MOST_PLIES: u32 = 100;

/// The number of positions that `depth` plies, from one to [`MOST_PLIES`], lead to, by the first move and in sum, in the form that
/// other engines print; `None` if it was stopped.
pub(super) fn perft(
    position: &Position,
    depth: u32,
    notation: Notation,
    is_stopped: &dyn Fn() -> bool,
) -> Option<String> {
    let moves = position.legal_moves();
    let count = |mv: Move| Some((mv, positions_after(position, mv, depth - 1, is_stopped)?));
    let counts = moves.into_iter().map(count).collect::<Option<Vec<(Move, u64)>>>()?;
    let text = |mv: &Move| notation.text(position, *mv);
    let lines: Vec<String> = counts.iter().map(|(mv, count)| format!("{}: {count}", text(mv))).collect();
    let sum: u64 = counts.iter().map(|(_, count)| count).sum();
    Some(format!("{}\n\nNodes searched: {sum}", lines.join("\n")))
}

fn positions_after(before: &Position, mv: Move, depth: u32, is_stopped: &dyn Fn() -> bool) -> Option<u64> {
    if is_stopped() {
        return None;
    }
    let mut position = before.clone();
    // Nothing needs the key.
    position.play_unchecked(mv, 0);
    // Some milliseconds; more is counted move by move, so that it can be stopped.
    if depth <= 3 {
        return Some(position.perft(depth));
    }
    let moves = position.legal_moves();
    moves.into_iter().map(|mv| positions_after(&position, mv, depth - 1, is_stopped)).sum()
}

/// The search signature in place of the nodes, and simulations per second, in the form that match servers read.
pub(super) fn bench(pool: &Pool, settings: &Settings) -> Result<String, EvaluatorError> {
    let signature = signature()?;
    Ok(format!("{} nodes {:.0} nps", short(signature), speed(pool, settings)?))
}

/// Simulations per second on the bench positions, from empty trees and caches.
fn speed(pool: &Pool, settings: &Settings) -> Result<f64, EvaluatorError> {
    pool.clear_cache()?;
    let (started, mut simulations) = (Stopwatch::start(), 0u64);
    for game in positions() {
        let mut search = Search::with_tablebases(game, RULES, settings.search.clone(), None);
        search.set_budget(BENCH_SIMULATIONS);
        let watch =
            Watch::new(Arc::new(Signal::new(false)), Limits::default(), settings, BatchTime::default());
        let (search, ended) = run_on(pool, search, watched(&Arc::new(Mutex::new(watch))));
        ended?;
        simulations += u64::from(search.visits());
    }
    let seconds = started.elapsed().max(Duration::from_millis(1)).as_secs_f64();
    Ok(simulations as f64 / seconds)
}

fn evaluation_text(search: &Search, settings: &Settings) -> String {
    let PositionValue { value, draw } = search.net_value();
    let (position, fit) = (search.game().position(), settings.score_fit());
    let text = |mv: Move| settings.notation.text(position, mv);
    let mut moves: Vec<RootMove> = search.root_moves().collect();
    moves.sort_by(|a, b| b.prior.total_cmp(&a.prior));
    let priors: String =
        moves.iter().map(|edge| format!("\n{:<6}{:>6.2} %", text(edge.played), 100.0 * edge.prior)).collect();
    let (win, loss) = (0.5 * (1.0 - draw + value), 0.5 * (1.0 - draw - value));
    let shown = fit.of_value(value, draw);
    let [wins, draws, losses] = shown.wdl();
    format!(
        "value {value:+.4}, win {win:.3} draw {draw:.3} loss {loss:.3} for the side to move\n\
         in games score {}, win {wins:.3} draw {draws:.3} loss {losses:.3}{priors}",
        shown.text()
    )
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use dc0_core::board::Position;

    use super::{MOST_PLIES, perft};
    use crate::uci::notation::Notation;

    #[test]
    fn the_deepest_perft_can_be_stopped() {
        let questions = Cell::new(0);
        let is_stopped = || {
            questions.set(questions.get() + 1);
            questions.get() > 50
        };
        let counted = |depth| perft(&Position::initial(), depth, Notation::default(), &is_stopped);
        assert_eq!(counted(MOST_PLIES), None);
        assert_eq!(questions.get(), 51, "it asks at every move, long before it counts");
    }
}
