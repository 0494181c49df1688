use super::{Position, without_marks};
use crate::board::{Rules, random_opening};
use crate::rng::{Purpose, Seed};

const CASTLING: &str = "r3k2r/pppppppp/8/8/8/8/PPPPPPPP/R3K2R w KQkq - 0 1";
const PROMOTION: &str = "3r3k/4P3/8/8/8/8/8/4K3 w - - 0 1";
/// Two knights that can reach d2, and a pawn that can capture on a3.
const AMBIGUOUS: &str = "4k3/8/8/8/8/n4N2/1P6/1NB1K3 w - - 0 1";

fn position(fen: &str) -> Position {
    Position::from_fen(fen).unwrap()
}

/// The move read from `text` in UCI notation, or the error message.
fn read(fen: &str, text: &str) -> String {
    position(fen).read_move(text).map_or_else(|error| error.to_string(), |mv| mv.to_string())
}

fn initial(text: &str) -> String {
    read(&Position::initial().fen(), text)
}

#[test]
fn every_legal_move_of_random_games_round_trips_in_both_notations() {
    let mut read = 0;
    for number in 0..60 {
        let mut stream = Seed { run: 3, step: 0 }.stream(number, Purpose::Opening);
        let game = random_opening(number as u32 * 3, &Rules { max_plies: 500 }, &mut stream);
        let position = game.position();
        for mv in position.legal_moves() {
            let san = position.san(mv);
            assert_eq!(position.read_move(&san), Ok(mv), "{san} in {}", position.fen());
            assert_eq!(position.read_move(without_marks(&san)), Ok(mv), "{san} without marks");
            assert_eq!(position.read_move(&mv.to_string()), Ok(mv), "{mv}");
            read += 1;
        }
    }
    assert!(read > 1000, "{read}");
}

#[test]
fn san_marks_check_and_mate_and_disambiguates() {
    let san = |fen: &str, uci: &str| position(fen).san(position(fen).read_move(uci).unwrap());
    assert_eq!(san(CASTLING, "e1g1"), "O-O");
    assert_eq!(san(CASTLING, "e1c1"), "O-O-O");
    assert_eq!(san(AMBIGUOUS, "f3d2"), "Nfd2");
    assert_eq!(san(PROMOTION, "e7d8q"), "exd8=Q+");
    assert_eq!(san("7k/5Q2/6K1/8/8/8/8/8 w - - 0 1", "f7g7"), "Qg7#");
}

#[test]
fn sloppy_notation_is_accepted_where_one_move_matches() {
    for (text, expected) in [
        ("nf3", "g1f3"),
        ("NF3", "g1f3"),
        (" Nf3+! ", "g1f3"),
        ("Ngf3", "g1f3"),
        ("Ng1-f3", "g1f3"),
        ("E4", "e2e4"),
        ("Pe4", "e2e4"),
        ("e2-e4", "e2e4"),
        ("E2E4", "e2e4"),
    ] {
        assert_eq!(initial(text), expected, "{text}");
    }
    for (text, expected) in [("0-0", "e1g1"), ("o-o-o", "e1c1"), ("0-0-0", "e1c1"), ("e1g1", "e1g1")] {
        assert_eq!(read(CASTLING, text), expected, "{text}");
    }
    for (text, expected) in [
        ("exd8=n", "e7d8n"),
        ("ed8Q", "e7d8q"),
        ("e8=Q", "e7e8q"),
        ("e8(R)", "e7e8r"),
        ("e8/R", "e7e8r"),
        ("e7e8B", "e7e8b"),
    ] {
        assert_eq!(read(PROMOTION, text), expected, "{text}");
    }
}

#[test]
fn a_small_b_is_the_file_in_standard_form_and_else_either() {
    assert_eq!(read(AMBIGUOUS, "bxa3"), "b2a3");
    // Without the pawn on b2 only the bishop can capture on a3.
    assert_eq!(read("4k3/8/8/8/8/n7/8/2B1K3 w - - 0 1", "bxa3"), "c1a3");
    // Both can, and without the x it is not standard form.
    assert_eq!(read("4k3/8/8/2n5/1P6/4B3/8/4K3 w - - 0 1", "bc5"), "\"bc5\" may be bxc5 or Bxc5; say which");
    // A capital is never the file.
    let pawn = "4k3/8/8/2n5/1P6/8/3B4/4K3 w - - 0 1";
    assert_eq!(read(pawn, "bc5"), "b4c5");
    assert_eq!(read(pawn, "Bxc5"), "Bxc5 is not legal: the bishop on d2 does not move to c5");
    // Two squares name the pawn's file and rank, whatever a bishop of that rank can do.
    let bishop = "4k3/8/8/8/8/8/3B4/4K3 w - - 0 1";
    for text in ["b2b4", "b2-b4", "b2xb4"] {
        assert_eq!(read(bishop, text), format!("{text} is not legal: b2 is empty"));
    }
    assert_eq!([read(bishop, "B2b4"), read(bishop, "bb4")], ["d2b4"; 2]);
    assert_eq!(read("4k3/8/8/8/8/8/1P1B4/4K3 w - - 0 1", "b2-b4"), "b2b4");
}

#[test]
fn castling_is_no_capture() {
    for text in ["e1g1", "Ke1-g1", "Kg1", "e1h1"] {
        assert_eq!(read(CASTLING, text), "e1g1", "{text}");
    }
    for text in ["Kxg1", "Ke1xg1", "e1xg1", "e1xh1"] {
        let expected = format!("{text} is not legal: castling on the king's side is written O-O");
        assert_eq!(read(CASTLING, text), expected);
    }
    assert_eq!(read(CASTLING, "Kxc1"), "Kxc1 is not legal: castling on the queen's side is written O-O-O");
}

#[test]
fn an_ambiguous_text_lists_its_moves() {
    assert_eq!(read(AMBIGUOUS, "Nd2"), "\"Nd2\" may be Nbd2 or Nfd2; say which");
    let promotions = read(PROMOTION, "e8");
    assert!(promotions.starts_with("\"e8\" may be e8=") && promotions.contains("e8=Q"), "{promotions}");
}

#[test]
fn an_illegal_move_is_explained() {
    let start = Position::initial().fen();
    let pinned = "4r2k/8/8/8/8/8/4N3/4K3 w - - 0 1";
    let checked = "4r2k/8/8/8/8/8/3N4/N3K3 w - - 0 1";
    for (fen, text, why) in [
        (&start[..], "e3e4", "e3 is empty"),
        (&start, "e7e5", "the pawn on e7 is not yours"),
        (&start, "Ra5", "none of your rooks can go to a5"),
        (&start, "a1a5", "the rook's path from a1 to a5 is blocked"),
        (&start, "g1g3", "the knight on g1 does not move to g3"),
        (&start, "Nd2", "your own pawn stands on d2"),
        (&start, "Kd1", "your own queen stands on d1"),
        (&start, "exd3", "the pawn has nothing to take on d3"),
        (&start, "e5", "none of your pawns can go to e5"),
        (&start, "e2e5", "the pawn on e2 does not move to e5"),
        (&start, "O-O", "other pieces stand where king and rook would pass"),
        (&start, "e2e4q", "a pawn becomes a queen, rook, bishop or knight on the last rank, and only there"),
        (pinned, "Nc3", "your king would be in check"),
        (pinned, "O-O", "the king or rook has moved, so there is no castling on the king's side"),
        (pinned, "Qd1", "you have no such queen"),
        (checked, "Ndb3", "your king is in check and would remain in check"),
        (checked, "Nb3", "your king is in check and would remain in check"),
        (
            "4kr2/8/8/8/8/8/8/4K2R w K - 0 1",
            "O-O",
            "the king is in check, or would pass or reach an attacked square",
        ),
        (
            "4kr2/8/8/8/8/8/8/4K2R w K - 0 1",
            "e1g1",
            "the king is in check, or would pass or reach an attacked square",
        ),
        ("7k/5Q2/6K1/8/8/8/8/8 b - - 0 1", "Kg8", "the game is over"),
    ] {
        assert_eq!(read(fen, text), format!("{text} is not legal: {why}"), "{text} in {fen}");
    }
}

#[test]
fn a_text_that_is_not_a_move_gets_an_example() {
    for text in ["", "hello", "e9", "Nf", "e2e4e5", "x", "Ke1=K", "ö4", "♘f3"] {
        let error = initial(text);
        assert!(error.starts_with(&format!("\"{text}\" is not a move; expected one such as ")), "{error}");
    }
    for long in [format!("e2{}e5", "-".repeat(5000)), "x".repeat(5000)] {
        let error = initial(&long);
        assert!(error.len() < 250 && error.contains("…"), "{error}");
    }
}
