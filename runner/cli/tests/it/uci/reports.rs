//! What the engine reports beside moves.

use super::check::last_number;
use super::engine::Engine;

#[test]
fn a_queen_more_reads_like_one() {
    let mut engine = Engine::ready(&["--option", "UCI_ShowWDL=true"]);
    let score = |engine: &mut Engine, fen: &str| {
        engine.send("ucinewgame");
        last_number(&engine.search(&format!("fen {fen}"), "go nodes 400"), "cp")
    };
    let (bare, whole) =
        ("4k3/8/8/8/8/8/8/3QK3 w - - 0 1", "rnb1kbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1");
    assert!((500..2000).contains(&score(&mut engine, bare)), "{}", score(&mut engine, bare));
    assert!((150..2000).contains(&score(&mut engine, whole)), "{}", score(&mut engine, whole));
    let behind = score(&mut engine, &whole.replace(" w ", " b "));
    assert!((-2000..-150).contains(&behind), "{behind}");
    // The values of the search are those that they were.
    for option in ["score.value_exponent value 1", "score.draw_exponent value 1", "score.scale value 90"] {
        engine.send(&format!("setoption name {option}"));
    }
    assert!((5..100).contains(&score(&mut engine, bare)), "{}", score(&mut engine, bare));
    let lines = engine.ask("setoption name score.scale value 0\nisready", "readyok");
    assert!(lines[0].contains("1.0..=100000.0") && lines[0].contains("keeps its value"), "{lines:?}");
}
