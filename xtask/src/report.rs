//! What xtask tells the user. Everything goes to stderr: stdout belongs to the program that `xtask run` starts.

use std::io::{self, Write};

/// Prints one message. A closed stderr is no reason to stop the work, so a failure to print is ignored.
pub(crate) fn say(text: &str) {
    let _ = writeln!(io::stderr(), "{text}");
}
