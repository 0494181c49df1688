//! What a report says of runs and sweeps besides their tables, from their bookkeeping.

use std::path::{Path, PathBuf};
use std::{fs, io};

use dc0_analysis::RunSource;
use dc0_analysis::report::{ReportRun, ReportSweep};
use serde_json::Value as Json;

use super::ReportError;
use dc0_runs::sweep::board::Board;
use dc0_runs::sweep::folder::SweepFolder;
use dc0_runs::sweep::space::Domain;
use dc0_runs::sweep::told::Direction;
use dc0_runs::{Folder, Generations, Record, RunError};
use dc0_tables::Sources;

/// Everything that was asked for.
pub(super) struct Asked {
    pub(super) sources: Sources,
    pub(super) runs: Vec<ReportRun>,
    pub(super) sweeps: Vec<ReportSweep>,
    /// Where the report belongs if nothing else is said.
    pub(super) place: PathBuf,
}

/// Reads what names stand for: folders, or names below `parent`.
pub(super) fn asked(parent: &Path, names: &[String]) -> Result<Asked, ReportError> {
    let mut sources = Sources::named(parent, names)?;
    // The runs of a sweep's trials are too many for a page; the sweep's table says what came of them.
    sources.runs.retain(|run| run.trial.is_none());
    let folders =
        sources.runs.iter().map(|run| &run.folder).chain(sources.sweeps.iter().map(|sweep| &sweep.folder));
    let place = match folders.collect::<Vec<_>>()[..] {
        [only] => only.clone(),
        _ => PathBuf::new(),
    };
    let runs = sources.runs.iter().map(run).collect::<Result<_, _>>()?;
    let sweeps =
        sources.sweeps.iter().map(|sweep| of_sweep(&sweep.name, &sweep.folder)).collect::<Result<_, _>>()?;
    Ok(Asked { sources, runs, sweeps, place })
}

fn run(source: &RunSource) -> Result<ReportRun, ReportError> {
    let folder = Folder::at(&source.folder);
    let record = Record::read(&folder)?.ok_or_else(|| RunError::NoRun { folder: source.folder.clone() })?;
    let generations = Generations::open(&folder)?;
    let journal = Journal::of(&read(&folder.journal())?);
    Ok(ReportRun {
        name: source.name.clone(),
        params: record.params.clone(),
        environment: environment(&record, &journal),
        script: record.script.text.clone(),
        generations: generations.all().iter().map(|one| (one.generation, one.blake3.clone())).collect(),
        unfinished: journal.unfinished(),
    })
}

fn read(path: &Path) -> Result<String, RunError> {
    match fs::read_to_string(path) {
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => Ok(String::new()),
        other => other.map_err(RunError::io("read", path)),
    }
}

fn environment(record: &Record, journal: &Journal) -> Vec<(String, String)> {
    let made = &record.environment;
    let own = [
        ("script", record.script.file.clone()),
        ("seed", record.seed.to_string()),
        ("backend", made.backend.clone()),
        ("device", made.device.clone()),
        ("precision", made.precision.clone()),
        ("training threads", made.threads.to_string()),
        ("dc0", made.dc0.clone()),
        ("libraries", made.libraries.clone()),
        ("first entry of the journal", journal.first.clone()),
        ("last entry of the journal", journal.last.clone()),
    ];
    own.map(|(name, value)| (name.to_owned(), value)).to_vec()
}

fn of_sweep(name: &str, folder: &Path) -> Result<ReportSweep, ReportError> {
    let (params, trials) = SweepFolder::read(folder)?;
    let board = Board::new(&params, &trials);
    let is_logarithmic =
        |domain: &Domain| matches!(domain, Domain::Float { log: true, .. } | Domain::Int { log: true, .. });
    let dimensions = params.space.dimensions().filter(|(_, dimension)| is_logarithmic(&dimension.domain));
    Ok(ReportSweep {
        name: name.to_owned(),
        objective: board.objective,
        maximize: board.direction == Direction::Maximize,
        importances: board.importances,
        logarithmic: dimensions.map(|(name, _)| name.to_owned()).collect(),
    })
}

/// What a journal says of steps and times.
struct Journal {
    first: String,
    last: String,
    /// Steps in the order they were begun, each with its kind, and whether it was finished.
    steps: Vec<(String, String, bool)>,
}

impl Journal {
    /// A line that a kill cut short is no JSON, and says nothing.
    fn of(text: &str) -> Self {
        let mut journal = Self { first: String::new(), last: String::new(), steps: Vec::new() };
        for line in text.lines().filter_map(|line| serde_json::from_str::<Json>(line).ok()) {
            let word = |name: &str| line[name].as_str().unwrap_or_default().to_owned();
            if journal.first.is_empty() {
                journal.first = word("at");
            }
            journal.last = word("at");
            journal.take(&word("event"), &word("step"), &word("kind"));
        }
        journal
    }

    fn take(&mut self, event: &str, step: &str, kind: &str) {
        let known = self.steps.iter_mut().find(|(known, ..)| known == step);
        match (event, known) {
            ("started", None) => self.steps.push((step.to_owned(), kind.to_owned(), false)),
            ("started", Some((.., is_done))) => *is_done = false,
            ("finished" | "taken over" | "superseded", Some((.., is_done))) => *is_done = true,
            _ => {}
        }
    }

    fn unfinished(&self) -> Vec<String> {
        let open = self.steps.iter().filter(|(.., is_done)| !is_done);
        open.map(|(step, kind, _)| format!("the step {step} ({kind}) was begun and is not finished"))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::Journal;

    #[test]
    fn a_journal_tells_what_is_unfinished_even_where_a_kill_cut_it_short() {
        let journal = Journal::of(
            "{\"at\":\"t1\",\"event\":\"created\"}\n\
             {\"at\":\"t2\",\"event\":\"started\",\"kind\":\"train\",\"step\":\"aa\"}\n\
             {\"at\":\"t3\",\"event\":\"finished\",\"kind\":\"train\",\"step\":\"aa\"}\n\
             {\"at\":\"t4\",\"event\":\"started\",\"kind\":\"arena\",\"step\":\"bb\"}\n{\"at\":\"t5\",\"ev",
        );
        assert_eq!(journal.unfinished(), ["the step bb (arena) was begun and is not finished"]);
        assert_eq!((journal.first.as_str(), journal.last.as_str()), ("t1", "t4"));
        assert!(Journal::of("").unfinished().is_empty());
        let again = Journal::of(
            "{\"at\":\"t1\",\"event\":\"started\",\"kind\":\"train\",\"step\":\"aa\"}\n\
             {\"at\":\"t2\",\"event\":\"finished\",\"kind\":\"train\",\"step\":\"aa\"}\n\
             {\"at\":\"t3\",\"event\":\"started\",\"kind\":\"train\",\"step\":\"aa\"}",
        );
        assert_eq!(again.unfinished(), ["the step aa (train) was begun and is not finished"]);
    }
}
