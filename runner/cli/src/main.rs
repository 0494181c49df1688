//! The program `dc0-run`; all of it is in the library of this package.

use std::process::ExitCode;

use mimalloc::MiMalloc;

/// For each batch of a small net libtorch takes and frees memory thousands of times. The feature `override` gives libtorch this
/// allocator too, in place of malloc; `no_thp` keeps it from huge pages, of which each thread would take some.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() -> ExitCode {
    dc0_cli::main()
}
