//! Damages by chance, and every command that reads the damaged files: `damage.py` with few of them.
//! `DC0_DAMAGES="--damages 500"` tries more; docs/guides/compare.md says what that has shown.

use std::env;

use crate::program::PROGRAM;
use crate::{interop_command, stdout_of};

const FEW: &str = "--damages 12 --worlds finished,playing,swept";

#[test]
fn every_damage_is_noticed_by_the_command_that_reads_the_file_or_has_no_effect() {
    let options = env::var("DC0_DAMAGES").unwrap_or_else(|_| FEW.to_owned());
    let printed = stdout_of(interop_command("damage.py").arg(PROGRAM).args(options.split_whitespace()));
    assert!(printed.contains(" damages, 0 wrong"), "{printed}");
}
