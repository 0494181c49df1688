//! What is wrong with a record.

use crate::import::format::NotTaken;
use crate::store::Reject;

/// Why a record makes its game broken.
#[derive(Debug)]
pub(super) struct Fault {
    pub(super) reason: Reject,
    /// What was expected, and what was found.
    pub(super) detail: String,
}

impl Fault {
    /// The fault in a game's record by its number, from 1; 0 for the whole game.
    pub(super) fn in_record(self, number: usize) -> NotTaken {
        let Self { reason, detail } = self;
        let detail = if number == 0 { detail } else { format!("ply {}: {detail}", number - 1) };
        NotTaken::Rejected { reason, line: number, detail }
    }
}
