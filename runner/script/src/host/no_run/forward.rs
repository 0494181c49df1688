//! The forward pass of a net on one position, as a map for scripts.

use dc0_core::board::Game;
use dc0_core::encoding::{Encoding, PlaneKind};
use dc0_core::network::Batch;
use dc0_core::network::checkpoint::Checkpoint;
use dc0_core::network::graph::{Graph, Layer, Shape};
use dc0_core::network::torch::{ForwardPass, LayerOutput, forward_pass};
use dc0_core::params::Value;

use super::OutsideError;
use dc0_engine::explain::ExplainError;

/// Input planes, layers and heads. Squares are in the order a1, b1, … h8 of the board as the net sees it.
pub(super) fn evaluate(net: &Checkpoint, game: &Game) -> Result<Value, OutsideError> {
    let encoding = net.spec.input();
    let mut batch = Batch::default();
    batch.push(&encoding, game);
    let pass = forward_pass(&net.spec, &net.weights, &batch).map_err(ExplainError::from)?;
    let graph = Graph::new(&net.spec);
    let layers = graph.layers.iter().zip(&pass.layers).map(|(layer, output)| layer_value(layer, output));
    let value = Value::of([
        ("numbers", floats(&pass.value)),
        ("win", pass.wdl.win.into()),
        ("draw", pass.wdl.draw.into()),
        ("loss", pass.wdl.loss.into()),
        ("value", pass.wdl.value().into()),
    ]);
    Ok(Value::of([
        ("fen", Value::Text(game.position().fen())),
        ("side", Value::Text(format!("{:?}", game.position().side_to_move()))),
        ("encoding", Value::Text(encoding.to_string())),
        ("planes", Value::List(planes(&encoding, &batch))),
        ("layers", Value::List(layers.collect())),
        ("policy", Value::List(policy(game, &batch, &pass))),
        ("value", value),
        ("moves_left", pass.moves_left.into()),
    ]))
}

fn floats(numbers: &[f32]) -> Value {
    Value::List(numbers.iter().map(|number| Value::from(*number)).collect())
}

/// Every input plane with its name: 64 squares of 0 or 1, or one number for all squares.
fn planes(encoding: &Encoding, batch: &Batch) -> Vec<Value> {
    let (mut bits, mut scalars) = (batch.binary.iter(), batch.scalars.iter());
    let bit = |bits: u64, square: u32| Value::Float((bits >> square & 1) as f64);
    let plane = |plane: &dc0_core::encoding::Plane| {
        let (squares, number) = match plane.kind() {
            PlaneKind::Binary => {
                let bits = *bits.next().expect("a bitboard for each binary plane");
                (Value::List((0..64).map(|square| bit(bits, square)).collect()), Value::None)
            }
            PlaneKind::Scalar => {
                (Value::None, Value::from(*scalars.next().expect("a number for each scalar plane")))
            }
        };
        let name = Value::Text(plane.describe(encoding.orientation()));
        Value::of([("name", name), ("squares", squares), ("number", number)])
    };
    encoding.planes().iter().map(plane).collect()
}

fn layer_value(layer: &Layer, output: &LayerOutput) -> Value {
    let shape = match layer.output {
        Shape::Board(channels) => format!("{channels}×8×8"),
        Shape::Flat(width) => width.to_string(),
    };
    let statistics = &output.statistics;
    Value::of([
        ("name", Value::Text(layer.name.clone())),
        ("shape", Value::Text(shape)),
        ("parameters", Value::Int(layer.parameter_count() as i64)),
        ("mean", Value::Float(statistics.mean)),
        ("deviation", Value::Float(statistics.deviation)),
        ("largest", Value::Float(statistics.largest)),
        ("zeros", Value::Float(statistics.zeros)),
        ("squares", output.squares.as_ref().map_or(Value::None, |squares| floats(squares))),
    ])
}

/// Every legal move with its policy index, logit and probability, the likeliest first.
fn policy(game: &Game, batch: &Batch, pass: &ForwardPass) -> Vec<Value> {
    let position = game.position();
    let mut order: Vec<usize> = (0..pass.policy.len()).collect();
    order.sort_by(|a, b| pass.policy[*b].total_cmp(&pass.policy[*a]));
    let legal = position.legal_moves();
    let move_value = |i: usize| {
        let (mv, index) = (legal[i], batch.legal[i]);
        Value::of([
            ("move", Value::Text(mv.to_string())),
            ("san", Value::Text(position.san(mv))),
            ("index", Value::Int(index.get().into())),
            ("plane", Value::Int(index.plane() as i64)),
            ("square", Value::Int(index.square() as i64)),
            ("logit", pass.logits[i].into()),
            ("prior", pass.policy[i].into()),
        ])
    };
    order.into_iter().map(move_value).collect()
}
