//! Tests of runs whose steps write small texts instead of playing and training.

mod forks;

use std::cell::Cell;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use dc0_core::durable;
use dc0_core::params::Value;
use dc0_core::store::FileEntry;
use tempfile::TempDir;

use super::integrity::Integrity;
use super::salvage::Salvage;
use super::{
    Environment, FORMAT_VERSION, Finished, Folder, Generation, History, Input, JournalEvent, Opening,
    Product, Record, Remedy, Requested, Run, RunError, RunView, ScriptRecord, Series, ShardNote, Slot,
    StepCall, StepWorkspace,
};

fn record(script: &str) -> Record {
    let environment = Environment {
        backend: "torch".to_owned(),
        device: "cpu".to_owned(),
        precision: "f32".to_owned(),
        pad_to: 1,
        threads: 1,
        dc0: "0.1.0".to_owned(),
        libraries: "none".to_owned(),
    };
    let text = "open_run(\"tiny\")".to_owned();
    let script = ScriptRecord { file: script.to_owned(), blake3: durable::digest(text.as_bytes()), text };
    Record {
        version: FORMAT_VERSION,
        name: "tiny".to_owned(),
        script,
        modules: BTreeMap::new(),
        params: Value::group(),
        given: None,
        seed: 7,
        environment,
        fork: None,
    }
}

fn opening(parent: &Path) -> Opening<'_> {
    Opening {
        parent,
        record: record("a.rhai"),
        requested: Requested::default(),
        reuse_sources: Arc::default(),
    }
}

fn open(parent: &Path) -> Run {
    Run::open(&opening(parent)).expect("opens")
}

fn iteration(number: u32) -> Slot {
    Slot { series: Series::Iterations, number }
}

fn network(number: u32) -> Slot {
    Slot { series: Series::Networks, number }
}

fn call(kind: &'static str, size: i64) -> StepCall {
    let params = Value::Group([("size".to_owned(), Value::Int(size))].into());
    StepCall { kind, version: 1, params, inputs: Vec::new() }
}

fn write(workspace: &StepWorkspace, path: &str, text: &str) -> Result<FileEntry, RunError> {
    let full = workspace.folder.path(path);
    durable::write(&full, text.as_bytes()).map_err(RunError::io("write", &full))?;
    let blake3 = durable::digest(text.as_bytes());
    Ok(FileEntry { path: path.to_owned(), rows: 1, bytes: text.len() as u64, blake3 })
}

/// A step of three shards with one file each, which may be interrupted after some of them.
fn play(
    run: &mut Run,
    call: &StepCall,
    slot: Slot,
    end_after: Option<u32>,
    played: &Cell<u32>,
) -> Result<Finished, RunError> {
    run.step(call, slot, |workspace| {
        let finished = workspace.finished_shards::<u32>(3)?;
        for shard in (0..3).filter(|shard| !finished.contains_key(shard)) {
            if end_after == Some(played.get()) {
                return Err(RunError::Name { name: "ended".to_owned() });
            }
            let text = format!("{} {} {shard}", workspace.seed.run, workspace.seed.step);
            let file = write(workspace, &workspace.part("games", shard), &text)?;
            workspace.keep_shard(shard, &ShardNote { files: vec![file], part: shard })?;
            played.set(played.get() + 1);
        }
        let notes = workspace.finished_shards::<u32>(3)?;
        let files = notes.values().flat_map(|note| note.files.clone()).collect();
        let sum = notes.values().map(|note| note.part).sum::<u32>();
        Ok(Product { files, summary: Value::Int(sum.into()) })
    })
}

/// A folder with the run `tiny`, of which only self-play of iteration 0 is called.
struct SelfPlayRun {
    parent: TempDir,
    /// The shards that were played.
    played: Cell<u32>,
}

impl SelfPlayRun {
    fn new() -> Self {
        Self { parent: tempfile::tempdir().expect("folder"), played: Cell::new(0) }
    }

    fn parent(&self) -> &Path {
        self.parent.path()
    }

    fn root(&self) -> PathBuf {
        self.parent().join("tiny")
    }

    /// Opens the run and plays, until a number of shards has been played in all.
    fn play(&self, size: i64, end_after: Option<u32>) -> Result<Finished, RunError> {
        play(&mut open(self.parent()), &call("self_play", size), iteration(0), end_after, &self.played)
    }
}

fn training(size: i64) -> StepCall {
    let inputs = vec![Input { name: "start".to_owned(), digest: "0".repeat(64) }];
    StepCall { inputs, ..call("train", size) }
}

fn train(run: &mut Run, size: i64, slot: Slot) -> Finished {
    let body = |workspace: &StepWorkspace| {
        let path = workspace.slot.path("networks", ".safetensors");
        Ok::<_, RunError>(Product {
            files: vec![write(workspace, &path, &size.to_string())?],
            summary: Value::None,
        })
    };
    run.step(&training(size), slot, body).expect("trains")
}

/// Every file of the run with its content, except files that contain times.
fn content(parent: &Path) -> Vec<(String, String)> {
    let root = parent.join("tiny");
    let mut files = super::files::below(&root, "").expect("lists");
    files.retain(|name| !["journal.jsonl", "run.lock", "run.log", "costs.parquet"].contains(&name.as_str()));
    files
        .into_iter()
        .map(|name| (name.clone(), fs::read_to_string(root.join(&name)).expect("reads")))
        .collect()
}

fn names(parent: &Path) -> Vec<String> {
    content(parent).into_iter().map(|(name, _)| name).collect()
}

#[test]
fn an_interrupted_step_resumes_to_the_same_files_without_repeating_shards() {
    let uninterrupted = SelfPlayRun::new();
    let once = uninterrupted.play(1, None).expect("plays");
    for end_after in 0..3 {
        let run = SelfPlayRun::new();
        run.play(1, Some(end_after)).expect_err("ends");
        let resumed = run.play(1, None).expect("resumes");
        assert_eq!(run.played.get(), 3);
        assert_eq!(resumed.manifest, once.manifest);
        assert_eq!(content(run.parent()), content(uninterrupted.parent()));
    }
}

#[test]
fn a_finished_step_is_not_done_again() {
    let run = SelfPlayRun::new();
    let first = run.play(1, None).expect("plays");
    let second = run.play(1, None).expect("walks through");
    assert_eq!((first.before, second.before, run.played.get()), (false, true, 3));
    assert_eq!(first.manifest, second.manifest);
}

#[test]
fn equal_calls_within_a_script_are_different_steps() {
    let parent = tempfile::tempdir().expect("folder");
    let mut run = open(parent.path());
    let played = Cell::new(0);
    let first = play(&mut run, &call("self_play", 1), iteration(0), None, &played).expect("plays");
    let second = play(&mut run, &call("self_play", 1), iteration(1), None, &played).expect("plays");
    assert_ne!(first.manifest.step, second.manifest.step);
    assert_ne!(first.manifest.files[0].blake3, second.manifest.files[0].blake3);
}

#[test]
fn changed_parameters_supersede_old_files_and_changing_back_restores_them() {
    let parent = tempfile::tempdir().expect("folder");
    train(&mut open(parent.path()), 1, network(0));
    let before = content(parent.path());
    let changed = train(&mut open(parent.path()), 2, network(0));
    let superseded: Vec<String> =
        names(parent.path()).into_iter().filter(|name| name.starts_with("superseded/")).collect();
    assert_eq!(superseded.len(), 2, "the net and its manifest: {superseded:?}");
    assert_eq!(fs::read_to_string(parent.path().join("tiny/networks/0000.safetensors")).expect("reads"), "2");
    let back = train(&mut open(parent.path()), 1, network(0));
    assert!(back.before, "nothing is trained again");
    let recorded = History::read(view(parent.path()).folder()).expect("whole").manifests();
    assert_eq!(recorded.current().collect::<Vec<_>>(), [back.manifest.identity().short()]);
    let after: Vec<_> =
        content(parent.path()).into_iter().filter(|(name, _)| !name.starts_with("superseded/")).collect();
    assert_eq!(after, before);
    assert!(train(&mut open(parent.path()), 2, network(0)).before);
    assert!(!changed.before);
}

#[test]
fn steps_that_a_script_did_not_call_leave_the_run_at_its_end_and_return() {
    let parent = tempfile::tempdir().expect("folder");
    let played = Cell::new(0);
    let script = |numbers: std::ops::Range<i64>| {
        let mut run = open(parent.path());
        let steps = numbers.map(|number| {
            play(&mut run, &call("self_play", number), iteration(number as u32), None, &played)
                .expect("plays")
        });
        let before = steps.filter(|step| step.before).count();
        (before, run.complete().expect("moves files"))
    };
    let in_run = || -> Vec<_> {
        content(parent.path()).into_iter().filter(|(name, _)| !name.starts_with("superseded/")).collect()
    };
    assert_eq!(script(0..3), (0, 0));
    let whole = in_run();
    // A script that calls nothing says nothing about the run.
    assert_eq!(script(0..0), (0, 0));
    assert_eq!(in_run(), whole);
    assert_eq!(script(0..1), (1, 2));
    assert_eq!(view(parent.path()).steps().expect("reads").len(), 1);
    let short = in_run();
    // A kill came before this file followed its manifest.
    let tiny = parent.path().join("tiny");
    let moved =
        names(parent.path()).into_iter().find(|name| name.contains("iteration=0002/part")).expect("a file");
    let path = moved.splitn(3, '/').nth(2).expect("superseded/STEP/PATH");
    fs::create_dir_all(tiny.join(path).parent().expect("a folder")).expect("makes");
    fs::rename(tiny.join(&moved), tiny.join(path)).expect("moves back");
    assert_eq!(view(parent.path()).strays().expect("reads"), [] as [PathBuf; 0]);
    // Its content can be checked once it has followed, its bytes now.
    let checked = || {
        let Integrity { problems, steps, .. } = Integrity::of_run(&Folder::at(&tiny));
        (problems.len(), steps.len())
    };
    assert_eq!(checked(), (0, 2));
    let file = fs::read(tiny.join(path)).expect("reads");
    fs::write(tiny.join(path), [&file[..], b"."].concat()).expect("damages");
    assert_eq!(checked(), (1, 2));
    fs::write(tiny.join(path), file).expect("restores");
    assert_eq!(script(0..1), (1, 0));
    assert_eq!((checked(), in_run()), ((0, 3), short));
    assert_eq!((script(0..3), played.get()), ((3, 0), 9));
    assert_eq!(in_run(), whole);
}

#[test]
fn what_a_changed_script_has_not_come_to_leaves_the_run_once_it_does_something_new() {
    let parent = tempfile::tempdir().expect("folder");
    let trained = |run: &mut Run, size: i64, number: u32| {
        let step = train(run, size, network(number));
        let FileEntry { path: network, blake3, .. } = step.manifest.files[0].clone();
        let steps = Some(run.steps());
        run.promote(Generation { generation: number, network, blake3, steps }).expect("promotes");
        step.before
    };
    let listed = || -> Vec<u32> {
        let all = view(parent.path()).generations().expect("those of the journal");
        all.iter().map(|one| one.generation).collect()
    };
    let in_run = || -> Vec<_> {
        let mut all = content(parent.path());
        all.retain(|(name, _)| !name.starts_with("superseded/") && !name.starts_with("steps/work/"));
        all
    };
    let script = |sizes: &[i64]| -> Vec<bool> {
        let mut run = open(parent.path());
        sizes.iter().zip(0..).map(|(size, number)| trained(&mut run, *size, number)).collect()
    };
    assert_eq!(script(&[1, 2, 3, 4]), [false; 4]);
    let whole = in_run();
    assert_eq!(listed(), [0, 1, 2, 3]);
    // As long as it does nothing new, nothing leaves.
    assert_eq!(script(&[1, 2]), [true; 2]);
    assert_eq!((in_run(), listed()), (whole.clone(), vec![0, 1, 2, 3]));
    assert_eq!(script(&[1, 20]), [true, false]);
    assert_eq!((view(parent.path()).steps().expect("two").len(), listed()), (2, vec![0, 1]));
    assert_eq!(script(&[]), [] as [bool; 0]);
    let mut cut = open(parent.path());
    let failed =
        cut.step(&call("train", 30), network(0), |_| Err(RunError::Name { name: "ended".to_owned() }));
    assert!(failed.is_err() && view(parent.path()).steps().expect("none").is_empty());
    assert_eq!(listed(), [] as [u32; 0]);
    drop(cut);
    assert_eq!(script(&[1, 2, 3, 4]), [true; 4], "all return");
    assert_eq!((in_run(), listed()), (whole, vec![0, 1, 2, 3]));
}

#[test]
fn a_finished_step_that_is_done_again_keeps_those_after_it_in_the_run() {
    let parent = tempfile::tempdir().expect("folder");
    let mut run = open(parent.path());
    let steps: Vec<Finished> =
        [1, 2, 3].into_iter().zip(0..).map(|(size, number)| train(&mut run, size, network(number))).collect();
    drop(run);
    let folder = parent.path().join("tiny");
    let names_of = |step: &Finished| (folder.join(&step.manifest.files[0].path), step.manifest.identity());
    let (file, identity) = names_of(&steps[0]);
    let manifest =
        names(parent.path()).into_iter().find(|name| name.contains(identity.short())).expect("its manifest");
    for gone in [file, folder.join(manifest)] {
        fs::remove_file(gone).expect("removes");
        let mut run = open(parent.path());
        assert!(!train(&mut run, 1, network(0)).before);
        assert_eq!(view(parent.path()).steps().expect("all").len(), 3);
        assert!(train(&mut run, 2, network(1)).before && train(&mut run, 3, network(2)).before);
    }
}

/// A step that fails.
fn fail(run: &mut Run, call: &StepCall, slot: Slot) {
    let failed = run.step(call, slot, |_| Err(RunError::Name { name: "ended".to_owned() }));
    assert!(failed.is_err());
}

#[test]
fn steps_that_are_tried_again_keep_the_others_in_the_run() {
    let parent = tempfile::tempdir().expect("folder");
    let count = || view(parent.path()).steps().expect("reads").len();
    let failing = call("train", 9);
    let script = || {
        let mut run = open(parent.path());
        // It fails each time, and the script goes on.
        fail(&mut run, &failing, network(7));
        let before = count();
        let done: Vec<bool> = [1, 2].map(|size| train(&mut run, size, network(size as u32)).before).into();
        (before, done)
    };
    assert_eq!(script(), (0, vec![false; 2]));
    assert_eq!(script(), (2, vec![true; 2]));
    // A step that lost a file is done again, and stopped more than once.
    let step = view(parent.path()).steps().expect("reads").remove(0);
    let (call, file) = (step.manifest.call().expect("of a known kind"), step.manifest.files[0].path.clone());
    fs::remove_file(parent.path().join("tiny").join(file)).expect("removes");
    for _ in 0..3 {
        fail(&mut open(parent.path()), &call, network(1));
        assert_eq!(count(), 1, "the other one");
    }
    assert_eq!(script(), (1, vec![false, true]));
}

#[test]
fn files_of_a_step_without_its_manifest_replace_no_files_of_another_step() {
    let parent = tempfile::tempdir().expect("folder");
    let script = |size: i64| {
        let mut run = open(parent.path());
        train(&mut run, 1, network(0));
        train(&mut run, size, network(1)).before
    };
    let weights = || fs::read_to_string(parent.path().join("tiny/networks/0001.safetensors")).expect("reads");
    assert_eq!([2, 20, 2].map(script), [false, false, true]);
    let manifest = names(parent.path()).into_iter().find(|name| name.starts_with("steps/0001-"));
    fs::remove_file(parent.path().join("tiny").join(manifest.expect("of the second step"))).expect("removes");
    assert_eq!((script(2), weights().as_str()), (false, "2"));
    assert_eq!((script(20), weights().as_str()), (true, "20"));
}

#[test]
fn shards_of_a_step_that_a_script_calls_no_more_leave_the_run_and_return() {
    let parent = tempfile::tempdir().expect("folder");
    let played = Cell::new(0);
    let script = |sizes: &[i64], end_after: Option<u32>| {
        let mut run = open(parent.path());
        let steps = sizes.iter().zip(0..);
        let done = steps.map(|(size, number)| {
            play(&mut run, &call("self_play", *size), iteration(number), end_after, &played)
        });
        let done: Result<Vec<Finished>, RunError> = done.collect();
        done.map(|_| run.complete().expect("moves files"))
    };
    let in_run = || -> Vec<String> {
        names(parent.path()).into_iter().filter(|name| !name.starts_with("superseded/")).collect()
    };
    script(&[1, 2, 3], Some(7)).expect_err("ends in the third");
    let third = || in_run().into_iter().filter(|name| name.contains("iteration=0002")).count();
    assert_eq!(third(), 1);
    // At the end of a script, and when it does something else.
    assert_eq!((script(&[1, 2], None).expect("is done"), third()), (0, 0));
    assert_eq!(view(parent.path()).unfinished_kinds().expect("none"), [] as [String; 0]);
    assert_eq!((script(&[1, 2, 3], Some(8)).is_err(), third(), played.get()), (true, 2, 8));
    assert_eq!((script(&[1, 20], Some(9)).is_err(), third()), (true, 0));
    assert_eq!((script(&[1, 2, 3], None).expect("is done"), third()), (0, 3));
    assert_eq!(played.get(), 10, "each shard once, and one of the other step");
    assert_eq!(view(parent.path()).strays().expect("reads"), [] as [PathBuf; 0]);
}

#[test]
fn a_superseded_unfinished_step_resumes_when_its_parameters_change_back() {
    let run = SelfPlayRun::new();
    run.play(1, Some(2)).expect_err("ends");
    run.play(2, None).expect("plays");
    let in_slot = names(run.parent()).iter().filter(|name| name.starts_with("games/")).count();
    assert_eq!((in_slot, run.played.get()), (3, 5));
    let back = run.play(1, None).expect("resumes");
    assert_eq!((back.manifest.files.len(), run.played.get()), (3, 6), "two shards were finished before");
}

#[test]
fn an_inserted_step_renumbers_later_ones_without_redoing_them() {
    let parent = tempfile::tempdir().expect("folder");
    let played = Cell::new(0);
    let mut run = open(parent.path());
    for number in 0..2 {
        play(&mut run, &call("self_play", number), iteration(number as u32), None, &played).expect("plays");
    }
    drop(run);
    let mut run = open(parent.path());
    play(&mut run, &call("self_play", 9), iteration(0), None, &played).expect("plays");
    for number in 0..2 {
        let slot = iteration(number as u32 + 1);
        let moved = play(&mut run, &call("self_play", number), slot, None, &played).expect("is there");
        assert!(moved.before && moved.manifest.files.iter().all(|entry| slot.holds(&entry.path)));
        assert_eq!(moved.manifest.missing_file(run.folder()).expect("all complete"), None);
    }
    assert_eq!(played.get(), 9);
    assert!(names(parent.path()).iter().all(|name| !name.starts_with("superseded/")));
}

#[test]
fn a_step_with_a_lost_file_is_redone_with_the_same_files() {
    let run = SelfPlayRun::new();
    let done = run.play(1, None).expect("plays");
    let before = content(run.parent());
    fs::remove_file(run.root().join(&done.manifest.files[1].path)).expect("removes");
    run.play(1, Some(4)).expect_err("ends");
    let again = run.play(1, None).expect("plays");
    let found = (again.before, run.played.get());
    assert_eq!(found, (false, 6), "shards of the interrupted second attempt count too");
    assert_eq!(content(run.parent()), before);
}

#[test]
fn a_file_of_another_size_is_an_error_and_nothing_is_redone() {
    let run = SelfPlayRun::new();
    let done = run.play(1, None).expect("plays");
    fs::write(run.root().join(&done.manifest.files[1].path), "x").expect("cuts short");
    let error = run.play(1, None).expect_err("is changed");
    assert!(matches!(error, RunError::Changed { found: 1, .. }), "{error}");
    assert_eq!(run.played.get(), 3);
}

/// A run whose self-play was interrupted after two shards.
fn interrupted(size: i64) -> SelfPlayRun {
    let run = SelfPlayRun::new();
    run.play(size, Some(2)).expect_err("ends");
    run
}

#[test]
fn a_changed_byte_of_an_unfinished_step_is_an_error_and_deleting_the_file_heals_the_run() {
    let whole = SelfPlayRun::new();
    whole.play(1, None).expect("plays");
    let is_shard = |name: &String| name.contains("shard-") || name.contains("part-");
    let files: Vec<String> = names(interrupted(1).parent()).into_iter().filter(is_shard).collect();
    assert_eq!(files.len(), 4, "{files:?}");
    for (index, file) in files.iter().enumerate() {
        let run = interrupted(1);
        let path = run.root().join(file);
        let mut bytes = fs::read(&path).expect("reads");
        let middle = bytes.len() / (index + 2);
        bytes[middle] ^= 1;
        fs::write(&path, bytes).expect("writes");
        let error = run.play(1, None).expect_err("is damaged");
        let chain = error.to_string();
        assert!(
            matches!(error, RunError::Damaged { remedy: Remedy::Repeat, .. } | RunError::Table(_)),
            "{chain}"
        );
        assert!(chain.contains(&path.display().to_string()) && chain.contains("delete"), "{chain}");
        fs::remove_file(&path).expect("removes");
        run.play(1, None).expect("plays the shard again");
        assert_eq!(content(run.parent()), content(whole.parent()), "{file}");
    }
}

/// What a check finds wrong with a run whose self-play was interrupted after two shards, once `damage` has changed its folder.
fn found_after(damage: impl Fn(&Path)) -> Vec<String> {
    let run = interrupted(1);
    assert_eq!(Integrity::of_run(&Folder::at(&run.root())).problems, [""; 0]);
    damage(&run.root());
    Integrity::of_run(&Folder::at(&run.root())).problems
}

/// The files of a run whose names contain a part.
fn named(run: &Path, part: &str) -> Vec<PathBuf> {
    let names = super::files::below(run, "").expect("lists");
    names.into_iter().filter(|name| name.contains(part)).map(|name| run.join(name)).collect()
}

#[test]
fn a_check_of_an_interrupted_run_names_every_file_that_a_resume_would_use_and_lacks() {
    let check = |damage: &dyn Fn(&Path), expected: &[&str]| {
        let found = found_after(damage);
        assert_eq!(found.len(), 1, "{expected:?}: {found:?}");
        assert!(expected.iter().all(|part| found[0].contains(part)), "{expected:?}: {found:?}");
    };
    let remove = |run: &Path, part: &str| fs::remove_file(&named(run, part)[0]).expect("removes");
    check(&|run| remove(run, "00001.parquet"), &["00001.parquet is missing", "run the script again"]);
    let cut = |run: &Path| fs::write(&named(run, "00000.parquet")[0], "7").expect("writes");
    check(&cut, &["00000.parquet was cut off: 1 bytes instead of"]);
    let swap = |run: &Path| {
        let files = named(run, ".parquet");
        let [first, second] = [0, 1].map(|index| fs::read(&files[index]).expect("reads"));
        fs::write(&files[0], &second).expect("writes");
        fs::write(&files[1], &first).expect("writes");
    };
    let found = found_after(swap);
    assert!(found.len() == 2 && found.iter().all(|one| one.contains("has another digest")), "{found:?}");
    check(
        &|run| remove(run, "claim.json"),
        &["claim.json is damaged: it is missing, though its step is under way"],
    );
    // A part of no step that is known, beside those of the step that has claimed the folder.
    let copy_as_other = |run: &Path| {
        let part = &named(run, "00001.parquet")[0];
        let name = part.file_name().expect("a name").to_string_lossy().into_owned();
        let (step, rest) = name.trim_start_matches("part-").split_once('-').expect("a step");
        fs::copy(part, part.with_file_name(format!("part-{}-{rest}", "0".repeat(step.len()))))
            .expect("copies");
    };
    check(&copy_as_other, &["part-00000000-00001.parquet"]);
}

#[test]
fn tables_without_the_shards_of_a_step_whose_claim_is_lost_are_an_error() {
    let run = interrupted(1);
    let folder = Folder::at(&run.root());
    assert!(!Salvage::of_whole(&folder).expect("is whole").unfinished_files.is_empty());
    fs::remove_file(&named(&run.root(), "claim.json")[0]).expect("removes");
    let error = Salvage::of_whole(&folder).expect_err("is damaged").to_string();
    assert!(error.contains("claim.json is damaged: it is missing"), "{error}");
    let faults = Salvage::of_run(&folder).faults;
    assert!(faults.iter().any(|fault| fault.message.contains("claim.json is damaged")), "{faults:?}");
}

/// Damages a run's folder.
type Damage<'a> = &'a dyn Fn(&Path);

#[test]
fn the_note_or_claim_of_another_shard_or_step_is_an_error_and_deleting_it_heals_the_run() {
    let whole = SelfPlayRun::new();
    whole.play(1, None).expect("plays");
    let copy = |from: &Path, to: &Path| _ = fs::copy(from, to).expect("copies");
    let of_other_step = interrupted(7);
    let other = of_other_step.root();
    let cases: [(Damage<'_>, &str, &str); 3] = [
        (
            &|run| copy(&named(run, "shard-00000")[0], &named(run, "shard-00001")[0]),
            "shard-00001",
            "no file of this shard",
        ),
        (
            &|run| copy(&named(&other, "shard-00001")[0], &named(run, "shard-00001")[0]),
            "shard-00001",
            "no file of this shard",
        ),
        (
            &|run| copy(&named(&other, "claim")[0], &named(run, "claim")[0]),
            "claim",
            "the claim of another step, self_play",
        ),
    ];
    for (damage, file, expected) in cases {
        let found = found_after(damage);
        assert!(found.iter().any(|one| one.contains(expected)), "{found:?}");
        let run = interrupted(1);
        damage(&run.root());
        if file != "claim" {
            let error = run.play(1, None).expect_err("is another's").to_string();
            assert!(error.contains(expected) && error.contains("delete it"), "{error}");
        }
        fs::remove_file(&named(&run.root(), file)[0]).expect("removes");
        run.play(1, None).expect("plays what is missing");
        assert_eq!(content(run.parent()), content(whole.parent()), "{expected}");
    }
}

#[test]
fn a_shard_that_is_removed_while_its_step_runs_is_an_error() {
    let parent = tempfile::tempdir().expect("folder");
    let mut run = open(parent.path());
    let body = |workspace: &StepWorkspace| {
        for shard in 0..2 {
            let file = write(workspace, &workspace.part("games", shard), "text")?;
            workspace.keep_shard(shard, &ShardNote { files: vec![file], part: shard })?;
        }
        fs::remove_file(workspace.folder.path(&workspace.part("games", 1))).expect("removes");
        workspace.all_shards::<u32>(2).map(|_| Product { files: Vec::new(), summary: Value::None })
    };
    let error = run.step(&call("self_play", 1), iteration(0), body).expect_err("has lost a shard");
    assert!(matches!(error, RunError::ShardLost { shard: 1, .. }), "{error}");
}

#[cfg(unix)]
#[test]
fn a_run_that_is_removed_or_replaced_while_a_step_runs_is_an_error() {
    for is_replaced in [false, true] {
        let parent = tempfile::tempdir().expect("folder");
        let mut run = open(parent.path());
        let body = |workspace: &StepWorkspace| {
            fs::remove_dir_all(workspace.folder.root()).expect("removes");
            if is_replaced {
                drop(open(parent.path()));
            }
            let path = workspace.slot.path("networks", ".safetensors");
            Ok(Product { files: vec![write(workspace, &path, "net")?], summary: Value::None })
        };
        let error = run.step(&call("train", 1), network(0), body).expect_err("is gone");
        assert!(matches!(error, RunError::Removed { .. }), "{error}");
        assert!(!run.folder().steps().exists(), "no step counts as finished");
        assert!(matches!(run.check_folder(), Err(RunError::Removed { .. })));
    }
}

#[cfg(unix)]
#[test]
fn a_step_that_misses_its_files_in_a_moved_run_says_that_the_run_is_gone() {
    let parent = tempfile::tempdir().expect("folder");
    let mut run = open(parent.path());
    let body = |workspace: &StepWorkspace| {
        let file = write(workspace, &workspace.part("games", 0), "text")?;
        workspace.keep_shard(0, &ShardNote { files: vec![file], part: 0 })?;
        fs::rename(workspace.folder.root(), parent.path().join("moved")).expect("moves");
        workspace.all_shards::<u32>(1).map(|_| Product { files: Vec::new(), summary: Value::None })
    };
    let error = run.step(&call("self_play", 1), iteration(0), body).expect_err("is gone");
    assert!(matches!(error, RunError::Removed { .. }), "{error}");
}

#[test]
fn a_damaged_manifest_is_an_error() {
    let parent = tempfile::tempdir().expect("folder");
    train(&mut open(parent.path()), 1, network(0));
    let manifest =
        names(parent.path()).into_iter().find(|name| name.starts_with("steps/")).expect("a manifest");
    fs::write(parent.path().join("tiny").join(manifest), "{\"version\": 1").expect("cuts short");
    let error = Run::open(&opening(parent.path())).expect_err("is damaged");
    assert!(matches!(error, RunError::Damaged { .. }), "{error}");
}

/// A run with two finished steps, and the paths of their manifests.
fn two_steps(parent: &Path) -> [std::path::PathBuf; 2] {
    let mut run = open(parent);
    train(&mut run, 1, network(0));
    train(&mut run, 2, network(1));
    super::view::manifest_files(run.folder()).expect("lists").try_into().expect("two manifests")
}

fn view(parent: &Path) -> RunView {
    RunView::new(Folder::of_run(parent, "tiny").expect("a name"))
}

/// Every event of the run's journal.
fn events(parent: &Path) -> Vec<JournalEvent> {
    let history = History::read(view(parent).folder()).expect("whole");
    history.entries().iter().filter_map(super::JournalEntry::event).collect()
}

#[test]
fn a_changed_figure_in_a_record_or_manifest_is_an_error_that_says_what_to_do() {
    let parent = tempfile::tempdir().expect("folder");
    let [manifest, _] = two_steps(parent.path());
    for (path, old, new, remedy) in [
        (manifest, "\"size\": 1", "\"size\": 3", "delete it and give the run's command again"),
        (view(parent.path()).folder().record(), "\"seed\": 7", "\"seed\": 8", "put back a good copy"),
    ] {
        let text = fs::read_to_string(&path).expect("reads");
        assert!(text.contains(old), "{text}");
        fs::write(&path, text.replacen(old, new, 1)).expect("writes");
        let error = Run::open(&opening(parent.path())).expect_err("is damaged").to_string();
        for part in
            [&*path.display().to_string(), "the digest of its content is", "as written at its end", remedy]
        {
            assert!(error.contains(part), "{part}: {error}");
        }
        fs::write(&path, text).expect("writes");
    }
    drop(open(parent.path()));
}

#[test]
fn a_manifest_that_was_swapped_or_exchanged_is_an_error() {
    let parent = tempfile::tempdir().expect("folder");
    let [first, second] = two_steps(parent.path());
    let contents = [&first, &second].map(|path| fs::read(path).expect("reads"));
    // Two manifests under each other's names.
    fs::write(&first, &contents[1]).expect("writes");
    fs::write(&second, &contents[0]).expect("writes");
    let error = view(parent.path()).steps().expect_err("are exchanged").to_string();
    assert!(error.contains("it is the manifest of another step, train "), "{error}");
    // A manifest of the same step with another result, such as one of another run.
    fs::write(&second, &contents[1]).expect("writes");
    fs::write(&first, &contents[0]).expect("writes");
    let mut other = super::Manifest::read(&first).expect("is whole");
    other.summary = Value::Int(9);
    other.write(&first).expect("writes");
    for error in [
        view(parent.path()).steps().expect_err("differs"),
        Run::open(&opening(parent.path())).expect_err("differs"),
    ] {
        assert!(error.to_string().contains("as journal.jsonl says"), "{error}");
    }
    fs::remove_file(&first).expect("removes");
    assert!(!train(&mut open(parent.path()), 1, network(0)).before, "the step is done again");
    assert_eq!(fs::read(&first).expect("a manifest"), contents[0]);
}

#[test]
fn a_removed_manifest_is_an_error_until_the_run_is_opened() {
    let parent = tempfile::tempdir().expect("folder");
    let [first, _] = two_steps(parent.path());
    let content = fs::read(&first).expect("reads");
    fs::remove_file(&first).expect("removes");
    let error = view(parent.path()).steps().expect_err("is gone");
    assert!(matches!(error, RunError::ManifestLost { .. }), "{error}");
    let mut run = open(parent.path());
    assert_eq!(view(parent.path()).steps().expect("the loss is known").len(), 1);
    train(&mut run, 1, network(0));
    assert_eq!(fs::read(&first).expect("a manifest"), content);
    assert_eq!(view(parent.path()).steps().expect("whole").len(), 2);
}

#[test]
fn a_manifest_without_an_entry_is_recorded_and_deleted_superseded_steps_are_not_missed() {
    let parent = tempfile::tempdir().expect("folder");
    two_steps(parent.path());
    let journal = view(parent.path()).folder().journal();
    let text = fs::read_to_string(&journal).expect("reads");
    // A kill between the last manifest and its entry.
    let end = text.trim_end().rfind('\n').expect("several lines") + 1;
    fs::write(&journal, &text[..end]).expect("writes");
    assert_eq!(view(parent.path()).steps().expect("whole").len(), 2);
    drop(open(parent.path()));
    assert_eq!(events(parent.path()).last(), Some(&JournalEvent::Recorded));
    train(&mut open(parent.path()), 3, network(0));
    assert_eq!(view(parent.path()).steps().expect("two are superseded").len(), 1);
    fs::remove_dir_all(view(parent.path()).folder().superseded()).expect("removes");
    assert_eq!(view(parent.path()).steps().expect("whole").len(), 1);
    // A step that has moved to another slot is still the step that was recorded.
    assert!(train(&mut open(parent.path()), 3, network(5)).before);
    assert_eq!(view(parent.path()).steps().expect("whole").len(), 1);
}

#[test]
fn a_journal_without_entries_of_several_finished_steps_is_an_error_until_the_run_goes_on() {
    let parent = tempfile::tempdir().expect("folder");
    two_steps(parent.path());
    let journal = view(parent.path()).folder().journal();
    let text = fs::read_to_string(&journal).expect("reads");
    // Whole lines are gone, more than a kill takes.
    let end = text.find('\n').expect("a line") + 1;
    fs::write(&journal, &text[..end]).expect("writes");
    let run = view(parent.path());
    for error in [
        run.steps().expect_err("entries are lost"),
        run.history().expect_err("entries are lost"),
        Salvage::of_whole(run.folder()).expect_err("entries are lost"),
    ] {
        let error = error.to_string();
        assert!(error.contains("it has no entry of the finished steps 0000-train-"), "{error}");
    }
    let salvage = Salvage::of_run(run.folder());
    assert_eq!((salvage.steps.len(), salvage.faults.len()), (2, 1), "{:?}", salvage.faults);
    drop(open(parent.path()));
    assert_eq!(run.steps().expect("they are recorded").len(), 2);
}

#[test]
fn a_damaged_journal_is_an_error_and_deleting_it_heals_the_run() {
    let parent = tempfile::tempdir().expect("folder");
    two_steps(parent.path());
    let path = view(parent.path()).folder().journal();
    let text = fs::read_to_string(&path).expect("reads");
    fs::write(&path, text.replacen("finished", "finisher", 1)).expect("writes");
    for error in [
        view(parent.path()).steps().expect_err("damaged"),
        Run::open(&opening(parent.path())).expect_err("damaged"),
    ] {
        let error = error.to_string();
        assert!(
            error.contains("journal.jsonl is damaged: line ") && error.contains("or delete it"),
            "{error}"
        );
    }
    fs::remove_file(&path).expect("removes");
    assert!(train(&mut open(parent.path()), 1, network(0)).before);
    let recorded = events(parent.path()).into_iter().filter(|event| *event == JournalEvent::Recorded).count();
    assert_eq!(recorded, 2);
}

#[test]
fn two_processes_cannot_write_one_run() {
    let parent = tempfile::tempdir().expect("folder");
    let run = open(parent.path());
    let error = Run::open(&opening(parent.path())).expect_err("is locked");
    let expected =
        format!("is being written by the process {}; wait for it, or stop it first", std::process::id());
    assert!(error.to_string().ends_with(&expected), "{error}");
    drop(run);
    open(parent.path());
}

#[test]
fn a_run_keeps_its_script_seed_device_and_threads() {
    let parent = tempfile::tempdir().expect("folder");
    open(parent.path());
    let other_script = Opening { record: record("b.rhai"), ..opening(parent.path()) };
    let error = Run::open(&other_script).expect_err("another script").to_string();
    assert!(error.contains("was made by a.rhai, not by b.rhai"), "{error}");
    let request = |requested| Run::open(&Opening { requested, ..opening(parent.path()) });
    let other_seed = Requested { seed: Some(8), ..Requested::default() };
    let error = request(other_seed).expect_err("another seed").to_string();
    assert!(error.contains("was created with seed 7, and 8 was asked for"), "{error}");
    let other_device = Requested { device: Some("cuda:0"), ..Requested::default() };
    assert!(matches!(request(other_device), Err(RunError::Fixed { what: "device", .. })));
    let reopen_on = |found: &str, requested: &str| {
        let parent = tempfile::tempdir().expect("folder");
        let mut first = opening(parent.path());
        found.clone_into(&mut first.record.environment.device);
        Run::open(&first).expect("opens");
        let requested = Requested { device: Some(requested), ..Requested::default() };
        Run::open(&Opening { requested, ..first })
    };
    reopen_on("cuda:0", "cuda:1,cuda:2").expect("any device of the same kind is accepted");
    let error = reopen_on("cuda:0", "cpu").expect_err("another kind of device").to_string();
    assert!(error.contains("was created with device cuda, and cpu was asked for"), "{error}");
    let same = Requested { seed: Some(7), threads: Some(1), ..Requested::default() };
    request(same).expect("matches the run");
}

#[test]
fn an_edited_script_is_stored_beside_the_first() {
    let parent = tempfile::tempdir().expect("folder");
    open(parent.path());
    let mut edited = opening(parent.path());
    edited.record.script.text = "open_run(\"tiny\"); // edited".to_owned();
    edited.record.script.blake3 = durable::digest(edited.record.script.text.as_bytes());
    let run = Run::open(&edited).expect("opens");
    assert_eq!(run.record().script.text, "open_run(\"tiny\")");
    let stored = run.folder().script(&edited.record.script.blake3);
    assert_eq!(fs::read_to_string(stored).expect("reads"), edited.record.script.text);
}

#[test]
fn newer_and_older_runs_and_foreign_folders_are_refused() {
    let parent = tempfile::tempdir().expect("folder");
    drop(open(parent.path()));
    let folder = Folder::of_run(parent.path(), "tiny").expect("a name");
    let newer = Record { version: FORMAT_VERSION + 1, ..record("a.rhai") };
    newer.write(&folder).expect("writes");
    assert!(matches!(Run::open(&opening(parent.path())), Err(RunError::Newer { found: 3, known: 2, .. })));
    let older = serde_json::json!({ "version": 1, "name": "tiny" });
    fs::write(folder.record(), older.to_string()).expect("writes");
    assert!(matches!(Run::open(&opening(parent.path())), Err(RunError::Older { found: 1, known: 2, .. })));
    let parent = tempfile::tempdir().expect("folder");
    fs::create_dir(parent.path().join("tiny")).expect("folder");
    fs::write(parent.path().join("tiny/thesis.tex"), "text").expect("writes");
    assert!(matches!(Run::open(&opening(parent.path())), Err(RunError::NoRun { .. })));
}

#[test]
fn temporary_files_and_a_cut_journal_line_are_removed() {
    let parent = tempfile::tempdir().expect("folder");
    drop(open(parent.path()));
    let root = parent.path().join("tiny");
    fs::create_dir_all(root.join("games/iteration=0000")).expect("folder");
    let unfinished = root.join("games/iteration=0000/part-01234567-00000.parquet.4242.tmp");
    fs::write(&unfinished, "half").expect("writes");
    let journal = fs::read_to_string(root.join("journal.jsonl")).expect("reads");
    fs::write(root.join("journal.jsonl"), format!("{journal}{{\"at\": \"20")).expect("writes");
    drop(open(parent.path()));
    assert!(!unfinished.exists());
    let journal = fs::read_to_string(root.join("journal.jsonl")).expect("reads");
    let parsed =
        journal.lines().filter(|line| serde_json::from_str::<serde_json::Value>(line).is_ok()).count();
    assert_eq!((journal.lines().count(), parsed), (2, 2), "{journal}");
}

#[test]
fn invalid_run_names_are_refused() {
    for name in ["", "..", "a/b", "a\\b", ".hidden", "ä", "-x", "a\x07b"] {
        let parent = tempfile::tempdir().expect("folder");
        let mut opening = opening(parent.path());
        opening.record.name = name.to_owned();
        let error = Run::open(&opening).expect_err("no name of a run");
        assert!(matches!(error, RunError::Name { .. }), "{name}");
        assert!(!error.to_string().contains(char::is_control), "{error}");
    }
}

fn open_beside(parent: &Path, name: &str, sources: &Arc<super::ReuseSources>) -> Result<Run, RunError> {
    let mut opening = opening(parent);
    name.clone_into(&mut opening.record.name);
    opening.reuse_sources = Arc::clone(sources);
    Run::open(&opening)
}

#[test]
fn a_taken_over_step_keeps_its_time_and_outlives_the_other_run() {
    let parent = tempfile::tempdir().expect("folder");
    let played = Cell::new(0);
    let mut source = open(parent.path());
    let sources = Arc::new(super::ReuseSources::default());
    sources.add(source.folder().clone());
    train(&mut source, 5, network(0));
    let made = play(&mut source, &call("self_play", 1), iteration(4), None, &played).expect("plays");
    let mut run = open_beside(parent.path(), "other", &sources).expect("opens");
    let taken = play(&mut run, &call("self_play", 1), iteration(0), None, &played).expect("takes over");
    assert_eq!((played.get(), taken.before), (3, false), "nothing is played twice");
    assert_eq!(taken.from.as_deref(), Some(&*source.folder().root().display().to_string()));
    assert_eq!(
        (taken.manifest.summary.clone(), taken.seconds),
        (made.manifest.summary.clone(), made.seconds)
    );
    assert!(taken.manifest.files.iter().all(|file| file.path.starts_with("games/iteration=0000/")));
    // Steps that the other run lacks are done here.
    let own = play(&mut run, &call("self_play", 2), iteration(1), None, &played).expect("plays");
    assert_eq!((played.get(), own.from), (6, None));
    drop((run, source));
    fs::remove_dir_all(parent.path().join("tiny")).expect("removes");
    let mut run = open_beside(parent.path(), "other", &Arc::default()).expect("opens");
    let again = play(&mut run, &call("self_play", 1), iteration(0), None, &played).expect("is there");
    assert_eq!((played.get(), again.before, again.seconds), (6, true, made.seconds));
    for (file, was) in again.manifest.files.iter().zip(&made.manifest.files) {
        assert_eq!(file.blake3, was.blake3);
        let content = fs::read(run.folder().path(&file.path)).expect("reads");
        assert_eq!(durable::digest(&content), file.blake3);
    }
}

#[test]
fn a_step_is_to_do_until_this_run_or_a_reuse_source_has_finished_it() {
    let parent = tempfile::tempdir().expect("folder");
    let step = training(5);
    let mut run = open(parent.path());
    assert!(run.is_to_do(&step).expect("reads"));
    fail(&mut run, &step, network(0));
    drop(run);
    let mut run = open(parent.path());
    assert!(run.is_to_do(&step).expect("reads"), "it failed");
    train(&mut run, 5, network(0));
    assert!(run.is_to_do(&step).expect("reads"), "the next equal call is another step");
    drop(run);
    train(&mut open(parent.path()), 6, network(0));
    let run = open(parent.path());
    assert!(!run.is_to_do(&step).expect("reads"), "it was superseded, and returns");
    let sources = Arc::new(super::ReuseSources::default());
    sources.add(run.folder().clone());
    let other = open_beside(parent.path(), "other", &sources).expect("opens");
    assert!(!other.is_to_do(&training(6)).expect("reads"), "it is taken over");
    assert!(other.is_to_do(&training(7)).expect("reads"));
}

#[test]
fn concurrent_equal_steps_are_done_by_one_run() {
    let parent = tempfile::tempdir().expect("folder");
    let sources = Arc::new(super::ReuseSources::default());
    let done = std::sync::atomic::AtomicU32::new(0);
    let names = ["a", "b", "c"];
    let runs = names.map(|name| open_beside(parent.path(), name, &sources).expect("opens"));
    for run in &runs {
        sources.add(run.folder().clone());
    }
    std::thread::scope(|scope| {
        for mut run in runs {
            let done = &done;
            scope.spawn(move || {
                let body = |workspace: &StepWorkspace| {
                    done.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
                    std::thread::sleep(std::time::Duration::from_millis(50));
                    let path = workspace.slot.path("networks", ".safetensors");
                    let files = vec![write(workspace, &path, "net")?];
                    Ok::<_, RunError>(Product { files, summary: Value::None })
                };
                run.step(&call("train", 1), network(0), body).expect("trains or takes over");
            });
        }
    });
    assert_eq!(done.into_inner(), 1);
}

#[test]
fn steps_of_another_environment_are_not_taken_over() {
    let parent = tempfile::tempdir().expect("folder");
    let sources = Arc::new(super::ReuseSources::default());
    sources.add(open(parent.path()).folder().clone());
    let mut other = opening(parent.path());
    "other".clone_into(&mut other.record.name);
    other.record.environment.threads = 2;
    other.reuse_sources = sources;
    let error = Run::open(&other).expect_err("another environment").to_string();
    assert!(
        error.contains("1 training thread, and this run with") && error.contains("2 training"),
        "{error}"
    );
}

#[test]
fn the_cost_of_a_step_sums_all_its_attempts() {
    let parent = tempfile::tempdir().expect("folder");
    let played = Cell::new(0);
    let step = call("self_play", 3);
    for end_after in [1, 2] {
        let mut run = open(parent.path());
        play(&mut run, &step, iteration(0), Some(end_after), &played).expect_err("ends");
        assert!(!run.folder().path("costs.parquet").exists(), "nothing is finished");
    }
    let mut run = open(parent.path());
    let finished = play(&mut run, &step, iteration(0), None, &played).expect("plays");
    let cost = run.journal().cost(finished.manifest.identity().short()).expect("a cost");
    assert_eq!((cost.attempts, cost.secs, cost.from), (3, finished.seconds, None));
    assert!(cost.figures.expect("measured").peak_memory > 0);
    let table = fs::read(run.folder().path("costs.parquet")).expect("a table");
    drop(run);
    fs::remove_file(parent.path().join("tiny/costs.parquet")).expect("removes");
    let run = open(parent.path());
    assert_eq!(fs::read(run.folder().path("costs.parquet")).expect("a table"), table);
}
