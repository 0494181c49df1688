//! The steps of a run up to one of its iterations, which a fork of it begins with.

use dc0_core::durable;
use dc0_core::params::Value;

use super::error::RunError;
use super::folder::Folder;
use super::fork::{ForkRecord, ForkStep};
use super::generations::Generation;
use super::identity::Occurrences;
use super::lock::Lock;
use super::manifest::Manifest;
use super::record::Record;
use super::slot::{Numbers, Series, Slot};
use super::view::{FinishedStep, RunView};

/// The beginning of a run, as a fork has it.
#[derive(Debug)]
pub struct Prefix {
    /// What the fork's record says.
    pub fork: ForkRecord,
    /// The run that it is the beginning of.
    pub record: Record,
    /// The finished steps with their places.
    pub steps: Vec<(Slot, Manifest)>,
}

impl Prefix {
    /// The beginning of a run up to the end of one of its iterations: everything before the games of the next one. Nobody may
    /// write the run meanwhile.
    pub fn read(donor: &Folder, from: &str, iteration: u32) -> Result<Self, RunError> {
        let _held = Lock::hold(donor)?;
        let absent = || RunError::Absent { folder: donor.root().to_owned() };
        let view = RunView::new(donor.clone());
        let record = view.record()?.ok_or_else(absent)?;
        let all = in_order(&view)?;
        let end = end_of(donor, &all, iteration)?;
        let steps = in_turn(donor, all, (iteration, end))?;
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
    let text = |text: &str| Value::Text(text.to_owned());
    let step = |(_, manifest): &(Slot, Manifest)| {
        let files = manifest.files.iter().map(|file| text(&file.blake3));
        Value::List(std::iter::once(text(&manifest.step)).chain(files).collect())
    };
    let promoted = |promoted: &Generation| {
        let steps = promoted.steps.map_or(Value::None, |steps| Value::Int(steps.into()));
        Value::List(vec![text(&promoted.blake3), steps])
    };
    let all = vec![
        Value::List(steps.iter().map(step).collect()),
        Value::List(promotions.iter().map(promoted).collect()),
    ];
    durable::digest(Value::List(all).canonical().as_bytes())
}

/// All finished steps of a run with their places in its script.
fn in_order(donor: &RunView) -> Result<Vec<(u32, Manifest)>, RunError> {
    let placed = |step: FinishedStep| {
        let damaged = || RunError::damaged(&step.path, "its name has no number");
        Ok((step.order().ok_or_else(damaged)?, step.manifest))
    };
    donor.steps()?.into_iter().map(placed).collect()
}

/// The number of steps up to the end of an iteration.
fn end_of(donor: &Folder, all: &[(u32, Manifest)], iteration: u32) -> Result<u32, RunError> {
    let folder = || donor.root().to_owned();
    let games_of = |number| {
        let slot = Slot { series: Series::Iterations, number };
        let is_it = |manifest: &Manifest| manifest.files.iter().any(|file| slot.holds(&file.path));
        all.iter().find(|(_, manifest)| is_it(manifest)).map(|(order, _)| *order)
    };
    if games_of(iteration).is_none() {
        let finished = (0..=iteration).take_while(|number| games_of(*number).is_some()).count();
        return Err(RunError::ForkEarly { folder: folder(), iteration, finished });
    }
    if let Some(next) = iteration.checked_add(1).and_then(games_of) {
        return Ok(next);
    }
    // Games under way are those of the next iteration.
    match RunView::new(donor.clone()).unfinished_kinds()?.into_iter().find(|kind| kind != "self_play") {
        Some(kind) => Err(RunError::ForkUnfinished { folder: folder(), iteration, kind }),
        None => Ok(all.last().map_or(0, |(order, _)| order + 1)),
    }
}

/// The first steps in their order, each once, as one execution of a script does them.
fn in_turn(
    donor: &Folder,
    all: Vec<(u32, Manifest)>,
    (iteration, end): (u32, u32),
) -> Result<Vec<(Slot, Manifest)>, RunError> {
    let mixed = |what: String| RunError::ForkMixed { folder: donor.root().to_owned(), iteration, what };
    let (mut occurrences, mut numbers) = (Occurrences::default(), Numbers::default());
    let mut steps: Vec<(Slot, Manifest)> = Vec::new();
    for (order, manifest) in all.into_iter().filter(|(order, _)| *order < end) {
        let kind = manifest.kind.clone();
        if order as usize != steps.len() {
            let lacks = order as usize > steps.len();
            let what = if lacks {
                format!("step {} is missing", steps.len())
            } else {
                format!("there are two steps {order}")
            };
            return Err(mixed(what));
        }
        let unknown =
            || mixed(format!("step {order} is of the kind `{kind}`, which this dc0-run does not know"));
        let call = manifest.call().ok_or_else(unknown)?;
        let (_, series) = Series::of_kind(&kind).ok_or_else(unknown)?;
        let slot = numbers.next(series);
        let is_in_place = manifest.files.first().is_some_and(|file| slot.holds(&file.path));
        if !is_in_place || occurrences.next(&call, manifest.seed) != manifest.identity() {
            return Err(mixed(format!("step {order} ({kind}) was done in another place")));
        }
        if let Some(path) = manifest.missing_file(donor)? {
            return Err(RunError::ForkLost { path: donor.path(&path) });
        }
        steps.push((slot, manifest));
    }
    if steps.len() < end as usize {
        return Err(mixed(format!("step {} is missing", steps.len())));
    }
    Ok(steps)
}

/// The nets that were promoted before as many steps. Where the run does not say when, it was once the net was there.
fn promotions(all: Vec<Generation>, steps: &[(Slot, Manifest)]) -> Vec<Generation> {
    let made = |generation: &Generation| {
        let is_it = |(_, manifest): &(Slot, Manifest)| {
            manifest.weights().is_some_and(|weights| weights.blake3 == generation.blake3)
        };
        steps.iter().position(is_it).map(|step| step as u32 + 1)
    };
    let until = |generation: Generation| {
        let steps_before = generation.steps.or_else(|| made(&generation))?;
        let is_before = made(&generation).is_some() && steps_before <= steps.len() as u32;
        is_before.then_some(Generation { steps: Some(steps_before), ..generation })
    };
    all.into_iter().map_while(until).collect()
}
