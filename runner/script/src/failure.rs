//! Errors as plain data that can pass through the script engine.

use dc0_core::params::Problem;
use rhai::{Dynamic, EvalAltResult};

use crate::location::ScriptLocation;
use dc0_process::exit::Exit;
use dc0_process::fault::{Fault, chain};

/// An error as the user sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// How the program ends.
    pub exit: Exit,
    /// What happened, the chain of causes included.
    pub message: String,
    /// The location in the script, if a script was running.
    pub location: Option<ScriptLocation>,
    /// Details.
    pub details: Box<Details>,
}

/// Details of a failure.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Details {
    /// The problems of single parameters, which are also in the message.
    pub problems: Vec<Problem>,
    /// The calls and imports that led there, the innermost first.
    pub calls: Vec<ScriptLocation>,
    /// Other failures of the script, found at the same time.
    pub others: Vec<Failure>,
    /// Whether the script cannot catch it.
    pub is_final: bool,
}

impl Failure {
    /// A failure without a location.
    pub fn new(exit: Exit, message: impl Into<String>) -> Self {
        Self { exit, message: message.into(), location: None, details: Box::default() }
    }

    /// A failure at a location.
    pub fn at(location: ScriptLocation, exit: Exit, message: impl Into<String>) -> Self {
        Self { location: Some(location), ..Self::new(exit, message) }
    }

    /// The same, with the calls and imports that led there.
    #[must_use]
    pub fn called_from(mut self, calls: &[ScriptLocation]) -> Self {
        self.details.calls = calls.to_vec();
        self
    }

    /// Several failures as one: the first in the text carries the others. Files keep the order in which they come.
    pub fn combine(mut all: Vec<Self>) -> Option<Self> {
        let mut files: Vec<Option<String>> = Vec::new();
        let file_of = |failure: &Self| failure.location.as_ref().map(|location| location.source.clone());
        for file in all.iter().map(file_of) {
            if !files.contains(&file) {
                files.push(file);
            }
        }
        let file_index = |failure: &Self| files.iter().position(|file| *file == file_of(failure));
        all.sort_by_key(|failure| {
            (file_index(failure), failure.location.as_ref().and_then(|location| location.point))
        });
        let mut all = all.into_iter();
        let mut first = all.next()?;
        first.details.others = all.collect();
        Some(first)
    }

    /// The error that ends a script with this failure. A script may catch it, unless it is final or the user asked to stop.
    pub fn into_rhai(mut self, location: ScriptLocation) -> Box<EvalAltResult> {
        let position = location.point.map_or(rhai::Position::NONE, |(line, column)| {
            rhai::Position::new(
                u16::try_from(line).unwrap_or(u16::MAX),
                u16::try_from(column).unwrap_or(u16::MAX),
            )
        });
        let is_final = self.details.is_final || self.exit == Exit::Interrupted;
        self.location.get_or_insert(location);
        let token = Dynamic::from(self);
        if is_final {
            EvalAltResult::ErrorTerminated(token, position).into()
        } else {
            EvalAltResult::ErrorRuntime(token, position).into()
        }
    }
}

impl<F: Fault> From<&F> for Failure {
    fn from(fault: &F) -> Self {
        let details =
            Details { problems: fault.problems().to_vec(), is_final: fault.is_final(), ..Details::default() };
        Self { details: Box::new(details), ..Self::new(fault.exit(), chain(fault)) }
    }
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}
