//! `dc0-run puzzles`: solves the puzzles of a suite with a net, as a script that the command writes.

use std::path::PathBuf;

use clap::Args;
use dc0_process::command::{Command, Failure, Program};
use dc0_process::exit::Exit;
use dc0_script::args::RunArgs;

use super::matches::run_written;
use super::players::{run_name, text};

/// Which net solves which puzzles.
#[derive(Debug, Args)]
pub(super) struct PuzzlesArgs {
    /// The net: a weights file, a run for its last generation or the one after a colon, or `shipped` for the net in the program, `az_nnue`.
    #[arg(value_name = "NET.safetensors|RUN[:GENERATION]|shipped")]
    pub net: String,
    /// The puzzles: EPD with bm, am or dm.
    #[arg(value_name = "FILE.epd")]
    pub file: PathBuf,
    /// The numbers of simulations with which each puzzle is searched, ascending.
    #[arg(long, value_name = "N,…", value_delimiter = ',', default_values_t = [1, 16, 64, 256])]
    pub simulations: Vec<u32>,
    /// The name of the run [default: made of the net's name and the file's].
    #[arg(long, value_name = "RUN")]
    pub name: Option<String>,
    /// Print the script instead of running it.
    #[arg(long)]
    pub script: bool,
    #[command(flatten)]
    run: RunArgs,
}

impl Command for PuzzlesArgs {
    const NAME: &'static str = "puzzles";
    const ABOUT: &'static str = "Solve the puzzles of an EPD file with a net; the same command resumes it";

    fn run(&self, program: &Program) -> Result<Exit, Failure> {
        run_written(&self.text(), self.script, &self.run, program)
    }
}

impl PuzzlesArgs {
    fn text(&self) -> String {
        let net = if self.net == "shipped" { "" } else { &self.net };
        let suite = self.file.file_stem().unwrap_or_default().to_string_lossy();
        let own = || format!("puzzles-{}", run_name(&[&suite, &self.net]));
        let name = self.name.clone().unwrap_or_else(own);
        let budgets: Vec<String> = self.simulations.iter().map(ToString::to_string).collect();
        [
            format!("let run = open_run({});", text(&name)),
            format!("let net = run.load_network({});", text(net)),
            format!("run.puzzles(net, {}, #{{", text(&self.file.display().to_string())),
            format!("    simulations: [{}],", budgets.join(", ")),
            "});".to_owned(),
        ]
        .join("\n")
            + "\n"
    }
}
