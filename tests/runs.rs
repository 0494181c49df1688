//! Whole runs of the program: killed and resumed on other lanes, and with another seed.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use crate::program::{dc0_run, succeed};
use dc0_core::store::{GameRow, read_table};

/// A training loop that is small enough to run a dozen times: every kind of step, several shards, several training states.
const TINY: &str = "tests/data/tiny.rhai";

fn run_tiny(out: &Path, lanes: &str) {
    succeed(dc0_run(TINY, out).args(["--lanes", lanes]));
}

/// The digests of the files of a run that must be reproducible: all but those that have times.
fn digests(run: &Path) -> BTreeMap<String, String> {
    let digest = |file: PathBuf| {
        let name = file.strip_prefix(run).expect("below the run").to_string_lossy().into_owned();
        (name, blake3::hash(&fs::read(&file).expect("a stored file")).to_hex().to_string())
    };
    let mut digests: BTreeMap<_, _> = files_below(run).into_iter().map(digest).collect();
    digests.retain(|name, _| {
        !["journal.jsonl", "run.log", "run.lock", "costs.parquet"].contains(&name.as_str())
    });
    digests
}

fn files_below(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let paths = entries.map(|entry| entry.expect("an entry").path());
    paths.flat_map(|path| if path.is_dir() { files_below(&path) } else { vec![path] }).collect()
}

#[test]
fn a_run_killed_at_any_time_resumes_to_the_same_bytes_on_any_lanes() {
    let whole = tempfile::tempdir().expect("a folder");
    run_tiny(whole.path(), "3");
    let expected = digests(&whole.path().join("tiny"));
    assert!(expected.keys().any(|name| name.starts_with("games/")), "{expected:?}");
    assert!(expected.keys().any(|name| name.starts_with("networks/")), "{expected:?}");

    let killed = tempfile::tempdir().expect("a folder");
    let mut kills = 0;
    // Each attempt is killed a little later than the one before, so that every kind of step is hit.
    for attempt in 1..=200u32 {
        let mut child = dc0_run(TINY, killed.path())
            .args(["--lanes", "1"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("the program starts");
        std::thread::sleep(Duration::from_millis(150 + 37 * u64::from(attempt)));
        if child.try_wait().expect("its state").is_some() {
            break;
        }
        child.kill().expect("SIGKILL");
        child.wait().expect("it ends");
        kills += 1;
    }
    run_tiny(killed.path(), "1");
    assert_eq!(digests(&killed.path().join("tiny")), expected);
    assert!(kills >= 10, "the run ended after only {kills} kills; make it longer");
}

/// The games of an iteration.
fn games(run: &Path, iteration: u32) -> Vec<GameRow> {
    let files = files_below(&run.join(format!("games/iteration={iteration:04}")));
    files.iter().flat_map(|file| read_table::<GameRow>(file).expect("a table of games")).collect()
}

/// The nets that played the games of an iteration.
fn players(run: &Path, iteration: u32) -> Vec<String> {
    let players: BTreeSet<String> = games(run, iteration).into_iter().map(|game| game.network).collect();
    players.into_iter().collect()
}

#[test]
fn another_seed_gives_other_games() {
    let folder = tempfile::tempdir().expect("a folder");
    let moves = |seed: &str| {
        let out = folder.path().join(seed);
        succeed(dc0_run(TINY, &out).args(["--seed", seed]));
        let mut moves: Vec<_> = games(&out.join("tiny"), 0).into_iter().map(|game| game.moves).collect();
        moves.sort();
        moves
    };
    assert_ne!(moves("1"), moves("2"));
}

#[test]
fn each_iteration_is_played_by_the_latest_promoted_net() {
    // If self-play kept using stale weights, no training curve would show it.
    let out = tempfile::tempdir().expect("a folder");
    run_tiny(out.path(), "2");
    let run = out.path().join("tiny");
    let generations = std::fs::read_to_string(run.join("generations.json")).expect("promoted nets");
    let weights = |number: u32| {
        let file = run.join(format!("networks/{number:04}.safetensors"));
        blake3::hash(&std::fs::read(file).expect("a net")).to_hex()[..16].to_owned()
    };
    let stored: Vec<String> = (0..=3).map(weights).collect();
    assert_eq!(players(&run, 0), [stored[0].clone()]);
    for iteration in 1..3u32 {
        let players = players(&run, iteration);
        assert_eq!(players.len(), 1, "one net plays an iteration");
        let number = stored.iter().position(|digest| *digest == players[0]).expect("a net of the run");
        let latest = (0..=iteration)
            .rev()
            .find(|number| *number == 0 || generations.contains(&stored[*number as usize]));
        assert_eq!(Some(number as u32), latest, "{generations}");
    }
}
