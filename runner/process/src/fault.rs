//! Errors that know how the program ends because of them.

use std::error::Error;

use dc0_core::params::{ParamErrors, Problem};

use crate::exit::Exit;

/// An error that knows how the program ends because of it.
pub trait Fault: Error {
    /// The exit code.
    fn exit(&self) -> Exit;

    /// What is wrong with single parameters, if that is what happened; the message names them, too.
    fn problems(&self) -> &[Problem] {
        &[]
    }
}

impl Fault for ParamErrors {
    fn exit(&self) -> Exit {
        Exit::BadInput
    }

    fn problems(&self) -> &[Problem] {
        &self.problems
    }
}

/// An error and its causes, one line each. A cause that the line above ends with already is left out.
pub fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let line = error.to_string();
        if !text.ends_with(&line) {
            text.push_str("\n  because: ");
            text.push_str(&line);
        }
        cause = error.source();
    }
    text
}
