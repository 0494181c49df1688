//! Games of double Chess960 for tests, from starts that lack pieces, so that kings castle early and in all ways.

use rand::RngExt;

use super::{CHESS960_STARTS, Game, Position, Rules, random_moves};
use crate::rng::{Purpose, Seed, Stream};

/// Games of up to 40 random moves.
pub(crate) fn chess960_games(count: u64) -> Vec<Game> {
    let game = |number| {
        let mut stream = Seed { run: 960, step: 0 }.stream(number, Purpose::Opening);
        let start = Game::from_position(thinned_start(&mut stream));
        random_moves(&start, (number % 41) as u32, &Rules { max_plies: 512 }, &mut stream)
    };
    (0..count).map(game).collect()
}

/// A start without some of its pieces; some queens are rooks, which may not castle.
fn thinned_start(stream: &mut Stream) -> Position {
    loop {
        let mut number = || stream.random_range(0..CHESS960_STARTS);
        let (white, black) = (number(), number());
        let start = Position::chess960(white, black).expect("below the number of starts").fen();
        let rows: Vec<&str> = start.split(['/', ' ']).take(8).collect();
        let rights: String = [rows[7], rows[0]].map(rook_files).concat();
        let thinned: Vec<String> = rows.iter().map(|row| thinned(row, stream)).collect();
        // A side may be in check, or have too many rooks for its pawns.
        if let Ok(position) = Position::from_fen(&format!("{} w {rights} - 0 1", thinned.join("/"))) {
            return position;
        }
    }
}

/// The files of a row's rooks, in the case of their side.
fn rook_files(row: &str) -> String {
    let file = |index: usize| char::from(if row.contains('R') { b'A' } else { b'a' } + index as u8);
    row.char_indices().filter(|(_, piece)| "Rr".contains(*piece)).map(|(index, _)| file(index)).collect()
}

fn thinned(row: &str, stream: &mut Stream) -> String {
    let kept = |piece: char| match (piece, stream.random_range(0..4)) {
        ('K' | 'k' | 'R' | 'r', _) => piece,
        ('Q', 0) => 'R',
        ('q', 0) => 'r',
        (piece, 1) => piece,
        _ if piece.is_ascii_digit() => piece,
        _ => '1',
    };
    row.chars().map(kept).collect()
}
