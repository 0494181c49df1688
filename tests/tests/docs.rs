//! Pages that are written from the code are fresh.

use std::path::Path;
use std::process::Command;

#[test]
fn the_parameter_reference_is_what_the_program_prints() {
    let output = Command::new(env!("CARGO_BIN_EXE_dc0-run-under-test")).arg("docs").output().expect("starts");
    assert!(output.status.success());
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/reference/parameters.md");
    let stored = std::fs::read_to_string(page).expect("the page is checked in");
    assert!(
        stored == String::from_utf8(output.stdout).expect("UTF-8"),
        "docs/reference/parameters.md is out of date; write it anew with `dc0-run docs > docs/reference/parameters.md`"
    );
}
