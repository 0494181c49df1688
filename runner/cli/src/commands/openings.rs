//! `dc0-run openings`: makes a book of balanced random openings.

use dc0_process::format::counted;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use dc0_backend::{Backend, BackendError, BackendRequest, Evaluators, cores};
use dc0_core::arena::{
    ArenaError, BookError, Fault as Forfeited, Forfeit, MakeJudge, NetJudge, OpeningJudge, ProgramJudge,
    RandomBookParams, generate_book,
};
use dc0_core::durable;
use dc0_core::event::Observer;
use dc0_core::network::Precision;
use dc0_core::network::checkpoint::Checkpoint;
use dc0_core::params::{ParamErrors, Value, read};
use dc0_core::rng::Seed;
use dc0_core::search::SearchParams;
use dc0_opponents::{Opponent, UciParams};
use dc0_process::command::{Command, Failure, Program};
use dc0_process::exit::Exit;
use dc0_process::fault::{Fault, chain};
use dc0_runs::net::{RUNS, named};
use dc0_steps::progress::{Amount, StepProgress};
use log::LevelFilter;
use thiserror::Error;

use super::players::{Named, engine_option};

/// The openings that are made.
#[derive(Debug, Args)]
pub(super) struct OpeningsArgs {
    /// The EPD file to write; an existing one is replaced.
    #[arg(long, value_name = "FILE.epd")]
    pub out: PathBuf,
    /// Seed of the random moves. Equal arguments give equal files.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Openings, each of another position.
    #[arg(long, value_name = "N", default_value_t = RandomBookParams::default().count)]
    pub count: u32,
    /// Where the openings begin: `standard`, or at random starts of `chess960` or `double-chess960`.
    #[arg(long, value_name = "START", default_value = RandomBookParams::default().start.name())]
    pub start: String,
    /// Random legal moves from there.
    #[arg(long, value_name = "N", default_value_t = RandomBookParams::default().plies)]
    pub plies: u32,
    /// Alpha-beta searches of 1 to this many plies judge each opening.
    #[arg(long, value_name = "PLIES", default_value_t = RandomBookParams::default().depth)]
    pub depth: u32,
    /// The largest score for either side that every search and the judge may find, in centipawns.
    #[arg(long, value_name = "CENTIPAWNS", default_value_t = RandomBookParams::default().max_score)]
    pub max_score: u32,
    /// A net (NET.safetensors, RUN, RUN:GENERATION, shipped) or a UCI engine that judges what those searches find balanced.
    #[arg(long, value_name = "NET|ENGINE")]
    pub judge: Option<String>,
    /// Simulations of a net that judges an opening; 1 for its own value [default: 64].
    #[arg(long, visible_alias = "sims", value_name = "N", requires = "judge")]
    pub simulations: Option<u32>,
    /// Nodes of an engine that judges an opening [default: 10000].
    #[arg(long, value_name = "N", requires = "judge")]
    pub nodes: Option<u64>,
    /// An option of an engine that judges, such as `--option Hash=64`.
    #[arg(long = "option", value_name = "NAME=VALUE", requires = "judge")]
    pub options: Vec<String>,
}

/// Who judges openings.
enum Judge {
    Net { evaluators: Evaluators, net: Arc<Checkpoint>, search: Box<SearchParams> },
    Engine(Opponent),
}

impl Judge {
    /// A judge for one thread.
    fn make(&self) -> Result<Box<dyn OpeningJudge>, ArenaError> {
        match self {
            Self::Net { evaluators, net, search } => {
                Ok(Box::new(NetJudge::new(evaluators.make(net)?, (**search).clone())))
            }
            Self::Engine(opponent) => {
                let failed = |cause: String| Forfeit { fault: Forfeited::Crash, detail: cause };
                let program = opponent.start().map_err(|cause| failed(chain(&cause)))?;
                Ok(Box::new(ProgramJudge::new(opponent.name(), program)))
            }
        }
    }
}

/// No book was written.
#[derive(Debug, Error)]
enum OpeningsError {
    #[error(transparent)]
    Params(#[from] ParamErrors),
    #[error("--out {} does not end in .epd, which is how a match knows the format of a book", .0.display())]
    Ending(PathBuf),
    #[error(transparent)]
    Book(#[from] BookError),
    #[error("cannot write {}: {source}", file.display())]
    Write { file: PathBuf, source: io::Error },
}

impl Fault for OpeningsError {
    fn exit(&self) -> Exit {
        match self {
            Self::Params(_) | Self::Ending(_) | Self::Book(BookError::TooFew { .. }) => Exit::BadInput,
            Self::Book(BookError::Cancelled(_)) => Exit::Interrupted,
            Self::Book(BookError::Judge(_)) => Exit::Failed,
            Self::Write { source, .. } => Exit::of_writing(source),
        }
    }
}

impl Command for OpeningsArgs {
    const NAME: &'static str = "openings";
    const ABOUT: &'static str =
        "Make a book of random openings that shallow searches, and a net or an engine, find balanced";

    fn run(&self, program: &Program) -> Result<Exit, Failure> {
        let process = program.start(LevelFilter::Info)?;
        let judge = self.judge();
        let amount = Amount { unit: "openings", done: 0, total: self.count.into() };
        let progress =
            StepProgress::new(&process.console, &process.interrupt, "openings", None, amount, None);
        let written = judge.and_then(|judge| Ok(self.write(judge.as_ref(), &progress)?));
        progress.close();
        program.console.result(&written?);
        Ok(Exit::Done)
    }
}

impl OpeningsArgs {
    /// Writes the book and says what was written.
    fn write(&self, judge: Option<&Judge>, observer: &dyn Observer) -> Result<String, OpeningsError> {
        let params = self.params()?;
        if self.out.extension().is_none_or(|ending| ending != "epd") {
            return Err(OpeningsError::Ending(self.out.clone()));
        }
        let seed = Seed { run: self.seed, step: 0 };
        let make = judge.map(|judge| || judge.make());
        let make = make.as_ref().map(|make| make as &MakeJudge<'_>);
        let book = generate_book(&params, seed, cores(), make, observer)?;
        let content: String = book.iter().map(|epd| format!("{epd}\n")).collect();
        let written = durable::write(&self.out, content.as_bytes());
        written.map_err(|source| OpeningsError::Write { file: self.out.clone(), source })?;
        Ok(format!("wrote    {}: {}", self.out.display(), counted(book.len(), "opening")))
    }

    fn judge(&self) -> Result<Option<Judge>, Failure> {
        let Some(judge) = &self.judge else { return Ok(None) };
        let refuse = |what: String| Err(Failure::new(Exit::BadInput, what));
        match Named::of(Path::new(RUNS), judge) {
            Named::Expression | Named::Baseline => refuse(format!(
                "--judge: expected a net, or a UCI engine by its name or path, got \"{judge}\""
            )),
            Named::Engine => {
                if self.simulations.is_some() {
                    return refuse(format!(
                        "--simulations is for nets, and \"{judge}\" is none; give --nodes"
                    ));
                }
                let options = self.options.iter().map(|option| engine_option(option));
                let options = options.collect::<Result<_, _>>()?;
                let nodes = Value::Int(self.nodes.unwrap_or(10_000) as i64);
                let given = Value::of([("nodes", nodes), ("options", Value::Group(options))]);
                let params = read::<UciParams>("openings", &given)?;
                Ok(Some(Judge::Engine(Opponent::uci(judge, &params, true)?)))
            }
            Named::Network => {
                if self.nodes.is_some() || !self.options.is_empty() {
                    return refuse(format!(
                        "--nodes and --option are for UCI engines, and \"{judge}\" is a net; give --simulations"
                    ));
                }
                let net = named(judge)?.net;
                let simulations = Value::Int(self.simulations.unwrap_or(64).into());
                let search = read::<SearchParams>("openings", &Value::of([("simulations", simulations)]))?;
                let search = Box::new(search);
                // The precision that rounds alike on all machines, so that equal arguments give equal files.
                let precision = Precision::F32;
                let request =
                    BackendRequest { backend: Backend::Torch, device: "cpu", precision, onnxruntime: None };
                let failed = |cause: BackendError| Failure::new(Exit::Failed, chain(&cause));
                let choice = request.resolve(None).map_err(failed)?;
                let evaluators = Evaluators::new(&choice, None).map_err(failed)?;
                Ok(Some(Judge::Net { evaluators, net, search }))
            }
        }
    }

    fn params(&self) -> Result<RandomBookParams, ParamErrors> {
        let given = [
            ("count", self.count),
            ("plies", self.plies),
            ("depth", self.depth),
            ("max_score", self.max_score),
        ];
        let given = given.map(|(name, number)| (name.to_owned(), Value::Int(number.into())));
        let start = ("start".to_owned(), Value::Text(self.start.clone()));
        read("openings", &Value::Group(given.into_iter().chain([start]).collect()))
    }
}
