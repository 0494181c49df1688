//! The settings of pruners.

use dc0_core::{param_enum, params};

param_enum! {
    /// How trials are held back.
    pub enum PrunerKind {
        /// Not at all.
        None = "none",
        /// By the median of the other trials at the same place (the median stopping rule of Golovin et al. 2017, section
        /// 3.2.1, on the trial's last report).
        Median = "median",
        /// By asynchronous successive halving (Li et al. 2020, algorithm 2): every trial goes to the first rung, and
        /// the best of a rung go on to the next.
        Asha = "asha",
    }
}

params! {
    /// How a sweep spends less on trials that promise little. A bare word stands for a group with this `kind`.
    pub struct PrunerParams {
        /// The rule.
        kind: PrunerKind = PrunerKind::None;
        /// Median: other trials with a report at the same place before it judges.
        startup: u32 = 5, in 1..=100_000;
        /// Median: the first place it judges at.
        warmup: u32 = 0, in 0..=1_000_000_000;
        /// ASHA: the place of the first rung, counted as the trials count their reports.
        least: u32 = 1, in 1..=1_000_000_000;
        /// ASHA: each rung lies this many times further than the one before, and one of this many trials goes on.
        reduction: u32 = 3, in 2..=1_000;
        /// ASHA: no rung lies here or beyond, so a trial promoted from the last one goes to its end. None: no last rung.
        most: Option<u32> = None, in 2..=1_000_000_000;
        /// How much of a report's interval a trial may hope for: 1 all, 0 none, so that only the value counts.
        doubt: f64 = 1.0, in 0.0..=10.0;
    }
    check |params| match params.most {
        Some(most) if most <= params.least => {
            vec![("most", format!("must lie beyond least ({}), got {most}", params.least))]
        }
        _ => vec![],
    };
    word kind;
}

impl PrunerParams {
    /// The place of a rung of successive halving, from 0; none beyond the last.
    pub fn rung(&self, index: u32) -> Option<u32> {
        let place = self.reduction.checked_pow(index)?.checked_mul(self.least)?;
        (place < self.most.unwrap_or(u32::MAX)).then_some(place)
    }
}
