//! The identity of steps: equal calls are the same step in every run.

use std::collections::BTreeMap;

use dc0_core::params::Value;
use dc0_core::rng::Seed;

/// An input of a step: a name that is the same in every run of the script, and a digest of the content.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Input {
    /// Its role in the step, such as `start`.
    pub name: String,
    /// blake3 of its content.
    pub digest: String,
}

/// A script's call that becomes a step.
#[derive(Debug, Clone, PartialEq)]
pub struct StepCall {
    /// The kind of step, such as `self_play`.
    pub kind: &'static str,
    /// The version of the kind, raised whenever the same call would have another result than before.
    pub version: u32,
    /// All parameters, the defaults included.
    pub params: Value,
    /// Everything that the step reads.
    pub inputs: Vec<Input>,
}

/// A digest of everything that determines a step's result.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Identity(String);

impl Identity {
    /// The identity of the `occurrence`-th equal call (from 0) in a run with this seed.
    ///
    /// Equal calls are distinct steps: after a candidate is rejected, the same net plays again, and must play new games.
    pub fn new(call: &StepCall, run_seed: u64, occurrence: u32) -> Self {
        let input = |input: &Input| Value::List(vec![Value::from(&input.name), Value::from(&input.digest)]);
        let parts = [
            ("kind", call.kind.into()),
            ("version", call.version.into()),
            ("params", call.params.clone()),
            ("inputs", Value::List(call.inputs.iter().map(input).collect())),
            ("seed", run_seed.to_string().into()),
            ("occurrence", occurrence.into()),
        ];
        let all = Value::of(parts);
        Self(dc0_core::durable::digest(all.canonical().as_bytes()))
    }

    /// Parses the 64 hex digits that a manifest stores.
    pub fn from_digits(digits: &str) -> Option<Self> {
        let is_digest = digits.len() == 64 && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        is_digest.then(|| Self(digits.to_owned()))
    }

    /// All 64 hex digits.
    pub fn digits(&self) -> &str {
        &self.0
    }

    /// The first 8 digits, enough to name files within a run.
    pub fn short(&self) -> &str {
        &self.0[..8]
    }

    /// The seed of the step's random streams.
    pub fn seed(&self, run: u64) -> Seed {
        let step = u64::from_str_radix(&self.0[..16], 16).expect("an identity consists of hex digits");
        Seed { run, step }
    }
}

/// Counts equal calls within one execution of a script.
#[derive(Debug, Default)]
pub struct Occurrences(BTreeMap<Identity, u32>);

impl Occurrences {
    /// The identity of the next call like this.
    pub fn next(&mut self, call: &StepCall, run_seed: u64) -> Identity {
        let identity = self.peek(call, run_seed);
        *self.0.entry(Identity::new(call, run_seed, 0)).or_default() += 1;
        identity
    }

    /// The identity that the next call like this will have.
    pub fn peek(&self, call: &StepCall, run_seed: u64) -> Identity {
        let first = Identity::new(call, run_seed, 0);
        match self.0.get(&first) {
            None => first,
            Some(count) => Identity::new(call, run_seed, *count),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Identity, Input, Occurrences, StepCall};
    use dc0_core::params::Value;

    fn call() -> StepCall {
        let params = Value::Group([("games".to_owned(), Value::Int(4))].into());
        let inputs = vec![Input { name: "network".to_owned(), digest: "ab".repeat(32) }];
        StepCall { kind: "self_play", version: 1, params, inputs }
    }

    #[test]
    fn an_identity_never_changes_between_builds() {
        // If this digest changes, every existing run starts over.
        let expected = "6bc96c054bff784468f1b4ed7d5d0b3134157a8d9f9db7c9a67fbed30b75da17";
        assert_eq!(Identity::new(&call(), 7, 0).digits(), expected);
    }

    #[test]
    fn every_part_of_a_call_changes_its_identity() {
        let base = Identity::new(&call(), 7, 0);
        let other_params = StepCall { params: Value::group(), ..call() };
        let other_kind = StepCall { kind: "arena", ..call() };
        let other_version = StepCall { version: 2, ..call() };
        let other_inputs = StepCall { inputs: vec![], ..call() };
        for other in [other_params, other_kind, other_version, other_inputs] {
            assert_ne!(Identity::new(&other, 7, 0), base);
        }
        assert_ne!(Identity::new(&call(), 8, 0), base);
        assert_ne!(Identity::new(&call(), 7, 1), base);
    }

    #[test]
    fn equal_calls_differ_by_their_order_only() {
        let mut occurrences = Occurrences::default();
        let first = occurrences.next(&call(), 7);
        let coming = occurrences.peek(&call(), 7);
        let other = occurrences.next(&StepCall { version: 2, ..call() }, 7);
        let second = occurrences.next(&call(), 7);
        assert_ne!(first, second);
        assert_eq!(second, coming);
        assert_ne!(first, other);
        let mut again = Occurrences::default();
        assert_eq!((again.next(&call(), 7), again.next(&call(), 7)), (first, second));
    }

    #[test]
    fn the_seed_of_a_step_is_the_start_of_its_identity() {
        let identity = Identity::from_digits(&"0123456789abcdef".repeat(4)).expect("64 digits");
        assert_eq!(identity.seed(5).step, 0x0123_4567_89ab_cdef);
        assert_eq!(identity.short(), "01234567");
        assert_eq!(Identity::from_digits("xyz"), None);
    }
}
