//! Stored games, replayed.

use super::{game, match_game, play_games, position};
use crate::board::{GameResult, Move};
use crate::store::{
    FileEntry, GameRow, HeaderRow, MatchGameRow, PositionRow, Scores, SearchFiles, ShardFiles, StoredGame,
};

#[test]
fn a_game_of_self_play_has_every_position_with_its_search() {
    let shard = play_games(3, 8, 30);
    for row in &shard.games {
        let stored = StoredGame::of_self_play(row, &shard.positions).unwrap();
        let plies: Vec<_> = stored.plies().collect();
        assert_eq!(plies.len(), row.moves.len() + 1);
        let own: Vec<_> = shard.positions.iter().filter(|position| position.game == row.game).collect();
        let found: Vec<_> = plies.iter().filter_map(|ply| ply.search).collect();
        assert_eq!(found, own);
        for ply in &plies {
            assert!(ply.search.is_none_or(|search| search.fen == ply.position.fen()));
            assert_eq!(ply.search.is_some(), ply.played.is_some() && ply.ply >= stored.opening_plies);
        }
        assert_eq!(plies[1].last, plies[0].played);
        assert_eq!((stored.white.as_str(), stored.result), (row.network.as_str(), row.result));
    }
}

#[test]
fn moves_of_a_search_are_in_the_order_of_visits_then_shares_then_packed_moves() {
    let row = GameRow { moves: vec![0x4e30], ..game() };
    let packed = |text: &str| Move::from_uci(text).expect("a move").packed();
    let figures = [("e1d1", 1, 2), ("e1e2", 1, 1), ("e1f1", 1, 1), ("a7a8q", 5, 0), ("e1d2", 0, 6)];
    let searched = |figures: &[(&str, u32, u16)]| PositionRow {
        ply: 0,
        moves: figures.iter().map(|(text, ..)| packed(text)).collect(),
        visits: figures.iter().map(|(_, visits, _)| *visits).collect(),
        target: figures.iter().map(|(.., share)| *share).collect(),
        ..position()
    };
    let ranked = |figures: &[(&str, u32, u16)]| {
        let stored = StoredGame::of_self_play(&row, &[searched(figures)]).unwrap();
        let targets = stored.plies().next().expect("a position").targets();
        targets.iter().map(|mv| (mv.played.to_string(), mv.visits, mv.share)).collect::<Vec<_>>()
    };
    let expected =
        [("a7a8q", 5, 0.0), ("e1d1", 1, 0.2), ("e1f1", 1, 0.1), ("e1e2", 1, 0.1), ("e1d2", 0, 0.6)];
    assert_eq!(ranked(&figures), expected.map(|(text, visits, share)| (text.to_owned(), visits, share)));
    let stored = StoredGame::of_self_play(&row, &[]).unwrap();
    assert!(stored.plies().all(|ply| ply.targets().is_empty()));
    // An illegal move hides no other one.
    let damaged = ranked(&[("e1e8", 9, 1), ("e1d1", 1, 1)]);
    assert_eq!(damaged, [("e1d1".to_owned(), 1, 0.5)]);
}

#[test]
fn the_players_of_a_match_have_their_colours() {
    let mut row = match_game();
    let stored = StoredGame::of_match(&row).unwrap();
    assert_eq!((stored.white.as_str(), stored.black.as_str()), ("greedy", "network 3"));
    assert_eq!((stored.movetext().as_str(), stored.searches.len()), ("1. a8=Q+", 1));
    row.first_is_white = true;
    assert_eq!(StoredGame::of_match(&row).unwrap().white, "network 3");
}

#[test]
fn a_stored_game_as_pgn_has_the_values_of_its_searches() {
    let row =
        GameRow { moves: vec![position().played], opening_plies: 0, result: GameResult::WhiteWins, ..game() };
    let mut search = position();
    (search.ply, search.root_q) = (0, 0.994);
    let text = StoredGame::of_self_play(&row, &[search]).unwrap().pgn("run, iteration 3");
    let expected = "\
[Event \"run, iteration 3\"]
[Site \"?\"]
[Date \"????.??.??\"]
[Round \"3\"]
[White \"0123456789abcdef\"]
[Black \"0123456789abcdef\"]
[Result \"1-0\"]
[SetUp \"1\"]
[FEN \"4k3/P7/8/8/8/8/8/4K3 w - - 0 1\"]
[PlyCount \"1\"]
[Termination \"normal\"]
[DC0Reason \"checkmate\"]
[DC0OpeningPlies \"0\"]

1. a8=Q+ {q=+0.99 net=+0.10} 1-0
";
    assert_eq!(text, expected);
}

#[test]
fn an_imported_game_as_pgn_has_its_own_round() {
    let row = GameRow { moves: vec![position().played], opening_plies: 0, ..game() };
    for (round, expected) in [("", "\n[Round \"?\"]\n"), ("7.2", "\n[Round \"7.2\"]\n")] {
        let header = HeaderRow { round: round.to_owned(), ..HeaderRow::default() };
        let text = StoredGame::of_import(&row, header, &[]).unwrap().pgn("dataset");
        assert!(text.contains(expected), "{text}");
    }
}

#[test]
fn a_match_game_as_pgn_has_what_the_players_found() {
    let pgn = |scores: f32, depths: u16, seconds: Vec<f32>| {
        let (scores, depths) = (Scores(vec![scores]), vec![depths]);
        StoredGame::of_match(&MatchGameRow { scores, depths, seconds, ..match_game() }).unwrap().pgn("run")
    };
    let text = pgn(-31_995.0, 12, vec![0.25]);
    assert!(
        text.contains("[Termination \"abandoned\"]\n[DC0Reason \"crash\"]\n[DC0Detail \"exit status 1\"]"),
        "{text}"
    );
    assert!(text.ends_with("\n1. a8=Q+ {-M5/12 0.250s} 1-0\n"), "{text}");
    for (found, expected) in [
        (pgn(35.4, 0, Vec::new()), "1. a8=Q+ {+0.35} 1-0"),
        (pgn(31_000.0, 0, Vec::new()), "1. a8=Q+ {+310.00} 1-0"),
        (pgn(f32::NAN, 0, vec![1.5]), "1. a8=Q+ {1.500s} 1-0"),
        (pgn(f32::NAN, 0, Vec::new()), "1. a8=Q+ 1-0"),
    ] {
        assert!(found.contains(expected), "{found}");
    }
}

#[test]
fn an_illegal_move_is_named() {
    let error = StoredGame::of_self_play(&game(), &[]).unwrap_err().to_string();
    assert!(error.starts_with("move 2, \"a1a1\", is not legal in Q3k3/8"), "{error}");
}

#[test]
fn files_are_grouped_into_shards_by_their_order() {
    let file = |path: &str| FileEntry { path: path.to_owned(), rows: 0, bytes: 0, blake3: String::new() };
    let files = ["games/iteration=0001/a.parquet", "positions/a", "games/b.parquet", "positions/b"].map(file);
    let shards: Vec<_> = ShardFiles::of_iteration(&files).collect();
    assert_eq!(
        shards[1],
        ShardFiles { games: &files[2], positions: &files[3], headers: None, rejects: None }
    );
    assert_eq!((shards.len(), shards[0].name(), shards[1].name()), (2, "a", "b"));
    let searches: Vec<_> = SearchFiles::of_analysis(&files).collect();
    assert_eq!(searches[0], SearchFiles { lines: &files[0], trees: &files[1] });
}
