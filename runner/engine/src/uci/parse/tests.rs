use super::{Command, Go, parse};

fn go(line: &str) -> Go {
    match parse(line) {
        Some(Command::Go(go)) => go,
        other => panic!("{line} is {other:?}"),
    }
}

fn option(name: &str, value: &str) -> Option<Command> {
    Some(Command::SetOption { name: name.to_owned(), value: value.to_owned() })
}

#[test]
fn every_command_is_parsed() {
    for (line, command) in [
        ("uci", Command::Uci),
        ("isready", Command::IsReady),
        ("ucinewgame", Command::NewGame),
        ("stop", Command::Stop),
        ("ponderhit", Command::PonderHit),
        ("quit", Command::Quit),
        ("debug on", Command::Debug(true)),
        ("debug off", Command::Debug(false)),
        ("register later", Command::Register),
        ("d", Command::Board),
        ("eval", Command::Eval),
        ("tree", Command::Tree),
        ("bench", Command::Bench),
        ("position startpos moves e2e4 e7e5", Command::Position("startpos moves e2e4 e7e5".to_owned())),
        ("position\tfen  8/8 w   moves A7A8Q", Command::Position("fen 8/8 w moves a7a8q".to_owned())),
        ("go", Command::Go(Go::default())),
    ] {
        assert_eq!(parse(line), Some(command), "{line}");
    }
}

#[test]
fn unknown_words_before_a_command_are_skipped() {
    assert_eq!(parse("joho debug on"), Some(Command::Debug(true)));
    assert_eq!(parse("  xyz   isready  "), Some(Command::IsReady));
    for line in
        ["", "   ", "what is this", "UCI", "isreadyy", "setoption", "setoption name", "setoption value 3"]
    {
        assert_eq!(parse(line), None, "{line}");
    }
    // Commands for people count only as the first word of a line.
    assert_eq!(parse("what d you eval"), None);
}

#[test]
fn options_have_spaces_in_names_and_values() {
    assert_eq!(parse("setoption name Move Overhead value 30"), option("Move Overhead", "30"));
    assert_eq!(
        parse("setoption name DC0Model value /my  nets/a value.safetensors "),
        option("DC0Model", "/my  nets/a value.safetensors")
    );
    assert_eq!(parse("setoption name SyzygyPath value <empty>"), option("SyzygyPath", ""));
    assert_eq!(parse("setoption name SyzygyPath value"), option("SyzygyPath", ""));
    assert_eq!(parse("setoption   name   Clear  Hash"), option("Clear Hash", ""));
}

#[test]
fn limits_come_in_any_order_with_any_sign() {
    let all = go(
        "go wtime -5 btime 60000 binc 2 winc 1 movestogo 40 depth 9 nodes 800 mate 3 movetime 50 infinite ponder",
    );
    assert_eq!(
        all,
        Go {
            searchmoves: Vec::new(),
            ponder: true,
            wtime: Some(-5),
            btime: Some(60_000),
            winc: Some(1),
            binc: Some(2),
            movestogo: Some(40),
            depth: Some(9),
            nodes: Some(800),
            mate: Some(3),
            movetime: Some(50),
            infinite: true,
            perft: None,
            without_number: Vec::new(),
        }
    );
    assert_eq!(go("go nodes 800 wtime 7"), go("go wtime 7 nodes 800"));
    assert_eq!(go("go wtime 99999999999999999999 btime -99999999999999999999").wtime, Some(i64::MAX));
    assert_eq!(go("go btime -99999999999999999999").btime, Some(i64::MIN));
}

#[test]
fn perft_has_a_depth() {
    assert_eq!(go("go perft 3"), Go { perft: Some(3), ..Go::default() });
}

#[test]
fn limits_without_a_number_are_skipped_and_named() {
    let without = |names: &[&str]| Go {
        without_number: names.iter().map(|name| (*name).to_owned()).collect(),
        ..Go::default()
    };
    assert_eq!(go("go wtime btime 5"), Go { btime: Some(5), ..without(&["wtime"]) });
    assert_eq!(go("go nodes many depth"), without(&["nodes", "depth"]));
    assert_eq!(go("go wtime 12x - + -- nodes 3"), Go { nodes: Some(3), ..without(&["wtime"]) });
}

#[test]
fn searchmoves_end_where_the_next_limit_begins() {
    let both = go("go searchmoves e2e4 A7A8Q nonsense e2e4 nodes 5");
    assert_eq!(
        (both.searchmoves, both.nodes),
        (vec!["e2e4".into(), "a7a8q".into(), "nonsense".into()], Some(5))
    );
    assert_eq!(go("go infinite searchmoves d2d4").searchmoves, ["d2d4"]);
    assert_eq!(go("go searchmoves nodes 5"), Go { nodes: Some(5), ..Go::default() });
}
