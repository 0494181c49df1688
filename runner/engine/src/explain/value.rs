//! An explanation as plain values, for scripts and JSON.

use dc0_core::board::{Game, Move, Position, Side};
use dc0_core::network::Wdl;
use dc0_core::params::{Param, Value};
use dc0_core::search::reference::{Choice, Counted, End, Leaf, Scored, Simulation};

use super::figures::{line, wdl};
use super::study::{Searched, Study};
use super::text::word;
use super::tree::{Branches, Twig, tree};

/// Everything that a study found.
pub fn value(study: &Study) -> Value {
    let (q, draw) = study.search.root_value();
    let net = Value::of([
        ("value", float(study.net.wdl.value())),
        ("win", float(study.net.wdl.win)),
        ("draw", float(study.net.wdl.draw)),
        ("loss", float(study.net.wdl.loss)),
        ("moves_left", study.net.moves_left.map_or(Value::None, float)),
        (
            "moves",
            Value::List(study.net.moves.iter().map(|of| prior(study.game().position(), *of)).collect()),
        ),
    ]);
    let search = wdl(q, draw);
    let search = Value::of([
        ("simulations", int(study.search.visits())),
        ("value", Value::Float(q)),
        ("win", float(search.win)),
        ("draw", float(search.draw)),
        ("loss", float(search.loss)),
        ("proof", study.search.proof().map_or(Value::None, |proof| text(word(proof)))),
        ("moves", Value::List(study.moves.iter().map(|of| searched(study, of)).collect())),
    ]);
    let mut rows = Vec::new();
    twigs(&tree(study), "", &mut rows);
    let steps = study.search.simulations().iter().zip(0..).map(|(of, number)| step(study.game(), of, number));
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

fn named(position: &Position, played: Move) -> [(&'static str, Value); 2] {
    [("move", text(played.to_string())), ("san", text(position.san(played)))]
}

fn prior(position: &Position, (played, prior): (Move, impl Into<f64>)) -> Value {
    let [played, san] = named(position, played);
    Value::of([played, san, ("prior", Value::Float(prior.into()))])
}

fn searched(study: &Study, of: &Searched) -> Value {
    let (seen, position) = (&of.seen, study.game().position());
    let [played, san] = named(position, seen.played);
    let score = |of: fn(&dc0_core::search::RootScore) -> f64, score: Option<&_>| {
        score.map_or(Value::None, |score| Value::Float(of(score)))
    };
    Value::of([
        played,
        san,
        ("visits", int(seen.visits)),
        ("target", Value::Float(of.target)),
        ("prior", float(seen.prior)),
        ("net_prior", float(study.net_prior(seen.played))),
        ("q", seen.value.map_or(Value::None, Value::Float)),
        ("u", score(|of| of.u, of.score.as_ref())),
        ("plies", score(|of| of.plies, of.score.as_ref())),
        ("score", score(|of| of.score, of.score.as_ref())),
        ("proof", seen.proof.map_or(Value::None, |proof| text(word(proof)))),
        ("line", text(line(position, &of.line, usize::MAX))),
    ])
}

/// The tree, a row for each move, each before those below it.
fn twigs(branches: &Branches, before: &str, rows: &mut Vec<Value>) {
    for twig in &branches.shown {
        let path = if before.is_empty() { twig.san.clone() } else { format!("{before} {}", twig.san) };
        rows.push(row(twig, &path));
        twigs(&twig.below, &path, rows);
    }
}

fn row(twig: &Twig, path: &str) -> Value {
    Value::of([
        ("depth", int(twig.depth.into())),
        ("path", text(path)),
        ("move", text(twig.played.to_string())),
        ("san", text(&twig.san)),
        ("visits", int(twig.visits)),
        ("q", Value::Float(twig.q)),
        ("net_q", Value::Float(twig.net_q)),
        ("prior", float(twig.prior)),
        ("proof", twig.proof.map_or(Value::None, text)),
    ])
}

/// A simulation of the reference search, with its moves in SAN.
fn step(start: &Game, of: &Simulation, number: u32) -> Value {
    let mut game = start.clone();
    let mut choices = Vec::new();
    for choice in &of.choices {
        choices.push(chosen(game.position(), choice));
        game.play_unchecked(choice.moves[choice.chosen].played);
    }
    let root = start.position().side_to_move();
    let back_up = of.back_up.iter().map(|counted| counted_value(root, counted));
    Value::of([
        ("number", int(number)),
        ("choices", Value::List(choices)),
        ("leaf", leaf(game.position(), &of.leaf)),
        ("back_up", Value::List(back_up.collect())),
    ])
}

fn chosen(position: &Position, choice: &Choice) -> Value {
    let moves = choice.moves.iter().map(|of| scored(position, of));
    Value::of([
        ("depth", int(choice.depth)),
        ("side", side(position.side_to_move())),
        ("visits", int(choice.visits)),
        ("san", text(position.san(choice.moves[choice.chosen].played))),
        ("chosen", Value::Int(choice.chosen as i64)),
        ("moves", Value::List(moves.collect())),
    ])
}

fn scored(position: &Position, of: &Scored) -> Value {
    let [played, san] = named(position, of.played);
    let common = [
        played,
        san,
        ("visits", int(of.visits)),
        ("prior", Value::Float(of.prior)),
        ("q", Value::Float(of.q)),
        ("score", Value::Float(of.score)),
        ("open", Value::Bool(of.is_open)),
    ];
    let terms = of.terms.map(|(name, value)| (name, Value::Float(value)));
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
        ("moves", Value::List(leaf.priors.iter().map(|of| prior(position, *of)).collect())),
    ])
}

fn counted_value(root: Side, counted: &Counted) -> Value {
    let mover = if counted.depth.is_multiple_of(2) { root } else { root.other() };
    Value::of([
        ("depth", int(counted.depth)),
        ("side", side(mover)),
        ("value", Value::Float(counted.value)),
        ("visits", int(counted.visits)),
        ("mean", Value::Float(counted.mean)),
        ("certain", counted.certain.map_or(Value::None, |result| Value::Int(result.into()))),
    ])
}
