//! Compares a device's answers with the CPU's in f32.

use dc0_core::network::torch::{Device, Precision, TorchEvaluator, TorchOptions};
use dc0_core::network::{Batch, Evaluations, Evaluator};

use super::{BenchError, Net, batch};

const ROWS: u32 = 256;

/// The largest allowed difference of probabilities from the CPU's, and the least share of rows with the same best move.
fn tolerance(precision: Precision) -> (f32, f64) {
    match precision {
        Precision::F32 | Precision::Auto => (1e-3, 0.99),
        Precision::F16 => (0.02, 0.97),
        Precision::Bf16 => (0.08, 0.90),
    }
}

/// Evaluates one batch twice and compares; returns a line to print.
pub(super) fn against_cpu(net: &Net, options: TorchOptions) -> Result<String, BenchError> {
    let batch = batch(&net.spec, ROWS);
    let cpu = TorchOptions { device: Device::Cpu, precision: Precision::F32, threads: 1, pad_to: 1 };
    let exact = answers(net, cpu, &batch)?;
    let (first, second) = (answers(net, options, &batch)?, answers(net, options, &batch)?);
    let (difference, agreeing) = (difference(&first, &exact), agreement(&first, &exact, &batch));
    let (most, least) = tolerance(options.precision);
    let is_repeatable = first.policy == second.policy && first.wdl == second.wdl;
    let (precision, share) = (options.precision.name(), 100.0 * agreeing);
    let seen = format!(
        "differs by at most {difference:.5} (allowed {most}), same best move in {share:.1}% (at least {:.0}%), {}",
        100.0 * least,
        if is_repeatable { "the same twice" } else { "not the same twice" }
    );
    if difference <= most && agreeing >= least && is_repeatable {
        return Ok(format!("ok  {} in {precision}: {seen}", net.name));
    }
    let device = format!("{:?}", options.device);
    Err(BenchError::Wrong { net: net.name.clone(), precision, device, what: seen })
}

fn answers(net: &Net, options: TorchOptions, batch: &Batch) -> Result<Evaluations, BenchError> {
    let mut out = Evaluations::default();
    TorchEvaluator::new(&net.spec, &net.weights, options)?.evaluate(batch, &mut out)?;
    Ok(out)
}

/// The largest difference of a probability.
fn difference(a: &Evaluations, b: &Evaluations) -> f32 {
    let policy = a.policy.iter().zip(&b.policy).map(|(a, b)| (a - b).abs());
    let wdl = a.wdl.iter().zip(&b.wdl).map(|(a, b)| (a.value() - b.value()).abs());
    policy.chain(wdl).fold(0.0, f32::max)
}

/// The share of rows with the same most likely move.
fn agreement(a: &Evaluations, b: &Evaluations, batch: &Batch) -> f64 {
    let best = |policy: &[f32]| (0..policy.len()).max_by(|x, y| policy[*x].total_cmp(&policy[*y]));
    let agree = |row: &usize| {
        let range = batch.legal_range(*row);
        best(&a.policy[range.clone()]) == best(&b.policy[range])
    };
    (0..batch.len()).filter(agree).count() as f64 / batch.len() as f64
}
