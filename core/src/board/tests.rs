use super::thinned::chess960_games;
use super::{Game, Move, Outcome, Position, Reason, Rules, Side, random_opening};
use crate::rng::{Purpose, Seed};

const RULES: Rules = Rules { max_plies: 512 };

fn play(fen: &str, moves: &str) -> Game {
    let mut game = Game::from_position(Position::from_fen(fen).expect("test FEN"));
    for text in moves.split_whitespace() {
        let mv = Move::from_uci(text).expect("test move");
        assert!(game.position().is_legal(mv), "{text} is legal in {}", game.position().fen());
        game.play_unchecked(mv);
    }
    game
}

fn initial(moves: &str) -> Game {
    play("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", moves)
}

#[test]
fn perft_counts_match_published_values() {
    let kiwipete = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1";
    assert_eq!(Position::initial().perft(4), 197_281);
    assert_eq!(Position::from_fen(kiwipete).unwrap().perft(3), 97_862);
}

#[test]
fn packed_moves_play_like_generated_moves() {
    // Perft through packed moves, in positions with castling, promotions and en passant.
    fn count(game: &mut Game, depth: u32) -> u64 {
        if depth == 0 {
            return 1;
        }
        let ply = game.ply();
        let mut nodes = 0;
        for mv in game.position().legal_moves() {
            game.play_unchecked(mv);
            assert_eq!(game.key(), game.position().key(), "incremental key after {mv}");
            nodes += count(game, depth - 1);
            game.take_back_to(ply);
        }
        nodes
    }
    for fen in [
        "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
        "r3k2r/Pppp1ppp/1b3nbN/nP6/BBP1P3/q4N2/Pp1P2PP/R2Q1RK1 w kq - 0 1",
        "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
    ] {
        let position = Position::from_fen(fen).unwrap();
        assert_eq!(count(&mut Game::from_position(position.clone()), 3), position.perft(3), "{fen}");
    }
}

#[test]
fn the_third_occurrence_of_a_position_is_a_draw() {
    let shuffle = "g1f3 g8f6 f3g1 f6g8 g1f3 g8f6 f3g1";
    assert_eq!(initial(shuffle).outcome(&RULES), None);
    let third = initial(&format!("{shuffle} f6g8"));
    assert_eq!(third.repetitions(), 2);
    assert_eq!(third.outcome(&RULES), Some(Outcome::draw(Reason::Threefold)));
}

#[test]
fn an_unusable_en_passant_square_does_not_hide_a_repetition() {
    // After 1.e4 no pawn can capture on e3, so the position with Black to move repeats on ply 5.
    let game = initial("e2e4 g8f6 g1f3 f6g8 f3g1");
    assert_eq!(game.repetitions(), 1);
}

#[test]
fn lost_castling_rights_make_a_different_position() {
    let game = play("4k3/8/8/8/8/8/8/4K2R w K - 0 1", "h1h2 e8d8 h2h1 d8e8");
    assert_eq!(game.repetitions(), 0);
}

#[test]
fn each_end_of_a_game_has_its_reason() {
    let fools_mate = initial("f2f3 e7e5 g2g4 d8h4");
    let mate = Outcome { winner: Some(Side::Black), reason: Reason::Checkmate };
    assert_eq!(fools_mate.outcome(&RULES), Some(mate));
    assert_eq!((mate.score_for(Side::White), mate.score_for(Side::Black)), (-1, 1));
    let ended = |fen: &str| play(fen, "").outcome(&RULES).map(|outcome| outcome.reason);
    assert_eq!(ended("7k/5Q2/6K1/8/8/8/8/8 b - - 0 1"), Some(Reason::Stalemate));
    assert_eq!(ended("7k/8/6K1/8/8/8/8/7N w - - 0 1"), Some(Reason::InsufficientMaterial));
    assert_eq!(ended("k7/8/6K1/8/8/8/8/7R w - - 100 80"), Some(Reason::FiftyMoves));
    assert_eq!(ended("k7/8/6K1/8/8/8/8/7R w - - 99 80"), None);
    assert_eq!(ended("R6k/8/6K1/8/8/8/8/8 b - - 100 80"), Some(Reason::Checkmate), "mate comes first");
    let capped = initial("e2e4").outcome(&Rules { max_plies: 1 });
    assert_eq!(capped, Some(Outcome::draw(Reason::PlyCap)));
}

#[test]
fn taking_back_restores_everything() {
    let mut game = initial("e2e4 e7e5 g1f3");
    let before = (game.key(), game.position().fen(), game.ply());
    for text in ["b8c6", "f1b5"] {
        game.play_unchecked(Move::from_uci(text).unwrap());
    }
    game.take_back_to(3);
    assert_eq!((game.key(), game.position().fen(), game.ply()), before);
}

#[test]
fn fens_round_trip_and_invalid_ones_are_explained() {
    let fen = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R b Kq - 3 17";
    assert_eq!(Position::from_fen(fen).unwrap().fen(), fen);
    let syntax = Position::from_fen("hello").unwrap_err().to_string();
    assert!(syntax.contains("not a FEN"), "{syntax}");
    let illegal = Position::from_fen("8/8/8/8/8/8/8/K7 w - - 0 1").unwrap_err().to_string();
    assert!(illegal.contains("not a legal position"), "{illegal}");
}

#[test]
fn moves_round_trip_as_text_and_packed() {
    for text in ["e2e4", "a7a8q", "h2h1n", "e1g1"] {
        let read = Move::from_uci(text).unwrap();
        assert_eq!(read.to_string(), text);
        assert_eq!(Move::from_packed(read.packed()), Some(read));
    }
    for invalid in ["", "e2", "e2e9", "e7e8k", "e2e4qq", "ö2e4"] {
        assert_eq!(Move::from_uci(invalid), None, "{invalid}");
    }
    assert_eq!(Move::from_packed(5 << 12), None);
}

#[test]
fn random_openings_differ_by_game_and_repeat_by_seed() {
    let opening = |game| {
        let mut stream = Seed { run: 1, step: 1 }.stream(game, Purpose::Opening);
        random_opening(8, &RULES, &mut stream).moves().to_vec()
    };
    assert_eq!(opening(0), opening(0));
    assert_ne!(opening(0), opening(1));
    assert_eq!(opening(0).len(), 8);
}

#[test]
fn mate_in_one_agrees_with_trying_every_move() {
    let mates = |game: &Game, mv: &Move| {
        let mut game = game.clone();
        game.play_unchecked(*mv);
        game.outcome(&RULES).is_some_and(|outcome| outcome.reason == Reason::Checkmate)
    };
    let mut found = 0;
    let opened = (0..2000).map(|number| {
        let mut stream = Seed { run: 5, step: 0 }.stream(number, Purpose::Opening);
        random_opening(10 + number as u32 % 150, &RULES, &mut stream)
    });
    for game in opened.chain(chess960_games(2000)) {
        let legal = game.position().legal_moves();
        let expected = legal.iter().copied().find(|mv| mates(&game, mv));
        assert_eq!(game.position().mate_in_one(&legal), expected, "{}", game.position().fen());
        found += u32::from(expected.is_some());
    }
    assert!(found > 5, "too few mates in the sample: {found}");
}

#[test]
fn rare_mates_in_one_are_found() {
    for (fen, mates) in [
        // Gundersen - Faul 1928, en passant; Ed. Lasker - Thomas 1912, castling or the king's step.
        ("r1bq1r2/pp2n3/4N2k/3pPppP/1b1n2Q1/2N5/PP3PP1/R1B1K2R w KQ g6 0 15", &["h5g6"][..]),
        ("rn3r2/pbppq1p1/1p2pN2/8/3P2NP/6P1/PPP1BP1R/R3K1k1 w Q - 5 18", &["e1c1", "e1d2"]),
        // Castling of Chess960: the king steps, or stays.
        ("2rkr3/2p1p3/8/8/8/8/8/RK6 w A - 0 1", &["b1a1"]),
        ("4rkr1/4p1p1/8/8/8/8/8/6KR w H - 0 1", &["g1h1"]),
        // A promotion; discovered checks by a rook and by a knight; none.
        ("k7/2P5/1K6/8/8/8/8/8 w - - 0 1", &["c7c8q", "c7c8r"]),
        ("7k/6Rp/8/8/3B4/8/8/6K1 w - - 0 1", &["g7g6", "g7g5", "g7g4", "g7g3", "g7g2"]),
        ("7k/5K1p/5N1P/8/8/8/1B6/8 w - - 0 1", &["f6g8", "f6e8", "f6d7", "f6h5", "f6d5", "f6g4", "f6e4"]),
        ("r5rk/5p1p/5R2/4B3/8/8/7P/7K w - - 0 1", &[]),
    ] {
        let position = Position::from_fen(fen).unwrap();
        let found = position.mate_in_one(&position.legal_moves()).map(|mate| mate.to_string());
        match found {
            Some(mate) => assert!(mates.contains(&mate.as_str()), "{mate} in {fen}"),
            None => assert!(mates.is_empty(), "no mate in {fen}"),
        }
    }
}
