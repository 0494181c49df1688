//! The steps of two runs, matched by slot: iteration 3 with iteration 3, net 2 with net 2.

use super::loaded::{Loaded, Step};
use super::reasons::{Reason, reasons};

/// The two runs compared.
#[derive(Debug, Clone, Copy)]
pub struct Sides<'a> {
    /// The baseline.
    pub first: &'a Loaded,
    /// The run compared with it.
    pub second: &'a Loaded,
}

/// One of the two runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// The first.
    First,
    /// The second.
    Second,
}

/// The result of comparing two steps.
#[derive(Debug, Clone, PartialEq)]
pub enum Comparison {
    /// The same files and summary.
    Same,
    /// The same step with different files or summary: something outside the script made the difference.
    DifferentBytes {
        /// The files that differ, by their paths in the first run.
        files: Vec<String>,
    },
    /// Different steps.
    DifferentStep {
        /// How they differ.
        reasons: Vec<Reason>,
    },
    /// Only one run has the step.
    OnlyIn(Side),
}

/// Two steps of the same slot, or one without a counterpart.
#[derive(Debug, Clone)]
pub struct Pair<'a> {
    /// The first run's step.
    pub first: Option<&'a Step>,
    /// The second run's step.
    pub second: Option<&'a Step>,
    /// How they compare.
    pub comparison: Comparison,
}

impl<'a> Pair<'a> {
    /// Whether both produced the same files and summary.
    pub fn is_same(&self) -> bool {
        self.comparison == Comparison::Same
    }

    /// The step that names the pair: the first run's, or else the second's.
    pub fn any(&self) -> &'a Step {
        self.first.or(self.second).expect("a pair has a step")
    }
}

/// All pairs, in the order of the first run's script; steps that only the second run has come last.
pub fn pairs<'a>(sides: &Sides<'a>) -> Vec<Pair<'a>> {
    let find = |steps: &'a [Step], wanted: &Step| steps.iter().find(|step| step.slot == wanted.slot);
    let mut pairs: Vec<Pair<'a>> = Vec::new();
    for first in &sides.first.steps {
        let second = find(&sides.second.steps, first);
        let comparison = match second {
            None => Comparison::OnlyIn(Side::First),
            Some(second) => compare((first, second), sides, &pairs),
        };
        pairs.push(Pair { first: Some(first), second, comparison });
    }
    let others = sides.second.steps.iter().filter(|step| find(&sides.first.steps, step).is_none());
    pairs.extend(others.map(|step| Pair {
        first: None,
        second: Some(step),
        comparison: Comparison::OnlyIn(Side::Second),
    }));
    pairs
}

fn compare((first, second): (&Step, &Step), sides: &Sides<'_>, before: &[Pair<'_>]) -> Comparison {
    let files = different_files(first, second);
    let is_same_result = files.is_empty() && first.manifest.summary == second.manifest.summary;
    if is_same_result {
        Comparison::Same
    } else if first.manifest.step == second.manifest.step {
        Comparison::DifferentBytes { files }
    } else {
        let differing: Vec<String> =
            before.iter().filter(|pair| !pair.is_same()).map(|pair| pair.any().name()).collect();
        let first = (&first.manifest, &sides.first.made_by);
        let second = (&second.manifest, &sides.second.made_by);
        Comparison::DifferentStep { reasons: reasons(first, second, &differing) }
    }
}

/// Files of the first step that differ or are missing in the second, and those that only the second has.
fn different_files(first: &Step, second: &Step) -> Vec<String> {
    let (own, others) = (&first.manifest.files, &second.manifest.files);
    let is_same = |index: usize| others.get(index).is_some_and(|other| other.blake3 == own[index].blake3);
    let differing = (0..own.len()).filter(|index| !is_same(*index)).map(|index| own[index].path.clone());
    differing.chain(others.iter().skip(own.len()).map(|entry| entry.path.clone())).collect()
}
