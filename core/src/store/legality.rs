//! Checks stored rows against the rules of chess: legal moves, right positions, results that fit the end of the game.
//!
//! Reading a table checks each row on its own. These checks replay the games, so they cost as much as generating all legal moves again.

use std::collections::BTreeMap;

use super::{AnswerRow, GameRow, LineRow, MatchGameRow, PositionRow, PredictionRow, PuzzleRow, TreeRow};
use crate::board::{Adjudication, Ending, Game, GameResult, GameTextError, Move, Position, Reason, Rules};

/// A target's shares in 65535ths are rounded one by one, which moves their sum by half of one for each legal move.
fn target_is_whole(row: &PositionRow) -> bool {
    let sum: i64 = row.target.iter().map(|share| i64::from(*share)).sum();
    (sum - i64::from(u16::MAX)).abs() <= i64::from(row.legal) / 2 + 1
}

/// What contradicts the rules of chess in a game of self-play with the rows of its searched positions, if anything.
pub fn self_play_fault(row: &GameRow, positions: &[PositionRow], rules: &Rules) -> Option<String> {
    replayed(&row.start_fen, &row.moves).map_or_else(Some, |game| {
        ending_fault(&game, row.result, row.reason, rules).or_else(|| positions_fault(&game, row, positions))
    })
}

/// What contradicts the rules of chess in a game from outside with the rows of its searched positions, if anything. Such a game may
/// go on where a draw could be claimed, and end by the will of either player.
pub fn outside_game_fault(row: &GameRow, positions: &[PositionRow]) -> Option<String> {
    replayed(&row.start_fen, &row.moves).map_or_else(Some, |game| {
        other_end(&game, row.result)
            .map(|end| format!("it is stored as {}, but its moves {end}", row.result.symbol()))
            .or_else(|| positions_fault(&game, row, positions))
    })
}

/// How the moves end, if that is a mate or a stalemate and the result is another: "end in 0-1 by checkmate". Other draws have to be
/// claimed, or are not known to every program.
pub(crate) fn other_end(game: &Game, result: GameResult) -> Option<String> {
    let is_final = |reason: Reason| matches!(reason, Reason::Checkmate | Reason::Stalemate);
    let outcome = game.outcome(&Rules { max_plies: u32::MAX }).filter(|outcome| is_final(outcome.reason))?;
    let (by, found) = (outcome.reason.name(), outcome.result().symbol());
    (outcome.result() != result).then(|| format!("end in {found} by {by}"))
}

/// What contradicts the rules of chess in a game whose positions were searched again, if anything. It ended by the ply cap of the step
/// that played it, or comes from outside, if no net played.
pub fn reanalyzed_fault(row: &GameRow, positions: &[PositionRow]) -> Option<String> {
    if row.network.is_empty() {
        return outside_game_fault(row, positions);
    }
    let max_plies = if row.reason.is_cut_off() { row.moves.len() as u32 } else { u32::MAX };
    self_play_fault(row, positions, &Rules { max_plies })
}

/// What contradicts the rules of chess in a game of a match, if anything.
pub fn match_fault(row: &MatchGameRow, rules: &Rules) -> Option<String> {
    let game = replayed(&row.start_fen, &row.moves);
    game.map_or_else(Some, |game| ending_fault(&game, row.result, row.reason, rules))
}

/// What contradicts the rules of chess in the way that a game is stored to have ended.
fn ending_fault(game: &Game, result: GameResult, ending: Ending, rules: &Rules) -> Option<String> {
    let next = game.position().side_to_move();
    let (reason, symbol) = (ending.name(), result.symbol());
    let loser = match ending {
        Ending::Rules(_) => return end_fault(game, (symbol, reason), rules),
        Ending::Forfeit(_) => Some(next),
        // The search of the last move decided it.
        Ending::Adjudicated(Adjudication::Resignation) => Some(next.other()),
        Ending::Adjudicated(Adjudication::AgreedDraw | Adjudication::Tablebase) => None,
    };
    if let Some(outcome) = game.outcome(rules) {
        let (by, found) = (outcome.reason.name(), outcome.result().symbol());
        return Some(format!("it is stored as ended by {reason}, but its moves end in {found} by {by}"));
    }
    if ending == Ending::Adjudicated(Adjudication::AgreedDraw) && result != GameResult::Draw {
        return Some(format!("it is stored as {symbol} by {reason}, but that is a draw"));
    }
    loser
        .filter(|side| result.score_for(*side) != -1)
        .map(|side| format!("it is stored as {symbol} by {reason}, but that loses for {side:?}"))
}

/// What contradicts the rules of chess in an attempt at a puzzle, if anything.
pub fn puzzle_fault(row: &PuzzleRow) -> Option<String> {
    illegal_in(&row.fen, row.right.iter().chain([&row.played]))
}

/// What contradicts the rules of chess in a player's answer to a puzzle, if anything.
pub fn answer_fault(row: &AnswerRow) -> Option<String> {
    let played = Some(row.played).filter(|played| *played != AnswerRow::NO_MOVE);
    illegal_in(&row.fen, row.right.iter().chain(&played))
}

/// What contradicts the rules of chess in a net's prediction, if anything.
pub fn prediction_fault(row: &PredictionRow) -> Option<String> {
    illegal_in(&row.fen, [row.likeliest].iter())
}

/// What is wrong with a position, or with the first move that is not legal in it.
fn illegal_in<'a>(fen: &str, mut moves: impl Iterator<Item = &'a u16>) -> Option<String> {
    let position = match Position::from_fen(fen) {
        Ok(position) => position,
        Err(error) => return Some(error.to_string()),
    };
    let illegal = moves.find(|packed| legal(&position, **packed).is_none())?;
    Some(format!("{} is not legal in {fen}", move_text(*illegal)))
}

/// What contradicts the rules of chess in a line of a search, if anything.
pub fn line_fault(row: &LineRow) -> Option<String> {
    let mut game = match replayed(&row.start_fen, &row.moves) {
        Ok(game) => game,
        Err(fault) => return Some(fault),
    };
    let fen = game.position().fen();
    if fen != row.fen {
        return Some(format!("`fen` is {}, but its moves lead to {fen}", row.fen));
    }
    row.pv.iter().enumerate().find_map(|(ply, packed)| match legal(game.position(), *packed) {
        Some(mv) => {
            game.play_unchecked(mv);
            None
        }
        None => Some(format!("move {} of `pv`, {}, is not legal", ply + 1, move_text(*packed))),
    })
}

/// What contradicts the rules of chess in the tree of one search, given the position searched, if anything.
pub fn tree_fault(root: &Position, rows: &[TreeRow]) -> Option<String> {
    let mut positions = BTreeMap::from([(0, root.clone())]);
    rows.iter().find_map(|row| {
        if row.depth == 0 {
            return None;
        }
        let in_row = |fault: String| Some(format!("row {}: {fault}", row.row));
        let Some(before) = positions.get(&row.parent) else {
            return in_row(format!("`parent` is {}, which no row before it leads to", row.parent));
        };
        let Some(mv) = legal(before, row.played) else {
            return in_row(format!("its move {} is not legal", move_text(row.played)));
        };
        if row.node != TreeRow::NO_NODE && !positions.contains_key(&row.node) {
            let mut after = before.clone();
            after.play_unchecked(mv, before.key());
            positions.insert(row.node, after);
        }
        None
    })
}

/// The game of these moves; what is wrong with them if it cannot be replayed.
pub(crate) fn replayed(start: &str, moves: &[u16]) -> Result<Game, String> {
    Game::from_packed(start, moves).map_err(|error| match error {
        GameTextError::Start(error) => error.to_string(),
        GameTextError::Move { number, .. } => {
            let packed = moves.get(number - 1).copied().unwrap_or_default();
            format!("its move at ply {}, {}, is not legal", number - 1, move_text(packed))
        }
    })
}

/// Whether a game ends where it is over, and as stored.
fn end_fault(game: &Game, (result, reason): (&str, &str), rules: &Rules) -> Option<String> {
    let Some(outcome) = game.outcome(rules) else {
        return Some(format!("it ends after {} plies by {reason}, but is not over there", game.ply()));
    };
    if (outcome.result().symbol(), outcome.reason.name()) != (result, reason) {
        let (found, by) = (outcome.result().symbol(), outcome.reason.name());
        return Some(format!("it is stored as {result} by {reason}, but its moves end in {found} by {by}"));
    }
    let mut before = game.clone();
    (0..game.ply()).rev().find_map(|ply| {
        before.take_back_to(ply);
        let outcome = before.outcome(rules)?;
        Some(format!("it is over at ply {ply} by {}, and goes on", outcome.reason.name()))
    })
}

/// The rows of a game's positions against its moves, from the ply after its opening on.
pub(crate) fn positions_fault(game: &Game, row: &GameRow, positions: &[PositionRow]) -> Option<String> {
    let stored: Vec<u16> = positions.iter().map(|position| position.ply).collect();
    let expected: Vec<u16> = (row.opening_plies..row.moves.len() as u16).collect();
    if stored != expected {
        return Some(format!(
            "{} of its positions are stored, expected one for each of the plies {} to {}",
            stored.len(),
            row.opening_plies,
            row.moves.len()
        ));
    }
    let mut own = game.positions().skip(row.opening_plies.into());
    positions.iter().find_map(|position| {
        let fault = position_fault(row, position, own.next()?)?;
        Some(format!("ply {}: {fault}", position.ply))
    })
}

/// What is wrong with the row of a position, given the position that the game's moves lead to.
fn position_fault(game: &GameRow, row: &PositionRow, position: &Position) -> Option<String> {
    let fen = position.fen();
    if fen != row.fen {
        return Some(format!("`fen` is {}, but the game's moves lead to {fen}", row.fen));
    }
    let played = game.moves[usize::from(row.ply)];
    if row.played != played {
        return Some(format!(
            "`played` is {}, but the game goes on with {}",
            move_text(row.played),
            move_text(played)
        ));
    }
    let legal = position.legal_moves();
    if usize::from(row.legal) != legal.len() {
        return Some(format!("`legal` is {}, but {} moves are legal", row.legal, legal.len()));
    }
    let is_legal = |packed: &u16| legal.iter().any(|mv| mv.packed() == *packed);
    if let Some(illegal) = row.moves.iter().find(|packed| !is_legal(packed)) {
        return Some(format!("{} in `moves` is not legal", move_text(*illegal)));
    }
    let score = game.result.score_for(position.side_to_move());
    if row.result != score {
        return Some(format!("`result` is {}, but the game's is {score} for the side to move", row.result));
    }
    if !target_is_whole(row) {
        let sum: u32 = row.target.iter().map(|share| u32::from(*share)).sum();
        return Some(format!("the shares of `target` sum to {sum}, expected {}", u16::MAX));
    }
    let visits: u64 = row.visits.iter().map(|visits| u64::from(*visits)).sum();
    (visits > u64::from(row.simulations))
        .then(|| format!("`visits` sum to {visits}, but there were {} simulations", row.simulations))
}

fn legal(position: &Position, packed: u16) -> Option<Move> {
    Move::from_packed(packed).filter(|mv| position.is_legal(*mv))
}

/// A packed move for messages, as UCI writes it.
pub fn move_text(packed: u16) -> String {
    Move::from_packed(packed).map_or_else(|| format!("{packed}, which is no move"), |mv| mv.to_string())
}

#[cfg(test)]
mod tests {
    use super::{
        answer_fault, line_fault, match_fault, outside_game_fault, puzzle_fault, self_play_fault, tree_fault,
    };
    use crate::board::{Adjudication, Ending, Fault, Game, GameResult, Move, Position, Reason, Rules};
    use crate::store::{
        AnswerRow, GameRow, LineRow, MatchGameRow, PositionRow, PuzzleRow, Scores, TableRow as _, TreeRow,
    };

    const RULES: Rules = Rules { max_plies: 100 };
    /// The shortest mate.
    const MATE: [&str; 4] = ["f2f3", "e7e5", "g2g4", "d8h4"];

    fn packed(moves: &[&str]) -> Vec<u16> {
        moves.iter().map(|text| Move::from_uci(text).expect("a move").packed()).collect()
    }

    /// The game with a searched position for each ply.
    fn mate() -> (GameRow, Vec<PositionRow>) {
        let moves = packed(&MATE);
        let game = Game::from_packed(&Position::initial().fen(), &moves).expect("a game");
        let row = GameRow {
            game: 3,
            network: "net".to_owned(),
            start_fen: Position::initial().fen(),
            moves: moves.clone(),
            opening_plies: 0,
            result: GameResult::BlackWins,
            reason: Reason::Checkmate.into(),
        };
        let position = |(ply, played): (usize, &u16)| {
            let position = game.positions().nth(ply).expect("a ply");
            PositionRow {
                game: 3,
                ply: ply as u16,
                fen: position.fen(),
                played: *played,
                legal: position.legal_moves().len() as u16,
                moves: vec![*played],
                visits: vec![7],
                target: vec![u16::MAX],
                root_q: 0.0,
                root_d: 0.0,
                net_q: 0.0,
                net_d: 0.0,
                simulations: 8,
                full: true,
                policy_surprise: 0.5,
                result: if ply % 2 == 0 { -1 } else { 1 },
            }
        };
        let positions = moves.iter().enumerate().map(position).collect();
        (row, positions)
    }

    #[test]
    fn every_contradiction_of_a_self_play_game_is_named() {
        let (row, positions) = mate();
        assert_eq!(self_play_fault(&row, &positions, &RULES), None);
        let check = |change: &dyn Fn(&mut GameRow, &mut Vec<PositionRow>), expected: &str| {
            let (mut row, mut positions) = mate();
            change(&mut row, &mut positions);
            let fault = self_play_fault(&row, &positions, &RULES).expect("is wrong");
            assert!(fault.contains(expected), "{expected}: {fault}");
        };
        check(&|row, _| row.moves[1] = packed(&["e7e4"])[0], "its move at ply 1, e7e4, is not legal");
        check(&|row, _| row.moves.truncate(3), "is not over there");
        check(
            &|row, _| row.result = GameResult::Draw,
            "stored as 1/2-1/2 by checkmate, but its moves end in 0-1",
        );
        check(
            &|row, _| row.reason = Reason::Stalemate.into(),
            "by stalemate, but its moves end in 0-1 by checkmate",
        );
        check(&|_, rows| _ = rows.remove(2), "3 of its positions are stored");
        check(&|_, rows| rows[1].fen = Position::initial().fen(), "ply 1: `fen` is ");
        check(&|_, rows| rows[0].played = packed(&["f2f4"])[0], "ply 0: `played` is f2f4");
        check(&|_, rows| rows[2].legal += 1, "ply 2: `legal` is ");
        check(&|_, rows| rows[0].moves = packed(&["f2f5"]), "f2f5 in `moves` is not legal");
        check(&|_, rows| rows[3].result = -1, "ply 3: `result` is -1");
        check(&|_, rows| rows[0].target = vec![u16::MAX - 12], "sum to 65523, expected 65535");
        check(&|_, rows| rows[0].visits = vec![9], "`visits` sum to 9, but there were 8 simulations");
        let short = Rules { max_plies: 2 };
        let fault = self_play_fault(&row, &positions, &short).expect("is over earlier");
        assert!(fault.contains("is over at ply 3 by ply_cap"), "{fault}");
    }

    #[test]
    fn a_game_from_outside_may_be_resigned_by_either_player_but_not_against_a_mate() {
        let (mut row, mut positions) = mate();
        assert_eq!(outside_game_fault(&row, &positions), None);
        row.result = GameResult::WhiteWins;
        let fault = outside_game_fault(&row, &positions).expect("is mate");
        assert_eq!(fault, "it is stored as 1-0, but its moves end in 0-1 by checkmate");
        // White has moved last, and Black resigns.
        row.moves.truncate(3);
        row.reason = Ending::Adjudicated(Adjudication::Resignation);
        positions.truncate(3);
        for position in &mut positions {
            position.result = if position.ply.is_multiple_of(2) { 1 } else { -1 };
        }
        assert!(self_play_fault(&row, &positions, &RULES).is_some());
        assert_eq!(outside_game_fault(&row, &positions), None);
        positions[1].legal += 1;
        assert!(outside_game_fault(&row, &positions).expect("is wrong").starts_with("ply 1: `legal` is "));
    }

    #[test]
    fn a_match_game_and_a_line_are_replayed() {
        let row = MatchGameRow {
            game: 0,
            pair: 0,
            first: "a".to_owned(),
            second: "b".to_owned(),
            first_is_white: true,
            start_fen: Position::initial().fen(),
            moves: packed(&MATE),
            opening_plies: 0,
            plies: 4,
            scores: Scores(vec![f32::NAN; 4]),
            depths: vec![0; 4],
            seconds: Vec::new(),
            score: 0.0,
            result: GameResult::BlackWins,
            reason: Reason::Checkmate.into(),
            detail: String::new(),
        };
        assert_eq!(match_fault(&row, &RULES), None);
        let other = MatchGameRow { result: GameResult::WhiteWins, ..row.clone() };
        assert!(match_fault(&other, &RULES).is_some());
        // After three plies Black is to move, and the game is not over.
        let ended = |moves: usize, reason, result| {
            let row = MatchGameRow { moves: packed(&MATE[..moves]), reason, result, ..row.clone() };
            match_fault(&row, &RULES)
        };
        let (crash, draw) = (Ending::Forfeit(Fault::Crash), Ending::Adjudicated(Adjudication::AgreedDraw));
        assert_eq!(ended(3, crash, GameResult::WhiteWins), None);
        assert_eq!(ended(3, draw, GameResult::Draw), None);
        let fault = ended(3, crash, GameResult::BlackWins).expect("the loser is wrong");
        assert!(fault.contains("0-1 by crash, but that loses for Black"), "{fault}");
        let fault = ended(3, draw, GameResult::WhiteWins).expect("nobody wins by agreement");
        assert!(fault.contains("1-0 by agreed_draw, but that is a draw"), "{fault}");
        let fault = ended(4, draw, GameResult::Draw).expect("it is over");
        assert!(fault.contains("ended by agreed_draw, but its moves end in 0-1 by checkmate"), "{fault}");
        let game = Game::from_packed(&Position::initial().fen(), &packed(&MATE[..1])).expect("a game");
        let line = LineRow {
            search: 0,
            line: 1,
            start_fen: Position::initial().fen(),
            moves: packed(&MATE[..1]),
            fen: game.position().fen(),
            simulations: 9,
            played: packed(&MATE)[1],
            visits: 3,
            prior: 0.5,
            q: 0.0,
            proof: "none".to_owned(),
            pv: packed(&MATE[1..]),
        };
        assert_eq!(line_fault(&line), None);
        let illegal = LineRow { pv: packed(&["e7e5", "e2e5"]), ..line.clone() };
        assert!(line_fault(&illegal).expect("is wrong").contains("move 2 of `pv`, e2e5, is not legal"));
        let other = LineRow { fen: Position::initial().fen(), ..line };
        assert!(line_fault(&other).expect("is wrong").contains("`fen` is "));
    }

    #[test]
    fn every_move_of_a_tree_is_checked() {
        let row = |row: u32, parent: u32, node: u32, depth: u16, played: u16| TreeRow {
            search: 0,
            row,
            parent,
            node,
            depth,
            played,
            visits: 1,
            node_visits: 1,
            value_sum: 0.0,
            square_sum: 0.0,
            draw_sum: 0.0,
            q: 0.0,
            win: 0.0,
            draw: 0.0,
            loss: 0.0,
            prior: 0.0,
            net_q: 0.0,
            net_d: 0.0,
            moves_left: TreeRow::UNKNOWN,
            moves_left_sum: TreeRow::UNKNOWN.into(),
            net_moves_left: TreeRow::UNKNOWN,
            proof: "none".to_owned(),
        };
        let moves = packed(&["e2e4", "e7e5", "e7e4"]);
        let root = Position::initial();
        let rows = [row(0, 0, 0, 0, 0), row(1, 0, 1, 1, moves[0]), row(2, 1, 2, 2, moves[1])];
        assert_eq!(tree_fault(&root, &rows), None);
        let illegal = [rows[0].clone(), rows[1].clone(), row(2, 1, 2, 2, moves[2])];
        assert_eq!(tree_fault(&root, &illegal).as_deref(), Some("row 2: its move e7e4 is not legal"));
        let unknown = [rows[0].clone(), row(1, 5, 1, 1, moves[0])];
        assert!(tree_fault(&root, &unknown).expect("is wrong").contains("`parent` is 5"));
    }

    #[test]
    fn attempts_at_puzzles_have_legal_moves() {
        let moves = packed(&["e2e4", "e7e5"]);
        let row = PuzzleRow {
            puzzle: 0,
            simulations: 1,
            id: "a".to_owned(),
            fen: Position::initial().fen(),
            right: vec![moves[0]],
            played: moves[0],
            solved: true,
            solved_from: 1,
            policy_solved: false,
            prior: 0.05,
            q: 0.0,
            proof: "none".to_owned(),
        };
        assert_eq!(puzzle_fault(&row), None);
        let illegal = PuzzleRow { right: moves.clone(), ..row.clone() };
        assert!(puzzle_fault(&illegal).expect("is wrong").starts_with("e7e5 is not legal in rnbqkbnr/"));
        let no_position = PuzzleRow { fen: "x".to_owned(), ..row };
        assert!(puzzle_fault(&no_position).is_some());
    }

    #[test]
    fn answers_to_puzzles_have_legal_moves_or_none() {
        let moves = packed(&["e2e4", "e7e5"]);
        let row = AnswerRow {
            puzzle: 0,
            player: "greedy".to_owned(),
            id: "a".to_owned(),
            fen: Position::initial().fen(),
            right: vec![moves[0]],
            played: AnswerRow::NO_MOVE,
            solved: false,
            score: f32::NAN,
            depth: 0,
            nodes: 0.0,
            milliseconds: f32::NAN,
            reason: "crash".to_owned(),
            detail: "it ended".to_owned(),
        };
        assert_eq!((answer_fault(&row), row.fault()), (None, None));
        let played =
            AnswerRow { played: moves[1], reason: String::new(), detail: String::new(), ..row.clone() };
        assert!(answer_fault(&played).expect("is wrong").starts_with("e7e5 is not legal in rnbqkbnr/"));
        assert_eq!(played.fault(), None);
        let wrong = |change: fn(&mut AnswerRow)| {
            let mut row = row.clone();
            change(&mut row);
            row.fault().expect("is wrong")
        };
        assert!(wrong(|row| row.solved = true).contains("does not fit `right` and `played`"));
        assert!(wrong(|row| row.reason.clear()).contains("have to say why there is no move"));
        assert!(wrong(|row| row.played = 0x0c1).contains("have to be empty, because there is a move"));
        assert!(
            wrong(|row| row.reason = "boredom".to_owned())
                .contains("`reason` is \"boredom\", expected one of")
        );
        assert!(wrong(|row| row.nodes = -1.0).contains("`nodes` is -1"));
        assert!(wrong(|row| row.milliseconds = -1.0).contains("`milliseconds` is -1"));
    }
}
