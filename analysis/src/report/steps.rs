//! The finished steps of runs, with their costs and the cumulative costs up to each.

use dc0_core::params::Value;

use crate::database::Database;
use crate::error::AnalysisError;
use crate::source::{ITERATIONS, NETWORKS};

/// A finished step.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Step {
    pub(super) run: String,
    pub(super) kind: String,
    pub(super) series: String,
    pub(super) number: Option<u32>,
    /// The first 16 hex digits of the digest of the net that it made or played with.
    pub(super) network: String,
    pub(super) seconds: Option<f64>,
    pub(super) costs: Costs,
    pub(super) summary: Value,
    pub(super) params: Value,
    /// The run's cumulative cost, this step included.
    pub(super) spent: Spent,
}

/// A step's measured costs; `None` for what was not measured.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Costs {
    /// Seconds in which the script waited for the step.
    pub(super) waited: Option<f64>,
    pub(super) cpu_seconds: Option<f64>,
    pub(super) evaluations: Option<f64>,
    pub(super) cache_hits: Option<f64>,
    pub(super) mean_batch: Option<f64>,
    pub(super) batch_fill: Option<f64>,
    pub(super) net_idle: Option<f64>,
    /// Whether nets ran on a device other than the CPU.
    pub(super) has_device: bool,
}

/// Cumulative costs.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Spent {
    /// Seconds in which the script waited for steps: those beside each other count once.
    pub(super) seconds: f64,
    /// CPU seconds; `None` unless they were measured for every step, and steps beside each other would count them twice.
    pub(super) cpu_seconds: Option<f64>,
    /// Seconds in which nets ran on a device other than the CPU.
    pub(super) device_seconds: f64,
    /// Self-play games.
    pub(super) games: f64,
    /// Self-play positions.
    pub(super) positions: f64,
    /// Self-play evaluations.
    pub(super) evaluations: f64,
}

impl Step {
    /// Seconds in which the script waited for it: all of its own, except for games that are played beside other steps.
    pub(super) fn waited(&self) -> Option<f64> {
        self.costs.waited.or(self.seconds)
    }

    /// Whether it was done beside other steps, at least in part.
    pub(super) fn is_beside(&self) -> bool {
        self.waited() < self.seconds
    }

    /// Seconds in which nets ran on a device other than the CPU: all of a training step, and for other steps the share of the lanes'
    /// time spent in nets.
    fn device_seconds(&self) -> f64 {
        let Some(seconds) = self.seconds.filter(|_| self.costs.has_device) else { return 0.0 };
        if self.kind == "train" {
            seconds
        } else {
            self.costs.net_idle.map_or(0.0, |idle| seconds * (1.0 - idle))
        }
    }

    /// Whether it produces a net.
    pub(super) fn makes_net(&self) -> bool {
        self.series == NETWORKS
    }

    /// Whether its games are from outside: no net has played them or searched them again.
    pub(super) fn is_import(&self) -> bool {
        self.series == ITERATIONS && self.network.is_empty()
    }

    /// A figure of its result.
    pub(super) fn figure(&self, name: &str) -> Option<f64> {
        self.summary.figure(name)
    }
}

/// All steps, run by run, in order.
pub(super) fn steps(database: &Database) -> Result<Vec<Step>, AnalysisError> {
    let answer = database.fetch("select * from steps")?;
    let texts = |column| answer.texts(column);
    let (runs, networks) = (texts("run")?, texts("network")?);
    let (kinds, series) = (texts("kind")?, texts("series")?);
    let (summaries, params) = (texts("summary")?, texts("params")?);
    let (numbers, seconds) = (answer.options("number")?, answer.options("seconds")?);
    let costs = costs(database)?;
    let indices = answer.numbers("step")?;
    let mut steps: Vec<Step> = Vec::new();
    for row in 0..answer.len() {
        let key = (runs[row].clone(), indices[row] as u32);
        let step_costs =
            costs.iter().find(|(known, _)| *known == key).map(|(_, costs)| *costs).unwrap_or_default();
        let before = steps.last().filter(|last| last.run == runs[row]).map(|last| last.spent);
        let mut step = Step {
            run: runs[row].clone(),
            kind: kinds[row].clone(),
            series: series[row].clone(),
            number: numbers[row].map(|number| number as u32),
            network: networks[row].clone(),
            seconds: seconds[row],
            costs: step_costs,
            summary: parsed(&summaries[row]),
            params: parsed(&params[row]),
            spent: Spent::default(),
        };
        step.spent = before.unwrap_or(Spent { cpu_seconds: Some(0.0), ..Spent::default() }).plus(&step);
        steps.push(step);
    }
    Ok(steps)
}

/// The kinds of steps, in the order in which the runs first have them.
pub(super) fn kinds(steps: &[Step]) -> Vec<&str> {
    let mut kinds = Vec::new();
    for step in steps {
        if !kinds.contains(&step.kind.as_str()) {
            kinds.push(step.kind.as_str());
        }
    }
    kinds
}

fn parsed(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or(Value::None)
}

/// Costs by run and step.
type CostsByStep = Vec<((String, u32), Costs)>;

fn costs(database: &Database) -> Result<CostsByStep, AnalysisError> {
    let answer = database.fetch("select * from costs")?;
    let column = |name| answer.options_or_none(name);
    let waited = column("waited")?;
    let (cpu_seconds, evaluations) = (column("cpu_seconds")?, column("evaluations")?);
    let (cache_hits, mean_batch) = (column("cache_hits")?, column("mean_batch")?);
    let (batch_fill, net_idle) = (column("batch_fill")?, column("net_idle")?);
    let (runs, steps) = (answer.texts("run")?, answer.numbers("step")?);
    let devices = answer.texts("device")?;
    let row = |row: usize| {
        let costs = Costs {
            waited: waited[row],
            cpu_seconds: cpu_seconds[row],
            evaluations: evaluations[row],
            cache_hits: cache_hits[row],
            mean_batch: mean_batch[row],
            batch_fill: batch_fill[row],
            net_idle: net_idle[row],
            has_device: !["", "cpu"].contains(&devices[row].as_str()),
        };
        ((runs[row].clone(), steps[row] as u32), costs)
    };
    Ok((0..answer.len()).map(row).collect())
}

impl Spent {
    fn plus(self, step: &Step) -> Self {
        let self_play =
            |name: &str| if step.kind == "self_play" { step.figure(name).unwrap_or(0.0) } else { 0.0 };
        Self {
            seconds: self.seconds + step.waited().unwrap_or(0.0),
            device_seconds: self.device_seconds + step.device_seconds(),
            cpu_seconds: self
                .cpu_seconds
                .zip(step.costs.cpu_seconds)
                .filter(|_| !step.is_beside())
                .map(|(before, now)| before + now),
            games: self.games + self_play("games"),
            positions: self.positions + self_play("positions"),
            evaluations: self.evaluations + self_play("evaluations"),
        }
    }
}
