//! The tasks around dc0 that plain cargo cannot do: fetching libtorch, and running everything CI runs.
//!
//! `cargo xtask help` lists the commands. Guide: `docs/guides/setup.md`.

#[cfg(not(unix))]
compile_error!("dc0 builds on Linux and macOS; on Windows, use the Windows subsystem for Linux");

mod browser;
mod checkout;
mod checks;
mod command;
mod duckdb;
mod install;
mod interop;
mod npm;
mod onnxruntime;
mod pip;
mod report;
mod setup;
mod syzygy;

use std::env;
use std::process::ExitCode;

use checkout::Checkout;
use command::Command;
use report::print;

fn main() -> ExitCode {
    match carry_out(&env::args().skip(1).collect::<Vec<_>>()) {
        Ok(code) => code,
        Err(error) => {
            print(&format!("error: {error:#}"));
            ExitCode::FAILURE
        }
    }
}

fn carry_out(args: &[String]) -> anyhow::Result<ExitCode> {
    let command = Command::parse(args)?;
    let checkout = Checkout::find()?;
    match command {
        Command::Help => print(command::HELP),
        Command::Setup(options) => {
            let ready = setup::ensure(&checkout, &options)?;
            print(&format!("{ready}"));
            if options.wheels.is_some() {
                print(
                    "with --wheels nothing is downloaded, so ONNX Runtime and DuckDB's library are left out",
                );
            } else {
                offer_libraries(&checkout);
            }
        }
        Command::Run(args) => {
            setup::ensure(&checkout, &setup::Options::default())?;
            offer_libraries(&checkout);
            return checkout.run_program(&args);
        }
        Command::Tablebases => {
            let folder = syzygy::tables(&checkout)?;
            print(&format!("all tablebases with three and four pieces are in {}", folder.display()));
        }
        Command::Test { fast } => {
            setup::ensure(&checkout, &setup::Options::default())?;
            duckdb::ensure(&checkout)?;
            onnxruntime::ensure(&checkout)?;
            return checks::run(&checkout, fast);
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Fetches the libraries without which most works: ONNX Runtime, and DuckDB's.
fn offer_libraries(checkout: &Checkout) {
    for (fetched, without) in [
        (onnxruntime::ensure(checkout), "nets will run on libtorch only, which is slower for small batches"),
        (duckdb::ensure(checkout), "SQL and reports will not work"),
    ] {
        if let Err(error) = fetched {
            print(&format!("warn: {without}: {error:#}"));
        }
    }
}
