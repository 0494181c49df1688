//! Programs at the broker that mean harm: forged games, malformed messages, damaged files. Each is refused and named, and the run has
//! the same bytes as without them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use dc0_core::board::Move;
use dc0_core::selfplay::{GameRow, PositionRow, SelfPlayStats};
use dc0_core::store::{Provenance, encode_table, read_table};
use serde_json::{Value, json};

use crate::fleet::{Broker, FIXED, Process, digests, expected, local, wait_for};
use crate::net_fixtures::onnx_library;
use crate::program::{PROGRAM, root};
use crate::{interop_command, stdout_of};

/// What the script that means harm prints.
pub(crate) fn forge(broker: &Broker, arguments: &[&str]) -> String {
    let printed = stdout_of(interop_command("forge_result.py").arg(broker.url()).args(arguments));
    printed.trim().to_owned()
}

/// A shard of the first self-play of a run.
struct Shard {
    index: u32,
    games: Vec<GameRow>,
    positions: Vec<PositionRow>,
    provenance: Provenance,
}

impl Shard {
    /// Reads a shard. Its rows and provenance give the bytes that are stored.
    fn read(out: &Path, index: u32) -> Self {
        let run = out.join("fleet");
        let mut manifests: Vec<PathBuf> = fs::read_dir(run.join("steps"))
            .expect("steps")
            .map(|entry| entry.expect("an entry").path())
            .collect();
        manifests.sort();
        let is_self_play = |path: &&PathBuf| path.display().to_string().contains("self_play");
        let manifest = fs::read(manifests.iter().find(is_self_play).expect("self-play")).expect("a manifest");
        let manifest: Value = serde_json::from_slice(&manifest).expect("a manifest");
        let step = manifest["step"].as_str().expect("an identity");
        let path =
            |table: &str| run.join(format!("{table}/iteration=0000/part-{}-{index:05}.parquet", &step[..8]));
        let games: Vec<GameRow> = read_table(&path("games")).expect("games");
        let positions = read_table(&path("positions")).expect("positions");
        let network = games[0].network.clone();
        let seed = manifest["seed"].as_u64().map_or_else(|| "5".to_owned(), |seed| seed.to_string());
        let pairs =
            [("step", step.to_owned()), ("seed", seed), ("network", network), ("shard", index.to_string())];
        let provenance = pairs.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        let shard = Self { index, games, positions, provenance };
        assert!(shard.tables()[0] == fs::read(path("games")).expect("games"), "the provenance differs");
        shard
    }

    fn tables(&self) -> [Vec<u8>; 2] {
        let path = Path::new("table");
        [
            encode_table(&self.games, path, &self.provenance).expect("sound rows"),
            encode_table(&self.positions, path, &self.provenance).expect("sound rows"),
        ]
    }

    /// The message with which a worker hands it in.
    fn message(&self, worker: &str) -> Vec<u8> {
        let mut figures = SelfPlayStats::default();
        let mut rest = self.positions.as_slice();
        for game in &self.games {
            let (own, others) = rest.split_at(rest.partition_point(|position| position.game <= game.game));
            figures.add_game(game, own);
            rest = others;
        }
        let [games, positions] = self.tables();
        let table = |name: &str, content: &[u8]| json!({ "name": name, "bytes": content.len(), "blake3": blake3::hash(content).to_hex().to_string() });
        let tables = [table("games", &games), table("positions", &positions)];
        let shard = json!({ "index": self.index, "spent": { "secs": 0.5, "nets": {} }, "tables": tables, "figures": figures, "object": null });
        let head = json!({ "format": 3, "worker": worker, "shards": [shard] }).to_string();
        [&(head.len() as u32).to_le_bytes()[..], head.as_bytes(), &games, &positions].concat()
    }
}

#[test]
fn forged_games_are_refused_and_their_workers_named() {
    let honest = tempfile::tempdir().expect("temporary folder");
    local(honest.path(), &[]);
    let mut forged = Vec::new();
    let mut forge_shard = |worker: &'static str, index: u32, change: &dyn Fn(&mut Shard)| {
        let mut shard = Shard::read(honest.path(), index);
        change(&mut shard);
        forged.push((worker, shard.message(worker)));
    };
    forge_shard("illegal", 0, &|shard| {
        let last = shard.games[0].moves.len() - 1;
        shard.games[0].moves[last] = Move::from_uci("a1h8").expect("a move").packed();
    });
    forge_shard("inventor", 1, &|shard| shard.positions[0].visits[0] += 1000);
    forge_shard("other-seed", 2, &|shard| {
        let other = Shard::read(honest.path(), 9);
        shard
            .games
            .iter_mut()
            .zip(other.games)
            .for_each(|(own, other)| *own = GameRow { game: own.game, ..other });
        let first = other.positions[0].game - shard.games[0].game;
        shard.positions = other.positions;
        shard.positions.iter_mut().for_each(|row| row.game -= first);
    });
    // Every rule is obeyed, but no search of this net has these visits.
    forge_shard("within-rules", 3, &|shard| {
        let row =
            shard.positions.iter_mut().find(|row| row.visits.iter().any(|visits| *visits != row.visits[0]));
        let row = row.expect("visits that differ");
        let other = row.visits.iter().position(|visits| *visits != row.visits[0]).expect("found");
        row.visits.swap(0, other);
        row.target.swap(0, other);
    });
    let mut broker = Broker::start();
    let out = tempfile::tempdir().expect("temporary folder");
    let mut coordinator = broker.coordinator(out.path(), &["--recheck", "0.1"]);
    let channel = forge(&broker, &["channel"]);
    for (worker, message) in &forged {
        let path = broker.path(worker);
        fs::write(&path, message).expect("writes");
        forge(&broker, &["send", &channel, &path.display().to_string()]);
        wait_for("the refusal", || coordinator.printed().contains(&format!("worker {worker} is put aside")));
    }
    let printed = coordinator.printed();
    for cause in [
        "not legal",
        "`visits` sum to",
        "its opening is not the one that the seed gives it",
        "done again here",
    ] {
        assert!(printed.contains(cause), "{cause}: {printed}");
    }
    let _workers = [broker.worker(), broker.worker()];
    assert_eq!(coordinator.end(), Some(0), "{}", coordinator.printed());
    assert_eq!(digests(out.path()), digests(honest.path()));
    let log = fs::read_to_string(out.path().join("fleet/run.log")).expect("the run's log");
    assert!(log.contains("was done again here, with the same bytes"), "{log}");
}

#[test]
fn malformed_enormous_and_old_messages_harm_nobody() {
    let mut broker = Broker::start();
    let out = tempfile::tempdir().expect("temporary folder");
    let mut coordinator = broker.coordinator(out.path(), &[]);
    let channel = forge(&broker, &["channel"]);
    forge(&broker, &["disturb", &channel]);
    for refusal in [
        "worker elder is of another version: its format is 1",
        "worker chatty: it has 70 shards",
        "worker giant is put aside",
        "worker liar is put aside",
        "a report of a failure is left out",
    ] {
        wait_for("the refusal", || coordinator.printed().contains(refusal));
    }
    assert!(!coordinator.printed().contains("stranger"), "{}", coordinator.printed());
    let workers = [broker.worker(), broker.worker()];
    assert_eq!(coordinator.end(), Some(0), "{}", coordinator.printed());
    assert_eq!(digests(out.path()), expected(&[]));
    let dropped =
        workers.iter().map(|worker| worker.printed().matches("it is dropped").count()).sum::<usize>();
    assert_eq!(dropped, 3, "{}", workers[0].printed());
}

#[test]
fn damaged_files_at_the_broker_are_stored_again() {
    let mut broker = Broker::start();
    let out = tempfile::tempdir().expect("temporary folder");
    let mut coordinator = broker.coordinator(out.path(), &[]);
    forge(&broker, &["channel"]);
    let files: u32 = forge(&broker, &["damage"]).parse().expect("a number");
    assert_eq!(files, 3, "a job, weights and a manifest");
    let _workers = [broker.worker(), broker.worker()];
    assert_eq!(coordinator.end(), Some(0), "{}", coordinator.printed());
    assert!(
        coordinator.printed().contains("could not have a file, which is stored again"),
        "{}",
        coordinator.printed()
    );
    assert_eq!(digests(out.path()), expected(&[]));
}

#[test]
fn a_task_that_ends_every_worker_ends_the_step() {
    let broker = Broker::start();
    let out = tempfile::tempdir().expect("temporary folder");
    let mut coordinator = broker.coordinator(out.path(), &[]);
    forge(&broker, &["exhaust"]);
    assert_eq!(coordinator.end(), Some(1), "{}", coordinator.printed());
    let cause = "it was delivered 4 times, and each worker that took it ended without a word";
    assert!(coordinator.printed().contains(cause), "{}", coordinator.printed());
}

#[test]
fn a_shard_that_no_worker_can_do_ends_the_step_with_the_last_error() {
    let mut broker = Broker::start();
    broker.worker_options = ["--onnxruntime", "/nowhere"].map(str::to_owned).to_vec();
    let workers = [broker.worker(), broker.worker()];
    let out = tempfile::tempdir().expect("temporary folder");
    let mut command = Command::new(PROGRAM);
    command.arg(root().join("tests/data/join.rhai")).args(FIXED).args(["--backend", "onnx", "--onnxruntime"]);
    command.arg(onnx_library().path()).args(["--workers", &broker.url(), "--out"]).arg(out.path());
    let mut coordinator = Process::start(&mut command, broker.path("coordinator.log"));
    assert_eq!(coordinator.end(), Some(1), "{}", coordinator.printed());
    let printed = coordinator.printed();
    assert!(printed.contains("no worker could do shard") && printed.contains("/nowhere"), "{printed}");
    let failed = |worker: &Process| worker.printed().contains("failed here, at delivery");
    assert!(workers.iter().any(failed), "{}", workers[0].printed());
}
