//! The step that plays a match. Shards are stored in the step's work folder, and merged into one table at the end.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use dc0_backend::Evaluators;
use dc0_core::arena::{
    self, ArenaParams, BASELINES, Baseline, KeepMatchShard, Match, MatchShard, MatchSummary, Player, Sprt,
    baseline,
};
use dc0_core::event::Observer;
use dc0_core::network::Evaluator;
use dc0_core::network::checkpoint::Checkpoint;
use dc0_core::params::{Problem, Value};
use dc0_core::rng::Seed;
use dc0_core::search::SearchParams;
use dc0_core::selfplay::{MakeEvaluator, Shard, shards_of};
use dc0_core::store::{MatchGameRow, read_entry, write_table};
use dc0_runs::sweep::events::Spent;
use dc0_runs::{Input, Manifest, PartialProgress, Product, RunError, Series, ShardNote, StepWorkspace};

use crate::context::StepContext;
use crate::error::StepError;
use crate::estimate::{
    Estimate, GAME_BYTES, ShardPlan, TABLE_BYTES, Work, assumed_plies, flops, sequential_evaluations,
};
use crate::files;
use crate::handles::{MatchResult, MatchResultFields, Network, Opponent};
use crate::memory::{Machine, Memory};
use crate::metered::metered;
use crate::past_networks::PastNetworks;
use crate::progress::Amount;
use crate::step::{Argument, ArgumentKind, MockResult, Step, StepOutput, StepResult, no_matching_form};
use crate::usage::Usage;

/// The two players.
pub struct Arena {
    first: Network,
    second: Opponent,
}

/// The figures of a finished shard.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
struct Part {
    games: u64,
    evaluations: u64,
}

impl Step for Arena {
    const KIND: &'static str = "arena";
    const VERSION: u32 = 1;
    const SERIES: Series = Series::Matches;
    const USAGES: &'static [Usage] = &[Usage {
        name: "arena",
        form: "run.arena(network, network or opponent, #{…})",
        returns: "a match",
        meaning: "A step: plays a match. Scores are from the first player's side. An opponent without a net is a name, such as \"random\", \"greedy\" or \"alphabeta-2\".",
        example: "let verdict = run.arena(trained, net, #{ games: 4 });",
    }];
    const FORMS: &'static [&'static [ArgumentKind]] =
        &[&[ArgumentKind::Network, ArgumentKind::Network], &[ArgumentKind::Network, ArgumentKind::Text]];

    type Params = ArenaParams;

    fn schedules() -> Option<(&'static str, u32)> {
        Some(("max_plies", ArenaParams::default().max_plies))
    }

    fn from_arguments(arguments: Vec<Argument>, _: &mut Vec<Problem>) -> Result<Self, String> {
        match <[Argument; 2]>::try_from(arguments) {
            Ok([Argument::Network(first), Argument::Network(second)]) => {
                Ok(Self { first, second: Opponent::Network(second) })
            }
            Ok([Argument::Network(first), Argument::Text(name)]) => {
                let unknown = || {
                    let known: Vec<&str> = BASELINES.iter().map(|baseline| baseline.name()).collect();
                    let known = known.join("\", \"");
                    format!("there is no opponent \"{name}\"; give a network, or one of \"{known}\"")
                };
                Ok(Self { first, second: Opponent::Baseline(baseline(&name).ok_or_else(unknown)?) })
            }
            _ => Err(no_matching_form()),
        }
    }

    fn from_manifest(manifest: &Manifest, past: &PastNetworks<'_>) -> Result<Self, RunError> {
        let first = past.read(manifest, "first")?.clone();
        let second = match manifest.input("second").and_then(baseline) {
            Some(baseline) => Opponent::Baseline(baseline),
            None => Opponent::Network(past.read(manifest, "second")?.clone()),
        };
        Ok(Self { first, second })
    }

    fn conflict(&self, params: &ArenaParams) -> Option<String> {
        if matches!(self.second, Opponent::Network(_)) {
            return None;
        }
        let net_only = [
            ("opponent_search", params.opponent_search.is_some()),
            ("opponent_precision", params.opponent_precision.is_some()),
        ];
        let (name, _) = net_only.iter().find(|(_, is_given)| *is_given)?;
        Some(format!("{name}: \"{}\" has no net; leave it out", self.second.name()))
    }

    fn inputs(&self, params: &ArenaParams) -> Result<Vec<Input>, StepError> {
        let second = match &self.second {
            Opponent::Network(network) => network.0.digest.clone(),
            Opponent::Baseline(baseline) => baseline.name().to_owned(),
        };
        let inputs = [("first", self.first.0.digest.clone()), ("second", second)];
        let mut inputs = inputs.map(|(name, digest)| Input { name: name.to_owned(), digest }).to_vec();
        for search in std::iter::once(&params.search).chain(&params.opponent_search) {
            inputs.extend(files::tablebases(search)?);
        }
        Ok(inputs)
    }

    fn run(
        &self,
        params: &ArenaParams,
        workspace: &StepWorkspace,
        context: &StepContext,
    ) -> Result<Product, StepError> {
        let load = |network| files::load(&workspace.folder, network);
        let first_net = load(&self.first)?;
        let second_net = self.second_network().map(load).transpose()?;
        let shards = shards_of(params.games, params.shard_games);
        let finished = workspace.finished_shards::<Part>(shards.len() as u32)?;
        let rest: Vec<Shard> =
            shards.iter().copied().filter(|shard| !finished.contains_key(&shard.index)).collect();
        let label = format!("match {}", self.players());
        let done = finished.values().map(|note| note.part.games).sum();
        let amount = Amount { unit: "games", done, total: params.games.into() };
        let progress = context.progress(workspace, &label, amount);
        let names = names(&self.first, &self.second);
        let players = [
            MatchPlayer::Network { name: &names[0], net: &first_net },
            match (&self.second, &second_net) {
                (Opponent::Baseline(baseline), _) => MatchPlayer::Baseline(*baseline),
                (Opponent::Network(_), net) => {
                    let net = net.as_ref().expect("the net of a network is loaded");
                    MatchPlayer::Network { name: &names[1], net }
                }
            },
        ];
        let evaluators = &context.evaluators;
        let setup = MatchSetup { params, seed: workspace.seed, players, evaluators };
        let evaluators_per_lane = 1 + u32::from(second_net.is_some());
        let measured = |evaluator, net: &Checkpoint| {
            metered(evaluator, &workspace.meter, evaluators_per_lane, &net.spec)
        };
        let keep = |shard, result: MatchShard| keep(workspace, shard, &result).map_err(Into::into);
        workspace.meter.set_lanes(context.lanes);
        // A test is looked at after every round of shards, one for each lane.
        let round = if params.sprt.is_some() { context.lanes as usize } else { rest.len().max(1) };
        for round in rest.chunks(round) {
            if decision(params, workspace, shards.len() as u32)?.is_some() {
                break;
            }
            setup.play(round, context.lanes, &measured, &keep, &progress)?;
        }
        context.close(&progress);
        product(params, workspace, &names)
    }

    fn result(&self, _: &ArenaParams, output: StepOutput) -> Result<StepResult, StepError> {
        let (first, second) = (self.first.name(), self.second.name());
        let fields = MatchResultFields { first, second, summary: output.summary };
        Ok(StepResult::Match(MatchResult(Arc::new(fields))))
    }

    fn players(&self) -> String {
        format!("{} vs {}", self.first.name(), self.second.name())
    }

    fn figures(summary: &Value) -> String {
        let figure = |name| summary.member(name).and_then(Value::as_f64);
        let [wins, draws, losses, score] =
            ["wins", "draws", "losses", "score"].map(|name| figure(name).unwrap_or(f64::NAN));
        // Adding 0 makes an even match +0 instead of -0.
        let elo = |name| figure(name).map(|elo| elo + 0.0);
        let elo = match (elo("elo_low"), elo("elo"), elo("elo_high")) {
            (Some(low), Some(elo), Some(high)) => format!(", Elo {elo:+.0} [{low:+.0}, {high:+.0}]"),
            _ => String::new(),
        };
        format!(
            "score {score:.3} (+{wins} ={draws} -{losses}{elo}{})",
            test_text(summary).unwrap_or_default()
        )
    }

    fn planned(&self, _: &ArenaParams, _: u32) -> Result<String, StepError> {
        Ok(format!("match: {}", self.players()))
    }

    fn begun(&self, params: &ArenaParams, workspace: &StepWorkspace) -> Result<PartialProgress, RunError> {
        let of = shards_of(params.games, params.shard_games).len() as u32;
        let finished = workspace.finished_shards::<Part>(of)?;
        let amount = finished.values().map(|note| note.part.games).sum();
        Ok(PartialProgress { parts: finished.len() as u32, total: of, unit: "shards", amount })
    }

    fn memory(&self, params: &ArenaParams, machine: Machine) -> Memory {
        let nets: Vec<&Network> = std::iter::once(&self.first).chain(self.second_network()).collect();
        Memory::of_inference(&nets, params.games.div_ceil(params.shard_games), machine)
    }

    fn estimate(&self, params: &ArenaParams, done: u64, _: Option<&Value>, lanes: u32) -> Estimate {
        self.estimate_of(&ArenaParams { games: files::left(params.games, done), ..params.clone() }, lanes)
    }

    fn mock_result(&self, params: &ArenaParams, _: u32, lanes: u32) -> MockResult {
        let evaluations = self.estimate_of(params, lanes).work.evaluations;
        MockResult { summary: even(params, evaluations).to_value(), files: Vec::new() }
    }

    /// Assumes that each net makes half of the evaluations.
    fn spent(&self, summary: &Value) -> Spent {
        let figure = |name| summary.member(name).and_then(Value::as_f64).unwrap_or(0.0);
        let (games, evaluations) = (figure("games"), figure("evaluations"));
        let each = match &self.second {
            Opponent::Network(second) => f64::midpoint(flops(&self.first), flops(second)),
            Opponent::Baseline(_) => flops(&self.first),
        };
        Spent { games, evaluations, flops: evaluations * each, ..Spent::default() }
    }
}

impl Arena {
    fn second_network(&self) -> Option<&Network> {
        match &self.second {
            Opponent::Network(network) => Some(network),
            Opponent::Baseline(_) => None,
        }
    }

    /// The estimate of a whole match. An opponent without a net needs no evaluations. Two nets have a batch each, with the games in
    /// which they are to move.
    fn estimate_of(&self, params: &ArenaParams, lanes: u32) -> Estimate {
        let games = u64::from(params.games);
        let positions = games * assumed_plies(params.max_plies, params.opening_plies);
        let moves = positions as f64 / games.max(1) as f64 / 2.0;
        let mut evaluations = 0;
        let (mut total_flops, mut sequential) = (0.0, 0.0);
        let second_search = params.opponent_search.as_ref().unwrap_or(&params.search);
        let second = self.second_network().map(|network| (network, second_search));
        let batches = if second.is_some() { 2.0 } else { 1.0 };
        for (network, search) in [Some((&self.first, &params.search)), second].into_iter().flatten() {
            let count = positions.div_ceil(2) * u64::from(search.simulations);
            evaluations += count;
            total_flops += count as f64 * flops(network);
            sequential += sequential_evaluations(moves, search);
        }
        let shard = params.shard_games;
        let plan = ShardPlan { count: params.games, shard, game_slots: shard, lanes };
        let pace = plan.pace(sequential, batches, evaluations as f64, total_flops);
        let bytes = TABLE_BYTES + games as f64 * GAME_BYTES;
        let work = Work { games, positions, evaluations, flops: total_flops, bytes, ..Work::default() };
        Estimate { work, pace }
    }
}

/// The match's test in words, if it has one.
fn test_text(summary: &Value) -> Option<String> {
    let test = summary.member("sprt")?;
    let figure = |name| test.member(name).and_then(Value::as_f64);
    let Value::Text(verdict) = test.member("verdict")? else { return None };
    let (llr, lower, upper) = (figure("llr")?, figure("lower")?, figure("upper")?);
    Some(format!(", test {verdict}: LLR {llr:.2} in [{lower:.2}, {upper:.2}]"))
}

/// The mock result: an even match with this many evaluations.
fn even(params: &ArenaParams, evaluations: u64) -> MatchSummary {
    let (games, pairs) = (params.games, params.games / 2);
    let (wins, pentanomial) = (games / 4, [0, 0, pairs, 0, 0]);
    MatchSummary {
        games,
        wins,
        draws: games - 2 * wins,
        losses: wins,
        score: 0.5,
        score_low: 0.45,
        score_high: 0.55,
        pentanomial,
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
        let Self { params, seed, players, evaluators } = *self;
        let precisions = [None, params.opponent_precision];
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
        let player = |player: usize| match players[player] {
            MatchPlayer::Network { name, .. } => Player::Network { name, make_evaluator: makes[player] },
            MatchPlayer::Baseline(baseline) => Player::Baseline(baseline),
        };
        let first_tables = params.search.open_tablebases()?;
        let second_tables = params.opponent_search.as_ref().map(SearchParams::open_tablebases).transpose()?;
        let tables = [first_tables.as_ref(), second_tables.as_ref().unwrap_or(&first_tables).as_ref()];
        let job = Match { params, seed, players: [player(0), player(1)], tables };
        Ok(arena::play(&job, shards, lanes, keep, observer)?)
    }
}

/// The players' names in rows and file names: digests of nets, because a net's number changes with the script.
fn names(first: &Network, second: &Opponent) -> [String; 2] {
    let second = match second {
        Opponent::Network(network) => files::short_digest(&network.0.digest).to_owned(),
        Opponent::Baseline(baseline) => baseline.name().to_owned(),
    };
    [files::short_digest(&first.0.digest).to_owned(), second]
}

fn keep(workspace: &StepWorkspace, shard: Shard, result: &MatchShard) -> Result<(), StepError> {
    let path = format!("steps/work/{}/shard-{:05}.parquet", workspace.identity.short(), shard.index);
    let file = write_table(workspace.folder.root(), &path, &result.rows, &files::provenance(workspace, []))?;
    let part = Part { games: shard.games.into(), evaluations: result.evaluations };
    Ok(workspace.keep_shard(shard.index, &ShardNote { files: vec![file], part })?)
}

/// The number of pairs that decide the match's test, and the test after them; `None` if there is no test, or not enough pairs yet.
fn decision(
    params: &ArenaParams,
    workspace: &StepWorkspace,
    shards: u32,
) -> Result<Option<(u32, Sprt)>, StepError> {
    let Some(sprt) = &params.sprt else { return Ok(None) };
    let finished = workspace.finished_shards::<Part>(shards)?;
    let mut rows: Vec<MatchGameRow> = Vec::new();
    // Pairs count in their order, so what follows a shard that is missing does not count yet.
    for note in (0..shards).map_while(|shard| finished.get(&shard)) {
        rows.extend(read_rows(workspace, note)?);
    }
    Ok(sprt.decided(arena::pair_points(&rows)))
}

fn read_rows(workspace: &StepWorkspace, note: &ShardNote<Part>) -> Result<Vec<MatchGameRow>, StepError> {
    let mut rows = Vec::new();
    for entry in &note.files {
        rows.extend(read_entry(workspace.folder.root(), entry)?);
    }
    Ok(rows)
}

/// The table and the summary of a match: of all its games, or of those up to the decision of its test.
fn product(
    params: &ArenaParams,
    workspace: &StepWorkspace,
    names: &[String; 2],
) -> Result<Product, StepError> {
    let all = shards_of(params.games, params.shard_games).len() as u32;
    let decided = decision(params, workspace, all)?;
    let games = decided.map_or(params.games, |(pairs, _)| 2 * pairs);
    let mut rows: Vec<MatchGameRow> = Vec::new();
    let mut evaluations = 0;
    for note in workspace.all_shards::<Part>(games.div_ceil(params.shard_games))? {
        evaluations += note.part.evaluations;
        rows.extend(read_rows(workspace, &note)?);
    }
    rows.retain(|row| row.game < games);
    let path = workspace.slot.path("matches", &format!("-{}-vs-{}.parquet", names[0], names[1]));
    let provenance = files::provenance(workspace, [("first", &names[0]), ("second", &names[1])]);
    let file = write_table(workspace.folder.root(), &path, &rows, &provenance)?;
    let mut summary = arena::summarise(&rows, evaluations);
    summary.sprt = params.sprt.as_ref().map(|sprt| sprt.test(&summary.pentanomial));
    Ok(Product { files: vec![file], summary: summary.to_value() })
}
