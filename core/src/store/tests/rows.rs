//! Impossible rows and wrong files are errors that name the row, column or file.

use std::fs::File;

use super::super::row::table;
use super::super::{
    GameRow, MatchGameRow, PositionRow, StoreError, TableRow, TrainingRow, TreeRow, ValidationRow,
    read_table, write_table,
};
use super::{game, match_game, position, provenance, training, validation, write};
use crate::board::{Ending, Game, GameResult, Reason};
use crate::encoding::{Encoding, EncodingName, Orientation};
use crate::network::fake::Uniform;
use crate::search::{ANALYSIS_RULES, Search, SearchParams};

/// Checks that writing the rows fails with `expected` at `row`.
fn rejects<R: TableRow>(rows: &[R], row: usize, expected: &str) {
    let folder = tempfile::tempdir().unwrap();
    let error = write_table(folder.path(), "part.parquet", rows, &provenance()).unwrap_err().to_string();
    let location = format!("part.parquet: row {row} of the table `{}` (", R::TABLE);
    assert!(error.contains(&location) && error.contains(expected), "{error}");
    assert!(!folder.path().join("part.parquet").exists(), "nothing was written");
}

#[test]
fn figures_are_the_columns_after_the_update_in_their_order() {
    fn check<R: TableRow>(figures: &[(&str, f64)], numbers: &[f64]) {
        let columns: Vec<&str> = R::columns().iter().map(|column| column.name).collect();
        assert_eq!(columns[1..], *figures.iter().map(|(name, _)| *name).collect::<Vec<_>>());
        assert_eq!(numbers[1..], *figures.iter().map(|(_, figure)| *figure).collect::<Vec<_>>());
        assert_eq!(numbers[0], 7.0);
    }
    let (training, validation) = (training(7), validation(7));
    check::<TrainingRow>(&training.figures(), &training.numbers());
    check::<ValidationRow>(&validation.figures(), &validation.numbers());
    assert_eq!(TrainingRow::from_numbers(training.numbers()), training);
    assert_eq!(ValidationRow::from_numbers(validation.numbers()), validation);
}

#[test]
fn impossible_games_are_rejected() {
    let bad = |change: &dyn Fn(&mut GameRow), expected| {
        let mut row = GameRow { game: 4, ..game() };
        change(&mut row);
        rejects(&[game(), row], 1, expected);
    };
    bad(&|row| row.moves[1] = 5 << 12, "20480 is not a packed move");
    bad(&|row| row.opening_plies = 3, "`opening_plies` is 3, but the game has 2 plies");
    bad(&|row| row.game = 3, "(game 3): comes after game 3; rows are sorted by game");
}

#[test]
fn impossible_positions_are_rejected() {
    let bad = |change: &dyn Fn(&mut PositionRow), expected| {
        let mut row = PositionRow { ply: 2, ..position() };
        change(&mut row);
        rejects(&[position(), row], 1, expected);
    };
    bad(&|row| row.visits.push(1), "`moves` and `visits` have different lengths, 2 and 3");
    bad(&|row| row.target.truncate(1), "`moves` and `target` have different lengths, 2 and 1");
    bad(&|row| row.legal = 1, "`moves` has 2 moves, but only 1 are legal");
    bad(&|row| row.moves[0] = 0xffff, "`moves` is not in ascending order");
    bad(&|row| row.moves[1] = 0xffff, "65535 is not a packed move");
    bad(&|row| row.played = 0xffff, "65535 is not a packed move");
    let neither = |row: &mut PositionRow| (row.visits[0], row.target[0]) = (0, 0);
    bad(&neither, "a move has neither visits nor a share of `target`");
    bad(&|row| row.root_q = f32::NAN, "`root_q` is NaN, expected -1 to 1");
    bad(&|row| row.net_q = -1.1, "`net_q` is -1.1, expected -1 to 1");
    bad(&|row| row.root_d = -0.1, "`root_d` is -0.1, expected 0 to 1");
    bad(&|row| row.net_d = 1.1, "`net_d` is 1.1, expected 0 to 1");
    bad(&|row| row.result = -2, "`result` is -2");
    bad(&|row| row.ply = 1, "(game 3, ply 1): comes after game 3, ply 1; rows are sorted by game and ply");
}

#[test]
fn impossible_rows_of_trees_are_rejected() {
    let params = SearchParams { simulations: 1, ..SearchParams::default() };
    let mut search = Search::with_tablebases(Game::initial(), ANALYSIS_RULES, params, None);
    let encoding = Encoding::new(EncodingName::Dc0, Orientation::SideToMove);
    search.run(&mut Uniform::new(encoding)).expect("fakes do not fail");
    let bad = |change: &dyn Fn(&mut TreeRow), expected| {
        let mut rows = search.rows(0, false);
        change(&mut rows[0]);
        rejects(&rows, 0, expected);
    };
    bad(&|row| row.win = 1.1, "`win` is 1.1, expected 0 to 1");
    bad(&|row| row.draw = -0.1, "`draw` is -0.1, expected 0 to 1");
    bad(&|row| row.loss = -0.39, "`loss` is -0.39, expected 0 to 1");
    bad(&|row| row.net_d = -41.8, "`net_d` is -41.8, expected 0 to 1");
}

#[test]
fn impossible_match_games_are_rejected() {
    let bad = |change: &dyn Fn(&mut MatchGameRow), expected| {
        let mut row = match_game();
        change(&mut row);
        rejects(&[row], 0, expected);
    };
    bad(&|row| row.plies = 7, "`plies` is 7, but `moves` has 1 moves");
    bad(&|row| row.score = 1.0, "`score` is 1, which does not fit `result` = 1 with first_is_white = false");
    bad(&|row| row.result = GameResult::Draw, "`score` is 0, which does not fit `result` = 0");
}

#[test]
fn updates_must_increase() {
    rejects(&[training(5), training(4)], 1, "(update 4): comes after update 5");
}

fn unchecked<R>(_: &R) -> Option<String> {
    None
}

table! {
    /// Another table.
    struct Other is "others" version 1, key (game: u32), check unchecked { game: u32 as Plain }
}

table! {
    /// A table of a newer version.
    struct Newer is "games" version 7, key (game: u32), check unchecked { game: u32 as Plain }
}

table! {
    /// A table `games` with wrong columns.
    struct Odd is "games" version 1, key (game: u32), check unchecked {
        game: u32 as Plain,
        network: String as Plain,
        start_fen: String as Plain,
        moves: Vec<u32> as Plain,
        opening_plies: u32 as Plain,
        outcome: i8 as Plain,
        reason: String as Plain,
    }
}

table! {
    /// A table `games` whose enum columns accept any value.
    struct Loose is "games" version 1, key (game: u32), check unchecked {
        game: u32 as Plain,
        network: String as Dictionary,
        start_fen: String as Dictionary,
        moves: Vec<u16> as Dictionary,
        opening_plies: u16 as Dictionary,
        result: i8 as Dictionary,
        reason: String as Dictionary,
    }
}

fn error_of<R: TableRow>(row: R) -> StoreError {
    error_of_all(&[row])
}

fn error_of_all<R: TableRow>(rows: &[R]) -> StoreError {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "part.parquet", rows);
    read_table::<GameRow>(&folder.path().join("part.parquet")).unwrap_err()
}

#[test]
fn invalid_enum_values_are_named_with_their_row() {
    let row = |game: u32, result: i8, reason: &str| Loose {
        game,
        network: "0123456789abcdef".to_owned(),
        start_fen: "4k3/P7/8/8/8/8/8/4K3 w - - 0 1".to_owned(),
        moves: Vec::new(),
        opening_plies: 0,
        result,
        reason: reason.to_owned(),
    };
    let error = |second| error_of_all(&[row(3, 1, "checkmate"), second]).to_string();
    let result = error(row(4, 2, "checkmate"));
    let location = "part.parquet: row 1 of the table `games` (game 4): ";
    assert!(result.ends_with(&format!("{location}`result` is 2, expected -1, 0 or 1")), "{result}");
    let reason = error(row(9, -1, "boredom"));
    assert!(reason.ends_with("(game 9): `reason` is \"boredom\", which is not known"), "{reason}");
    // Beyond the first row group.
    let mut many: Vec<Loose> = (0..70_000).map(|game| row(game, 0, "threefold")).collect();
    many[69_999].result = -2;
    let late = error_of_all(&many).to_string();
    assert!(late.contains("row 69999 of the table `games` (game 69999): `result` is -2"), "{late}");
}

#[test]
fn another_table_is_named() {
    let error = error_of(Other { game: 1 }).to_string();
    assert!(error.contains("part.parquet is not a table `games` of dc0 but a table `others`"), "{error}");
}

#[test]
fn a_newer_version_asks_for_a_newer_program() {
    let error = error_of(Newer { game: 1 }).to_string();
    assert!(
        error.contains("has version 7 of the table `games`, and this dc0 knows versions up to 2"),
        "{error}"
    );
}

table! {
    /// The table `matches` before its version 2, which added evaluations and faults.
    struct OldMatchGame is "matches" version 1, key (game: u32), check unchecked {
        game: u32 as Plain,
        pair: u32 as Plain,
        first: String as Dictionary,
        second: String as Dictionary,
        first_is_white: bool as Plain,
        start_fen: String as Dictionary,
        moves: Vec<u16> as Dictionary,
        opening_plies: u16 as Dictionary,
        plies: u16 as Dictionary,
        score: f64 as Dictionary,
        result: GameResult as Dictionary,
        reason: Ending as Dictionary,
    }
}

#[test]
fn a_file_of_an_older_version_is_read_without_the_columns_it_lacks() {
    let folder = tempfile::tempdir().unwrap();
    let MatchGameRow { first, second, start_fen, moves, opening_plies, plies, score, result, .. } =
        match_game();
    let (first_is_white, reason) = (match_game().first_is_white, Reason::Checkmate.into());
    let old = OldMatchGame {
        game: 3,
        pair: 1,
        first,
        second,
        first_is_white,
        start_fen,
        moves,
        opening_plies,
        plies,
        score,
        result,
        reason,
    };
    write(folder.path(), "old.parquet", &[old]);
    let (scores, depths, seconds, detail) = <_>::default();
    let expected = MatchGameRow { game: 3, pair: 1, scores, depths, seconds, detail, reason, ..match_game() };
    assert_eq!(read_table::<MatchGameRow>(&folder.path().join("old.parquet")).unwrap(), [expected]);
    // A file that names the new version must have all columns.
    write(folder.path(), "new.parquet", &[Narrow { game: 3 }]);
    let error = read_table::<MatchGameRow>(&folder.path().join("new.parquet")).unwrap_err().to_string();
    assert!(error.contains("`depths` is missing"), "{error}");
}

table! {
    /// A table `matches` of the present version without its columns.
    struct Narrow is "matches" version 2, key (game: u32), check unchecked { game: u32 as Plain }
}

#[test]
fn every_wrong_column_is_named_at_once() {
    let odd = Odd {
        game: 1,
        network: String::new(),
        start_fen: String::new(),
        moves: vec![1],
        opening_plies: 0,
        outcome: 0,
        reason: String::new(),
    };
    let StoreError::Columns { problems, .. } = error_of(odd) else { panic!("another error") };
    assert_eq!(problems.len(), 4, "{problems:?}");
    assert!(problems[0].starts_with("`moves` should be list<u16> ("), "{problems:?}");
    assert_eq!(problems[1], "`opening_plies` should be u16 (UInt16) but is UInt32");
    assert_eq!(problems[2..], ["`result` is missing", "`outcome` is unexpected"]);
}

#[test]
fn a_parquet_file_of_another_program_is_rejected() {
    use arrow_array::{Int8Array, RecordBatch};
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("part.parquet");
    let column: arrow_array::ArrayRef = std::sync::Arc::new(Int8Array::from(vec![1]));
    let batch = RecordBatch::try_from_iter([("game", column)]).unwrap();
    let file = File::create(&path).unwrap();
    let mut writer = parquet::arrow::ArrowWriter::try_new(file, batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    let error = read_table::<GameRow>(&path).unwrap_err().to_string();
    assert!(error.contains("is not a table `games` of dc0 but names no table"), "{error}");
}
