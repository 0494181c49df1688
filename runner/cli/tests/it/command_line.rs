//! The program from outside: messages, exit codes, and what is printed to which stream.

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader};
use std::process::Command;

use crate::experiment::{Ended, Experiment, SMALL};

#[track_caller]
fn check_error(script: &str, args: &[&str], code: i32, expected: &str) {
    let ended = Experiment::new(script).run(args);
    assert_eq!(ended.stderr.trim_end(), expected);
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(code), ""));
}

#[test]
fn three_misspelt_parameters_are_reported_at_once_with_line_and_suggestions() {
    let script = "let run = open_run(\"small\");
let net = run.network(#{ tower: #{ blocks: 1, filters: 8 } });
run.self_play(net, #{ game: 4, search: #{ simulation: 4, cpuct: 1.5 } });";
    let ended = Experiment::new(script).run(&[]);
    let expected = "error: x.rhai:3:5: self_play: 3 problems in its parameters
  game: unknown parameter; did you mean `games`?
  search.cpuct: unknown parameter; did you mean `c_puct`?
  search.simulation: unknown parameter; did you mean `simulations`?
  |
3 | run.self_play(net, #{ game: 4, search: #{ simulation: 4, cpuct: 1.5 } });
  |     ^";
    assert!(ended.stderr.trim_end().ends_with(expected), "{}", ended.stderr);
    assert_eq!(ended.code, Some(2));
}

#[test]
fn positions_that_cannot_be_searched_are_reported_with_the_other_problems() {
    let script = "let run = open_run(\"small\");
let net = run.network(#{ tower: #{ blocks: 1, filters: 8 } });
run.search(net, [\"startpos moves e2e5\", \"8/8\", 3, \"7k/5Q2/6K1/8/8/8/8/8 b - - 0 1\"], #{ line: 2 });";
    let ended = Experiment::new(script).run(&["--check"]);
    let start = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
    for expected in [
        "error: x.rhai:3:5: search: 5 problems in its parameters\n",
        "  line: unknown parameter; did you mean `lines`?\n",
        &format!(
            "  positions[0]: move 1, \"e2e5\", is not legal in {start}; expected a legal move such as \"a2a3\"\n"
        ),
        "  positions[1]: \"8/8\" is not a FEN",
        "  positions[2]: expected text, such as \"startpos moves e2e4\" or a FEN, got a whole number",
        "  positions[3]: the game is over there (stalemate), so there is nothing to search\n",
    ] {
        assert!(ended.stderr.contains(expected), "{expected}\n{}", ended.stderr);
    }
    assert_eq!(ended.code, Some(2));
}

#[test]
fn a_check_finds_the_same_problems_and_writes_nothing() {
    let script = "let run = open_run(\"small\");\nlet net = run.network(#{ encodin: 1 });";
    let experiment = Experiment::new(script);
    let ended = experiment.run(&["--check"]);
    let expected = "error: x.rhai:2:15: network: 1 problem in its parameters
  encodin: unknown parameter; did you mean `encoding`?
  |
2 | let net = run.network(#{ encodin: 1 });
  |               ^";
    assert_eq!((ended.stderr.trim_end(), ended.code), (expected, Some(2)));
    assert!(!experiment.folder.path().join("datasets").exists());
}

#[test]
fn a_check_shows_steps_and_parameters_with_their_sources_and_computes_nothing() {
    let experiment = Experiment::new(SMALL);
    let ended = experiment.run_ends(&["--check", "--set", "games=100", "--seed", "9"], 0);
    let squeezed: Vec<String> =
        ended.stdout.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    for expected in [
        "x.rhai would do this in datasets/small (seed 9, device cpu):",
        "iteration 0001: self-play of 0001 100 3.00k 12.0k -",
        "network 0002: trained from 0001 on 200 games - - - 8",
        "match: 0002 vs random 2 48 96 -",
        "games 100 --set",
        "updates 8 script",
        "search.simulations 4 script",
        "search.c_puct 1.25 default",
        "temperature [[0,1.0],[10,0.5]] script",
    ] {
        assert!(squeezed.iter().any(|line| line.starts_with(expected)), "{expected}\n{}", ended.stdout);
    }
    assert!(!experiment.folder.path().join("datasets").exists());
}

#[test]
fn unknown_command_line_parameters_are_reported_before_any_step() {
    let expected = "error: x.rhai:2:9: --set: 1 problem in its parameters
  iteration: the script declares no such parameter; did you mean `iterations`?
  |
2 | let p = params(#{ iterations: 2, updates: 8, games: 6 });
  |         ^";
    check_error(SMALL, &["--set", "iteration=3"], 2, expected);
    let undeclared = "error: --set gives games, but the script never calls params(#{…})";
    check_error("let x = 1;", &["--set", "games=3"], 2, undeclared);
    let late =
        "error: x.rhai:1:1: open_run: --set gives games, but the script has not called params(#{…}) before
  |
1 | open_run(\"small\");
  | ^";
    check_error("open_run(\"small\");", &["--set", "games=3"], 2, late);
}

#[test]
fn unknown_fields_of_results_get_a_suggestion() {
    let script = "let run = open_run(\"small\"); print(run.generations)";
    let ended = Experiment::new(script).run(&["--check"]);
    let expected = "error: x.rhai:1:39: Run: there is no `generations` here; did you mean `generation`?";
    assert!(ended.stderr.starts_with(expected), "{}", ended.stderr);
}

#[test]
fn a_missing_script_and_a_wrong_command_line_are_bad_input() {
    let experiment = Experiment::new("");
    let ended = experiment.command(&["y.rhai"]);
    assert!(
        ended.stderr.starts_with("error: cannot read the script y.rhai\n  because: "),
        "{}",
        ended.stderr
    );
    assert_eq!(ended.code, Some(2));
    experiment.command_ends(&["x.rhai", "--lanes", "0"], 2);
    let other = Experiment::new("open_run(\"small\")");
    let ended = other.command(&["x.rhai", "--device", "gpu"]);
    assert!(ended.stderr.contains("`gpu` is not a device"), "{}", ended.stderr);
    assert_eq!(ended.code, Some(2));
}

#[test]
fn a_thrown_error_fails_unless_it_is_caught() {
    check_error("throw 1;", &[], 1, "error: x.rhai:1:1: the script threw: 1\n  |\n1 | throw 1;\n  | ^");
    let caught = "try { open_run(\"a/b\") } catch (error) { print(error) }";
    let ended = Experiment::new(caught).run(&[]);
    assert!(ended.stdout.starts_with("\"a/b\" is not a valid name for a run"), "{ended:?}");
    assert_eq!(ended.code, Some(0));
}

#[test]
fn doctor_fails_if_runs_cannot_be_written() {
    let experiment = Experiment::new("");
    let ended = experiment.command(&["doctor"]);
    assert!(ended.stdout.contains("ok     a game on cpu    works"), "{}", ended.stdout);
    let ended = experiment.command(&["doctor", "--out", "x.rhai"]);
    assert!(ended.stdout.contains("WRONG  folder for runs  x.rhai cannot be written"), "{}", ended.stdout);
    assert_eq!(ended.code, Some(1));
}

#[test]
fn the_parameters_of_a_script_are_listed_with_their_comments() {
    let experiment = Experiment::new(
        "let p = params(#{\n    games: 256, // of each iteration\n    search: #{\n        c_puct: 1.5,\n    },\n});\nprint(p);\nopen_run(\"x\").network(#{});\n",
    );
    let ended = experiment.run(&["--parameters", "--set", "games=8"]);
    let expected = "x.rhai declares; change one with --set NAME=VALUE, or several with --params FILE:
  games            8  --set   whole number, default 256  of each iteration
  search.c_puct  1.5  script  number\n";
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(0), expected), "{}", ended.stderr);
    assert!(!experiment.folder.path().join("datasets").exists());
}

const DECLARED: &str = "// Which is better?
//
// Takes seconds.
let p = params(#{
    games: whole(4, 1, 1000, \"games of an iteration\"),
    rule: choice(\"puct\", [\"puct\", \"gumbel\"]),
    search: #{ c_puct: number(1, 0.5, 4) }, // declared in a group
    plain: true, // whether
});
print(p);
open_run(\"a/b\");
";

#[test]
fn help_of_a_script_shows_comment_parameters_and_options() {
    let experiment = Experiment::new(DECLARED);
    let ended = experiment.run(&["--help", "--set", "games=8"]);
    let expected = "Which is better?

Takes seconds.

Usage: dc0-run x.rhai [--set NAME=VALUE]… [OPTIONS]

Parameters, changed with --set NAME=VALUE or --params FILE:
  games               8  --set   a whole number in 1..=1000, default 4  games of an iteration
  plain            true  script  true or false                          whether
  rule           \"puct\"  script  one of \"puct\", \"gumbel\"
  search.c_puct     1.0  script  a number in 0.5..=4.0

Options:
      --set <NAME=VALUE>";
    assert!(ended.stdout.starts_with(expected), "{}\n{}", ended.stdout, ended.stderr);
    assert!(ended.stdout.contains("Exit codes: 0 done"), "{}", ended.stdout);
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
    assert!(!experiment.folder.path().join("datasets").exists());
    let wrong = experiment.run(&["--help", "--set", "games=0"]);
    assert!(wrong.stderr.contains("games: expected a whole number in 1..=1000, got \"0\""), "{wrong:?}");
    assert_eq!((wrong.code, wrong.stdout.as_str()), (Some(2), ""));
}

#[test]
fn help_of_a_missing_or_broken_script_is_an_error() {
    let experiment = Experiment::new("let x = ;");
    let missing = experiment.command(&["y.rhai", "-h"]);
    assert!(missing.stderr.starts_with("error: cannot read the script y.rhai\n  because: "), "{missing:?}");
    assert_eq!((missing.code, missing.stdout.as_str()), (Some(2), ""));
    let broken = experiment.run(&["--help"]);
    assert!(broken.stderr.starts_with("error: x.rhai:1:9: "), "{broken:?}");
    assert_eq!(broken.code, Some(2));
}

#[test]
fn values_from_files_and_the_command_line_are_validated_together() {
    let experiment = Experiment::new(DECLARED);
    let folder = experiment.folder.path();
    std::fs::write(folder.join("a.toml"), "games = 0\n[search]\nc_puct = 9\n").expect("writes");
    let ended = experiment.run(&["--check", "--params", "a.toml", "--set", "rule=gumble"]);
    let expected = "error: x.rhai:4:9: --params a.toml and --set: 3 problems in its parameters
  games: expected a whole number in 1..=1000, got \"0\" (--params a.toml); declared at x.rhai:5:12
  search.c_puct: expected a number in 0.5..=4.0, got \"9\" (--params a.toml); declared at x.rhai:7:24
  rule: expected one of \"puct\", \"gumbel\", got \"gumble\"; did you mean \"gumbel\"? (--set); declared at x.rhai:6:11
  |
4 | let p = params(#{
  |         ^";
    assert_eq!((ended.stderr.trim_end(), ended.code), (expected, Some(2)));
}

#[test]
fn a_script_named_without_its_folder_finds_its_imports() {
    let experiment = Experiment::new("import \"lib/one\" as one; print(one::value());");
    let lib = experiment.folder.path().join("lib");
    std::fs::create_dir(&lib).expect("creates");
    std::fs::write(lib.join("one.rhai"), "import \"two\" as two; fn value() { 1 + two::value() }")
        .expect("writes");
    std::fs::write(lib.join("two.rhai"), "fn value() { 2 }").expect("writes");
    let ended = experiment.run(&[]);
    assert_eq!((ended.stdout.as_str(), ended.code), ("3\n", Some(0)), "{}", ended.stderr);
}

#[cfg(unix)]
#[test]
fn a_reader_that_leaves_early_is_no_failure() {
    let experiment = Experiment::new("for line in 0..100000 { print(line); }");
    let mut child = experiment.start(&["x.rhai"]);
    let mut first = String::new();
    let stdout = child.stdout.take().expect("a pipe");
    BufReader::new(stdout).read_line(&mut first).expect("reads");
    let ended = Ended::from(child);
    assert_eq!((first.as_str(), ended.code, ended.stderr.as_str()), ("0\n", Some(0), ""));
}

#[cfg(unix)]
#[test]
fn every_command_that_prints_much_or_at_once_may_lose_its_reader() {
    let experiment = Experiment::new("let run = open_run(\"empty\");");
    assert_eq!(experiment.run(&[]).code, Some(0));
    let run = experiment.folder.path().join("datasets/empty");
    let run = run.to_str().expect("UTF-8");
    // More than a pipe holds.
    let many = "select range as n, 'some text that makes the row longer' as t from range(20000)";
    let sql = |format| vec!["sql", run, many, "--rows", "20000", "--format", format];
    for args in [
        sql("csv"),
        sql("json"),
        sql("table"),
        vec!["encode", "startpos"],
        vec!["play"],
        vec!["docs", "script"],
    ] {
        let mut child = experiment.start(&args);
        drop(child.stdout.take());
        let ended = Ended::from(child);
        assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""), "{args:?}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn help_that_a_full_disk_loses_is_a_failure() {
    for args in [&["--help"][..], &["--version"], &["bench", "--help"], &["docs", "script"]] {
        let full = File::options().write(true).open("/dev/full").expect("opens");
        let ended =
            Command::new(env!("CARGO_BIN_EXE_dc0-run")).args(args).stdout(full).output().expect("ends");
        let said = String::from_utf8_lossy(&ended.stderr);
        assert_eq!(ended.status.code(), Some(1), "{args:?}: {said}");
        assert!(said.starts_with("error: some output was lost: "), "{args:?}: {said}");
    }
}

#[cfg(unix)]
#[test]
fn a_script_and_parameters_may_come_from_pipes() {
    let experiment = Experiment::new("let p = params(#{ a: 1 }); print(`a is ${p.a}`);");
    for name in ["script", "values"] {
        let made = Command::new("mkfifo").arg(experiment.folder.path().join(name)).status();
        assert!(made.expect("mkfifo runs").success());
    }
    let child = experiment.start(&["script", "--params", "values"]);
    let script = fs::read_to_string(experiment.folder.path().join("x.rhai")).expect("reads");
    fs::write(experiment.folder.path().join("script"), script).expect("is read");
    fs::write(experiment.folder.path().join("values"), "a = 7").expect("is read");
    let ended = Ended::from(child);
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(0), "a is 7\n"), "{}", ended.stderr);
    // Without a writer, one Ctrl-C is enough; before the program listens to it, the system ends the program.
    let child = experiment.start(&["x.rhai", "--params", "values"]);
    std::thread::sleep(std::time::Duration::from_secs(1));
    let pid = child.id().to_string();
    assert!(Command::new("kill").args(["-TERM", &pid]).status().expect("kill runs").success());
    let ended = Ended::from(child);
    assert!(matches!(ended.code, Some(130) | None), "{:?}", ended.code);
    assert_eq!(ended.stderr, "");
    // Files of positions are read more than once, and a pipe would keep a program waiting.
    for step in [
        "run.puzzles(\"greedy\", \"values\")",
        "run.arena(\"greedy\", \"random\", #{ games: 2, openings: #{ file: \"values\" } })",
    ] {
        experiment.write(&format!("let run = open_run(\"small\"); {step};"));
        for args in [&["--check"][..], &[]] {
            let ended = experiment.run_ends(args, 2);
            assert!(ended.stderr.contains("it is not a regular file"), "{}", ended.stderr);
        }
    }
    // An import is read more than once.
    experiment.write("import \"script\" as script;");
    fs::rename(experiment.folder.path().join("script"), experiment.folder.path().join("script.rhai"))
        .expect("renames");
    let ended = experiment.run_ends(&[], 2);
    assert!(ended.stderr.contains("is not a regular file"), "{}", ended.stderr);
}

/// Other systems refuse such names themselves.
#[cfg(target_os = "linux")]
#[test]
fn a_path_that_is_not_utf8_is_refused_by_every_command() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    let experiment = Experiment::new("let run = open_run(\"r\"); print(run.folder);");
    let folder = experiment.folder.path();
    let odd = OsStr::from_bytes(b"odd\xff");
    let inside = folder.join(odd);
    fs::create_dir(&inside).expect("a folder");
    for file in ["x.rhai", "net.safetensors"] {
        fs::write(inside.join(file), "print(1);").expect("writes");
    }
    std::os::unix::fs::symlink(&inside, folder.join("link")).expect("links");
    let refuse = |command: &mut Command| {
        let ended: Ended = command.output().expect("starts").into();
        assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""), "{command:?}: {}", ended.stderr);
        assert!(ended.stderr.starts_with("error: ") && ended.stderr.contains("odd\\xff"), "{}", ended.stderr);
        assert!(ended.stderr.contains("is not UTF-8; rename that file or folder"), "{}", ended.stderr);
    };
    let program = || Command::new(env!("CARGO_BIN_EXE_dc0-run"));
    for before in [
        &["x.rhai", "--check", "--out"][..],
        &["sql"],
        &["report"],
        &["diff", "r"],
        &["reproduce"],
        &["verify"],
        &["uci", "--net"],
        &["export", "onnx"],
        &["serve"],
        &[],
    ] {
        refuse(program().current_dir(folder).args(before).arg(odd));
        refuse(program().current_dir(folder).args(before).arg("link"));
    }
    refuse(program().current_dir(folder).arg("sql").arg("--out=link/new").arg("link/net.safetensors"));
    refuse(program().current_dir(&inside).args(["x.rhai", "--check"]));
    refuse(program().current_dir(&inside).args(["uci", "--device", "cpu"]));
    let help: Ended = program().current_dir(&inside).arg("--help").output().expect("starts").into();
    assert_eq!(help.code, Some(0), "{}", help.stderr);
    // Beside other files it does no harm.
    assert_eq!(experiment.run(&[]).code, Some(0));
}

/// The dynamic linker reports each symbol that it binds, and where to.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[test]
fn libraries_take_memory_from_the_allocator_of_the_program() {
    let program = env!("CARGO_BIN_EXE_dc0-run");
    let output =
        Command::new(program).arg("--version").env("LD_DEBUG", "bindings").output().expect("an answer");
    let bindings = String::from_utf8_lossy(&output.stderr);
    for symbol in ["malloc", "calloc", "realloc", "free"] {
        let bound = format!("to {program} [0]: normal symbol `{symbol}'");
        let is_bound = |line: &str| line.contains("/libc.so.6 [0]") && line.contains(&bound);
        assert!(bindings.lines().any(is_bound), "{symbol}: {bindings}");
    }
}
