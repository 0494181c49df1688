//! Results of two runs as numbers: the last net, the matches and the costs.

use super::loaded::{Loaded, Step};
use super::steps::{Pair, Sides};
use dc0_runs::{Series, StepKind};

/// A number of both runs; `None` if a run does not have it.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub(super) struct Figure {
    pub(super) name: String,
    pub(super) first: Option<f64>,
    pub(super) second: Option<f64>,
}

/// The training metrics that are compared.
const TRAINING_METRICS: [&str; 6] =
    ["loss", "policy_loss", "value_loss", "policy_accuracy", "validation_loss", "validation_policy_loss"];

/// The number of generations, the metrics of the last training, and the scores of all matches.
pub(super) fn results(sides: &Sides<'_>, pairs: &[Pair<'_>]) -> Vec<Figure> {
    let generations = Figure {
        name: "generations".to_owned(),
        first: sides.first.generation.map(f64::from),
        second: sides.second.generation.map(f64::from),
    };
    let last =
        |run: &'_ Loaded| run.steps.iter().rfind(|step| step.manifest.kind == StepKind::TRAIN.name).cloned();
    let (first, second) = (last(sides.first), last(sides.second));
    let label = |step: &Option<Step>| step.as_ref().map_or_else(|| "-".to_owned(), |step| step.slot.label());
    let title = match (label(&first), label(&second)) {
        (first, second) if first == second => format!("network {first}"),
        (first, second) => format!("networks {first} and {second}"),
    };
    let training = TRAINING_METRICS.into_iter().map(|name| Figure {
        name: format!("{title}: {name}"),
        first: number(first.as_ref(), name),
        second: number(second.as_ref(), name),
    });
    let matches = pairs.iter().filter(|pair| pair.any().slot.series == Series::Matches);
    let scores = matches.map(|pair| Figure {
        name: format!("{}: score", pair.any().name()),
        first: number(pair.first, "score"),
        second: number(pair.second, "score"),
    });
    let all = std::iter::once(generations).chain(training).chain(scores);
    all.filter(|figure| figure.first.is_some() || figure.second.is_some()).collect()
}

fn number(step: Option<&Step>, name: &str) -> Option<f64> {
    step?.manifest.summary.figure(name)
}

/// The total costs of each run's steps; steps taken over from other runs do not count.
pub(super) fn costs(sides: &Sides<'_>) -> Vec<Figure> {
    let [first, second] = [sides.first, sides.second].map(Spent::by_run);
    let figure = |name: &str, value: fn(&Spent) -> Option<f64>| Figure {
        name: name.to_owned(),
        first: value(&first),
        second: value(&second),
    };
    vec![
        figure("steps done here", |spent| Some(spent.steps)),
        figure("steps taken over", |spent| Some(spent.taken)),
        figure("seconds", |spent| Some(spent.secs)),
        figure("cpu seconds", |spent| spent.cpu_secs),
        figure("evaluations", |spent| spent.evaluations),
        figure("samples", |spent| spent.samples),
        figure("MiB of files", |spent| Some(spent.bytes / f64::from(1 << 20))),
    ]
}

/// Sums over a run's steps. A sum is `None` if it was not measured for every step; CPU time also if steps were beside each other, which
/// would count it twice.
struct Spent {
    steps: f64,
    taken: f64,
    /// Those in which the script waited for steps.
    secs: f64,
    cpu_secs: Option<f64>,
    evaluations: Option<f64>,
    samples: Option<f64>,
    bytes: f64,
}

impl Spent {
    fn by_run(run: &Loaded) -> Self {
        let none = Some(0.0);
        let mut all = Self {
            steps: 0.0,
            taken: 0.0,
            secs: 0.0,
            cpu_secs: none,
            evaluations: none,
            samples: none,
            bytes: 0.0,
        };
        for step in &run.steps {
            let cost = run.ledger.cost(step.manifest.identity().short()).cloned().unwrap_or_default();
            all.bytes += step.manifest.files.iter().map(|entry| entry.bytes as f64).sum::<f64>();
            if cost.from.is_some() {
                all.taken += 1.0;
                continue;
            }
            all.steps += 1.0;
            all.secs += cost.waited;
            let add = |sum: Option<f64>, value: Option<f64>| sum.zip(value).map(|(sum, value)| sum + value);
            let alone = cost.figures.filter(|_| cost.waited >= cost.secs);
            all.cpu_secs = add(all.cpu_secs, alone.map(|figures| figures.cpu_secs));
            all.evaluations = add(all.evaluations, cost.figures.map(|figures| figures.evaluations as f64));
            all.samples = add(all.samples, cost.figures.map(|figures| figures.samples as f64));
        }
        all
    }
}
