//! The command line.

mod bench;
mod encode;
mod export;
mod play;
mod script;
mod sql;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

pub use bench::{BenchArgs, BenchDeviceArgs, BenchPart, BenchSearchArgs};
pub use encode::{EncodeArgs, EncodeFormat};
pub use export::{ExportArgs, ExportFormat, ExportOnnxArgs, ExportOptunaArgs, ExportTensorboardArgs};
pub use play::{PlayArgs, UciArgs};
pub use script::{LogLevel, OutputFormat, ScriptArgs};
pub use sql::{SqlArgs, SqlFormat};

use crate::backend::Backend;
use crate::compare::DiffArgs;
use crate::explain::ExplainArgs;
use crate::replay::ReplayArgs;
use crate::reproduce::ReproduceArgs;

const EXIT_CODES: &str = "Exit codes: 0 done, 1 the work failed or what was compared differs, 2 the script, its parameters or the command line are wrong, \
3 a file cannot be read or written or is damaged, 130 stopped on request.";

/// Runs AlphaZero chess experiments from Rhai scripts.
#[derive(Debug, Parser)]
#[command(name = "dc0-run", version, about, after_help = EXIT_CODES)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub struct Cli {
    /// What to do, if not to run a script.
    #[command(subcommand)]
    pub command: Option<Command>,
    /// The script and how to run it.
    #[command(flatten)]
    pub script: ScriptArgs,
}

/// What can be done besides running a script.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Say what this machine offers and whether experiments can run here.
    Doctor(DoctorArgs),
    /// Print a page of the reference as Markdown.
    Docs(DocsArgs),
    /// Show a net's layers: their sizes, their work, and what they put out.
    Inspect(InspectArgs),
    /// Show what a net sees of a position, and the policy indices of its legal moves.
    Encode(EncodeArgs),
    /// Measure the search without a net, and print its signature.
    Bench(BenchArgs),
    /// Write a net, a sweep or training curves in the format of other programs.
    Export(ExportArgs),
    /// Play as an engine in a chess program, which talks to it on stdin and stdout; so does `dc0-run` without arguments in a pipe.
    Uci(UciArgs),
    /// Show what happened in runs as one HTML file that needs nothing else.
    Report(crate::report::ReportArgs),
    /// Play against a net in the terminal.
    Play(PlayArgs),
    /// Help an editor with scripts, over stdin and stdout (the Language Server Protocol); docs/guides/editors.md shows how.
    Lsp(crate::lsp::LspArgs),
    /// Compare two runs: script, parameters, machine, steps, results and costs. Exit code 1 if the results differ.
    Diff(DiffArgs),
    /// Do a run again from what its folder holds, and compare every file. Exit code 1 if one differs.
    Reproduce(ReproduceArgs),
    /// Show a stored game, or play its shard again from the seed and compare. Exit code 1 if it differs.
    Replay(ReplayArgs),
    /// Explain a position: what the net says, what the search makes of it, and the tree.
    Explain(ExplainArgs),
    /// Watch runs in the browser as they go on, and play against their nets.
    Serve(crate::serve::ServeArgs),
    /// Ask the tables of runs with SQL.
    Sql(SqlArgs),
}

/// What `inspect` looks at.
#[derive(Debug, Args)]
pub struct InspectArgs {
    /// A weights file, whose description lies beside it; or a run, for its last generation or the one after a colon; or an
    /// ONNX file of dc0, for what it says of itself and whether ONNX Runtime takes it.
    #[arg(value_name = "NET.safetensors|NET.onnx|RUN[:GENERATION]")]
    pub net: String,
    /// ONNX Runtime's library, or the folder that holds it [default: found with Python or the system].
    #[arg(long, value_name = "PATH")]
    pub onnxruntime: Option<PathBuf>,
    /// Positions to show it: the ends of random games, always the same.
    #[arg(long, value_name = "N", default_value_t = 256, value_parser = clap::value_parser!(u32).range(2..=65_536))]
    pub positions: u32,
    /// Print JSON instead of a table.
    #[arg(long)]
    pub json: bool,
}

pub(crate) fn backend(word: &str) -> Result<Backend, String> {
    Backend::from_word(word).ok_or_else(|| format!("expected one of {}", Backend::WORDS.join(", ")))
}

/// What `doctor` looks at.
#[derive(Debug, Args)]
pub struct DoctorArgs {
    /// The library of ONNX Runtime, or a folder that holds it [default: that of python3 or of the system].
    #[arg(long, value_name = "PATH")]
    pub onnxruntime: Option<PathBuf>,
    /// The folder that runs would be written to.
    #[arg(long, value_name = "DIR", default_value = "datasets")]
    pub out: PathBuf,
}

/// What `docs` prints.
#[derive(Debug, Args)]
pub struct DocsArgs {
    /// The page.
    #[arg(value_enum, default_value_t = DocsPage::Parameters)]
    pub page: DocsPage,
}

/// The pages that are written from the code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum DocsPage {
    /// Every parameter of every call of a script.
    Parameters,
    /// Every plane of every input encoding.
    Encodings,
    /// Every function of scripts.
    Script,
    /// The functions of scripts as a Rhai definition file, for editors.
    Definitions,
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory, Parser};

    use super::{Cli, Command};

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn a_first_word_is_a_subcommand_or_else_a_script() {
        let cli =
            Cli::try_parse_from(["dc0-run", "x.rhai", "--set", "a=1", "--set", "b.c=2"]).expect("parses");
        assert_eq!(cli.script.script.expect("a script"), std::path::Path::new("x.rhai"));
        assert_eq!(cli.script.overrides.len(), 2);
        let cli = Cli::try_parse_from(["dc0-run", "doctor"]).expect("parses");
        assert!(matches!(cli.command, Some(Command::Doctor(_))));
        assert!(Cli::try_parse_from(["dc0-run"]).is_err());
        assert!(Cli::try_parse_from(["dc0-run", "x.rhai", "--set", "nothing"]).is_err());
    }
}
