//! Finds the first row that differs between two files of the same table.

use std::fmt::Debug;

use dc0_core::search::{LineRow, TreeRow};
use dc0_core::selfplay::{GameRow, PositionRow};
use dc0_core::store::{
    AnswerRow, FileEntry, MatchGameRow, PredictionRow, PuzzleRow, StoreError, TableRow, TrainingRow,
    ValidationRow, read_table,
};

use dc0_runs::Folder;

/// The key of the first row that differs between two files of steps; `None` for files that are not tables, and for tables with
/// equal rows.
pub(super) fn first_difference(
    (first, second): (&Folder, &Folder),
    (own, other): (&FileEntry, &FileEntry),
) -> Result<Option<String>, StoreError> {
    let (own, other) = ((first, own), (second, other));
    match own.1.path.split('/').next().unwrap_or_default() {
        "games" => first_different::<GameRow>(own, other),
        "positions" => first_different::<PositionRow>(own, other),
        "matches" => first_different::<MatchGameRow>(own, other),
        "training" => first_different::<TrainingRow>(own, other),
        "validation" => first_different::<ValidationRow>(own, other),
        "searches" => first_different::<LineRow>(own, other),
        "trees" => first_different::<TreeRow>(own, other),
        "puzzles" => first_different::<PuzzleRow>(own, other),
        "answers" => first_different::<AnswerRow>(own, other),
        "predictions" => first_different::<PredictionRow>(own, other),
        _ => Ok(None),
    }
}

fn first_different<R: TableRow + PartialEq + Debug>(
    (first, own): (&Folder, &FileEntry),
    (second, other): (&Folder, &FileEntry),
) -> Result<Option<String>, StoreError> {
    let own: Vec<R> = read_table(&first.path(&own.path))?;
    let other: Vec<R> = read_table(&second.path(&other.path))?;
    // Columns that older files lack may be NaN, which is equal to nothing: such rows are compared as text.
    let is_other = |(own, other): (&R, &R)| own != other && format!("{own:?}") != format!("{other:?}");
    let index = own.iter().zip(&other).position(is_other);
    Ok(match index {
        Some(index) => Some(own[index].key_text()),
        None if own.len() == other.len() => None,
        None => {
            let longer = if own.len() > other.len() { &own } else { &other };
            Some(format!("{}, which only one of them has", longer[own.len().min(other.len())].key_text()))
        }
    })
}
