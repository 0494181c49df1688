//! `generations.json`: the promoted nets in order, for everything that wants a run's best net without asking its script.

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
    /// Steps that the script had asked for by then; none where the run was made before this was written down.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steps: Option<u32>,
}

/// The file and what it says. While a script walks through finished steps, the file stays ahead of it.
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

    /// All generations in order, where nothing is promoted any more.
    pub fn into_all(self) -> Vec<Generation> {
        self.stored
    }

    /// Makes a net a generation; what the file says of this and later generations goes unless it is the same net.
    pub fn promote(&mut self, entry: Generation) -> Result<(), RunError> {
        let place = entry.generation as usize;
        match self.stored.get_mut(place) {
            Some(stored) if *stored == entry => return Ok(()),
            Some(stored) if (&stored.network, &stored.blake3) == (&entry.network, &entry.blake3) => {
                *stored = entry;
            }
            _ => {
                self.stored.truncate(place);
                self.stored.push(entry);
            }
        }
        document::write(&self.folder.generations(), &self.stored)
    }
}
