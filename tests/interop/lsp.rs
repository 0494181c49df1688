//! The language server driven by pygls, an independent client.

use crate::interop_command;
use crate::program::{PROGRAM, succeed};

#[test]
fn pygls_checks_breaks_queries_and_fixes_the_experiments() {
    let mut command = interop_command("lsp_client.py");
    let output = succeed(command.arg(PROGRAM));
    let summary = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        summary.contains("1 broken and fixed; 0 complaints") && !summary.starts_with("0 scripts"),
        "{summary}"
    );
}
