//! Damages by chance, and every command that reads the damaged files: `damage.py` with few of them.
//! `DC0_DAMAGES="--damages 500"` tries more; docs/guides/compare.md says what that has shown.

use std::env;

use crate::interop_command;
use crate::program::PROGRAM;

const FEW: &str = "--damages 12 --worlds finished,playing,swept";

#[test]
fn every_damage_is_noticed_by_the_command_that_reads_the_file_or_has_no_effect() {
    let options = env::var("DC0_DAMAGES").unwrap_or_else(|_| FEW.to_owned());
    let output = interop_command("damage.py").arg(PROGRAM).args(options.split_whitespace()).output();
    let output = output.expect("Python starts");
    let (printed, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && printed.contains(" damages, 0 wrong"), "{printed}{err}");
}
