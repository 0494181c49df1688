//! What a match needs: its players with their evaluators and programs, its openings, and the parameters that count.

use dc0_backend::Evaluators;
use dc0_core::arena::{self, ArenaParams, Baseline, KeepMatchShard, MakeProgram, Match, Mind, PlayerParams};
use dc0_core::board::{Tablebase, TablebaseError};
use dc0_core::book::{Book, BookParams};
use dc0_core::event::Observer;
use dc0_core::network::Evaluator;
use dc0_core::network::checkpoint::Checkpoint;
use dc0_core::params::{Problem, Value};
use dc0_core::rng::Seed;
use dc0_core::search::{RootRule, SearchParams};
use dc0_core::selfplay::{MakeEvaluator, Shard};

use crate::error::StepError;
use crate::files;
use crate::handles::ProgramPlayer;
use crate::kinds::players::Startable;

/// The players and parameters of a match: everything that determines its games.
pub struct MatchSetup<'a> {
    /// The parameters of the match.
    pub params: &'a ArenaParams,
    /// The seed of the step.
    pub seed: Seed,
    /// The players.
    pub players: [MatchPlayer<'a>; 2],
    /// The book of openings; [`opening_book`] reads it.
    pub book: Option<&'a Book>,
    /// Makes the nets' evaluators.
    pub evaluators: &'a Evaluators,
}

/// A player of a match.
#[derive(Clone, Copy)]
pub enum MatchPlayer<'a> {
    /// A net.
    Network {
        /// Its name in table rows.
        name: &'a str,
        /// The net.
        net: &'a Checkpoint,
    },
    /// A player without a net.
    Baseline(&'static dyn Baseline),
    /// Another program.
    Program(&'a ProgramPlayer),
}

impl<'a> MatchPlayer<'a> {
    fn name(self) -> &'a str {
        match self {
            Self::Network { name, .. } => name,
            Self::Baseline(baseline) => baseline.name(),
            Self::Program(program) => &program.name,
        }
    }
}

/// Wraps a net's evaluator.
pub type WrapEvaluator<'a> = dyn Fn(Box<dyn Evaluator>, &Checkpoint) -> Box<dyn Evaluator> + Sync + 'a;

impl MatchSetup<'_> {
    /// Plays shards on a number of lanes.
    pub fn play(
        &self,
        shards: &[Shard],
        lanes: u32,
        wrap: &WrapEvaluator<'_>,
        keep: &KeepMatchShard<'_>,
        observer: &dyn Observer,
    ) -> Result<(), StepError> {
        self.with_match(wrap, |job| Ok(arena::play(job, shards, lanes, keep, observer)?))
    }

    /// What each net has of its own.
    pub(super) fn owns(&self) -> impl Iterator<Item = &PlayerParams> {
        let is_net = |number: &usize| matches!(self.players[*number], MatchPlayer::Network { .. });
        (0..self.players.len()).filter(is_net).map(|number| self.params.own(number))
    }

    /// The evaluators of a lane: one for each net with a tree search.
    pub(super) fn evaluators_of_lane(&self) -> u32 {
        self.owns().filter(|own| own.alphabeta.is_none()).count() as u32
    }

    /// Passes on the match with all that its players need.
    pub(super) fn with_match<T>(
        &self,
        wrap: &WrapEvaluator<'_>,
        action: impl FnOnce(&Match<'_>) -> Result<T, StepError>,
    ) -> Result<T, StepError> {
        let Self { params, seed, players, book, evaluators } = *self;
        let make = |player: usize| {
            let MatchPlayer::Network { net, .. } = players[player] else {
                unreachable!("only nets have evaluators")
            };
            evaluators.make_in(net, params.own(player).precision).map(|made| wrap(made, net))
        };
        let (make_first, make_second) = (|| make(0), || make(1));
        let makes: [&MakeEvaluator<'_>; 2] = [&make_first, &make_second];
        let tables = [params.search_of(0).open_tablebases()?, params.search_of(1).open_tablebases()?];
        let program = |number: usize| -> Result<Option<Startable<'_>>, StepError> {
            Ok(match (players[number], &params.own(number).alphabeta) {
                (MatchPlayer::Network { name, net }, Some(own)) => {
                    Some(Startable::alphabeta(name, net, own)?)
                }
                (MatchPlayer::Program(program), _) => Some(Startable::Program(program)),
                (MatchPlayer::Network { .. } | MatchPlayer::Baseline(_), _) => None,
            })
        };
        let programs = [program(0)?, program(1)?];
        let start = |player: usize| programs[player].as_ref().expect("only programs are started").start();
        let (start_first, start_second) = (|| start(0), || start(1));
        let starts: [&MakeProgram<'_>; 2] = [&start_first, &start_second];
        let player = |number: usize| match (players[number], &programs[number]) {
            (MatchPlayer::Baseline(baseline), _) => arena::Player::baseline(baseline),
            (MatchPlayer::Network { name, .. }, None) => arena::Player {
                name,
                mind: Mind::Network {
                    make_evaluator: makes[number],
                    search: params.search_of(number),
                    tables: tables[number].as_ref(),
                },
            },
            (player, program) => arena::Player {
                name: player.name(),
                mind: Mind::Program {
                    make: starts[number],
                    is_timed: program.as_ref().is_some_and(Startable::is_timed),
                },
            },
        };
        let deciding = deciding_tables(params)?;
        action(&Match { params, seed, players: [player(0), player(1)], book, tables: deciding.as_ref() })
    }
}

/// The book of openings, which has enough of them.
pub fn opening_book(params: &ArenaParams) -> Result<Option<Book>, StepError> {
    let Some(BookParams { file, plies, repeat, skip }) = &params.openings else { return Ok(None) };
    let book = files::book(file, *plies)?;
    let (longest, max_plies) = (book.longest(), params.max_plies);
    if longest >= max_plies as usize {
        return Err(StepError::LongOpenings { file: file.clone(), plies: longest, max_plies });
    }
    let skipped = skip.unwrap_or(0) as usize;
    let pairs = params.games as usize / 2;
    if *repeat || skipped + pairs <= book.len() {
        return Ok(Some(book));
    }
    let (file, openings) = (file.clone(), book.len().saturating_sub(skipped));
    Err(StepError::FewOpenings { file, openings, skipped, finished: book.finished().len(), pairs })
}

/// The tablebases that decide games.
pub(super) fn deciding_tables(params: &ArenaParams) -> Result<Option<Tablebase>, TablebaseError> {
    Tablebase::open_if(params.adjudication.tablebases.as_deref())
}

/// The parameters of matches that the script gave and none of their players uses, with the reasons. `nets` has what each net has of its
/// own; the others of the players have no net, and may be opponents in a list.
pub fn unused_by(
    nets: &[&PlayerParams],
    players: usize,
    params: &ArenaParams,
    given: &Value,
) -> Vec<Problem> {
    let is_given = |name: &str| given.member(name).is_some();
    let declared = ArenaParams::default();
    let searches: Vec<&SearchParams> = nets
        .iter()
        .filter(|own| own.alphabeta.is_none())
        .map(|own| own.search.as_ref().unwrap_or(&params.search))
        .collect();
    let all_are_nets = nets.len() == players;
    let all_have_own = nets.iter().all(|own| own.search.is_some() || own.alphabeta.is_some());
    let mut unused = Vec::new();
    let mut add = |path: &str, message: String| unused.push(Problem { path: path.to_owned(), message });
    if is_given("search") && all_are_nets && all_have_own {
        let own = "every player has a search of its own, so this one has no effect; leave it out";
        add("search", own.to_owned());
    }
    if is_given("cache") && params.cache != declared.cache && all_are_nets && searches.is_empty() {
        add("cache", "every player searches by alpha-beta, which has no cache; leave it out".to_owned());
    }
    if is_given("opening_plies")
        && params.openings.is_some()
        && params.opening_plies != declared.opening_plies
    {
        add("opening_plies", "has no effect with `openings`, which begin the games; leave it out".to_owned());
    }
    let draws_moves = searches.iter().any(|search| search.root.rule.draws_moves());
    let of_puct = [
        ("temperature", params.temperature != declared.temperature),
        ("choice", params.choice != declared.choice),
    ];
    if let Some(search) = searches.first().filter(|_| !draws_moves) {
        let (found, puct) = (search.root.rule.name(), RootRule::Puct.name());
        let reason = format!(
            "has no effect with {found} roots; leave it out, or set root.rule of a player's search to \"{puct}\""
        );
        of_puct.into_iter().filter(|(_, is_set)| *is_set).for_each(|(name, _)| add(name, reason.clone()));
    }
    unused
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{ArenaParams, BookParams, opening_book};

    #[test]
    fn too_few_openings_are_reported_with_the_games_left_out() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("b.pgn");
        fs::write(&path, "1. f3 e5 2. g4 Qh4# 0-1\n\n1. e4 e5 2. d4 d5 3. a3 *\n").expect("writes");
        let error = |plies| {
            let file = path.display().to_string();
            let openings = Some(BookParams { file, plies: Some(plies), ..BookParams::default() });
            opening_book(&ArenaParams { games: 6, openings, ..ArenaParams::default() })
                .expect_err("three pairs")
                .to_string()
        };
        let (short, long) = (error(3), error(4));
        assert!(short.contains("b.pgn has 2 openings, and the match has 3 pairs; "), "{short}");
        let expected = "b.pgn has 1 opening, besides 1 game left out as over within `plies`, and the match has 3 pairs; ";
        assert!(long.contains(expected), "{long}");
    }
}
