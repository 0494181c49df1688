//! The program `dc0-run`; everything is in the library beside it.

use std::process::ExitCode;

fn main() -> ExitCode {
    dc0_cli::main()
}
