//! Checks that hold for the output of every search.

use dc0_core::board::Game;

pub(crate) fn game(position: &str) -> Game {
    Game::from_text(position).expect("a position of a test")
}

/// Plays moves that must be legal, one after the other.
#[track_caller]
pub(crate) fn play(game: &mut Game, moves: &[&str]) {
    for text in moves {
        let mv = game.position().read_uci(text);
        let mv = mv.unwrap_or_else(|| panic!("{text} is no legal move in {}", game.position().fen()));
        game.play_unchecked(mv);
    }
}

pub(crate) fn after<'a>(words: &[&'a str], name: &str) -> Option<&'a str> {
    words.iter().position(|word| *word == name).and_then(|at| words.get(at + 1)).copied()
}

/// Checks the output of a search: integers after their names, scores with a kind, and legal moves. Clients met scores without a kind
/// (en-croissant #500), illegal moves, and moves with stray characters (python-chess #427, #429, #570, #1119; lichess-bot #211, #870; `BotLi`
/// #113).
#[track_caller]
pub(crate) fn check(position: &str, lines: &[String]) {
    let is_info = |line: &&String| line.starts_with("info ") && !line.starts_with("info string");
    let infos: Vec<&String> = lines.iter().filter(is_info).collect();
    let last = infos.last().expect("there is an info line");
    assert!(last.contains(" score "), "the last info line has a score: {last}");
    for line in &infos {
        let words: Vec<&str> = line.split(' ').collect();
        for name in
            ["depth", "seldepth", "multipv", "nodes", "nps", "hashfull", "tbhits", "time", "cp", "mate"]
        {
            let number = after(&words, name);
            assert!(number.is_none_or(|number| number.parse::<i64>().is_ok()), "{name} in {line}");
        }
        assert!(["cp", "mate"].contains(&after(&words, "score").expect("a score")), "{line}");
        if let Some(at) = words.iter().position(|word| *word == "pv") {
            let mut game = game(position);
            play(&mut game, &words[at + 1..]);
            let mated = !game.position().has_legal_move() && game.position().is_check();
            let mate = after(&words, "mate").filter(|_| !words.contains(&"lowerbound"));
            if let Some(moves) = mate.and_then(|moves| moves.parse::<i64>().ok()) {
                let plies = if moves > 0 { 2 * moves - 1 } else { -2 * moves };
                assert_eq!((mated, words.len() as i64 - at as i64 - 1), (true, plies), "{line}");
            }
        }
    }
    // What is played is what the last line begins with, and a search never goes back.
    let is_first = |line: &&&String| !line.contains(" multipv ") || line.contains(" multipv 1 ");
    let first: Vec<Vec<&str>> = infos.iter().filter(is_first).map(|line| line.split(' ').collect()).collect();
    for name in ["depth", "nodes"] {
        let numbers = first.iter().filter_map(|words| after(words, name)?.parse::<u64>().ok());
        assert!(numbers.is_sorted(), "{name}: {infos:?}");
    }
    let pv = first.iter().rev().find_map(|words| after(words, "pv"));
    assert!(pv.is_none_or(|pv| pv == self::best(lines)), "{infos:?}");
    let best: Vec<&str> = lines.last().expect("a best move").split(' ').collect();
    match best[..] {
        ["bestmove", "(none)"] => assert!(!game(position).position().has_legal_move()),
        ["bestmove", best] => play(&mut game(position), &[best]),
        ["bestmove", best, "ponder", answer] => play(&mut game(position), &[best, answer]),
        _ => panic!("{best:?}"),
    }
}

pub(crate) fn best(lines: &[String]) -> &str {
    lines.last().and_then(|line| line.split(' ').nth(1)).expect("bestmove")
}

/// The number after a name in the last info line.
pub(crate) fn last_number(lines: &[String], name: &str) -> i64 {
    let last = lines.iter().rfind(|line| line.starts_with("info depth")).expect("an info line");
    let words: Vec<&str> = last.split(' ').collect();
    after(&words, name).and_then(|number| number.parse().ok()).expect("a number")
}
