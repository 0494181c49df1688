//! The program `dc0-run`; all of it is in the library of this package.

use std::process::ExitCode;

fn main() -> ExitCode {
    dc0_cli::main()
}
