//! Where two files of equal tables part: the first row that differs.

use dc0_core::search::{LineRow, TreeRow};
use dc0_core::selfplay::{GameRow, PositionRow};
use dc0_core::store::{
    FileEntry, MatchGameRow, StoreError, TableRow, TrainingRow, ValidationRow, read_table,
};

use dc0_runs::Folder;

/// The first row that differs between two files of steps, as its key names it; `None` for files that are no tables, and for
/// tables whose rows are alike.
pub(super) fn first_difference(
    (first, second): (&Folder, &Folder),
    (own, other): (&FileEntry, &FileEntry),
) -> Result<Option<String>, StoreError> {
    let (own, other) = ((first, own), (second, other));
    match own.1.path.split('/').next().unwrap_or_default() {
        "games" => parting::<GameRow>(own, other),
        "positions" => parting::<PositionRow>(own, other),
        "matches" => parting::<MatchGameRow>(own, other),
        "training" => parting::<TrainingRow>(own, other),
        "validation" => parting::<ValidationRow>(own, other),
        "searches" => parting::<LineRow>(own, other),
        "trees" => parting::<TreeRow>(own, other),
        _ => Ok(None),
    }
}

fn parting<R: TableRow + PartialEq>(
    (first, own): (&Folder, &FileEntry),
    (second, other): (&Folder, &FileEntry),
) -> Result<Option<String>, StoreError> {
    let own: Vec<R> = read_table(&first.path(&own.path))?;
    let other: Vec<R> = read_table(&second.path(&other.path))?;
    let at = own.iter().zip(&other).position(|(own, other)| own != other);
    Ok(match at {
        Some(at) => Some(own[at].key_text()),
        None if own.len() == other.len() => None,
        None => {
            let longer = if own.len() > other.len() { &own } else { &other };
            Some(format!("{}, which only one of them has", longer[own.len().min(other.len())].key_text()))
        }
    })
}
