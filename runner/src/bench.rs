//! `dc0-run bench`: the speed of the search without a net, and its signature.

use std::time::Duration;

use dc0_core::board::{Game, Rules, random_opening};
use dc0_core::encoding::{Encoding, EncodingName, Orientation};
use dc0_core::network::fake::{Hashed, Uniform};
use dc0_core::network::{Evaluator, EvaluatorError};
use dc0_core::rng::{Purpose, Seed};
use dc0_core::search::reference::Reference;
use dc0_core::search::suite::{search_in_lockstep, signature};
use dc0_core::search::{Search, SearchParams};

use crate::cli::BenchArgs;
use crate::clock::Stopwatch;
use crate::exit::Exit;
use crate::progress::Console;
use crate::steps::cores;

const RULES: Rules = Rules { max_plies: 512 };

/// Measures and shows a table on stdout. Its last line has the form that match servers read: the signature as nodes, and the
/// simulations of one lane a second.
pub fn bench(args: &BenchArgs, console: &Console) -> Exit {
    match measure(args, console) {
        Ok(()) => Exit::Done,
        Err(cause) => {
            console.note(&format!("error: {cause}"));
            Exit::Failed
        }
    }
}

fn measure(args: &BenchArgs, console: &Console) -> Result<(), EvaluatorError> {
    let signature = signature()?;
    let lanes = args.lanes.unwrap_or_else(cores);
    let (games, simulations) = (args.games, args.simulations);
    console.result(&format!("{games} games side by side in a lane, {simulations} simulations each, no net"));
    console.result("engine     evaluator  lanes  simulations/s  bytes a position  bytes a move");
    let mut one_lane = 0.0;
    for kind in [Kind::Uniform, Kind::Hashed] {
        for lanes in if lanes > 1 { vec![1, lanes] } else { vec![1] } {
            let speed = in_lanes(args, kind, lanes)?;
            let [position, each_move] = memory(args, kind)?;
            let name = kind.name();
            console.result(&format!(
                "fast       {name:9}  {lanes:5}  {speed:13.0}  {position:16.1}  {each_move:12.1}"
            ));
            one_lane = if lanes == 1 { speed } else { one_lane };
        }
    }
    let speed = of_reference(args)?;
    console.result(&format!("reference  hashed         1  {speed:13.0}"));
    console.result(&format!("{signature} nodes {one_lane:.0} nps"));
    Ok(())
}

/// An evaluator that costs next to nothing.
#[derive(Debug, Clone, Copy)]
enum Kind {
    Uniform,
    Hashed,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Self::Uniform => "uniform",
            Self::Hashed => "hashed",
        }
    }

    fn make(self) -> Box<dyn Evaluator> {
        let encoding = Encoding::new(EncodingName::Dc0, Orientation::SideToMove);
        match self {
            Self::Uniform => Box::new(Uniform::new(encoding)),
            Self::Hashed => Box::new(Hashed::new(encoding, 1)),
        }
    }
}

/// Positions from the opening to deep in random games.
fn games(count: u32) -> impl Iterator<Item = Game> {
    (0..count).map(|number| {
        let mut stream = Seed { run: 1, step: 1 }.stream(number.into(), Purpose::Opening);
        random_opening(number % 80, &RULES, &mut stream)
    })
}

fn params(args: &BenchArgs) -> SearchParams {
    SearchParams { simulations: args.simulations, ..SearchParams::default() }
}

fn searched(args: &BenchArgs, kind: Kind) -> Result<Vec<Search>, EvaluatorError> {
    let mut searches: Vec<Search> =
        games(args.games).map(|game| Search::new(game, RULES, params(args))).collect();
    search_in_lockstep(&mut searches, &mut *kind.make(), &mut |_| Ok(()))?;
    Ok(searches)
}

/// Simulations a second of some lanes together.
fn in_lanes(args: &BenchArgs, kind: Kind, lanes: u32) -> Result<f64, EvaluatorError> {
    let rates = std::thread::scope(|scope| {
        let lane = || {
            rate(args, || {
                let searches = searched(args, kind)?;
                Ok(searches.iter().map(|search| u64::from(search.visits())).sum())
            })
        };
        let running: Vec<_> = (0..lanes).map(|_| scope.spawn(lane)).collect();
        let finished = running.into_iter().map(|lane| lane.join().expect("no lane panics"));
        finished.collect::<Result<Vec<f64>, EvaluatorError>>()
    });
    Ok(rates?.iter().sum())
}

fn of_reference(args: &BenchArgs) -> Result<f64, EvaluatorError> {
    let params = params(args);
    let games: Vec<Game> = games(args.games.min(8)).collect();
    rate(args, || {
        let mut visits = 0;
        for game in &games {
            let mut evaluator = Kind::Hashed.make();
            let mut search = Reference::new(game, RULES, &params, &mut *evaluator)?;
            search.run(&mut *evaluator)?;
            visits += u64::from(search.root().visits);
        }
        Ok(visits)
    })
}

/// Repeats some work for the time asked for; its amount a second.
fn rate(
    args: &BenchArgs,
    mut work: impl FnMut() -> Result<u64, EvaluatorError>,
) -> Result<f64, EvaluatorError> {
    let least = Duration::from_secs(args.seconds);
    let (watch, mut done) = (Stopwatch::start(), 0);
    loop {
        done += work()?;
        let elapsed = watch.elapsed();
        if elapsed >= least {
            return Ok(done as f64 / elapsed.as_secs_f64());
        }
    }
}

/// Bytes a position, and bytes a legal move.
fn memory(args: &BenchArgs, kind: Kind) -> Result<[f64; 2], EvaluatorError> {
    let (mut bytes, mut counts) = ([0, 0], [0, 0]);
    for search in searched(args, kind)? {
        let memory = search.memory();
        bytes = [bytes[0] + memory.node_bytes, bytes[1] + memory.move_bytes];
        counts = [counts[0] + memory.nodes, counts[1] + memory.moves];
    }
    Ok([0, 1].map(|of| bytes[of] as f64 / counts[of].max(1) as f64))
}
