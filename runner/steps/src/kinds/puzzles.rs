//! The step that solves puzzles, and stores each attempt as a row. A net searches them with several budgets; other players answer
//! them.

mod answers;
mod searches;
mod suite;

use std::sync::Arc;

use dc0_core::arena::PlayerParams;
use dc0_core::params;
use dc0_core::params::{Problem, Value, read};
use dc0_core::search::SearchParams;
use dc0_core::selfplay::{Shard, shards_of};
use dc0_process::format::counted;
use dc0_runs::sweep::events::Spent;
use dc0_runs::{Input, Manifest, PartialProgress, Product, RunError, StepKind, StepWorkspace};

use super::players::{self, PlayerInput, hash_mb, own_params, unfit_for_alphabeta, useless_precision};
use super::unmet;
use crate::assumption::Assumption;
use crate::context::StepContext;
use crate::error::StepError;
use crate::estimate::{
    Estimate, ShardPlan, TABLE_BYTES, Work, flops, most_evaluations, sequential_evaluations,
};
use crate::files;
use crate::handles::{Network, Player, ProgramPlayer, SolvedPuzzles, SolvedPuzzlesFields};
use crate::memory::{Machine, Memory};
use crate::past_networks::PastNetworks;
use crate::progress::{Amount, StepProgress};
use crate::step::{Argument, ArgumentKind, MockResult, Step, StepOutput, StepResult, no_matching_form};
use crate::usage::Usage;
use suite::Suite;

pub(super) use searches::REMOTE;

params! {
    /// Puzzles of a suite, solved by a player.
    pub struct PuzzleParams {
        /// The search of every position by a net. Its `simulations` are those below.
        search: SearchParams = SearchParams::default();
        /// The budgets of a net; each position is searched once with each. Ascending.
        simulations: Vec<u32> = vec![1, 16, 64, 256], in 1..=10_000_000;
        /// Puzzles that are searched in lockstep, and stored and resumed together; of programs no more than 8.
        shard_puzzles: u32 = 64, in 1..=65_536;
        /// What the player has of its own. A player made by `player` brings it along. A search of its own is the only budget.
        player: PlayerParams = PlayerParams::default();
    }
    check |params| {
        let mut problems = params.search.without_effect_on_positions();
        if params.player.search.as_ref().is_some_and(|own| own.reuse_tree) {
            problems.push(("player.search.reuse_tree", SearchParams::NO_TREE_TO_REUSE.to_owned()));
        }
        if params.simulations.is_empty() {
            problems.push(("simulations", "is empty; give at least one number, such as [1, 64]".to_owned()));
        }
        if params.simulations.windows(2).any(|pair| pair[0] >= pair[1]) {
            problems.push(("simulations", "must ascend, such as [1, 16, 64]".to_owned()));
        }
        problems
    };
    unused |params| {
        let mut unused = Vec::new();
        if params.player == PlayerParams::default() {
            unused.push(("player", "has nothing of its own; leave it out".to_owned()));
        }
        if params.player.search.is_some() || params.player.alphabeta.is_some() {
            let own = "the player has a search of its own; leave it out";
            unused.extend(["search", "simulations"].map(|name| (name, own.to_owned())));
        }
        unused
    };
}

/// The player's own parameters, and the player among the inputs if it has no net.
const PLAYER: &str = "player";

/// The most puzzles in a shard of a program.
const PROGRAM_PUZZLES: u32 = 8;

/// The player, and the suite that it solves.
pub(crate) struct Puzzles {
    player: Player,
    suite: Suite,
}

impl Step for Puzzles {
    const KIND: &'static StepKind = &StepKind::PUZZLES;
    const VERSION: u32 = 12;
    const USAGES: &'static [Usage] = &[Usage {
        name: "puzzles",
        form: "run.puzzles(player, \"suite.epd\" or [\"FEN bm Qd1+;\", …], #{…})",
        returns: "solved puzzles",
        meaning: "A step: solves puzzles, which are lines of EPD with `bm`, `am` or `dm`. A net solves them with several budgets of \
            simulations; any other player of a match, such as \"greedy\" or `uci(…)`, with the limit that it has.",
        example: "let solved = run.puzzles(trained, [\"6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - dm 1;\"], #{ simulations: [1, 8] });",
    }];
    const FORMS: &'static [&'static [ArgumentKind]] =
        &[&[ArgumentKind::Player, ArgumentKind::Text], &[ArgumentKind::Player, ArgumentKind::Texts]];
    const NEEDS_MAP: bool = false;

    type Params = PuzzleParams;

    fn from_arguments(arguments: Vec<Argument>, problems: &mut Vec<Problem>) -> Result<Self, String> {
        let [player, suite] = <[Argument; 2]>::try_from(arguments).map_err(|_| no_matching_form())?;
        let player = players::player(player)?;
        let suite = match suite {
            Argument::Text(file) => Suite::of_file(&file, problems),
            Argument::Texts(lines) => Suite::of_lines(lines, problems),
            _ => return Err(no_matching_form()),
        };
        Ok(Self { player, suite })
    }

    fn own_params(&self) -> Vec<(&'static str, Value)> {
        own_params(PLAYER, &self.player).into_iter().collect()
    }

    fn from_manifest(manifest: &Manifest, past: &PastNetworks<'_>) -> Result<Self, RunError> {
        let params: PuzzleParams =
            read(Self::KIND.name, &manifest.params).map_err(|cause| past.damaged(cause))?;
        let player = match manifest.input(PLAYER).and_then(PlayerInput::parse) {
            Some(PlayerInput::Baseline(baseline)) => Player::Baseline(baseline),
            Some(PlayerInput::Program(digest)) => {
                let name = match manifest.summary.member(PLAYER) {
                    Some(Value::Text(name)) => name.clone(),
                    _ => String::new(),
                };
                Player::Program(ProgramPlayer { name, digest, opponent: None })
            }
            Some(PlayerInput::Network(_)) | None => {
                let network = past.read(manifest, "network")?.clone();
                Player::Network { network, own: Arc::new(params.player) }
            }
        };
        Ok(Self { player, suite: Suite::default() })
    }

    fn conflict(&self, params: &PuzzleParams, given: &Value) -> Option<String> {
        let name = self.player.name();
        let Some(network) = self.player.network() else {
            let extra =
                ["search", "simulations", PLAYER].into_iter().find(|name| given.member(name).is_some());
            return extra
                .map(|extra| format!("{extra}: it is for nets, and \"{name}\" has none; leave it out"));
        };
        if let Some(problem) = useless_precision(PLAYER, &params.player, network) {
            return Some(problem);
        }
        if params.player.alphabeta.is_some() {
            return unfit_for_alphabeta(PLAYER, &name, network);
        }
        let path = if params.player.search.is_some() { "player.search" } else { "search" };
        unmet(path, params.search(), &network.0.spec)
    }

    fn inputs(&self, params: &PuzzleParams) -> Result<Vec<Input>, StepError> {
        let role = if self.player.network().is_some() { "network" } else { PLAYER };
        let inputs =
            [(role, PlayerInput::of(&self.player).to_string()), ("suite", self.suite.digest.clone())];
        let mut inputs = inputs.map(|(name, digest)| Input { name: name.to_owned(), digest }).to_vec();
        if let Some(alphabeta) = &params.player.alphabeta {
            inputs.extend(alphabeta.open_tablebases()?.as_ref().map(files::tablebases_input));
        } else if self.player.network().is_some() {
            inputs.extend(files::tablebases(params.search())?);
        }
        Ok(inputs)
    }

    fn run(
        &self,
        params: &PuzzleParams,
        workspace: &StepWorkspace,
        context: &StepContext,
    ) -> Result<Product, StepError> {
        match self.searching(params) {
            Some(network) => searches::run(self, params, workspace, context, network),
            None => answers::run(self, params, workspace, context),
        }
    }

    fn result(&self, _: &PuzzleParams, output: StepOutput) -> Result<StepResult, StepError> {
        let StepOutput { number, summary, .. } = output;
        Ok(StepResult::Puzzles(SolvedPuzzles(Arc::new(SolvedPuzzlesFields { number, summary }))))
    }

    fn players(&self) -> String {
        format!("by {}", self.player.name())
    }

    fn figures(summary: &Value) -> String {
        if summary.member(PLAYER).is_some() { answers::figures(summary) } else { searches::figures(summary) }
    }

    fn planned(&self, _: &PuzzleParams, number: u32) -> Result<String, StepError> {
        let (count, name) = (counted(self.suite.puzzles.len(), "puzzle"), self.player.name());
        Ok(format!("puzzles {number:04}: {count} of {} solved by {name}", self.suite.name))
    }

    fn begun(&self, params: &PuzzleParams, workspace: &StepWorkspace) -> Result<PartialProgress, RunError> {
        let all = self.shards(params);
        match self.searching(params) {
            Some(_) => searches::begun(workspace, all),
            None => answers::begun(workspace, all),
        }
    }

    fn memory(&self, params: &PuzzleParams, machine: Machine) -> Memory {
        let nets: Vec<&Network> = self.searching(params).into_iter().collect();
        let shards = self.shards(params).len() as u32;
        let tables = hash_mb(&self.player, &params.player);
        Memory::of_inference(&nets, shards, machine).and(Memory::of_tables(tables, shards, machine))
    }

    fn estimate(&self, params: &PuzzleParams, done: u64, _: Option<&Value>, lanes: u32) -> Estimate {
        let count = files::left(self.count(), done);
        let positions = u64::from(count);
        let Some(network) = self.searching(params) else {
            let work = Work { positions, bytes: TABLE_BYTES, ..Work::default() };
            let plan = ShardPlan { count, shard: self.shard_puzzles(params), game_slots: 1, lanes };
            return Estimate { work, pace: plan.pace(0.0, 0.0, 0.0, 0.0) };
        };
        let simulations = params.simulations_of_all();
        let search = SearchParams {
            simulations: simulations.min(u64::from(u32::MAX)) as u32,
            ..params.search().clone()
        };
        let evaluations = most_evaluations(positions * simulations, &search);
        let flops = evaluations as f64 * flops(network);
        let shard = params.shard_puzzles;
        let plan = ShardPlan { count, shard, game_slots: shard, lanes };
        let pace = plan.pace(sequential_evaluations(1.0, &search), 1.0, evaluations as f64, flops);
        Estimate { work: Work { positions, evaluations, flops, bytes: TABLE_BYTES, ..Work::default() }, pace }
    }

    fn mock_result(&self, params: &PuzzleParams, _: u32, _: u32, assumption: Assumption) -> MockResult {
        let solved = assumption.pick([0, u64::from(self.count()), 0]);
        if self.searching(params).is_none() {
            let share = solved as f64 / f64::from(self.count().max(1));
            let summary = answers::mock_summary(self, share);
            return MockResult { summary, files: vec!["answers".to_owned()] };
        }
        MockResult {
            summary: searches::mock_summary(self, params, solved),
            files: vec!["puzzles".to_owned()],
        }
    }

    fn spent(&self, _: &PuzzleParams, summary: &Value) -> Spent {
        let evaluations = summary.figure("evaluations").unwrap_or(0.0);
        let each = self.player.network().map_or(0.0, flops);
        Spent { evaluations, flops: evaluations * each, ..Spent::default() }
    }
}

impl PuzzleParams {
    /// The search of a net.
    fn search(&self) -> &SearchParams {
        self.player.search.as_ref().unwrap_or(&self.search)
    }

    /// The budgets of a net.
    fn budgets(&self) -> &[u32] {
        self.player.search.as_ref().map_or(&self.simulations, |own| std::slice::from_ref(&own.simulations))
    }

    /// Simulations of a puzzle, with all budgets.
    fn simulations_of_all(&self) -> u64 {
        self.budgets().iter().map(|simulations| u64::from(*simulations)).sum()
    }
}

impl Puzzles {
    fn count(&self) -> u32 {
        u32::try_from(self.suite.puzzles.len()).unwrap_or(u32::MAX)
    }

    /// The net that searches the puzzles; `None` if the player answers them without a tree search.
    fn searching(&self, params: &PuzzleParams) -> Option<&Network> {
        self.player.network().filter(|_| params.player.alphabeta.is_none())
    }

    /// Puzzles in a shard: of a program, which may take minutes for each, few enough that a kill costs little.
    fn shard_puzzles(&self, params: &PuzzleParams) -> u32 {
        let is_program = self.player.program().is_some() || params.player.alphabeta.is_some();
        if is_program { params.shard_puzzles.min(PROGRAM_PUZZLES) } else { params.shard_puzzles }
    }

    fn shards(&self, params: &PuzzleParams) -> Vec<Shard> {
        shards_of(self.count(), self.shard_puzzles(params))
    }

    fn progress(&self, workspace: &StepWorkspace, context: &StepContext, done: u64) -> StepProgress {
        let label = format!("puzzles of {} by {}", self.suite.name, self.player.name());
        let amount = Amount { unit: "puzzles", done, total: self.count().into() };
        workspace.meter.set_lanes(context.lanes);
        context.progress(workspace, &label, amount)
    }
}
