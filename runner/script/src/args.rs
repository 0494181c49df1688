//! The arguments of scripts.

use std::path::PathBuf;

use clap::{Args, Command, FromArgMatches as _, ValueEnum};
use dc0_process::console::OutputFormat;
use log::LevelFilter;

use dc0_backend::Backend;
use dc0_fleet::{BrokerArgs, WorkerKinds};
use dc0_runs::overrides::Override;
use dc0_runs::sweep::alone::SweepPart;

/// How a script is run.
#[derive(Debug, Clone, Args)]
pub struct ScriptArgs {
    /// The script to run; the same command continues an interrupted run.
    #[arg(value_name = "SCRIPT.rhai", required = true)]
    pub script: Option<PathBuf>,
    /// Set a parameter that the script declares, such as `--set generations=3`; dots reach into groups.
    #[arg(long = "set", value_name = "NAME=VALUE")]
    pub overrides: Vec<Override>,
    /// Read parameters from a TOML or JSON file; `--set` overrides it, and later files override earlier ones.
    #[arg(long, value_name = "FILE")]
    pub params: Vec<PathBuf>,
    /// Show the parameters that the script declares, with their allowed values and meaning, and do nothing else.
    #[arg(long, conflicts_with = "check")]
    pub parameters: bool,
    /// Whether the script's own help is asked for. Set by `help`, since clap's own help knows nothing of scripts.
    #[arg(skip)]
    pub help: bool,
    /// Run only this trial of the script's sweep, by itself, beside other processes that run other trials (may be repeated). Their points
    /// must have been chosen, as `sweep-slurm` and `sweep-hq` do; the script's command without `--trial` collects the results.
    #[arg(long = "trial", value_name = "N", conflicts_with_all = ["check", "parameters"])]
    pub trials: Vec<u32>,
    /// The part of the script's sweep that is done, if a command decides that.
    #[arg(skip)]
    pub part: SweepPart,
    /// The script's text, if a command has written it and there is no file.
    #[arg(skip)]
    pub text: Option<String>,
    /// Whether it is planned before it runs, so that what is wrong with it is said before there is a run, except for what only a started
    /// program can say.
    #[arg(skip)]
    pub is_planned_first: bool,
    /// How it is run.
    #[command(flatten)]
    pub run: RunArgs,
}

impl ScriptArgs {
    /// Runs the text of a script that a command has written, under a name for messages and the run's record.
    pub fn written(name: &str, text: String, run: RunArgs) -> Self {
        Self {
            script: Some(PathBuf::from(name)),
            overrides: Vec::new(),
            params: Vec::new(),
            parameters: false,
            help: false,
            trials: Vec::new(),
            part: SweepPart::Whole,
            text: Some(text),
            is_planned_first: false,
            run,
        }
    }
}

/// How the run of a script is done.
#[derive(Debug, Clone, Args)]
pub struct RunArgs {
    /// Seed of all randomness; fixed when the run is created [default: the script's, or 1].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(..=9_007_199_254_740_991))]
    pub seed: Option<u64>,
    /// Where nets run: auto, cpu, cuda:0, several with commas, cuda:all; fixed when the run is created [default: auto].
    #[arg(long)]
    pub device: Option<String>,
    /// What runs nets while they play: auto, torch or onnx; fixed when the run is created [default: the script's, or auto].
    #[arg(long, value_name = "NAME", value_parser = dc0_backend::parse_backend)]
    pub backend: Option<Backend>,
    /// ONNX Runtime's library, or the folder that holds it [default: the checkout's, or found with Python or the system].
    #[arg(long, value_name = "PATH")]
    pub onnxruntime: Option<PathBuf>,
    /// The folder that holds runs; each run has a folder of its own in it.
    #[arg(long, value_name = "DIR", default_value = "datasets")]
    pub out: PathBuf,
    /// Check the script and show what it would do, without doing it.
    #[arg(long)]
    pub check: bool,
    /// How errors and plans are shown: as text, or as one JSON object per line for editors and other programs.
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = OutputFormat::Text)]
    pub format: OutputFormat,
    /// Threads that play games; changes no result [default: the number of cores; on other devices up to 8 for each].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub lanes: Option<u32>,
    /// A NATS broker whose workers play, match and reanalyze instead of this process, such as `nats://HOST:4222`
    /// (docs/guides/several-machines.md).
    #[arg(long, value_name = "URL")]
    pub workers: Option<String>,
    /// Which workers may evaluate floating-point nets: those that round as this machine does, or all, which the tables then say.
    #[arg(long, value_name = "KINDS", value_enum, default_value_t, requires = "workers")]
    pub worker_kinds: WorkerKinds,
    /// The share of the workers' shards that is done again in this process, to find workers that cheat, besides the first shard of each;
    /// 0 for none. A larger share finds them sooner, and takes as much of this machine's time.
    #[arg(long, value_name = "SHARE", default_value_t = 0.01, value_parser = share, requires = "workers")]
    pub recheck: f64,
    /// Threads that recheck shards. Raise it for many workers: one thread can recheck only a few shards of each.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=4096), requires = "workers")]
    pub recheck_lanes: u32,
    /// A folder, `s3://BUCKET/PATH`, `gs://BUCKET/PATH` or `az://CONTAINER/PATH` for nets and large results, which the workers name too
    /// [default: the broker].
    #[arg(long, value_name = "URL", requires = "workers")]
    pub artefacts: Option<String>,
    /// How to reach the broker.
    #[command(flatten)]
    pub broker: BrokerArgs,
    /// libtorch threads of training; changes rounding, so fixed when the run is created [default: the number of cores]. Beside other
    /// programs one thread is often several times as fast, since threads wait for each other in every layer.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub threads: Option<u32>,
    /// Stop after this many hours, as Ctrl-C does; the same command continues.
    #[arg(long, value_name = "H", value_parser = above_zero)]
    pub max_hours: Option<f64>,
    /// Stop once the folder of runs has grown by this many GiB, as Ctrl-C does.
    #[arg(long, value_name = "GIB", value_parser = above_zero)]
    pub max_disk: Option<f64>,
    /// Which log messages the terminal shows; the run's log file has them from info up.
    #[arg(long, value_name = "LEVEL", value_enum, default_value_t = LogLevel::Warn)]
    pub log: LogLevel,
}

impl Default for RunArgs {
    /// Those of a command line that gives none.
    fn default() -> Self {
        let command = Self::augment_args(Command::new("dc0-run").no_binary_name(true));
        let matches = command.try_get_matches_from([""; 0]).expect("none is required");
        Self::from_arg_matches(&matches).expect("all have values or defaults")
    }
}

/// A number above 0.
pub fn above_zero(text: &str) -> Result<f64, String> {
    let number = text.parse::<f64>().ok().filter(|number| (1e-9..=1e6).contains(number));
    number.ok_or_else(|| "expected a number above 0, at most 1,000,000, such as 1.5".to_owned())
}

/// A share, from 0 to 1.
pub fn share(text: &str) -> Result<f64, String> {
    let number = text.parse::<f64>().ok().filter(|number| (0.0..=1.0).contains(number));
    number.ok_or_else(|| "expected a share from 0 to 1, such as 0.01".to_owned())
}

/// The lowest level of log messages that are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum LogLevel {
    /// Nothing.
    Off,
    /// Failures.
    Error,
    /// Unusual events.
    Warn,
    /// Normal events.
    Info,
    /// Details.
    Debug,
    /// Everything.
    Trace,
}

impl From<LogLevel> for LevelFilter {
    fn from(level: LogLevel) -> Self {
        match level {
            LogLevel::Off => Self::Off,
            LogLevel::Error => Self::Error,
            LogLevel::Warn => Self::Warn,
            LogLevel::Info => Self::Info,
            LogLevel::Debug => Self::Debug,
            LogLevel::Trace => Self::Trace,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{RunArgs, ScriptArgs};

    #[test]
    fn scripts_of_commands_run_as_those_without_options() {
        let args = ScriptArgs::written("a.rhai", String::new(), RunArgs::default());
        assert_eq!(args.run.out, Path::new("datasets"));
        assert_eq!((args.run.recheck, args.run.recheck_lanes, args.run.workers), (0.01, 1, None));
    }
}
