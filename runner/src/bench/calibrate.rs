//! `dc0-run bench calibrate`: a small and a larger net play and train for some seconds, for the times that `--check` tells.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use dc0_core::durable;

use super::BenchError;
use crate::check::finished_steps;
use crate::host::field;
use crate::interrupt::Interrupt;
use crate::launch::Performance;
use crate::logging::LogFile;
use crate::progress::{Console, amount};
use crate::run::{Folder, Journal, Manifest, ScriptRecord};
use crate::script::declared::Declaration;
use crate::script::engine::Surroundings;
use crate::script::limits::MAX_OPERATIONS;
use crate::script::report;
use crate::script::sources::Sources;
use crate::speeds::{Measured, Speeds};
use crate::steps::{Asking, Runner, cores};

/// What is measured: games in which every core has a shard, and training on them. The first net only warms up.
const SCRIPT: &str = r#"
let p = params(#{ games: 64 });
let run = open_run("calibrate");
let search = #{ simulations: 32 };
for name in ["dc0-2x32", "dc0-2x32", "dc0-4x64"] {
    let net = run.network(network_preset(name));
    run.self_play(net, #{ games: p.games, shard_games: 32, search: search, max_plies: 12 });
    run.train(net, run.window(#{ iterations: 1 }), #{ updates: 16, batch: 128, validation_fraction: 0.0 });
}
"#;

/// Measures this machine, and keeps what came of it.
pub(super) fn measure(console: &Arc<Console>) -> Result<(), BenchError> {
    let folder = std::env::temp_dir().join(format!("dc0-calibrate-{}", std::process::id()));
    let measured = perform(&folder, console).and_then(|()| speeds(&folder.join("calibrate")));
    let removed = std::fs::remove_dir_all(&folder);
    let speeds = measured.map_err(|message| BenchError::Calibrate { message })?;
    if let Err(cause) = removed {
        log::warn!("{} is left behind: {cause}", folder.display());
    }
    let kept = speeds.keep().map_err(|cause| BenchError::Calibrate { message: cause.to_string() })?;
    let rate = |flop: f64, rest: f64, flops: f64| amount(1.0 / (rest + flop * flops));
    console.result(&format!(
        "a net of 10 MFLOP: {} evaluations and {} samples of training a second; kept in {}",
        rate(speeds.evaluation_flop, speeds.evaluation, 1e7),
        rate(speeds.sample_flop, speeds.sample, 3e7),
        kept.display()
    ));
    Ok(())
}

/// Runs the script in a folder of its own.
fn perform(folder: &Path, console: &Arc<Console>) -> Result<(), String> {
    let (sources, path) = (Arc::new(Sources::default()), PathBuf::from("calibrate.rhai"));
    sources.keep("calibrate.rhai", SCRIPT);
    let games = format!("games={}", 32 * cores());
    let declaration = Arc::new(Declaration::new(vec![games.parse().expect("name=value")]));
    let asking = Asking {
        parent: folder.to_owned(),
        seed: None,
        backend: None,
        onnxruntime: None,
        device: None,
        threads: None,
        lanes: None,
    };
    let script = ScriptRecord {
        file: "calibrate.rhai".to_owned(),
        blake3: durable::digest(SCRIPT.as_bytes()),
        text: SCRIPT.to_owned(),
    };
    let process = (Arc::clone(console), Interrupt::default(), LogFile::default());
    let runner = Runner::new(asking, script, Arc::clone(&declaration), process);
    let surroundings = Surroundings {
        sources: Arc::clone(&sources),
        print: Box::new(|_| {}),
        debug: Box::new(|_| {}),
        is_stopped: Box::new(|| false),
        operations: MAX_OPERATIONS,
    };
    let performance = Performance { path: &path, text: SCRIPT, host: Arc::new(runner), declaration };
    performance.perform(surroundings).map(|_| ()).map_err(|failure| report::render(&failure, &sources))
}

/// The speeds that a finished run shows.
fn speeds(root: &Path) -> Result<Speeds, String> {
    let parent = root.parent().unwrap_or(Path::new(""));
    let folder = Folder::of_run(parent, "calibrate").map_err(|error| error.to_string())?;
    let seconds = Journal::seconds(&folder).map_err(|error| error.to_string())?;
    let steps = finished_steps(&folder).map_err(|error| error.to_string())?;
    let number = |manifest: &Manifest, name: &str| {
        field(&manifest.summary, name).and_then(|value| value.as_f64()).unwrap_or(0.0)
    };
    // Training and games of a net follow each other, so the last of equal nets is the one that is warm.
    let (mut playing, mut training): (BTreeMap<u64, Measured>, BTreeMap<u64, Measured>) = <_>::default();
    let flops_of: BTreeMap<String, f64> = steps
        .values()
        .filter(|step| step.kind == "network")
        .filter_map(|step| Some((step.files.first()?.blake3.clone(), number(step, "flops"))))
        .collect();
    for (identity, step) in &steps {
        let Some(secs) = seconds.get(identity.short()) else { continue };
        let start = step.inputs.first().and_then(|input| flops_of.get(&input.digest));
        let (Some(&flops), kind) = (start, step.kind.as_str()) else { continue };
        let (measures, count, each) = match kind {
            "self_play" => (&mut playing, number(step, "evaluations"), flops),
            "train" => (&mut training, number(step, "samples_seen"), 3.0 * flops),
            _ => continue,
        };
        let now = Measured { flops: each, seconds: secs / count.max(1.0) };
        let best = measures.entry(flops as u64).or_insert(now);
        best.seconds = best.seconds.min(now.seconds);
    }
    let pair = |measures: &BTreeMap<u64, Measured>| -> Result<[Measured; 2], String> {
        let all: Vec<Measured> = measures.values().copied().collect();
        <[Measured; 2]>::try_from(all).map_err(|all| format!("{} nets were measured, not 2", all.len()))
    };
    Ok(Speeds::of(pair(&playing)?, pair(&training)?))
}
