//! `dc0-run bench calibrate`: measures how long steps take on this machine, for the time estimates of `--check`. A new process runs
//! a minimal step of every kind; then this process does the same again, warm, and nets play and train for some seconds.

mod measurements;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

use dc0_core::durable;

use super::BenchError;
use dc0_backend::lanes_on;
use dc0_process::clock::Stopwatch;
use dc0_process::console::Console;
use dc0_process::format::amount;
use dc0_process::interrupt::Interrupt;
use dc0_process::logging::LogFile;
use dc0_runs::ScriptRecord;
use dc0_runs::declared::Declaration;
use dc0_runs::sources::Sources;
use dc0_script::engine::EngineHooks;
use dc0_script::limits::MAX_OPERATIONS;
use dc0_script::report;
use dc0_script::script_run::ScriptRun;
use dc0_steps::speeds::Speeds;
use dc0_steps::{RunOptions, Runner};
use measurements::Observed;

/// A step of every kind with the least possible work.
const TINY: &str = r#"
fn tiny(run) {
    let search = #{ simulations: 2 };
    let net = run.network(#{ tower: #{ blocks: 1, filters: 8 }, value_head: #{ filters: 2, hidden: 8 } });
    run.self_play(net, #{ games: 2, shard_games: 2, search: search, max_plies: 2 });
    let next = run.train(net, run.window(#{ iterations: 1 }), #{ updates: 1, batch: 4, validation_fraction: 0.0 });
    run.arena(next, net, #{ games: 2, search: search, opening_plies: 0, max_plies: 2 });
    run.search(net, ["startpos"], #{ search: search });
    run.grow(net, #{ filters: 16 });
    net
}
"#;

/// What a new process runs.
const COLD: &str = r#"tiny(open_run("cold"));"#;

/// What is measured in a warm process; every lane gets the same number of shards. A note labels the steps after it.
const WARM: &str = r#"
let p = params(#{ lanes: 1 });
let run = open_run("warm");
let search = #{ simulations: 32 };
for time in 0..3 {
    run.note("tiny");
    let net = tiny(run);
    run.note("shards");
    run.self_play(net, #{ games: 16 * p.lanes, shard_games: 2, search: #{ simulations: 2 }, max_plies: 2 });
    run.note("unread");
    run.self_play(net, #{ games: 128, shard_games: 64, search: #{ simulations: 2 }, max_plies: 100 });
    run.note("read");
    run.train(net, run.window(#{ iterations: 1 }), #{ updates: 1, batch: 4, validation_fraction: 0.0 });
}
for time in 0..2 {
    for size in [#{ name: "dc0-2x32", plies: 48, updates: 64 }, #{ name: "dc0-4x64", plies: 16, updates: 24 }] {
        let name = size.name;
        let net = run.network(network_preset(name));
        run.note(`${name} in large batches`);
        run.self_play(net, #{ games: 32 * p.lanes, shard_games: 32, search: search, max_plies: size.plies });
        run.train(net, run.window(#{ iterations: 1 }), #{ updates: size.updates, batch: 128, validation_fraction: 0.0 });
        if name == "dc0-2x32" {
            run.note("dc0-2x32 in small batches");
            run.self_play(net, #{ games: 2 * p.lanes, shard_games: 2, search: search, max_plies: 40 });
            run.train(net, run.window(#{ iterations: 1 }), #{ updates: 32, batch: 8, validation_fraction: 0.0 });
        }
    }
}
"#;

/// How many new processes are started; the fastest counts.
const STARTS: u32 = 3;

/// Measures this machine, and stores the result.
pub(super) fn measure(console: &Arc<Console>) -> Result<(), BenchError> {
    let folder = std::env::temp_dir().join(format!("dc0-calibrate-{}", std::process::id()));
    let measured = measure_in(&folder, console);
    let removed = std::fs::remove_dir_all(&folder);
    let speeds = measured.map_err(|message| BenchError::Calibrate { message })?;
    if let Err(cause) = removed {
        log::warn!("{} could not be removed: {cause}", folder.display());
    }
    let kept = speeds.keep().map_err(|cause| BenchError::Calibrate { message: cause.to_string() })?;
    let (steps, Speeds { start, playing, training, .. }) = (speeds.step.len() as f64, &speeds);
    let (playing, training) = (playing.of_one(32.0, 1e7), training.of_one(128.0, 3e7));
    console.result(&format!(
        "a net of 10 MFLOP: {} evaluations a second and lane, {} samples of training a second; \
         {start:.2} s to start, {:.3} s for a step besides its work; kept in {}",
        amount(1.0 / playing),
        amount(1.0 / training),
        speeds.step.values().sum::<f64>() / steps.max(1.0),
        kept.display()
    ));
    Ok(())
}

fn measure_in(folder: &Path, console: &Arc<Console>) -> Result<Speeds, String> {
    let cold: Vec<(f64, Observed)> = (0..STARTS)
        .map(|number| {
            let parent = folder.join(format!("start-{number}"));
            let seconds = start(&parent)?;
            Ok((seconds, Observed::read(&parent, "cold")?))
        })
        .collect::<Result<_, String>>()?;
    let lanes = lanes_on(&dc0_backend::devices("auto").map_err(|error| error.to_string())?);
    run_warm(folder, lanes, console)?;
    measurements::speeds(&cold, &Observed::read(folder, "warm")?, lanes)
}

/// Runs a new process that does next to nothing; its seconds.
fn start(parent: &Path) -> Result<f64, String> {
    let io = |cause: std::io::Error| cause.to_string();
    std::fs::create_dir_all(parent).map_err(io)?;
    let script = parent.join("cold.rhai");
    std::fs::write(&script, format!("{TINY}{COLD}")).map_err(io)?;
    let program = std::env::current_exe().map_err(io)?;
    let watch = Stopwatch::start();
    let mut command = Command::new(program);
    command.arg(&script).arg("--out").arg(parent).stdin(Stdio::null());
    let ended = command.output().map_err(io)?;
    let seconds = watch.elapsed().as_secs_f64();
    if ended.status.success() {
        Ok(seconds)
    } else {
        Err(String::from_utf8_lossy(&ended.stderr).into_owned())
    }
}

/// Runs the warm measurements in this process.
fn run_warm(folder: &Path, lanes: u32, console: &Arc<Console>) -> Result<(), String> {
    let text = format!("{TINY}{WARM}");
    let (sources, path) = (Arc::new(Sources::default()), PathBuf::from("warm.rhai"));
    sources.keep("warm.rhai", &text);
    let declaration = Arc::new(Declaration::new(vec![format!("lanes={lanes}").parse().expect("name=value")]));
    let options = RunOptions::below(folder.to_owned());
    let script = ScriptRecord {
        file: "warm.rhai".to_owned(),
        blake3: durable::digest(text.as_bytes()),
        text: text.clone(),
    };
    let (interrupt, log_file) = (Interrupt::default(), LogFile::default());
    let runner =
        Runner::new(options, script, Arc::clone(&declaration), Arc::clone(console), interrupt, log_file);
    let surroundings = EngineHooks {
        sources: Arc::clone(&sources),
        print: Box::new(|_| {}),
        debug: Box::new(|_| {}),
        is_stopped: Box::new(|| false),
        operations: MAX_OPERATIONS,
    };
    let script_run =
        ScriptRun { path: &path, folder: None, text: &text, host: Arc::new(runner), declaration };
    script_run.run(surroundings).map(|_| ()).map_err(|failure| report::render(&failure, &sources))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{COLD, TINY, WARM};
    use dc0_script::plans::ScriptToPlan;
    use dc0_steps::RunOptions;

    #[test]
    fn calibration_scripts_pass_a_check() {
        for script in [COLD, WARM] {
            let (path, text) = (Path::new("calibrate.rhai"), format!("{TINY}{script}"));
            let options = RunOptions { device: Some("cpu".to_owned()), ..RunOptions::below("nowhere") };
            assert_eq!(ScriptToPlan::new(path, &text, options).plan().error(), None);
        }
    }
}
