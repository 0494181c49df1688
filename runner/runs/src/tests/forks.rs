//! Tests of forks: runs that begin with the steps of another run.

use std::cell::Cell;
use std::fs;
use std::path::Path;

use super::super::{Folder, ForkRecord, ForkSource, Opening, Prefix, Requested, Run, RunError};
use super::{call, iteration, network, open, opening, play, record, train};

/// A net, an iteration, another net, another iteration.
fn source(parent: &Path) -> Run {
    let mut run = open(parent);
    train(&mut run, 1, network(0));
    play(&mut run, &call("self_play", 1), iteration(0), None, &Cell::new(0)).expect("plays");
    train(&mut run, 2, network(1));
    play(&mut run, &call("self_play", 2), iteration(1), None, &Cell::new(0)).expect("plays");
    run
}

fn read(parent: &Path, at: u32) -> Result<Prefix, RunError> {
    Prefix::read(&Folder::of_run(parent, "tiny")?, "tiny", at)
}

/// Opens the fork of `tiny` at an iteration.
fn open_fork(parent: &Path, at: u32, fork: Option<ForkRecord>) -> Result<Run, RunError> {
    let mut record = record("a.rhai");
    record.name = "forked".to_owned();
    record.fork = fork;
    let requested = Requested { fork: Some(("tiny", at)), ..Requested::default() };
    Run::open(&Opening { record, requested, ..opening(parent) })
}

#[test]
fn a_prefix_ends_before_the_games_of_the_next_iteration() {
    let parent = tempfile::tempdir().expect("folder");
    drop(source(parent.path()));
    let kinds = |at| {
        let prefix = read(parent.path(), at).expect("reads");
        prefix.steps.into_iter().map(|(_, manifest)| manifest.kind).collect::<Vec<_>>()
    };
    assert_eq!(kinds(0), ["train", "self_play", "train"]);
    assert_eq!(kinds(1), ["train", "self_play", "train", "self_play"]);
    let error = read(parent.path(), 2).expect_err("is not there").to_string();
    assert!(error.ends_with("cannot be forked at iteration 2: it has finished 0 to 1"), "{error}");
    let error = read(parent.path(), u32::MAX).expect_err("is not there").to_string();
    assert!(error.contains("cannot be forked at iteration 4294967295"), "{error}");
}

#[test]
fn taken_over_steps_count_as_occurrences_of_equal_calls() {
    let parent = tempfile::tempdir().expect("folder");
    let played = Cell::new(0);
    drop(source(parent.path()));
    let fork = read(parent.path(), 0).expect("reads").fork;
    let mut forked = open_fork(parent.path(), 0, Some(fork)).expect("opens");
    let steps = forked.begin(ForkSource::In(parent.path())).expect("takes over");
    assert_eq!(steps.len(), 3);
    let next = play(&mut forked, &call("self_play", 2), iteration(1), None, &played).expect("plays");
    let again = play(&mut forked, &call("self_play", 1), iteration(2), None, &played).expect("plays");
    drop(forked);
    let mut other = source(parent.path());
    let same = play(&mut other, &call("self_play", 1), iteration(2), None, &played).expect("plays");
    assert_eq!(again.manifest, same.manifest, "the second of two equal calls");
    drop(other);
    let (_, fourth) = read(parent.path(), 1).expect("reads").steps.pop().expect("four steps");
    assert_eq!(next.manifest, fourth, "the first call of its kind");
}

#[test]
fn steps_of_mixed_scripts_cannot_be_forked() {
    let parent = tempfile::tempdir().expect("folder");
    drop(source(parent.path()));
    let mut shorter = open(parent.path());
    train(&mut shorter, 1, network(0));
    train(&mut shorter, 2, network(1));
    drop(shorter);
    let error = read(parent.path(), 0).expect_err("is mixed");
    assert!(matches!(error, RunError::ForkMixed { .. }), "{error}");
    assert!(error.to_string().contains("(there are two steps 1)"), "{error}");
}

#[test]
fn an_unfinished_iteration_cannot_be_forked_but_the_one_before_can() {
    let parent = tempfile::tempdir().expect("folder");
    let mut run = source(parent.path());
    play(&mut run, &call("train", 9), network(2), Some(0), &Cell::new(0)).expect_err("ends");
    drop(run);
    let error = read(parent.path(), 1).expect_err("is not finished").to_string();
    assert!(
        error.starts_with("iteration 1 of the run") && error.contains("its train is under way"),
        "{error}"
    );
    assert_eq!(read(parent.path(), 0).expect("reads").steps.len(), 3);
}

#[test]
fn a_step_that_the_other_run_lost_before_it_was_taken_over_is_an_error() {
    let parent = tempfile::tempdir().expect("folder");
    drop(source(parent.path()));
    let fork = read(parent.path(), 0).expect("reads").fork;
    let mut forked = open_fork(parent.path(), 0, Some(fork)).expect("opens");
    let mut changed = open(parent.path());
    train(&mut changed, 7, network(0));
    drop(changed);
    let error = forked.begin(ForkSource::In(parent.path())).expect_err("is gone");
    assert!(matches!(error, RunError::ForkGone { .. }), "{error}");
    drop((source(parent.path()), forked));
    let mut forked = open_fork(parent.path(), 0, None).expect("opens");
    assert_eq!(forked.begin(ForkSource::In(parent.path())).expect("resumes").len(), 3);
}

#[test]
fn a_locked_run_cannot_be_forked() {
    let parent = tempfile::tempdir().expect("folder");
    let writer = source(parent.path());
    let error = read(parent.path(), 0).expect_err("is written");
    assert!(matches!(error, RunError::Locked { pid: Some(_), .. }), "{error}");
    drop(writer);
    let lock = || fs::read(parent.path().join("tiny/run.lock")).expect("reads");
    let before = lock();
    assert!(read(parent.path(), 0).is_ok());
    assert_eq!(lock(), before);
}
