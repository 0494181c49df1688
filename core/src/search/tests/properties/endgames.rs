//! The fast search and the reference on endgames with few pieces, where trees are full of mates, stalemates and dead draws.

use super::*;

/// White's pieces beside the king, and Black's.
const MATERIAL: [(&str, &str); 12] = [
    ("Q", ""),
    ("R", ""),
    ("P", ""),
    ("BN", ""),
    ("NN", "p"),
    ("Q", "r"),
    ("R", "p"),
    ("P", "p"),
    ("QR", "q"),
    ("B", "p"),
    ("PP", "n"),
    ("RB", "rn"),
];

/// Squares for Black's king on the edge and White's two steps away, so that mates and stalemates are near.
fn kings(stream: &mut Stream) -> (usize, usize) {
    let black = stream.random_range(1..7);
    let white = stream.random_range(black - 1..=black + 1);
    match stream.random_range(0..4) {
        0 => (black, 16 + white),
        1 => (56 + black, 40 + white),
        2 => (8 * black, 8 * white + 2),
        _ => (8 * black + 7, 8 * white + 5),
    }
}

/// A legal position with these pieces on random squares, whose game is not over.
fn random_endgame(pieces: (&str, &str), stream: &mut Stream) -> Game {
    loop {
        let mut board = ['1'; 64];
        let (black, white) = kings(stream);
        (board[black], board[white]) = ('k', 'K');
        for piece in format!("{}{}", pieces.0, pieces.1).chars() {
            let squares = if piece.eq_ignore_ascii_case(&'p') { 8..56 } else { 0..64 };
            let free: Vec<usize> = squares.filter(|square| board[*square] == '1').collect();
            board[free[stream.random_range(0..free.len())]] = piece;
        }
        let ranks: Vec<String> = board.chunks(8).map(|rank| rank.iter().collect()).collect();
        let side = if stream.random::<bool>() { 'w' } else { 'b' };
        let clock = [0, 0, 98, 99][stream.random_range(0..4)];
        let fen = format!("{} {side} - - {clock} 70", ranks.join("/"));
        let game = Position::from_fen(&fen).ok().map(Game::from_position);
        if let Some(game) = game.filter(|game| game.outcome(&RULES).is_none()) {
            return game;
        }
    }
}

fn endgames(each: u64) -> Vec<Game> {
    let of_material = |(kind, pieces): (usize, &(&'static str, &'static str))| {
        let pieces = *pieces;
        (0..each).map(move |number| {
            let mut stream = Seed { run: 12, step: kind as u64 }.stream(number, Purpose::Opening);
            random_endgame(pieces, &mut stream)
        })
    };
    MATERIAL.iter().enumerate().flat_map(of_material).collect()
}

#[test]
fn endgames_match_the_reference() {
    let (mut searches, mut ended) = (0, 0);
    for (number, game) in endgames(20).iter().enumerate() {
        for params in kinds(60) {
            let fast = compared(game, &params, &mut Hashed::new(encoding(), number as u64));
            check(&fast, 60);
            searches += u32::from(params.solver);
            ended += u32::from(fast.root_moves().any(|mv| mv.proof.is_some()));
        }
    }
    assert!(4 * ended > searches, "{ended} of {searches} searches with a solver prove something");
}
