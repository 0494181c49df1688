//! Books of openings: the positions that games start from.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::{Arc, Mutex};

use rand::seq::SliceRandom;

use crate::board::{
    CHESS960_STARTS, ENDGAMES, Game, Position, Rules, TextFileError, TextProblem, read_epd, read_pgn,
};
use crate::durable;
use crate::params;
use crate::poison::IgnorePoison as _;
use crate::rng::{Purpose, Seed};

/// Openings are judged by the rules of chess alone; a match has its own largest length.
const RULES: Rules = Rules { max_plies: u32::MAX };

params! {
    /// A book of openings for a match, dealt in random order.
    pub struct BookParams {
        /// A file of positions (`.epd`, `.fen`) or of games (`.pgn`); or `chess960` for the 960 start positions of Chess960, or
        /// `double-chess960` for those in which each side has pieces of its own; or `endgames` for 10,000 random endings of few pieces.
        file: String = String::new();
        /// The most plies that are taken from each game of a `.pgn`, without those that are over within them; () for all.
        plies: Option<u32> = None, in 1..=1000;
        /// Whether openings are dealt again once all were. Players that always play the same then repeat their games.
        repeat: bool = false;
        /// Openings that are skipped, in an order that is the same in all matches of a run with a number here: a match goes on in the book
        /// where others ended. Without a number each match has an order of its own.
        skip: Option<u32> = None;
    }
    check |params| {
        file_problem(&params.file, params.plies).into_iter().collect()
    };
    shorthand file;
}

/// What is wrong with a book's `file`, if it is not given, or with its `plies`, if its openings have no moves.
pub(crate) fn file_problem(file: &str, plies: Option<u32>) -> Option<(&'static str, String)> {
    let missing = "is missing; expected a file that ends in .epd, .fen or .pgn, or chess960, double-chess960 or endgames";
    let of_games = "has no effect with a book of positions, only with one of games (.pgn); leave it out";
    match plies {
        _ if file.is_empty() => Some(("file", missing.to_owned())),
        Some(_) if ending(file) != "pgn" => Some(("plies", of_games.to_owned())),
        _ => None,
    }
}

/// The ending of a file's name, in lower case; empty if it has none.
fn ending(file: &str) -> String {
    file.rsplit_once('.').map_or("", |(_, ending)| ending).to_ascii_lowercase()
}

/// Openings, each of another position: those of a file, all start positions of Chess960, or random endings.
#[derive(Debug, Clone)]
pub struct Book {
    openings: Openings,
    duplicates: Vec<Duplicate>,
    finished: Vec<usize>,
    digest: String,
    /// The orders of the round that an opening was taken from last; to shuffle a large book again for each game takes long.
    last: Arc<Mutex<Option<Round>>>,
}

/// A pass through a book.
#[derive(Debug)]
struct Round {
    seed: Seed,
    number: u64,
    orders: Orders,
}

/// Indices in random order: of the openings, or of the starts of White and of Black.
type Orders = Arc<[Vec<u32>; 2]>;

#[derive(Debug, Clone)]
enum Openings {
    Listed(Vec<Game>),
    Chess960,
    DoubleChess960,
    Endgames,
}

/// An opening whose position an earlier one has, and which is left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Duplicate {
    /// Its line.
    pub line: usize,
    /// The line of the earlier one.
    pub first: usize,
}

impl Book {
    /// The book that a name stands for where a file is expected: `chess960`, `double-chess960` or `endgames`.
    pub fn named(name: &str) -> Option<Self> {
        let openings = match name {
            "chess960" => Openings::Chess960,
            "double-chess960" => Openings::DoubleChess960,
            "endgames" => Openings::Endgames,
            _ => return None,
        };
        Some(Self::new(openings, name))
    }

    /// Reads a book from a file's content: EPD or FEN if its name ends in `.epd` or `.fen`, or the games of a `.pgn` up to `plies`
    /// each, without those that are over within them. Openings from EPD have no history; those from PGN keep their moves.
    pub fn read(file: &str, content: &[u8], plies: Option<usize>) -> Result<Self, TextFileError> {
        let read: Vec<(usize, Game)> = match ending(file).as_str() {
            "epd" | "fen" => {
                let positions = read_epd(file, content)?;
                positions.into_iter().map(|(line, epd)| (line, Game::from_position(epd.position))).collect()
            }
            "pgn" => {
                let games = read_pgn(file, content, plies)?;
                games.into_iter().map(|read| (read.line, read.game)).collect()
            }
            _ => {
                let cause = "is not a book by its name; expected a name that ends in .epd, .fen or .pgn, or chess960, double-chess960 or endgames";
                return Err(TextFileError::of_file(file, cause));
            }
        };
        let (mut openings, mut finished, mut problems) = (Vec::new(), Vec::new(), Vec::new());
        for (line, opening) in read {
            match over(&opening) {
                None => openings.push((line, opening)),
                Some((ply, _)) if ply > 0 && plies.is_some() => finished.push(line),
                Some((_, message)) => problems.push(TextProblem { line, message }),
            }
        }
        TextFileError::check(file, problems)?;
        if let Some(plies) = plies.filter(|_| openings.is_empty()) {
            let cause = format!("has only games that are over within {plies} plies; expected fewer plies");
            return Err(TextFileError::of_file(file, &cause));
        }
        Ok(Self { finished, ..Self::of(openings) })
    }

    /// Keeps the first opening of each position. There is at least one.
    fn of(openings: Vec<(usize, Game)>) -> Self {
        let (mut lines, mut kept, mut duplicates) = (HashMap::new(), Vec::new(), Vec::new());
        for (line, opening) in openings {
            match lines.entry(opening.position().epd_fields()) {
                Entry::Vacant(entry) => {
                    entry.insert(line);
                    kept.push(opening);
                }
                Entry::Occupied(entry) => duplicates.push(Duplicate { line, first: *entry.get() }),
            }
        }
        let texts: Vec<String> = kept.iter().map(Game::to_text).collect();
        Self { duplicates, ..Self::new(Openings::Listed(kept), &texts.join("\n")) }
    }

    fn new(openings: Openings, text: &str) -> Self {
        let digest = durable::digest(text.as_bytes());
        Self { openings, duplicates: Vec::new(), finished: Vec::new(), digest, last: Arc::default() }
    }

    /// The number of openings, at least 1.
    #[expect(clippy::len_without_is_empty, reason = "a book has an opening")]
    pub fn len(&self) -> usize {
        let starts = usize::from(CHESS960_STARTS);
        match &self.openings {
            Openings::Listed(games) => games.len(),
            Openings::Chess960 => starts,
            Openings::DoubleChess960 => starts * starts,
            Openings::Endgames => ENDGAMES as usize,
        }
    }

    /// The plies of the longest opening.
    pub fn longest(&self) -> usize {
        match &self.openings {
            Openings::Listed(games) => games.iter().map(Game::ply).max().unwrap_or(0),
            Openings::Chess960 | Openings::DoubleChess960 | Openings::Endgames => 0,
        }
    }

    /// The openings that were left out because an earlier one has the same position, whatever its clocks.
    pub fn duplicates(&self) -> &[Duplicate] {
        &self.duplicates
    }

    /// The lines of the games that were left out because they are over within the plies that are taken.
    pub fn finished(&self) -> &[usize] {
        &self.finished
    }

    /// The digest of all openings: their starts and their moves. Comments and what is left out do not change it.
    pub fn digest(&self) -> &str {
        &self.digest
    }

    /// The opening of a pair of games, or of a game. They get the openings in random order, and each opening once before any is used
    /// again, then in another order.
    pub fn opening(&self, seed: Seed, number: u64) -> Game {
        let count = self.len() as u64;
        let (round, number) = (number / count, (number % count) as usize);
        let orders = self.orders(seed, round);
        let [first, second] = &*orders;
        match &self.openings {
            Openings::Listed(games) => games[first[number] as usize].clone(),
            Openings::Chess960 => start(first[number], first[number]),
            Openings::DoubleChess960 => {
                // Each row of pieces of a side meets the others in turn, so that each pair comes once.
                let starts = usize::from(CHESS960_STARTS);
                start(first[number % starts], second[(number + number / starts) % starts])
            }
            Openings::Endgames => {
                let position = Position::endgame(first[number]);
                Game::from_position(position.expect("there is an ending for each number"))
            }
        }
    }

    fn orders(&self, seed: Seed, number: u64) -> Orders {
        let mut last = self.last.lock().ignore_poison();
        if let Some(round) = last.as_ref().filter(|round| (round.seed, round.number) == (seed, number)) {
            return Arc::clone(&round.orders);
        }
        let starts = usize::from(CHESS960_STARTS);
        let is_double = matches!(self.openings, Openings::DoubleChess960);
        let counts = if is_double { [starts, starts] } else { [self.len(), 0] };
        let mut stream = seed.stream(number, Purpose::Book);
        let orders = counts.map(|count| {
            let mut order: Vec<u32> = (0..count as u32).collect();
            order.shuffle(&mut stream);
            order
        });
        let orders = Arc::new(orders);
        *last = Some(Round { seed, number, orders: Arc::clone(&orders) });
        orders
    }
}

/// The start of Chess960 with two rows of pieces.
fn start(white: u32, black: u32) -> Game {
    let position = Position::chess960(white as u16, black as u16);
    Game::from_position(position.expect("there is a start for each number"))
}

/// After how many plies an opening is over, and why, if it is.
fn over(opening: &Game) -> Option<(usize, String)> {
    let mut game = Game::from_position(opening.start().clone());
    let mut rest = opening.moves().iter();
    loop {
        if let Some(outcome) = game.outcome(&RULES) {
            let (ply, reason, fen) = (game.ply(), outcome.reason.name(), game.position().fen());
            let message = match ply {
                0 => format!(
                    "the game is over there ({reason}); expected a position that can be played: {fen}"
                ),
                _ => format!(
                    "the game is over after ply {ply} ({reason}); take fewer plies of it or leave it out by \
                     `openings: #{{ file, plies }}` of a script, or delete the game: {fen}"
                ),
            };
            return Some((ply, message));
        }
        game.play_unchecked(*rest.next()?);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::{Book, Duplicate};
    use crate::board::Game;
    use crate::rng::Seed;

    const KINGS: &str = "4k3/8/8/8/8/8/R7/4K3 w - -";

    fn epd(lines: &[&str]) -> Book {
        Book::read("a.epd", lines.join("\n").as_bytes(), None).unwrap_or_else(|error| panic!("{error}"))
    }

    /// A book of up to 256 positions, which differ by White's pawns.
    fn large(count: usize) -> Book {
        let position = |number: usize| {
            let pawns: String = (0..8).map(|file| if number >> file & 1 == 1 { 'P' } else { '1' }).collect();
            format!("4k3/8/8/8/8/8/{pawns}/4K2R w - -")
        };
        let lines: Vec<String> = (0..count).map(position).collect();
        epd(&lines.iter().map(String::as_str).collect::<Vec<_>>())
    }

    #[test]
    fn each_opening_is_used_once_before_any_is_used_again() {
        let book = large(100);
        assert_eq!(book.len(), 100);
        let seed = Seed { run: 1, step: 2 };
        let round = |seed: Seed, round: u64| -> Vec<String> {
            (0..100).map(|pair| book.opening(seed, round * 100 + pair).to_text()).collect()
        };
        let orders = [round(seed, 0), round(seed, 1), round(Seed { run: 2, step: 2 }, 0)];
        for order in &orders {
            assert_eq!(order.iter().collect::<HashSet<_>>().len(), 100);
        }
        assert!(orders[0] != orders[1] && orders[0] != orders[2]);
        assert_eq!(round(seed, 0), orders[0]);
        // Whatever was taken before.
        let mixed = [7, 107, 8].map(|number| book.opening(seed, number).to_text());
        assert_eq!(mixed, [&orders[0][7], &orders[1][7], &orders[0][8]].map(Clone::clone));
        let mut sorted = orders[0].clone();
        sorted.sort_unstable();
        assert_ne!(sorted, orders[0]);
    }

    #[test]
    fn games_keep_their_moves_and_positions_have_none() {
        let pgn = "1. Nf3 Nf6 2. Ng1 Ng8 3. e4 *\n\n1. d4 d5 1-0\n";
        let book = Book::read("b.PGN", pgn.as_bytes(), Some(4)).expect("a book");
        let seed = Seed { run: 1, step: 1 };
        let mut openings = [0, 1].map(|number| book.opening(seed, number));
        openings.sort_by_key(Game::ply);
        assert!(openings.iter().all(|game| game.start().is_initial()));
        assert_eq!(openings.map(|game| (game.ply(), game.repetitions())), [(2, 0), (4, 1)]);
        assert_eq!((book.len(), book.longest()), (2, 4));
        let book = epd(&[KINGS]);
        assert_eq!(book.opening(Seed { run: 1, step: 1 }, 7).to_text(), format!("{KINGS} 0 1"));
    }

    #[test]
    fn endgames_are_used_once_each_and_have_no_moves() {
        let book = Book::named("endgames").expect("a name");
        assert_eq!((book.len(), book.longest()), (10_000, 0));
        let seed = Seed { run: 1, step: 2 };
        let first: HashSet<String> = (0..200).map(|number| book.opening(seed, number).to_text()).collect();
        assert_eq!(first.len(), 200);
        assert_eq!(
            book.opening(seed, 0).to_text(),
            Book::named("endgames").expect("a name").opening(seed, 0).to_text()
        );
        assert_ne!(book.digest(), Book::named("chess960").expect("a name").digest());
    }

    #[test]
    fn books_of_chess960_have_every_start_once() {
        let seed = Seed { run: 1, step: 2 };
        let starts = |name: &str, numbers: std::ops::Range<u64>| -> Vec<String> {
            let book = Book::named(name).expect("a book");
            numbers.map(|number| book.opening(seed, number).to_text()).collect()
        };
        let single = starts("chess960", 0..960);
        assert_eq!(single.iter().collect::<HashSet<_>>().len(), 960);
        let rows = |fen: &str| {
            let fields: Vec<&str> = fen.split(['/', ' ']).collect();
            (fields[7].to_owned(), fields[0].to_ascii_uppercase())
        };
        assert!(single.iter().map(|fen| rows(fen)).all(|(white, black)| white == black));
        assert_ne!(single, starts("chess960", 960..1920));
        let double: Vec<_> = starts("double-chess960", 0..1920).iter().map(|fen| rows(fen)).collect();
        assert_eq!(double.iter().collect::<HashSet<_>>().len(), 1920);
        for half in double.chunks(960) {
            assert_eq!(half.iter().map(|(white, _)| white).collect::<HashSet<_>>().len(), 960);
            assert_eq!(half.iter().map(|(_, black)| black).collect::<HashSet<_>>().len(), 960);
        }
        let digests = ["chess960", "double-chess960"].map(|name| Book::named(name).expect("a book").digest);
        assert_ne!(digests[0], digests[1]);
        assert!(Book::named("chess").is_none());
    }

    #[test]
    fn duplicates_are_left_out_and_reported() {
        let other = "4k3/8/8/8/8/8/R7/4K3 b - -";
        let book = epd(&[KINGS, "# comment", other, &format!("{KINGS} hmvc 3;")]);
        assert_eq!((book.len(), book.duplicates()), (2, &[Duplicate { line: 4, first: 1 }][..]));
        assert_eq!(book.digest(), epd(&[KINGS, &format!("{other} id \"x\";")]).digest());
        assert_ne!(book.digest(), epd(&[other, KINGS]).digest());
        // Two move orders of one position.
        let pgn = "1. e4 e5 2. d3 * 1. d3 e5 2. e4 *\n";
        let book = Book::read("b.pgn", pgn.as_bytes(), None).expect("a book");
        assert_eq!((book.len(), book.duplicates()), (1, &[Duplicate { line: 1, first: 1 }][..]));
    }

    #[test]
    fn games_that_are_over_within_the_plies_are_left_out_and_reported() {
        let pgn = "1. f3 e5 2. g4 Qh4# 0-1\n\n1. e4 e5 2. d4 d5 3. a3 *\n\n1. Nf3 Nf6 1/2-1/2\n";
        let book = |plies| Book::read("b.pgn", pgn.as_bytes(), Some(plies));
        let (short, long) = (book(3).expect("a book"), book(4).expect("a book"));
        assert_eq!((short.len(), short.finished()), (3, &[][..]));
        assert_eq!((long.len(), long.longest(), long.finished()), (2, 4, &[1][..]));
        let without = pgn.split_once("\n\n").expect("several games").1;
        assert_eq!(long.digest(), Book::read("b.pgn", without.as_bytes(), Some(4)).expect("a book").digest());
        let none = Book::read("b.pgn", b"1. f3 e5 2. g4 Qh4# 0-1\n", Some(9)).unwrap_err().to_string();
        assert!(none.contains("has only games that are over within 9 plies; expected fewer plies"), "{none}");
    }

    #[test]
    fn positions_whose_game_is_over_are_refused() {
        let error = |file: &str, text: &str| Book::read(file, text.as_bytes(), None).unwrap_err().to_string();
        let lines =
            format!("{KINGS}\n4k3/8/8/8/8/8/8/4K3 w - -\n{KINGS} hmvc 100;\n7k/5Q2/6K1/8/8/8/8/8 b - -\n");
        let found = error("a.epd", &lines);
        assert!(
            found.starts_with("a.epd: 3 problems\n  line 2: the game is over there (insufficient_material)"),
            "{found}"
        );
        assert!(found.contains("line 3: the game is over there (fifty_moves)"), "{found}");
        assert!(found.contains("line 4: the game is over there (stalemate)"), "{found}");
        let found = error("a.pgn", "1. e4 *\n\n1. f3 e5 2. g4 Qh4# 0-1\n");
        assert!(
            found.contains("line 3: the game is over after ply 4 (checkmate); take fewer plies"),
            "{found}"
        );
        assert!(
            found.contains("by `openings: #{ file, plies }` of a script, or delete the game: "),
            "{found}"
        );
        assert!(Book::read("a.pgn", b"1. f3 e5 2. g4 Qh4# 0-1\n", Some(3)).is_ok());
        let finished =
            Book::read("a.pgn", format!("[FEN \"{KINGS} 100 90\"]\n\n1. Ra3 *\n").as_bytes(), Some(1));
        let found = finished.unwrap_err().to_string();
        assert!(found.contains("line 1: the game is over there (fifty_moves)"), "{found}");
        assert!(error("a.txt", "").contains("expected a name that ends in .epd, .fen or .pgn"));
        assert!(error("epd", "").contains("expected a name"));
    }
}
