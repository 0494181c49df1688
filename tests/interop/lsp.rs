//! The language server driven by pygls, an independent client.

use crate::program::PROGRAM;
use crate::{interop_command, stdout_of};

#[test]
fn pygls_checks_breaks_queries_and_fixes_the_experiments() {
    let summary = stdout_of(interop_command("lsp_client.py").arg(PROGRAM));
    assert!(
        summary.contains("1 broken and fixed; 0 complaints") && !summary.starts_with("0 scripts"),
        "{summary}"
    );
}
