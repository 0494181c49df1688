//! The figures of a step's result, and which of them a check only assumes.

use std::collections::BTreeSet;
use std::ops::Deref;
use std::sync::Arc;

use dc0_core::board::Reason;
use dc0_core::params::Value;

use crate::trace::{Reading, Recorder};

/// How many games the ply cap cut off, by the group of a summary that counts games by what ended them.
pub(crate) fn cut_off(figures: &Value, group: &str) -> f64 {
    let games = figures.member(group).and_then(|reasons| reasons.member(Reason::PlyCap.name()));
    games.and_then(Value::as_f64).unwrap_or(0.0)
}

/// The summary of a step. It reads as its value.
#[derive(Debug, Clone)]
pub struct Summary {
    figures: Value,
    assumed: Option<Arc<Assumed>>,
}

/// The figures that would be others under another assumption, and where readings of them are recorded.
#[derive(Debug)]
struct Assumed {
    names: BTreeSet<String>,
    recorder: Recorder,
}

impl Summary {
    /// A mock summary; `others` are those under other assumptions.
    pub(crate) fn assumed(figures: Value, others: &[Value], recorder: Recorder) -> Self {
        let Value::Group(members) = &figures else { return figures.into() };
        let differs = |name: &str, value| others.iter().any(|other| other.member(name) != Some(value));
        let names = members.iter().filter(|(name, value)| differs(name, value));
        let names = names.map(|(name, _)| name.clone()).collect();
        Self { figures, assumed: Some(Arc::new(Assumed { names, recorder })) }
    }

    /// Whether a check assumes it.
    pub fn is_assumed(&self) -> bool {
        self.assumed.is_some()
    }

    /// Records that the script reads a figure, if a check assumes it.
    pub fn note_reading(&self, name: &str, reading: impl FnOnce() -> Reading) {
        if let Some(assumed) = self.assumed.as_ref().filter(|assumed| assumed.names.contains(name)) {
            assumed.recorder.read(reading());
        }
    }
}

impl From<Value> for Summary {
    fn from(figures: Value) -> Self {
        Self { figures, assumed: None }
    }
}

impl Deref for Summary {
    type Target = Value;

    fn deref(&self) -> &Value {
        &self.figures
    }
}
