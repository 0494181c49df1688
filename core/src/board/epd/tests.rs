use super::{Epd, Operands, read_epd};
use crate::board::{Position, Rules, random_opening};
use crate::rng::{Purpose, Seed};

fn parse(line: &str) -> Epd {
    Epd::parse(line).unwrap_or_else(|errors| panic!("{line}: {errors:?}"))
}

#[track_caller]
fn check_errors(line: &str, expected: &[&str]) {
    let errors = Epd::parse(line).expect_err("errors");
    let found: Vec<String> = errors.iter().map(ToString::to_string).collect();
    assert_eq!(found.len(), expected.len(), "{found:#?}");
    for (found, expected) in found.iter().zip(expected) {
        assert!(found.contains(expected), "no {expected:?} in {found}");
    }
}

const BRATKO_KOPEC_1: &str = "1k1r4/pp1b1R2/3q2pp/4p3/2B5/4Q3/PPP2B2/2K5 b - -";

#[test]
fn operations_are_read() {
    let epd = parse(&format!("{BRATKO_KOPEC_1} bm Qd1+; id \"BK; \\\"01\\\"\"; c0; acd 7;pv Qd1+ Kxd1 ;"));
    assert_eq!(epd.position.epd_fields(), BRATKO_KOPEC_1);
    assert_eq!(epd.moves("bm").iter().map(ToString::to_string).collect::<Vec<_>>(), ["d6d1"]);
    assert_eq!(epd.text("id"), Some("BK; \"01\""));
    let other = |opcode| epd.operations.get(opcode).cloned();
    assert_eq!(other("c0"), Some(Operands::Other(String::new())));
    assert_eq!(other("acd"), Some(Operands::Other("7".to_owned())));
    assert_eq!(other("pv"), Some(Operands::Other("Qd1+ Kxd1".to_owned())));
    assert_eq!((epd.moves("am"), epd.mate_in()), (&[][..], None));
}

#[test]
fn several_moves_in_san_and_uci_are_read_and_written_as_san() {
    let epd = parse("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - am O-O 0-0-0 a1a8 e1d1; dm 3");
    assert_eq!(epd.moves("am").len(), 4);
    assert_eq!(epd.mate_in(), Some(3));
    assert_eq!(epd.to_string(), "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - am O-O O-O-O Rxa8+ Kd1; dm 3;");
}

#[test]
fn clocks_come_from_operations_or_from_a_fen() {
    let clocks = |line| {
        let epd = parse(line);
        assert!(!epd.operations.contains_key("hmvc") && !epd.operations.contains_key("fmvn"));
        (epd.position.halfmove_clock(), epd.position.fullmove_number())
    };
    assert_eq!(clocks("4k3/8/8/8/8/8/R7/4K3 w - -"), (0, 1));
    assert_eq!(clocks("4k3/8/8/8/8/8/R7/4K3 w - - hmvc 7; fmvn 30;"), (7, 30));
    assert_eq!(clocks("4k3/8/8/8/8/8/R7/4K3 w - - 7 30"), (7, 30));
    let with_both = parse("4k3/8/8/8/8/8/R7/4K3 w - - 7 30 id \"a\"; bm Kd2;");
    assert_eq!(with_both.to_string(), "4k3/8/8/8/8/8/R7/4K3 w - - bm Kd2; fmvn 30; hmvc 7; id \"a\";");
    assert_eq!(parse(&with_both.to_string()), with_both);
}

#[test]
fn texts_are_written_so_that_they_can_be_read() {
    let mut epd = Epd::of(Position::initial());
    epd.operations.insert("id".to_owned(), Operands::Text("a \\ \"b\"; c\nd".to_owned()));
    let line = epd.to_string();
    assert!(line.ends_with(r#" w KQkq - id "a \\ \"b\"; c d";"#), "{line}");
    assert_eq!(parse(&line).text("id"), Some("a \\ \"b\"; c d"));
}

#[test]
fn every_error_of_a_line_is_found() {
    check_errors("8/8/8 w", &["has 2 of the four fields"]);
    check_errors("bm e4;", &["has 2 of the four fields"]);
    check_errors("8/8/8/8/8/8/8/8 w - - bm e4;", &["not a legal position"]);
    check_errors("x w - - bm e4; dm 3; dm 4;", &["is not a FEN", "dm is given twice"]);
    check_errors("4k3/8/8/8/8/8/8/4K2R w A -", &["not a legal position"]);
    check_errors("4k3/8/8/8/8/8/8/5K1R w G -", &["not a legal position"]);
    let kings = "4k3/8/8/8/8/8/R7/4K3 w - -";
    let errors = [
        ("7", "goes on with \"7\" after"),
        ("7 x", "goes on with \"7 x\" after"),
        ("99999999999 1", "goes on with \"99999999999 1\""),
        ("0 1 hmvc 3;", "hmvc is given twice"),
        ("hmvc -1;", "hmvc \"-1\" is not a number; expected a whole number of at least 0"),
        ("fmvn 0;", "fmvn \"0\" is not a number; expected a whole number of at least 1"),
        ("dm;", "dm \"\" is not a number"),
        ("dm 2.5;", "dm \"2.5\" is not a number"),
        ("dm 0;", "of at least 1"),
        ("bm;", "bm has no move; expected one or more, such as \"bm "),
        ("bm Rd2 Ra2d2;", "bm names the move Rd2 twice"),
        ("am Rb8;", "am: Rb8 is not legal"),
        ("id \"a;", "the quoted text of id does not end"),
        ("id \"a\\\";", "the quoted text of id does not end"),
        ("+- 3;", "\"+- 3\" is not an opcode"),
        ("id \"a\"; id \"b\";", "id is given twice"),
    ];
    for (operations, expected) in errors {
        check_errors(&format!("{kings} {operations}"), &[expected]);
    }
    check_errors(
        &format!("{kings} bm Rb8 x Kd2; dm x"),
        &["Rb8 is not legal", "\"x\" is not a move", "dm \"x\""],
    );
}

#[test]
fn files_may_have_comments_a_byte_order_mark_and_any_line_ends() {
    let text = "\u{feff}# a suite\r\n\r\n4k3/8/8/8/8/8/R7/4K3 w - - bm Kd2;\r\n% x\n; y\n\t4k3/8/8/8/8/8/R7/4K3\tb  -\t-";
    let read = read_epd("a.epd", text.as_bytes()).unwrap();
    assert_eq!(read.iter().map(|(line, _)| *line).collect::<Vec<_>>(), [3, 6]);
    assert_eq!(read[1].1.to_string(), "4k3/8/8/8/8/8/R7/4K3 b - -");
}

#[test]
fn a_file_lists_all_its_problems_by_line() {
    let text = "4k3/8/8/8/8/8/R7/4K3 w - - bm Kd2;\nnonsense\n\n4k3/8/8/8/8/8/R7/4K3 w - - bm Kd3; dm 0;\n";
    let error = read_epd("bad.epd", text.as_bytes()).unwrap_err();
    let lines: Vec<usize> = error.problems.iter().map(|problem| problem.line).collect();
    assert_eq!(lines, [2, 4, 4]);
    let message = error.to_string();
    assert!(message.starts_with("bad.epd: 3 problems\n  line 2: has 1 of the four fields"), "{message}");
    assert!(message.contains("\n  line 4: dm \"0\" is not a number"), "{message}");
    let empty = read_epd("no.epd", b"# only a comment\n").unwrap_err().to_string();
    assert!(empty.starts_with("no.epd: 1 problem\n  has no positions; expected one per line"), "{empty}");
}

#[test]
fn random_positions_round_trip() {
    let rules = Rules { max_plies: 512 };
    for number in 0..300 {
        let mut stream = Seed { run: 3, step: 0 }.stream(number, Purpose::Opening);
        let game = random_opening(1 + number as u32 % 120, &rules, &mut stream);
        let mut epd = Epd::of(game.position().clone());
        epd.operations.insert("bm".to_owned(), Operands::Moves(game.position().legal_moves()));
        assert_eq!(parse(&epd.to_string()), epd);
        assert_eq!(parse(&epd.position.fen()).position, epd.position);
    }
}

#[test]
fn no_line_panics() {
    let words = [
        "8/8/8/4k3/8/8/4P3/4K3",
        "w",
        "-",
        "bm",
        "Kd2;",
        "\"",
        "\\",
        ";",
        "é",
        "e3",
        "0",
        "dm",
        "4294967295",
        "hmvc",
        "fmvn",
    ];
    let mut stream = Seed { run: 4, step: 0 }.stream(0, Purpose::Opening);
    for _ in 0..20_000 {
        use rand::RngExt;
        let count = stream.random_range(0..12);
        let mut line =
            String::from(if stream.random_range(0..4) > 0 { "8/8/8/4k3/8/8/4P3/4K3 w - - " } else { "" });
        for _ in 0..count {
            line += words[stream.random_range(0..words.len())];
            line += ["", " ", "\t"][stream.random_range(0..3)];
        }
        if let Ok(epd) = Epd::parse(&line) {
            assert_eq!(parse(&epd.to_string()), epd, "{line}");
        }
    }
}
