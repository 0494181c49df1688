//! Evaluators whose work is measured.

use std::sync::Arc;

use dc0_backend::Evaluators;
use dc0_core::encoding::Encoding;
use dc0_core::network::checkpoint::Checkpoint;
use dc0_core::network::graph::Graph;
use dc0_core::network::{Batch, Evaluations, Evaluator, EvaluatorError, NetworkSpec};

use dc0_process::clock::Stopwatch;
use dc0_runs::Meter;

/// An evaluator that reports its batches and time to a meter. It lives as long as its lane.
struct Metered {
    inner: Box<dyn Evaluator>,
    meter: Arc<Meter>,
    /// Floating-point operations per row.
    flops: f64,
    /// 1 / the number of evaluators in the lane.
    share: f64,
    lifetime: Stopwatch,
}

/// Floating-point operations of one row.
pub(crate) fn row_flops(spec: &NetworkSpec) -> f64 {
    2.0 * Graph::new(spec).multiply_adds() as f64
}

/// Wraps an evaluator so that it reports to a meter. A lane has `per_lane` evaluators.
pub(crate) fn metered(
    inner: Box<dyn Evaluator>,
    meter: &Arc<Meter>,
    per_lane: u32,
    spec: &NetworkSpec,
) -> Box<dyn Evaluator> {
    let (flops, share) = (row_flops(spec), 1.0 / f64::from(per_lane));
    meter.begin_lane(share);
    Box::new(Metered { inner, meter: Arc::clone(meter), flops, share, lifetime: Stopwatch::start() })
}

/// An evaluator of a net, the only one of its lane, that reports to a meter.
pub(crate) fn only_metered(
    evaluators: &Evaluators,
    net: &Checkpoint,
    meter: &Arc<Meter>,
) -> Result<Box<dyn Evaluator>, EvaluatorError> {
    Ok(metered(evaluators.make(net)?, meter, 1, &net.spec))
}

impl Evaluator for Metered {
    fn encoding(&self) -> &Encoding {
        self.inner.encoding()
    }

    fn evaluate(&mut self, batch: &Batch, out: &mut Evaluations) -> Result<(), EvaluatorError> {
        let watch = Stopwatch::start();
        self.inner.evaluate(batch, out)?;
        let rows = batch.len() as u64;
        self.meter.evaluated(rows, watch.elapsed().as_secs_f64(), rows as f64 * self.flops);
        Ok(())
    }

    fn start_shard(&mut self) {
        self.inner.start_shard();
    }

    fn cache_hits(&self) -> u64 {
        self.inner.cache_hits()
    }
}

impl Drop for Metered {
    fn drop(&mut self) {
        self.meter.end_lane(self.share, self.lifetime.elapsed().as_secs_f64());
    }
}
