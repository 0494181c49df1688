//! `dc0-run`, built under another name for the tests of this package.

fn main() -> std::process::ExitCode {
    dc0_runner::main()
}
