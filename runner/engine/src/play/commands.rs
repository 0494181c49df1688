//! What the player typed: a command, or a move.

use dc0_core::params::nearest;

/// Something to do other than a move.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Command {
    Help,
    Hint,
    Undo,
    Moves,
    Board,
    Eval,
    Flip,
    Fen,
    Pgn,
    Resign,
    Draw,
    Go,
    Switch,
    New,
    Quit,
}

/// A line of input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Typed {
    Nothing,
    Command(Command),
    /// Perhaps a move.
    Text(String),
}

/// Every command with its names and what it does.
const COMMANDS: [(Command, &[&str], &str); 15] = [
    (Command::Hint, &["hint"], "the best moves for you"),
    (Command::Eval, &["eval"], "the chances in this position, without the moves"),
    (Command::Undo, &["undo", "takeback", "u"], "take back your last move and the answer"),
    (Command::Go, &["go"], "dc0 makes this move for you"),
    (Command::Switch, &["switch"], "change sides; dc0 moves"),
    (Command::Draw, &["draw"], "offer a draw; dc0 agrees unless it thinks that it is better"),
    (Command::Resign, &["resign"], "give up"),
    (Command::New, &["new"], "start a new game"),
    (Command::Moves, &["moves"], "all legal moves"),
    (Command::Board, &["board"], "show the board again"),
    (Command::Flip, &["flip"], "turn the board"),
    (Command::Fen, &["fen"], "the position as text"),
    (Command::Pgn, &["pgn"], "the game as text"),
    (Command::Help, &["help", "h", "?"], "this list"),
    (Command::Quit, &["quit", "exit", "q"], "leave; Ctrl-D does the same"),
];

/// Parses a line.
pub(super) fn typed(line: &str) -> Typed {
    let line = line.trim();
    let lower = line.to_ascii_lowercase();
    let found = COMMANDS.iter().find(|(_, names, _)| names.contains(&lower.as_str()));
    match found {
        _ if line.is_empty() => Typed::Nothing,
        Some((command, ..)) => Typed::Command(*command),
        None => Typed::Text(line.to_owned()),
    }
}

/// Advice after text that is neither a move nor a command: the nearest command, or the list.
pub(super) fn advice(text: &str) -> String {
    let names = COMMANDS.iter().flat_map(|(_, names, _)| names.iter().copied());
    let lower = text.to_ascii_lowercase();
    let first = lower.split_whitespace().next().unwrap_or_default();
    match nearest(first, names.filter(|name| name.len() > 1)) {
        Some(name) if name == first => format!("\"{name}\" stands alone"),
        Some(name) => format!("did you mean \"{name}\"? \"help\" lists the commands"),
        None => "\"help\" lists the commands".to_owned(),
    }
}

/// The list of commands.
pub(super) fn help() -> String {
    let line = |(_, names, does): &(Command, &[&str], &str)| format!("  {:<18}{does}\n", names.join(", "));
    let commands: String = COMMANDS.iter().map(line).collect();
    format!(
        "A move, such as e4, Nf3, exd5, O-O, e8=Q, or e2e4 and e7e8q; or\n{}",
        commands.trim_end_matches('\n')
    )
}

#[cfg(test)]
mod tests {
    use super::{Command, Typed, advice, help, typed};

    #[test]
    fn commands_are_case_insensitive_and_other_text_may_be_a_move() {
        assert_eq!(typed(" Undo "), Typed::Command(Command::Undo));
        assert_eq!(typed("takeback"), Typed::Command(Command::Undo));
        assert_eq!(typed("\t"), Typed::Nothing);
        for text in ["b4", "e8=Q", "hint 3"] {
            assert_eq!(typed(text), Typed::Text(text.to_owned()));
        }
    }

    #[test]
    fn the_nearest_command_is_suggested() {
        assert_eq!(advice("hitn"), "did you mean \"hint\"? \"help\" lists the commands");
        assert_eq!(advice("hint 3"), "\"hint\" stands alone");
        assert_eq!(advice("12345"), "\"help\" lists the commands");
    }

    #[test]
    fn help_names_every_command_within_eighty_columns() {
        assert_eq!(help().lines().count(), 16);
        assert!(help().lines().all(|line| line.len() < 80), "{}", help());
    }
}
