//! What a record says of the search of its position: policy, visits and values.

use super::fault::Fault;
use super::params::{Lc0Params, Lc0Value};
use super::record::{Record, Stored};
use crate::board::{Move, Position};
use crate::encoding::leela_index;
use crate::selfplay::PositionRow;
use crate::store::Reject;

/// How far the probabilities of a policy may sum from 1. lc0's rescorer has the same limit (`src/trainingdata/rescorer.cc`).
const POLICY_SLACK: f64 = 0.01;

/// How far q and d may be out of range. They are sums of many floats, and those of the net may have been computed in half
/// precision. What is no further out is set to the border.
const VALUE_SLACK: f32 = 1e-3;

/// The legal moves of a position with Leela's indices, by packed move.
pub(super) fn indexed_moves(position: &Position) -> Vec<(Move, u16)> {
    let mut moves: Vec<(Move, u16)> =
        position.legal_moves().into_iter().map(|mv| (mv, leela_index(mv, position))).collect();
    moves.sort_unstable();
    moves
}

/// Sets what a record says of its search, given the legal moves. The visits of moves are those that lc0's shares come from: whole
/// numbers with the sum of one less than the root's.
pub(super) fn set_search(
    row: &mut PositionRow,
    record: Record<'_>,
    legal: &[(Move, u16)],
    params: &Lc0Params,
) -> Result<(), Fault> {
    let sum = policy_sum(record, legal)?;
    let simulations = record.visits();
    let share = |index: u16| f64::from(record.probability(index)) / sum;
    let (mut reached, mut counted) = (0.0, 0);
    let moves = legal.iter().map(|(mv, index)| {
        // Rounding the running sum gives the same counts as rounding each share where shares are visits over their sum, and keeps
        // their sum where they are not.
        reached += share(*index);
        let until = (reached * f64::from(simulations - 1)).round() as u32;
        let visits = until - counted;
        counted = until;
        (mv.packed(), visits, share(*index))
    });
    row.set_target(moves);
    row.legal = legal.len() as u16;
    row.simulations = simulations;
    row.full = true;
    let root = value(record.root(), "root")?;
    (row.root_q, row.root_d) = match params.value {
        Lc0Value::Root => root,
        Lc0Value::Best => value(record.best(), "best")?,
        Lc0Value::Result => value(record.result(), "result")?,
    };
    let net = record.net();
    (row.net_q, row.net_d) = if net.0.is_nan() || net.1.is_nan() { root } else { value(net, "orig")? };
    row.policy_surprise = surprise(record.policy_kld())?;
    Ok(())
}

/// The sum of the probabilities, if they are of exactly the legal moves.
fn policy_sum(record: Record<'_>, legal: &[(Move, u16)]) -> Result<f64, Fault> {
    let fault = |detail| Err(Fault { reason: Reject::Policy, detail });
    if record.visits() == 0 {
        let detail = "it has no visits: it was converted from an earlier version, which does not say which move was played";
        return Err(Fault { reason: Reject::Version, detail: detail.to_owned() });
    }
    let is_given = |share: f32| share >= 0.0;
    if let Some((mv, index)) = legal.iter().find(|(_, index)| !is_given(record.probability(*index))) {
        let found = record.probability(*index);
        return fault(format!("{mv} is legal, and its probability is {found}; expected at least 0"));
    }
    let given = record.probabilities().filter(|share| is_given(*share)).count();
    if given != legal.len() {
        let is_legal = |at: usize| legal.iter().any(|(_, index)| usize::from(*index) == at);
        let mut others =
            record.probabilities().enumerate().filter(|(at, share)| is_given(*share) && !is_legal(*at));
        let (at, share) = others.next().unwrap_or_default();
        return fault(format!(
            "policy index {at} is of no legal move, and its probability is {share}; expected less than 0"
        ));
    }
    let sum: f64 = legal.iter().map(|(_, index)| f64::from(record.probability(*index))).sum();
    // Infinity fails too.
    let is_whole = (sum - 1.0).abs() <= POLICY_SLACK;
    if is_whole { Ok(sum) } else { fault(format!("its probabilities sum to {sum}; expected 1")) }
}

/// q and d of a value, if they are possible.
fn value((q, d): Stored, name: &str) -> Result<Stored, Fault> {
    // NaN fails too.
    let is_possible = d >= -VALUE_SLACK && q.abs() + d <= 1.0 + VALUE_SLACK;
    if !is_possible {
        let detail = format!(
            "its {name}_q is {q} and its {name}_d is {d}; expected |q| + d to be at most 1, and d at least 0"
        );
        return Err(Fault { reason: Reject::Value, detail });
    }
    let q = q.clamp(-1.0, 1.0);
    Ok((q, d.clamp(0.0, 1.0 - q.abs())))
}

/// KL(target ‖ prior) in nats; NaN if it is not known.
fn surprise(found: f32) -> Result<f32, Fault> {
    if found < 0.0 || found.is_infinite() {
        let detail = format!("its policy_kld is {found}; expected a finite number of at least 0");
        return Err(Fault { reason: Reject::Value, detail });
    }
    Ok(if found == 0.0 { f32::NAN } else { found })
}

/// The result of a record for its side to move: 1, 0 or −1; `None` if it is a mixture, as lc0's rescorer makes them.
pub(super) fn whole_result(record: Record<'_>) -> Result<Option<i8>, Fault> {
    let known = [((1.0, 0.0), 1), ((0.0, 1.0), 0), ((-1.0, 0.0), -1)];
    let found = value(record.result(), "result")?;
    Ok(known.into_iter().find(|(pair, _)| *pair == found).map(|(_, result)| result))
}
