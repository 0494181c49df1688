//! Answers: the result of a search as a line of JSON.

use std::collections::BTreeMap;

use dc0_core::board::{Game, Move, Outcome, Side};
use dc0_core::network::PositionValue;
use dc0_core::search::{ANALYSIS_RULES, Line, Proof, Search};
use serde::Serialize;

use super::job::Job;
use super::query::QueryParams;
use crate::score::{Calibrated, ScoreFit, line_to_mate};

#[derive(Serialize)]
struct Answer<'a> {
    id: &'a str,
    turn: u32,
    is_during_search: bool,
    is_terminated: bool,
    fen: String,
    side: &'static str,
    /// Why the game is over, if it is.
    outcome: Option<&'static str>,
    /// Absent if the search was terminated before its first visit.
    root: Option<Root>,
    moves: Vec<SearchedMove>,
    #[serde(skip_serializing_if = "Option::is_none")]
    policy: Option<BTreeMap<String, f32>>,
}

#[derive(Serialize)]
struct Root {
    visits: u32,
    /// P(win) − P(loss).
    value: f64,
    /// P(draw).
    draw: f64,
    /// The net's own P(win) − P(loss) and P(draw), without a search.
    net_value: Option<f64>,
    net_draw: Option<f64>,
    moves_left: Option<f64>,
    proof: Option<&'static str>,
    score: Score,
}

#[derive(Serialize)]
struct SearchedMove {
    order: usize,
    #[serde(rename = "move")]
    mv: String,
    san: String,
    visits: u32,
    prior: f32,
    /// With the draw score; absent without a visit.
    value: Option<f64>,
    draw: f64,
    moves_left: Option<f64>,
    proof: Option<&'static str>,
    score: Score,
    pv: Vec<String>,
}

/// What people read: chances and a score, by the fit of the net's values to results.
#[derive(Serialize)]
struct Score {
    win: f64,
    draw: f64,
    loss: f64,
    /// Absent where a mate is proven.
    cp: Option<i64>,
    mate: Option<i64>,
}

/// The line for a job that is over, or for one whose search goes on.
pub(super) fn answer(job: &Job, fit: ScoreFit, is_during_search: bool) -> String {
    let (task, params) = (&job.task, &job.task.query.params);
    let decided;
    let (game, outcome) = if let Some(progress) = &job.progress {
        (progress.search.game(), None)
    } else {
        decided = task.query.game(task.turn);
        (&decided, decided.outcome(&ANALYSIS_RULES))
    };
    let side = game.position().side_to_move();
    let searched = job.searched();
    let lines = searched.map(|search| search.lines(params.lines as usize)).unwrap_or_default();
    let root = match outcome {
        Some(outcome) => Some(Root::decided(outcome, side, fit)),
        None => searched.map(|search| Root::searched(search, &lines, fit)),
    };
    let line = Answer {
        id: &task.query.id,
        turn: task.turn,
        is_during_search,
        is_terminated: task.is_terminated(),
        fen: game.position().fen(),
        side: if side == Side::White { "white" } else { "black" },
        outcome: outcome.map(|outcome| outcome.reason.name()),
        root,
        moves: searched.map(|search| moves(search, &lines, params, fit)).unwrap_or_default(),
        policy: searched.filter(|_| params.include_policy).map(policy),
    };
    serde_json::to_string(&line).expect("text and numbers")
}

fn policy(search: &Search) -> BTreeMap<String, f32> {
    search.root_moves().map(|mv| (mv.played.to_string(), mv.prior)).collect()
}

fn moves(search: &Search, lines: &[Line], params: &QueryParams, fit: ScoreFit) -> Vec<SearchedMove> {
    let game: &Game = search.game();
    let searched = |(order, line): (usize, &Line)| {
        let pv: Vec<Move> = line_to_mate(search, line);
        SearchedMove {
            order,
            mv: line.first.played.to_string(),
            san: game.position().san(line.first.played),
            visits: line.first.visits,
            prior: line.first.prior,
            value: line.first.value,
            draw: line.draw,
            moves_left: line.first.moves_left,
            proof: line.first.proof.map(Proof::name),
            score: fit.of_line(search, line).into(),
            pv: pv.iter().take(params.pv_length as usize).map(ToString::to_string).collect(),
        }
    };
    lines.iter().enumerate().map(searched).collect()
}

impl Root {
    fn searched(search: &Search, lines: &[Line], fit: ScoreFit) -> Self {
        let PositionValue { value, draw } = search.root_value();
        let net = search.net_value();
        Self {
            visits: search.visits(),
            value,
            draw,
            net_value: Some(net.value),
            net_draw: Some(net.draw),
            moves_left: search.moves_left(),
            proof: search.proof().map(Proof::name),
            score: fit.of_root(search, lines).into(),
        }
    }

    /// Of a game that is over, which no search is needed for.
    fn decided(outcome: Outcome, side: Side, fit: ScoreFit) -> Self {
        let result = outcome.score_for(side);
        let (value, draw) = (f64::from(result), if result == 0 { 1.0 } else { 0.0 });
        let mate = (result != 0).then_some(0);
        Self {
            visits: 0,
            value,
            draw,
            net_value: None,
            net_draw: None,
            moves_left: Some(0.0),
            proof: Some(if result == 0 { "draw" } else { "loss" }),
            score: Calibrated { mate, ..fit.of_value(value, draw) }.into(),
        }
    }
}

impl From<Calibrated> for Score {
    fn from(shown: Calibrated) -> Self {
        let [win, draw, loss] = shown.wdl();
        Self { win, draw, loss, cp: shown.cp(), mate: shown.mate }
    }
}
