//! What a kind of step is. Everything that the program knows of one stands in its file below `kinds`.
//!
//! A value of a kind's type is one call's arguments: what the step reads. [`Kind`] is the same without types, as the list of
//! kinds holds it, and [`Call`] a call whose arguments and parameters are checked.

use std::marker::PhantomData;
use std::sync::Arc;

use dc0_core::params::{Param, ParamErrors, Params, Problem, Row, Value, read};
use dc0_core::store::FileEntry;
use dc0_runs::sweep::events::Spent;
use dc0_runs::{Begun, Input, Manifest, Product, RunError, Series, Slot, StepCall, Workplace};

use crate::context::StepContext;
use crate::error::StepError;
use crate::estimate::Estimate;
use crate::handles::{Analysis, Games, Network, Verdict, Window};
use crate::past_networks::PastNetworks;
use crate::usage::Usage;

/// What a script can give a step between the run and the map.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ArgumentKind {
    /// A net of the run.
    Network,
    /// Games of the run.
    Window,
    /// Searches of the run.
    Analysis,
    /// A text.
    Text,
    /// A list of texts.
    Texts,
}

/// What a script has given.
#[derive(Debug, Clone)]
pub enum Argument {
    /// A net of the run.
    Network(Network),
    /// Games of the run.
    Window(Window),
    /// Searches of the run.
    Analysis(Analysis),
    /// A text.
    Text(String),
    /// A list of texts; for what is none, what it is instead.
    Texts(Vec<Result<String, String>>),
}

/// What a step has made, or a stand-in for it.
#[derive(Debug, Clone)]
pub struct Made {
    /// The folder of the run, as scripts know it.
    pub run: Arc<str>,
    /// The step's number in its series.
    pub number: u32,
    /// The step's short identity.
    pub step: String,
    /// Its files, relative to the run.
    pub files: Vec<FileEntry>,
    /// Its summary.
    pub summary: Value,
}

impl Made {
    /// What a finished step has made.
    pub fn of(run: &Arc<str>, slot: Slot, manifest: &Manifest) -> Self {
        Self {
            run: Arc::clone(run),
            number: slot.number,
            step: manifest.identity().short().to_owned(),
            files: manifest.files.clone(),
            summary: manifest.summary.clone(),
        }
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
    Match(Verdict),
    /// Searches of positions.
    Analysis(Analysis),
}

impl StepResult {
    /// The result in a few numbers.
    pub fn summary(&self) -> &Value {
        match self {
            Self::Network(network) => &network.0.summary,
            Self::Games(games) => &games.0.summary,
            Self::Match(verdict) => &verdict.0.summary,
            Self::Analysis(analysis) => &analysis.0.summary,
        }
    }
}

/// What `--check` takes for a result: a summary, and files of these names.
#[derive(Debug, Clone)]
pub struct StandIn {
    /// The summary.
    pub summary: Value,
    /// The files that later steps read, in the order of the result's.
    pub files: Vec<String>,
}

/// What is said of a call whose arguments are of none of the forms.
pub(crate) fn other_form() -> String {
    "is called in none of its forms".to_owned()
}

/// One kind of step.
pub trait Step: Sized + Send + Sync + 'static {
    /// What manifests, tables and scripts call it.
    const KIND: &'static str;

    /// Changes whenever the same call gives other results than before.
    const VERSION: u32;

    /// What its results are numbered among.
    const SERIES: Series;

    /// How scripts call it, then functions that make what it reads.
    const USAGES: &'static [Usage];

    /// What stands between the run and the map in a call, for each form that it has.
    const FORMS: &'static [&'static [ArgumentKind]];

    /// Whether the map may be left out.
    const NEEDS_MAP: bool = true;

    /// The parameters.
    type Params: Params + Send + Sync;

    /// The parameter that says for how many counters schedules are sampled, and what it is when left out.
    fn schedules() -> Option<(&'static str, u32)> {
        None
    }

    /// Takes the arguments of a call of one of the forms, or says how the call is wrong. What is wrong with parts of an argument
    /// is reported together with the parameters' problems.
    fn from_arguments(arguments: Vec<Argument>, problems: &mut Vec<Problem>) -> Result<Self, String>;

    /// The same of a finished step's manifest, for runs that begin with another one's steps; only as far as the result needs it.
    fn recall(manifest: &Manifest, past: &PastNetworks<'_>) -> Result<Self, RunError>;

    /// Says how parameters that are sound for themselves do not go with the arguments.
    fn refuse(&self, params: &Self::Params) -> Option<String> {
        let _ = params;
        None
    }

    /// Everything that the step reads.
    fn inputs(&self, params: &Self::Params) -> Result<Vec<Input>, StepError>;

    /// Does the step, or what a kill left of it.
    fn run(
        &self,
        params: &Self::Params,
        place: &Workplace,
        context: &StepContext,
    ) -> Result<Product, StepError>;

    /// The result for scripts.
    fn result(&self, params: &Self::Params, made: Made) -> Result<StepResult, StepError>;

    /// Who took part, where the line of a finished step says so.
    fn players(&self) -> String {
        String::new()
    }

    /// A result's figures in the line of a finished step.
    fn figures(summary: &Value) -> String;

    /// What a plan says of the step.
    fn planned(&self, params: &Self::Params, number: u32) -> Result<String, StepError>;

    /// What a kill left of the step; one of a single part leaves nothing.
    fn begun(&self, params: &Self::Params, place: &Workplace) -> Result<Begun, RunError> {
        let _ = (params, place);
        Ok(Begun { parts: 0, total: 1, unit: "parts", amount: 0 })
    }

    /// How much is left to do once some games, positions or updates are done. `summary` is that of a finished step.
    fn estimate(&self, params: &Self::Params, done: u64, summary: Option<&Value>, lanes: u32) -> Estimate;

    /// What `--check` takes for the result; `number` is the step's own in its series.
    fn stand_in(&self, params: &Self::Params, number: u32, lanes: u32) -> StandIn;

    /// What nets have done for a result, as budgets count it.
    fn spent(&self, summary: &Value) -> Spent {
        let _ = summary;
        Spent::default()
    }
}

/// A kind of step without its types.
pub trait Kind: Sync {
    /// What manifests, tables and scripts call it.
    fn name(&self) -> &'static str;

    /// What its results are numbered among.
    fn series(&self) -> Series;

    /// How scripts call it, then functions that make what it reads.
    fn usages(&self) -> &'static [Usage];

    /// What stands between the run and the map in a call, for each form that it has.
    fn forms(&self) -> &'static [&'static [ArgumentKind]];

    /// Whether the map may be left out.
    fn needs_map(&self) -> bool;

    /// What its parameters are about, and each of them.
    fn parameters(&self) -> (&'static str, Vec<Row>);

    /// The parameter that says for how many counters schedules are sampled, and what it is when left out.
    fn schedules(&self) -> Option<(&'static str, u32)>;

    /// Takes the arguments of a call; see [`Step::from_arguments`].
    fn arguments(
        &self,
        arguments: Vec<Argument>,
        problems: &mut Vec<Problem>,
    ) -> Result<Box<dyn Unread>, String>;

    /// A result's figures in the line of a finished step.
    fn figures(&self, summary: &Value) -> String;

    /// The result of a finished step.
    fn recall(
        &self,
        manifest: &Manifest,
        made: Made,
        past: &PastNetworks<'_>,
    ) -> Result<StepResult, RunError>;
}

/// A call whose parameters are not read yet.
pub trait Unread {
    /// Reads the parameters of a call of the function `name`.
    fn params(self: Box<Self>, name: &str, given: Value) -> Result<Box<dyn Call>, ParamErrors>;
}

/// A call of a step whose arguments and parameters are sound.
pub trait Call: Send + Sync {
    /// The kind.
    fn kind(&self) -> &'static dyn Kind;

    /// All parameters.
    fn params(&self) -> Value;

    /// What the script gave of them.
    fn given(&self) -> &Value;

    /// See [`Step::refuse`].
    fn refuse(&self) -> Option<String>;

    /// What makes the step the same as another one.
    fn step_call(&self) -> Result<StepCall, StepError>;

    /// See [`Step::run`].
    fn run(&self, place: &Workplace, context: &StepContext) -> Result<Product, StepError>;

    /// See [`Step::result`].
    fn result(&self, made: Made) -> Result<StepResult, StepError>;

    /// See [`Step::players`].
    fn players(&self) -> String;

    /// See [`Step::planned`].
    fn planned(&self, number: u32) -> Result<String, StepError>;

    /// See [`Step::begun`].
    fn begun(&self, place: &Workplace) -> Result<Begun, RunError>;

    /// See [`Step::estimate`].
    fn estimate(&self, done: u64, summary: Option<&Value>, lanes: u32) -> Estimate;

    /// See [`Step::stand_in`].
    fn stand_in(&self, number: u32, lanes: u32) -> StandIn;

    /// See [`Step::spent`].
    fn spent(&self, summary: &Value) -> Spent;
}

/// A kind of step as the list of kinds holds it.
#[derive(Debug)]
pub struct Of<S>(PhantomData<fn() -> S>);

impl<S> Of<S> {
    /// The entry of the kind `S`.
    pub const ENTRY: Self = Self(PhantomData);
}

struct Arguments<S>(S);

struct Checked<S: Step> {
    step: S,
    params: S::Params,
    given: Value,
}

impl<S: Step> Kind for Of<S> {
    fn name(&self) -> &'static str {
        S::KIND
    }

    fn series(&self) -> Series {
        S::SERIES
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
    ) -> Result<Box<dyn Unread>, String> {
        Ok(Box::new(Arguments(S::from_arguments(arguments, problems)?)))
    }

    fn figures(&self, summary: &Value) -> String {
        S::figures(summary)
    }

    fn recall(
        &self,
        manifest: &Manifest,
        made: Made,
        past: &PastNetworks<'_>,
    ) -> Result<StepResult, RunError> {
        let params =
            read::<S::Params>(&manifest.kind, &manifest.params).map_err(|cause| past.damaged(cause))?;
        S::recall(manifest, past)?.result(&params, made).map_err(|cause| past.damaged(cause))
    }
}

impl<S: Step> Unread for Arguments<S> {
    fn params(self: Box<Self>, name: &str, given: Value) -> Result<Box<dyn Call>, ParamErrors> {
        let params = read::<S::Params>(name, &given)?;
        Ok(Box::new(Checked { step: self.0, params, given }))
    }
}

impl<S: Step> Call for Checked<S> {
    fn kind(&self) -> &'static dyn Kind {
        &Of::<S>::ENTRY
    }

    fn params(&self) -> Value {
        self.params.to_value()
    }

    fn given(&self) -> &Value {
        &self.given
    }

    fn refuse(&self) -> Option<String> {
        self.step.refuse(&self.params)
    }

    fn step_call(&self) -> Result<StepCall, StepError> {
        let inputs = self.step.inputs(&self.params)?;
        Ok(StepCall { kind: S::KIND, version: S::VERSION, params: self.params.to_value(), inputs })
    }

    fn run(&self, place: &Workplace, context: &StepContext) -> Result<Product, StepError> {
        self.step.run(&self.params, place, context)
    }

    fn result(&self, made: Made) -> Result<StepResult, StepError> {
        self.step.result(&self.params, made)
    }

    fn players(&self) -> String {
        self.step.players()
    }

    fn planned(&self, number: u32) -> Result<String, StepError> {
        self.step.planned(&self.params, number)
    }

    fn begun(&self, place: &Workplace) -> Result<Begun, RunError> {
        self.step.begun(&self.params, place)
    }

    fn estimate(&self, done: u64, summary: Option<&Value>, lanes: u32) -> Estimate {
        self.step.estimate(&self.params, done, summary, lanes)
    }

    fn stand_in(&self, number: u32, lanes: u32) -> StandIn {
        self.step.stand_in(&self.params, number, lanes)
    }

    fn spent(&self, summary: &Value) -> Spent {
        self.step.spent(summary)
    }
}
