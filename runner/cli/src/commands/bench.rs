//! `dc0-run bench`: measures the speed of the search without a net and with an nnue, and prints its signature.

mod args;
mod calibrate;
mod device;
mod figures;
mod memory;
mod plot;
mod table;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use dc0_core::alphabeta::{MakeStaticEvaluator, NnueEvaluation, PieceSquares, SelectivityParams};
use dc0_core::board::{Game, Rules, random_games};
use dc0_core::encoding::{Encoding, EncodingName, Orientation};
use dc0_core::network::fake::{Hashed, Uniform};
use dc0_core::network::nnue::{NnueError, NnueEvaluator, NnueNet};
use dc0_core::network::torch::TorchError;
use dc0_core::network::torch::runtime::DeviceError;
use dc0_core::network::{Evaluator, EvaluatorError, initial_weights, preset};
use dc0_core::rng::Seed;
use dc0_core::search::bench::signature;
use dc0_core::search::reference::Reference;
use dc0_core::search::{Search, SearchParams, search_in_lockstep};
use dc0_core::selfplay::SelfPlayError;
use dc0_core::trainer::TrainError;
use thiserror::Error;

pub(crate) use args::BenchArgs;
use args::{BenchAlphaBetaArgs, BenchPart, BenchSearchArgs};
use dc0_backend::cores;
use dc0_process::clock::Stopwatch;
use dc0_process::command::{Command, Failure, Program};
use dc0_process::console::Console;
use dc0_process::exit::Exit;
use dc0_process::fault::Fault;
use dc0_runs::net::{NetError, named};

const RULES: Rules = Rules { max_plies: 512 };

/// What went wrong while measuring.
#[derive(Debug, Error)]
pub(super) enum BenchError {
    #[error(transparent)]
    Evaluator(#[from] EvaluatorError),
    #[error(transparent)]
    Device(#[from] DeviceError),
    #[error("the machine could not be measured: {message}")]
    Calibrate { message: String },
    #[error(transparent)]
    Torch(#[from] TorchError),
    #[error(transparent)]
    Engine(#[from] dc0_engine::uci::BenchError),
    #[error(transparent)]
    SelfPlay(#[from] SelfPlayError),
    #[error(transparent)]
    Training(#[from] TrainError),
    #[error(transparent)]
    Checkpoint(#[from] NetError),
    /// Alpha-beta has no use for the net.
    #[error(transparent)]
    Nnue(#[from] NnueError),
    #[error("there is no net \"{name}\"; there are {}", known.join(", "))]
    Net { name: String, known: Vec<&'static str> },
    /// A device's answers differ from the CPU's.
    #[error("{net} in {precision} on {device} is wrong: {what}")]
    Wrong { net: String, precision: &'static str, device: String, what: String },
    #[error("cannot write the plot {}: {cause}; give --plot a file in a folder that you may write to", path.display())]
    Plot { path: PathBuf, cause: String },
}

impl Fault for BenchError {
    fn exit(&self) -> Exit {
        match self {
            Self::Plot { .. } => Exit::Storage,
            Self::Device(_) | Self::Net { .. } | Self::Nnue(_) => Exit::BadInput,
            Self::Checkpoint(cause) => cause.exit(),
            _ => Exit::Failed,
        }
    }
}

impl Command for BenchArgs {
    const NAME: &'static str = "bench";
    const ABOUT: &'static str =
        "Measure the tree search without a net and with an NNUE, and print its signature";

    fn run(&self, program: &Program) -> Result<Exit, Failure> {
        let console = &program.console;
        match &self.part {
            Some(BenchPart::Search(args)) => compare(args, console)?,
            Some(BenchPart::Calibrate) => calibrate::measure(console)?,
            Some(BenchPart::Alphabeta(args)) => alphabeta(args, console)?,
            Some(BenchPart::Device(args)) => device::measure(args, console)?,
            None => measure(self, console)?,
        }
        Ok(Exit::Done)
    }
}

/// Compares the engines, and shows how the fast one scales.
fn compare(args: &BenchSearchArgs, console: &Console) -> Result<(), BenchError> {
    let comparison = figures::measure(args)?;
    for line in table::lines(args, &comparison) {
        console.result(&line);
    }
    args.plot.as_deref().map_or(Ok(()), |path| plot::write(path, &comparison))
}

/// Measures the alpha-beta search: the nodes are its signature.
fn alphabeta(args: &BenchAlphaBetaArgs, console: &Console) -> Result<(), BenchError> {
    let net = args.net.as_deref().map(|net| -> Result<_, BenchError> {
        let net = named(net)?.net;
        Ok(NnueNet::shared(&net.spec, &net.weights)?)
    });
    let net = net.transpose()?;
    let make: &MakeStaticEvaluator<'_> = match &net {
        Some(net) => &|| Box::new(NnueEvaluation::new(Arc::clone(net))),
        None => &|| Box::<PieceSquares>::default(),
    };
    let measured = dc0_engine::uci::alphabeta_bench(args.depth, &SelectivityParams::default(), make);
    let measured = measured.map_err(EvaluatorError::from)?;
    console.result(&measured);
    Ok(())
}

/// Measures and prints a table. Its last line has the form that match servers parse: the signature as nodes, and the engine's
/// simulations per second with its own net.
fn measure(args: &BenchArgs, console: &Console) -> Result<(), BenchError> {
    let lanes = args.lanes.unwrap_or_else(cores);
    let load = Load::new(args.games, args.simulations, args.seconds);
    let (games, simulations) = (args.games, args.simulations);
    let nnue = nnue();
    console.result(&format!("{games} games side by side in a lane, {simulations} simulations each"));
    console.result("engine     evaluator  lanes  simulations/s  bytes a position  bytes a move");
    for kind in Kind::FAKES.into_iter().chain([Kind::Nnue(&nnue)]) {
        for lanes in if lanes > 1 { vec![1, lanes] } else { vec![1] } {
            let speed = in_lanes(&load, kind, lanes)?;
            let [position, each_move] = memory::of_fast_search(&load, kind)?;
            let name = kind.name();
            console.result(&format!(
                "fast       {name:9}  {lanes:5}  {speed:13.0}  {position:16.1}  {each_move:12.1}"
            ));
        }
    }
    let speed = reference_speed(&load, Kind::Hashed)?;
    console.result(&format!("reference  hashed         1  {speed:13.0}"));
    console.result(&format!("signature {}", signature()?));
    console.result(&dc0_engine::uci::bench()?);
    Ok(())
}

/// What is searched, and for how long.
#[derive(Debug, Clone, Copy)]
struct Load {
    /// Games per lane.
    games: u32,
    /// How many of them share a batch.
    side_by_side: u32,
    simulations: u32,
    /// Parallel leaves of one tree.
    leaves: u32,
    /// The least time that a figure is measured for.
    least: Duration,
}

impl Load {
    fn new(games: u32, simulations: u32, seconds: u64) -> Self {
        Self { games, side_by_side: games, simulations, leaves: 1, least: Duration::from_secs(seconds) }
    }

    fn params(&self) -> SearchParams {
        SearchParams { simulations: self.simulations, leaf_batch: self.leaves, ..SearchParams::default() }
    }
}

/// An evaluator that costs next to nothing, or little.
#[derive(Debug, Clone, Copy)]
enum Kind<'a> {
    Uniform,
    Hashed,
    Nnue(&'a Arc<NnueNet>),
}

/// The net of [`Kind::Nnue`], which gets random weights.
const NNUE: &str = "nnue-256";

fn nnue() -> Arc<NnueNet> {
    let spec = preset(NNUE).expect("a preset").spec;
    let weights = initial_weights(&spec, Seed { run: 1, step: 0 });
    Arc::new(NnueNet::new(&spec, &weights).expect("random weights are small"))
}

impl Kind<'_> {
    const FAKES: [Self; 2] = [Self::Uniform, Self::Hashed];

    fn name(self) -> &'static str {
        match self {
            Self::Uniform => "uniform",
            Self::Hashed => "hashed",
            Self::Nnue(_) => NNUE,
        }
    }

    fn make(self) -> Box<dyn Evaluator> {
        let encoding = Encoding::new(EncodingName::Dc0, Orientation::SideToMove);
        match self {
            Self::Uniform => Box::new(Uniform::new(encoding)),
            Self::Hashed => Box::new(Hashed::new(encoding, 1)),
            Self::Nnue(net) => Box::new(NnueEvaluator::new(Arc::clone(net))),
        }
    }
}

/// Games of 0 to 79 random plies.
fn games(count: u32) -> impl Iterator<Item = Game> {
    random_games(Seed { run: 1, step: 1 }, 80).take(count as usize)
}

/// Searches games in lockstep.
fn search_games(load: &Load, kind: Kind<'_>, games: &[Game]) -> Result<Vec<Search>, EvaluatorError> {
    let new = |game: &Game| Search::new(game.clone(), RULES, load.params());
    let mut searches = games.iter().map(new).collect::<Result<Vec<Search>, _>>()?;
    search_in_lockstep(&mut searches, &mut *kind.make(), &mut |_| Ok::<_, EvaluatorError>(()))?;
    Ok(searches)
}

/// Simulations per second of all lanes together.
fn in_lanes(load: &Load, kind: Kind<'_>, lanes: u32) -> Result<f64, EvaluatorError> {
    all_lanes(lanes, || {
        let games: Vec<Game> = games(load.games).collect();
        rate(load.least, || {
            let mut visits = 0;
            for group in games.chunks(load.side_by_side as usize) {
                let searches = search_games(load, kind, group)?;
                visits += searches.iter().map(|search| u64::from(search.visits())).sum::<u64>();
            }
            Ok(visits)
        })
    })
}

/// The sum of the rates of lanes that run at once.
fn all_lanes(
    lanes: u32,
    lane: impl Fn() -> Result<f64, EvaluatorError> + Sync,
) -> Result<f64, EvaluatorError> {
    std::thread::scope(|scope| {
        let running: Vec<_> = (0..lanes).map(|_| scope.spawn(&lane)).collect();
        running.into_iter().map(|lane| lane.join().expect("no lane panics")).sum()
    })
}

/// Simulations per second of the reference search, one game after the other.
fn reference_speed(load: &Load, kind: Kind<'_>) -> Result<f64, EvaluatorError> {
    let params = load.params();
    let games: Vec<Game> = games(load.games).collect();
    rate(load.least, || {
        let mut visits = 0;
        for game in &games {
            visits += u64::from(reference_search(game, &params, kind)?.root().visits);
        }
        Ok(visits)
    })
}

fn reference_search<'a>(
    game: &Game,
    params: &'a SearchParams,
    kind: Kind<'_>,
) -> Result<Reference<'a>, EvaluatorError> {
    let mut evaluator = kind.make();
    let mut search = Reference::new(game, params, &mut *evaluator)?;
    search.run(&mut *evaluator)?;
    Ok(search)
}

/// Repeats some work for the least time; the amount of work per second.
fn rate<E>(least: Duration, mut work: impl FnMut() -> Result<u64, E>) -> Result<f64, E> {
    let (watch, mut done) = (Stopwatch::start(), 0);
    loop {
        done += work()?;
        let elapsed = watch.elapsed();
        if elapsed >= least {
            return Ok(done as f64 / elapsed.as_secs_f64());
        }
    }
}
