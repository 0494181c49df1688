//! `dc0-run import`: datasets from PGN files, what is refused, kills, planted corruptions, and training on datasets.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use dc0_compare::verify::verify;
use dc0_core::board::{GameResult, PgnRoster, PgnWriter, Rules, random_opening};
use dc0_core::rng::{Purpose, Seed};
use dc0_core::store::{
    GameRow, HeaderRow, PositionRow, Provenance, RejectRow, TableRow, read_table, write_table,
};
use dc0_runs::{Folder, FolderKind, Manifest};

use crate::experiment::{
    Ended, Experiment, copy_folder, files_below, flip, is_reached, piped, results_below, rewrite_journal,
    wait_for,
};
use crate::verify::check_flips;

/// Random games with results, and a broken one after each ten.
fn games(count: u64) -> String {
    let mut text = String::new();
    for number in 0..count {
        let mut stream = Seed { run: 4, step: 0 }.stream(number, Purpose::Opening);
        let game = random_opening(30 + number as u32 % 20, &Rules { max_plies: 512 }, &mut stream);
        let result = [GameResult::WhiteWins, GameResult::Draw, GameResult::BlackWins][number as usize % 3];
        let (event, round) = ("random".to_owned(), "-".to_owned());
        let (white, black) = (format!("w{number}"), "b".to_owned());
        let roster = PgnRoster { event, date: None, round, white, black, result: Some(result) };
        let mut writer = PgnWriter::new(&roster, game.start());
        writer.tag("WhiteElo", &(1000 + number).to_string());
        writer.tag("BlackElo", "1500");
        for (ply, (before, mv)) in game.positions().zip(game.moves()).enumerate() {
            writer.play(before, *mv, (ply % 5 == 0).then_some("[%eval 0.31] [%clk 0:01:00]"));
        }
        text += &writer.finish();
        text += "\n";
        if number % 10 == 9 {
            text += "[Event \"broken\"]\n\n1. e4 e4 1-0\n\n";
        }
    }
    text
}

fn with_games(count: u64) -> Experiment {
    let experiment = Experiment::new("");
    fs::write(experiment.folder.path().join("games.pgn"), games(count)).expect("writes");
    experiment
}

const IMPORT: [&str; 7] = ["import", "pgn", "games.pgn", "--out", "datasets/d", "--shard-games", "20"];

fn imported(count: u64) -> (Experiment, PathBuf) {
    let experiment = with_games(count);
    experiment.command_ends(&IMPORT, 0);
    let root = experiment.folder.path().join("datasets/d");
    (experiment, root)
}

#[test]
fn a_dataset_is_queried_verified_reported_and_exported_like_a_run() {
    let (experiment, root) = imported(60);
    let again = experiment.command_ends(&IMPORT, 0);
    assert!(
        again.stderr.contains("60 games of 66 read, ") && again.stderr.contains("done before"),
        "{}",
        again.stderr
    );
    assert!(again.stderr.contains("6 broken (illegal_move 6)"), "{}", again.stderr);
    let card = fs::read_to_string(root.join("README.md")).expect("a page");
    assert!(
        card.starts_with("---\nlicense: unknown\npretty_name: d\n") && card.contains("1K<n<10K"),
        "{card}"
    );

    let verified = experiment.command_ends(&["verify", "datasets/d"], 0);
    assert!(verified.stdout.contains("d: whole; 1 finished step with"), "{}", verified.stdout);
    assert!(verified.stdout.contains("60 games and "), "{}", verified.stdout);
    let query = "select count(*) as games, min(white_elo) as least, sum(len(moves)) as plies, max(len(clocks)) as clocks \
        from games join headers using (run, iteration, game)";
    let rows = experiment.command_ends(&["sql", "datasets/d", query, "--format", "csv"], 0);
    assert!(rows.stdout.contains("60,1000,"), "{}", rows.stdout);
    let rejects = experiment.command_ends(
        &["sql", "datasets/d", "select number, line, reason from rejects order by all", "--format", "csv"],
        0,
    );
    assert!(rejects.stdout.contains("11,") && rejects.stdout.contains("illegal_move"), "{}", rejects.stdout);
    experiment.command_ends(&["report", "datasets/d", "--out", "report.html"], 0);
    let page = fs::read_to_string(experiment.folder.path().join("report.html")).expect("a page");
    assert!(page.contains("imported"), "the report says that the games were imported");

    let shown = experiment.command_ends(&["replay", "datasets/d", "0:7"], 0);
    assert!(shown.stdout.contains("w7"), "{}", shown.stdout);
    let refused = experiment.command_ends(&["replay", "datasets/d", "0:7", "--recompute"], 2);
    assert!(refused.stderr.contains("was imported, so there is nothing to play again"), "{}", refused.stderr);

    // What is exported is imported as the same rows.
    experiment.command_ends(&["export", "pgn", "datasets/d", "--out", "again.pgn"], 0);
    experiment.command_ends(&["import", "pgn", "again.pgn", "--out", "datasets/e", "--shard-games", "20"], 0);
    let rows = |name: &str| {
        let root = experiment.folder.path().join("datasets").join(name);
        let all = |table: &str| files(&root, table);
        let games: Vec<GameRow> =
            all("games").iter().flat_map(|file| read_table(file).expect("reads")).collect();
        let positions: Vec<PositionRow> =
            all("positions").iter().flat_map(|file| read_table(file).expect("reads")).collect();
        let headers: Vec<HeaderRow> =
            all("headers").iter().flat_map(|file| read_table(file).expect("reads")).collect();
        let players: Vec<_> =
            headers.into_iter().map(|row| (row.white, row.white_elo, row.clocks, row.evals)).collect();
        (games, positions, players)
    };
    assert_eq!(rows("d"), rows("e"));
    let nothing = experiment
        .command_ends(&["export", "pgn", "datasets/d", "--games", "self-play", "--out", "x.pgn"], 2);
    assert!(nothing.stderr.contains("has no games of self-play in its finished steps"), "{}", nothing.stderr);
}

/// The files of a table of a dataset, in order.
fn files(root: &Path, table: &str) -> Vec<PathBuf> {
    let listed = files_below(&root.join(table));
    listed.into_iter().map(|(name, _)| root.join(table).join(name)).collect()
}

#[test]
fn a_killed_import_goes_on_to_the_same_bytes_with_any_lanes() {
    let experiment = with_games(9000);
    let import = |out: &'static str, lanes: &'static str| {
        ["import", "pgn", "games.pgn", "--out", out, "--shard-games", "300", "--lanes", lanes]
    };
    experiment.command_ends(&import("datasets/whole/d", "1"), 0);
    let mut kills = 0;
    for attempt in 0..40u64 {
        let mut child = experiment.start(&import("datasets/killed/d", "3"));
        std::thread::sleep(Duration::from_millis(150 + 40 * attempt));
        if child.try_wait().expect("its state").is_some() {
            break;
        }
        child.kill().expect("kills");
        child.wait().expect("ends");
        kills += 1;
    }
    experiment.command_ends(&import("datasets/killed/d", "2"), 0);
    let of = |name: &str| results_below(&experiment.folder.path().join("datasets").join(name).join("d"));
    assert_eq!(of("whole"), of("killed"));
    assert!(kills >= 3, "the import ended after only {kills} kills; make it longer");
}

#[test]
fn what_cannot_be_imported_is_refused_with_a_message() {
    let experiment = with_games(10);
    let folder = experiment.folder.path();
    let refused = |args: &[&str], code: i32, expected: &str| {
        let ended = experiment.command_ends(&[&["import", "pgn"], args].concat(), code);
        assert!(ended.stderr.contains(expected), "{args:?}: {expected}: {}", ended.stderr);
        assert!(!ended.stderr.contains("panicked"), "{}", ended.stderr);
    };
    let write = |name: &str, content: &[u8]| fs::write(folder.join(name), content).expect("writes");
    write("empty.pgn", b"");
    write("page.pgn.zst", b"<html>not found</html>");
    write("cut.gz", &[0x1f, 0x8b, 8, 0]);
    write("star.pgn", b"1. e4 *\n");
    fs::create_dir(folder.join("folder.pgn")).expect("creates");
    refused(&["missing.pgn", "--out", "d"], 3, "error: cannot read missing.pgn: ");
    refused(&["folder.pgn", "--out", "d"], 2, "error: folder.pgn is a folder; give the files in it");
    refused(&["empty.pgn", "--out", "d"], 2, "error: empty.pgn is empty; expected games as PGN");
    refused(&["page.pgn.zst", "--out", "d"], 2, "error: page.pgn.zst has no games at its beginning");
    refused(&["cut.gz", "--out", "d"], 3, "error: cut.gz is cut or damaged: ");
    refused(&["games.pgn", "games.pgn", "--out", "d"], 2, "games.pgn and games.pgn have the same content");
    refused(
        &["games.pgn", "--out", "games.pgn"],
        2,
        "--out games.pgn is a file; give the folder of the dataset",
    );
    refused(&["games.pgn", "--out", "a b"], 2, "\"a b\" is not a valid name for a run");
    refused(&["-", "-", "--out", "d"], 2, "standard input is named more than once");
    refused(
        &["games.pgn", "--out", "d", "--min-elo", "2000", "--max-elo", "1000"],
        2,
        "--max-elo 1000 must not be below --min-elo 2000",
    );
    assert!(!folder.join("d").exists());
    let nothing = "none of 1 games is taken: 1 broken (no_result 1); the first broken one is game 1 of star.pgn, line 1: * follows its 1 plies";
    refused(&["star.pgn", "--out", "star"], 2, nothing);
    refused(
        &["games.pgn", "--out", "rated", "--min-elo", "3000"],
        2,
        "none of 11 games is taken: 11 left out (min_elo 11)",
    );

    // Folders that hold something else.
    fs::create_dir(folder.join("other")).expect("creates");
    write("other/notes.txt", b"x");
    refused(&["games.pgn", "--out", "other"], 2, "other is not empty and has no run.json");
    experiment.write("open_run(\"small\");");
    assert_eq!(experiment.run(&[]).code, Some(0));
    refused(
        &["games.pgn", "--out", "datasets/small"],
        2,
        "datasets/small is a run of x.rhai, not a dataset; give --out another folder",
    );
    experiment.command_ends(&["import", "pgn", "games.pgn", "--out", "datasets/d"], 0);
    refused(
        &["games.pgn", "--out", "datasets/d", "--max-games", "5"],
        2,
        "datasets/d is a dataset of other files or options: it was made with nothing else, and this command has max_games: 5;",
    );
    let mut changed = games(10);
    changed += "1. e4 1-0\n";
    fs::write(folder.join("games.pgn"), changed).expect("writes");
    refused(&["games.pgn", "--out", "datasets/d"], 2, "it was made with \"games.pgn\" blake3 ");
}

#[test]
fn scores_that_seem_to_be_whites_are_noticed() {
    let experiment = Experiment::new("");
    let game = "1. e4 {+1.91/30 7.7s} a6 {+1.89/23 0.58s} 2. d4 {+2.04/33 9.6s} h6 {1.87/28 1.5s} 1-0\n\n";
    fs::write(experiment.folder.path().join("whites.pgn"), game.repeat(4)).expect("writes");
    let import = |out: &str, more: &[&str]| {
        experiment.command_ends(&[&["import", "pgn", "whites.pgn", "--out", out], more].concat(), 0).stderr
    };
    let doubt = "12 of 12 pairs of consecutive evaluations of at least a pawn have opposite signs";
    let stderr = import("datasets/mover", &[]);
    assert!(stderr.contains(doubt) && stderr.contains("(--scores white)"), "{stderr}");
    let stderr = import("datasets/white", &["--scores", "white"]);
    assert!(!stderr.contains("opposite signs"), "{stderr}");
    for name in ["mover", "white"] {
        assert_eq!(problems(&experiment.folder.path().join("datasets").join(name)), [""; 0]);
    }
    experiment.command_ends(&["import", "pgn", "whites.pgn", "--out", "datasets/x", "--scores", "black"], 2);
}

#[test]
fn a_folder_that_cannot_be_written_is_named() {
    use std::os::unix::fs::PermissionsExt as _;
    let experiment = with_games(10);
    let locked = experiment.folder.path().join("locked");
    fs::create_dir(&locked).expect("creates");
    fs::set_permissions(&locked, fs::Permissions::from_mode(0o555)).expect("changes");
    // Permissions do not bind every user.
    if fs::write(locked.join("probe"), "x").is_ok() {
        return;
    }
    let ended = experiment.command_ends(&["import", "pgn", "games.pgn", "--out", "locked/d"], 3);
    assert!(ended.stderr.contains("cannot create locked/d"), "{}", ended.stderr);
}

#[test]
fn standard_input_is_imported_as_a_file_is_and_a_plan_changes_nothing() {
    let experiment = with_games(30);
    let pipe = |args: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_dc0-run"));
        piped(command.current_dir(experiment.folder.path()).args(args), games(30).as_bytes())
    };
    let imported = pipe(&["import", "pgn", "-", "--out", "datasets/piped"]);
    assert_eq!(imported.code, Some(0), "{}", imported.stderr);
    let headers: Vec<HeaderRow> =
        read_table(&files(&experiment.folder.path().join("datasets/piped"), "headers")[0]).expect("reads");
    assert_eq!((headers.len(), headers[0].source.as_str()), (30, "stdin"));
    // No copy is left behind by what imports nothing.
    for (args, code) in [
        (&["--out", "datasets/new", "--check"][..], 0),
        (&["--out", "datasets/new", "--script"], 0),
        (&["--out", "datasets/new", "--min-elo", "3000"], 2),
        (&["--out", "datasets/piped", "--min-elo", "1100"], 2),
    ] {
        let ended = pipe(&[&["import", "pgn", "-"], args].concat());
        assert_eq!(ended.code, Some(code), "{args:?}: {}", ended.stderr);
    }
    let left = fs::read_dir(experiment.folder.path().join("datasets")).expect("lists");
    let left: Vec<_> = left.map(|entry| entry.expect("an entry").file_name()).collect();
    assert!(left.iter().all(|name| !name.to_string_lossy().contains(".import")), "{left:?}");
    let mut command = Command::new(env!("CARGO_BIN_EXE_dc0-run"));
    command.current_dir(experiment.folder.path()).args(["import", "pgn", "-", "--out", "datasets/new"]);
    let unreadable =
        command.stdin(fs::File::open(experiment.folder.path()).expect("a folder")).output().expect("ends");
    let message = String::from_utf8_lossy(&unreadable.stderr);
    assert!(
        unreadable.status.code() == Some(3) && message.contains("cannot read standard input: "),
        "{message}"
    );

    let plan = experiment.command_ends(&["import", "pgn", "games.pgn", "--out", "datasets/d", "--check"], 0);
    assert!(plan.stdout.contains("import of games.pgn"), "{}", plan.stdout);
    let script = experiment.command_ends(
        &["import", "pgn", "games.pgn", "--out", "datasets/d", "--script", "--min-elo", "1500"],
        0,
    );
    assert!(
        script.stdout.contains("run.import_pgn([\n    \"games.pgn\", // \"games.pgn\" blake3 "),
        "{}",
        script.stdout
    );
    assert!(script.stdout.ends_with("], #{\n    min_elo: 1500,\n});\n"), "{}", script.stdout);
    assert!(!experiment.folder.path().join("datasets/d").exists());
}

#[test]
fn imports_of_standard_input_to_the_same_folder_do_not_disturb_each_other() {
    let experiment = with_games(30);
    let start = |args: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_dc0-run"));
        command.current_dir(experiment.folder.path());
        command.args(["import", "pgn", "-", "--out", "datasets/d"]).args(args);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().expect("the program starts")
    };
    let write = |child: &mut Child, text: &str| {
        child.stdin.as_mut().expect("is piped").write_all(text.as_bytes()).expect("is read");
    };
    let ends = |child: Child, code: i32| {
        let ended = Ended::from(child);
        assert_eq!(ended.code, Some(code), "{}{}", ended.stdout, ended.stderr);
    };
    let folder = experiment.folder.path().join("datasets");
    let names = || -> Vec<String> {
        let entries = fs::read_dir(&folder).into_iter().flatten();
        entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect()
    };
    let text = games(30);
    let (first, second) = text.split_at(text.len() / 2);
    let mut import = start(&[]);
    write(&mut import, first);
    let is_begun = || names().iter().any(|name| name.starts_with(".d.import"));
    assert!(is_reached("a copy", &mut import, is_begun), "it waits for the other games");
    let mut check = start(&["--check"]);
    write(&mut check, "1. e4 1-0\n");
    ends(check, 0);
    write(&mut import, second);
    ends(import, 0);
    assert_eq!(names(), ["d"]);
    let headers: Vec<HeaderRow> = read_table(&files(&folder.join("d"), "headers")[0]).expect("reads");
    assert_eq!(headers.len(), 30);

    // What a killed one leaves is overwritten.
    let mut killed = start(&["--check"]);
    write(&mut killed, first);
    wait_for("a copy", || names() != ["d"]);
    killed.kill().expect("kills");
    killed.wait().expect("ends");
    let mut again = start(&["--check"]);
    write(&mut again, &text);
    ends(again, 0);
    assert_eq!(names(), ["d"]);
}

pub(crate) fn problems(root: &Path) -> Vec<String> {
    verify(&Folder::at(root), FolderKind::Run).expect("is not locked").problems
}

#[test]
fn every_flipped_bit_of_a_dataset_is_reported() {
    let (_experiment, root) = imported(60);
    // The page belongs to the user of the dataset, who edits it.
    fs::remove_file(root.join("README.md")).expect("removes");
    let expected = ["run/json", "journal/jsonl", "steps/", "games/", "positions/", "headers/", "rejects/"];
    check_flips(&root, FolderKind::Run, 3, &expected);
}

/// Changes the rows of a table's first file, and seals manifest and journal again, as a program at fault does.
pub(crate) fn reseal<R: TableRow>(root: &Path, table: &str, change: impl Fn(&mut Vec<R>)) {
    let file = files(root, table).remove(0);
    let mut rows: Vec<R> = read_table(&file).expect("reads");
    change(&mut rows);
    let path = file.strip_prefix(root).expect("below the root").display().to_string();
    let entry =
        write_table(root, &path, &rows, &Provenance::new()).expect("rows that are possible by themselves");
    let manifest_file = files(root, "steps").remove(0);
    let manifest = Manifest::read(&manifest_file).expect("a manifest");
    let mut other = manifest.clone();
    let listed = other.files.iter_mut().find(|known| known.path == entry.path);
    *listed.expect("the manifest lists it") = entry;
    other.write(&manifest_file).expect("writes");
    let of_other = |line: &str| line.replace(&manifest.digest(), &other.digest());
    rewrite_journal(&root.join("journal.jsonl"), of_other);
}

/// A planted corruption: its name, what is done, and what is said of it.
pub(crate) type Corruption<'a> = (&'a str, &'a dyn Fn(&Path), &'a str);

/// Plants each corruption in a copy of a dataset, and checks that it is found.
#[track_caller]
pub(crate) fn check_corruptions(experiment: &Experiment, root: &Path, corruptions: &[Corruption<'_>]) {
    for (number, (name, corrupt, expected)) in corruptions.iter().enumerate() {
        let copy = experiment.folder.path().join(format!("copy-{number}"));
        copy_folder(root, &copy);
        corrupt(&copy);
        let found = problems(&copy);
        assert!(found.iter().any(|problem| problem.contains(expected)), "{name}: {expected}: {found:#?}");
    }
}

#[test]
fn planted_corruptions_of_a_dataset_are_found() {
    let (experiment, root) = imported(60);
    assert_eq!(problems(&root), [""; 0]);
    let first = |root: &Path, table: &str| files(root, table).remove(0);
    let corruptions: [Corruption<'_>; 16] = [
        (
            "a flipped bit",
            &|root| flip(&first(root, "positions")),
            "has changed: its content has another digest",
        ),
        (
            "a truncated file",
            &|root| {
                let file = first(root, "headers");
                let bytes = fs::read(&file).expect("reads");
                fs::write(file, &bytes[..bytes.len() - 9]).expect("writes");
            },
            "was cut off",
        ),
        (
            "a swapped file",
            &|root| {
                fs::copy(first(root, "positions"), first(root, "games")).expect("copies");
            },
            "part-",
        ),
        (
            "a missing list of broken games",
            &|root| fs::remove_file(first(root, "rejects")).expect("removes"),
            "is missing",
        ),
        (
            "a file that no step has",
            &|root| {
                let file = first(root, "games");
                fs::copy(&file, file.with_file_name("part-extra.parquet")).expect("copies");
            },
            "belongs to no step; delete it",
        ),
        (
            "a changed manifest",
            &|root| {
                let file = first(root, "steps");
                let text = fs::read_to_string(&file).expect("reads");
                fs::write(&file, text.replace("\"games\": 60", "\"games\": 61")).expect("writes");
            },
            "the digest of its content is",
        ),
        (
            "a manifest that is sealed again with other figures",
            &|root| {
                let file = first(root, "steps");
                let manifest = Manifest::read(&file).expect("a manifest");
                let mut other = manifest.clone();
                other.summary.put("draws", dc0_core::params::Value::Int(1));
                other.write(&file).expect("writes");
                rewrite_journal(&root.join("journal.jsonl"), |line| {
                    line.replace(&manifest.digest(), &other.digest())
                });
            },
            "its `draws` is 1, and that of its tables 20",
        ),
        (
            "a manifest that the journal does not know",
            &|root| {
                let file = first(root, "steps");
                let mut manifest = Manifest::read(&file).expect("a manifest");
                manifest.seed = 2;
                manifest.write(&file).expect("writes");
            },
            "as journal.jsonl says",
        ),
        (
            "a missing manifest",
            &|root| fs::remove_file(first(root, "steps")).expect("removes"),
            "belongs to no step",
        ),
        (
            "an illegal move",
            &|root| reseal::<GameRow>(root, "games", |rows| rows[3].moves[5] = rows[3].moves[0]),
            "game 3: its move at ply 5, ",
        ),
        (
            "a result against the headers",
            &|root| {
                reseal::<GameRow>(root, "games", |rows| {
                    rows[0].result = GameResult::BlackWins;
                });
            },
            "game 0: `result` is 0-1, and its headers say 1-0",
        ),
        (
            "headers against the result",
            &|root| {
                reseal::<HeaderRow>(root, "headers", |rows| {
                    "1/2-1/2".clone_into(&mut rows[2].result);
                });
            },
            "game 2: `result` is 0-1, and its headers say 1/2-1/2",
        ),
        (
            "a position of another game",
            &|root| {
                reseal::<PositionRow>(root, "positions", |rows| {
                    rows[4].fen = rows[8].fen.clone();
                });
            },
            "game 0: ply 4: `fen` is ",
        ),
        (
            "a value that neither evaluation nor result gives",
            &|root| {
                reseal::<PositionRow>(root, "positions", |rows| {
                    rows[1].root_q = 0.9;
                });
            },
            "game 0: ply 1: its values are ",
        ),
        (
            "a game without its headers",
            &|root| reseal::<HeaderRow>(root, "headers", |rows| _ = rows.remove(1)),
            "its games are not those of the table of games",
        ),
        (
            "a broken game that is not listed",
            &|root| reseal::<RejectRow>(root, "rejects", |rows| _ = rows.remove(0)),
            "its broken game 0 is missing",
        ),
    ];
    check_corruptions(&experiment, &root, &corruptions);
    let copy = "copy-1".to_owned();
    let ended = experiment.command_ends(&["verify", &copy], 3);
    assert!(ended.stdout.contains("was cut off"), "{}", ended.stdout);
}

const TRAIN: &str = r#"
let run = open_run("small");
let net = run.network(#{ tower: #{ blocks: 1, filters: 8 }, value_head: #{ filters: 2, hidden: 8 } });
let games = load_dataset("d");
print(`${games.games} games, ${games.positions} positions`);
let first = run.train(net, games, #{ updates: 8, batch: 16, checkpoint_every: 4 });
let played = run.self_play(first, #{ games: 4, search: #{ simulations: 4 }, max_plies: 20 });
let second = run.train(first, run.window() + games, #{ updates: 4, batch: 16 });
let third = run.train(second, played, #{ updates: 4, batch: 16 });
print(`${second.training_games + second.validation_games} games`);
let weighted = #{ updates: 2, batch: 16, validation_fraction: 0.0 };
let half = run.train(third, games * 0.5 + played * 2, weighted);
let whole = run.train(third, games + played * 2, weighted);
let fewer = whole.training_samples - half.training_samples;
assert(fewer > 0.4 * games.positions && fewer < 0.6 * games.positions, `${fewer} samples fewer`);
"#;

#[test]
fn a_net_is_trained_on_a_dataset_alone_and_with_games_of_its_own() {
    let (experiment, _) = imported(60);
    experiment.write(TRAIN);
    let plan = experiment.run_ends(&["--check"], 0);
    assert!(
        plan.stdout.contains("trained from 0000 on 60 games") && plan.stdout.contains("on 64 games"),
        "{}",
        plan.stdout
    );
    let trained = experiment.run_ends(&[], 0);
    assert!(
        trained.stdout.contains("60 games, ") && trained.stdout.contains("64 games"),
        "{}",
        trained.stdout
    );
    let before = experiment.results();
    let again = experiment.run(&[]);
    assert_eq!((again.code, experiment.results() == before), (Some(0), true), "{}", again.stderr);
    assert_eq!(again.stderr.matches("done before)").count(), 7, "{}", again.stderr);

    // Another dataset of the same name is other games, so the training is another one.
    fs::remove_dir_all(experiment.folder.path().join("datasets/d")).expect("removes");
    experiment.command_ends(&[&IMPORT[..], &["--max-games", "50"]].concat(), 0);
    let changed = experiment.run_ends(&[], 0);
    assert!(
        changed.stdout.contains("50 games, ") && changed.stdout.contains("54 games"),
        "{}",
        changed.stdout
    );
    // A file that has changed is an error.
    let file = files(&experiment.folder.path().join("datasets/d"), "positions").remove(0);
    flip(&file);
    experiment.write(&TRAIN.replace("updates: 8", "updates: 9"));
    let damaged = experiment.run_ends(&[], 3);
    assert!(damaged.stderr.contains("has changed: its content has another digest"), "{}", damaged.stderr);
    experiment.write("load_dataset(\"nothing\");");
    let missing = experiment.run_ends(&[], 2);
    assert!(
        missing
            .stderr
            .contains("\"nothing\" is neither a dataset nor a run, nor the name of one in datasets"),
        "{}",
        missing.stderr
    );
}

#[test]
fn a_script_imports_games_into_its_own_run() {
    let experiment = with_games(40);
    experiment.write(
        r#"
let run = open_run("small");
let games = run.import_pgn("games.pgn", #{ min_elo: 1010, skip_plies: 4 });
print(`${games.games} of ${games.read}, ${games.left_out.min_elo} left out`);
let net = run.network(#{ tower: #{ blocks: 1, filters: 8 }, value_head: #{ filters: 2, hidden: 8 } });
let first = run.train(net, games, #{ updates: 4, batch: 16 });
run.train(net, run.window(), #{ updates: 4, batch: 16 });
run.reanalyze(first, games, #{ search: #{ simulations: 4 }, share: 0.1 });
"#,
    );
    let ended = experiment.run_ends(&[], 0);
    // Broken games have no ratings, so they are left out, too.
    assert!(ended.stdout.contains("30 of 44, 14 left out"), "{}", ended.stdout);
    assert_eq!(problems(&experiment.run_folder()), [""; 0]);
    let wrong = [
        ("run.import_pgn([])", "expected at least one file, got none"),
        ("run.import_pgn([3])", "expected a list of files, and one item is a whole number"),
        ("run.import_pgn(\"missing.pgn\")", "cannot read missing.pgn: "),
        (
            "run.import_pgn(\"games.pgn\", #{ min_elos: 3 })",
            "min_elos: unknown parameter; did you mean `min_elo`?",
        ),
    ];
    for (call, expected) in wrong {
        experiment.write(&format!("let run = open_run(\"small\"); {call};"));
        let ended = experiment.run(&[]);
        assert_eq!(ended.code, Some(2), "{call}: {}", ended.stderr);
        assert!(ended.stderr.contains(expected), "{call}: {}", ended.stderr);
    }
}

/// Three iterations by two nets, and a copy of the last two.
const LOOP: &str = r#"
let run = open_run("loop");
let net = run.network(#{ tower: #{ blocks: 1, filters: 8 }, value_head: #{ filters: 2, hidden: 8 } });
let play = #{ search: #{ simulations: 2 }, max_plies: 6 };
run.self_play(net, play + #{ games: 2 });
let played = run.self_play(net, play + #{ games: 3 });
let trained = run.train(net, played, #{ updates: 1, batch: 8, validation_fraction: 0.0 });
run.self_play(trained, play + #{ games: 4 });
let copies = run.reanalyze(trained, run.window(#{ iterations: 2 }), #{ search: #{ simulations: 3 } });
assert([copies.games, run.window().games] == [7, 9], "other numbers of games");
assert(run.window(#{ iterations: 1, copies: "also" }).games == 7, "other numbers of games");
"#;

const PARTS: &str = r#"
let run = open_run("parts");
let games = |window| load_dataset("loop", window).games;
assert(load_dataset("loop").games == 9, "other numbers of games");
let found = [games.call(#{ iterations: 1 }), games.call(#{ last: 1 }), games.call(#{ network: 0 }), games.call(#{ network: 1 })];
assert(found == [4, 5, 5, 4], "other numbers of games");
assert([games.call(#{ copies: "only" }), games.call(#{ copies: "also" })] == [7, 16], "other numbers of games");
load_dataset("loop", #{ network: 2 });
"#;

#[test]
fn a_script_takes_the_games_of_some_nets_or_iterations_of_a_run() {
    let experiment = Experiment::new(LOOP);
    experiment.run_ends(&[], 0);
    // Tensors leave out the copies, lest positions count twice, unless those are asked for.
    let export = ["export", "tensors", "datasets/loop", "--out", "loop.safetensors"];
    let exported = |more: &[&str]| experiment.command_ends(&[&export, more].concat(), 0).stdout;
    assert!(exported(&[]).contains("54 positions of 3 steps"));
    assert!(exported(&["--number", "3"]).contains("42 positions of 1 step"));
    experiment.write(PARTS);
    let ended = experiment.run_ends(&[], 2);
    let expected = "x.rhai:8:1: load_dataset: no iteration fits last, network and copies; there are 0 played by net 0, 1 played by net 0, \
        2 played by net 1, 3 copied by net 1";
    assert!(ended.stderr.contains(expected), "{}", ended.stderr);
}

#[test]
fn a_script_cannot_load_the_games_of_its_own_run_as_a_dataset() {
    let experiment = Experiment::new(
        "let run = open_run(\"small\");
        let net = run.network(#{ tower: #{ blocks: 1, filters: 8 } });
        run.self_play(net, #{ games: 2, search: #{ simulations: 2 }, max_plies: 4 });
        load_dataset(\"small\");",
    );
    let ended = experiment.run_ends(&[], 2);
    assert!(
        ended.stderr.contains("x.rhai:4:9: load_dataset: \"small\" is a run of this script"),
        "{}",
        ended.stderr
    );
}
