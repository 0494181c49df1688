//! The trait of a kind of step. Everything that the program knows of one kind is in its file below `kinds`.
//!
//! A value of a kind's type holds the arguments of one call: what the step reads. [`Kind`] is the type-erased form in the list of
//! kinds, and [`Call`] a call with checked arguments and parameters.

use std::marker::PhantomData;
use std::path::PathBuf;
use std::sync::Arc;

use dc0_core::params::{Param, ParamErrors, Params, Problem, Problems, Row, Value, read};
use dc0_core::store::FileEntry;
use dc0_runs::sweep::events::Spent;
use dc0_runs::{
    Input, Manifest, PartialProgress, Product, RunError, Series, Slot, StepCall, StepKind, StepWorkspace,
};

use crate::assumption::Assumption;
use crate::context::StepContext;
use crate::error::StepError;
use crate::estimate::Estimate;
use crate::handles::{
    Analysis, Games, GamesFields, Made, MatchResult, Network, Player, SolvedPuzzles, Validation, Window,
};
use crate::memory::{Machine, Memory};
use crate::past_networks::PastNetworks;
use crate::summary::Summary;
use crate::usage::Usage;

/// The type of an argument that a script can give between the run and the map.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ArgumentKind {
    /// A net of the run.
    Network,
    /// Games of some iterations or imports: a window, or the games of one.
    Window,
    /// The games of one iteration or import.
    Games,
    /// Searches of the run.
    Analysis,
    /// A player of a match: a player, a net or a name.
    Player,
    /// The name of a stored net.
    StoredNetwork,
    /// A text.
    Text,
    /// A list of texts.
    Texts,
}

/// An argument that a script has given.
#[derive(Debug, Clone)]
pub enum Argument {
    /// A net of the run.
    Network(Network),
    /// Games of the run or of others.
    Window(Window),
    /// Searches of the run.
    Analysis(Analysis),
    /// A player of a match.
    Player(Player),
    /// A stored net, to be read.
    StoredNetwork {
        /// The folder that holds runs.
        runs: PathBuf,
        /// The name of a shipped net, of a run there or of a file.
        name: String,
    },
    /// A text.
    Text(String),
    /// A list of texts; `Err` names the type of an item that is not text.
    Texts(Vec<Result<String, String>>),
}

/// The output of a step, or a mock of it.
#[derive(Debug, Clone)]
pub struct StepOutput {
    /// The folder of the run, as scripts know it.
    pub run: Arc<str>,
    /// The step's number in its series.
    pub number: u32,
    /// The step's short identity.
    pub step: String,
    /// Its files, relative to the run.
    pub files: Vec<FileEntry>,
    /// Its summary.
    pub summary: Summary,
}

impl StepOutput {
    /// The output of a finished step.
    pub fn of(run: &Arc<str>, slot: Slot, manifest: &Manifest) -> Self {
        Self {
            run: Arc::clone(run),
            number: slot.number,
            step: manifest.identity().short().to_owned(),
            files: manifest.files.clone(),
            summary: manifest.summary.clone().into(),
        }
    }

    /// The games of a step of the run.
    pub(crate) fn games(self, made: Made) -> StepResult {
        let Self { run, number: iteration, step, files, summary } = self;
        let fields = GamesFields { run, is_loaded: false, iteration, made, step, files, summary };
        StepResult::Games(Games(Arc::new(fields)))
    }
}

/// A step's result as scripts hold it.
#[derive(Debug, Clone)]
pub enum StepResult {
    /// A net.
    Network(Network),
    /// The games of an iteration.
    Games(Games),
    /// A match.
    Match(MatchResult),
    /// Searches of positions.
    Analysis(Analysis),
    /// Solved puzzles.
    Puzzles(SolvedPuzzles),
    /// A measured net.
    Validation(Validation),
}

impl StepResult {
    /// The result in a few numbers.
    pub fn summary(&self) -> &Value {
        match self {
            Self::Network(network) => &network.0.summary,
            Self::Games(games) => &games.0.summary,
            Self::Match(verdict) => &verdict.0.summary,
            Self::Analysis(analysis) => &analysis.0.summary,
            Self::Puzzles(solved) => &solved.0.summary,
            Self::Validation(validation) => &validation.0.summary,
        }
    }
}

/// A mock result for `--check`: a summary, and the names of files.
#[derive(Debug, Clone)]
pub struct MockResult {
    /// The summary.
    pub summary: Value,
    /// The files that later steps read, in the order of the result's.
    pub files: Vec<String>,
}

/// The message for a call whose arguments match none of the forms.
pub(crate) fn no_matching_form() -> String {
    "the arguments match none of its forms".to_owned()
}

/// One kind of step.
pub trait Step: Sized + Send + Sync + 'static {
    /// Its name, and what it stores.
    const KIND: &'static StepKind;

    /// Must change whenever the same call gives different results than before.
    const VERSION: u32;

    /// How scripts call it, followed by related functions.
    const USAGES: &'static [Usage];

    /// The arguments between the run and the map, for each form of the call.
    const FORMS: &'static [&'static [ArgumentKind]];

    /// Whether the map may be left out.
    const NEEDS_MAP: bool = true;

    /// Whether it only copies the nets of its arguments, so that they may belong to other runs of the script.
    const COPIES_NETWORKS: bool = false;

    /// The parameters.
    type Params: Params + Send + Sync;

    /// The parameter that sets how many times schedules are sampled, and its default.
    fn schedules() -> Option<(&'static str, u32)> {
        None
    }

    /// Takes the arguments of a call of one of the forms, or returns the error of the call. Problems within an argument are
    /// reported together with those of the parameters.
    fn from_arguments(arguments: Vec<Argument>, problems: &mut Vec<Problem>) -> Result<Self, String>;

    /// The arguments from a finished step's manifest, for forks; only as far as the result needs them.
    fn from_manifest(manifest: &Manifest, past: &PastNetworks<'_>) -> Result<Self, RunError>;

    /// Parameters that the arguments bring along.
    fn own_params(&self) -> Vec<(&'static str, Value)> {
        Vec::new()
    }

    /// Why valid parameters do not fit the arguments; `None` if they do. `given` has those that the script gave.
    fn conflict(&self, params: &Self::Params, given: &Value) -> Option<String> {
        let _ = (params, given);
        None
    }

    /// An error if a step that is not done yet cannot be done.
    fn check_new(&self, params: &Self::Params) -> Result<(), StepError> {
        let _ = params;
        Ok(())
    }

    /// The parameters that the script gave and that have no effect with these arguments, with the reasons.
    fn unused(&self, params: &Self::Params, given: &Value) -> Vec<Problem> {
        let _ = (params, given);
        Vec::new()
    }

    /// The inputs that the step reads.
    fn inputs(&self, params: &Self::Params) -> Result<Vec<Input>, StepError>;

    /// Does the step, or the rest of it after a kill.
    fn run(
        &self,
        params: &Self::Params,
        workspace: &StepWorkspace,
        context: &StepContext,
    ) -> Result<Product, StepError>;

    /// The result for scripts.
    fn result(&self, params: &Self::Params, output: StepOutput) -> Result<StepResult, StepError>;

    /// The players, for steps whose closing line names them.
    fn players(&self) -> String {
        String::new()
    }

    /// The figures of a result for the closing line of a finished step.
    fn figures(summary: &Value) -> String;

    /// The description of the step in a plan.
    fn planned(&self, params: &Self::Params, number: u32) -> Result<String, StepError>;

    /// How much of the step a killed process had done; a step of a single part starts over.
    fn begun(&self, params: &Self::Params, workspace: &StepWorkspace) -> Result<PartialProgress, RunError> {
        let _ = (params, workspace);
        Ok(PartialProgress { parts: 0, total: 1, unit: "parts", amount: 0 })
    }

    /// The memory that the step takes at least.
    fn memory(&self, params: &Self::Params, machine: Machine) -> Memory;

    /// The work that is left once `done` games, positions or updates are done. `summary` is that of a finished step.
    fn estimate(&self, params: &Self::Params, done: u64, summary: Option<&Value>, lanes: u32) -> Estimate;

    /// A mock result for `--check`, as `assumption` has it; `number` is the step's number in its series. Files do not depend on the
    /// assumption.
    fn mock_result(
        &self,
        params: &Self::Params,
        number: u32,
        lanes: u32,
        assumption: Assumption,
    ) -> MockResult;

    /// The work of nets behind a result, as budgets count it.
    fn spent(&self, params: &Self::Params, summary: &Value) -> Spent {
        let _ = (params, summary);
        Spent::default()
    }
}

/// A kind of step with its types erased.
pub trait Kind: Sync {
    /// See [`Step::KIND`].
    fn step_kind(&self) -> &'static StepKind;

    /// Its name in manifests, tables and scripts.
    fn name(&self) -> &'static str {
        self.step_kind().name
    }

    /// The series in which its results are numbered.
    fn series(&self) -> Series {
        self.step_kind().series()
    }

    /// How scripts call it, followed by related functions.
    fn usages(&self) -> &'static [Usage];

    /// The arguments between the run and the map, for each form of the call.
    fn forms(&self) -> &'static [&'static [ArgumentKind]];

    /// Whether the map may be left out.
    fn needs_map(&self) -> bool;

    /// See [`Step::COPIES_NETWORKS`].
    fn copies_networks(&self) -> bool;

    /// A sentence about its parameters, and a row for each.
    fn parameters(&self) -> (&'static str, Vec<Row>);

    /// The parameter that sets how many times schedules are sampled, and its default.
    fn schedules(&self) -> Option<(&'static str, u32)>;

    /// Takes the arguments of a call; see [`Step::from_arguments`].
    fn arguments(
        &self,
        arguments: Vec<Argument>,
        problems: &mut Vec<Problem>,
    ) -> Result<Box<UnparsedCall>, String>;

    /// The figures of a result for the closing line of a finished step.
    fn figures(&self, summary: &Value) -> String;

    /// The result of a finished step.
    fn restore(
        &self,
        manifest: &Manifest,
        output: StepOutput,
        past: &PastNetworks<'_>,
    ) -> Result<StepResult, RunError>;
}

/// A call with checked arguments whose parameters are not read yet: reads them; the text is the function in error messages.
pub type UnparsedCall = dyn FnOnce(&str, Value) -> Result<Box<dyn Call>, ParamErrors>;

/// A call of a step with checked arguments and parameters.
pub trait Call: Send + Sync {
    /// The kind.
    fn kind(&self) -> &'static dyn Kind;

    /// All parameters.
    fn params(&self) -> Value;

    /// The parameters that the script gave.
    fn given(&self) -> &Value;

    /// See [`Step::conflict`].
    fn conflict(&self) -> Option<String>;

    /// See [`Step::check_new`].
    fn check_new(&self) -> Result<(), StepError>;

    /// As [`Step::unused`].
    fn unused(&self) -> Vec<Problem>;

    /// The kind, version, parameters and inputs that identify the step.
    fn step_call(&self) -> Result<StepCall, StepError>;

    /// See [`Step::run`].
    fn run(&self, workspace: &StepWorkspace, context: &StepContext) -> Result<Product, StepError>;

    /// See [`Step::result`].
    fn result(&self, output: StepOutput) -> Result<StepResult, StepError>;

    /// See [`Step::players`].
    fn players(&self) -> String;

    /// See [`Step::planned`].
    fn planned(&self, number: u32) -> Result<String, StepError>;

    /// See [`Step::begun`].
    fn begun(&self, workspace: &StepWorkspace) -> Result<PartialProgress, RunError>;

    /// See [`Step::memory`].
    fn memory(&self, machine: Machine) -> Memory;

    /// See [`Step::estimate`].
    fn estimate(&self, done: u64, summary: Option<&Value>, lanes: u32) -> Estimate;

    /// See [`Step::mock_result`].
    fn mock_result(&self, number: u32, lanes: u32, assumption: Assumption) -> MockResult;

    /// See [`Step::spent`].
    fn spent(&self, summary: &Value) -> Spent;
}

/// The type-erased entry of a kind of step.
#[derive(Debug)]
pub struct KindOf<S>(PhantomData<fn() -> S>);

impl<S> KindOf<S> {
    /// The entry of the kind `S`.
    pub const ENTRY: Self = Self(PhantomData);
}

struct Checked<S: Step> {
    step: S,
    params: S::Params,
    given: Value,
}

impl<S: Step> Kind for KindOf<S> {
    fn step_kind(&self) -> &'static StepKind {
        S::KIND
    }

    fn usages(&self) -> &'static [Usage] {
        S::USAGES
    }

    fn forms(&self) -> &'static [&'static [ArgumentKind]] {
        S::FORMS
    }

    fn needs_map(&self) -> bool {
        S::NEEDS_MAP
    }

    fn copies_networks(&self) -> bool {
        S::COPIES_NETWORKS
    }

    fn parameters(&self) -> (&'static str, Vec<Row>) {
        (S::Params::about(), S::Params::rows())
    }

    fn schedules(&self) -> Option<(&'static str, u32)> {
        S::schedules()
    }

    fn arguments(
        &self,
        arguments: Vec<Argument>,
        problems: &mut Vec<Problem>,
    ) -> Result<Box<UnparsedCall>, String> {
        let step = S::from_arguments(arguments, problems)?;
        Ok(Box::new(|name: &str, given: Value| Checked::read(step, name, given)))
    }

    fn figures(&self, summary: &Value) -> String {
        S::figures(summary)
    }

    fn restore(
        &self,
        manifest: &Manifest,
        output: StepOutput,
        past: &PastNetworks<'_>,
    ) -> Result<StepResult, RunError> {
        let params =
            read::<S::Params>(&manifest.kind, &manifest.params).map_err(|cause| past.damaged(cause))?;
        S::from_manifest(manifest, past)?.result(&params, output).map_err(|cause| past.damaged(cause))
    }
}

impl<S: Step> Checked<S> {
    fn read(step: S, name: &str, mut given: Value) -> Result<Box<dyn Call>, ParamErrors> {
        if let Value::Group(members) = &mut given {
            let mut problems = Problems::default();
            for (member, value) in step.own_params() {
                if members.insert(member.to_owned(), value).is_some() {
                    problems.add(member, "is part of the player already; leave it out".to_owned());
                }
            }
            if !problems.is_empty() {
                return Err(problems.into_errors(name));
            }
        }
        let params = read::<S::Params>(name, &given)?;
        Ok(Box::new(Self { step, params, given }))
    }
}

impl<S: Step> Call for Checked<S> {
    fn kind(&self) -> &'static dyn Kind {
        &KindOf::<S>::ENTRY
    }

    fn params(&self) -> Value {
        self.params.to_value()
    }

    fn given(&self) -> &Value {
        &self.given
    }

    fn conflict(&self) -> Option<String> {
        self.step.conflict(&self.params, &self.given)
    }

    fn check_new(&self) -> Result<(), StepError> {
        self.step.check_new(&self.params)
    }

    fn unused(&self) -> Vec<Problem> {
        self.step.unused(&self.params, &self.given)
    }

    fn step_call(&self) -> Result<StepCall, StepError> {
        let inputs = self.step.inputs(&self.params)?;
        Ok(StepCall { kind: S::KIND.name, version: S::VERSION, params: self.params.to_value(), inputs })
    }

    fn run(&self, workspace: &StepWorkspace, context: &StepContext) -> Result<Product, StepError> {
        self.step.run(&self.params, workspace, context)
    }

    fn result(&self, output: StepOutput) -> Result<StepResult, StepError> {
        self.step.result(&self.params, output)
    }

    fn players(&self) -> String {
        self.step.players()
    }

    fn planned(&self, number: u32) -> Result<String, StepError> {
        self.step.planned(&self.params, number)
    }

    fn begun(&self, workspace: &StepWorkspace) -> Result<PartialProgress, RunError> {
        self.step.begun(&self.params, workspace)
    }

    fn memory(&self, machine: Machine) -> Memory {
        self.step.memory(&self.params, machine)
    }

    fn estimate(&self, done: u64, summary: Option<&Value>, lanes: u32) -> Estimate {
        self.step.estimate(&self.params, done, summary, lanes)
    }

    fn mock_result(&self, number: u32, lanes: u32, assumption: Assumption) -> MockResult {
        self.step.mock_result(&self.params, number, lanes, assumption)
    }

    fn spent(&self, summary: &Value) -> Spent {
        self.step.spent(&self.params, summary)
    }
}
