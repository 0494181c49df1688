//! The prefix of a run: its steps up to one of its iterations, with which a fork begins.

use dc0_core::durable;
use dc0_core::params::Value;

use super::error::RunError;
use super::folder::Folder;
use super::fork::{ForkRecord, ForkStep};
use super::generations::Generation;
use super::identity::Occurrences;
use super::kind::StepKind;
use super::lock::Lock;
use super::manifest::Manifest;
use super::record::Record;
use super::slot::{Numbers, Series, Slot};
use super::view::{FinishedStep, RunView};

/// The part of a run with which a fork begins.
#[derive(Debug)]
pub struct Prefix {
    /// The record of the fork.
    pub fork: ForkRecord,
    /// The record of the run that is forked.
    pub record: Record,
    /// The finished steps with their slots.
    pub steps: Vec<(Slot, Manifest)>,
}

impl Prefix {
    /// Reads a run up to the end of one of its iterations, that is, all steps before the games of the next iteration. The run
    /// is locked against writers meanwhile.
    pub fn read(source: &Folder, from: &str, iteration: u32) -> Result<Self, RunError> {
        let _lock = Lock::hold(source)?;
        let absent = || RunError::Absent { folder: source.root().to_owned() };
        let view = RunView::new(source.clone());
        let record = view.record()?.ok_or_else(absent)?;
        let all = in_order(&view)?;
        let end = end_of(source, &all, iteration)?;
        let steps = checked_steps(source, all, iteration, end)?;
        let promotions = promotions(view.generations()?, &steps);
        let named = |(_, manifest): &(Slot, Manifest)| ForkStep {
            step: manifest.step.clone(),
            kind: manifest.kind.clone(),
        };
        let fork = ForkRecord {
            from: from.to_owned(),
            iteration,
            digest: digest(&steps, &promotions),
            steps: steps.iter().map(named).collect(),
            promotions,
        };
        Ok(Self { fork, record, steps })
    }
}

/// A digest of everything that a fork begins with.
fn digest(steps: &[(Slot, Manifest)], promotions: &[Generation]) -> String {
    let step = |(_, manifest): &(Slot, Manifest)| {
        let files = manifest.files.iter().map(|file| Value::from(&file.blake3));
        Value::List(std::iter::once(Value::from(&manifest.step)).chain(files).collect())
    };
    let promoted =
        |promoted: &Generation| Value::List(vec![promoted.blake3.as_str().into(), promoted.steps.into()]);
    let all = vec![
        Value::List(steps.iter().map(step).collect()),
        Value::List(promotions.iter().map(promoted).collect()),
    ];
    durable::digest(Value::List(all).canonical().as_bytes())
}

/// All finished steps of a run with their positions in its script.
fn in_order(source: &RunView) -> Result<Vec<(u32, Manifest)>, RunError> {
    let with_order = |step: FinishedStep| {
        let damaged = || RunError::damaged(&step.path, "its name has no number");
        Ok((step.order().ok_or_else(damaged)?, step.manifest))
    };
    source.steps()?.into_iter().map(with_order).collect()
}

/// The number of steps up to the end of an iteration.
fn end_of(source: &Folder, all: &[(u32, Manifest)], iteration: u32) -> Result<u32, RunError> {
    let folder = || source.root().to_owned();
    let games_of = |number| {
        let slot = Slot { series: Series::Iterations, number };
        let has_games = |manifest: &Manifest| manifest.files.iter().any(|file| slot.holds(&file.path));
        all.iter().find(|(_, manifest)| has_games(manifest)).map(|(order, _)| *order)
    };
    if games_of(iteration).is_none() {
        let finished = (0..=iteration).take_while(|number| games_of(*number).is_some()).count();
        return Err(RunError::ForkEarly { folder: folder(), iteration, finished });
    }
    if let Some(next) = iteration.checked_add(1).and_then(games_of) {
        return Ok(next);
    }
    // Unfinished games belong to the next iteration.
    let is_game = |kind: &str| StepKind::named(kind).is_some_and(|kind| kind.series() == Series::Iterations);
    match RunView::new(source.clone()).unfinished_kinds()?.into_iter().find(|kind| !is_game(kind)) {
        Some(kind) => Err(RunError::ForkUnfinished { folder: folder(), iteration, kind }),
        None => Ok(all.last().map_or(0, |(order, _)| order + 1)),
    }
}

/// The first `end` steps in order, checked to be exactly what one execution of a script does.
fn checked_steps(
    source: &Folder,
    all: Vec<(u32, Manifest)>,
    iteration: u32,
    end: u32,
) -> Result<Vec<(Slot, Manifest)>, RunError> {
    let mixed = |what: String| RunError::ForkMixed { folder: source.root().to_owned(), iteration, what };
    let (mut occurrences, mut numbers) = (Occurrences::default(), Numbers::default());
    let mut steps: Vec<(Slot, Manifest)> = Vec::new();
    for (order, manifest) in all.into_iter().filter(|(order, _)| *order < end) {
        let kind = manifest.kind.clone();
        if order as usize != steps.len() {
            let is_missing = order as usize > steps.len();
            let what = if is_missing {
                format!("step {} is missing", steps.len())
            } else {
                format!("there are two steps {order}")
            };
            return Err(mixed(what));
        }
        let unknown =
            || mixed(format!("step {order} is of the kind `{kind}`, which this dc0-run does not know"));
        let call = manifest.call().ok_or_else(unknown)?;
        let slot = numbers.next(StepKind::named(&kind).ok_or_else(unknown)?.series());
        let is_in_place = manifest.files.first().is_some_and(|file| slot.holds(&file.path));
        if !is_in_place || occurrences.next(&call, manifest.seed) != manifest.identity() {
            return Err(mixed(format!("step {order} ({kind}) was done at another position")));
        }
        if let Some(path) = manifest.missing_file(source)? {
            return Err(RunError::ForkLost { path: source.path(&path) });
        }
        steps.push((slot, manifest));
    }
    if steps.len() < end as usize {
        return Err(mixed(format!("step {} is missing", steps.len())));
    }
    Ok(steps)
}

/// The nets promoted within these steps. If the run does not record when, the promotion counts as following the step that
/// made the net.
fn promotions(all: Vec<Generation>, steps: &[(Slot, Manifest)]) -> Vec<Generation> {
    let made = |generation: &Generation| {
        let made_it = |(_, manifest): &(Slot, Manifest)| {
            manifest.weights().is_some_and(|weights| weights.blake3 == generation.blake3)
        };
        steps.iter().position(made_it).map(|step| step as u32 + 1)
    };
    let included = |generation: Generation| {
        let steps_before = generation.steps.or_else(|| made(&generation))?;
        let is_before = made(&generation).is_some() && steps_before <= steps.len() as u32;
        is_before.then_some(Generation { steps: Some(steps_before), ..generation })
    };
    all.into_iter().map_while(included).collect()
}
