//! The finished steps of runs with what they took, and how much of everything was spent before each.

use dc0_core::params::Value;

use crate::database::Database;
use crate::error::AnalysisError;

/// A finished step.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Step {
    pub(super) run: String,
    pub(super) kind: String,
    pub(super) number: Option<u32>,
    /// The first 16 digits of the digest of the net that it made or played with.
    pub(super) network: String,
    pub(super) seconds: Option<f64>,
    pub(super) costs: Costs,
    pub(super) summary: Value,
    pub(super) params: Value,
    /// Everything up to the end of this step.
    pub(super) spent: Spent,
}

/// What was measured while a step was at work, as far as it was.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Costs {
    pub(super) cpu_seconds: Option<f64>,
    pub(super) evaluations: Option<f64>,
    pub(super) cache_hits: Option<f64>,
    pub(super) mean_batch: Option<f64>,
    pub(super) batch_fill: Option<f64>,
    pub(super) net_idle: Option<f64>,
    /// Whether nets were somewhere else than on the processors.
    pub(super) has_device: bool,
}

/// What was spent.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Spent {
    /// Seconds of all steps.
    pub(super) seconds: f64,
    /// Seconds of processors, where every step's were measured.
    pub(super) cpu_seconds: Option<f64>,
    /// Seconds in which nets were at work on a device that is no processor.
    pub(super) device_seconds: f64,
    /// Games of self-play.
    pub(super) games: f64,
    /// Positions of self-play.
    pub(super) positions: f64,
    /// Evaluations of self-play.
    pub(super) evaluations: f64,
}

impl Step {
    /// Seconds in which nets were at work on a device: all of a training, and of other steps the lanes' share of it.
    fn device_seconds(&self) -> f64 {
        let Some(seconds) = self.seconds.filter(|_| self.costs.has_device) else { return 0.0 };
        if self.kind == "train" {
            seconds
        } else {
            self.costs.net_idle.map_or(0.0, |idle| seconds * (1.0 - idle))
        }
    }

    /// Whether its product is a net.
    pub(super) fn makes_net(&self) -> bool {
        ["network", "grow", "train"].contains(&self.kind.as_str())
    }

    /// A figure of the result.
    pub(super) fn figure(&self, name: &str) -> Option<f64> {
        member(&self.summary, name)?.as_f64()
    }
}

/// A member of a group, if it is one and has it.
pub(super) fn member<'a>(group: &'a Value, name: &str) -> Option<&'a Value> {
    if let Value::Group(members) = group { members.get(name) } else { None }
}

/// All steps, run by run, in their order.
pub(super) fn steps(database: &Database) -> Result<Vec<Step>, AnalysisError> {
    let answer = database.ask("select * from steps")?;
    let texts = |column| answer.texts(column);
    let (runs, kinds, networks) = (texts("run")?, texts("kind")?, texts("network")?);
    let (summaries, params) = (texts("summary")?, texts("params")?);
    let (numbers, seconds) = (answer.options("number")?, answer.options("seconds")?);
    let costs = costs(database)?;
    let orders = answer.numbers("step")?;
    let mut steps: Vec<Step> = Vec::new();
    for at in 0..answer.len() {
        let key = (runs[at].clone(), orders[at] as u32);
        let own = costs.iter().find(|(known, _)| *known == key).map(|(_, costs)| *costs).unwrap_or_default();
        let before = steps.last().filter(|last| last.run == runs[at]).map(|last| last.spent);
        let mut step = Step {
            run: runs[at].clone(),
            kind: kinds[at].clone(),
            number: numbers[at].map(|number| number as u32),
            network: networks[at].clone(),
            seconds: seconds[at],
            costs: own,
            summary: parsed(&summaries[at]),
            params: parsed(&params[at]),
            spent: Spent::default(),
        };
        step.spent = before.unwrap_or(Spent { cpu_seconds: Some(0.0), ..Spent::default() }).and(&step);
        steps.push(step);
    }
    Ok(steps)
}

fn parsed(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or(Value::None)
}

type Keyed = Vec<((String, u32), Costs)>;

fn costs(database: &Database) -> Result<Keyed, AnalysisError> {
    let answer = database.ask("select * from costs")?;
    let column = |name| answer.options_if_there(name);
    let (cpu_seconds, evaluations) = (column("cpu_seconds")?, column("evaluations")?);
    let (cache_hits, mean_batch) = (column("cache_hits")?, column("mean_batch")?);
    let (batch_fill, net_idle) = (column("batch_fill")?, column("net_idle")?);
    let (runs, steps) = (answer.texts("run")?, answer.numbers("step")?);
    let devices = answer.texts("device")?;
    let row = |at: usize| {
        let costs = Costs {
            cpu_seconds: cpu_seconds[at],
            evaluations: evaluations[at],
            cache_hits: cache_hits[at],
            mean_batch: mean_batch[at],
            batch_fill: batch_fill[at],
            net_idle: net_idle[at],
            has_device: !["", "cpu"].contains(&devices[at].as_str()),
        };
        ((runs[at].clone(), steps[at] as u32), costs)
    };
    Ok((0..answer.len()).map(row).collect())
}

impl Spent {
    fn and(self, step: &Step) -> Self {
        let played =
            |name: &str| if step.kind == "self_play" { step.figure(name).unwrap_or(0.0) } else { 0.0 };
        Self {
            seconds: self.seconds + step.seconds.unwrap_or(0.0),
            device_seconds: self.device_seconds + step.device_seconds(),
            cpu_seconds: self.cpu_seconds.zip(step.costs.cpu_seconds).map(|(before, own)| before + own),
            games: self.games + played("games"),
            positions: self.positions + played("positions"),
            evaluations: self.evaluations + played("evaluations"),
        }
    }
}
