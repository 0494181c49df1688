//! What went wrong, as plain data that can travel through the script engine.

use dc0_core::params::Problem;
use rhai::{Dynamic, EvalAltResult};

use crate::place::Place;
use dc0_process::exit::Exit;
use dc0_process::fault::{Fault, chain};

/// An error as the user sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// How the program ends.
    pub exit: Exit,
    /// What happened, the chain of causes included.
    pub message: String,
    /// Where in the script, if a script was running.
    pub place: Option<Place>,
    /// More about it.
    pub further: Box<Further>,
}

/// What is known of a failure besides.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Further {
    /// The problems of single parameters, which the message names, too.
    pub problems: Vec<Problem>,
    /// The calls and imports that led there, the innermost first.
    pub calls: Vec<Place>,
    /// What else is wrong with the script, found at the same time.
    pub others: Vec<Failure>,
}

impl Failure {
    /// A failure without a place.
    pub fn new(exit: Exit, message: impl Into<String>) -> Self {
        Self { exit, message: message.into(), place: None, further: Box::default() }
    }

    /// A failure at a place.
    pub fn at(place: Place, exit: Exit, message: impl Into<String>) -> Self {
        Self { place: Some(place), ..Self::new(exit, message) }
    }

    /// The same, with the calls and imports that led there.
    #[must_use]
    pub fn called_from(mut self, calls: &[Place]) -> Self {
        self.further.calls = calls.to_vec();
        self
    }

    /// Several failures as one: the first in the text, with the others. Files stay in the order in which they come.
    pub fn of_all(mut all: Vec<Self>) -> Option<Self> {
        let mut files: Vec<Option<String>> = Vec::new();
        let file_of = |failure: &Self| failure.place.as_ref().map(|place| place.source.clone());
        for file in all.iter().map(file_of) {
            if !files.contains(&file) {
                files.push(file);
            }
        }
        let number = |failure: &Self| files.iter().position(|file| *file == file_of(failure));
        all.sort_by_key(|failure| (number(failure), failure.place.as_ref().and_then(|place| place.point)));
        let mut all = all.into_iter();
        let mut first = all.next()?;
        first.further.others = all.collect();
        Some(first)
    }

    /// The error that ends a script with this failure. A script may catch it; being stopped by the user it cannot.
    pub fn into_rhai(mut self, place: Place) -> Box<EvalAltResult> {
        let position = place.point.map_or(rhai::Position::NONE, |(line, column)| {
            rhai::Position::new(
                u16::try_from(line).unwrap_or(u16::MAX),
                u16::try_from(column).unwrap_or(u16::MAX),
            )
        });
        let stopped = self.exit == Exit::Interrupted;
        self.place.get_or_insert(place);
        let token = Dynamic::from(self);
        if stopped {
            EvalAltResult::ErrorTerminated(token, position).into()
        } else {
            EvalAltResult::ErrorRuntime(token, position).into()
        }
    }
}

impl<F: Fault> From<&F> for Failure {
    fn from(fault: &F) -> Self {
        let further = Further { problems: fault.problems().to_vec(), ..Further::default() };
        Self { further: Box::new(further), ..Self::new(fault.exit(), chain(fault)) }
    }
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}
