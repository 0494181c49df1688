//! `generations.json`: the promoted nets in order, so that a run's best net can be found without running its script.

use serde::{Deserialize, Serialize};

use super::document;
use super::error::{Remedy, RunError};
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
}

impl Generations {
    /// Reads the file of a run, if it has one.
    pub fn open(folder: &Folder) -> Result<Self, RunError> {
        let stored: Option<Stored> = document::read_sealed(&folder.generations(), Remedy::Rewrite)?;
        Ok(Self { folder: folder.clone(), stored: stored.unwrap_or_default().generations })
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
        let stored = Stored { generations: self.stored.clone() };
        document::write_sealed(&self.folder.generations(), &stored)
    }
}
