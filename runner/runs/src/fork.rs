//! Runs that begin with the steps of another run, up to one of its iterations.
//!
//! `run.json` of a fork names those steps, so that it stays the same fork whatever becomes of the other run. Each of them is
//! taken over like a step that another run has finished; once all are, the other run is not needed any more.

use std::path::Path;

use serde::{Deserialize, Serialize};

use dc0_core::durable;
use dc0_core::params::Value;
use dc0_core::store::verify_files;

use super::donors::manifest_of;
use super::error::RunError;
use super::folder::Folder;
use super::generations::{Generation, Generations};
use super::identity::{Identity, Occurrences};
use super::lock::Lock;
use super::manifest::Manifest;
use super::record::Record;
use super::shelf::{Settled, manifests};
use super::slot::{Numbers, Series, Slot};
use super::work::Claim;
use super::{Finished, Run};

/// What a fork begins with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForkRecord {
    /// The other run, by its path beside this one.
    pub from: String,
    /// Its last iteration that the fork has.
    pub iteration: u32,
    /// A digest of all that follows and of every file of the steps.
    pub digest: String,
    /// The steps, in their order.
    pub steps: Vec<ForkStep>,
    /// The nets that were promoted until then, in their order.
    pub promotions: Vec<Generation>,
}

/// One step that a fork begins with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForkStep {
    /// Its identity, 64 hex digits.
    pub step: String,
    /// What was done.
    pub kind: String,
}

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

impl ForkRecord {
    /// As messages name it.
    pub fn named(from: &str, iteration: u32) -> String {
        format!("{from} at iteration {iteration}")
    }

    /// Whether an existing run is the fork that is asked for, or none where none is.
    pub fn check(folder: &Folder, found: Option<&Self>, asked: Option<(&str, u32)>) -> Result<(), RunError> {
        let folder = folder.root().to_owned();
        let fixed = found.map(|fork| Self::named(&fork.from, fork.iteration));
        let asked = asked.map(|(from, iteration)| Self::named(from, iteration));
        match (fixed, asked) {
            (None, None) => Ok(()),
            (Some(fixed), None) => Err(RunError::IsFork { folder, fixed }),
            (None, Some(_)) => Err(RunError::NoFork { folder }),
            (Some(fixed), Some(asked)) if fixed == asked => Ok(()),
            (Some(fixed), Some(asked)) => Err(RunError::OtherFork { folder, fixed, asked }),
        }
    }

    /// The identities of the steps with their places, in their order.
    pub fn places(&self, folder: &Folder) -> Result<Vec<(Identity, Slot)>, RunError> {
        let damaged = |step: &ForkStep| RunError::Damaged {
            path: folder.record(),
            cause: format!("its fork has an unknown step, {} {}", step.kind, step.step),
        };
        let mut numbers = Numbers::default();
        let mut place = |step: &ForkStep| {
            let (_, series) = Series::of_kind(&step.kind)?;
            Some((Identity::from_digits(&step.step)?, numbers.next(series)))
        };
        self.steps.iter().map(|step| place(step).ok_or_else(|| damaged(step))).collect()
    }
}

impl Prefix {
    /// The beginning of a run up to the end of one of its iterations: everything before the games of the next one. Nobody may
    /// write the run meanwhile.
    pub fn read(donor: &Folder, from: &str, iteration: u32) -> Result<Self, RunError> {
        let _held = Lock::hold(donor)?;
        let absent = || RunError::Absent { folder: donor.root().to_owned() };
        let record = Record::read(donor)?.ok_or_else(absent)?;
        let all = in_order(donor)?;
        let end = end_of(donor, &all, iteration)?;
        let steps = in_turn(donor, all, (iteration, end))?;
        let promotions = promotions(donor, &steps)?;
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
fn in_order(donor: &Folder) -> Result<Vec<(u32, Manifest)>, RunError> {
    let mut all = Vec::new();
    for name in manifests(donor, "steps")? {
        let path = donor.path(&name);
        let file = name.rsplit('/').next().unwrap_or(&name);
        let order = file.split('-').next().and_then(|digits| digits.parse().ok());
        let damaged = || RunError::Damaged { path: path.clone(), cause: "its name has no number".to_owned() };
        all.push((order.ok_or_else(damaged)?, Manifest::read(&path)?));
    }
    all.sort_by_key(|(order, _)| *order);
    Ok(all)
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
    match Claim::kinds(donor)?.into_iter().find(|kind| kind != "self_play") {
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
fn promotions(donor: &Folder, steps: &[(Slot, Manifest)]) -> Result<Vec<Generation>, RunError> {
    let made = |generation: &Generation| {
        let is_it = |(_, manifest): &(Slot, Manifest)| {
            manifest.files.first().is_some_and(|file| file.blake3 == generation.blake3)
        };
        steps.iter().position(is_it).map(|step| step as u32 + 1)
    };
    let until = |generation: &Generation| {
        let steps_before = generation.steps.or_else(|| made(generation))?;
        let is_before = made(generation).is_some() && steps_before <= steps.len() as u32;
        is_before.then(|| Generation { steps: Some(steps_before), ..generation.clone() })
    };
    Ok(Generations::open(donor)?.all().iter().map_while(until).collect())
}

impl Run {
    /// Does the steps that a fork begins with: those that are not there yet are taken over from the other run, a run of
    /// `parent`. Gives all of them with their places.
    pub fn begin(&mut self, parent: &Path) -> Result<Vec<(Slot, Finished)>, RunError> {
        let Some(fork) = self.record.fork.clone() else { return Ok(Vec::new()) };
        let mut donor = None;
        let mut begun = Vec::new();
        for (identity, slot) in fork.places(&self.folder)? {
            let finished = self.adopt(&identity, slot, || match &mut donor {
                Some((folder, _)) => Ok(Folder::clone(folder)),
                none => {
                    let folder = Folder::of_existing(parent, &fork.from)?;
                    let (folder, _) = none.insert((folder.clone(), Lock::hold(&folder)?));
                    Ok(folder.clone())
                }
            })?;
            begun.push((slot, finished));
        }
        Ok(begun)
    }

    /// Takes a step over, unless it is there.
    fn adopt(
        &mut self,
        identity: &Identity,
        slot: Slot,
        donor: impl FnOnce() -> Result<Folder, RunError>,
    ) -> Result<Finished, RunError> {
        let order = self.steps;
        self.steps += 1;
        let Settled { moved, manifest, .. } = self.shelf.settle(identity, slot, order)?;
        self.note_superseded(moved, identity)?;
        let finished = if let Some(manifest) = manifest {
            self.finished(manifest, true)
        } else {
            let donor = donor()?;
            let manifest = whole(&donor, identity)?;
            self.take_over(&donor, manifest, (slot, order))?
        };
        if let Some(call) = finished.manifest.call() {
            self.occurrences.next(&call, finished.manifest.seed);
        }
        Ok(finished)
    }
}

/// A finished step of another run, whose files are read to see that they are as they were written.
fn whole(donor: &Folder, identity: &Identity) -> Result<Manifest, RunError> {
    let gone = || RunError::ForkGone { folder: donor.root().to_owned(), step: identity.short().to_owned() };
    let manifest = manifest_of(donor, identity)?.ok_or_else(gone)?;
    verify_files(donor.root(), &manifest.files)?;
    Ok(manifest)
}
