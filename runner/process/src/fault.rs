//! Errors with an exit code.

use std::error::Error;

use dc0_core::params::{ParamErrors, Problem};

use crate::exit::Exit;

/// An error with an exit code.
pub trait Fault: Error {
    /// The exit code.
    fn exit(&self) -> Exit;

    /// Problems of single parameters, if any; the message names them, too.
    fn problems(&self) -> &[Problem] {
        &[]
    }

    /// Whether a script that catches the error must not go on.
    fn is_final(&self) -> bool {
        false
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

/// An error and its causes, one per line. A cause that the text already ends with is left out.
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
