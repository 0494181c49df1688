//! Games that end before the rules end them.

use std::collections::BTreeMap;

use super::{job, params, played_with};
use crate::board::{Adjudication, Ending, GameResult, Reason, Tablebase, TablebaseError};
use crate::book::Book;
use crate::encoding::{Encoding, EncodingName, Orientation};
use crate::event::Silent;
use crate::network::fake::Material;
use crate::network::{Evaluator, EvaluatorError};
use crate::search::{SearchParams, TablebaseUse};
use crate::selfplay::{
    Archive, GameRow, Openings, PositionRow, SelfPlayError, SelfPlayJob, SelfPlayParams, SelfPlayResignation,
    ShardResult, StartParams, play, shards_of,
};

fn material() -> Result<Box<dyn Evaluator>, EvaluatorError> {
    Ok(Box::new(Material::new(Encoding::new(EncodingName::Dc0, Orientation::SideToMove))))
}

/// Games by an evaluator that counts pieces.
fn games(played_through: f64, max_plies: u32) -> BTreeMap<u32, ShardResult> {
    let resignation = SelfPlayResignation { moves: 2, value: 0.3, played_through };
    let params = SelfPlayParams { max_plies, resignation: Some(resignation), games: 20, ..params() };
    played_with(&params, &material)
}

/// The plies after which the side that moved would have resigned, and whose moves are its last two.
fn would_resign(rows: &[PositionRow]) -> Option<&PositionRow> {
    let is_lost = |row: &PositionRow| row.root_q <= -0.3;
    (2..rows.len())
        .find(|index| is_lost(&rows[*index]) && is_lost(&rows[index - 2]))
        .map(|index| &rows[index])
}

fn rows_of<'a>(shard: &'a ShardResult, game: &GameRow) -> Vec<&'a PositionRow> {
    shard.positions.iter().filter(|row| row.game == game.game).collect()
}

#[test]
fn a_side_resigns_after_two_lost_searches() {
    let resigned = Ending::Adjudicated(Adjudication::Resignation);
    let mut resignations = 0;
    for shard in games(0.0, 200).values() {
        assert_eq!((shard.stats.resignations_tested, shard.stats.false_resignations), (0, 0));
        for game in &shard.games {
            let rows: Vec<PositionRow> = rows_of(shard, game).into_iter().cloned().collect();
            let first = would_resign(&rows);
            assert_eq!(first.is_some(), game.reason == resigned, "game {}", game.game);
            if let Some(row) = first {
                resignations += 1;
                assert_eq!(usize::from(row.ply) + 1, game.moves.len(), "the game ends there");
                assert_eq!(row.result, -1, "who resigns loses");
                assert_ne!(game.result, GameResult::Draw);
            }
        }
    }
    assert!(resignations > 3, "{resignations} of 20 games");
}

#[test]
fn resignations_are_tested_in_games_that_are_played_through() {
    let (mut tested, mut wrong, mut unknown) = (0, 0, 0);
    for shard in games(1.0, 260).values() {
        let (mut would, mut not_lost) = (0, 0);
        for game in &shard.games {
            assert!(matches!(game.reason, Ending::Rules(_)));
            let rows: Vec<PositionRow> = rows_of(shard, game).into_iter().cloned().collect();
            if let Some(row) = would_resign(&rows) {
                if game.reason == Ending::Rules(Reason::PlyCap) {
                    unknown += 1;
                    continue;
                }
                would += 1;
                not_lost += u64::from(row.result >= 0);
            }
        }
        assert_eq!((shard.stats.resignations_tested, shard.stats.false_resignations), (would, not_lost));
        (tested, wrong) = (tested + would, wrong + not_lost);
    }
    assert!(tested > 3 && wrong > 0, "{wrong} of {tested}: fakes that count pieces are often wrong");
    assert!(unknown > 0, "some games that would have been resigned were cut off, and show nothing");
}

#[test]
fn a_damaged_table_is_an_error_even_where_a_side_resigns_at_once() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("KQvK.rtbw"), [0; 80]).expect("a file");
    let tables = Tablebase::open(folder.path()).expect("a file of the right length");
    // Black's only move captures the pawn, and the search before it reads no table.
    let book = Book::read("a.epd", b"7k/7P/8/8/8/8/6Q1/K7 b - -", None).expect("a book");
    let openings = Openings { book: Some(book), archive: Archive::default() };
    let search = SearchParams { tablebase_use: TablebaseUse::Root, ..super::search() };
    let params = SelfPlayParams {
        games: 1,
        search: search.into(),
        opening_plies: 0,
        openings: Some(StartParams::default()),
        resignation: Some(SelfPlayResignation { moves: 1, value: 0.3, played_through: 0.0 }),
        ..params()
    };
    let played = |tables| {
        let job =
            SelfPlayJob { make_evaluator: &material, tables, openings: Some(&openings), ..job(&params) };
        let keep = |_, shard: ShardResult| {
            assert_eq!(shard.games[0].reason, Ending::Adjudicated(Adjudication::Resignation));
            assert_eq!(shard.games[0].moves.len(), 1);
            Ok(())
        };
        play(&job, &shards_of(1, 1), 1, &keep, &Silent)
    };
    played(None).expect("nothing is read");
    let error = played(Some(&tables)).expect_err("the table is read");
    assert!(matches!(error, SelfPlayError::Tablebase(TablebaseError::Damaged { .. })), "{error}");
}
