//! The step that plays a match. Shards are stored in the step's work folder, and merged into one table at the end.

mod remote;

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};

use dc0_backend::{Evaluators, is_by_rows};
use dc0_core::arena::{
    self, ArenaParams, Baseline, EloInterval, KeepMatchShard, Lineup, MakeProgram, Match, MatchShard,
    MatchSummary, Mind, PlayerParams, Sprt, SprtPairs, baseline,
};
use dc0_core::board::{Tablebase, TablebaseError};
use dc0_core::book::{Book, BookParams};
use dc0_core::event::{Event, Observer};
use dc0_core::network::Evaluator;
use dc0_core::network::checkpoint::Checkpoint;
use dc0_core::params::{Param, Problem, Value, read};
use dc0_core::rng::Seed;
use dc0_core::search::{RootRule, SearchParams};
use dc0_core::selfplay::{MakeEvaluator, Shard, shards_of};
use dc0_core::store::{FileEntry, MatchGameRow, Provenance, read_entry, write_shard_table, write_table};
use dc0_opponents::Opponent;
use dc0_runs::sweep::events::Spent;
use dc0_runs::{Input, Manifest, PartialProgress, Product, RunError, ShardNote, StepKind, StepWorkspace};

use super::programs::{Startable, unfit_for_alphabeta};
use super::unmet;
use crate::assumption::Assumption;
use crate::context::StepContext;
use crate::error::StepError;
use crate::estimate::{
    self, Estimate, GAME_BYTES, ShardPlan, TABLE_BYTES, assumed_plies, flops, most_evaluations,
    sequential_evaluations,
};
use crate::executor::{
    Described, Job, JobPlayer, Keep, Reply, ReplyTable, ShardWork, Sources, Task, Unaccepted, step_provenance,
};
use crate::files;
use crate::handles::{MatchResult, MatchResultFields, Network, Player, ProgramPlayer};
use crate::memory::{Machine, Memory};
use crate::metered::metered;
use crate::past_networks::PastNetworks;
use crate::progress::{Amount, StepProgress};
use crate::shards::Shards;
use crate::step::{Argument, ArgumentKind, MockResult, Step, StepOutput, StepResult, no_matching_form};
use crate::summary::cut_off;
use crate::usage::Usage;

pub(super) use remote::REMOTE;

/// The book's name among the inputs.
const OPENINGS: &str = "openings";

/// The two players.
pub struct Arena {
    players: [Player; 2],
}

/// The names of the players' own parameters, and of the inputs.
pub const PLAYERS: [&str; 2] = ["first", "second"];

/// Precedes a program's digest among the inputs.
pub const PROGRAM: &str = "program:";

/// The figures of a finished shard.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct Part {
    games: u64,
    evaluations: u64,
    /// The first player's points in each pair, in half points.
    half_points: Vec<u8>,
}

impl Step for Arena {
    const KIND: &'static StepKind = &StepKind::ARENA;
    const VERSION: u32 = 11;
    const USAGES: &'static [Usage] = &[Usage {
        name: "arena",
        form: "run.arena(player, player, #{…})",
        returns: "a match",
        meaning: "A step: plays a match. Scores are from the first player's side. A player is a net, a net with a search of its own \
            made by `player`, or the name of a player without a net, such as \"random\", \"greedy\" or \"alphabeta-2\".",
        example: "let verdict = run.arena(trained, net, #{ games: 4 });",
    }];
    const FORMS: &'static [&'static [ArgumentKind]] = &[&[ArgumentKind::Player, ArgumentKind::Player]];

    type Params = ArenaParams;

    fn schedules() -> Option<(&'static str, u32)> {
        Some(("max_plies", ArenaParams::default().max_plies))
    }

    fn from_arguments(arguments: Vec<Argument>, _: &mut Vec<Problem>) -> Result<Self, String> {
        let player = |argument| match argument {
            Argument::Network(network) => Ok(Player::of(network)),
            Argument::Player(player) => Ok(player),
            Argument::Text(name) => Player::named(&name),
            _ => Err(no_matching_form()),
        };
        let players: Vec<Player> = arguments.into_iter().map(player).collect::<Result<_, _>>()?;
        Ok(Self { players: players.try_into().map_err(|_| no_matching_form())? })
    }

    fn own_params(&self) -> Vec<(&'static str, Value)> {
        let own = |(name, player): (&'static str, &Player)| match player {
            Player::Network { own, .. } if **own != PlayerParams::default() => Some((name, own.to_value())),
            _ => None,
        };
        PLAYERS.into_iter().zip(&self.players).filter_map(own).collect()
    }

    fn from_manifest(manifest: &Manifest, past: &PastNetworks<'_>) -> Result<Self, RunError> {
        let params: ArenaParams =
            read(Self::KIND.name, &manifest.params).map_err(|cause| past.damaged(cause))?;
        let program = |name: &str| {
            let identity = manifest.summary.member("programs")?.member(name)?;
            let Value::Text(name) = identity.member("name")? else { return None };
            Some(name.clone())
        };
        let player = |role: &str, own: PlayerParams| -> Result<Player, RunError> {
            Ok(match (manifest.input(role).and_then(baseline), program(role)) {
                (Some(baseline), _) => Player::Baseline(baseline),
                (None, Some(name)) => {
                    let digest = manifest.input(role).unwrap_or_default().to_owned();
                    Player::Program(ProgramPlayer { name, digest, opponent: None })
                }
                (None, None) => {
                    Player::Network { network: past.read(manifest, role)?.clone(), own: Arc::new(own) }
                }
            })
        };
        Ok(Self { players: [player(PLAYERS[0], params.first)?, player(PLAYERS[1], params.second)?] })
    }

    fn unused(&self, params: &ArenaParams, given: &Value) -> Vec<Problem> {
        let owns = [&params.first, &params.second];
        let nets: Vec<&PlayerParams> = self.networks().map(|(_, number)| owns[number]).collect();
        unused_by(&nets, self.players.len(), params, given)
    }

    fn conflict(&self, params: &ArenaParams, _: &Value) -> Option<String> {
        let owns = [&params.first, &params.second].into_iter().enumerate();
        PLAYERS.into_iter().zip(&self.players).zip(owns).find_map(|((name, player), (number, own))| {
            let Some(network) = player.network() else {
                let is_extra = *own != PlayerParams::default();
                return is_extra.then(|| format!("{name}: \"{}\" has no net; leave it out", player.name()));
            };
            if let Some(problem) = useless_precision(name, own, network) {
                return Some(problem);
            }
            if own.alphabeta.is_none() {
                let path = if own.search.is_some() { format!("{name}.search") } else { "search".to_owned() };
                return unmet(&path, params.search_of(number), &network.0.spec);
            }
            unfit_for_alphabeta(name, &player.name(), network)
        })
    }

    fn inputs(&self, params: &ArenaParams) -> Result<Vec<Input>, StepError> {
        let digest = |player: &Player| match player {
            Player::Network { network, .. } => network.0.digest.clone(),
            Player::Baseline(baseline) => baseline.name().to_owned(),
            Player::Program(program) => format!("{PROGRAM}{}", program.digest),
        };
        let input = |(name, player): (&str, &Player)| Input { name: name.to_owned(), digest: digest(player) };
        let mut inputs: Vec<Input> = PLAYERS.into_iter().zip(&self.players).map(input).collect();
        let own = [&params.first, &params.second].map(|own| &own.search);
        for search in std::iter::once(&params.search).chain(own.into_iter().flatten()) {
            inputs.extend(files::tablebases(search)?);
        }
        for search in params.alphabetas() {
            inputs.extend(search.open_tablebases()?.as_ref().map(files::tablebases_input));
        }
        if let Some(book) = opening_book(params)? {
            inputs.push(Input { name: OPENINGS.to_owned(), digest: book.digest().to_owned() });
        }
        if let Some(tables) = deciding_tables(params)? {
            inputs.push(Input { name: "adjudication".to_owned(), digest: tables.digest() });
        }
        Ok(inputs)
    }

    fn run(
        &self,
        params: &ArenaParams,
        workspace: &StepWorkspace,
        context: &StepContext,
    ) -> Result<Product, StepError> {
        let nets: Vec<Option<Checkpoint>> = self
            .players
            .iter()
            .map(|player| player.network().map(|net| files::load(&workspace.folder, net)).transpose())
            .collect::<Result<_, _>>()?;
        let shards = Shards::<Part>::find(workspace, self.shards(params))?;
        let label = format!("match {}", self.players());
        let amount =
            Amount { unit: "games", done: shards.sum(|part| part.games), total: params.games.into() };
        let progress = context.progress(workspace, &label, amount);
        let names = self.players.each_ref().map(Player::row_name);
        let standing = Standing::new(params, shards.finished);
        workspace.meter.set_lanes(context.lanes);
        if !standing.is_decided() {
            let present: Vec<&Checkpoint> = nets.iter().flatten().collect();
            let book = opening_book(params)?;
            if let (Some(book), Some(BookParams { file, plies, .. })) = (&book, &params.openings) {
                files::warn_of_finished(book, file, *plies, &progress);
            }
            let work = Work {
                step: self,
                params,
                workspace,
                context,
                provenance: step_provenance(workspace, &present, context.is_mixed(), []),
                nets: &nets,
                names: &names,
                book,
                standing: &standing,
                progress: &progress,
            };
            context.do_shards(&work, &shards.rest, &progress)?;
        }
        context.close(&progress);
        self.product(params, workspace, &names)
    }

    fn result(&self, _: &ArenaParams, output: StepOutput) -> Result<StepResult, StepError> {
        let [first, second] = self.players.each_ref().map(Player::name);
        let StepOutput { run, files, summary, .. } = output;
        let fields = MatchResultFields { run, first, second, files, summary };
        Ok(StepResult::Match(MatchResult(Arc::new(fields))))
    }

    fn players(&self) -> String {
        format!("{} vs {}", self.players[0].name(), self.players[1].name())
    }

    fn figures(summary: &Value) -> String {
        let figure = |name| summary.member(name).and_then(Value::as_f64);
        let [wins, draws, losses, score] =
            ["wins", "draws", "losses", "score"].map(|name| figure(name).unwrap_or(f64::NAN));
        let cut_off = cut_off(summary, "endings");
        let capped = if cut_off > 0.0 { format!(", {cut_off} cut off") } else { String::new() };
        let elo = elo_text(["elo_low", "elo", "elo_high"].map(figure)).unwrap_or_default();
        let los = figure("los").map_or_else(String::new, |los| format!(", LOS {:.1} %", 100.0 * los));
        format!(
            "score {score:.3} (+{wins} ={draws} -{losses}{capped}{elo}{los}{})",
            test_text(summary).unwrap_or_default()
        )
    }

    fn planned(&self, _: &ArenaParams, _: u32) -> Result<String, StepError> {
        Ok(format!("match: {}", self.players()))
    }

    fn begun(&self, params: &ArenaParams, workspace: &StepWorkspace) -> Result<PartialProgress, RunError> {
        Ok(Shards::<Part>::find(workspace, self.shards(params))?.progress(|part| part.games))
    }

    fn memory(&self, params: &ArenaParams, machine: Machine) -> Memory {
        let nets: Vec<&Network> = self.networks().map(|(net, _)| net).collect();
        let shards = self.shards(params).len() as u32;
        let opponents = self.players.iter().filter_map(|player| player.program()?.opponent.as_ref());
        let tables = params.alphabetas().map(|search| search.hash_mb).chain(opponents.map(Opponent::hash_mb));
        Memory::of_inference(&nets, shards, machine).and(Memory::of_tables(tables, shards, machine))
    }

    fn estimate(&self, params: &ArenaParams, done: u64, _: Option<&Value>, lanes: u32) -> Estimate {
        self.estimate_of(&ArenaParams { games: files::left(params.games, done), ..params.clone() }, lanes)
    }

    fn mock_result(&self, params: &ArenaParams, _: u32, lanes: u32, assumption: Assumption) -> MockResult {
        let evaluations = self.estimate_of(params, lanes).work.evaluations;
        let assumed = assumed(params, evaluations, assumption);
        let mut summary = assumed.to_value();
        let decided = Value::Int(i64::from(assumed.wins + assumed.losses));
        summary.put("endings.checkmate", decided);
        MockResult { summary, files: Vec::new() }
    }

    /// Assumes that each net makes the same share of the evaluations.
    fn spent(&self, summary: &Value) -> Spent {
        let figure = |name| summary.member(name).and_then(Value::as_f64).unwrap_or(0.0);
        let (games, evaluations) = (figure("games"), figure("evaluations"));
        let each: Vec<f64> = self.networks().map(|(net, _)| flops(net)).collect();
        let mean = each.iter().sum::<f64>() / each.len().max(1) as f64;
        Spent { games, evaluations, flops: evaluations * mean, ..Spent::default() }
    }
}

/// Why a player's net cannot have a precision of its own; `None` if it can. `role` is the name of the player's parameters.
pub(super) fn useless_precision(role: &str, own: &PlayerParams, network: &Network) -> Option<String> {
    let is_useless = own.precision.is_some() && is_by_rows(&network.0.spec);
    is_useless.then(|| {
        format!(
            "{role}.precision: it is for nets that play on libtorch, and an nnue plays in integers; leave it out"
        )
    })
}

impl Arena {
    /// The nets, with the numbers of their players.
    fn networks(&self) -> impl Iterator<Item = (&Network, usize)> {
        self.players.iter().zip(0..).filter_map(|(player, number)| Some((player.network()?, number)))
    }

    /// What is known of the programs among the players, by their names among the inputs; `None` if there are none.
    fn programs(&self) -> Option<Value> {
        let identity = |(role, player): (&str, &Player)| {
            let program = player.program()?;
            let identity = program.opponent.as_ref().map_or_else(Value::group, Opponent::identity);
            let Value::Group(mut members) = identity else { return None };
            members.insert("name".to_owned(), Value::Text(program.name.clone()));
            Some((role.to_owned(), Value::Group(members)))
        };
        let programs: BTreeMap<String, Value> =
            PLAYERS.into_iter().zip(&self.players).filter_map(identity).collect();
        (!programs.is_empty()).then_some(Value::Group(programs))
    }

    fn lineup(&self) -> Lineup {
        let programs = || self.players.iter().filter_map(Player::program);
        let is_timed = |program: &ProgramPlayer| program.opponent.as_ref().is_some_and(Opponent::is_timed);
        Lineup {
            has_net: self.networks().next().is_some(),
            has_program: programs().next().is_some(),
            is_timed: programs().any(is_timed),
        }
    }

    fn shards(&self, params: &ArenaParams) -> Vec<Shard> {
        shards_of(params.games, self.lineup().shard_games(params))
    }

    /// The table and the summary of a match: of all its games, or of those up to the decision of its test.
    fn product(
        &self,
        params: &ArenaParams,
        workspace: &StepWorkspace,
        names: &[String; 2],
    ) -> Result<Product, StepError> {
        let all = self.shards(params).len() as u32;
        let finished = workspace.finished_shards::<Part>(all)?;
        let decided = Standing::new(params, finished).known().decision(params);
        let games = decided.map_or(params.games, |(pairs, _)| 2 * pairs);
        let mut rows: Vec<MatchGameRow> = Vec::new();
        let mut evaluations = 0;
        for note in workspace.all_shards::<Part>(games.div_ceil(self.lineup().shard_games(params)))? {
            evaluations += note.part.evaluations;
            rows.extend(read_rows(workspace, &note)?);
        }
        rows.retain(|row| row.game < games);
        let [first, second] = names.each_ref().map(|name| in_file_name(name));
        let path = workspace.slot.path("matches", &format!("-{first}-vs-{second}.parquet"));
        let provenance = files::provenance(workspace, [("first", &names[0]), ("second", &names[1])]);
        let file = write_table(workspace.folder.root(), &path, &rows, &provenance)?;
        let mut summary = arena::summarise(&rows, evaluations);
        summary.sprt = params.sprt.as_ref().map(|sprt| sprt.test(&summary.pentanomial));
        let mut summary = summary.to_value();
        if let Value::Group(members) = &mut summary {
            members.insert("endings".to_owned(), endings(&rows));
            members.extend(self.programs().map(|programs| ("programs".to_owned(), programs)));
        }
        Ok(Product { files: vec![file], summary })
    }

    /// The estimate of a whole match. An opponent without a net needs no evaluations. Two nets have a batch each, with the games in
    /// which they are to move.
    fn estimate_of(&self, params: &ArenaParams, lanes: u32) -> Estimate {
        let games = u64::from(params.games);
        let positions = games * assumed_plies(params.max_plies, params.opening_plies);
        let moves = positions as f64 / games.max(1) as f64 / 2.0;
        let mut evaluations = 0;
        let (mut total_flops, mut sequential) = (0.0, 0.0);
        let batches = self.networks().count() as f64;
        for (network, player) in self.networks() {
            let search = params.search_of(player);
            let count = most_evaluations(positions.div_ceil(2) * u64::from(search.simulations), search);
            evaluations += count;
            total_flops += count as f64 * flops(network);
            sequential += sequential_evaluations(moves, search);
        }
        let shard = params.shard_games;
        let plan = ShardPlan { count: params.games, shard, game_slots: shard, lanes };
        let pace = plan.pace(sequential, batches, evaluations as f64, total_flops);
        let bytes = TABLE_BYTES + games as f64 * GAME_BYTES;
        let work = estimate::Work {
            games,
            positions,
            evaluations,
            flops: total_flops,
            bytes,
            ..estimate::Work::default()
        };
        Estimate { work, pace }
    }
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

/// An Elo difference and the ends of its interval, the lower one first; `None` where nothing is known of it. A score of 0 or 1 has an
/// interval only.
fn elo_text([low, elo, high]: [Option<f64>; 3]) -> Option<String> {
    low.or(elo).or(high)?;
    // Adding 0 makes an even match +0 instead of -0.
    let signed = |elo: f64| format!("{:+.0}", elo + 0.0);
    let [low, high] = [(low, "-∞"), (high, "∞")].map(|(end, none)| end.map_or(none.to_owned(), signed));
    let elo = elo.map_or_else(String::new, |elo| format!("{} ", signed(elo)));
    Some(format!(", Elo {elo}[{low}, {high}]"))
}

/// The match's test in words, if it has one.
fn test_text(summary: &Value) -> Option<String> {
    let test = summary.member("sprt")?;
    let figure = |name| test.member(name).and_then(Value::as_f64);
    let Value::Text(verdict) = test.member("verdict")? else { return None };
    let (llr, lower, upper) = (figure("llr")?, figure("lower")?, figure("upper")?);
    Some(format!(", test {verdict}: LLR {llr:.2} in [{lower:.2}, {upper:.2}]"))
}

/// The mock result: a match with this many evaluations that is even, or lost by one player, who draws a fifth of the games. Nobody
/// loses all of them, since such a match has no Elo to calculate with.
fn assumed(params: &ArenaParams, evaluations: u64, assumption: Assumption) -> MatchSummary {
    let (games, pairs) = (params.games, params.games / 2);
    let drawn = (games / 5).max(1);
    let [wins, losses] = assumption.pick([[games / 4; 2], [games - drawn, 0], [0, games - drawn]]);
    let (mixed, lost) = (drawn.min(pairs), pairs - drawn.min(pairs));
    let pentanomial = assumption.pick([[0, 0, pairs, 0, 0], [0, 0, 0, mixed, lost], [lost, mixed, 0, 0, 0]]);
    let score = assumption.pick([0.5, 0.9, 0.1]);
    MatchSummary {
        games,
        wins,
        draws: games - wins - losses,
        losses,
        score,
        score_low: score - 0.05,
        score_high: score + 0.05,
        pentanomial,
        mean_plies: (assumed_plies(params.max_plies, params.opening_plies) + u64::from(params.opening_plies))
            as f64,
        los: 0.5,
        normalized: EloInterval { low: Some(-50.0), elo: Some(0.0), high: Some(50.0) },
        sprt: params.sprt.as_ref().map(|sprt| sprt.test(&pentanomial)),
        evaluations,
    }
}

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

    /// Passes on the match with all that its players need.
    pub(super) fn with_match<T>(
        &self,
        wrap: &WrapEvaluator<'_>,
        action: impl FnOnce(&Match<'_>) -> Result<T, StepError>,
    ) -> Result<T, StepError> {
        let Self { params, seed, players, book, evaluators } = *self;
        let precisions = [params.first.precision, params.second.precision];
        let make = |player: usize| {
            let MatchPlayer::Network { net, .. } = players[player] else {
                unreachable!("only nets have evaluators")
            };
            let made = match precisions[player] {
                Some(precision) => evaluators.make_with_precision(net, precision),
                None => evaluators.make(net),
            };
            made.map(|made| wrap(made, net))
        };
        let (make_first, make_second) = (|| make(0), || make(1));
        let makes: [&MakeEvaluator<'_>; 2] = [&make_first, &make_second];
        let tables = [params.search_of(0).open_tablebases()?, params.search_of(1).open_tablebases()?];
        let program = |number: usize| -> Result<Option<Startable<'_>>, StepError> {
            Ok(match (players[number], &[&params.first, &params.second][number].alphabeta) {
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
fn deciding_tables(params: &ArenaParams) -> Result<Option<Tablebase>, TablebaseError> {
    params.adjudication.tablebases.as_deref().map(|folders| Tablebase::open(Path::new(folders))).transpose()
}

/// The shards of a match.
struct Work<'a> {
    step: &'a Arena,
    params: &'a ArenaParams,
    workspace: &'a StepWorkspace,
    context: &'a StepContext,
    /// That of the step's tables.
    provenance: Provenance,
    nets: &'a [Option<Checkpoint>],
    names: &'a [String; 2],
    book: Option<Book>,
    standing: &'a Standing<'a>,
    progress: &'a StepProgress,
}

impl Work<'_> {
    fn player(&self, number: usize) -> MatchPlayer<'_> {
        match (&self.step.players[number], &self.nets[number]) {
            (Player::Baseline(baseline), _) => MatchPlayer::Baseline(*baseline),
            (Player::Program(program), _) => MatchPlayer::Program(program),
            (Player::Network { .. }, net) => {
                let net = net.as_ref().expect("the net of a network is loaded");
                MatchPlayer::Network { name: &self.names[number], net }
            }
        }
    }
}

impl ShardWork for Work<'_> {
    type Found = MatchShard;

    fn play(
        &self,
        shards: &[Shard],
        lanes: u32,
        keep: &Keep<'_, MatchShard>,
        observer: &dyn Observer,
    ) -> Result<(), StepError> {
        let setup = MatchSetup {
            params: self.params,
            seed: self.workspace.seed,
            players: [self.player(0), self.player(1)],
            book: self.book.as_ref(),
            evaluators: &self.context.evaluators,
        };
        let per_lane = self.nets.iter().flatten().count() as u32;
        let measured =
            |evaluator, net: &Checkpoint| metered(evaluator, &self.workspace.meter, per_lane, &net.spec);
        let keep = |shard, result| keep(shard, result).map_err(Into::into);
        setup.play(shards, lanes, &measured, &keep, observer)
    }

    fn folder(&self) -> &Path {
        self.workspace.folder.root()
    }

    fn stays_here(&self) -> Option<&'static str> {
        let searches = [self.params.search_of(0), self.params.search_of(1)];
        if self.step.lineup().has_program {
            return Some("workers start no other programs");
        }
        (searches.iter().any(|search| search.tablebases.is_some())
            || self.params.alphabetas().any(|search| search.tablebases.is_some())
            || self.params.adjudication.tablebases.is_some())
        .then_some("workers have no tablebases")
    }

    fn job(&self) -> Result<Described<Job>, StepError> {
        let Self { step, params, workspace, context, .. } = *self;
        let nets: Vec<&Checkpoint> = self.nets.iter().flatten().collect();
        let kind = (Arena::KIND.name, Arena::VERSION);
        let evaluators = (&*context.evaluators, context.is_mixed());
        let mut job = Described::new(kind, params, &nets, workspace, evaluators, self.provenance.clone())?;
        for (player, name) in step.players.iter().zip(self.names) {
            match player.network() {
                Some(network) => job.add_net(workspace, name, network)?,
                None => job.of.players.push(JobPlayer { name: name.clone(), net: None }),
            }
        }
        if let Some(BookParams { file, .. }) =
            params.openings.as_ref().filter(|book| Book::named(&book.file).is_none())
        {
            let book = job.name_file(OPENINGS, Path::new(file))?;
            job.of.files.push(book);
        }
        Ok(job)
    }

    fn task(&self, shard: Shard) -> Result<Described<Task>, StepError> {
        Ok(Described { of: Task::of(shard), sources: Sources::new() })
    }

    fn read(&self, shard: Shard, reply: Reply) -> Result<MatchShard, Unaccepted> {
        let Self { params, workspace, names, .. } = *self;
        let expected = remote::Expected { params, seed: workspace.seed, names, book: self.book.as_ref() };
        expected.read(shard, reply).map_err(Unaccepted::Refused)
    }

    fn tables(&self, _: Shard, found: &MatchShard) -> Result<Vec<ReplyTable>, StepError> {
        Ok(vec![ReplyTable::of(&found.rows, &self.provenance)?])
    }

    fn store(&self, shard: Shard, found: &MatchShard) -> Result<Vec<FileEntry>, StepError> {
        let path = format!("steps/work/{}/shard-{:05}.parquet", self.workspace.identity.short(), shard.index);
        Ok(vec![write_shard_table(self.workspace.folder.root(), &path, &found.rows, &self.provenance)?])
    }

    fn finish(
        &self,
        shard: Shard,
        found: MatchShard,
        files: Vec<FileEntry>,
    ) -> Result<ControlFlow<()>, StepError> {
        let half_points =
            arena::pair_points(&found.rows).into_iter().map(|points| (2.0 * points) as u8).collect();
        let part = Part { games: shard.games.into(), evaluations: found.evaluations, half_points };
        self.workspace.keep_shard(shard.index, &ShardNote { files, part: part.clone() })?;
        Ok(self.standing.add(shard.index, part, self.progress))
    }

    fn discard(&self, shard: Shard) -> Result<(), StepError> {
        self.standing.known().remove(shard.index);
        Ok(self.workspace.discard_shard(shard.index)?)
    }

    fn report(&self, found: &MatchShard, observer: &dyn Observer) {
        observer.event(Event::Work { unit: "evaluations", amount: found.evaluations });
        observer.event(Event::Work { unit: "games", amount: found.rows.len() as u64 });
    }
}

/// The finished shards of a match that is under way, for its sequential test and for progress.
struct Standing<'a> {
    params: &'a ArenaParams,
    known: Mutex<Known>,
}

/// Finished shards, and how many of their pairs made how many half points. These and the test are kept because a match may have a hundred
/// thousand shards.
#[derive(Default)]
struct Known {
    parts: BTreeMap<u32, Part>,
    counts: [u32; 5],
    tested: Tested,
}

/// The sequential test of the shards before the first that is missing.
#[derive(Default)]
struct Tested {
    shards: u32,
    pairs: SprtPairs,
    decision: Option<(u32, Sprt)>,
}

impl Known {
    fn add(&mut self, shard: u32, part: Part) {
        self.remove(shard);
        for half_points in &part.half_points {
            self.counts[usize::from(*half_points)] += 1;
        }
        self.parts.insert(shard, part);
    }

    fn remove(&mut self, shard: u32) {
        let Some(part) = self.parts.remove(&shard) else { return };
        for half_points in part.half_points {
            self.counts[usize::from(half_points)] -= 1;
        }
        self.tested = Tested::default();
    }

    /// The number of pairs that decide the match's test, and the test after them; `None` if there is no test, or not enough pairs yet.
    /// Pairs count in their order, so what follows a shard that is missing does not count yet.
    fn decision(&mut self, params: &ArenaParams) -> Option<(u32, Sprt)> {
        let sprt = params.sprt.as_ref()?;
        let Tested { shards, pairs, decision } = &mut self.tested;
        while decision.is_none()
            && let Some(part) = self.parts.get(shards)
        {
            let mut points = part.half_points.iter().map(|half_points| f64::from(*half_points) / 2.0);
            *decision = points.find_map(|points| sprt.add(pairs, points)).map(|test| (pairs.number(), test));
            *shards += 1;
        }
        *decision
    }
}

impl<'a> Standing<'a> {
    fn new(params: &'a ArenaParams, finished: BTreeMap<u32, ShardNote<Part>>) -> Self {
        let mut known = Known::default();
        for (shard, note) in finished {
            known.add(shard, note.part);
        }
        Self { params, known: Mutex::new(known) }
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_decided(&self) -> bool {
        self.known().decision(self.params).is_some()
    }

    /// Adds a finished shard, reports the score so far, and says whether the match goes on.
    fn add(&self, shard: u32, part: Part, progress: &StepProgress) -> ControlFlow<()> {
        let mut known = self.known();
        known.add(shard, part);
        let counts = known.counts;
        let pairs: u32 = counts.iter().sum();
        let points: u32 = (0..).zip(counts).map(|(half_points, count)| half_points * count).sum();
        let (low, high) = arena::interval(&counts);
        let score = f64::from(points) / f64::from(4 * pairs.max(1));
        let mut metrics = vec![("score", score), ("low", low), ("high", high)];
        if let Some(sprt) = &self.params.sprt {
            let test = sprt.test(&counts);
            metrics.extend([("LLR", test.llr), ("fails", test.lower), ("passes", test.upper)]);
        }
        for (name, value) in metrics {
            progress.event(Event::Metric { name, value });
        }
        if known.decision(self.params).is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

/// How many games of a match ended in each way.
pub fn endings(rows: &[MatchGameRow]) -> Value {
    let mut counts: BTreeMap<String, i64> = BTreeMap::new();
    for row in rows {
        *counts.entry(row.reason.name().to_owned()).or_default() += 1;
    }
    Value::Group(counts.into_iter().map(|(name, count)| (name, Value::Int(count))).collect())
}

/// A player's name as a part of a file's name: letters, digits and a few signs, and not too many.
fn in_file_name(name: &str) -> String {
    let is_plain = |letter: &char| letter.is_ascii_alphanumeric() || "-_.@".contains(*letter);
    name.chars().map(|letter| if is_plain(&letter) { letter } else { '-' }).take(60).collect()
}

fn read_rows(workspace: &StepWorkspace, note: &ShardNote<Part>) -> Result<Vec<MatchGameRow>, StepError> {
    let mut rows = Vec::new();
    for entry in &note.files {
        rows.extend(read_entry(workspace.folder.root(), entry)?);
    }
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{Arena, ArenaParams, BookParams, Known, Part, opening_book};
    use crate::step::Step;
    use dc0_core::params::Value;

    /// The figures of a match with this Elo and its interval.
    fn figures(elo: [Option<f64>; 3], endings: &[(&str, i64)]) -> String {
        let counts =
            [("wins", 1), ("draws", 8), ("losses", 3)].map(|(name, count)| (name, Value::Int(count)));
        let elo = ["elo_low", "elo", "elo_high"].into_iter().zip(elo);
        let elo = elo.map(|(name, elo)| (name, elo.map_or(Value::None, Value::Float)));
        let endings = endings.iter().map(|(name, games)| ((*name).to_owned(), Value::Int(*games)));
        let others = [("score", Value::Float(0.5)), ("endings", Value::Group(endings.collect()))];
        let all = counts.into_iter().chain(elo).chain(others);
        Arena::figures(&Value::Group(all.map(|(name, value)| (name.to_owned(), value)).collect()))
    }

    #[test]
    fn ends_of_an_interval_that_nothing_bounds_are_infinite() {
        for (elo, expected) in [
            ([Some(-50.4), Some(-0.0), Some(60.0)], ", Elo +0 [-50, +60]"),
            ([Some(344.0), Some(545.0), None], ", Elo +545 [+344, ∞]"),
            ([None, Some(-137.0), Some(20.0)], ", Elo -137 [-∞, +20]"),
            ([None, Some(191.0), None], ", Elo +191 [-∞, ∞]"),
            ([Some(90.0), None, None], ", Elo [+90, ∞]"),
            ([None, None, Some(-90.0)], ", Elo [-∞, -90]"),
            ([None; 3], ""),
        ] {
            assert_eq!(figures(elo, &[("checkmate", 4)]), format!("score 0.500 (+1 =8 -3{expected})"));
        }
    }

    #[test]
    fn games_that_the_ply_cap_cut_off_are_counted_in_the_line_of_a_match() {
        let line = figures([None; 3], &[("checkmate", 4), ("ply_cap", 7), ("stalemate", 1)]);
        assert_eq!(line, "score 0.500 (+1 =8 -3, 7 cut off)");
    }

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

    #[test]
    fn counts_of_pairs_are_those_of_the_shards_that_are_there() {
        let part = |half_points: &[u8]| Part { games: 4, evaluations: 0, half_points: half_points.to_vec() };
        let mut known = Known::default();
        known.add(0, part(&[0, 4]));
        known.add(1, part(&[4, 2]));
        assert_eq!(known.counts, [1, 0, 1, 0, 2]);
        known.remove(0);
        known.remove(7);
        assert_eq!(known.counts, [0, 0, 1, 0, 1]);
        known.add(1, part(&[1]));
        assert_eq!((known.counts, known.parts.len()), ([0, 1, 0, 0, 0], 1));
    }
}
