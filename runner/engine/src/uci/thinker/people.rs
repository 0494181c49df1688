//! What people ask for: the net's opinion, the moves of the last search, the speed.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use dc0_core::board::Game;
use dc0_core::network::EvaluatorError;
use dc0_core::search::bench::{positions, short, signature};
use dc0_core::search::{Search, SearchParams, Visited};

use super::{RULES, Thinker, frame, run_on};
use crate::uci::options::Settings;
use crate::uci::signal::Signal;
use crate::uci::watch::{Limits, Watch};
use crate::uci::workers::Pool;
use dc0_process::clock::Stopwatch;

/// Simulations of each position of `bench`.
const BENCH_SIMULATIONS: u32 = 1000;

impl Thinker {
    /// Shows what the net says of a position: its value, and the priors of all moves.
    pub(super) fn eval(&mut self, settings: &Settings, game: Game) {
        if !game.position().has_legal_move() {
            self.output.say("no legal move: the game is over");
            return;
        }
        self.make_ready(settings);
        let Some(pool) = &self.pool else { return };
        // One simulation is the root's own evaluation.
        let params = SearchParams { simulations: 1, leaves: 1, reuse_tree: false, ..settings.search.clone() };
        let looked = Arc::new(Mutex::new(Search::with_tablebases(game, RULES, params, None)));
        let search = Arc::clone(&looked);
        let asked = pool.one(Box::new(move |evaluator| {
            search.lock().unwrap_or_else(PoisonError::into_inner).run(evaluator)
        }));
        let looked = looked.lock().unwrap_or_else(PoisonError::into_inner);
        match asked {
            Ok(()) => self.output.say(&opinion(&looked)),
            Err(error) => self.output.tell(&format!("error: {error}")),
        }
    }

    /// Shows the moves of the last search.
    pub(super) fn show_tree(&self) {
        let Some(tree) = self.tree.as_ref().filter(|tree| tree.search.visits() > 0) else {
            self.output.say("nothing was searched");
            return;
        };
        let mut moves: Vec<Visited> = tree.search.root_moves().collect();
        moves.sort_by(|a, b| b.visits.cmp(&a.visits).then(b.prior.total_cmp(&a.prior)));
        let line = |of: &Visited| {
            let value = of.value.map_or("-".to_owned(), |value| format!("{value:+.3}"));
            let proof = of.proof.map_or(String::new(), |proof| format!("  proven {proof:?}").to_lowercase());
            format!(
                "\n{:<6}{:>8}{:>8.2}{:>9}{proof}",
                of.played.to_string(),
                of.visits,
                100.0 * of.prior,
                value
            )
        };
        let lines: String = moves.iter().map(line).collect();
        self.output.say(&format!("move    visits  prior%    value{lines}"));
    }

    /// Says how fast the engine searches, in the form that match servers read.
    pub(super) fn bench(&mut self, settings: &Settings) {
        self.make_ready(settings);
        let Some(pool) = &self.pool else { return };
        match signature().and_then(|signature| Ok((signature, speed(pool, settings)?))) {
            Ok((signature, speed)) => self.output.say(&bench_line(signature, speed)),
            Err(error) => self.output.tell(&format!("error: {error}")),
        }
    }
}

/// The signature of the search in place of the nodes, and simulations a second.
pub(in crate::uci) fn bench_line(signature: u64, speed: f64) -> String {
    format!("{} nodes {speed:.0} nps", short(signature))
}

/// Simulations a second on the positions of the suite, from trees and memories that are empty.
pub(in crate::uci) fn speed(pool: &Pool, settings: &Settings) -> Result<f64, EvaluatorError> {
    pool.forget()?;
    let (started, mut simulations) = (Stopwatch::start(), 0u64);
    for game in positions() {
        let mut search = Search::with_tablebases(game, RULES, settings.search.clone(), None);
        search.set_budget(BENCH_SIMULATIONS);
        let watch = Watch::new(Arc::new(Signal::new(false)), Limits::default(), frame(settings));
        let (search, _, ended) = run_on(pool, search, watch);
        ended?;
        simulations += u64::from(search.visits());
    }
    let seconds = started.elapsed().max(Duration::from_millis(1)).as_secs_f64();
    Ok(simulations as f64 / seconds)
}

fn opinion(search: &Search) -> String {
    let (value, draw) = search.net_value();
    let mut moves: Vec<Visited> = search.root_moves().collect();
    moves.sort_by(|a, b| b.prior.total_cmp(&a.prior));
    let priors: String =
        moves.iter().map(|of| format!("\n{:<6}{:>6.2} %", of.played.to_string(), 100.0 * of.prior)).collect();
    let (win, loss) = (0.5 * (1.0 - draw + value), 0.5 * (1.0 - draw - value));
    format!("value {value:+.4}, win {win:.3} draw {draw:.3} loss {loss:.3} for the side to move{priors}")
}
