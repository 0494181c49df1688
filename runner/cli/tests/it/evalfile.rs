//! Engines that carry a net: what `make EXE=NAME EVALFILE=FILE` builds after the program itself.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::experiment::{Ended, Experiment, flip, piped};

fn said(program: &Path, folder: &Path, args: &[&str]) -> Ended {
    piped(Command::new(program).current_dir(folder).args(args), b"")
}

#[test]
fn an_engine_plays_with_the_net_of_its_evalfile_where_none_is_named() {
    let experiment = Experiment::new("");
    let folder = experiment.folder.path();
    let own = Path::new(env!("CARGO_BIN_EXE_dc0-run"));
    for (net, evalfile) in [("shipped:az_small", "small"), ("shipped", "nnue")] {
        let ended = said(own, folder, &["export", "evalfile", net, "--out", evalfile]);
        assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    }
    let ended = said(own, folder, &["export", "engine", "small", "--out", "engine"]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let engine = folder.join("engine");
    let explained = |program: &Path, net: &[&str]| {
        let explain = ["explain", "startpos", "--sims", "20", "--device", "cpu"];
        let ended = said(program, folder, &[&explain, net].concat());
        assert_eq!(ended.code, Some(0), "{}", ended.stderr);
        // The figures below the line that names the net.
        ended
            .stdout
            .lines()
            .filter(|line| !line.contains("shipped") && !line.contains("in the program"))
            .collect::<Vec<_>>()
            .join("\n")
    };
    let small = explained(own, &["--net", "shipped:az_small"]);
    assert_eq!(explained(&engine, &[]), small);
    assert_eq!(explained(&engine, &["--net", "shipped"]), small, "the net that plays by default");
    assert_ne!(explained(own, &[]), small, "the net in the program is another one");
    assert_eq!(explained(&engine, &["--net", "shipped:az_nnue"]), explained(own, &[]));

    // An engine made by an engine carries one net only.
    let ended = said(&engine, folder, &["export", "engine", "nnue", "--out", "second"]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let length = |name: &str| fs::metadata(folder.join(name)).expect("a file").len();
    assert_eq!(length("second") - length("nnue"), length("engine") - length("small"));
    assert_eq!(explained(&folder.join("second"), &[]), explained(own, &[]));
}

#[test]
fn what_is_no_evalfile_or_a_damaged_one_is_refused() {
    let experiment = Experiment::new("");
    let folder = experiment.folder.path();
    let own = Path::new(env!("CARGO_BIN_EXE_dc0-run"));
    assert_eq!(
        said(own, folder, &["export", "evalfile", "shipped:az_small", "--out", "small"]).code,
        Some(0)
    );
    let bytes = fs::read(folder.join("small")).expect("reads");
    fs::write(folder.join("cut"), &bytes[..9000]).expect("writes");
    fs::write(folder.join("flipped"), bytes).expect("writes");
    flip(&folder.join("flipped"));
    let refused = |file: &str, code: i32, expected: &str| {
        let ended = said(own, folder, &["export", "engine", file, "--out", "engine"]);
        assert_eq!(ended.code, Some(code), "{}", ended.stderr);
        assert!(ended.stderr.contains(expected), "{expected}: {}", ended.stderr);
        assert!(!folder.join("engine").exists());
    };
    let unnamed = said(own, folder, &["export", "engine", "small", "--out", "-"]);
    assert_eq!(unnamed.code, Some(2), "{}", unnamed.stderr);
    assert!(unnamed.stderr.contains("no text for standard output") && !folder.join("-").exists());
    refused("cut", 2, "cut: it has no ending of one; expected an evalfile");
    refused("x.rhai", 2, "expected an evalfile");
    refused("none", 2, "cannot read none");
    refused("flipped", 3, "flipped: expected digest");

    // The net is checked when the engine starts, too.
    assert_eq!(said(own, folder, &["export", "engine", "small", "--out", "engine"]).code, Some(0));
    let engine = folder.join("engine");
    let mut bytes = fs::read(&engine).expect("reads");
    let middle = bytes.len() - 20_000;
    bytes[middle] ^= 1;
    fs::write(&engine, bytes).expect("writes");
    let ended = said(&engine, folder, &["explain", "startpos", "--sims", "1"]);
    assert!(ended.code == Some(3) && ended.stderr.contains("engine: expected digest"), "{}", ended.stderr);

    // Without its end, it does not play with the net of the program instead.
    let cut = fs::File::options().write(true).open(&engine).expect("opens");
    cut.set_len(cut.metadata().expect("exists").len() - 100_000).expect("cuts");
    drop(cut);
    for args in [
        &["explain", "startpos", "--sims", "1"][..],
        &["uci"],
        &["export", "engine", "small", "--out", "next"],
    ] {
        let ended = said(&engine, folder, args);
        assert!(ended.code == Some(3) && ended.stderr.contains("engine: the net that"), "{}", ended.stderr);
    }
    let ended = said(&engine, folder, &["explain", "startpos", "--sims", "1", "--net", "shipped:az_small"]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
}
