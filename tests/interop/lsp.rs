//! The language server in the hands of pygls, an editor's end of the protocol made by others.

use crate::interop_command;
use crate::program::{PROGRAM, succeed};

#[test]
fn pygls_opens_breaks_asks_and_mends_the_experiments() {
    let mut command = interop_command("lsp_client.py");
    let output = succeed(command.arg(PROGRAM));
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(said.contains("1 broken and mended; 0 complaints") && !said.starts_with("0 scripts"), "{said}");
}
