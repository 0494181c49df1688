//! Generated books: random moves that shallow searches, and perhaps a net or a program, find balanced.

use std::collections::{BTreeMap, HashSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};

use rand::RngExt;
use thiserror::Error;

use super::baselines::balanced_score;
use super::error::ArenaError;
use super::judges::OpeningJudge;
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
        /// The largest score for either side that every search and the judge may find, in centipawns.
        max_score: u32 = 50, in 0..=10_000;
    }
}

/// No book was made.
#[derive(Debug, Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum BookError {
    #[error(
        "only {found} of {count} openings with {plies} random plies and scores of at most {max_score} centipawns were found among {tried}; \
         expected fewer openings, more plies or a larger score"
    )]
    TooFew { found: usize, count: u32, plies: u32, max_score: u32, tried: u64 },
    #[error("the judge of the openings failed")]
    Judge(#[source] ArenaError),
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
}

impl From<ArenaError> for BookError {
    fn from(error: ArenaError) -> Self {
        match error {
            ArenaError::Cancelled(cause) => Self::Cancelled(cause),
            other => Self::Judge(other),
        }
    }
}

/// Makes the judge of a thread.
pub type MakeJudge<'a> = dyn Fn() -> Result<Box<dyn OpeningJudge>, ArenaError> + Sync + 'a;

/// Rejected openings in a row, of the whole book or more, after which the search for openings ends.
const MAX_TRIES: u64 = 20_000;

/// Openings that a thread tries at a time, and a judge judges together.
const BATCH: u64 = 32;

/// A batch of openings that were tried, `None` for each that was rejected.
type Tried = Result<Vec<Option<Epd>>, BookError>;

/// Makes a book: random openings in the order of their numbers, without unbalanced ones and repeated positions. Only what the searches
/// find balanced reaches the judge. `ce` is the judge's score for the side to move, or without one that of the deepest search. Threads
/// do not change the result.
pub fn generate_book(
    params: &RandomBookParams,
    seed: Seed,
    threads: u32,
    judge: Option<&MakeJudge<'_>>,
    observer: &dyn Observer,
) -> Result<Vec<Epd>, BookError> {
    let next = AtomicU64::new(0);
    std::thread::scope(|scope| {
        let threads = threads.max(1);
        // Threads wait for the book when they are ahead of it.
        let (sender, receiver) = sync_channel(threads as usize);
        for _ in 0..threads {
            let (sender, next) = (sender.clone(), &next);
            scope.spawn(move || try_batches(params, seed, judge, next, &sender, observer));
        }
        drop(sender);
        let mut book =
            RandomBook { params, lines: Vec::new(), seen: HashSet::new(), tried: 0, last_found: 0 };
        let mut waiting: BTreeMap<u64, Tried> = BTreeMap::new();
        let mut number = 0;
        while !book.is_full() {
            observer.check()?;
            book.check()?;
            let tried = loop {
                if let Some(tried) = waiting.remove(&number) {
                    break tried;
                }
                let (found, tried) =
                    receiver.recv().expect("threads end only after the book, or with an error");
                waiting.insert(found, tried);
            };
            number += 1;
            tried?.into_iter().for_each(|found| book.add(found));
            let (done, total) = (book.lines.len() as u64, u64::from(params.count));
            observer.event(Event::Progress { unit: "openings", done, total });
        }
        // Threads end when nobody receives what they send.
        drop(receiver);
        Ok(book.lines)
    })
}

/// The openings that were found.
struct RandomBook<'a> {
    params: &'a RandomBookParams,
    lines: Vec<Epd>,
    seen: HashSet<String>,
    tried: u64,
    last_found: u64,
}

impl RandomBook<'_> {
    fn is_full(&self) -> bool {
        self.lines.len() >= self.params.count as usize
    }

    /// An error if there seem to be no more.
    fn check(&self) -> Result<(), BookError> {
        let RandomBookParams { count, plies, max_score, .. } = *self.params;
        let (found, tried) = (self.lines.len(), self.tried);
        if tried - self.last_found < MAX_TRIES.max(u64::from(count)) {
            return Ok(());
        }
        Err(BookError::TooFew { found, count, plies, max_score, tried })
    }

    fn add(&mut self, found: Option<Epd>) {
        self.tried += 1;
        let new = found.filter(|epd| self.seen.insert(epd.position.epd_fields()));
        if let Some(epd) = new.filter(|_| !self.is_full()) {
            self.lines.push(epd);
            self.last_found = self.tried;
        }
    }
}

/// Tries batches of openings until nobody receives them, or the judge fails.
fn try_batches(
    params: &RandomBookParams,
    seed: Seed,
    judge: Option<&MakeJudge<'_>>,
    next: &AtomicU64,
    sender: &SyncSender<(u64, Tried)>,
    observer: &dyn Observer,
) {
    let mut judge = match judge.map(|make| make()).transpose() {
        Ok(judge) => judge,
        Err(cause) => {
            let number = next.fetch_add(1, Ordering::Relaxed);
            // The book may be made without this thread's help.
            let _received = sender.send((number, Err(cause.into())));
            return;
        }
    };
    loop {
        let number = next.fetch_add(1, Ordering::Relaxed);
        let tried = try_batch(params, seed, judge.as_deref_mut(), number, observer);
        let has_failed = tried.is_err();
        if sender.send((number, tried)).is_err() || has_failed {
            return;
        }
    }
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

/// Tries the openings of a batch.
fn try_batch(
    params: &RandomBookParams,
    seed: Seed,
    judge: Option<&mut (dyn OpeningJudge + '_)>,
    number: u64,
    observer: &dyn Observer,
) -> Tried {
    let numbers = number * BATCH..(number + 1) * BATCH;
    let mut openings: Vec<Option<(Game, i32)>> =
        numbers.map(|number| opening(params, seed, number)).collect();
    if let Some(judge) = judge {
        let games: Vec<Game> = openings.iter().flatten().map(|(game, _)| game.clone()).collect();
        let mut scores = judge.scores(&games, observer)?.into_iter();
        for opening in &mut openings {
            let Some((_, score)) = opening else { continue };
            let judged = scores.next().expect("a score for each opening");
            if judged.abs() <= f64::from(params.max_score) {
                *score = judged.round() as i32;
            } else {
                *opening = None;
            }
        }
    }
    let line = |(game, score): (Game, i32)| {
        let mut epd = Epd::of(game.position().clone());
        epd.operations.insert("ce".to_owned(), Operands::Other(score.to_string()));
        epd
    };
    Ok(openings.into_iter().map(|opening| opening.map(line)).collect())
}

/// The opening with a number and its score, unless the searches find it unbalanced.
fn opening(params: &RandomBookParams, seed: Seed, number: u64) -> Option<(Game, i32)> {
    let rules = Rules { max_plies: u32::MAX };
    let mut stream = seed.stream(number, Purpose::Opening);
    let start = params.start.draw(&mut stream);
    let mut game = random_moves(&start, params.plies, &rules, &mut stream);
    let mut score = 0;
    for depth in 1..=params.depth {
        score = balanced_score(&mut game, &rules, depth, params.max_score as i32)?;
    }
    Some((game, score))
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::{BookError, BookStart, MakeJudge, RandomBookParams, generate_book};
    use crate::arena::{ArenaError, OpeningJudge};
    use crate::board::{Epd, Game, Operands, Side};
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
        let book = generate_book(&params, SEED, 1, None, &Silent).expect("a book");
        assert_eq!(lines(&generate_book(&params, SEED, 3, None, &Silent).expect("a book")), lines(&book));
        let other = generate_book(&params, Seed { run: 2, step: 0 }, 1, None, &Silent).expect("a book");
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
            let book = generate_book(&params, SEED, 2, None, &Silent).expect("a book");
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
            lines(&generate_book(&params, SEED, 2, None, &Silent).expect("a book"))
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
        let error = generate_book(&params, SEED, 2, None, &Silent).unwrap_err();
        assert!(error.to_string().starts_with("only 20 of 21 openings with 1 random plies"), "{error}");
        let all = generate_book(&RandomBookParams { count: 20, ..params.clone() }, SEED, 1, None, &Silent)
            .expect("a book");
        assert!(matches!(all[0].operations.get("ce"), Some(Operands::Other(_))));
    }

    /// Finds the positions good whose first pawn of White has moved, or fails.
    struct Pawns {
        fails: bool,
    }

    impl OpeningJudge for Pawns {
        fn scores(&mut self, games: &[Game], _: &dyn Observer) -> Result<Vec<f64>, ArenaError> {
            if self.fails {
                return Err(ArenaError::NoScore { player: "pawns".to_owned() });
            }
            let score =
                |game: &Game| if game.position().fen().contains("/PPPPPPPP/") { 900.0 } else { -12.4 };
            Ok(games.iter().map(score).collect())
        }
    }

    #[test]
    fn a_judge_rejects_openings_and_gives_the_others_their_scores() {
        let params = RandomBookParams { count: 30, plies: 2, depth: 1, ..RandomBookParams::default() };
        let all = lines(&generate_book(&params, SEED, 2, None, &Silent).expect("a book"));
        let make = || Ok(Box::new(Pawns { fails: false }) as Box<dyn OpeningJudge>);
        let judged =
            |threads| lines(&generate_book(&params, SEED, threads, Some(&make), &Silent).expect("a book"));
        assert!(all.contains("/PPPPPPPP/"), "{all}");
        assert!(!judged(1).contains("/PPPPPPPP/") && judged(1).matches(" ce -12;").count() == 30);
        assert_eq!(judged(1), judged(3));
    }

    #[test]
    fn a_judge_that_fails_is_an_error() {
        let failing = || Ok(Box::new(Pawns { fails: true }) as Box<dyn OpeningJudge>);
        let missing = || Err(ArenaError::NoScore { player: "nobody".to_owned() });
        for make in [&failing as &MakeJudge<'_>, &missing] {
            let failed = generate_book(&RandomBookParams::default(), SEED, 2, Some(make), &Silent);
            assert!(matches!(failed, Err(BookError::Judge(ArenaError::NoScore { .. }))));
        }
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
        let stopped = generate_book(&RandomBookParams::default(), SEED, 1, None, &Stopped);
        assert!(matches!(stopped, Err(BookError::Cancelled(Cancelled))));
    }
}
