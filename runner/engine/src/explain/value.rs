//! An explanation as plain values, for scripts and JSON.

use crate::score::Calibrated;
use crate::variation::whole_moves;
use dc0_core::board::{Game, Move, Position, Side};
use dc0_core::network::Wdl;
use dc0_core::params::{Param, Value};
use dc0_core::search::Proof;
use dc0_core::search::reference::{Choice, End, Leaf, NodeUpdate, ScoredMove, Simulation};

use super::figures::wdl;
use super::study::{Searched, Study};
use super::tree::{Branches, TreeNode, tree};

/// A study as a value.
pub fn value(study: &Study) -> Value {
    let root = study.search.root_value();
    let net = Value::of([
        ("value", study.net.wdl.value().into()),
        ("win", study.net.wdl.win.into()),
        ("draw", study.net.wdl.draw.into()),
        ("loss", study.net.wdl.loss.into()),
        ("in_games", in_games(study.net_score())),
        ("moves_left", study.net.moves_left.into()),
        (
            "moves",
            Value::List(study.net.moves.iter().map(|mv| prior(study.game().position(), *mv)).collect()),
        ),
    ]);
    let search = wdl(root);
    let search = Value::of([
        ("simulations", study.search.visits().into()),
        ("value", root.value.into()),
        ("win", search.win.into()),
        ("draw", search.draw.into()),
        ("loss", search.loss.into()),
        ("in_games", in_games(study.search_score())),
        ("proof", study.search.proof().map(Proof::name).into()),
        ("moves", Value::List(study.moves.iter().map(|mv| searched(study, mv)).collect())),
    ]);
    let mut rows = Vec::new();
    tree_rows(&tree(study), "", &mut rows);
    let simulations = study.search.simulations().iter().zip(0..);
    let steps = simulations.map(|(simulation, number)| step(study.game(), simulation, number));
    Value::of([
        ("fen", study.game().position().fen().into()),
        ("side", side(study.side())),
        ("network", Value::from(&study.name)),
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
    Value::of([
        ("win", win),
        ("draw", draw),
        ("loss", loss),
        ("cp", shown.cp().into()),
        ("mate", shown.mate.into()),
    ])
}

fn side(side: Side) -> Value {
    Value::from(format!("{side:?}"))
}

fn named(position: &Position, mv: Move) -> [(&'static str, Value); 2] {
    [("move", mv.to_string().into()), ("san", position.san(mv).into())]
}

fn prior(position: &Position, (mv, prior): (Move, impl Into<f64>)) -> Value {
    let [uci, san] = named(position, mv);
    Value::of([uci, san, ("prior", Value::Float(prior.into()))])
}

fn searched(study: &Study, searched: &Searched) -> Value {
    let (edge, position) = (&searched.edge, study.game().position());
    let [uci, san] = named(position, edge.played);
    let score =
        |part: fn(&dc0_core::search::RootScore) -> f64, score: Option<&_>| Value::from(score.map(part));
    Value::of([
        uci,
        san,
        ("visits", edge.visits.into()),
        ("target", searched.target.into()),
        ("prior", edge.prior.into()),
        ("net_prior", Value::from(study.net_prior(edge.played))),
        ("q", edge.value.into()),
        ("u", score(|score| score.u, searched.score.as_ref())),
        ("plies", score(|score| score.plies, searched.score.as_ref())),
        ("score", score(|score| score.score, searched.score.as_ref())),
        ("in_games", searched.shown.map_or(Value::None, in_games)),
        ("proof", edge.proof.map(Proof::name).into()),
        ("line", Value::from(whole_moves(position, &searched.line, usize::MAX))),
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
        ("depth", u32::from(node.depth).into()),
        ("path", path.into()),
        ("move", node.mv.to_string().into()),
        ("san", Value::from(&node.san)),
        ("visits", node.visits.into()),
        ("q", node.q.into()),
        ("net_q", node.net_q.into()),
        ("prior", node.prior.into()),
        ("proof", node.proof.into()),
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
        ("number", number.into()),
        ("choices", Value::List(choices)),
        ("leaf", leaf(game.position(), &simulation.leaf)),
        ("back_up", Value::List(back_up.collect())),
    ])
}

fn chosen(position: &Position, choice: &Choice) -> Value {
    let moves = choice.moves.iter().map(|candidate| scored(position, candidate));
    Value::of([
        ("depth", choice.depth.into()),
        ("side", side(position.side_to_move())),
        ("visits", choice.visits.into()),
        ("san", Value::from(position.san(choice.moves[choice.chosen].played))),
        ("chosen", Value::Int(choice.chosen as i64)),
        ("moves", Value::List(moves.collect())),
    ])
}

fn scored(position: &Position, candidate: &ScoredMove) -> Value {
    let [uci, san] = named(position, candidate.played);
    let common = [
        uci,
        san,
        ("visits", candidate.visits.into()),
        ("prior", candidate.prior.into()),
        ("q", candidate.q.into()),
        ("score", candidate.score.into()),
        ("open", candidate.is_open.into()),
    ];
    let terms = candidate.terms.map(|(name, value)| (name, Value::from(value)));
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
        ("depth", leaf.depth.into()),
        ("fen", position.fen().into()),
        ("side", side(position.side_to_move())),
        ("end", end.into()),
        ("win", win.into()),
        ("draw", draw.into()),
        ("loss", loss.into()),
        ("value", leaf.value.into()),
        ("moves", Value::List(leaf.priors.iter().map(|mv| prior(position, *mv)).collect())),
    ])
}

fn counted_value(root: Side, counted: &NodeUpdate) -> Value {
    let mover = if counted.depth.is_multiple_of(2) { root } else { root.other() };
    Value::of([
        ("depth", counted.depth.into()),
        ("side", side(mover)),
        ("value", counted.value.into()),
        ("visits", counted.visits.into()),
        ("mean", counted.mean.into()),
        ("certain", counted.proven.map_or(Value::None, |result| Value::Int(result.into()))),
    ])
}
