//! Why two steps differ: the parts of their identities, one by one.

use std::collections::BTreeSet;

use super::loaded::MadeBy;
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
    /// It reads the results of the same steps, in another order or with other weights.
    Arrangement,
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
            Self::Arrangement => f.write_str("reads the same steps in another order or with other weights"),
            Self::Follows { steps } => write!(f, "follows from {}", listed(steps)),
            Self::Occurrence => f.write_str("equal calls before it"),
        }
    }
}

fn listed(names: &[String]) -> String {
    if names.is_empty() { "nothing".to_owned() } else { names.join(", ") }
}

/// What differs between two steps of different identity, each with what made its run's files. `differing` names earlier steps that differ.
pub(super) fn reasons(
    (first, made_first): (&Manifest, &MadeBy),
    (second, made_second): (&Manifest, &MadeBy),
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
    found.extend(input_reasons(&[sources(first, made_first), sources(second, made_second)], differing));
    if found.is_empty() { vec![Reason::Occurrence] } else { found }
}

/// How the inputs differ, by the steps that produced them.
fn input_reasons(sources: &[Vec<Source>; 2], differing: &[String]) -> Vec<Reason> {
    let read =
        sources.each_ref().map(|all| all.iter().map(|(step, _)| step.clone()).collect::<BTreeSet<_>>());
    let only = |own: &BTreeSet<String>, other: &BTreeSet<String>| own.difference(other).cloned().collect();
    let others = Reason::Reads { first: only(&read[0], &read[1]), second: only(&read[1], &read[0]) };
    let both = read[0].intersection(&read[1]);
    let steps: Vec<String> = both.filter(|name| differing.contains(name)).cloned().collect();
    let follows = (!steps.is_empty()).then_some(Reason::Follows { steps });
    let own = if read[0] == read[1] {
        (sources[0] != sources[1]).then_some(Reason::Arrangement)
    } else {
        Some(others)
    };
    own.into_iter().chain(follows).collect()
}

/// Inputs of a step, one after the other, from the same step: its name, and the weight of its games. Other inputs are named with the start
/// of their digest.
type Source = (String, Option<String>);

/// Where a step's inputs come from, in its order.
fn sources(manifest: &Manifest, made_by: &MadeBy) -> Vec<Source> {
    let name = |input: &Input| match made_by.get(&input.digest) {
        Some(step) => step.clone(),
        None => format!("{} {}", input.name, input.digest.get(..8).unwrap_or(&input.digest)),
    };
    let weight = |input: &Input| input.name.split_once(" × ").map(|(_, weight)| weight.to_owned());
    let mut sources: Vec<Source> = manifest.inputs.iter().map(|input| (name(input), weight(input))).collect();
    sources.dedup();
    sources
}

#[cfg(test)]
mod tests {
    use super::{MadeBy, Reason, reasons};
    use dc0_core::params::Value;
    use dc0_runs::{Input, Manifest};

    fn training(inputs: &[(&str, &str)]) -> Manifest {
        let input =
            |(name, digest): &(&str, &str)| Input { name: (*name).to_owned(), digest: (*digest).to_owned() };
        Manifest {
            version: 1,
            step: String::new(),
            kind: "train".to_owned(),
            kind_version: 1,
            params: Value::group(),
            inputs: inputs.iter().map(input).collect(),
            seed: 1,
            files: Vec::new(),
            summary: Value::group(),
        }
    }

    #[test]
    fn games_in_another_order_or_with_other_weights_are_a_reason() {
        let made_by: MadeBy = [("a", "iteration 0000"), ("b", "iteration 0001")]
            .map(|(digest, step)| (digest.into(), step.into()))
            .into();
        let plain = training(&[("games part-1-0", "a"), ("games part-1-1", "a"), ("games part-2-0", "b")]);
        let weighted = training(&[("games part-1-0 × 0.5", "a"), ("games part-2-0", "b")]);
        let doubled = training(&[("games part-1-0 × 2", "a"), ("games part-2-0", "b")]);
        let turned = training(&[("games part-2-0", "b"), ("games part-1-0", "a")]);
        let fewer = training(&[("games part-1-0", "a"), ("games part-2-0", "b")]);
        let found = |first: &Manifest, second: &Manifest, differing: &[String]| {
            reasons((first, &made_by), (second, &made_by), differing)
        };
        for (first, second) in [(&weighted, &doubled), (&plain, &weighted), (&plain, &turned)] {
            assert_eq!(found(first, second, &[]), [Reason::Arrangement]);
        }
        assert_eq!(found(&plain, &plain, &[]), [Reason::Occurrence]);
        let follows = Reason::Follows { steps: vec!["iteration 0000".to_owned()] };
        assert_eq!(found(&plain, &fewer, &["iteration 0000".to_owned()]), [follows]);
    }
}
