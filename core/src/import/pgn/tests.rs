//! Imports of small files, and of one large enough for several chunks.

use std::sync::Mutex;

use super::PgnParams;
use super::parse::parse;
use crate::board::{
    Adjudication, Ending, Fault, Game, GameResult, PgnRoster, PgnWriter, Reason, Rules, ScoreView,
    random_opening,
};
use crate::event::Silent;
use crate::import::format::{Chunk, GameFormat as _, Imported, Parsed, Point};
use crate::import::tests::{gzip, shards, written};
use crate::import::{ImportJob, ImportShard, ImportStats, Resume, Source, SourceError, import};
use crate::rng::{Purpose, Seed};
use crate::store::{GameRow, HeaderRow, MatchGameRow, Reject, Scores, StoredGame, games_with_positions};

fn parsed(text: &[u8], params: &PgnParams) -> Vec<Parsed> {
    let start = Point::default();
    let chunk = Chunk { start, next: start, text: text.to_owned(), read: 0 };
    parse(&chunk, "x.pgn", params)
}

/// The kinds of faults of the games of a text, with the lines and the numbers; `taken` for the others.
fn outcomes(text: &str) -> Vec<String> {
    let outcome = |parsed: Parsed| match parsed {
        Parsed::Taken(_) => "taken".to_owned(),
        Parsed::LeftOut(option) => format!("left out by {option}"),
        Parsed::Rejected(row) => format!("{} {} {}", row.reason.name(), row.number, row.line),
    };
    parsed(text.as_bytes(), &PgnParams::default()).into_iter().map(outcome).collect()
}

const GAME: &str = "[Event \"Rated blitz\"]
[Site \"https://lichess.org/abcdefgh\"]
[Date \"2024.01.??\"]
[UTCDate \"2024.01.02\"]
[Round \"-\"]
[White \"Réti \\\"R\\\"\"]
[Black \"?\"]
[Result \"0-1\"]
[WhiteElo \"1500\"]
[BlackElo \"?\"]
[ECO \"A00\"]
[TimeControl \"180+2\"]
[Termination \"Normal\"]

{a comment} 1. f3?! { [%eval -0.41] [%clk 0:03:00] } 1... e5 { [%clk 0:02:59.5] }
(1... d5 { [%eval 9.0] } 2. Nh3 (2. a3 *) ; a line ) with a bracket
e5) 2. g4?? $4 { [%eval #-1] } Qh4# 0-1
";

/// A game as dc0 exports it, which it cut off after three random plies and two searched ones.
const CUT_OFF: &str = "[Event \"a run\"]
[Result \"1/2-1/2\"]
[Termination \"adjudication\"]
[DC0Reason \"ply_cap\"]
[DC0OpeningPlies \"3\"]

1. a3 h6 2. h3 e5 {q=+0.41 net=+0.10} 3. e4 {q=+0.00 net=-0.10} 1/2-1/2
";

#[test]
fn games_of_dc0_keep_their_ends_and_what_no_search_chose() {
    let params = PgnParams::default();
    let import = |text: &str, params: &PgnParams| {
        let mut games = parsed(text.as_bytes(), params);
        let Some(Parsed::Taken(imported)) = games.pop() else { panic!("{games:?}") };
        let Imported { game, header, positions } = *imported;
        assert_eq!(params.fault(&game, &header, &positions), None);
        (game, header, positions)
    };
    let (game, header, positions) = import(CUT_OFF, &params);
    assert_eq!((game.reason, game.opening_plies), (Reason::PlyCap.into(), 3));
    assert_eq!(positions.iter().map(|row| row.ply).collect::<Vec<_>>(), [3, 4]);
    let wrong = GameRow { reason: Ending::Adjudicated(Adjudication::AgreedDraw), ..game.clone() };
    assert!(params.fault(&wrong, &header, &positions).is_some_and(|fault| fault.contains("`reason`")));
    // And once more from its own export.
    let again = StoredGame::of_import(&game, header, &positions).expect("is legal").pgn("again");
    let tags = "[Termination \"adjudication\"]\n[DC0Reason \"ply_cap\"]\n[DC0OpeningPlies \"3\"]\n";
    assert!(again.contains(tags), "{again}");
    assert_eq!(import(&again, &params).0, game);
    let skipping = PgnParams { skip_plies: 4, ..PgnParams::default() };
    assert_eq!(import(CUT_OFF, &skipping).2.len(), 1);
    let by_tables = CUT_OFF.replace("ply_cap", "tablebase").replace("1/2-1/2", "0-1");
    assert_eq!(import(&by_tables, &params).0.reason, Ending::Adjudicated(Adjudication::Tablebase));
    // What cannot be is not believed: a mate that is none, a cap that somebody wins, a word of nobody's.
    for (name, result, expected) in [
        ("checkmate", "0-1", Adjudication::Resignation),
        ("ply_cap", "0-1", Adjudication::Resignation),
        ("boredom", "1/2-1/2", Adjudication::AgreedDraw),
    ] {
        let text = CUT_OFF.replace("ply_cap", name).replace("1/2-1/2", result);
        assert_eq!(import(&text, &params).0.reason, Ending::Adjudicated(expected), "{name}");
    }
}

#[test]
fn a_game_becomes_rows_with_everything_that_is_known_of_it() {
    let games = parsed(GAME.as_bytes(), &PgnParams::default());
    let [Parsed::Taken(imported)] = games.as_slice() else { panic!("{games:?}") };
    let (game, header) = (&imported.game, &imported.header);
    let moves: Vec<String> = StoredGame::of_import(game, header.clone(), &imported.positions)
        .expect("is legal")
        .game
        .moves()
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(moves, ["f2f3", "e7e5", "g2g4", "d8h4"]);
    assert_eq!((game.result, game.reason), (GameResult::BlackWins, Reason::Checkmate.into()));
    let expected = HeaderRow {
        game: 0,
        source: "x.pgn".to_owned(),
        number: 1,
        line: 1,
        event: "Rated blitz".to_owned(),
        site: "https://lichess.org/abcdefgh".to_owned(),
        date: "2024.01.02".to_owned(),
        round: "-".to_owned(),
        white: "Réti \"R\"".to_owned(),
        white_elo: 1500,
        time_control: "180+2".to_owned(),
        termination: "Normal".to_owned(),
        eco: "A00".to_owned(),
        result: "0-1".to_owned(),
        ..header.clone()
    };
    assert_eq!((header, header.black.as_str(), header.black_elo), (&expected, "", 0));
    assert_eq!(header.clocks.0[..2], [180.0, 179.5]);
    assert!(header.clocks.0[2..].iter().all(|clock| clock.is_nan()));
    assert_eq!([header.evals.0[0], header.evals.0[2]], [-41.0, -31999.0]);
    // The evaluation after a move is that of the next position; without one the result counts.
    let values: Vec<(f32, f32)> = imported.positions.iter().map(|row| (row.root_q, row.root_d)).collect();
    assert_eq!([values[0], values[2], values[3]], [(-1.0, 0.0), (-1.0, 0.0), (1.0, 0.0)]);
    assert!(values[1].0 > 0.0 && values[1].0 < 0.1 && values[1].1 > 0.29, "{values:?}");
    let played: Vec<_> = imported.positions.iter().map(|row| (row.legal, row.result, row.full)).collect();
    assert_eq!(played, [(20, -1, true), (20, 1, true), (19, -1, true), (30, 1, true)]);
    assert_eq!(PgnParams::default().fault(game, header, &imported.positions), None);
}

#[test]
fn broken_games_are_named_with_their_kind_number_and_line() {
    let text = "[White \"a\"]\n\n1. e4 e5 2. Ke3 1-0\n\n[FEN \"8/8 w\"]\n\n1. e4 1-0\n
[Variant \"Atomic\"]\n\n1. e4 1-0\n\n1. e4 -- 2. d4 1-0\n\n[White \"b\"]\n\n1. e4 *\n\n[White \"c\"]\n\n1. e4\n
[Result \"0-1\"]\n\n1. e4 1-0\n\n1. f3 e5 2. g4 Qh4# 1-0\n\n1. e4 e5 ) 1-0\n\n1. e4 (1. d4 1-0\n
[White \"d\"]\n\n1. e4 {never ends 1-0\n\n[Event \"e\"]\n\n1. e4 Zz9 1-0\n\n[White \"f\n\n1. e4 1-0\n\n1. e4 0-0-0 1-0\n
[White \"g\"]\n[Result \"1/2-1/2\"]\n\n1/2-1/2\n\n[SetUp \"1\"]\n[FEN \"4k3/8/8/8/8/8/8/4K2R w K - 0 1\"]\n\n1. 0-0 Ke7 2. rF2 1/2-1/2\n";
    let expected = [
        "illegal_move 1 3",
        "fen 2 5",
        "variant 3 9",
        "null_move 4 13",
        "no_result 5 15",
        "no_result 6 19",
        "other_result 7 23",
        "other_result 8 27",
        "syntax 9 29",
        "syntax 10 31",
        "syntax 11 35",
        "illegal_move 12 39",
        "syntax 13 41",
        "illegal_move 14 45",
        "left out by min_plies",
        "taken",
    ];
    assert_eq!(outcomes(text), expected);
}

#[test]
fn null_moves_are_found_however_they_are_written() {
    for null in ["--", "Z0", "0000", "1...0000", "null", "@@@@"] {
        assert_eq!(outcomes(&format!("1. e4 {null} 2. d4 1-0\n")), ["null_move 1 1"], "{null}");
    }
}

#[test]
fn a_result_that_pgn_does_not_have_is_none() {
    let tagged = |result: &str| outcomes(&format!("[Result \"{result}\"]\n\n1. e4 e5 {result}\n"));
    assert_eq!(tagged("0-0"), ["no_result 1 3"]);
    assert_eq!(tagged("½-½"), ["taken"]);
}

#[test]
fn the_last_word_of_a_game_is_not_dropped_and_blank_lines_do_not_end_it() {
    assert_eq!(outcomes("1. e4 e5 2. Nf3 Kxe9 1-0"), ["illegal_move 1 1"]);
    let text = b"\xef\xbb\xbf1. e4$1 e5\r\n\r\n2. Nf3!?$13\r\n\r\n1/2-1/2\r\n\xef\xbb\xbf";
    let games = parsed(text, &PgnParams::default());
    let [Parsed::Taken(imported)] = games.as_slice() else { panic!("{games:?}") };
    assert_eq!(imported.game.moves.len(), 3);
}

#[test]
fn what_ended_a_game_follows_from_its_board_and_its_tag() {
    let reason = |tags: &str, moves: &str| {
        let games = parsed(format!("{tags}\n\n{moves}").as_bytes(), &PgnParams::default());
        let [Parsed::Taken(imported)] = games.as_slice() else { panic!("{games:?}") };
        imported.game.reason
    };
    let shuffle = "1. Nf3 Nf6 2. Ng1 Ng8 3. Nf3 Nf6 4. Ng1 Ng8";
    assert_eq!(reason("", &format!("{shuffle} 1/2-1/2")), Reason::Threefold.into());
    assert_eq!(reason("", &format!("{shuffle} 1-0")), Ending::Adjudicated(Adjudication::Resignation));
    assert_eq!(reason("", "1. e4 1/2-1/2"), Ending::Adjudicated(Adjudication::AgreedDraw));
    let by = |termination: &str| reason(&format!("[Termination \"{termination}\"]"), "1. e4 1-0");
    assert_eq!(by("Normal"), Ending::Adjudicated(Adjudication::Resignation));
    assert_eq!(by("Time forfeit"), Ending::Forfeit(Fault::Time));
    assert_eq!(by("abandoned"), Ending::Forfeit(Fault::Stall));
    assert_eq!(by("white won on time"), Ending::Forfeit(Fault::Time));
    assert_eq!(by("rules infraction"), Ending::Forfeit(Fault::IllegalMove));
}

#[test]
fn options_leave_games_out_by_their_tags_and_lengths() {
    let taken =
        |params: PgnParams| match parsed(GAME.replace("\"?\"]\n[ECO", "\"1900\"]\n[ECO").as_bytes(), &params)
            .as_slice()
        {
            [Parsed::Taken(_)] => "taken",
            [Parsed::LeftOut(option)] => option,
            other => panic!("{other:?}"),
        };
    let params = PgnParams::default;
    assert_eq!(taken(PgnParams { min_elo: Some(1500), max_elo: Some(1900), ..params() }), "taken");
    assert_eq!(taken(PgnParams { min_elo: Some(1501), ..params() }), "min_elo");
    assert_eq!(taken(PgnParams { max_elo: Some(1899), ..params() }), "max_elo");
    assert_eq!(taken(PgnParams { min_time: Some(260), normal_only: true, ..params() }), "taken");
    assert_eq!(taken(PgnParams { min_time: Some(261), ..params() }), "min_time");
    assert_eq!(taken(PgnParams { min_plies: 5, ..params() }), "min_plies");
    // A game without ratings is left out, even if it is broken.
    let unrated = parsed(b"1. e5 1-0", &PgnParams { min_elo: Some(1), ..params() });
    assert_eq!(unrated, [Parsed::LeftOut("min_elo")]);
    let late = PgnParams { skip_plies: 3, policy_targets: false, ..params() };
    let games = parsed(GAME.as_bytes(), &late);
    let [Parsed::Taken(imported)] = games.as_slice() else { panic!("{games:?}") };
    let rows: Vec<(u16, bool)> = imported.positions.iter().map(|row| (row.ply, row.full)).collect();
    assert_eq!((imported.game.opening_plies, rows), (3, vec![(3, false)]));
    assert_eq!(late.fault(&imported.game, &imported.header, &imported.positions), None);
}

/// Random games as PGN, more than two chunks of them, with a broken one after every hundred.
fn random_games(count: u64) -> String {
    let rules = Rules { max_plies: 512 };
    let mut text = String::new();
    for number in 0..count {
        let mut stream = Seed { run: 8, step: 0 }.stream(number, Purpose::Opening);
        let game = random_opening(20 + number as u32 % 40, &rules, &mut stream);
        let result = [GameResult::WhiteWins, GameResult::Draw, GameResult::BlackWins][number as usize % 3];
        let (white, black) = (number.to_string(), "y".to_owned());
        let (event, round) = ("random".to_owned(), "-".to_owned());
        let roster = PgnRoster { event, date: None, round, white, black, result: Some(result) };
        let mut writer = PgnWriter::new(&roster, game.start());
        for (ply, (before, mv)) in game.positions().zip(game.moves()).enumerate() {
            writer.play(before, *mv, (ply % 7 == 3).then_some("[%eval 0.25,20] [%clk 0:01:02]"));
        }
        text += &writer.finish();
        text += "\n";
        if number % 100 == 99 {
            text += "[Event \"broken\"]\n\n1. e4 e4 1-0\n\n";
        }
    }
    text
}

#[test]
fn shards_are_the_same_with_any_lanes_after_any_stop_and_from_compressed_files() {
    let folder = tempfile::tempdir().expect("a folder");
    let text = random_games(6000);
    assert!(text.len() > 2 << 20, "{}", text.len());
    let (first, second) = text.split_at(text.find("[White \"4000\"]").expect("a game"));
    let cut = first.rfind("[Event").expect("its first tag");
    let (first, second) = (&first[..cut], format!("{}{second}", &first[cut..]));
    let plain = [
        written(folder.path(), "a.pgn", first.as_bytes()),
        written(folder.path(), "b.pgn", second.as_bytes()),
    ];
    let params = PgnParams { shard_games: 700, ..PgnParams::default() };
    let sources = Source::all::<PgnParams>(&plain).expect("sources");
    let expected = shards(&sources, &params, Resume::default(), 1);
    assert!(expected.len() > 3, "{}", expected.len());
    let games: Vec<u32> =
        expected.iter().flat_map(|shard| shard.games.iter().map(|game| game.game)).collect();
    assert_eq!(games, (0..6000).collect::<Vec<_>>());
    let rejects: Vec<(u32, u32)> =
        expected.iter().flat_map(|shard| shard.rejects.iter().map(|row| (row.reject, row.number))).collect();
    assert_eq!((rejects.len(), rejects[0], rejects[59]), (60, (0, 101), (59, 2020)));
    let last = expected.last().and_then(|shard| shard.headers.last()).expect("a game");
    assert_eq!((last.white.as_str(), last.source.as_str(), last.number), ("5999", "b.pgn", 2019));
    for shard in &expected {
        let games = games_with_positions(&shard.games, &shard.positions);
        for (found, header) in games.zip(&shard.headers) {
            let (game, own) = found.expect("every position is one of a game");
            assert_eq!(params.fault(game, header, own), None);
        }
    }

    assert_eq!(shards(&sources, &params, Resume::default(), 3), expected);
    for stopped in [1, 2, expected.len() - 1] {
        let from = expected[stopped - 1].part.next;
        assert_eq!(shards(&sources, &params, from, 2), expected[stopped..]);
    }
    let few = PgnParams { max_games: Some(2500), ..params.clone() };
    for lanes in [1, 3] {
        let found = shards(&sources, &few, Resume::default(), lanes);
        let count: usize = found.iter().map(|shard| shard.games.len()).sum();
        assert_eq!(count, 2500);
        let from = found[found.len() - 1].part.next;
        assert_eq!((from.games, shards(&sources, &few, from, lanes)), (2500, Vec::new()));
    }

    // Compressed files have other names, and one of two parts is read to the end of the second.
    let halves = first.as_bytes().split_at(first.len() / 2);
    let mut packed = zstd::encode_all(halves.0, 1).expect("packs");
    packed.extend(zstd::encode_all(halves.1, 1).expect("packs"));
    let second = gzip(second.as_bytes());
    let packed = [written(folder.path(), "a.pgn.zst", &packed), written(folder.path(), "b.gz", &second)];
    let found = shards(&Source::all::<PgnParams>(&packed).expect("sources"), &params, Resume::default(), 2);
    let rows = |shards: &[ImportShard]| -> Vec<_> {
        shards
            .iter()
            .map(|shard| (shard.games.clone(), shard.positions.clone(), shard.part.clone()))
            .collect()
    };
    assert_eq!(rows(&found), rows(&expected));
}

#[test]
fn files_that_cannot_be_imported_are_refused_before_anything_is_done() {
    let folder = tempfile::tempdir().expect("a folder");
    let fault = |name: &str, content: &[u8]| {
        let path = written(folder.path(), name, content);
        Source::all::<PgnParams>(&[path]).expect_err("is refused").to_string()
    };
    assert!(fault("empty.pgn", b"").ends_with("empty.pgn is empty; expected games as PGN"));
    assert!(fault("page.pgn", b"<!DOCTYPE html><p>Not found").contains("has no games at its beginning"));
    assert!(fault("comment.pgn", b"; nothing\n").contains("has no games at its beginning"));
    assert!(fault("binary.pgn", &[0, 1, 2, 200, 0, 0]).contains("has no games at its beginning"));
    assert!(fault("a.pgn", b"BZh91AY").contains("a.pgn is compressed with bzip2; unpack it first"));
    assert!(fault("a.zip", b"PK\x03\x04..").contains("is a zip archive"));
    assert!(fault("a.pgn", b"\xff\xfe1\0.\0").contains("is UTF-16; convert it to UTF-8 first"));
    assert!(fault("a.zst", &[0x28, 0xb5, 0x2f, 0xfd, 9]).contains("a.zst is cut or damaged: "));
    assert!(fault("a.gz", &[0x1f, 0x8b, 9, 9]).contains("a.gz is cut or damaged: "));
    let missing = Source::all::<PgnParams>(&[folder.path().join("missing.pgn")]).expect_err("is missing");
    assert!(matches!(missing, SourceError::Read { .. }), "{missing}");
    let inside = Source::all::<PgnParams>(&[folder.path().to_owned()]).expect_err("is a folder").to_string();
    assert!(inside.contains("is a folder; give the files in it, such as "), "{inside}");
    let twice =
        [written(folder.path(), "1.pgn", GAME.as_bytes()), written(folder.path(), "2.pgn", GAME.as_bytes())];
    assert!(
        Source::all::<PgnParams>(&twice)
            .expect_err("are equal")
            .to_string()
            .contains("have the same content")
    );
}

#[test]
fn a_compressed_file_that_is_cut_is_an_error_after_its_whole_shards() {
    let folder = tempfile::tempdir().expect("a folder");
    let packed = zstd::encode_all(random_games(6000).as_bytes(), 1).expect("packs");
    let path = written(folder.path(), "cut.zst", &packed[..packed.len() * 3 / 4]);
    let sources = Source::all::<PgnParams>(&[path]).expect("its beginning is whole");
    let kept = Mutex::new(0);
    let keep = |shard: ImportShard| {
        *kept.lock().expect("no lane panics") += shard.games.len();
        Ok(())
    };
    let params = PgnParams { shard_games: 500, ..PgnParams::default() };
    let job = ImportJob { params: &params, sources: &sources, from: Resume::default() };
    let error = import(job, 2, &keep, &Silent).expect_err("is cut").to_string();
    assert!(error.contains("cut.zst is cut or damaged: ") && error.contains("get the file again"), "{error}");
    let kept = *kept.lock().expect("no lane panics");
    assert!((500..6000).contains(&kept), "{kept}");
}

#[test]
fn what_is_wrong_after_the_last_game_that_is_wanted_does_not_matter() {
    let folder = tempfile::tempdir().expect("a folder");
    let packed = zstd::encode_all(random_games(6000).as_bytes(), 1).expect("packs");
    let path = written(folder.path(), "cut.zst", &packed[..packed.len() * 3 / 4]);
    let sources = Source::all::<PgnParams>(&[path]).expect("its beginning is whole");
    let params = PgnParams { shard_games: 500, max_games: Some(1200), ..PgnParams::default() };
    let expected = shards(&sources, &params, Resume::default(), 1);
    assert_eq!(expected.iter().map(|shard| shard.games.len()).sum::<usize>(), 1200);
    assert_eq!(shards(&sources, &params, Resume::default(), 4), expected);
}

#[test]
fn a_shard_ends_where_most_games_are_left_out_too() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = written(folder.path(), "a.pgn", "[Event \"a\"]\n\n1. e4 1-0\n\n".repeat(120_000).as_bytes());
    let sources = Source::all::<PgnParams>(&[path]).expect("a source");
    let params = PgnParams { min_elo: Some(2000), shard_games: 100, ..PgnParams::default() };
    let found = shards(&sources, &params, Resume::default(), 2);
    let read: Vec<u64> = found.iter().map(|shard| shard.part.stats.read).collect();
    assert!(read.len() > 2 && read.iter().sum::<u64>() == 120_000, "{read:?}");
    let params = PgnParams { shard_games: 4096, ..params };
    assert_eq!(shards(&sources, &params, found[0].part.next, 1).len(), 1);
}

#[test]
fn a_game_of_tags_alone_keeps_them_to_itself() {
    let tags = "[Event \"a\"]\n[White \"b\"]\n[FEN \"4k3/8/8/8/8/8/4P3/4K3 w - - 0 1\"]\n\n";
    let text = format!("{tags}[Event \"c\"]\n\n1. d4 1-0\n");
    assert_eq!(outcomes(&text), ["no_result 1 1", "taken"]);
    let games = parsed(text.as_bytes(), &PgnParams::default());
    let [_, Parsed::Taken(imported)] = games.as_slice() else { panic!("{games:?}") };
    assert_eq!((imported.header.event.as_str(), imported.header.white.as_str()), ("c", ""));
}

#[test]
fn large_evaluations_are_no_mates() {
    let text = "[Event \"a\"]\n\n1. e4 {[%eval 199.94]} e5 {[%eval -300.0]} 2. Nf3 {[%eval #999]} 1-0\n";
    let games = parsed(text.as_bytes(), &PgnParams::default());
    let [Parsed::Taken(imported)] = games.as_slice() else { panic!("{games:?}") };
    assert_eq!(imported.header.evals.0, [19_994.0, -30_000.0, 31_001.0]);
    let Imported { game, header, positions } = &**imported;
    let again = StoredGame::of_import(game, header.clone(), positions).expect("is legal").pgn("again");
    let moves = "1. e4 {[%eval 199.94]} 1... e5 {[%eval -300.00]} 2. Nf3 {[%eval #999]} 1-0";
    assert!(again.replace('\n', " ").contains(moves), "{again}");
}

/// The evaluations of a game's header and the values of its positions.
fn evals_and_values(text: &str) -> (Vec<f32>, Vec<f32>) {
    let params = PgnParams::default();
    let games = parsed(text.as_bytes(), &params);
    let [Parsed::Taken(imported)] = games.as_slice() else { panic!("{games:?}") };
    assert_eq!(params.fault(&imported.game, &imported.header, &imported.positions), None);
    (imported.header.evals.0.clone(), imported.positions.iter().map(|row| row.root_q).collect())
}

#[test]
fn scores_of_a_match_are_evaluations_after_its_export() {
    let game = Game::from_text("startpos moves f2f3 e7e5 b1c3 g8f6 g2g4 f6h5 a2a3 d8h4").expect("is legal");
    let row = MatchGameRow {
        game: 0,
        pair: 0,
        first: "stockfish".to_owned(),
        second: "a1".to_owned(),
        first_is_white: true,
        start_fen: game.start().fen(),
        moves: game.moves().iter().map(|played| played.packed()).collect(),
        opening_plies: 1,
        plies: 8,
        scores: Scores(vec![f32::NAN, 503.0, -31.0, 12.0, -31_998.0, 31_998.0, -31_999.0, 31_999.0]),
        depths: vec![0, 7, 12, 0, 20, 21, 1, 1],
        seconds: vec![0.0, 0.53, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
        score: 0.0,
        result: GameResult::BlackWins,
        reason: Reason::Checkmate.into(),
        detail: String::new(),
    };
    let text = StoredGame::of_match(&row).expect("is legal").pgn("run");
    assert!(text.contains("{+5.03/7 0.530s}"), "{text}");
    let (evals, values) = evals_and_values(&text);
    // White's; a mate is one move nearer after a move of the side that mates, and then on the board.
    let expected = [-503.0, -31.0, -12.0, -31_998.0, -31_999.0, -31_999.0];
    assert!(evals[0].is_nan() && evals[7].is_nan(), "{evals:?}");
    assert_eq!(evals[1..7], expected);
    // The position after 1... e5 is White's, which its opponent finds worse by 5 pawns.
    assert_eq!(values.len(), 7);
    assert!(values[1] < -0.7 && values[2] > 0.0 && values[3] < 0.0, "{values:?}");
    assert_eq!(values[4..], [1.0, -1.0, 1.0]);
}

#[test]
fn scores_as_cutechess_and_fastchess_write_them_are_evaluations() {
    let cutechess =
        "[Event \"c\"]\n\n1. e4 {+0.31/12 0.53s} e5 {+0.20/11 1.2s} 2. Bc4 {book} Nc6 {-0.15/9 12s}
3. Qh5 {+M3/9 0.090s} Nf6 {-M2/8 0.1s} 4. Qxf7# {+M1/3\n0.010s, White mates} 1-0\n";
    let (evals, values) = evals_and_values(cutechess);
    assert!(evals[2].is_nan() && evals[6].is_nan(), "{evals:?}");
    assert_eq!([&evals[..2], &evals[3..6]].concat(), [31.0, -20.0, 15.0, 31_999.0, 31_999.0]);
    // The first position and the one after the book move have the result.
    assert_eq!([values[0], values[3], values[5], values[6]], [1.0, -1.0, -1.0, 1.0]);
    assert!(values[1] < 0.0 && values[2] < 0.0 && values[4] > 0.0, "{values:?}");
    let fastchess = "[Event \"f\"]\n\n1. e4 {+1.00/15 1.321s} e5 {+1.23/15 0.430s} 2. Nf3 {0.00/16 0.310s}
Nf6 {+10.15/18 1.821s, n=7, engine2 got checkmated} 1-0\n";
    assert_eq!(evals_and_values(fastchess).0, [100.0, -123.0, 0.0, -1015.0]);
}

/// White's scores, as a graphical program writes them: with a sign, and without that of what is above 0.
const WHITES: [&str; 2] = [
    "[Event \"a\"]\n\n1. e4 {+1.91/30 7.7s} a6 {+1.89/23 0.58s} 2. d4 {+2.04/33 9.6s} h6 {+1.87/28 1.5s} 1-0\n\n",
    "[Event \"b\"]\n\n1. f3 {0.05/10 1} e5 {-0.30/10 1} 2. g3 {-0.80/10 1} d5 {1.90/10 1} 3. Kf2 {1.20/10 1} 0-1\n\n",
];

#[test]
fn scores_from_another_side_than_they_are_read_from_are_noticed() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = written(folder.path(), "a.pgn", WHITES.concat().repeat(3).as_bytes());
    let sources = Source::all::<PgnParams>(&[path]).expect("a source");
    let import = |scores: ScoreView| {
        let params = PgnParams { scores, ..PgnParams::default() };
        let shard = shards(&sources, &params, Resume::default(), 1).remove(0);
        let evals: Vec<Vec<f32>> = shard.headers.iter().map(|header| header.evals.0.clone()).collect();
        let stats = shard.part.stats;
        ((stats.eval_pairs, stats.opposed_pairs), evals, params.doubt(&stats))
    };
    let (pairs, evals, doubt) = import(ScoreView::Mover);
    assert_eq!((pairs, &evals[1]), ((12, 12), &vec![5.0, 30.0, -80.0, -190.0, 120.0]));
    let doubt = doubt.expect("has doubts");
    let expected = "12 of 12 pairs of consecutive evaluations of at least a pawn have opposite signs";
    assert!(
        doubt.starts_with(expected) && doubt.contains("give scores: \"white\" (--scores white)"),
        "{doubt}"
    );
    let (pairs, evals, doubt) = import(ScoreView::White);
    assert_eq!((pairs, doubt), ((12, 0), None));
    assert_eq!(evals[..2], [vec![191.0, 189.0, 204.0, 187.0], vec![5.0, -30.0, -80.0, 190.0, 120.0]]);
    // As many that agree are no reason, and what dc0 wrote has none.
    let doubt = |pairs, opposed| {
        let stats = ImportStats { eval_pairs: pairs, opposed_pairs: opposed, ..ImportStats::default() };
        PgnParams { scores: ScoreView::White, ..PgnParams::default() }.doubt(&stats)
    };
    assert_eq!([doubt(0, 0), doubt(9, 9), doubt(40, 20)], [None, None, None]);
    assert!(doubt(40, 30).is_some_and(|text| text.contains("leave out scores: \"white\"")));
    let of_dc0 = WHITES[0].replace("]\n", "]\n[DC0Reason \"resignation\"]\n");
    let games = parsed(of_dc0.as_bytes(), &PgnParams::default());
    let [Parsed::Taken(imported)] = games.as_slice() else { panic!("{games:?}") };
    let mut stats = ImportStats::default();
    stats.add_notes(&imported.header);
    assert_eq!((stats.evals, stats.eval_pairs), (4, 0));
}

#[test]
fn imported_games_are_written_as_pgn_and_read_back() {
    let params = PgnParams::default();
    let text = random_games(50);
    let first = parsed(text.as_bytes(), &params);
    let written = |parsed: &Parsed| match parsed {
        Parsed::Taken(imported) => {
            let stored = StoredGame::of_import(&imported.game, imported.header.clone(), &imported.positions)
                .expect("is legal");
            stored.pgn("export") + "\n"
        }
        other => panic!("{other:?}"),
    };
    let again = parsed(first.iter().map(written).collect::<String>().as_bytes(), &params);
    let rows = |games: &[Parsed]| -> Vec<_> {
        let row = |parsed: &Parsed| match parsed {
            Parsed::Taken(imported) => {
                let header = HeaderRow { line: 0, ..imported.header.clone() };
                // The exporter writes how the game ended as `Termination`, which these games do not have.
                (
                    imported.game.clone(),
                    HeaderRow { termination: String::new(), ..header },
                    imported.positions.clone(),
                )
            }
            other => panic!("{other:?}"),
        };
        games.iter().map(row).collect()
    };
    assert_eq!(rows(&again), rows(&first));
}

#[test]
fn no_bytes_panic_and_every_game_is_counted_once() {
    use rand::RngExt;
    let parts: [&[u8]; 33] = [
        b"[",
        b"]",
        b"\"",
        b"\\",
        b"{",
        b"}",
        b"(",
        b")",
        b";",
        b"%",
        b"\n",
        b" ",
        b"\r\n",
        b"e4",
        b"e5",
        b"1.",
        b"\xe9",
        b"\0",
        b"*",
        b"1-0",
        b"0-1",
        b"$3",
        b"--",
        b"[FEN \"",
        b"[Event \"x\"]\n",
        b"[%eval 1]",
        b"[%clk ",
        b"0-0",
        b"[Result \"1-0\"]",
        b"[%eval #3]",
        b"{+0.31/12 0.5s}",
        b"-M5/20",
        b" 1. e4 e5 2. Nf3 ",
    ];
    let mut stream = Seed { run: 6, step: 0 }.stream(0, Purpose::Opening);
    let params = PgnParams::default();
    let mut taken = 0;
    for _ in 0..20_000 {
        let count = stream.random_range(0..24);
        let text: Vec<u8> =
            (0..count).flat_map(|_| parts[stream.random_range(0..parts.len())]).copied().collect();
        for parsed in parsed(&text, &params) {
            if let Parsed::Taken(imported) = parsed {
                taken += 1;
                let fault = params.fault(&imported.game, &imported.header, &imported.positions);
                assert_eq!(fault, None, "{}", String::from_utf8_lossy(&text));
            }
        }
    }
    assert!(taken > 10, "{taken}");
}

#[test]
fn a_row_that_was_changed_contradicts_its_game() {
    let games = parsed(GAME.as_bytes(), &PgnParams::default());
    let [Parsed::Taken(imported)] = games.as_slice() else { panic!("{games:?}") };
    let check = |change: &dyn Fn(&mut Imported), expected: &str| {
        let mut changed = (**imported).clone();
        change(&mut changed);
        let Imported { game, header, positions } = changed;
        let fault = PgnParams::default().fault(&game, &header, &positions).expect("is wrong");
        assert!(fault.contains(expected), "{expected}: {fault}");
    };
    check(&|rows| rows.game.moves[1] = rows.game.moves[0], "its move at ply 1, f2f3, is not legal");
    check(&|rows| rows.header.result = "1-0".to_owned(), "`result` is 0-1, and its headers say 1-0");
    check(
        &|rows| {
            rows.game.result = GameResult::Draw;
            rows.header.result = "1/2-1/2".to_owned();
        },
        "its moves end in 0-1 by checkmate",
    );
    check(
        &|rows| rows.game.reason = Reason::Stalemate.into(),
        "`reason` is stalemate, but it ended by checkmate",
    );
    check(&|rows| rows.game.opening_plies = 1, "`opening_plies` is 1, expected 0");
    check(&|rows| rows.header.clocks.0.truncate(2), "`clocks` of its headers has 2 items");
    check(&|rows| _ = rows.positions.remove(1), "3 of its positions are stored");
    check(&|rows| rows.positions[0].fen = rows.positions[2].fen.clone(), "ply 0: `fen` is ");
    check(&|rows| rows.positions[2].root_q = 0.5, "ply 2: its values are ");
    check(&|rows| rows.header.evals.0[0] = 300.0, "ply 1: its values are ");
    check(&|rows| rows.positions[3].full = false, "ply 3: `full` is false");
    assert_eq!(Reject::from_name("null_move"), Some(Reject::NullMove));
}
