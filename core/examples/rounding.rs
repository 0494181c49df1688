//! What rounding to integers costs a net of the kind `nnue`: how far its values move, and a match of alpha-beta by the net's floats
//! (first player) against alpha-beta by its integers, at equal nodes.
//!
//! `cargo run --release -p dc0-core --example rounding -- NET.safetensors datasets/openings/balanced-8ply.epd 1000 3000 4`: a net, a
//! book, games, nodes of each move, threads.
#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use std::env;
use std::error::Error;
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::scope;

use dc0_core::alphabeta::{
    AlphaBeta, AlphaBetaParams, Limits, NnueEvaluation, StaticEvaluator, Unwatched, nnue_centipawns,
};
use dc0_core::arena::{elo_of, interval};
use dc0_core::board::{Game, KnownMove, Piece, Position, Rules, Side, TablebaseError};
use dc0_core::book::Book;
use dc0_core::network::checkpoint::Checkpoint;
use dc0_core::network::graph::seen_from_the_other_side;
use dc0_core::network::king_buckets::king_squares;
use dc0_core::network::nnue::NnueNet;
use dc0_core::network::threats::threats;
use dc0_core::network::{Accumulator, NnueInputs, WeightTensor, expected_result};
use dc0_core::poison::IgnorePoison as _;
use dc0_core::rng::Seed;

const RULES: Rules = Rules { max_plies: 400 };

/// A net in floats: the first layer added up afresh for every position.
#[derive(Clone)]
struct Floats {
    net: Arc<Checkpoint>,
    /// `[K · I, W]`.
    first: Arc<Vec<Vec<f32>>>,
}

impl Floats {
    fn new(net: Checkpoint) -> Self {
        let weights = &net.weights["stem.weight"];
        let inputs = weights.shape[1];
        let by_input = |input: usize| weights.data.iter().skip(input).step_by(inputs).copied().collect();
        Self { first: Arc::new((0..inputs).map(by_input).collect()), net: Arc::new(net) }
    }

    fn tensor(&self, name: &str) -> &WeightTensor {
        &self.net.weights[name]
    }

    /// The pieces of a position as inputs of the first layer, seen by the side to move and by its opponent.
    fn inputs(&self, position: &Position) -> [Vec<usize>; 2] {
        let own = position.side_to_move();
        let pieces: [u64; 12] = std::array::from_fn(|plane| {
            let side = if plane < 6 { own } else { own.other() };
            let squares = position.pieces(side, Piece::ALL[plane % 6]);
            if own == Side::Black { squares.swap_bytes() } else { squares }
        });
        let planes = match self.net.spec.tower.inputs {
            NnueInputs::Pieces => pieces.to_vec(),
            NnueInputs::Threats => threats(&pieces).to_vec(),
        };
        let squares = |(plane, squares): (usize, u64)| {
            (0..64).filter(move |square| squares >> square & 1 == 1).map(move |square| plane * 64 + square)
        };
        let own: Vec<usize> = planes.into_iter().enumerate().flat_map(squares).collect();
        let other = own.iter().map(|input| seen_from_the_other_side(*input)).collect();
        let (kings, [own_king, other_king]) = (self.net.spec.king_buckets(), king_squares(&pieces));
        let by_king = |inputs: Vec<usize>, king: usize| {
            let first = kings.bucket(king) * self.net.spec.tower.inputs.count();
            inputs.into_iter().map(|input| first + (input ^ kings.flip(king))).collect()
        };
        [by_king(own, own_king), by_king(other, other_king)]
    }

    /// The first layer's outputs for a side.
    fn outputs(&self, inputs: &[usize]) -> Vec<f32> {
        let mut sums = self.tensor("stem.bias").data.clone();
        for input in inputs {
            sums.iter_mut().zip(&self.first[*input]).for_each(|(sum, weight)| *sum += weight);
        }
        let clipped: Vec<f32> = sums.iter().map(|sum| sum.clamp(0.0, 1.0)).collect();
        let (one, other) = clipped.split_at(clipped.len() / 2);
        match self.net.spec.tower.accumulator {
            Accumulator::Pairwise => one.iter().zip(other).map(|(one, other)| one * other).collect(),
            Accumulator::Squared => clipped.iter().map(|output| output * output).collect(),
            Accumulator::Clipped => clipped,
        }
    }

    fn dense(&self, name: &str, inputs: &[f32]) -> Vec<f32> {
        let (weight, bias) = (self.tensor(&format!("{name}.weight")), self.tensor(&format!("{name}.bias")));
        let sum = |(row, bias): (&[f32], &f32)| {
            row.iter().zip(inputs).map(|(weight, input)| weight * input).sum::<f32>() + bias
        };
        weight.data.chunks_exact(inputs.len()).zip(&bias.data).map(sum).collect()
    }

    /// P(win) − P(loss) of the side to move.
    fn value(&self, position: &Position) -> f32 {
        let [own, other] = self.inputs(position);
        let mut outputs = self.outputs(&own);
        outputs.extend(self.outputs(&other));
        let hidden: Vec<f32> =
            self.dense("value.dense1", &outputs).into_iter().map(|sum| sum.max(0.0)).collect();
        let mut last = self.dense("value.dense2", &hidden);
        let result = expected_result(self.net.spec.value_head.kind, &mut last);
        result.expect("a net's outputs are finite").value()
    }
}

impl StaticEvaluator for Floats {
    fn reset(&mut self, _: &Position) {}

    fn push(&mut self, _: &Position, _: KnownMove, _: &Position) {}

    fn pop(&mut self) {}

    fn evaluate(&mut self, position: &Position) -> i32 {
        nnue_centipawns(self.value(position))
    }

    fn name(&self) -> &'static str {
        "floats"
    }
}

/// The floats' points in a pair of games from an opening with both colours, in halves, and the positions of its games.
fn pair(
    players: &mut [AlphaBeta; 2],
    opening: &Game,
    nodes: u64,
) -> Result<(usize, Vec<Position>), TablebaseError> {
    let limits = Limits { nodes: Some(nodes), ..Limits::default() };
    let (mut halves, mut positions) = (0, Vec::new());
    for floats in [Side::White, Side::Black] {
        let mut game = opening.clone();
        players.iter_mut().for_each(AlphaBeta::start_game);
        let outcome = loop {
            if let Some(outcome) = game.outcome(&RULES) {
                break outcome;
            }
            let player = usize::from(game.position().side_to_move() != floats);
            let found = players[player].search(&game, &limits, &mut Unwatched)?;
            game.play_unchecked(found.best());
        };
        halves += (1 + outcome.score_for(floats)) as usize;
        positions.extend(game.positions().cloned());
    }
    Ok((halves, positions))
}

fn main() -> Result<(), Box<dyn Error>> {
    let given: Vec<String> = env::args().skip(1).collect();
    let [net, book, games, nodes, threads] = given.as_slice() else {
        return Err("expected a net, a book, games, nodes and threads".into());
    };
    let (games, nodes, threads): (u64, u64, u64) = (games.parse()?, nodes.parse()?, threads.parse()?);
    let net = Checkpoint::load(Path::new(net))?.checkpoint;
    let integers = Arc::new(NnueNet::new(&net.spec, &net.weights)?);
    let floats = Floats::new(net);
    let book = Book::read(book, &fs::read(book)?, None)?;
    let next = AtomicU64::new(0);
    let total = Mutex::new(([0u32; 5], Vec::new()));
    scope(|scope| {
        let play = || -> Result<(), TablebaseError> {
            let params = AlphaBetaParams::default();
            let by_integers =
                || Box::new(NnueEvaluation::new(Arc::clone(&integers))) as Box<dyn StaticEvaluator>;
            let mut players = [
                AlphaBeta::new(&params, None, &|| Box::new(floats.clone())),
                AlphaBeta::new(&params, None, &by_integers),
            ];
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                if number >= games / 2 {
                    return Ok(());
                }
                let opening = book.opening(Seed { run: 1, step: 0 }, number);
                let (halves, positions) = pair(&mut players, &opening, nodes)?;
                let (mut exact, mut rounded) = (floats.clone(), by_integers());
                rounded.reset(opening.position());
                let quiet = positions.iter().filter(|position| !position.is_check());
                let both = quiet.map(|position| (exact.evaluate(position), rounded.evaluate(position)));
                let mut total = total.lock().ignore_poison();
                total.0[halves] += 1;
                total.1.extend(both);
            }
        };
        let lanes: Vec<_> = (0..threads).map(|_| scope.spawn(play)).collect();
        lanes.into_iter().try_for_each(|lane| lane.join().expect("a game does not panic"))
    })?;

    let (pentanomial, values) = total.into_inner().ignore_poison();
    let mut differences: Vec<i32> = values.iter().map(|(exact, rounded)| (exact - rounded).abs()).collect();
    differences.sort_unstable();
    let percentile = |share: usize| differences[(differences.len() - 1) * share / 100];
    println!(
        "{} positions: centipawns by floats and by integers differ by {} in half of them, up to {} in 95 %, up to {} in 99 %",
        differences.len(),
        percentile(50),
        percentile(95),
        percentile(99)
    );
    let halves: u32 = pentanomial.iter().zip(0..).map(|(pairs, halves)| pairs * halves).sum();
    let pairs: u32 = pentanomial.iter().sum();
    let score = f64::from(halves) / f64::from(4 * pairs);
    let (low, high) = interval(&pentanomial);
    println!(
        "floats against integers, {nodes} nodes a move: score {score:.3} in {} games, pairs {pentanomial:?}, Elo {:+.0} [{:+.0}, {:+.0}]",
        2 * pairs,
        elo_of(score).unwrap_or(f64::NAN),
        elo_of(low).unwrap_or(f64::NAN),
        elo_of(high).unwrap_or(f64::NAN)
    );
    Ok(())
}
