//! `dc0-run bench device`: checks a device's answers and trainings, and measures how fast they are.

mod check;
mod rates;
mod training;

use std::time::Duration;

use dc0_core::board::random_games;
use dc0_core::network::graph::Graph;
use dc0_core::network::torch::runtime::parse_device;
use dc0_core::network::torch::{Device, MatrixProduct, Precision, TorchError, TorchOptions};
use dc0_core::network::{Batch, NetworkSpec, Weights, initial_weights, preset, presets};
use dc0_core::rng::Seed;
use dc0_core::trainer::TrainPrecision;

use self::training::Training;
use super::args::BenchDeviceArgs;
use super::{BenchError, rate};
use dc0_backend::{device_name, is_by_rows, lanes_on};
use dc0_process::console::Console;

/// A net to measure, with weights that give some moves clearly higher priors.
pub(super) struct Net {
    pub(super) name: String,
    pub(super) spec: NetworkSpec,
    pub(super) weights: Weights,
}

/// Checks and measures, and prints the tables.
pub(super) fn measure(args: &BenchDeviceArgs, console: &Console) -> Result<(), BenchError> {
    let device = parse_device(&args.device)?;
    let lanes = args.lanes.unwrap_or_else(|| lanes_on(&[device_name(device)]));
    let nets = args.nets.iter().map(|name| net(name)).collect::<Result<Vec<_>, _>>()?;
    let options = |precision: Precision| {
        let (precision, pad_to) = (precision.resolved(device), args.pad_to);
        TorchOptions { device, precision, threads: 1, pad_to }
    };
    let trainings = trainings(args, device, &nets)?;
    let (by_rows, evaluated): (Vec<&Net>, Vec<&Net>) = nets.iter().partition(|net| is_by_rows(&net.spec));
    for net in by_rows {
        let name = &net.name;
        console.result(&format!(
            "{name} plays in integers on the CPU, not on a device; `dc0-run bench alphabeta --net NET` measures it"
        ));
    }
    for precision in &args.precision {
        for net in &evaluated {
            console.result(&check::against_cpu(net, options(*precision))?);
        }
    }
    for training in &trainings {
        console.result(&training.check()?);
    }
    for precision in args.precision.iter().filter(|_| !evaluated.is_empty()) {
        let options = options(*precision);
        let peak = peak(options, lanes, Duration::from_secs(args.seconds))?;
        let (precision, tera) = (options.precision.name(), peak / 1e12);
        console.result(&format!(
            "\n{device:?} in {precision}, {lanes} lanes; matrix products reach {tera:.2} TFLOP/s"
        ));
        console.result("net                 batch  evaluations/s  of the peak  bytes to it  bytes back");
        for net in &evaluated {
            of_net(args, net, options, lanes, peak, console)?;
        }
    }
    if !trainings.is_empty() {
        console.result("\nnet                 precision  batch  samples/s  updates/s");
    }
    for training in &trainings {
        for &batch in &args.training_batch {
            let updates = training.rate(batch, Duration::from_secs(args.seconds))?;
            let (net, precision) = (&training.net.name, training.precision.name());
            let samples = updates * f64::from(batch);
            console.result(&format!("{net:<18}  {precision:<9}  {batch:>5}  {samples:>9.0}  {updates:>9.1}"));
        }
    }
    Ok(())
}

/// The trainings to check and measure: each net in each precision that nets can be trained in.
fn trainings<'a>(
    args: &BenchDeviceArgs,
    device: Device,
    nets: &'a [Net],
) -> Result<Vec<Training<'a>>, BenchError> {
    if args.training_batch.contains(&0) {
        return Ok(Vec::new());
    }
    let mut precisions: Vec<TrainPrecision> = Vec::new();
    for given in &args.precision {
        let precision = training::precision(given.resolved(device));
        if !precisions.contains(&precision) {
            precisions.push(precision);
        }
    }
    let each = precisions.iter().flat_map(|precision| nets.iter().map(|net| (net, *precision)));
    each.map(|(net, precision)| Training::new(net, precision, device)).collect()
}

/// Prints a row for each batch size, and one for self-play at the fastest.
fn of_net(
    args: &BenchDeviceArgs,
    net: &Net,
    options: TorchOptions,
    lanes: u32,
    peak: f64,
    console: &Console,
) -> Result<(), BenchError> {
    let operations = 2.0 * Graph::new(&net.spec).multiply_adds() as f64;
    let mut fastest = (0, 0.0);
    for &rows in &args.batch {
        let batch = batch(&net.spec, rows);
        let speed = rates::evaluations(net, options, lanes, &batch, Duration::from_secs(args.seconds))?;
        let [to, back] = bytes_per_row(&net.spec, &batch);
        let share = 100.0 * speed * operations / peak;
        console.result(&format!(
            "{:<18}  {rows:>5}  {speed:>13.0}  {share:>10.1}%  {to:>11.0}  {back:>10.0}",
            net.name
        ));
        if speed > fastest.1 {
            fastest = (rows, speed);
        }
    }
    if args.plies > 0 {
        let (rows, raw) = fastest;
        let speed = rates::self_play(net, options, lanes, rows, args.plies, args.simulations)?;
        let share = 100.0 * speed / raw;
        console.result(&format!(
            "{:<18}  {rows:>5}  {speed:>13.0}  in self-play, {share:.1}% of the raw rate",
            net.name
        ));
    }
    Ok(())
}

fn net(name: &str) -> Result<Net, BenchError> {
    let known = || presets().iter().map(|preset| preset.name).collect();
    let preset = preset(name).ok_or_else(|| BenchError::Net { name: name.to_owned(), known: known() })?;
    let mut weights = initial_weights(&preset.spec, Seed { run: 1, step: 1 });
    // The policy of a fresh net is nearly uniform, which would hide errors.
    for name in ["policy.conv2.weight", "policy.dense.weight", "value.dense2.weight"] {
        let tensor = weights.get_mut(name).into_iter();
        tensor.flat_map(|tensor| &mut tensor.data).for_each(|weight| *weight *= 10.0);
    }
    Ok(Net { name: name.to_owned(), spec: preset.spec, weights })
}

/// A batch of positions after random plies.
pub(super) fn batch(spec: &NetworkSpec, rows: u32) -> Batch {
    let (encoding, mut batch) = (spec.input(), Batch::default());
    for game in random_games(Seed { run: 1, step: 2 }, 80).take(rows as usize) {
        batch.push(&encoding, &game);
    }
    batch
}

/// Bytes per row sent to a device (bits, scalars, indices of legal moves) and back (their logits and the value).
fn bytes_per_row(spec: &NetworkSpec, batch: &Batch) -> [f64; 2] {
    let sent = 8 * batch.binary.len() + 4 * batch.scalars.len() + 4 * batch.legal.len();
    let value = if spec.value_head.kind == dc0_core::network::ValueHead::Wdl { 3 } else { 1 };
    let heads = value + usize::from(spec.moves_left_head.is_some());
    let back = 4 * batch.legal.len() + 4 * heads * batch.len();
    [sent, back].map(|bytes| bytes as f64 / batch.len() as f64)
}

/// Floating-point operations per second of large matrix products.
fn peak(options: TorchOptions, lanes: u32, least: Duration) -> Result<f64, TorchError> {
    // Large enough to hide everything but the multiplication, small enough to take milliseconds.
    let size = if options.device == Device::Cpu { 1536 } else { 8192 };
    let mut product = MatrixProduct::new(options.device, options.precision, size, lanes)?;
    product.run(3)?;
    let products = rate(least, || product.run(10).map(|()| 10))?;
    Ok(products * product.operations())
}
