//! Where games of self-play start.

use rand::RngExt;

use super::params::SelfPlayParams;
use super::records::GameRow;
use crate::board::{Game, GameTextError, Rules, random_moves};
use crate::book::Book;
use crate::rng::{Purpose, Seed, Stream};

/// Positions of an archive that are tried for a game.
const ATTEMPTS: u32 = 100;

/// What games start from besides the initial position.
#[derive(Debug, Clone, Default)]
pub struct Openings {
    /// The book of `openings`.
    pub book: Option<Book>,
    /// The games of `archive_share`.
    pub archive: Archive,
}

/// Positions of earlier games. A game that starts from one explores what follows it, as often as the games before it came there
/// (Go-Exploit: Trudeau and Bowling 2023, "Targeted search control in `AlphaZero` for effective policy improvement").
#[derive(Debug, Clone, Default)]
pub struct Archive {
    games: Vec<ArchivedGame>,
    /// The positions of the games up to each, itself included.
    ends: Vec<u64>,
}

#[derive(Debug, Clone)]
struct ArchivedGame {
    start_fen: String,
    moves: Vec<u16>,
    /// The ply of the first position that a player saw.
    first: usize,
}

impl Archive {
    /// Adds the positions of games in which a move was searched, or played in an import.
    pub fn add(&mut self, rows: &[GameRow]) {
        for row in rows {
            let first = usize::from(row.opening_plies);
            let positions = row.moves.len().saturating_sub(first) as u64;
            if positions > 0 {
                self.ends.push(self.len() + positions);
                self.games.push(ArchivedGame {
                    start_fen: row.start_fen.clone(),
                    moves: row.moves.clone(),
                    first,
                });
            }
        }
    }

    /// The number of positions.
    pub fn len(&self) -> u64 {
        self.ends.last().copied().unwrap_or(0)
    }

    /// Whether it has no positions.
    pub fn is_empty(&self) -> bool {
        self.games.is_empty()
    }

    /// A position, each as likely as any other, without its history. There must be one. Games of others go on where the rules end
    /// them; if none of many positions can be played, the game starts from the initial one.
    fn draw(&self, rules: &Rules, stream: &mut Stream) -> Result<Game, GameTextError> {
        for _ in 0..ATTEMPTS {
            let game = self.position(stream)?;
            if game.outcome(rules).is_none() {
                return Ok(game);
            }
        }
        Ok(Game::initial())
    }

    fn position(&self, stream: &mut Stream) -> Result<Game, GameTextError> {
        let number = stream.random_range(0..self.len());
        let index = self.ends.partition_point(|end| *end <= number);
        let before = index.checked_sub(1).map_or(0, |before| self.ends[before]);
        let game = &self.games[index];
        let ply = game.first + (number - before) as usize;
        let played = Game::from_packed(&game.start_fen, &game.moves[..ply])?;
        Ok(Game::from_position(played.position().clone()))
    }
}

impl Openings {
    /// Whether a game's start and opening are those that its seed gives it; where openings are drawn until one is even, those of any draw.
    /// A stored game that cannot be replayed is an error.
    pub fn allow(&self, params: &SelfPlayParams, seed: Seed, row: &GameRow) -> Result<bool, GameTextError> {
        let mut starts = self.starts(params, seed, row.game)?;
        let draws = if params.max_opening_value.is_some() { DRAWS } else { 1 };
        Ok((0..draws).any(|_| {
            let start = starts.next(params);
            usize::from(row.opening_plies) == start.ply()
                && row.start_fen == start.start().fen()
                && row.moves.len() >= start.ply()
                && start.moves().iter().zip(&row.moves).all(|(mv, packed)| mv.packed() == *packed)
        }))
    }

    /// The start of a game, after its random moves. A stored game that cannot be replayed is an error.
    pub(super) fn start(
        &self,
        params: &SelfPlayParams,
        seed: Seed,
        number: u32,
    ) -> Result<Game, GameTextError> {
        Ok(self.starts(params, seed, number)?.next(params))
    }

    /// The starts of a game, of which the first one is [`start`](Self::start); they differ by their random moves.
    pub(super) fn starts(
        &self,
        params: &SelfPlayParams,
        seed: Seed,
        number: u32,
    ) -> Result<Starts, GameTextError> {
        let stream = |purpose| seed.stream(number.into(), purpose);
        let mut source = stream(Purpose::Start);
        let mut drawn = || source.random::<f64>();
        let is_archived = drawn() < params.archive_share && !self.archive.is_empty();
        let is_from_book = drawn() < params.openings.as_ref().map_or(0.0, |openings| openings.share);
        let first = match &self.book {
            _ if is_archived => self.archive.draw(&params.rules(), &mut source)?,
            Some(book) if is_from_book => book.opening(seed, number.into()),
            _ => Game::initial(),
        };
        Ok(Starts { first, moves: stream(Purpose::Opening) })
    }
}

/// How often the random moves of a game are drawn, before the most even ones are taken.
pub(super) const DRAWS: u32 = 100;

/// The starts of a game, one after the other.
pub(super) struct Starts {
    /// Before the random moves.
    first: Game,
    moves: Stream,
}

impl Starts {
    /// The next one.
    pub(super) fn next(&mut self, params: &SelfPlayParams) -> Game {
        random_moves(&self.first, params.opening_plies, &params.rules(), &mut self.moves)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::{Archive, Openings};
    use crate::board::{Ending, Game, GameResult, Move, Reason};
    use crate::book::Book;
    use crate::rng::Seed;
    use crate::selfplay::{GameRow, SelfPlayParams, StartParams};

    const SEED: Seed = Seed { run: 1, step: 2 };
    const KINGS: &str = "4k3/8/8/8/8/8/R7/4K3 w - - 3 40";

    fn row(start_fen: &str, moves: &str, opening_plies: u16) -> GameRow {
        let packed = |text: &str| Move::from_uci(text).expect("a move").packed();
        GameRow {
            game: 0,
            network: String::new(),
            start_fen: start_fen.to_owned(),
            moves: moves.split_whitespace().map(packed).collect(),
            opening_plies,
            result: GameResult::won_by(None),
            reason: Ending::Rules(Reason::PlyCap),
        }
    }

    #[test]
    fn every_position_of_an_archive_is_as_likely_as_any_other() {
        let mut archive = Archive::default();
        let initial = Game::initial().position().fen();
        archive.add(&[row(&initial, "e2e4 e7e5 g1f3", 1), row(KINGS, "a2a8", 0), row(&initial, "e2e4", 1)]);
        archive.add(&[]);
        assert_eq!(archive.len(), 3);
        let params = SelfPlayParams { archive_share: 0.5, ..SelfPlayParams::default() };
        let openings = Openings { book: None, archive };
        let mut starts: BTreeMap<String, u32> = BTreeMap::new();
        for number in 0..6000 {
            let game = openings.start(&params, SEED, number).expect("sound games");
            assert_eq!(game.ply(), 0, "the history is not kept");
            *starts.entry(game.position().fen()).or_default() += 1;
        }
        let expected = [
            (initial, 3000),
            (KINGS.to_owned(), 1000),
            ("rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1".to_owned(), 1000),
            ("rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2".to_owned(), 1000),
        ];
        assert_eq!(starts.len(), expected.len());
        for (fen, count) in expected {
            // Six standard deviations of a binomial count.
            assert!(starts[&fen].abs_diff(count) < 240, "{fen}: {}", starts[&fen]);
        }
    }

    #[test]
    fn games_start_as_usual_while_the_archive_is_empty() {
        let params = SelfPlayParams { archive_share: 1.0, ..SelfPlayParams::default() };
        let start = Openings::default().start(&params, SEED, 0).expect("a start");
        assert_eq!(start.start(), Game::initial().start());
    }

    #[test]
    fn archived_games_that_the_rules_ended_or_forbid_are_not_played() {
        let params = SelfPlayParams { archive_share: 1.0, ..SelfPlayParams::default() };
        let starts = |rows: &[GameRow]| {
            let mut archive = Archive::default();
            archive.add(rows);
            let openings = Openings { book: None, archive };
            (0..20).map(|number| openings.start(&params, SEED, number)).collect::<Vec<_>>()
        };
        let illegal = row(KINGS, "a2b3 a2a3", 0);
        assert!(starts(&[illegal]).iter().any(Result::is_err));
        let drawn = row("4k3/8/8/8/8/8/R7/4K3 w - - 100 90", "a2a3", 0);
        let all = starts(&[drawn]);
        assert!(all.iter().flatten().all(|game| game.position() == Game::initial().position()));
        assert_eq!(all.len(), 20);
    }

    #[test]
    fn openings_of_a_book_come_before_random_moves() {
        let pgn = "1. e4 e5 *\n\n1. d4 d5 *\n";
        let book = Book::read("b.pgn", pgn.as_bytes(), None).expect("a book");
        let openings = Openings { book: Some(book), archive: Archive::default() };
        let source = StartParams { file: "b.pgn".to_owned(), share: 0.75, ..StartParams::default() };
        let params = SelfPlayParams { openings: Some(source), opening_plies: 3, ..SelfPlayParams::default() };
        let mut counts: BTreeMap<String, u32> = BTreeMap::new();
        for number in 0..2000 {
            let game = openings.start(&params, SEED, number).expect("legal games");
            let from_book = game.ply() == 5;
            assert!(from_book || game.ply() == 3, "{}", game.to_text());
            let first = if from_book { game.moves()[0].to_string() } else { "none".to_owned() };
            *counts.entry(first).or_default() += 1;
        }
        assert!(counts["none"].abs_diff(500) < 120, "{counts:?}");
        assert!(counts["e2e4"].abs_diff(counts["d2d4"]) < 240, "{counts:?}");
    }
}
