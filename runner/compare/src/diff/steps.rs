//! The steps of two runs, matched by what they made: iteration 3 with iteration 3, net 2 with net 2.

use super::loaded::{Loaded, Step};
use super::reasons::{Reason, reasons};

/// Two runs.
#[derive(Debug, Clone, Copy)]
pub struct Sides<'a> {
    /// The one that is compared with.
    pub first: &'a Loaded,
    /// The one that is compared.
    pub second: &'a Loaded,
}

/// One of the two.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// The first.
    First,
    /// The second.
    Second,
}

/// What came of comparing two steps.
#[derive(Debug, Clone, PartialEq)]
pub enum Verdict {
    /// The same files and figures.
    Same,
    /// The same step, and yet other files or figures: something outside the script decided.
    OtherBytes {
        /// The files that differ, by their paths in the first run.
        files: Vec<String>,
    },
    /// Another step.
    Other {
        /// What differs.
        reasons: Vec<Reason>,
    },
    /// Only one of the runs has it.
    OnlyIn(Side),
}

/// Two steps that belong together, or one that has no other.
#[derive(Debug, Clone)]
pub struct Pair<'a> {
    /// The first run's.
    pub first: Option<&'a Step>,
    /// The second run's.
    pub second: Option<&'a Step>,
    /// How they compare.
    pub verdict: Verdict,
}

impl<'a> Pair<'a> {
    /// Whether both have made the same.
    pub fn is_same(&self) -> bool {
        self.verdict == Verdict::Same
    }

    /// The step that gives the pair its name.
    pub fn any(&self) -> &'a Step {
        self.first.or(self.second).expect("a pair has a step")
    }
}

/// All pairs, in the order of the first run's script; what only the second has comes last.
pub fn pairs<'a>(sides: &Sides<'a>) -> Vec<Pair<'a>> {
    let find = |steps: &'a [Step], of: &Step| steps.iter().find(|step| step.slot == of.slot);
    let mut pairs: Vec<Pair<'a>> = Vec::new();
    for first in &sides.first.steps {
        let second = find(&sides.second.steps, first);
        let verdict = match second {
            None => Verdict::OnlyIn(Side::First),
            Some(second) => compared((first, second), sides, &pairs),
        };
        pairs.push(Pair { first: Some(first), second, verdict });
    }
    let others = sides.second.steps.iter().filter(|step| find(&sides.first.steps, step).is_none());
    pairs.extend(others.map(|step| Pair {
        first: None,
        second: Some(step),
        verdict: Verdict::OnlyIn(Side::Second),
    }));
    pairs
}

fn compared((first, second): (&Step, &Step), sides: &Sides<'_>, before: &[Pair<'_>]) -> Verdict {
    let files = other_files(first, second);
    let is_same_result = files.is_empty() && first.manifest.summary == second.manifest.summary;
    if is_same_result {
        Verdict::Same
    } else if first.manifest.step == second.manifest.step {
        Verdict::OtherBytes { files }
    } else {
        let differing: Vec<String> =
            before.iter().filter(|pair| !pair.is_same()).map(|pair| pair.any().name()).collect();
        let (first, second) = ((&first.manifest, sides.first), (&second.manifest, sides.second));
        Verdict::Other { reasons: reasons(first, second, &differing) }
    }
}

/// Files of the first step that the second has with other content or not at all, and those that only the second has.
fn other_files(first: &Step, second: &Step) -> Vec<String> {
    let (own, others) = (&first.manifest.files, &second.manifest.files);
    let is_kept = |at: usize| others.get(at).is_some_and(|other| other.blake3 == own[at].blake3);
    let differing = (0..own.len()).filter(|at| !is_kept(*at)).map(|at| own[at].path.clone());
    differing.chain(others.iter().skip(own.len()).map(|entry| entry.path.clone())).collect()
}
