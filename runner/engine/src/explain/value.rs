//! An explanation as plain values, for scripts and JSON.

use crate::score::Calibrated;
use dc0_core::board::{Game, Move, Position, Side};
use dc0_core::network::Wdl;
use dc0_core::params::{Param, Value};
use dc0_core::search::reference::{Choice, End, Leaf, NodeUpdate, ScoredMove, Simulation};

use super::figures::{line, wdl};
use super::study::{Searched, Study};
use super::tree::{Branches, TreeNode, tree};

/// A study as a value.
pub fn value(study: &Study) -> Value {
    let root = study.search.root_value();
    let net = Value::of([
        ("value", float(study.net.wdl.value())),
        ("win", float(study.net.wdl.win)),
        ("draw", float(study.net.wdl.draw)),
        ("loss", float(study.net.wdl.loss)),
        ("in_games", in_games(study.net_score())),
        ("moves_left", study.net.moves_left.map_or(Value::None, float)),
        (
            "moves",
            Value::List(study.net.moves.iter().map(|mv| prior(study.game().position(), *mv)).collect()),
        ),
    ]);
    let search = wdl(root);
    let search = Value::of([
        ("simulations", int(study.search.visits())),
        ("value", Value::Float(root.value)),
        ("win", float(search.win)),
        ("draw", float(search.draw)),
        ("loss", float(search.loss)),
        ("in_games", in_games(study.search_score())),
        ("proof", study.search.proof().map_or(Value::None, |proof| text(proof.name()))),
        ("moves", Value::List(study.moves.iter().map(|mv| searched(study, mv)).collect())),
    ]);
    let mut rows = Vec::new();
    tree_rows(&tree(study), "", &mut rows);
    let simulations = study.search.simulations().iter().zip(0..);
    let steps = simulations.map(|(simulation, number)| step(study.game(), simulation, number));
    Value::of([
        ("fen", text(study.game().position().fen())),
        ("side", side(study.side())),
        ("network", text(&study.name)),
        ("params", study.params.to_value()),
        ("net", net),
        ("search", search),
        ("tree", Value::List(rows)),
        ("steps", Value::List(steps.collect())),
    ])
}

/// What people read: chances, and hundredths of a pawn or moves to mate.
fn in_games(shown: Calibrated) -> Value {
    let [win, draw, loss] = shown.wdl().map(Value::Float);
    let int = |number: Option<i64>| number.map_or(Value::None, Value::Int);
    Value::of([
        ("win", win),
        ("draw", draw),
        ("loss", loss),
        ("cp", int(shown.cp())),
        ("mate", int(shown.mate)),
    ])
}

fn float(number: f32) -> Value {
    Value::Float(number.into())
}

fn int(number: u32) -> Value {
    Value::Int(number.into())
}

fn text(text: impl Into<String>) -> Value {
    Value::Text(text.into())
}

fn side(side: Side) -> Value {
    text(format!("{side:?}"))
}

fn named(position: &Position, mv: Move) -> [(&'static str, Value); 2] {
    [("move", text(mv.to_string())), ("san", text(position.san(mv)))]
}

fn prior(position: &Position, (mv, prior): (Move, impl Into<f64>)) -> Value {
    let [uci, san] = named(position, mv);
    Value::of([uci, san, ("prior", Value::Float(prior.into()))])
}

fn searched(study: &Study, searched: &Searched) -> Value {
    let (edge, position) = (&searched.edge, study.game().position());
    let [uci, san] = named(position, edge.played);
    let score = |part: fn(&dc0_core::search::RootScore) -> f64, score: Option<&_>| {
        score.map_or(Value::None, |score| Value::Float(part(score)))
    };
    Value::of([
        uci,
        san,
        ("visits", int(edge.visits)),
        ("target", Value::Float(searched.target)),
        ("prior", float(edge.prior)),
        ("net_prior", float(study.net_prior(edge.played))),
        ("q", edge.value.map_or(Value::None, Value::Float)),
        ("u", score(|score| score.u, searched.score.as_ref())),
        ("plies", score(|score| score.plies, searched.score.as_ref())),
        ("score", score(|score| score.score, searched.score.as_ref())),
        ("in_games", searched.shown.map_or(Value::None, in_games)),
        ("proof", edge.proof.map_or(Value::None, |proof| text(proof.name()))),
        ("line", text(line(position, &searched.line, usize::MAX))),
    ])
}

/// The tree in preorder, a row for each move.
fn tree_rows(branches: &Branches, before: &str, rows: &mut Vec<Value>) {
    for node in &branches.shown {
        let path = if before.is_empty() { node.san.clone() } else { format!("{before} {}", node.san) };
        rows.push(row(node, &path));
        tree_rows(&node.below, &path, rows);
    }
}

fn row(node: &TreeNode, path: &str) -> Value {
    Value::of([
        ("depth", int(node.depth.into())),
        ("path", text(path)),
        ("move", text(node.mv.to_string())),
        ("san", text(&node.san)),
        ("visits", int(node.visits)),
        ("q", Value::Float(node.q)),
        ("net_q", Value::Float(node.net_q)),
        ("prior", float(node.prior)),
        ("proof", node.proof.map_or(Value::None, text)),
    ])
}

/// A simulation of the reference search, with its moves in SAN.
fn step(start: &Game, simulation: &Simulation, number: u32) -> Value {
    let mut game = start.clone();
    let mut choices = Vec::new();
    for choice in &simulation.choices {
        choices.push(chosen(game.position(), choice));
        game.play_unchecked(choice.moves[choice.chosen].played);
    }
    let root = start.position().side_to_move();
    let back_up = simulation.back_up.iter().map(|counted| counted_value(root, counted));
    Value::of([
        ("number", int(number)),
        ("choices", Value::List(choices)),
        ("leaf", leaf(game.position(), &simulation.leaf)),
        ("back_up", Value::List(back_up.collect())),
    ])
}

fn chosen(position: &Position, choice: &Choice) -> Value {
    let moves = choice.moves.iter().map(|candidate| scored(position, candidate));
    Value::of([
        ("depth", int(choice.depth)),
        ("side", side(position.side_to_move())),
        ("visits", int(choice.visits)),
        ("san", text(position.san(choice.moves[choice.chosen].played))),
        ("chosen", Value::Int(choice.chosen as i64)),
        ("moves", Value::List(moves.collect())),
    ])
}

fn scored(position: &Position, candidate: &ScoredMove) -> Value {
    let [uci, san] = named(position, candidate.played);
    let common = [
        uci,
        san,
        ("visits", int(candidate.visits)),
        ("prior", Value::Float(candidate.prior)),
        ("q", Value::Float(candidate.q)),
        ("score", Value::Float(candidate.score)),
        ("open", Value::Bool(candidate.is_open)),
    ];
    let terms = candidate.terms.map(|(name, value)| (name, Value::Float(value)));
    Value::Group(common.into_iter().chain(terms).map(|(name, value)| (name.to_owned(), value)).collect())
}

fn leaf(position: &Position, leaf: &Leaf) -> Value {
    let Wdl { win, draw, loss } = leaf.evaluation;
    let end = match leaf.end {
        End::New => "new",
        End::Certain(_) => "certain",
        End::Repeated => "repeated",
        End::Shared => "shared",
    };
    Value::of([
        ("depth", int(leaf.depth)),
        ("fen", text(position.fen())),
        ("side", side(position.side_to_move())),
        ("end", text(end)),
        ("win", float(win)),
        ("draw", float(draw)),
        ("loss", float(loss)),
        ("value", Value::Float(leaf.value)),
        ("moves", Value::List(leaf.priors.iter().map(|mv| prior(position, *mv)).collect())),
    ])
}

fn counted_value(root: Side, counted: &NodeUpdate) -> Value {
    let mover = if counted.depth.is_multiple_of(2) { root } else { root.other() };
    Value::of([
        ("depth", int(counted.depth)),
        ("side", side(mover)),
        ("value", Value::Float(counted.value)),
        ("visits", int(counted.visits)),
        ("mean", Value::Float(counted.mean)),
        ("certain", counted.proven.map_or(Value::None, |result| Value::Int(result.into()))),
    ])
}
