//! `generations.json`: the promoted nets in order, so that a run's best net can be found without running its script.

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::document;
use super::error::{Remedy, RunError};
use super::folder::Folder;
use super::history::{History, JournalEvent, Promotions};
use super::journal::Journal;

/// One promoted net.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Generation {
    /// Its number; 0 is the run's first net.
    pub generation: u32,
    /// The weights' file, relative to the run.
    pub network: String,
    /// blake3 of the weights' file.
    pub blake3: String,
    /// Steps that the script had called by then; `None` in runs made before this was recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steps: Option<u32>,
}

/// The content of the file.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Stored {
    generations: Vec<Generation>,
}

/// The file with its content. While a reopened script skips finished steps, the file stays ahead of it.
#[derive(Debug)]
pub struct Generations {
    folder: Folder,
    stored: Vec<Generation>,
    /// How many of them were promoted since the file was read.
    reached: usize,
}

impl Generations {
    /// Reads the file of a run, if it has one.
    pub fn open(folder: &Folder) -> Result<Self, RunError> {
        let stored: Option<Stored> = document::read_sealed(&folder.generations(), Remedy::Rewrite)?;
        Ok(Self { folder: folder.clone(), stored: stored.unwrap_or_default().generations, reached: 0 })
    }

    /// The generations in the content of a file, to show them; none if it is damaged.
    pub fn parse(content: &[u8]) -> Vec<Generation> {
        serde_json::from_slice(content).map_or_else(|_| Vec::new(), |stored: Stored| stored.generations)
    }

    /// All generations in order.
    pub fn all(&self) -> &[Generation] {
        &self.stored
    }

    /// All generations in order, consuming the list.
    pub fn into_all(self) -> Vec<Generation> {
        self.stored
    }

    /// Checks that the file lists the last generation that the journal has recorded.
    pub fn check(&self, history: &History) -> Result<(), RunError> {
        let missing = self.missing(&history.promotions());
        missing.map_or(Ok(()), |cause| Err(Remedy::Rewrite.damaged(&self.folder.generations(), cause)))
    }

    /// What is wrong with the file of a run that is opened, in a sentence. A script that is opened again promotes its nets again.
    pub fn fault(&self, journal: &Journal) -> Option<String> {
        let missing = self.missing(&journal.promotions())?;
        Some(format!("{}: {missing}", self.folder.generations().display()))
    }

    /// What is wrong with the file, given what the journal has recorded.
    fn missing(&self, recorded: &Promotions) -> Option<String> {
        let (generation, net) = recorded.last()?;
        let stored = self.stored.get(generation as usize);
        if stored.is_some_and(|stored| stored.blake3 == net) {
            return None;
        }
        let found = match (stored, self.stored.len()) {
            (Some(stored), _) => {
                format!(
                    "its generation {generation} is the net {}",
                    stored.blake3.get(..16).unwrap_or_default()
                )
            }
            (None, 0) if !self.folder.generations().exists() => "it is missing".to_owned(),
            (None, count) => format!("it ends before generation {count}"),
        };
        let net = net.get(..16).unwrap_or_default();
        Some(format!("{found}, and journal.jsonl says that generation {generation} is the net {net}"))
    }

    /// Promotes a net to a generation, and records that. Unless the file already lists the same net for it, this and later entries are
    /// dropped.
    pub fn promote(&mut self, entry: Generation, journal: &Journal) -> Result<(), RunError> {
        let details = [("generation", json!(entry.generation)), ("blake3", json!(entry.blake3))];
        self.reached = entry.generation as usize + 1;
        let is_changed = self.store(entry)?;
        // The file is written first: a journal that is behind it is no fault.
        let recorded = journal.promotions();
        if is_changed || recorded.last().is_none() || self.missing(&recorded).is_some() {
            journal.note(JournalEvent::Promoted, details)?;
        }
        Ok(())
    }

    /// Drops the generations that were not promoted again since the file was read, because the script has gone another way.
    pub fn withdraw_unreached(&mut self, journal: &Journal) -> Result<(), RunError> {
        if self.stored.len() <= self.reached {
            return Ok(());
        }
        // The journal is written first, as it may be behind the file.
        journal.note(JournalEvent::Withdrawn, [("generation", json!(self.reached))])?;
        self.stored.truncate(self.reached);
        self.write()
    }

    /// Lists a net; returns whether it was another one before.
    fn store(&mut self, entry: Generation) -> Result<bool, RunError> {
        let index = entry.generation as usize;
        let is_same =
            |stored: &Generation| (&stored.network, &stored.blake3) == (&entry.network, &entry.blake3);
        let is_changed = !self.stored.get(index).is_some_and(is_same);
        match self.stored.get_mut(index) {
            Some(stored) if *stored == entry => return Ok(false),
            Some(stored) if !is_changed => *stored = entry,
            _ => {
                self.stored.truncate(index);
                self.stored.push(entry);
            }
        }
        self.write()?;
        Ok(is_changed)
    }

    fn write(&self) -> Result<(), RunError> {
        let stored = Stored { generations: self.stored.clone() };
        document::write_sealed(&self.folder.generations(), &stored)
    }
}
