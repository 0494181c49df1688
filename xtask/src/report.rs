//! Messages to the user. Everything goes to stderr: stdout belongs to the program that `xtask run` starts.

use std::io::{self, Write};

/// Prints one message. Failures are ignored: a closed stderr is no reason to stop the work.
pub(crate) fn print(text: &str) {
    let _ = writeln!(io::stderr(), "{text}");
}
