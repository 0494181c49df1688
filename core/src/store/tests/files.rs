//! Rows are read back as written, and equal rows give equal bytes.

use std::fmt::Debug;
use std::fs;

use arrow_array::{ArrayRef, RecordBatch};

use super::super::{
    Column, GameRow, PositionRow, Provenance, RowFault, StoreError, TableRow, read_entry, read_table,
    write_table,
};
use super::{game, match_game, play_games, position, provenance, training, validation, write};

/// Writes rows and reads them back.
fn check<R: TableRow + PartialEq + Debug>(rows: &[R]) {
    let folder = tempfile::tempdir().unwrap();
    let entry = write(folder.path(), "deep/part.parquet", rows);
    assert_eq!((entry.path.as_str(), entry.rows), ("deep/part.parquet", rows.len() as u64));
    let content = fs::read(folder.path().join("deep/part.parquet")).unwrap();
    assert_eq!(
        (entry.bytes, &entry.blake3),
        (content.len() as u64, &blake3::hash(&content).to_hex().to_string())
    );
    assert_eq!(read_entry::<R>(folder.path(), &entry).unwrap(), rows, "{}", R::TABLE);
}

#[test]
fn every_table_is_read_back_as_written() {
    check(&[game()]);
    check(&[position()]);
    check(&[match_game()]);
    check(&[training(1), training(2)]);
    check(&[validation(0), validation(7)]);
}

/// A position as the first version of the table had it.
struct FirstVersion(PositionRow);

impl TableRow for FirstVersion {
    type Key = (u32, u16);
    const TABLE: &'static str = PositionRow::TABLE;
    const VERSION: u32 = 1;
    const KEY: &'static [&'static str] = PositionRow::KEY;

    fn columns() -> Vec<Column> {
        PositionRow::columns().into_iter().filter(|column| column.since == 1).collect()
    }

    fn key(&self) -> Self::Key {
        self.0.key()
    }

    fn key_text(&self) -> String {
        self.0.key_text()
    }

    fn fault(&self) -> Option<String> {
        self.0.fault()
    }

    fn arrays(rows: &[Self]) -> Vec<ArrayRef> {
        let positions: Vec<PositionRow> = rows.iter().map(|row| row.0.clone()).collect();
        let arrays = PositionRow::columns().into_iter().zip(PositionRow::arrays(&positions));
        arrays.filter(|(column, _)| column.since == 1).map(|(_, array)| array).collect()
    }

    fn rows(_: &RecordBatch) -> Result<Vec<Self>, RowFault> {
        unreachable!("it is only written")
    }
}

#[test]
fn positions_of_the_first_version_are_read_without_the_surprise() {
    let folder = tempfile::tempdir().unwrap();
    let entry = write(folder.path(), "old.parquet", &[FirstVersion(position())]);
    let read = read_entry::<PositionRow>(folder.path(), &entry).unwrap();
    assert!(read[0].policy_surprise.is_nan());
    assert_eq!(PositionRow { policy_surprise: position().policy_surprise, ..read[0].clone() }, position());
    // The second version must have it.
    let short = write(folder.path(), "short.parquet", &[position()]);
    assert_eq!(read_entry::<PositionRow>(folder.path(), &short).unwrap(), [position()]);
}

#[test]
fn a_table_may_be_empty_or_larger_than_a_row_group() {
    check::<PositionRow>(&[]);
    check(&(0..70_000).map(|game| PositionRow { game, ..position() }).collect::<Vec<_>>());
}

#[test]
fn games_of_self_play_are_read_back() {
    let shard = play_games(6, 8, 100);
    check(&shard.games);
    check(&shard.positions);
}

#[test]
fn bytes_depend_only_on_rows_and_provenance() {
    let folder = tempfile::tempdir().unwrap();
    let shard = play_games(3, 8, 60);
    let digest =
        |path, from: Provenance| write_table(folder.path(), path, &shard.positions, &from).unwrap().blake3;
    let first = digest("a", provenance());
    assert_eq!(first, digest("b", provenance()));
    assert_ne!(first, digest("c", Provenance::new()));
}

#[test]
fn a_position_of_self_play_costs_less_than_two_hundred_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let shard = play_games(24, 64, 200);
    let bytes = write(folder.path(), "games", &shard.games).bytes
        + write(folder.path(), "positions", &shard.positions).bytes;
    let each = bytes as f64 / shard.positions.len() as f64;
    assert!(each < 200.0, "{each:.1} bytes a position");
}

#[test]
fn a_file_that_cannot_be_written_is_named() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("games"), "a file in the way").unwrap();
    let error = write_table(folder.path(), "games/part.parquet", &[game()], &provenance()).unwrap_err();
    assert!(matches!(error, StoreError::Write { .. }), "{error}");
    assert!(error.to_string().contains("games/part.parquet"), "{error}");
}

#[test]
fn a_missing_file_is_named_with_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let error = read_table::<GameRow>(&folder.path().join("gone.parquet")).unwrap_err().to_string();
    assert!(error.contains("gone.parquet is missing") && error.contains("run the script again"), "{error}");
}
