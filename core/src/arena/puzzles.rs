//! Puzzles: positions with right moves, and the proof of mates.

use crate::board::{
    Epd, Game, Move, Operands, Position, RankedMove, Rules, Tablebase, TablebaseError, TextFileError,
    TextProblem, read_epd,
};

/// Puzzles end by the rules of chess alone.
const RULES: Rules = Rules { max_plies: u32::MAX };

/// The longest mate whose moves are looked for; longer ones need `bm`.
pub const MAX_MATE: u32 = 4;

/// A position with right moves.
#[derive(Debug, Clone)]
pub struct Puzzle {
    /// Its `id`, or `line 7` without one.
    pub id: String,
    /// The position, without history.
    pub game: Game,
    /// The right moves, in the order of move generation; neither none nor all.
    pub right: Vec<Move>,
}

/// Reads a suite of puzzles: EPD with `bm` (the right moves), `am` (moves that are wrong) or `dm` (the moves that mate in so many
/// moves are right). `bm` comes before `dm`, and `am` restricts both.
pub fn read_puzzles(file: &str, content: &[u8]) -> Result<Vec<Puzzle>, TextFileError> {
    let (mut puzzles, mut problems) = (Vec::new(), Vec::new());
    for (line, epd) in read_epd(file, content)? {
        match puzzle(line, &epd) {
            Ok(puzzle) => puzzles.push(puzzle),
            Err(message) => problems.push(TextProblem { line, message }),
        }
    }
    TextFileError::check(file, problems)?;
    Ok(puzzles)
}

fn puzzle(line: usize, epd: &Epd) -> Result<Puzzle, String> {
    let mut game = Game::from_position(epd.position.clone());
    if let Some(outcome) = game.outcome(&RULES) {
        return Err(format!(
            "the game is over there ({}); expected a position with a move to find",
            outcome.reason.name()
        ));
    }
    let (best, avoided) = (epd.moves("bm"), epd.moves("am"));
    let legal = game.position().legal_moves();
    let mut right = match (best, epd.mate_in()) {
        ([_, ..], _) => legal.iter().copied().filter(|mv| best.contains(mv)).collect(),
        ([], Some(moves)) if moves > MAX_MATE => {
            return Err(format!(
                "dm {moves} has no bm; mates in up to {MAX_MATE} are found, so name the move of a longer one with bm"
            ));
        }
        ([], Some(moves)) => match mating_moves(&mut game, moves) {
            mating if mating.is_empty() => {
                return Err(format!("no move mates in {moves}; expected a dm that is true, or bm"));
            }
            mating => mating,
        },
        ([], None) if avoided.is_empty() => {
            return Err("has neither bm, am nor dm; expected what makes a move right, such as \"bm Qd1+;\""
                .to_owned());
        }
        ([], None) => legal.clone(),
    };
    right.retain(|mv| !avoided.contains(mv));
    if right.is_empty() {
        return Err("no move is right: am names all that could be".to_owned());
    }
    if right.len() == legal.len() {
        return Err(format!("all {} legal moves are right; expected a move that is wrong", legal.len()));
    }
    let id = epd.text("id").filter(|id| !id.is_empty());
    Ok(Puzzle { id: id.map_or_else(|| format!("line {line}"), ToOwned::to_owned), game, right })
}

/// The puzzles of a finished game: positions of the side that mated, among the last ones, in which a single move mates as fast as
/// possible, within `longest` moves. Each has that move as `bm` and the number of moves as `dm`.
pub fn mates_of_game(game: &Game, longest: u32) -> Vec<Epd> {
    let is_mate = game.outcome(&RULES).is_some_and(|outcome| outcome.winner.is_some());
    let last = if is_mate { game.ply() } else { 0 };
    // Positions of the winner, in which it found the mate at most two moves too late.
    let plies = (0..last).rev().step_by(2).take(longest as usize + 2);
    let positions: Vec<Position> = plies.filter_map(|ply| game.positions().nth(ply).cloned()).collect();
    positions.into_iter().rev().filter_map(|position| fastest_mate(position, longest)).collect()
}

/// A position with its single fastest mate.
fn fastest_mate(position: Position, longest: u32) -> Option<Epd> {
    let mut game = Game::from_position(position.clone());
    let mates =
        |moves| Some((moves, mating_moves(&mut game, moves))).filter(|(_, mating)| !mating.is_empty());
    let (moves, mating) = (1..=longest).find_map(mates)?;
    if mating.len() > 1 || position.legal_moves().len() == 1 {
        return None;
    }
    let mut epd = Epd::of(position);
    epd.operations.insert("bm".to_owned(), Operands::Moves(mating));
    epd.operations.insert("dm".to_owned(), Operands::Number(moves));
    Some(epd)
}

/// What a single move keeps in a position that tablebases cover.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum OnlyMove {
    /// The win; every other move draws or loses.
    Wins,
    /// The draw; every other move loses.
    Draws,
}

/// The puzzles of a game's ending: of each kind the first position that the tablebases cover in which a single move wins, or a single
/// move draws. Later ones of the same game would be much the same. Each has that move as `bm`.
pub fn only_moves_of_game(game: &Game, tables: &Tablebase) -> Result<Vec<(OnlyMove, Epd)>, TablebaseError> {
    let mut found: Vec<(OnlyMove, Epd)> = Vec::new();
    for position in game.positions() {
        let alone = Game::from_position(position.clone());
        let Some(ranked) = tables.rank_root(&alone)? else { continue };
        let Some((kind, mv)) = only_move(&ranked, position.halfmove_clock() as i32) else { continue };
        if found.iter().all(|(known, _)| *known != kind) {
            let mut epd = Epd::of(position.clone());
            epd.operations.insert("bm".to_owned(), Operands::Moves(vec![mv]));
            found.push((kind, epd));
        }
    }
    Ok(found)
}

/// The single move that keeps the result, if it certainly is one: stored distances may be a ply too low, so results that hang on the last
/// ply before the fifty-move rule are not certain.
fn only_move(ranked: &[RankedMove], clock: i32) -> Option<(OnlyMove, Move)> {
    let is_certain = |ranked: &&RankedMove| ranked.dtz == 0 || ranked.dtz.abs() + clock != 100;
    if ranked.len() < 2 || !ranked.iter().all(|ranked| is_certain(&ranked)) {
        return None;
    }
    let best = ranked.iter().map(|ranked| ranked.result.outcome()).max()?;
    let kind = match best {
        1 => OnlyMove::Wins,
        0 => OnlyMove::Draws,
        _ => return None,
    };
    let mut kept = ranked.iter().filter(|ranked| ranked.result.outcome() == best);
    let (first, second) = (kept.next()?, kept.next());
    second.is_none().then_some((kind, first.mv))
}

/// The moves after which the opponent is mated within `moves` moves, this one included, whatever it answers.
pub fn mating_moves(game: &mut Game, moves: u32) -> Vec<Move> {
    let legal = game.position().legal_moves();
    legal.into_iter().filter(|mv| mates(game, *mv, moves)).collect()
}

/// Whether a move mates within `moves` moves.
fn mates(game: &mut Game, mv: Move, moves: u32) -> bool {
    let ply = game.ply();
    game.play_unchecked(mv);
    let answers = game.position().legal_moves();
    let is_mated = match game.outcome_by_rules(!answers.is_empty()) {
        Some(outcome) => outcome.winner.is_some(),
        None if moves <= 1 => false,
        None => answers.into_iter().all(|answer| {
            let ply = game.ply();
            game.play_unchecked(answer);
            let is_lost = can_mate(game, moves - 1);
            game.take_back_to(ply);
            is_lost
        }),
    };
    game.take_back_to(ply);
    is_mated
}

/// Whether the side to move can mate within `moves` moves.
fn can_mate(game: &mut Game, moves: u32) -> bool {
    let legal = game.position().legal_moves();
    if game.outcome_by_rules(!legal.is_empty()).is_some() {
        return false;
    }
    if game.position().mate_in_one(&legal).is_some() {
        return true;
    }
    moves > 1 && legal.into_iter().any(|mv| mates(game, mv, moves))
}

#[cfg(test)]
mod tests {
    use super::{mates_of_game, mating_moves, read_puzzles};
    use crate::board::Game;

    fn right(line: &str) -> Vec<String> {
        let puzzles = read_puzzles("a.epd", line.as_bytes()).unwrap_or_else(|error| panic!("{error}"));
        let mut right: Vec<String> =
            puzzles[0].right.iter().map(|mv| puzzles[0].game.position().san(*mv)).collect();
        right.sort();
        right
    }

    fn error(line: &str) -> String {
        read_puzzles("a.epd", line.as_bytes()).expect_err("an error").to_string()
    }

    const ROOKS: &str = "7k/8/8/8/8/8/R7/1R4K1 w - -";

    #[test]
    fn right_moves_are_best_ones_mates_or_not_avoided_ones() {
        assert_eq!(right(&format!("{ROOKS} bm Rb7 Ra7;")), ["Ra7", "Rb7"]);
        assert_eq!(right(&format!("{ROOKS} dm 2;")), ["Ra7", "Rb7"]);
        assert_eq!(right(&format!("{ROOKS} dm 2; am Ra7;")), ["Rb7"]);
        assert_eq!(right(&format!("{ROOKS} bm Rb7; dm 9;")), ["Rb7"]);
        let avoiding = right(&format!("{ROOKS} am Ra7;"));
        assert!(avoiding.len() > 20 && !avoiding.contains(&"Ra7".to_owned()), "{avoiding:?}");
    }

    #[test]
    fn names_are_ids_or_lines() {
        let text = format!("\n{ROOKS} bm Rb7;\n{ROOKS} bm Rb7; id \"rooks\";\n");
        let puzzles = read_puzzles("a.epd", text.as_bytes()).expect("puzzles");
        assert_eq!(puzzles.iter().map(|puzzle| puzzle.id.as_str()).collect::<Vec<_>>(), ["line 2", "rooks"]);
    }

    #[test]
    fn puzzles_without_a_right_move_are_refused_with_their_lines() {
        let text = format!(
            "{ROOKS} bm Rb7;\n{ROOKS} id \"x\";\n\n{ROOKS} dm 1;\n{ROOKS} dm 5;\n7k/5Q2/6K1/8/8/8/8/8 b - - bm Kg8;\n"
        );
        let found = error(&text);
        assert!(found.contains("line 6: bm: Kg8 is not legal"), "{found}");
        let text = text.replace(" bm Kg8;", "");
        let found = error(&text);
        assert!(found.starts_with("a.epd: 4 problems\n  line 2: has neither bm, am nor dm"), "{found}");
        assert!(found.contains("line 4: no move mates in 1"), "{found}");
        assert!(found.contains("line 5: dm 5 has no bm; mates in up to 4 are found"), "{found}");
        assert!(found.contains("line 6: the game is over there (stalemate)"), "{found}");
        assert!(error("k7/8/1K6/8/8/8/8/1R6 b - - bm Kb8;").contains("all 1 legal moves are right"));
        assert!(error(&format!("{ROOKS} bm Rb7; am Rb7;")).contains("no move is right"));
        assert!(error("").contains("has no positions"));
    }

    #[test]
    fn puzzles_of_a_game_have_a_single_fastest_mate() {
        let game = Game::from_text("startpos moves e2e4 e7e5 f1c4 b8c6 d1h5 g8f6 h5f7").expect("a game");
        let puzzles: Vec<String> = mates_of_game(&game, 3).iter().map(ToString::to_string).collect();
        let expected =
            "r1bqkb1r/pppp1ppp/2n2n2/4p2Q/2B1P3/8/PPPP1PPP/RNB1K1NR w KQkq - bm Qxf7#; dm 1; fmvn 4; hmvc 4;";
        assert_eq!(puzzles, [expected]);
        for line in puzzles {
            assert_eq!(right(&line), ["Qxf7#"]);
        }
        let unfinished = Game::from_text("startpos moves e2e4").expect("a game");
        assert!(mates_of_game(&unfinished, 3).is_empty());
    }

    #[test]
    fn mates_are_proved_against_every_answer_and_draws_are_none() {
        let mating = |fen: &str, moves| {
            let mut game = Game::from_text(fen).expect("a position");
            let found = mating_moves(&mut game, moves);
            assert_eq!(game.ply(), 0);
            found.iter().map(|mv| game.position().san(*mv)).collect::<Vec<_>>()
        };
        assert_eq!(mating("6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - 0 1", 1), ["Ra8#"]);
        assert_eq!(mating("6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - 99 80", 1), ["Ra8#"]);
        // A mate in two that the fifty-move rule prevents.
        assert_eq!(mating("7k/8/8/8/8/8/R7/1R4K1 w - - 96 80", 2).len(), 2);
        assert!(mating("7k/8/8/8/8/8/R7/1R4K1 w - - 98 80", 2).is_empty());
        assert!(mating("7k/8/8/8/8/8/R7/1R4K1 w - - 0 1", 1).is_empty());
        // Kf6 leaves no answer but one, and the queen mates after it.
        assert!(mating("6k1/8/5K2/8/8/8/8/Q7 w - - 0 1", 2).len() >= 2);
    }
}
