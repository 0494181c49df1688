//! Files that are damaged, swapped or removed: what each command says of them, and what a resumed run heals.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread::sleep;
use std::time::Duration;

use crate::experiment::{Ended, Experiment, SMALL, copy_folder, flip};
use crate::serve::server::Server;
use crate::verify::by_kind;

fn whole() -> Experiment {
    let experiment = Experiment::new(SMALL);
    experiment.run_ends(&[], 0);
    experiment
}

#[track_caller]
fn ends(experiment: &Experiment, args: &[&str], code: i32, parts: &[&str]) -> Ended {
    let ended = experiment.command_ends(args, code);
    for part in parts {
        assert!(ended.stderr.contains(part), "{args:?}: {part}: {}", ended.stderr);
    }
    ended
}

/// The page of a report, and the sections that say that they are incomplete.
fn page(experiment: &Experiment) -> (String, Vec<String>) {
    let html = fs::read_to_string(experiment.run_folder().join("report.html")).expect("a page");
    let incomplete =
        html.split("<section id=\"").skip(1).filter(|section| section.contains("class=\"incomplete\""));
    let incomplete =
        incomplete.map(|section| section.split('"').next().unwrap_or_default().to_owned()).collect();
    (html, incomplete)
}

#[test]
fn a_report_says_on_its_page_what_is_missing_or_damaged() {
    let experiment = whole();
    let run = experiment.run_folder();
    ends(&experiment, &["report", "small"], 0, &[]);
    let (html, incomplete) = page(&experiment);
    assert!(!html.contains("id=\"damage\"") && incomplete.is_empty(), "{incomplete:?}");

    let games = experiment.first_in("games/iteration=0000");
    flip(&games);
    let validation = experiment.first_in("training/0001");
    fs::remove_file(&validation).expect("removes");
    let manifest = experiment.first_in("steps/0003-arena");
    flip(&manifest);
    fs::remove_file(run.join("generations.json")).expect("removes");
    let journal = fs::read_to_string(run.join("journal.jsonl")).expect("reads");
    let lines: Vec<&str> = journal.split_inclusive('\n').collect();
    fs::write(run.join("journal.jsonl"), [&lines[..3], &lines[4..]].concat().concat()).expect("writes");
    let name = |path: &Path| path.file_name().expect("a name").to_string_lossy().into_owned();
    let (games, manifest) = (name(&games), name(&manifest));
    let expected = [
        (games.as_str(), "has changed: its content has another digest; delete what is left of it"),
        ("training/0001.parquet", "belongs to a finished step, and is gone; put back a good copy"),
        (manifest.as_str(), "the digest of its content is"),
        ("generations.json", "it is missing, and journal.jsonl says that generation"),
        ("journal.jsonl", "line 4: its digest is"),
    ];
    let ended = experiment.command_ends(&["report", "small"], 3);
    let (html, incomplete) = page(&experiment);
    let html = html.replace("&#39;", "'");
    for (file, found) in expected {
        let is_shown = |text: &str| text.lines().any(|line| line.contains(file) && line.contains(found));
        assert!(is_shown(&ended.stderr), "{file}: {}", ended.stderr);
        let shown = html.split("<li>").any(|line| line.contains(file) && line.contains(found));
        assert!(shown, "{file}, {found}: {}", &html[html.find("id=\"damage\"").expect("a box")..][..3000]);
    }
    assert!(
        ended.stderr.contains("leaves out what is missing or damaged, and says so: 5 problems"),
        "{}",
        ended.stderr
    );
    assert!(ended.stdout.contains("wrote    datasets/small/report.html"), "{}", ended.stdout);
    for section in ["overview", "strength", "health", "matches", "games", "learning", "speed"] {
        assert!(incomplete.iter().any(|known| known == section), "{section}: {incomplete:?}");
    }
    // What is whole is shown, and queries refuse.
    assert!(html.contains("small played 12 games") && html.contains("<h2>Strength"), "{incomplete:?}");
    ends(
        &experiment,
        &["sql", "small", "select count(*) from games"],
        3,
        &["journal.jsonl is damaged: line 4"],
    );
}

#[test]
fn curves_are_those_of_the_manifests_and_damaged_ones_are_not_exported() {
    let experiment = whole();
    let export = ["export", "tensorboard", "small", "--out", "curves"];
    let whole = ends(&experiment, &export, 0, &[]).stdout;
    assert!(whole.contains(" points"), "{whole}");
    // Curves need no nets.
    fs::remove_file(experiment.run_folder().join("networks/0001.safetensors")).expect("removes");
    assert_eq!(ends(&experiment, &export, 0, &[]).stdout, whole);
    let validation = experiment.first_in("validation/0001");
    flip(&validation);
    ends(&experiment, &export, 3, &["validation/0001.parquet", "has changed"]);
    fs::remove_file(&validation).expect("removes");
    ends(&experiment, &export, 3, &["validation/0001.parquet"]);
    fs::remove_file(experiment.first_in("steps/0002-train")).expect("removes");
    ends(&experiment, &export, 3, &["steps"]);
}

#[test]
fn a_report_says_which_games_and_positions_are_missing() {
    let experiment = whole();
    for table in ["games", "positions"] {
        let shard = experiment.first_in(&format!("{table}/iteration=0000"));
        let kept = fs::read(&shard).expect("reads");
        fs::remove_file(&shard).expect("removes");
        let name = shard.file_name().expect("a name").to_string_lossy().into_owned();
        let gone = "belongs to a finished step, and is gone; put back a good copy";
        ends(&experiment, &["report", "small"], 3, &[&name, gone]);
        let (html, incomplete) = page(&experiment);
        assert!(html.split("<li>").any(|line| line.contains(&name) && line.contains(gone)), "{table}");
        for section in ["overview", "health", "sample-games"] {
            assert!(incomplete.iter().any(|known| known == section), "{table}: {incomplete:?}");
        }
        fs::write(shard, kept).expect("writes");
    }
}

#[test]
fn a_journal_that_was_cut_is_noticed_by_every_command_that_reads_it() {
    let experiment = whole();
    let path = experiment.run_folder().join("journal.jsonl");
    let journal = fs::read_to_string(&path).expect("reads");
    let lines: Vec<&str> = journal.split_inclusive('\n').collect();
    fs::write(&path, lines[..lines.len() / 2].concat()).expect("writes");
    ends(&experiment, &["report", "small"], 3, &["journal.jsonl"]);
    let (html, _) = page(&experiment);
    assert!(html.split("id=\"damage\"").nth(1).expect("a box").contains("journal.jsonl"));
    ends(&experiment, &["sql", "small", "select count(*) from games"], 3, &["journal.jsonl"]);
    let verified = experiment.command(&["verify", "small"]);
    assert!(verified.code == Some(3) && verified.stdout.contains("journal.jsonl"), "{}", verified.stdout);
}

#[test]
fn a_report_without_a_record_shows_the_rest() {
    let experiment = whole();
    fs::remove_file(experiment.run_folder().join("run.json")).expect("removes");
    let lost = "datasets/small, and journal.jsonl there says that it was written; put back a good copy";
    ends(&experiment, &["report", "small"], 3, &[lost]);
    let (html, incomplete) = page(&experiment);
    assert!(html.contains("id=\"damage\"") && html.contains("small played 12 games"));
    assert!(incomplete.iter().any(|section| section == "health"), "{incomplete:?}");
    ends(&experiment, &["sql", "small", "select 1"], 3, &[lost]);
    ends(&experiment, &["diff", "small", "small"], 3, &[lost]);
    let ended = experiment.run(&[]);
    assert!(ended.code == Some(3) && ended.stderr.contains(lost), "{}", ended.stderr);
    let ended = experiment.command(&["verify", "small"]);
    assert!(ended.code == Some(3) && ended.stdout.contains(lost), "{}", ended.stdout);
}

#[test]
fn a_record_of_another_run_is_noticed() {
    let experiment = whole();
    let run = experiment.run_folder();
    experiment.run_ends(&["--out", "others", "--seed", "5"], 0);
    let other = experiment.folder.path().join("others/small");
    fs::copy(other.join("run.json"), run.join("run.json")).expect("copies");
    let swapped = "run.json is damaged: its digest is";
    ends(&experiment, &["sql", "small", "select 1"], 3, &[swapped, "one of the two is another run's"]);
    let ended = experiment.run(&[]);
    assert!(ended.code == Some(3) && ended.stderr.contains(swapped), "{}", ended.stderr);
}

#[test]
fn costs_of_another_run_are_noticed_and_written_again() {
    let experiment = whole();
    let run = experiment.run_folder();
    let before = experiment.command(&["sql", "small", "select * from costs", "--format", "csv"]);
    experiment.run_ends(&["--out", "others", "--seed", "5"], 0);
    fs::copy(experiment.folder.path().join("others/small/costs.parquet"), run.join("costs.parquet"))
        .expect("copies");
    let swapped = "its seed is \"5\", not \"1\"";
    ends(&experiment, &["sql", "small", "select count(*) from costs"], 3, &[swapped]);
    for damage in [|path: &Path| flip(path), |path: &Path| fs::remove_file(path).expect("removes")] {
        let ended = experiment.run_ends(&[], 0);
        assert!(
            ended.stderr.contains("costs.parquet") && ended.stderr.contains("it was written again"),
            "{}",
            ended.stderr
        );
        let after = experiment.command(&["sql", "small", "select * from costs", "--format", "csv"]);
        assert_eq!(after.stdout, before.stdout);
        damage(&run.join("costs.parquet"));
    }
    let ended = experiment.run(&[]);
    assert!(ended.stderr.contains("costs.parquet is missing; it was written again"), "{}", ended.stderr);
    let quiet = experiment.run(&[]);
    assert!(!quiet.stderr.contains("warn"), "{}", quiet.stderr);
}

#[test]
fn removed_generations_are_noticed_and_written_again_with_a_message() {
    let experiment = whole();
    let path = experiment.run_folder().join("generations.json");
    let before = fs::read(&path).expect("reads");
    fs::remove_file(&path).expect("removes");
    let lost = "it is missing, and journal.jsonl says that generation";
    ends(&experiment, &["diff", "small", "small"], 3, &[lost, "which writes it again"]);
    ends(&experiment, &["explain", "startpos", "--net", "small", "--sims", "4"], 3, &[lost]);
    ends(&experiment, &["sql", "small", "select * from staleness"], 3, &[lost]);
    let ended = experiment.command(&["verify", "small"]);
    assert!(ended.code == Some(3) && ended.stdout.contains(lost), "{}", ended.stdout);
    fs::write(experiment.folder.path().join("y.rhai"), "fork(\"small\", 1, #{ name: \"forked\" });")
        .expect("writes");
    ends(&experiment, &["y.rhai"], 3, &[lost]);
    let ended = experiment.run_ends(&[], 0);
    assert!(
        ended.stderr.contains(lost) && ended.stderr.contains("it is written again as the script promotes"),
        "{}",
        ended.stderr
    );
    assert_eq!(fs::read(&path).expect("is back"), before);
    let quiet = experiment.run(&[]);
    assert!(!quiet.stderr.contains("warn"), "{}", quiet.stderr);
    ends(&experiment, &["diff", "small", "small"], 0, &[]);
}

#[test]
fn a_removed_journal_is_noticed_and_the_run_goes_on_without_its_past() {
    let experiment = whole();
    let before = experiment.results();
    fs::remove_file(experiment.run_folder().join("journal.jsonl")).expect("removes");
    let lost = "datasets/small, though steps are finished there; put back a good copy";
    ends(&experiment, &["sql", "small", "select 1"], 3, &[lost]);
    ends(&experiment, &["diff", "small", "small"], 3, &[lost]);
    ends(&experiment, &["report", "small"], 3, &[lost]);
    let ended = experiment.command(&["verify", "small"]);
    assert!(ended.code == Some(3) && ended.stdout.contains(lost), "{}", ended.stdout);
    fs::remove_file(experiment.run_folder().join("report.html")).expect("removes");
    let ended = experiment.run_ends(&[], 0);
    let message =
        "journal.jsonl is missing; the run goes on without the record of its earlier events and times";
    assert!(ended.stderr.contains(message), "{}", ended.stderr);
    assert_eq!(ended.stderr.matches("(done before)").count(), 8, "{}", ended.stderr);
    assert_eq!(experiment.results(), before);
    ends(&experiment, &["sql", "small", "select 1"], 0, &[]);
}

#[test]
fn copies_of_parts_and_manifests_are_noticed_and_the_run_sets_them_aside() {
    let experiment = whole();
    let before = experiment.results();
    let games = |args: &[&str]| {
        let statement = ["sql", "small", "select count(*) as n from games", "--format", "csv"];
        experiment.command(&[&statement, args].concat())
    };
    let counted = games(&[]).stdout;
    let copied = |file: &Path, from: &str, to: &str| {
        let name = file.file_name().expect("a name").to_string_lossy().replace(from, to);
        fs::copy(file, file.with_file_name(name)).expect("copies");
    };
    let noticed = |expected: &str| {
        for args in [&["sql", "small", "select count(*) from games"][..], &["report", "small"]] {
            ends(&experiment, args, 3, &[expected]);
        }
        let verified = experiment.command(&["verify", "small"]);
        assert!(verified.code == Some(3) && verified.stdout.contains(expected), "{}", verified.stdout);
        let rest = games(&["--incomplete"]);
        assert_eq!((rest.code, &rest.stdout), (Some(0), &counted), "{}", rest.stderr);
        fs::remove_file(experiment.run_folder().join("report.html")).expect("removes");
        let ended = experiment.run_ends(&[], 0);
        assert_eq!(games(&[]).stdout, counted);
        let mut results = experiment.results();
        results.retain(|(name, _)| !name.starts_with("superseded/"));
        assert_eq!(results, before);
        ended
    };
    copied(&experiment.first_in("games/iteration=0001"), "-00000.parquet", "-00009.parquet");
    noticed("-00009.parquet belongs to no step; delete it");
    copied(&experiment.first_in("steps/0003-arena"), "0003", "0099");
    let ended = noticed("has another manifest, too");
    assert!(ended.stderr.contains("is another manifest of the same step as"), "{}", ended.stderr);
}

/// Two trials.
const SWEEP: &str = r#"
sweep(#{ name: "small", space: #{ filters: choice([4, 8]) }, sampler: "grid", pruner: #{ kind: "none" }, trials: 2, objective: "score" }, |trial| {
    let net = trial.run.network(#{ tower: #{ blocks: 1, filters: trial.filters }, value_head: #{ filters: 2, hidden: 8 } });
    trial.filters * 1.0
});
"#;

#[test]
fn removed_files_of_a_sweep_are_noticed() {
    let experiment = Experiment::new(SWEEP);
    assert_eq!(experiment.run(&[]).code, Some(0));
    let sweep = experiment.run_folder();
    let table = fs::read(sweep.join("trials.parquet")).expect("reads");
    let kept = fs::read(sweep.join("sweep.json")).expect("reads");
    fs::remove_file(sweep.join("sweep.json")).expect("removes");
    let lost = "sweep.json is gone from datasets/small, and trials.jsonl there says that it was written; put back a good copy";
    let ended = experiment.run(&[]);
    assert!(ended.code == Some(3) && ended.stderr.contains(lost), "{}", ended.stderr);
    ends(&experiment, &["report", "small"], 3, &[lost]);
    fs::write(sweep.join("sweep.json"), kept).expect("writes");
    ends(&experiment, &["report", "small"], 0, &[]);

    fs::remove_file(sweep.join("trials.parquet")).expect("removes");
    ends(&experiment, &["sql", "small", "select * from trials"], 3, &["trials.parquet is missing"]);
    let verified = experiment.command(&["verify", "small"]);
    let missing = "trials.parquet is damaged: it is missing, though trials have values; give the run's command again, which writes it";
    assert!(verified.code == Some(3) && verified.stdout.contains(missing), "{}", verified.stdout);
    ends(&experiment, &["sql", "small", "select * from trials", "--incomplete"], 0, &["trials.parquet"]);
    let ended = experiment.run(&[]);
    assert!(ended.stderr.contains("trials.parquet is missing; it is written again"), "{}", ended.stderr);
    assert_eq!(fs::read(sweep.join("trials.parquet")).expect("is back"), table);
    flip(&sweep.join("trials.parquet"));
    ends(&experiment, &["sql", "small", "select * from trials"], 3, &["trials.parquet"]);
    let ended = experiment.run(&[]);
    assert!(
        ended.stderr.contains("trials.parquet") && ended.stderr.contains("it is written again"),
        "{}",
        ended.stderr
    );

    let journal = sweep.join("trials.jsonl");
    let kept = fs::read(&journal).expect("reads");
    flip(&journal);
    let heals = "put back a good copy, or delete it and give the sweep's command again";
    let ended = experiment.run_ends(&[], 3);
    assert!(ended.stderr.contains("trials.jsonl") && ended.stderr.contains(heals), "{}", ended.stderr);
    // Queries read the table, which has a digest of its own.
    for args in [&["report", "small"][..], &["export", "optuna", "small", "--out", "optuna.db"]] {
        ends(&experiment, args, 3, &["trials.jsonl"]);
    }
    fs::write(&journal, kept).expect("writes");

    fs::remove_file(&journal).expect("removes");
    let ended = experiment.run_ends(&[], 0);
    assert!(ended.stderr.contains("trials.jsonl is missing; its trials are done again"), "{}", ended.stderr);
    assert_eq!(fs::read(sweep.join("trials.parquet")).expect("is back"), table);

    fs::remove_dir_all(sweep.join("trials/0001-0")).expect("removes");
    let ended = experiment.run(&[]);
    assert!(
        ended.stderr.contains("trials/0001-0 is missing, though its trial is complete"),
        "{}",
        ended.stderr
    );
    ends(
        &experiment,
        &["sql", "small", "select * from steps"],
        3,
        &["trials/0001-0 is missing, though its trial is complete", "--incomplete"],
    );
    ends(
        &experiment,
        &["sql", "small", "select * from steps", "--incomplete"],
        0,
        &["trials/0001-0 is missing"],
    );
}

#[test]
fn the_live_view_shows_damaged_runs() {
    let experiment = whole();
    let folder = experiment.folder.path().join("datasets");
    let damage = |expected: Option<&str>| {
        let server = Server::start(&folder);
        for _ in 0..400 {
            let runs = server.get("/api/runs").json();
            let shown = runs[0]["damage"].as_str().map(str::to_owned);
            if shown.is_some() {
                assert_eq!(server.get("/api/status/small").json()["damage"], runs[0]["damage"]);
                return shown;
            }
            if expected.is_none() {
                sleep(Duration::from_millis(5));
            } else {
                sleep(Duration::from_millis(100));
            }
        }
        None
    };
    assert_eq!(damage(None), None);
    let check = |path: PathBuf, expected: &str| {
        let kept = fs::read(&path).expect("reads");
        flip(&path);
        let found = damage(Some(expected)).unwrap_or_else(|| panic!("{}: nothing is shown", path.display()));
        assert!(found.contains(expected) && !found.contains("/datasets/"), "{expected}: {found}");
        fs::write(path, kept).expect("writes");
    };
    let games = experiment.first_in("games/iteration=0001");
    let name = games.file_name().expect("a name").to_string_lossy().into_owned();
    check(games, &format!("games/iteration=0001/{name} has changed: its content has another digest"));
    check(experiment.run_folder().join("journal.jsonl"), "journal.jsonl is damaged: line ");
    check(experiment.run_folder().join("run.json"), "run.json is damaged: ");
    check(experiment.first_in("steps/0001-self_play"), " is damaged: the digest of its content is ");
}

/// A copy of an experiment, with its script and its run.
fn copied(experiment: &Experiment) -> Experiment {
    let script = fs::read_to_string(experiment.folder.path().join("x.rhai")).expect("reads");
    let copy = Experiment::new(&script);
    copy_folder(&experiment.run_folder(), &copy.run_folder());
    copy
}

/// All tables in one answer.
const ALL: &str = "select 'games' as t, bit_xor(hash(x))::varchar as h from games as x
    union all select 'positions', bit_xor(hash(x))::varchar from positions as x union all select 'training', bit_xor(hash(x))::varchar from training as x
    union all select 'validation', bit_xor(hash(x))::varchar from validation as x union all select 'matches', bit_xor(hash(x))::varchar from matches as x
    union all select 'searches', bit_xor(hash(x))::varchar from searches as x union all select 'trees', bit_xor(hash(x))::varchar from trees as x
    union all select 'costs', bit_xor(hash(x))::varchar from costs as x union all select 'steps', bit_xor(hash(x))::varchar from steps as x
    union all select 'runs', bit_xor(hash(x))::varchar from runs as x union all select 'ratings', bit_xor(hash(x))::varchar from ratings as x";

/// What queries and reports say of a run: their results, and whether they complain.
fn seen(experiment: &Experiment) -> [(String, bool); 2] {
    let answer = experiment.command(&["sql", "small", ALL, "--format", "csv"]);
    let report = experiment.command(&["report", "small"]);
    let complains = |ended: &Ended| ended.code == Some(3) || ended.stderr.contains("warn: ");
    [(answer.stdout.clone(), complains(&answer)), (page(experiment).0, complains(&report))]
}

#[test]
fn a_file_that_is_flipped_or_removed_is_noticed_or_changes_no_result() {
    let script = format!(
        "{SMALL}\nrun.search(best, [\"startpos\", \"startpos moves e2e4\"], #{{ search: #{{ simulations: 8 }}, tree: true }});"
    );
    let experiment = Experiment::new(&script);
    let once = ["--set", "iterations=1"];
    assert_eq!(experiment.run(&once).code, Some(0));
    // A script that is stored beside the first one.
    experiment.write(&format!("{script}\nprint(\"changed\");"));
    assert_eq!(experiment.run(&once).code, Some(0));
    let kinds = by_kind(&experiment.run_folder());
    let whole = seen(&experiment);
    let report = experiment.run_folder().join("report.html");
    assert!(whole.iter().all(|(_, complains)| !complains), "{whole:?}");
    fs::remove_file(&report).expect("removes");
    let before = experiment.results();
    assert!(kinds.len() >= 15, "{:?}", kinds.keys());
    for (kind, files) in kinds {
        let path = &files[files.len() / 2];
        let kept = fs::read(path).expect("reads");
        for damage in [flip, |path: &Path| fs::remove_file(path).expect("removes")] {
            damage(path);
            for ((now, complains), (was, _)) in seen(&experiment).iter().zip(&whole) {
                assert!(*complains || now == was, "{kind}: {}", path.display());
            }
            let verified = experiment.command(&["verify", "small"]);
            assert_eq!(verified.code, Some(3), "{kind}: {}", verified.stdout);
            fs::remove_file(&report).expect("removes");
            let copy = copied(&experiment);
            let damaged = copy.results();
            let resumed = copy.run(&once);
            let speaks = ["warn: ", "error: ", "again"].iter().any(|word| resumed.stderr.contains(word));
            // A resumed run does not read what its finished steps made.
            assert!(speaks || copy.results() == damaged, "{kind}: {}", resumed.stderr);
            if !path.exists() {
                // What it writes again is what was there, and it says so.
                assert!(speaks, "{kind}: {}", resumed.stderr);
                if resumed.code == Some(0) {
                    // What belonged to a manifest that is gone is kept there.
                    let mut results = copy.results();
                    results.retain(|(name, _)| !name.starts_with("superseded/unknown/"));
                    assert_eq!(results, before, "{kind}: {}", resumed.stderr);
                }
            }
            fs::write(path, &kept).expect("writes");
        }
    }
}

#[cfg(unix)]
#[test]
fn a_fifo_instead_of_a_file_keeps_nothing_waiting() {
    let experiment = whole();
    let made = |path: &Path| {
        let made = Command::new("mkfifo").arg(path).status();
        assert!(made.expect("mkfifo runs").success());
    };
    for files in by_kind(&experiment.run_folder()).into_values() {
        let name = files[0].strip_prefix(experiment.run_folder()).expect("in the run");
        let copy = copied(&experiment);
        let path = copy.run_folder().join(name);
        fs::remove_file(&path).expect("removes");
        made(&path);
        let verified = within_a_minute(&copy, &["verify", "small"]);
        assert_eq!(verified.code, Some(3), "{}: {}", name.display(), verified.stdout);
        for args in [
            &["sql", "small", ALL][..],
            &["report", "small"],
            &["diff", "small", "small"],
            &["export", "pgn", "small", "--out", "all.pgn"],
            &["x.rhai"],
        ] {
            let ended = within_a_minute(&copy, args);
            assert!(ended.code.is_some_and(|code| code <= 3), "{args:?}: {}", ended.stderr);
        }
    }
    let fifo = experiment.folder.path().join("fifo");
    made(&fifo);
    for args in [
        &["export", "engine", "fifo", "--out", "engine"][..],
        &["import", "pgn", "fifo", "--out", "data"],
        &["puzzles", "greedy", "fifo"],
        &["match", "greedy", "random", "--games", "2", "--openings", "fifo"],
    ] {
        let ended = within_a_minute(&experiment, args);
        assert!(ended.stderr.contains("it is not a regular file"), "{args:?}: {}", ended.stderr);
    }
}

#[track_caller]
fn within_a_minute(experiment: &Experiment, args: &[&str]) -> Ended {
    let mut child = experiment.start(args);
    for _ in 0..600 {
        if child.try_wait().expect("waits").is_some() {
            return child.wait_with_output().expect("ends").into();
        }
        sleep(Duration::from_millis(100));
    }
    child.kill().expect("ends");
    panic!("{args:?} does not end");
}
