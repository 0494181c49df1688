//! Trainings on a device: whether they do what the CPU does, and how fast they are.

use std::sync::Mutex;
use std::time::Duration;

use dc0_core::event::{Event, Observer, Silent};
use dc0_core::network::checkpoint::Checkpoint;
use dc0_core::network::fake::Uniform;
use dc0_core::network::torch::{Device, Precision};
use dc0_core::network::{Evaluator, Weights, layout};
use dc0_core::params::{Schedule, Value};
use dc0_core::rng::Seed;
use dc0_core::search::SearchParams;
use dc0_core::selfplay::{SelfPlayJob, SelfPlayParams, ShardResult, play, shards_of};
use dc0_core::trainer::samples::{Part, Samples};
use dc0_core::trainer::{
    OptimizerKind, OptimizerParams, TrainError, TrainJob, TrainParams, TrainPrecision, Trained, train,
};

use super::{BenchError, Net};
use dc0_backend::cores;
use dc0_process::clock::Stopwatch;

/// A net's training on a device.
pub(super) struct Training<'a> {
    pub(super) net: &'a Net,
    pub(super) precision: TrainPrecision,
    device: Device,
    start: Checkpoint,
    samples: Samples,
}

/// The precision in which a net is trained that is evaluated in another one.
pub(super) fn precision(evaluated: Precision) -> TrainPrecision {
    match evaluated {
        Precision::F32 | Precision::Auto => TrainPrecision::Float32,
        Precision::F16 | Precision::Bf16 => TrainPrecision::BFloat16,
    }
}

/// The largest allowed differences from the CPU in f32: of an update's loss, relative to it, and of the change of the weights. CUDA's
/// convolutions round 32-bit floats to 11 bits first (TF32), bf16 has 8.
fn tolerance(precision: TrainPrecision) -> (f64, f64) {
    match precision {
        TrainPrecision::Float32 | TrainPrecision::Auto => (1e-3, 0.05),
        TrainPrecision::BFloat16 => (0.02, 0.2),
    }
}

impl<'a> Training<'a> {
    /// A training of random games.
    pub(super) fn new(net: &'a Net, precision: TrainPrecision, device: Device) -> Result<Self, BenchError> {
        let start =
            Checkpoint { spec: net.spec.clone(), weights: net.weights.clone(), provenance: Value::group() };
        Ok(Self { net, precision, device, start, samples: samples(net)? })
    }

    /// Trains for a few updates here and on the CPU in f32, and compares; returns a line to print.
    pub(super) fn check(&self) -> Result<String, BenchError> {
        let params = TrainParams {
            updates: 4,
            batch: 64,
            log_every: 1,
            // Steps in proportion to the gradient, since AdamW would enlarge what is only rounding; and short, since a net far from
            // where it started differs by what an earlier rounding has led to.
            optimizer: OptimizerParams {
                kind: OptimizerKind::Sgd,
                weight_decay: 1e-4,
                ..OptimizerParams::default()
            },
            learning_rate: Schedule::constant(0.001),
            ..self.params()
        };
        let exact = TrainParams { precision: TrainPrecision::Float32, ..params.clone() };
        let expected = self.train(&exact, Device::Cpu, &Silent)?;
        let found = self.train(&params, self.device, &Silent)?;
        let losses = found.curve.iter().zip(&expected.curve).map(|(a, b)| (a.loss / b.loss - 1.0).abs());
        let loss = largest(losses);
        let change = self.difference(&found.weights, &expected.weights);
        let (most_loss, most_change) = tolerance(self.precision);
        let (net, precision) = (&self.net.name, self.precision.name());
        let seen = format!(
            "losses differ by at most {:.3}% (allowed {:.1}%), the change of the weights by {:.2}% (allowed {:.0}%)",
            100.0 * loss,
            100.0 * most_loss,
            100.0 * change,
            100.0 * most_change
        );
        // Not a number is no agreement either.
        if loss <= most_loss && change <= most_change {
            return Ok(format!("ok  training of {net} in {precision}: {seen}"));
        }
        let device = format!("{:?}", self.device);
        Err(BenchError::Wrong { net: format!("training of {net}"), precision, device, what: seen })
    }

    /// Updates per second.
    pub(super) fn rate(&self, batch: u32, least: Duration) -> Result<f64, BenchError> {
        // The observer ends it.
        let params = TrainParams { updates: 100_000_000, batch, log_every: 100, ..self.params() };
        let pace = Pace { least, state: Mutex::default() };
        match self.train(&params, self.device, &pace) {
            Err(TrainError::Cancelled(_)) | Ok(_) => Ok(pace.rate()),
            Err(error) => Err(error.into()),
        }
    }

    fn params(&self) -> TrainParams {
        TrainParams {
            validation_fraction: 0.0,
            checkpoint_every: 1_000_000,
            precision: self.precision,
            ..TrainParams::default()
        }
    }

    fn train(
        &self,
        params: &TrainParams,
        device: Device,
        observer: &dyn Observer,
    ) -> Result<Trained, TrainError> {
        let unwritable = |source| TrainError::StateWrite { path: std::env::temp_dir(), source };
        let folder = tempfile::tempdir().map_err(unwritable)?;
        let job = TrainJob {
            params,
            start: &self.start,
            samples: &self.samples,
            seed: Seed { run: 1, step: 5 },
            threads: cores(),
            device,
            carried: None,
            state_path: &folder.path().join("state"),
        };
        train(job, observer)
    }

    /// The length of the difference of two trained nets, relative to that of the second's change.
    fn difference(&self, found: &Weights, expected: &Weights) -> f64 {
        let (mut difference, mut change) = (0.0, 0.0);
        for tensor in layout(&self.net.spec).iter().filter(|tensor| tensor.is_trained()) {
            let [found, expected, start] =
                [found, expected, &self.start.weights].map(|net| &net[&tensor.name].data);
            for ((found, expected), start) in found.iter().zip(expected).zip(start) {
                difference += f64::from(found - expected).powi(2);
                change += f64::from(expected - start).powi(2);
            }
        }
        (difference / change).sqrt()
    }
}

/// Samples of games that are searched without knowledge.
fn samples(net: &Net) -> Result<Samples, BenchError> {
    let params = SelfPlayParams {
        games: 64,
        max_plies: 80,
        search: SearchParams { simulations: 2, ..SearchParams::default() }.into(),
        ..SelfPlayParams::default()
    };
    let encoding = net.spec.input();
    let make_evaluator = || Ok(Box::new(Uniform::new(encoding.clone())) as Box<dyn Evaluator>);
    let job = SelfPlayJob::new(&params, Seed { run: 1, step: 4 }, "bench", &make_evaluator);
    let played = Mutex::new(Vec::new());
    let keep = |_, shard: ShardResult| {
        played.lock().expect("no lane panics").push(shard);
        Ok(())
    };
    play(&job, &shards_of(params.games, params.games), 1, &keep, &Silent)?;
    let training = TrainParams { validation_fraction: 0.0, ..TrainParams::default() };
    let mut samples = Samples::new(net.spec.input(), &training).expect("no tablebases are named");
    for ShardResult { games, positions, .. } in &played.into_inner().expect("no lane panics") {
        let part = Part { name: "bench", source: 0, weight: 1.0, games, positions };
        samples.add(part).expect("what was just played is legal");
    }
    Ok(samples.finish())
}

/// The largest value from 0 on; not a number if any of them is none.
fn largest(values: impl Iterator<Item = f64>) -> f64 {
    values.fold(0.0, |most, value| if value > most || value.is_nan() { value } else { most })
}

/// Updates that a device needs before its speed is that of all later ones.
const WARM_UP: u64 = 10;

/// Counts updates after the first ones, and ends the training when the time is over.
struct Pace {
    least: Duration,
    state: Mutex<Counted>,
}

#[derive(Default)]
struct Counted {
    since: Option<Stopwatch>,
    updates: u64,
    elapsed: Duration,
}

impl Pace {
    fn rate(&self) -> f64 {
        let counted = self.state.lock().expect("no update panics");
        counted.updates as f64 / counted.elapsed.as_secs_f64()
    }
}

impl Observer for Pace {
    fn event(&self, event: Event<'_>) {
        let Event::Progress { done, .. } = event else { return };
        if done < WARM_UP {
            return;
        }
        let mut counted = self.state.lock().expect("no update panics");
        let since = *counted.since.get_or_insert_with(Stopwatch::start);
        (counted.updates, counted.elapsed) = (done - WARM_UP, since.elapsed());
    }

    fn is_cancelled(&self) -> bool {
        let counted = self.state.lock().expect("no update panics");
        counted.updates > 0 && counted.elapsed >= self.least
    }
}

#[cfg(test)]
mod tests {
    use super::largest;

    #[test]
    fn a_loss_that_is_not_a_number_is_no_agreement() {
        assert_eq!(largest([0.1, 0.3, 0.2].into_iter()), 0.3);
        assert!(largest([0.1, f64::NAN, 0.2].into_iter()).is_nan());
    }
}
