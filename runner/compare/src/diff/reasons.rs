//! Why two steps differ: the parts of their identities, one by one.

use std::collections::{BTreeMap, BTreeSet};

use super::loaded::Loaded;
use dc0_runs::differences::{Difference, differences};
use dc0_runs::{Input, Manifest};

/// One thing that differs between two steps.
#[derive(Debug, Clone, PartialEq)]
pub enum Reason {
    /// Another kind of step.
    Kind {
        /// The first step's.
        first: String,
        /// The second step's.
        second: String,
    },
    /// Another version of this kind of step.
    Version {
        /// The first step's.
        first: u32,
        /// The second step's.
        second: u32,
    },
    /// The run's seed.
    Seed {
        /// The first step's.
        first: u64,
        /// The second step's.
        second: u64,
    },
    /// A parameter.
    Parameter(Difference),
    /// It reads the results of different steps.
    Reads {
        /// Steps that only the first reads.
        first: Vec<String>,
        /// Steps that only the second reads.
        second: Vec<String>,
    },
    /// It reads results that already differ.
    Follows {
        /// The steps that made them.
        steps: Vec<String>,
    },
    /// The number of equal calls before it differs.
    Occurrence,
}

impl Reason {
    /// Whether it is a cause rather than the consequence of an earlier difference.
    pub fn is_cause(&self) -> bool {
        !matches!(self, Self::Follows { .. })
    }
}

impl std::fmt::Display for Reason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Kind { first, second } => write!(f, "{first} -> {second}"),
            Self::Version { first, second } => write!(f, "version of the step {first} -> {second}"),
            Self::Seed { first, second } => write!(f, "seed {first} -> {second}"),
            Self::Parameter(parameter) => write!(f, "{parameter}"),
            Self::Reads { first, second } => write!(f, "reads {} -> {}", listed(first), listed(second)),
            Self::Follows { steps } => write!(f, "follows from {}", listed(steps)),
            Self::Occurrence => f.write_str("equal calls before it"),
        }
    }
}

fn listed(names: &[String]) -> String {
    if names.is_empty() { "nothing".to_owned() } else { names.join(", ") }
}

/// What differs between two steps of different identity, each with its run. `differing` names earlier steps that differ.
pub(super) fn reasons(
    (first, first_run): (&Manifest, &Loaded),
    (second, second_run): (&Manifest, &Loaded),
    differing: &[String],
) -> Vec<Reason> {
    let mut found = Vec::new();
    if first.kind != second.kind {
        found.push(Reason::Kind { first: first.kind.clone(), second: second.kind.clone() });
    } else if first.kind_version != second.kind_version {
        found.push(Reason::Version { first: first.kind_version, second: second.kind_version });
    }
    if first.seed != second.seed {
        found.push(Reason::Seed { first: first.seed, second: second.seed });
    }
    if first.kind == second.kind {
        let parameters = differences(&first.params, &second.params).into_iter();
        found.extend(parameters.map(Reason::Parameter));
    }
    found.extend(input_reasons(&[sources(first, first_run), sources(second, second_run)], differing));
    if found.is_empty() { vec![Reason::Occurrence] } else { found }
}

/// How the inputs differ, by the steps that produced them.
fn input_reasons(read: &[BTreeSet<String>; 2], differing: &[String]) -> Vec<Reason> {
    let only = |own: &BTreeSet<String>, other: &BTreeSet<String>| own.difference(other).cloned().collect();
    let others = Reason::Reads { first: only(&read[0], &read[1]), second: only(&read[1], &read[0]) };
    let both = read[0].intersection(&read[1]);
    let steps: Vec<String> = both.filter(|name| differing.contains(name)).cloned().collect();
    let follows = (!steps.is_empty()).then_some(Reason::Follows { steps });
    (read[0] != read[1]).then_some(others).into_iter().chain(follows).collect()
}

/// The names of the steps that produced a step's inputs; other inputs are named with the start of their digest.
fn sources(manifest: &Manifest, run: &Loaded) -> BTreeSet<String> {
    let made_by: BTreeMap<String, String> = run
        .steps
        .iter()
        .flat_map(|step| digests(&step.manifest).into_iter().map(|digest| (digest, step.name())))
        .collect();
    let name = |input: &Input| match made_by.get(&input.digest) {
        Some(step) => step.clone(),
        None => format!("{} {}", input.name, input.digest.get(..8).unwrap_or(&input.digest)),
    };
    manifest.inputs.iter().map(name).collect()
}

/// The digests by which other steps may refer to a step's files: of each file, and of all files together.
fn digests(manifest: &Manifest) -> Vec<String> {
    let files: Vec<String> = manifest.files.iter().map(|entry| entry.blake3.clone()).collect();
    let together = dc0_core::durable::digest(files.join("\n").as_bytes());
    files.into_iter().chain([together]).collect()
}
