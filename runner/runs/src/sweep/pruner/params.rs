//! The settings of pruners.

use dc0_core::{param_enum, params};

use crate::sweep::of_another_kind;

param_enum! {
    /// The rule that ends or pauses trials.
    pub enum PrunerKind {
        /// No pruning.
        None = "none",
        /// Trials below the median of the others at the same progress end (the median stopping rule of Golovin et al. 2017,
        /// section 3.2.1, but with the trial's last report instead of its best value, the others' last reports instead of their averages,
        /// and all others that came as far instead of the complete ones).
        Median = "median",
        /// Asynchronous successive halving (Li et al. 2020, algorithm 2): every trial runs to the first rung, and the best of
        /// a rung are promoted to the next.
        Asha = "asha",
    }
}

params! {
    /// How a sweep spends less on unpromising trials. A bare word stands for a group with this `kind`.
    pub struct PrunerParams {
        /// The rule.
        kind: PrunerKind = PrunerKind::None;
        /// Median: other trials with a report at the same progress before the rule applies.
        startup: u32 = 5, in 1..=100_000;
        /// Median: the progress before which no trial is ended.
        warmup: u32 = 0, in 0..=1_000_000_000;
        /// ASHA: the progress of the first rung, counted as the trials count their reports.
        least: u32 = 1, in 1..=1_000_000_000;
        /// ASHA: each rung lies this many times further than the one before, and one of this many trials is promoted.
        reduction: u32 = 3, in 2..=1_000;
        /// ASHA: no rung lies here or beyond, so a trial promoted from the last one runs to its end. None: no last rung.
        most: Option<u32> = None, in 2..=1_000_000_000;
        /// How much of a report's interval counts in the trial's favour: 1 all of it, 0 only the value.
        doubt: f64 = 1.0, in 0.0..=10.0;
    }
    check |params| {
        let (declared, kind) = (Self::default(), params.kind);
        let (median, asha) = (&[PrunerKind::Median][..], &[PrunerKind::Asha][..]);
        let all = [
            ("startup", params.startup != declared.startup, median),
            ("warmup", params.warmup != declared.warmup, median),
            ("least", params.least != declared.least, asha),
            ("reduction", params.reduction != declared.reduction, asha),
            ("most", params.most != declared.most, asha),
            ("doubt", params.doubt != declared.doubt, &[PrunerKind::Median, PrunerKind::Asha]),
        ];
        let without_effect = all.into_iter().filter(|(_, is_set, kinds)| *is_set && !kinds.contains(&kind));
        let mut problems: Vec<_> = without_effect
            .map(|(name, _, kinds)| (name, of_another_kind(kind.name(), kinds[0].name())))
            .collect();
        if let Some(most) = params.most.filter(|most| *most <= params.least && kind == PrunerKind::Asha) {
            problems.push(("most", format!("must lie beyond least ({}), got {most}", params.least)));
        }
        problems
    };
    shorthand kind;
}

impl PrunerParams {
    /// The progress of the rung `index` (from 0) of successive halving; `None` beyond the last.
    pub fn rung(&self, index: u32) -> Option<u32> {
        let rung = self.reduction.checked_pow(index)?.checked_mul(self.least)?;
        (rung < self.most.unwrap_or(u32::MAX)).then_some(rung)
    }
}
