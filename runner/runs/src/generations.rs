//! `generations.json`: the promoted nets in order, so that a run's best net can be found without running its script.

use serde::{Deserialize, Serialize};

use super::document;
use super::error::RunError;
use super::folder::Folder;

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

/// The file with its content. While a reopened script skips finished steps, the file stays ahead of it.
#[derive(Debug)]
pub struct Generations {
    folder: Folder,
    stored: Vec<Generation>,
}

impl Generations {
    /// Reads the file of a run, if it has one.
    pub fn open(folder: &Folder) -> Result<Self, RunError> {
        let stored = document::read(&folder.generations())?.unwrap_or_default();
        Ok(Self { folder: folder.clone(), stored })
    }

    /// All generations in order.
    pub fn all(&self) -> &[Generation] {
        &self.stored
    }

    /// All generations in order, consuming the list.
    pub fn into_all(self) -> Vec<Generation> {
        self.stored
    }

    /// Promotes a net to a generation. Unless the file already lists the same net for it, this and later entries are dropped.
    pub fn promote(&mut self, entry: Generation) -> Result<(), RunError> {
        let index = entry.generation as usize;
        match self.stored.get_mut(index) {
            Some(stored) if *stored == entry => return Ok(()),
            Some(stored) if (&stored.network, &stored.blake3) == (&entry.network, &entry.blake3) => {
                *stored = entry;
            }
            _ => {
                self.stored.truncate(index);
                self.stored.push(entry);
            }
        }
        document::write(&self.folder.generations(), &self.stored)
    }
}
