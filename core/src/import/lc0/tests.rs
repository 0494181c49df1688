//! Imports of chunks that are made here from games; `tests/interop` has chunks that python-chess makes.

mod chunk;

use std::path::PathBuf;
use std::sync::Mutex;

use chunk::{field, put, put_f32, records, visits_of};

use super::params::{Lc0Params, Lc0Value};
use super::record::{V6_BYTES, V7_BYTES};
// By this name `chunk` finds the crate from wherever it is included.
use crate as tested;
use crate::board::{
    Adjudication, Castling, Ending, Game, GameResult, Move, Position, Reason, Rules, random_opening,
};
use crate::encoding::leela_index;
use crate::event::Silent;
use crate::import::format::{Chunk, GameFormat as _, Imported, Parsed, Point};
use crate::import::tests::{gzip, shards, written};
use crate::import::{ImportJob, ImportShard, Resume, Source, import};
use crate::rng::{Purpose, Seed};
use crate::store::{Reject, StoredGame, games_with_positions};

fn random_game(number: u64, plies: u32) -> Game {
    let mut stream = Seed { run: 9, step: 0 }.stream(number, Purpose::Opening);
    random_opening(plies, &Rules { max_plies: 512 }, &mut stream)
}

/// The result that a game has, or else one of the three.
fn result_of(game: &Game, number: usize) -> GameResult {
    let outcome = game.outcome(&Rules { max_plies: u32::MAX });
    let any = [GameResult::WhiteWins, GameResult::Draw, GameResult::BlackWins][number % 3];
    outcome.map_or(any, |outcome| outcome.result())
}

fn archive(files: &[(String, Vec<u8>)]) -> Vec<u8> {
    let mut builder = tar::Builder::new(Vec::new());
    for (name, bytes) in files {
        let mut header = tar::Header::new_gnu();
        header.set_size(bytes.len() as u64);
        header.set_mode(0o644);
        header.set_cksum();
        builder.append_data(&mut header, name, bytes.as_slice()).expect("writes");
    }
    builder.into_inner().expect("writes")
}

fn parsed(content: Vec<u8>, params: &Lc0Params) -> Vec<Parsed> {
    let start = Point::default();
    params.parse(&Chunk { start, next: start, text: content, read: 0 }, "x.tar")
}

fn taken(content: Vec<u8>) -> Imported {
    match parsed(content, &Lc0Params::default()).as_slice() {
        [Parsed::Taken(imported)] => (**imported).clone(),
        other => panic!("{other:?}"),
    }
}

/// Rows as text, in which what is not known is equal to itself.
fn text<T: std::fmt::Debug + ?Sized>(rows: &T) -> String {
    format!("{rows:?}")
}

/// What becomes of the game of some records: `taken`, or the kind of fault with the record's number.
fn outcome(records: &[Vec<u8>]) -> String {
    match parsed(records.concat(), &Lc0Params::default()).as_slice() {
        [Parsed::Taken(_)] => "taken".to_owned(),
        [Parsed::Rejected(row)] => format!("{} {}: {}", row.reason.name(), row.line, row.detail),
        other => panic!("{other:?}"),
    }
}

fn game(moves: &[&str]) -> Game {
    let mut game = Game::initial();
    for text in moves {
        let mv = Move::from_uci(text).expect("a move");
        assert!(game.position().is_legal(mv), "{text}");
        game.play_unchecked(mv);
    }
    game
}

const MATE: [&str; 4] = ["f2f3", "e7e5", "g2g4", "d8h4"];

#[test]
fn a_chunk_becomes_rows_with_the_policies_and_values_of_its_searches() {
    let game = random_game(1, 60);
    let result = result_of(&game, 1);
    let imported = taken(records(&game, result).concat());
    let moves: Vec<u16> = game.moves().iter().map(|mv| mv.packed()).collect();
    assert_eq!((&imported.game.moves, imported.game.result), (&moves, result));
    assert_eq!(imported.game.start_fen, Position::initial().fen());
    assert_eq!(imported.positions.len(), game.ply());
    for (ply, (row, position)) in imported.positions.iter().zip(game.positions()).enumerate() {
        assert_eq!((row.ply, &row.fen, row.played), (ply as u16, &position.fen(), moves[ply]));
        let visits = visits_of(position, ply);
        let sum: u32 = visits.iter().map(|(_, visits)| visits).sum();
        assert_eq!((usize::from(row.legal), row.simulations, row.full), (visits.len(), sum + 1, true));
        let kept: Vec<(u16, u32)> = visits
            .iter()
            .filter(|(_, visits)| *visits > 0)
            .map(|(mv, visits)| (mv.packed(), *visits))
            .collect();
        assert_eq!(row.moves.iter().copied().zip(row.visits.iter().copied()).collect::<Vec<_>>(), kept);
        for (target, (_, visits)) in row.target.iter().zip(&kept) {
            let share = f64::from(*visits) / f64::from(sum) * 65535.0;
            assert!((f64::from(*target) - share).abs() < 0.51, "{target} {share}");
        }
        let root = (0.25 - ply as f32 / 1000.0, 0.5);
        assert_eq!((row.root_q, row.root_d), root);
        let net = if ply.is_multiple_of(3) { root } else { (-0.125, 0.125) };
        assert_eq!((row.net_q, row.net_d), net);
        assert_eq!(row.policy_surprise.is_nan(), ply.is_multiple_of(3));
        assert_eq!(row.result, result.score_for(position.side_to_move()));
    }
    let params = Lc0Params::default();
    assert_eq!(params.fault(&imported.game, &imported.header, &imported.positions), None);
}

#[test]
fn options_choose_the_value_and_what_is_trained() {
    let game = game(&MATE);
    let chunk = records(&game, GameResult::BlackWins).concat();
    let with = |params: &Lc0Params| match parsed(chunk.clone(), params).as_slice() {
        [Parsed::Taken(imported)] => {
            assert_eq!(params.fault(&imported.game, &imported.header, &imported.positions), None);
            imported.positions.iter().map(|row| (row.ply, row.root_q, row.root_d)).collect()
        }
        [Parsed::LeftOut(option)] => {
            assert_eq!(*option, "min_plies");
            Vec::new()
        }
        other => panic!("{other:?}"),
    };
    let params = Lc0Params::default;
    let best = with(&Lc0Params { value: Lc0Value::Best, ..params() });
    assert_eq!(best[1], (1, 0.374, 0.25));
    let results = with(&Lc0Params { value: Lc0Value::Result, skip_plies: 2, ..params() });
    assert_eq!(results, [(2, -1.0, 0.0), (3, 1.0, 0.0)]);
    assert_eq!(with(&Lc0Params { min_plies: 4, ..params() }).len(), 4);
    assert!(with(&Lc0Params { min_plies: 5, ..params() }).is_empty());
}

#[test]
fn games_begin_at_any_position_with_castling_and_en_passant_as_the_planes_show() {
    // Only the last moves of each game are there, so that its first record shows a position from the middle.
    let long = game(&[
        "e2e4", "c7c5", "g1f3", "b8c6", "f1b5", "g8f6", "e1g1", "a7a6", "e4e5", "d7d5", "e5d6", "d8d6",
        "h2h4", "h7h5",
    ]);
    let all = records(&long, GameResult::Draw);
    let fen = |from: usize| {
        let position = long.positions().nth(from).expect("a ply").fen();
        position.rsplit_once(' ').expect("a FEN").0.to_owned() + " 1"
    };
    for from in 0..all.len() {
        let imported = taken(all[from..].concat());
        assert_eq!(imported.game.start_fen, fen(from), "{from}");
        assert_eq!(imported.game.moves.len(), all.len() - from);
    }
    // After 5... d5 the pawn can be taken en passant.
    assert!(fen(10).ends_with("w kq d6 0 1"), "{}", fen(10));

    // With the files of the rooks as the castling rights.
    let mut with_rooks = all;
    for bytes in &mut with_rooks {
        bytes[field::FORMAT] = 2;
        bytes[field::CASTLING + 1] <<= 7;
        bytes[field::CASTLING + 3] <<= 7;
    }
    assert_eq!(outcome(&with_rooks), "taken");
    with_rooks[0][field::CASTLING + 1] = 3;
    assert!(outcome(&with_rooks).starts_with(
        "planes 1: ply 0: its castling rights are [1, 3, 1, 128]; expected 0 or the bit of a file"
    ));
    with_rooks[0][field::CASTLING + 1] = 1 << 6;
    assert!(outcome(&with_rooks).starts_with("fen 1: ply 0: "));
}

#[test]
fn results_are_those_of_the_side_to_move_whatever_the_castling_rights() {
    // Black may castle with the rook on the b-file alone, which is " b " in the FEN of White, too.
    let played = Game::from_text("rr1k4/8/8/8/8/8/4P3/4K3 w b - 0 1 moves e2e4 a8a7 e4e5").expect("a game");
    let mut all = records(&played, GameResult::WhiteWins);
    for (bytes, black_moves) in all.iter_mut().zip([false, true, false]) {
        bytes[field::FORMAT] = 2;
        let rights = if black_moves { [1 << 1, 0, 0, 0] } else { [0, 0, 1 << 1, 0] };
        put(bytes, field::CASTLING, &rights);
    }
    let imported = taken(all.concat());
    assert!(imported.game.start_fen.contains(" w b "), "{}", imported.game.start_fen);
    assert_eq!(imported.positions.iter().map(|row| row.result).collect::<Vec<_>>(), [1, -1, 1]);
    let params = Lc0Params::default();
    assert_eq!(params.fault(&imported.game, &imported.header, &imported.positions), None);
}

#[test]
fn games_of_chess960_are_taken_where_records_show_the_rooks() {
    // A rook of White stands outside of the one that may castle; Black castles by a step of the king over its rook.
    let start = "rk5r/8/8/8/8/8/8/R2K1R1R w FAha - 0 1";
    let played = Game::from_text(&format!("{start} moves d1f1 b8a8 h1h2")).expect("a game");
    let mut all = records(&played, GameResult::Draw);
    for (bytes, position) in all.iter_mut().zip(played.positions()) {
        bytes[field::FORMAT] = 2;
        let side = position.side_to_move();
        let rights = [side, side.other()].map(|side| {
            [Castling::QueenSide, Castling::KingSide]
                .map(|wing| position.castling_rook(side, wing).map_or(0, |rook| 1u8 << (rook % 8)))
        });
        put(bytes, field::CASTLING, rights.as_flattened());
    }
    let imported = taken(all.concat());
    assert_eq!(imported.game.start_fen, played.start().fen());
    assert_eq!(imported.game.moves, played.moves().iter().map(|mv| mv.packed()).collect::<Vec<_>>());
    // The rook on the h-file has the right instead, and cannot castle as the game does.
    all[0][field::CASTLING + 1] = 1 << 7;
    assert_ne!(outcome(&all), "taken");
    let yes_or_no = records(
        &Game::from_text("4k3/8/8/8/8/8/8/5K1R w H - 0 1 moves f1h1").expect("a game"),
        GameResult::Draw,
    );
    assert!(
        outcome(&yes_or_no).starts_with("variant 1: ply 0: its input format is 1"),
        "{}",
        outcome(&yes_or_no)
    );
}

/// A change of some records, and what becomes of the game.
type Broken<'a> = (&'a dyn Fn(&mut Vec<Vec<u8>>), &'a str);

#[test]
fn broken_games_are_named_with_their_kind_and_record() {
    let mate = game(&MATE);
    let sound = records(&mate, GameResult::BlackWins);
    assert_eq!(outcome(&sound), "taken");
    let e2e4 = leela_index(Move::from_uci("e2e4").expect("a move"), mate.start());
    let index = |text: &str, ply: usize| {
        let position = mate.positions().nth(ply).expect("a ply");
        field::POLICY + 4 * usize::from(leela_index(Move::from_uci(text).expect("a move"), position))
    };
    let (f2f3, g2g4, unused) = (index("f2f3", 0), index("g2g4", 2), index("f1a6", 0));
    let broken: [Broken<'_>; 24] = [
        (&|all| all[3].truncate(100), "damaged 4: ply 3: it ends after 100 of the 8356 bytes of a record"),
        (&|all| all[3].truncate(8355), "damaged 4: ply 3: it ends after 8355 of the 8356 bytes"),
        (&|all| all[3].truncate(2), "damaged 4: ply 3: it ends after 2 of the 8356 bytes"),
        (&|all| all[2][0] = 5, "version 3: ply 2: its version is 5; expected 6 or 7"),
        (&|all| put(&mut all[0], field::VISITS, &[0; 4]), "version 1: ply 0: it has no visits"),
        (&|all| all[1][field::FORMAT] = 3, "input_format 2: ply 1: its input format is 3; expected 1 or 2"),
        (&|all| all[0][field::FORMAT] = 132, "input_format 1: ply 0: its input format is 132"),
        (
            &|all| _ = all.remove(1),
            "planes 2: ply 1: it does not follow from the move before: its position has White to move",
        ),
        (&|all| all[2][field::PLANES + 1] ^= 1 << 7, "its position has other pieces on a2"),
        (&|all| all[1][field::PLANES + 1] ^= 1 << 7, "its position has other pieces on a7"),
        (
            &|all| all[1][field::CASTLING] = 0,
            "its position has the castling rights [0, 128, 1, 128], expected",
        ),
        (
            &|all| all[1][field::CASTLING] = 2,
            "planes 2: ply 1: its castling rights are [2, 1, 1, 1]; expected 0 or 1",
        ),
        (&|all| all[1][field::SIDE] = 2, "planes 2: ply 1: its side to move is 2"),
        (&|all| all[3][field::CLOCK] = 7, "has 7 plies without capture or pawn move, expected 0"),
        (&|all| all[0][field::PLANES + 8 * 5] = 0, "fen 1: ply 0: "),
        (&|all| all[0][field::PLANES + 8] |= 1 << 7, "fen 1: ply 0: two of its pieces are on a1"),
        (
            &|all| put(&mut all[3], field::PLAYED, &[0xff, 0xff]),
            "illegal_move 4: ply 3: the policy index 65535",
        ),
        (&|all| put(&mut all[0], field::PLAYED, &e2e4.to_le_bytes()), "planes 2: ply 1: it does not follow"),
        (
            &|all| put_f32(&mut all[0], f2f3, -1.0),
            "policy 1: ply 0: f2f3 is legal, and its probability is -1",
        ),
        (
            &|all| put_f32(&mut all[0], f2f3, f32::NAN),
            "policy 1: ply 0: f2f3 is legal, and its probability is NaN",
        ),
        (&|all| put_f32(&mut all[0], unused, 0.0), "is of no legal move, and its probability is 0"),
        (&|all| put_f32(&mut all[2], g2g4, 0.9), "policy 3: ply 2: its probabilities sum to "),
        (
            &|all| put_f32(&mut all[1], field::ROOT_D, 0.9),
            "value 2: ply 1: its root_q is 0.249 and its root_d is 0.9",
        ),
        (&|all| put_f32(&mut all[1], field::KLD, -0.5), "value 2: ply 1: its policy_kld is -0.5"),
    ];
    for (change, expected) in broken {
        let mut changed = sound.clone();
        change(&mut changed);
        let found = outcome(&changed);
        assert!(found.contains(expected), "{expected}: {found}");
    }
}

#[test]
fn results_follow_from_the_last_record_and_the_board() {
    let ended = |moves: &[&str], q: f32, d: f32, flags: u8| {
        let game = game(moves);
        let mut all = records(&game, GameResult::Draw);
        let last = all.last_mut().expect("a record");
        put_f32(last, field::RESULT_Q, q);
        put_f32(last, field::RESULT_D, d);
        last[field::FLAGS] = flags;
        match parsed(all.concat(), &Lc0Params::default()).as_slice() {
            [Parsed::Taken(imported)] => {
                let Imported { game, header, positions } = &**imported;
                assert_eq!(Lc0Params::default().fault(game, header, positions), None);
                let ending = (game.result, game.reason);
                Ok((ending, header.termination.clone()))
            }
            [Parsed::Rejected(row)] => Err((row.reason, row.detail.clone())),
            other => panic!("{other:?}"),
        }
    };
    let (white, draw) = (GameResult::WhiteWins, GameResult::Draw);
    let adjudicated = |result, by, word: &str| Ok(((result, Ending::Adjudicated(by)), word.to_owned()));
    // Black moves last in these.
    let two = ["e2e4", "e7e5"];
    assert_eq!(ended(&two, -1.0, 0.0, 0), adjudicated(white, Adjudication::Resignation, ""));
    assert_eq!(ended(&two, -1.0, 0.0, 1 << 5), adjudicated(white, Adjudication::Resignation, "adjudication"));
    assert_eq!(ended(&two, 0.0, 1.0, 1 << 5), adjudicated(draw, Adjudication::AgreedDraw, "adjudication"));
    let capped = ended(&two, 0.0, 1.0, 3 << 4);
    assert_eq!(capped, Ok(((draw, Reason::PlyCap.into()), "max game length".to_owned())));
    assert_eq!(
        ended(&two, -1.0, 0.0, 3 << 4),
        adjudicated(white, Adjudication::Tablebase, "max game length")
    );
    assert_eq!(
        ended(&MATE, 1.0, 0.0, 0),
        Ok(((GameResult::BlackWins, Reason::Checkmate.into()), String::new()))
    );
    let shuffle = ["g1f3", "g8f6", "f3g1", "f6g8", "g1f3", "g8f6", "f3g1", "f6g8"];
    assert_eq!(ended(&shuffle, 0.0, 1.0, 0), Ok(((draw, Reason::Threefold.into()), String::new())));
    assert_eq!(ended(&shuffle, -1.0, 0.0, 0), adjudicated(white, Adjudication::Tablebase, ""));
    // A mixture counts only where the board says how the game ended.
    assert_eq!(
        ended(&MATE, 0.5, 0.25, 0),
        Ok(((GameResult::BlackWins, Reason::Checkmate.into()), String::new()))
    );
    let (reason, detail) = ended(&two, 0.5, 0.25, 0).expect_err("is a mixture");
    assert_eq!(reason, Reject::NoResult);
    assert!(detail.starts_with("its last record has result_q = 0.5 and result_d = 0.25"), "{detail}");
    let (reason, detail) = ended(&MATE, 0.0, 1.0, 0).expect_err("is mate");
    assert_eq!(
        (reason, detail.as_str()),
        (Reject::OtherResult, "its last record says 1/2-1/2, but its moves end in 0-1 by checkmate")
    );
    assert_eq!(ended(&two, 0.5, 0.75, 0).expect_err("is impossible").0, Reject::Value);
    assert_eq!(ended(&two, f32::NAN, 0.0, 0).expect_err("is no number").0, Reject::Value);
}

#[test]
fn values_that_rounding_put_out_of_range_are_set_to_its_border() {
    let mut all = records(&game(&MATE), GameResult::BlackWins);
    put_f32(&mut all[0], field::ROOT_Q, -1.000_000_2);
    put_f32(&mut all[0], field::ROOT_D, 0.0);
    put_f32(&mut all[1], field::ORIG_Q, 0.8);
    put_f32(&mut all[1], field::ORIG_D, 0.2005);
    put_f32(&mut all[2], field::ROOT_D, -1e-7);
    let rows = taken(all.concat()).positions;
    assert_eq!((rows[0].root_q, rows[2].root_d), (-1.0, 0.0));
    assert!((rows[1].net_d - 0.2).abs() < 1e-6, "{}", rows[1].net_d);
}

#[test]
fn what_is_said_of_a_whole_archive_is_no_game() {
    let said = b"22 comment=made here\n";
    let mut header = tar::Header::new_ustar();
    header.set_entry_type(tar::EntryType::XGlobalHeader);
    header.set_size(said.len() as u64);
    header.set_cksum();
    let mut all = tar::Builder::new(Vec::new());
    all.append(&header, &said[..]).expect("writes");
    let mut all = all.into_inner().expect("writes");
    all.truncate(1024);
    let chunk = records(&game(&MATE), GameResult::BlackWins).concat();
    all.extend(archive(&[("a".to_owned(), chunk)]));
    assert_eq!(taken(all).game.moves.len(), 4);
}

#[test]
fn version_7_is_read_and_its_own_fields_are_not() {
    let mut all = records(&random_game(3, 30), GameResult::Draw);
    let expected = taken(all.concat());
    for bytes in &mut all {
        bytes[0] = 7;
        bytes.resize(V7_BYTES, 0xff);
    }
    assert!(text(&taken(all.concat())) == text(&expected), "the rows are the same");
}

#[test]
fn records_of_several_games_in_one_file_are_separated() {
    let mut content = Vec::new();
    let mut plies = Vec::new();
    for number in 0..12u64 {
        let game = random_game(number, 10 + number as u32 % 7);
        plies.push(game.ply());
        content.extend(records(&game, result_of(&game, number as usize)).concat());
    }
    let found: Vec<usize> = parsed(content, &Lc0Params::default())
        .iter()
        .map(|parsed| match parsed {
            Parsed::Taken(imported) => imported.game.moves.len(),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(found, plies);
}

fn sources(paths: &[PathBuf]) -> Result<Vec<Source>, String> {
    Source::all::<Lc0Params>(paths).map_err(|error| error.to_string())
}

#[test]
fn shards_are_the_same_with_any_lanes_after_any_stop_and_from_any_kind_of_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let (mut files, mut plain) = (vec![("run/LICENSE".to_owned(), b"free".to_vec())], Vec::new());
    for number in 0..260u64 {
        let game = random_game(number, 8 + number as u32 % 9);
        let bytes = records(&game, result_of(&game, number as usize)).concat();
        // A long name has an entry of its own.
        let name = format!("run/{}training.{number}.gz", "x".repeat(if number % 5 == 0 { 120 } else { 0 }));
        files.push((name, if number % 2 == 0 { gzip(&bytes) } else { bytes.clone() }));
        plain.extend(bytes);
        if number % 100 == 99 {
            files.push((format!("run/broken.{number}.gz"), vec![0x1f, 0x8b, 8, 0, 1, 2, 3]));
        }
    }
    let tar = archive(&files);
    assert!(tar.len() > 4 << 20, "{}", tar.len());
    let params = Lc0Params { shard_games: 60, ..Lc0Params::default() };
    let one = sources(&[written(folder.path(), "a.tar", &tar)]).expect("an archive");
    let expected = shards(&one, &params, Resume::default(), 1);
    assert!(expected.len() > 2, "{}", expected.len());
    let games: Vec<u32> = expected.iter().flat_map(|shard| shard.games.iter().map(|row| row.game)).collect();
    assert_eq!(games, (0..260).collect::<Vec<_>>());
    let rejects: Vec<_> = expected.iter().flat_map(|shard| &shard.rejects).collect();
    assert_eq!((rejects.len(), rejects[0].reason, rejects[0].number), (2, Reject::Damaged, 101));
    let headers: Vec<_> = expected.iter().flat_map(|shard| &shard.headers).collect();
    assert!(headers[5].event.starts_with("run/xxxx") && headers[5].event.ends_with("training.5.gz"));
    assert_eq!((headers[6].event.as_str(), headers[6].number), ("run/training.6.gz", 7));
    for shard in &expected {
        let games = games_with_positions(&shard.games, &shard.positions);
        for (found, header) in games.zip(&shard.headers) {
            let (game, own) = found.expect("every position is one of a game");
            assert_eq!(params.fault(game, header, own), None);
        }
    }
    assert!(text(&shards(&one, &params, Resume::default(), 3)) == text(&expected), "three lanes");
    for stopped in 1..expected.len() {
        let from = expected[stopped - 1].part.next;
        assert!(text(&shards(&one, &params, from, 2)) == text(&expected[stopped..]), "after {stopped}");
    }
    let few = Lc0Params { max_games: Some(100), ..params.clone() };
    let count: usize = shards(&one, &few, Resume::default(), 3).iter().map(|shard| shard.games.len()).sum();
    assert_eq!(count, 100);

    // The same games, in other kinds of files.
    let rows = |shards: &[ImportShard]| -> Vec<String> {
        shards.iter().flat_map(|shard| shard.positions.iter().map(text)).collect()
    };
    for (name, content) in [
        ("b.bin", plain.clone()),
        ("b.gz", gzip(&plain)),
        ("b.zst", zstd::encode_all(plain.as_slice(), 1).expect("packs")),
        ("b.tar.gz", gzip(&tar)),
    ] {
        let found = shards(
            &sources(&[written(folder.path(), name, &content)]).expect(name),
            &params,
            Resume::default(),
            2,
        );
        assert!(rows(&found) == rows(&expected), "{name}");
    }
}

#[test]
fn files_that_cannot_be_imported_are_refused_and_damaged_archives_end_the_import() {
    let folder = tempfile::tempdir().expect("a folder");
    let game = random_game(7, 20);
    let chunk = records(&game, result_of(&game, 0)).concat();
    let fault = |name: &str, content: &[u8]| {
        sources(&[written(folder.path(), name, content)]).expect_err("is refused")
    };
    assert!(fault("a.gz", b"").ends_with("a.gz is empty; expected training data of lc0"));
    assert!(
        fault("a.pgn", b"1. e4 1-0\n")
            .contains("a.pgn does not begin with a record; expected training data of lc0")
    );
    let mut earlier = chunk.clone();
    earlier[0] = 5;
    assert!(
        fault("b.gz", &gzip(&earlier))
            .contains("b.gz has records of version 5, which do not say which moves were played")
    );
    let empty = archive(&[("LICENSE".to_owned(), b"free".to_vec())]);
    assert!(fault("empty.tar", &empty).contains("empty.tar is an archive without games; expected"));
    let other = archive(&[("notes.txt".to_owned(), vec![b'x'; 2000])]);
    assert!(
        fault("c.tar", &other).contains("has the file \"notes.txt\", which does not begin with a record")
    );
    assert!(
        fault("d.tar", &archive(&[("a.gz".to_owned(), gzip(&earlier))]))
            .contains("which has records of version 5")
    );
    assert!(fault("e.zip", b"PK\x03\x04..").contains("is a zip archive"));

    let files: Vec<_> = (0..40).map(|number| (format!("{number}.bin"), chunk.clone())).collect();
    let tar = archive(&files);
    let imported = |name: &str, content: &[u8]| {
        let sources = sources(&[written(folder.path(), name, content)])?;
        let params = Lc0Params { shard_games: 4, ..Lc0Params::default() };
        let kept = Mutex::new(0);
        let keep = |shard: ImportShard| {
            *kept.lock().expect("no lane panics") += shard.games.len();
            Ok(())
        };
        let job = ImportJob { params: &params, sources: &sources, from: Resume::default() };
        import(job, 2, &keep, &Silent).map_err(|error| error.to_string())?;
        Ok::<_, String>(kept.into_inner().expect("no lane panics"))
    };
    assert_eq!(imported("whole.tar", &tar), Ok(40));
    let cut = "is cut or damaged: the archive ends before its mark of zeros";
    let entry = tar.len() - 1024 - chunk.len().next_multiple_of(512) - 512;
    for length in [tar.len() - 1024, tar.len() - 1024 - 512, entry, entry + 100, tar.len() / 2] {
        let error = imported("cut.tar", &tar[..length]).expect_err("is cut");
        assert!(error.contains(cut), "{length}: {error}");
    }
    let mut flipped = tar.clone();
    flipped[entry + 20] ^= 1;
    let error = imported("flipped.tar", &flipped).expect_err("is damaged");
    assert!(error.contains("has another checksum than its content"), "{error}");
    let packed = gzip(&chunk.repeat(3));
    let error = imported("cut.gz", &packed[..packed.len() / 2]).expect_err("is cut");
    assert!(error.contains("cut.gz is cut or damaged: "), "{error}");
}

#[test]
fn no_bytes_panic_and_what_is_taken_is_sound() {
    use rand::RngExt;
    let mut stream = Seed { run: 5, step: 0 }.stream(0, Purpose::Opening);
    let params = Lc0Params::default();
    let sound: Vec<Vec<u8>> = (0..4)
        .map(|number| {
            let game = random_game(number, 6);
            records(&game, result_of(&game, number as usize)).concat()
        })
        .collect();
    let (mut taken, mut rejected) = (0, 0);
    for round in 0..1500 {
        let mut bytes = sound[round % 4].clone();
        for _ in 0..stream.random_range(0..3) {
            let record = stream.random_range(0..6) * V6_BYTES;
            // Half of the changes are in the small fields, which are few of the bytes.
            let first = if stream.random_range(0..2) == 0 { field::PLANES } else { 0 };
            let at = record + stream.random_range(first..V6_BYTES);
            bytes[at] = if stream.random_range(0..2) == 0 {
                0xff
            } else {
                bytes[at] ^ (1 << stream.random_range(0..8))
            };
        }
        let content = match round % 5 {
            0 => archive(&[("x".to_owned(), bytes)]),
            1 => bytes[..stream.random_range(0..bytes.len())].to_vec(),
            _ => bytes,
        };
        for parsed in parsed(content, &params) {
            match parsed {
                Parsed::Taken(imported) => {
                    taken += 1;
                    assert_eq!(params.fault(&imported.game, &imported.header, &imported.positions), None);
                }
                Parsed::Rejected(_) => rejected += 1,
                Parsed::LeftOut(option) => panic!("{option}"),
            }
        }
    }
    assert!(taken > 100 && rejected > 100, "{taken} taken, {rejected} rejected");
}

#[test]
fn a_row_that_was_changed_contradicts_its_game() {
    let imported = taken(records(&game(&MATE), GameResult::BlackWins).concat());
    let Imported { game: row, header, positions } = &imported;
    let stored = StoredGame::of_import(row, header.clone(), positions).expect("is legal");
    assert_eq!(stored.searches.iter().flatten().count(), 4);
    let check = |change: &dyn Fn(&mut Imported), expected: &str| {
        let mut changed = imported.clone();
        change(&mut changed);
        let Imported { game, header, positions } = changed;
        let fault = Lc0Params::default().fault(&game, &header, &positions).expect("is wrong");
        assert!(fault.contains(expected), "{expected}: {fault}");
    };
    check(&|rows| rows.game.moves[1] = rows.game.moves[0], "its move at ply 1, f2f3, is not legal");
    check(&|rows| rows.header.result = "1-0".to_owned(), "`result` is 0-1, and its headers say 1-0");
    check(
        &|rows| rows.game.reason = Reason::Stalemate.into(),
        "`reason` is stalemate, but it ended by checkmate",
    );
    check(&|rows| rows.game.opening_plies = 1, "`opening_plies` is 1, expected 0");
    check(&|rows| _ = rows.positions.remove(1), "3 of its positions are stored");
    check(&|rows| rows.positions[1].target[0] += 500, "ply 1: the shares of `target` sum to 66");
    check(&|rows| rows.positions[1].moves[0] = 0, "ply 1: a1a1 in `moves` is not legal");
    check(&|rows| rows.positions[2].visits[0] -= 1, "ply 2: `visits` sum to ");
    check(&|rows| rows.positions[2].simulations += 1, "ply 2: `visits` sum to ");
    check(&|rows| rows.positions[2].root_q = 0.75, "ply 2: `root_q` is 0.75 and `root_d` 0.5");
    check(&|rows| rows.positions[2].net_d = f32::NAN, "ply 2: `net_q` is ");
    check(&|rows| rows.positions[3].full = false, "ply 3: `full` is false");
    check(&|rows| rows.positions[3].result = -1, "ply 3: `result` is -1");
}
