//! Quiescence at the leaves of a tree search.

use std::sync::Arc;

use super::random_games;
use crate::alphabeta::QuiescentNnue;
use crate::alphabeta::leaves::MOST_POSITIONS;
use crate::alphabeta::see::exchange;
use crate::board::{Game, Position};
use crate::network::nnue::{NnueEvaluator, NnueNet};
use crate::network::samples::evaluate;
use crate::network::{
    Batch, Cached, Evaluations, Evaluator, EvaluatorError, Quiescence, initial_weights, preset,
};
use crate::rng::Seed;

fn net() -> Arc<NnueNet> {
    let spec = preset("nnue-128").expect("exists").spec;
    Arc::new(NnueNet::new(&spec, &initial_weights(&spec, Seed { run: 1, step: 1 })).expect("in range"))
}

/// Games whose last position shows no capture en passant.
fn games() -> Vec<Game> {
    let mut games = random_games(3, 1_000, 3);
    games.retain(|game| game.ply() < 16 && game.position().legal_en_passant().is_none());
    games
}

fn batch(evaluator: &dyn Evaluator, games: &[Game], quiescence: Quiescence) -> Batch {
    let mut batch = Batch::default();
    for game in games {
        batch.push(evaluator.encoding(), game);
    }
    batch.quiescence.fill(quiescence);
    batch
}

fn values(evaluations: &Evaluations) -> Vec<f32> {
    evaluations.wdl.iter().map(|wdl| wdl.value()).collect()
}

/// The value for the side to move once no capture is worth it, without windows, order or updated sums; `None` if that takes more
/// positions than are left.
fn settled(position: &Position, evaluator: &mut NnueEvaluator, left: &mut u32) -> Option<f32> {
    *left = left.checked_sub(1)?;
    let is_check = position.is_check();
    let side = position.side_to_move();
    let is_stalemate = !is_check && !position.has_pieces(side) && !position.has_legal_move();
    if position.is_insufficient_material() || is_stalemate {
        return Some(0.0);
    }
    let mut moves = Vec::new();
    let mut best = -1.0f32;
    if is_check {
        position.known_moves_into(&mut moves);
    } else {
        position.known_captures_into(&mut moves);
        moves.retain(|mv| exchange(position, *mv) >= 0);
        let stopped = batch(evaluator, &[Game::from_position(position.clone())], Quiescence::Off);
        best = values(&evaluate(evaluator, &stopped))[0];
    }
    for mv in moves {
        best = best.max(-settled(&position.after(mv, 0).0, evaluator, left)?);
    }
    Some(best)
}

#[test]
fn values_are_those_of_the_best_exchange() {
    let (mut games, mut plain, mut expected) = (games(), NnueEvaluator::new(net()), Vec::new());
    games.retain(|game| {
        let mut left = MOST_POSITIONS;
        let found = settled(game.position(), &mut plain, &mut left);
        expected.extend(found);
        found.is_some()
    });
    assert!(games.len() > 250, "{}", games.len());
    let mut settling = QuiescentNnue::new(net());
    let rows = batch(&settling, &games, Quiescence::Required);
    let found = evaluate(&mut settling, &rows);
    assert_eq!(values(&found), expected);
    // The rest is the net's.
    let as_it_stands = evaluate(&mut plain, &batch(&settling, &games, Quiescence::Off));
    assert_eq!(found.policy, as_it_stands.policy);
    let differing = values(&found).iter().zip(values(&as_it_stands)).filter(|(a, b)| **a != *b).count();
    assert!(differing > 20, "{differing}");
}

#[test]
fn rows_that_do_not_ask_are_evaluated_as_they_stand() {
    let (games, mut settling) = (games(), QuiescentNnue::new(net()));
    let rows = |quiescence| batch(&QuiescentNnue::new(net()), &games, quiescence);
    let (plain, settled) = (rows(Quiescence::Off), rows(Quiescence::Required));
    let of_both = [&plain, &settled].map(|rows| evaluate(&mut settling, rows).wdl);
    assert_eq!(of_both[0], evaluate(&mut NnueEvaluator::new(net()), &plain).wdl);
    let if_offered = rows(Quiescence::IfOffered);
    assert_eq!(of_both[1], evaluate(&mut settling, &if_offered).wdl);
    assert_eq!(of_both[0], evaluate(&mut NnueEvaluator::new(net()), &if_offered).wdl);
    // Also of one batch, with a cache.
    let mut mixed = Batch::default();
    for game in &games {
        mixed.push(settling.encoding(), game);
        mixed.push(settling.encoding(), game);
        *mixed.quiescence.last_mut().expect("a row") = Quiescence::IfOffered;
    }
    let mut cached = Cached::new(Box::new(settling), 1000);
    for _ in 0..2 {
        let found = evaluate(&mut cached, &mixed).wdl;
        assert!(found.iter().step_by(2).eq(&of_both[0]));
        assert!(found.iter().skip(1).step_by(2).eq(&of_both[1]));
    }
    assert_eq!(cached.cache_hits(), mixed.len() as u64);
}

#[test]
fn evaluators_without_it_refuse() {
    let mut plain = NnueEvaluator::new(net());
    let settled = batch(&plain, &games()[..1], Quiescence::Required);
    let refused = plain.evaluate(&settled, &mut Evaluations::default());
    assert!(matches!(refused, Err(EvaluatorError::NoQuiescence)));
}

#[test]
fn an_exchange_without_end_is_left_to_the_net() {
    // Both sides have more captures here than a net without training can distinguish.
    let many = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1";
    let many = Position::from_fen(many).expect("a legal position");
    let mut plain = NnueEvaluator::new(net());
    assert_eq!(settled(&many, &mut plain, &mut 100_000), None, "it has an end");
    let (games, mut settling) = ([Game::from_position(many), Game::initial()], QuiescentNnue::new(net()));
    let rows = batch(&settling, &games, Quiescence::Required);
    let own = values(&evaluate(&mut plain, &batch(&settling, &games, Quiescence::Off)));
    assert_eq!(values(&evaluate(&mut settling, &rows)), own);
    // What the first row used up is not missing in the rows after it.
    let taken = Position::from_fen("4k3/8/8/3q4/4P3/8/8/4K3 w - - 0 1").expect("a legal position");
    let games = [games[0].clone(), Game::from_position(taken.clone())];
    let rows = batch(&settling, &games, Quiescence::Required);
    let expected = settled(&taken, &mut plain, &mut 100).expect("a few positions");
    assert_eq!(values(&evaluate(&mut settling, &rows)), [own[0], expected]);
}
