//! The step that plays a match. Shards are stored in the step's work folder, and merged into one table at the end.

mod match_so_far;
mod remote;
mod setup;
mod shards;

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use dc0_core::arena::{self, ArenaParams, EloInterval, Lineup, MatchSummary, PlayerParams, Requested};
use dc0_core::book::BookParams;
use dc0_core::network::checkpoint::Checkpoint;
use dc0_core::params::{Problem, Value, read};
use dc0_core::selfplay::{Shard, shards_of};
use dc0_core::store::{MatchGameRow, write_table};
use dc0_opponents::Opponent;
use dc0_runs::sweep::events::Spent;
use dc0_runs::{Input, Manifest, PartialProgress, Product, RunError, StepKind, StepWorkspace};

use super::players::{PlayerInput, hash_mb, own_params, player, unfit_for_alphabeta, useless_precision};
use super::unmet;
use crate::assumption::Assumption;
use crate::context::StepContext;
use crate::error::StepError;
use crate::estimate::{
    self, Estimate, GAME_BYTES, ShardPlan, TABLE_BYTES, assumed_plies, flops, most_evaluations,
    sequential_evaluations,
};
use crate::executor::step_provenance;
use crate::files;
use crate::handles::{MatchResult, MatchResultFields, Network, Player, ProgramPlayer};
use crate::memory::{Machine, Memory};
use crate::past_networks::PastNetworks;
use crate::progress::Amount;
use crate::shards::Shards;
use crate::step::{Argument, ArgumentKind, MockResult, Step, StepOutput, StepResult, no_matching_form};
use crate::summary::cut_off;
use crate::usage::Usage;
use match_so_far::MatchSoFar;
use setup::deciding_tables;
use shards::Work;

pub(super) use remote::REMOTE;
pub use setup::{MatchPlayer, MatchSetup, WrapEvaluator, opening_book, unused_by};

/// The book's name among the inputs.
const OPENINGS: &str = "openings";

/// The two players.
pub struct Arena {
    players: [Player; 2],
}

/// The names of the players' own parameters, and of the inputs.
pub const PLAYERS: [&str; 2] = ["first", "second"];

/// The figures of a finished shard.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct Part {
    games: u64,
    requested: [Requested; 2],
    /// The first player's points in each pair, in half points.
    half_points: Vec<u8>,
}

impl Step for Arena {
    const KIND: &'static StepKind = &StepKind::ARENA;
    const VERSION: u32 = 15;
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
        let players: Vec<Player> = arguments.into_iter().map(player).collect::<Result<_, _>>()?;
        Ok(Self { players: players.try_into().map_err(|_| no_matching_form())? })
    }

    fn own_params(&self) -> Vec<(&'static str, Value)> {
        PLAYERS.into_iter().zip(&self.players).filter_map(|(name, player)| own_params(name, player)).collect()
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
            Ok(match manifest.input(role).and_then(PlayerInput::parse) {
                Some(PlayerInput::Baseline(baseline)) => Player::Baseline(baseline),
                Some(PlayerInput::Program(digest)) => {
                    let unnamed =
                        || past.damaged(format!("the summary has no name of the program \"{role}\""));
                    let name = program(role).ok_or_else(unnamed)?;
                    Player::Program(ProgramPlayer { name, digest, opponent: None })
                }
                Some(PlayerInput::Network(_)) | None => {
                    Player::Network { network: past.read(manifest, role)?.clone(), own: Arc::new(own) }
                }
            })
        };
        Ok(Self { players: [player(PLAYERS[0], params.first)?, player(PLAYERS[1], params.second)?] })
    }

    fn unused(&self, params: &ArenaParams, given: &Value) -> Vec<Problem> {
        let nets: Vec<&PlayerParams> = self.networks().map(|(_, number)| params.own(number)).collect();
        unused_by(&nets, self.players.len(), params, given)
    }

    fn conflict(&self, params: &ArenaParams, _: &Value) -> Option<String> {
        PLAYERS.into_iter().zip(&self.players).enumerate().find_map(|(number, (name, player))| {
            let own = params.own(number);
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
        let input = |(name, player): (&str, &Player)| Input {
            name: name.to_owned(),
            digest: PlayerInput::of(player).to_string(),
        };
        let mut inputs: Vec<Input> = PLAYERS.into_iter().zip(&self.players).map(input).collect();
        let own = [&params.first.search, &params.second.search];
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
        let so_far = MatchSoFar::new(params, shards.finished);
        workspace.meter.set_lanes(context.lanes);
        if !so_far.is_decided() {
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
                so_far: &so_far,
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
        let figure = |name| summary.figure(name);
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
        let nets: Vec<&Network> = self.searching(params).map(|(net, _)| net).collect();
        let shards = self.shards(params).len() as u32;
        let players = (0..).zip(&self.players);
        let tables = players.filter_map(|(number, player)| hash_mb(player, params.own(number)));
        let at_once = self.lineup(params).games_at_once(params).min(params.games);
        let of_tables = Memory::of_tables(tables.map(|mb| mb * at_once), shards, machine);
        Memory::of_inference(&nets, shards, machine).and(of_tables)
    }

    fn estimate(&self, params: &ArenaParams, done: u64, _: Option<&Value>, lanes: u32) -> Estimate {
        self.estimate_of(&ArenaParams { games: files::left(params.games, done), ..params.clone() }, lanes)
    }

    fn mock_result(&self, params: &ArenaParams, _: u32, _: u32, assumption: Assumption) -> MockResult {
        let positions = u64::from(params.games) * assumed_plies(params.max_plies, params.opening_plies);
        let mut requested = [Requested::default(); 2];
        for (_, player) in self.searching(params) {
            requested[player].evaluations = evaluations_of(params, player, positions);
        }
        let assumed = assumed(params, requested, assumption);
        let mut summary = assumed.to_value();
        let decided = Value::Int(i64::from(assumed.wins + assumed.losses));
        summary.put("endings.checkmate", decided);
        MockResult { summary, files: Vec::new() }
    }

    /// Each player's rows cost what its own net costs.
    fn spent(&self, params: &ArenaParams, summary: &Value) -> Spent {
        let figure = |name: &str| summary.figure(name).unwrap_or(0.0);
        let rows = |player: usize| {
            let [evaluations, cache_hits] =
                ["evaluations", "cache_hits"].map(|name| figure(&format!("{}_{name}", PLAYERS[player])));
            evaluations - cache_hits
        };
        let flops = self.searching(params).map(|(net, player)| rows(player) * flops(net)).sum();
        Spent { games: figure("games"), evaluations: figure("evaluations"), flops, ..Spent::default() }
    }
}

impl Arena {
    /// The nets, with the numbers of their players.
    fn networks(&self) -> impl Iterator<Item = (&Network, usize)> {
        self.players.iter().zip(0..).filter_map(|(player, number)| Some((player.network()?, number)))
    }

    /// Those with a tree search. Alpha-beta takes a net's values without an evaluator.
    fn searching(&self, params: &ArenaParams) -> impl Iterator<Item = (&Network, usize)> {
        self.networks().filter(|(_, number)| params.own(*number).alphabeta.is_none())
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

    fn lineup(&self, params: &ArenaParams) -> Lineup {
        let mut lineup = Lineup::of_nets(self.networks().map(|(_, number)| params.own(number)));
        for program in self.players.iter().filter_map(Player::program) {
            lineup.has_program = true;
            lineup.is_timed |= program.opponent.as_ref().is_some_and(Opponent::is_timed);
        }
        lineup
    }

    fn shards(&self, params: &ArenaParams) -> Vec<Shard> {
        shards_of(params.games, self.lineup(params).shard_games(params))
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
        let decided = MatchSoFar::new(params, finished).known().decision(params);
        let games = decided.map_or(params.games, |(pairs, _)| 2 * pairs);
        let mut rows: Vec<MatchGameRow> = Vec::new();
        let mut requested = [Requested::default(); 2];
        for note in workspace.all_shards::<Part>(games.div_ceil(self.lineup(params).shard_games(params)))? {
            requested.iter_mut().zip(note.part.requested).for_each(|(sum, own)| *sum += own);
            rows.extend(note.rows::<MatchGameRow>(workspace.folder.root())?);
        }
        rows.retain(|row| row.game < games);
        let [first, second] = names.each_ref().map(|name| in_file_name(name));
        let path = workspace.slot.path("matches", &format!("-{first}-vs-{second}.parquet"));
        let provenance = files::provenance(workspace, [("first", &names[0]), ("second", &names[1])]);
        let file = write_table(workspace.folder.root(), &path, &rows, &provenance)?;
        let mut summary = arena::summarise(&rows, requested);
        summary.sprt = params.sprt.as_ref().map(|sprt| sprt.test(&summary.pentanomial));
        let mut summary = summary.to_value();
        if let Value::Group(members) = &mut summary {
            members.insert("endings".to_owned(), endings(&rows));
            members.extend(self.programs().map(|programs| ("programs".to_owned(), programs)));
        }
        Ok(Product { files: vec![file], summary })
    }

    /// The estimate of a whole match. An opponent without a tree search needs no evaluations. Two nets have a batch each, with the
    /// games in which they are to move.
    fn estimate_of(&self, params: &ArenaParams, lanes: u32) -> Estimate {
        let games = u64::from(params.games);
        let positions = games * assumed_plies(params.max_plies, params.opening_plies);
        let moves = positions as f64 / games.max(1) as f64 / 2.0;
        let mut evaluations = 0;
        let (mut total_flops, mut sequential) = (0.0, 0.0);
        let batches = self.searching(params).count() as f64;
        for (network, player) in self.searching(params) {
            let search = params.search_of(player);
            let count = evaluations_of(params, player, positions);
            evaluations += count;
            total_flops += count as f64 * flops(network);
            sequential += sequential_evaluations(moves, search);
        }
        let lineup = self.lineup(params);
        let (shard, game_slots) = (lineup.shard_games(params), lineup.games_at_once(params));
        let plan = ShardPlan { count: params.games, shard, game_slots, lanes };
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
    let Value::Text(verdict) = test.member("verdict")? else { return None };
    let (llr, lower, upper) = (test.figure("llr")?, test.figure("lower")?, test.figure("upper")?);
    Some(format!(", test {verdict}: LLR {llr:.2} in [{lower:.2}, {upper:.2}]"))
}

/// At most so many evaluations does a player's tree search request in games of so many positions, of which half are its own.
fn evaluations_of(params: &ArenaParams, player: usize, positions: u64) -> u64 {
    let search = params.search_of(player);
    most_evaluations(positions.div_ceil(2) * u64::from(search.simulations), search)
}

/// The mock result: a match with these evaluations that is even, or lost by one player, who draws a fifth of the games. Nobody
/// loses all of them, since such a match has no Elo to calculate with.
fn assumed(params: &ArenaParams, requested: [Requested; 2], assumption: Assumption) -> MatchSummary {
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
        requested,
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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use dc0_core::alphabeta::AlphaBetaParams;
    use dc0_core::arena::baseline;
    use dc0_core::network::NetworkSpec;
    use dc0_core::params::Value;
    use dc0_core::search::SearchParams;

    use super::{Arena, ArenaParams, Player, PlayerParams};
    use crate::assumption::Assumption;
    use crate::handles::{Network, NetworkFields};
    use crate::memory::{Machine, Memory};
    use crate::step::Step;

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

    /// A net that plays, with a tree search or by alpha-beta.
    fn net(own: &PlayerParams) -> Player {
        net_of(1000, own)
    }

    /// One whose evaluations cost so much.
    fn net_of(flops: i64, own: &PlayerParams) -> Player {
        let (digest, file) = ("ab".repeat(32), "networks/0000.safetensors".to_owned());
        let figures = [("flops", Value::Int(flops)), ("parameters", Value::Int(1000))];
        let (spec, summary) = (NetworkSpec::default(), Value::of(figures).into());
        let fields =
            NetworkFields { run: "run".into(), number: 0, digest, spec, file, training_state: None, summary };
        Player::Network { network: Network(Arc::new(fields)), own: Arc::new(own.clone()) }
    }

    #[test]
    fn a_match_costs_what_the_net_of_each_player_evaluates() {
        let own = |simulations| PlayerParams {
            search: Some(SearchParams { simulations, ..SearchParams::default() }),
            ..PlayerParams::default()
        };
        let (first, second) = (own(64), own(1));
        let arena = Arena { players: [net_of(1000, &first), net_of(50_000, &second)] };
        let params = ArenaParams { games: 100, first, second, ..ArenaParams::default() };
        let played = [
            ("games", 100),
            ("evaluations", 650),
            ("first_evaluations", 640),
            ("second_evaluations", 10),
            ("first_cache_hits", 40),
            ("second_cache_hits", 2),
        ];
        let spent = arena.spent(&params, &Value::of(played.map(|(name, count)| (name, Value::Int(count)))));
        assert_eq!((spent.games, spent.evaluations), (100.0, 650.0));
        assert_eq!(spent.flops, 600.0 * 1000.0 + 8.0 * 50_000.0);
        // What a plan charges is what it estimates.
        let planned = arena.spent(&params, &arena.mock_result(&params, 0, 2, Assumption::Even).summary);
        let work = arena.estimate(&params, 0, None, 2).work;
        assert_eq!((planned.evaluations, planned.flops), (work.evaluations as f64, work.flops));
        // A player that searches nothing costs nothing, on whichever side it is.
        let baseline = baseline("random").expect("a baseline");
        let one = Arena { players: [Player::Baseline(baseline), net_of(50_000, &params.second)] };
        let spent = one.spent(&params, &one.mock_result(&params, 0, 2, Assumption::Even).summary);
        assert_eq!(spent.flops, one.estimate(&params, 0, None, 2).work.flops);
        assert!(spent.flops > 0.0 && spent.flops < planned.flops);
    }

    #[test]
    fn alpha_beta_is_a_program_in_a_match_whatever_evaluates_its_positions() {
        let tree = PlayerParams::default();
        let searcher = AlphaBetaParams { hash_mb: 8, ..AlphaBetaParams::default() };
        let alphabeta = PlayerParams { alphabeta: Some(searcher), ..PlayerParams::default() };
        let of = |first: &PlayerParams, second: &PlayerParams| {
            let arena = Arena { players: [net(first), net(second)] };
            let (first, second) = (first.clone(), second.clone());
            let params = ArenaParams { games: 100, first, second, ..ArenaParams::default() };
            let shards: Vec<u32> = arena.shards(&params).iter().map(|shard| shard.games).collect();
            let machine = Machine { lanes: 2, is_on_cpu: true };
            (shards, arena.estimate(&params, 0, None, 2).work.evaluations, arena.memory(&params, machine))
        };
        let tables = |count: u32| Memory::of_tables([8 * count], 2, Machine { lanes: 2, is_on_cpu: true });
        let weights = |nets: f64| nets * (4.0 + 2.0 * 2.0) * 1000.0;
        let (shards, evaluations, memory) = of(&alphabeta, &alphabeta);
        assert_eq!((shards, evaluations), (vec![2; 50], 0));
        assert_eq!(memory.bytes(), tables(2).bytes(), "a game at a time, and one searcher for each player");
        let (shards, of_one, memory) = of(&alphabeta, &tree);
        assert_eq!(shards, [16, 16, 16, 16, 16, 16, 4], "the net has batches of several games");
        assert_eq!(memory.bytes(), tables(16).bytes() + weights(1.0), "a searcher for each of these games");
        let (shards, of_two, memory) = of(&tree, &tree);
        assert_eq!((shards, of_two), (vec![64, 36], 2 * of_one));
        assert_eq!(memory.bytes(), weights(2.0));
    }
}
