use super::{Position, without_marks};
use crate::board::{Rules, random_opening};
use crate::rng::{Purpose, Seed};

const CASTLING: &str = "r3k2r/pppppppp/8/8/8/8/PPPPPPPP/R3K2R w KQkq - 0 1";
const PROMOTION: &str = "3r3k/4P3/8/8/8/8/8/4K3 w - - 0 1";
/// Knights that both reach d2, and a pawn that may take on a3.
const CROWD: &str = "4k3/8/8/8/8/n4N2/1P6/1NB1K3 w - - 0 1";

fn at(fen: &str) -> Position {
    Position::from_fen(fen).unwrap()
}

/// The move in UCI text that is read, or what is said instead.
fn read(fen: &str, text: &str) -> String {
    at(fen).read_move(text).map_or_else(|error| error.to_string(), |played| played.to_string())
}

fn initial(text: &str) -> String {
    read(&Position::initial().fen(), text)
}

#[test]
fn every_move_of_random_games_reads_back_in_both_notations() {
    let mut read = 0;
    for number in 0..60 {
        let mut stream = Seed { run: 3, step: 0 }.stream(number, Purpose::Opening);
        let game = random_opening(number as u32 * 3, &Rules { max_plies: 500 }, &mut stream);
        let position = game.position();
        for played in position.legal_moves() {
            let san = position.san(played);
            assert_eq!(position.read_move(&san), Ok(played), "{san} in {}", position.fen());
            assert_eq!(position.read_move(without_marks(&san)), Ok(played), "{san} without marks");
            assert_eq!(position.read_move(&played.to_string()), Ok(played), "{played}");
            read += 1;
        }
    }
    assert!(read > 1000, "{read}");
}

#[test]
fn moves_are_written_with_check_mate_and_what_tells_pieces_apart() {
    let san = |fen: &str, uci: &str| at(fen).san(at(fen).read_move(uci).unwrap());
    assert_eq!(san(CASTLING, "e1g1"), "O-O");
    assert_eq!(san(CASTLING, "e1c1"), "O-O-O");
    assert_eq!(san(CROWD, "f3d2"), "Nfd2");
    assert_eq!(san(PROMOTION, "e7d8q"), "exd8=Q+");
    assert_eq!(san("7k/5Q2/6K1/8/8/8/8/8 w - - 0 1", "f7g7"), "Qg7#");
}

#[test]
fn sloppy_moves_are_understood_where_one_move_alone_can_be_meant() {
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
    for (text, expected) in
        [("exd8=n", "e7d8n"), ("ed8Q", "e7d8q"), ("e8=Q", "e7e8q"), ("e8(R)", "e7e8r"), ("e7e8B", "e7e8b")]
    {
        assert_eq!(read(PROMOTION, text), expected, "{text}");
    }
}

#[test]
fn a_small_b_is_the_file_where_the_book_says_so_and_else_either() {
    assert_eq!(read(CROWD, "bxa3"), "b2a3");
    // The bishop's way to a3 leads over b2, so without the pawn only the bishop can.
    assert_eq!(read("4k3/8/8/8/8/n7/8/2B1K3 w - - 0 1", "bxa3"), "c1a3");
    // Both can, and without the x it is not by the book.
    assert_eq!(read("4k3/8/8/2n5/1P6/4B3/8/4K3 w - - 0 1", "bc5"), "\"bc5\" may be bxc5 or Bxc5; say which");
    // A capital is never the file.
    let pawn = "4k3/8/8/2n5/1P6/8/3B4/4K3 w - - 0 1";
    assert_eq!(read(pawn, "bc5"), "b4c5");
    assert_eq!(read(pawn, "Bxc5"), "Bxc5 is not legal: the bishop on d2 does not move to c5");
}

#[test]
fn what_may_be_several_moves_names_them() {
    assert_eq!(read(CROWD, "Nd2"), "\"Nd2\" may be Nbd2 or Nfd2; say which");
    let promotions = read(PROMOTION, "e8");
    assert!(promotions.starts_with("\"e8\" may be e8=") && promotions.contains("e8=Q"), "{promotions}");
}

#[test]
fn what_is_not_legal_says_why() {
    let start = Position::initial().fen();
    let pinned = "4r2k/8/8/8/8/8/4N3/4K3 w - - 0 1";
    let checked = "4r2k/8/8/8/8/8/3N4/N3K3 w - - 0 1";
    for (fen, text, why) in [
        (&start[..], "e3e4", "e3 is empty"),
        (&start, "e7e5", "the pawn on e7 is not yours"),
        (&start, "Ra5", "none of your rooks can go to a5"),
        (&start, "a1a5", "the way of the rook from a1 to a5 is blocked"),
        (&start, "g1g3", "the knight on g1 does not move to g3"),
        (&start, "Nd2", "your own pawn stands on d2"),
        (&start, "Kd1", "your own queen stands on d1"),
        (&start, "exd3", "the pawn has nothing to take on d3"),
        (&start, "e5", "none of your pawns can go to e5"),
        (&start, "e2e5", "the pawn on e2 does not move to e5"),
        (&start, "O-O", "pieces stand between king and rook"),
        (&start, "e2e4q", "a pawn becomes a queen, rook, bishop or knight on the last rank, and only there"),
        (pinned, "Nc3", "your king would be in check"),
        (pinned, "O-O", "king or rook have moved, so there is no castling on the king's side"),
        (pinned, "Qd1", "you have no such queen"),
        (checked, "Ndb3", "your king is in check and would stay so"),
        (checked, "Nb3", "your king is in check and would stay so"),
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
fn what_is_no_move_gets_an_example() {
    for text in ["", "hello", "e9", "Nf", "e2e4e5", "x", "Ke1=K", "ö4", "♘f3"] {
        let said = initial(text);
        assert!(said.starts_with(&format!("\"{text}\" is not a move; expected one such as ")), "{said}");
    }
}
