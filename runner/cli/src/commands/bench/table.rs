//! The figures of `dc0-run bench search` as text.

use super::args::BenchSearchArgs;
use super::figures::{Comparison, Engine, Scaling};

pub(super) fn lines(args: &BenchSearchArgs, comparison: &Comparison) -> Vec<String> {
    let (games, simulations) = (args.games, args.simulations);
    let mut lines = vec![
        format!(
            "No net, one lane; fast with {games} games side by side, reference one game after the other; {simulations} simulations each."
        ),
        format!(
            "Time: of {} searches of {} simulations, one after the other.",
            args.searches, args.long_simulations
        ),
        String::new(),
        "engine     evaluator  simulations/s  bytes a position  bytes a move      time".to_owned(),
    ];
    lines.extend(comparison.engines.iter().map(engine));
    lines.push(String::new());
    lines.push(format!("How fast scales with the number of lanes, of games side by side in a lane ({games} in all), and of parallel leaves of one game ({} simulations).", args.long_simulations));
    lines.push("number of  evaluator   count  simulations/s".to_owned());
    lines.extend(comparison.scaling.iter().flat_map(scaling));
    lines
}

fn engine(engine: &Engine) -> String {
    let [position, each_move] = engine.memory;
    let (name, evaluator, speed) = (engine.name, engine.evaluator, engine.speed);
    let time = engine.time.as_secs_f64();
    format!("{name:9}  {evaluator:9}  {speed:13.0}  {position:16.1}  {each_move:12.1}  {time:6.2} s")
}

fn scaling(series: &Scaling) -> Vec<String> {
    let (variable, evaluator) = (series.variable, series.evaluator);
    let line = |(count, speed): &(u32, f64)| format!("{variable:9}  {evaluator:9}  {count:6}  {speed:13.0}");
    series.points.iter().map(line).collect()
}
