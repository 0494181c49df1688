//! Generated books: random moves that a shallow search finds balanced.

use std::collections::HashSet;

use rand::RngExt;
use thiserror::Error;

use super::baselines::balanced_score;
use crate::board::{CHESS960_STARTS, Epd, Game, Operands, Position, Rules, random_moves};
use crate::event::{Cancelled, Event, Observer};
use crate::rng::{Purpose, Seed, Stream};
use crate::{param_enum, params};

param_enum! {
    /// Where the openings of a book begin.
    pub enum BookStart {
        /// At the initial position of chess.
        Standard = "standard",
        /// At random starts of Chess960.
        Chess960 = "chess960",
        /// At random starts of Chess960 in which each side has pieces of its own.
        DoubleChess960 = "double-chess960",
    }
}

params! {
    /// A book of random openings that are balanced.
    pub struct RandomBookParams {
        /// Openings, each of another position.
        count: u32 = 1000, in 1..=1_000_000;
        /// Where the openings begin.
        start: BookStart = BookStart::Standard;
        /// Random legal moves from there.
        plies: u32 = 8, in 1..=60;
        /// Alpha-beta searches of 1 to this many plies judge each opening.
        depth: u32 = 4, in 1..=8;
        /// The largest score for either side that every search may find, in centipawns.
        max_score: u32 = 50, in 0..=10_000;
    }
}

/// No book was made.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum BookError {
    /// There are too few such openings.
    #[error(
        "only {found} of {count} openings with {plies} random plies and scores of at most {max_score} centipawns were found among {tried}; \
         expected fewer openings, more plies or a larger score"
    )]
    TooFew {
        /// Openings that were found.
        found: usize,
        /// Openings of the book.
        count: u32,
        /// Random plies.
        plies: u32,
        /// The largest score.
        max_score: u32,
        /// Openings that were tried.
        tried: u64,
    },
    /// The user asked to stop.
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
}

/// Rejected openings in a row, of the whole book or more, after which the search for openings ends.
const MAX_TRIES: u64 = 20_000;

/// Openings that a thread tries at a time.
const BATCH: u64 = 32;

/// Makes a book: random openings in the order of their numbers, without unbalanced ones and repeated positions. `ce` is the score of
/// the deepest search for the side to move. Threads do not change the result.
pub fn generate_book(
    params: &RandomBookParams,
    seed: Seed,
    threads: u32,
    observer: &dyn Observer,
) -> Result<Vec<Epd>, BookError> {
    let (mut book, mut seen) = (Vec::new(), HashSet::new());
    let (mut tried, mut last_found) = (0, 0);
    while book.len() < params.count as usize {
        observer.check()?;
        if tried - last_found >= MAX_TRIES.max(u64::from(params.count)) {
            let RandomBookParams { count, plies, max_score, .. } = *params;
            return Err(BookError::TooFew { found: book.len(), count, plies, max_score, tried });
        }
        let batches: Vec<Vec<Option<Epd>>> = std::thread::scope(|scope| {
            let batch = |thread: u64| {
                let first = tried + thread * BATCH;
                scope.spawn(move || {
                    (first..first + BATCH).map(|number| opening(params, seed, number)).collect()
                })
            };
            let threads: Vec<_> = (0..u64::from(threads.max(1))).map(batch).collect();
            threads.into_iter().map(|thread| thread.join().expect("the search does not panic")).collect()
        });
        for found in batches.into_iter().flatten() {
            tried += 1;
            let Some(epd) = found.filter(|epd| seen.insert(epd.position.epd_fields())) else { continue };
            if book.len() < params.count as usize {
                book.push(epd);
                last_found = tried;
            }
        }
        let total = u64::from(params.count);
        observer.event(Event::Progress { unit: "openings", done: book.len() as u64, total });
    }
    Ok(book)
}

impl BookStart {
    /// A start; only those of Chess960 take random numbers.
    fn draw(self, stream: &mut Stream) -> Game {
        let mut row = || stream.random_range(0..CHESS960_STARTS);
        let (white, black) = match self {
            Self::Standard => return Game::initial(),
            Self::Chess960 => {
                let both = row();
                (both, both)
            }
            Self::DoubleChess960 => (row(), row()),
        };
        let position = Position::chess960(white, black);
        Game::from_position(position.expect("there is a start for each number"))
    }
}

/// The opening with a number, unless it is unbalanced.
fn opening(params: &RandomBookParams, seed: Seed, number: u64) -> Option<Epd> {
    let rules = Rules { max_plies: u32::MAX };
    let mut stream = seed.stream(number, Purpose::Opening);
    let start = params.start.draw(&mut stream);
    let mut game = random_moves(&start, params.plies, &rules, &mut stream);
    let mut score = 0;
    for depth in 1..=params.depth {
        score = balanced_score(&mut game, &rules, depth, params.max_score as i32)?;
    }
    let mut epd = Epd::of(game.position().clone());
    epd.operations.insert("ce".to_owned(), Operands::Other(score.to_string()));
    Some(epd)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::{BookError, BookStart, RandomBookParams, generate_book};
    use crate::board::{Epd, Operands, Side};
    use crate::book::Book;
    use crate::event::{Cancelled, Event, Observer, Silent};
    use crate::rng::Seed;

    const SEED: Seed = Seed { run: 1, step: 0 };

    fn lines(book: &[Epd]) -> String {
        book.iter().map(|epd| format!("{epd}\n")).collect()
    }

    #[test]
    fn openings_are_balanced_and_different_and_do_not_depend_on_threads() {
        let params =
            RandomBookParams { count: 40, plies: 6, depth: 2, max_score: 30, ..RandomBookParams::default() };
        let book = generate_book(&params, SEED, 1, &Silent).expect("a book");
        assert_eq!(lines(&generate_book(&params, SEED, 3, &Silent).expect("a book")), lines(&book));
        let other = generate_book(&params, Seed { run: 2, step: 0 }, 1, &Silent).expect("a book");
        assert_ne!(lines(&other), lines(&book));
        let positions: HashSet<String> = book.iter().map(|epd| epd.position.epd_fields()).collect();
        assert_eq!(positions.len(), 40);
        for epd in &book {
            assert_eq!((epd.position.side_to_move(), epd.position.fullmove_number()), (Side::White, 4));
            let score = epd.text("ce").and_then(|score| score.parse::<i32>().ok()).expect("a score");
            assert!(score.abs() <= 30, "{epd}");
        }
        let read = Book::read("a.epd", lines(&book).as_bytes(), None).expect("a book");
        assert_eq!((read.len(), read.duplicates()), (40, &[][..]));
    }

    #[test]
    fn openings_of_chess960_begin_at_its_starts() {
        for start in [BookStart::Chess960, BookStart::DoubleChess960] {
            let params = RandomBookParams { start, count: 30, plies: 2, depth: 1, max_score: 50 };
            let book = generate_book(&params, SEED, 2, &Silent).expect("a book");
            assert!(book.iter().filter(|epd| epd.position.is_chess960()).count() > 25, "{}", lines(&book));
            let read = Book::read("a.epd", lines(&book).as_bytes(), None).expect("a book");
            assert_eq!(read.len(), 30);
        }
    }

    #[test]
    fn a_larger_book_begins_with_the_smaller_one() {
        let book = |count| {
            let params =
                RandomBookParams { count, plies: 5, depth: 1, max_score: 50, ..RandomBookParams::default() };
            lines(&generate_book(&params, SEED, 2, &Silent).expect("a book"))
        };
        assert!(book(50).starts_with(&book(20)));
    }

    #[test]
    fn too_few_openings_are_an_error_that_says_how_many_there_are() {
        let params = RandomBookParams {
            count: 21,
            plies: 1,
            depth: 1,
            max_score: 10_000,
            ..RandomBookParams::default()
        };
        let error = generate_book(&params, SEED, 2, &Silent).unwrap_err();
        assert!(error.to_string().starts_with("only 20 of 21 openings with 1 random plies"), "{error}");
        let all = generate_book(&RandomBookParams { count: 20, ..params.clone() }, SEED, 1, &Silent)
            .expect("a book");
        assert!(matches!(all[0].operations.get("ce"), Some(Operands::Other(_))));
    }

    #[test]
    fn it_stops_when_requested() {
        struct Stopped;
        impl Observer for Stopped {
            fn event(&self, _: Event<'_>) {}
            fn is_cancelled(&self) -> bool {
                true
            }
        }
        let stopped = generate_book(&RandomBookParams::default(), SEED, 1, &Stopped);
        assert_eq!(stopped, Err(BookError::Cancelled(Cancelled)));
    }
}
