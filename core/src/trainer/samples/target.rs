//! Policy and value targets, and which games are held out.

use super::Fault;
use crate::network::Wdl;
use crate::store::PositionRow;
use crate::trainer::TrainParams;

/// How far |q| + d may exceed 1 by rounding.
const ROUNDING: f32 = 1e-4;

/// The parameters that samples depend on; see [`TrainParams`] for their meaning.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Targets {
    search_value_weight: f64,
    discount: f64,
    ply_cap_value_weight: f64,
    validation_fraction: f64,
}

impl Targets {
    pub(super) fn from_params(params: &TrainParams) -> Self {
        let TrainParams { search_value_weight, discount, ply_cap_value_weight, validation_fraction, .. } =
            *params;
        Self { search_value_weight, discount, ply_cap_value_weight, validation_fraction }
    }

    /// The weight of a value target in a game that the ply cap ended.
    pub(super) fn ply_cap_weight(self) -> f32 {
        self.ply_cap_value_weight as f32
    }
}

/// The value target of a position `plies_left` plies before the game's end:
/// `(1 − w) · discounted result + w · search`, with `w` the parameter `search_value_weight`.
///
/// The result is `perfect`, the result of perfect play, if known, else the game's.
pub(super) fn value(
    row: &PositionRow,
    perfect: Option<i8>,
    plies_left: usize,
    targets: Targets,
) -> Result<Wdl, Fault> {
    let result = discounted(perfect.unwrap_or(row.result), plies_left, targets.discount);
    let weight = targets.search_value_weight;
    if weight == 0.0 {
        return Ok(to_wdl(result));
    }
    let search = search_value(row.root_q, row.root_d)?;
    Ok(to_wdl([0, 1, 2].map(|part| (1.0 - weight) * result[part] + weight * search[part])))
}

/// A value target multiplied by its weight in the loss.
pub(super) fn weighted(target: Wdl, weight: f32) -> Wdl {
    Wdl { win: target.win * weight, draw: target.draw * weight, loss: target.loss * weight }
}

/// Win, draw and loss of a result (1, 0 or −1): decided with probability `discount^plies_left`, else drawn.
fn discounted(result: i8, plies_left: usize, discount: f64) -> [f64; 3] {
    let decided = discount.powi(plies_left as i32);
    match result {
        1 => [decided, 1.0 - decided, 0.0],
        -1 => [0.0, 1.0 - decided, decided],
        _ => [0.0, 1.0, 0.0],
    }
}

/// Win, draw and loss from q = P(win) − P(loss) and d = P(draw).
fn search_value(q: f32, d: f32) -> Result<[f64; 3], Fault> {
    // Written so that NaN fails too.
    if !(d >= -ROUNDING && q.abs() + d <= 1.0 + ROUNDING) {
        return Err(Fault::SearchValue { q, d });
    }
    let (q, d) = (f64::from(q), f64::from(d));
    Ok([f64::midpoint(1.0 - d, q), d, f64::midpoint(1.0 - d, -q)])
}

fn to_wdl([win, draw, loss]: [f64; 3]) -> Wdl {
    Wdl { win: win as f32, draw: draw as f32, loss: loss as f32 }
}

/// The policy target normalised to sum to 1, in the order of `legal` (packed moves).
pub(super) fn shares(row: &PositionRow, legal: &[u16]) -> Result<Vec<f32>, Fault> {
    let total: u64 = row.target.iter().copied().map(u64::from).sum();
    if total == 0 {
        return Err(Fault::NoTarget);
    }
    let mut shares = vec![0.0; legal.len()];
    for (&packed, &share) in row.moves.iter().zip(&row.target) {
        let index = legal.iter().position(|&other| other == packed).ok_or(Fault::TargetIllegal { packed })?;
        shares[index] = (f64::from(share) / total as f64) as f32;
    }
    Ok(shares)
}

/// Whether a game is held out. A hash of its origin decides, so it stays held out as the window moves.
pub(super) fn is_held_out(part: &str, game: u32, targets: Targets) -> bool {
    let mut hasher = blake3::Hasher::new_derive_key("dc0 validation split 1");
    hasher.update(part.as_bytes());
    hasher.update(&game.to_le_bytes());
    let mut number = [0; 8];
    hasher.finalize_xof().fill(&mut number);
    // 53 bits are exact in f64.
    let unit = (u64::from_le_bytes(number) >> 11) as f64 / (1u64 << 53) as f64;
    unit < targets.validation_fraction
}
