//! Policy and value targets, and which games are held out.

use super::Fault;
use crate::network::Wdl;
use crate::rng::Seed;
use crate::store::{GameRow, PositionRow};
use crate::trainer::params::PHASES;
use crate::trainer::{CappedGames, PolicyTarget, TrainParams, TrainedPositions};

/// How far |q| + d may exceed 1 by rounding.
const ROUNDING: f32 = 1e-4;

/// The parameters that samples depend on; see [`TrainParams`] for their meaning.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Targets {
    pub(super) positions: TrainedPositions,
    pub(super) deduplicate: bool,
    positions_per_game: Option<u32>,
    surprise_weight: f64,
    phase_weights: [f64; PHASES],
    pub(super) material_plies: u32,
    policy_target: PolicyTarget,
    policy_temperature: f64,
    search_value_weight: f64,
    search_value_horizon: f64,
    discount: f64,
    capped_games: CappedGames,
    ply_cap_value_weight: f64,
    pub(super) quiet_values: bool,
    validation_fraction: f64,
}

impl Targets {
    pub(super) fn from_params(params: &TrainParams) -> Self {
        Self {
            positions: params.positions,
            deduplicate: params.deduplicate,
            positions_per_game: params.positions_per_game,
            surprise_weight: params.surprise_weight,
            phase_weights: params.phase_weights.as_slice().try_into().unwrap_or([1.0; PHASES]),
            material_plies: params.material_plies,
            policy_target: params.policy_target,
            policy_temperature: params.policy_temperature,
            search_value_weight: params.search_value_weight,
            search_value_horizon: params.search_value_horizon,
            discount: params.discount,
            capped_games: params.capped_games,
            ply_cap_value_weight: params.ply_cap_value_weight,
            quiet_values: params.quiet_values,
            validation_fraction: params.validation_fraction,
        }
    }
}

/// The value target of a position and its weight in the loss.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ValueTarget {
    /// Win, draw and loss for the side to move; they sum to 1.
    pub wdl: Wdl,
    /// Its weight in the loss.
    pub weight: f32,
}

impl ValueTarget {
    /// The target multiplied by its weight.
    pub(super) fn weighted(self) -> Wdl {
        let Self { wdl, weight } = self;
        Wdl { win: wdl.win * weight, draw: wdl.draw * weight, loss: wdl.loss * weight }
    }
}

/// Probabilities of a win, a draw and a loss for some side.
#[derive(Debug, Clone, Copy)]
struct Chances([f64; 3]);

impl Chances {
    fn of_result(result: i8) -> Self {
        Self([
            f64::from(u8::from(result > 0)),
            f64::from(u8::from(result == 0)),
            f64::from(u8::from(result < 0)),
        ])
    }

    /// Decided only with probability `discount` for each of `plies`, else drawn.
    fn discounted(self, plies: usize, discount: f64) -> Self {
        let Self([win, _, loss]) = self;
        let decided = discount.powi(plies as i32);
        Self([win * decided, 1.0 - (win + loss) * decided, loss * decided])
    }

    /// As seen `plies` earlier, which is by the other side if they are odd.
    fn before(self, plies: usize, discount: f64) -> Self {
        let Self([win, draw, loss]) = self;
        let seen = if plies.is_multiple_of(2) { self } else { Self([loss, draw, win]) };
        seen.discounted(plies, discount)
    }

    fn mixed(self, other: Self, share: f64) -> Self {
        Self([0, 1, 2].map(|part| (1.0 - share) * self.0[part] + share * other.0[part]))
    }

    fn to_wdl(self) -> Wdl {
        let [win, draw, loss] = self.0;
        Wdl { win: win as f32, draw: draw as f32, loss: loss as f32 }
    }
}

/// The value targets of a game's positions: `(1 − w) · outcome + w · search`, with `w` the parameter `search_value_weight`.
///
/// The outcome is the result of perfect play, where `known` has it for the ply; else the game's result; or in a game that the ply
/// cap cut off, what `capped_games` says. `search` is an average of the search's values from the position on, which gives the
/// `k`-th ply the weight `λᵏ (1 − λ)` with `λ = 1 − 1/search_value_horizon`, and the outcome what is left (the λ-return of Sutton
/// 1988; KataGo's short-term values). Each is seen from the position's side to move and discounted by its distance in plies.
///
/// `ply` is left at the position reached, for errors.
pub(super) fn values(
    game: &GameRow,
    positions: &[PositionRow],
    known: &[Option<i8>],
    targets: Targets,
    ply: &mut usize,
) -> Result<Vec<ValueTarget>, Fault> {
    let Targets { discount, search_value_weight: search_weight, .. } = targets;
    let was_cut_off = game.reason.is_cut_off();
    let is_bootstrapped = was_cut_off && targets.capped_games == CappedGames::Bootstrap;
    let later_share = 1.0 - 1.0 / targets.search_value_horizon;
    let mut last = None;
    let mut later: Option<(usize, Chances)> = None;
    let mut values = Vec::with_capacity(positions.len());
    for row in positions.iter().rev() {
        *ply = row.ply.into();
        let plies_left = game.moves.len() - *ply;
        let own = if search_weight > 0.0 || is_bootstrapped { Some(search_value(row)?) } else { None };
        let last = *last.get_or_insert((*ply, own));
        let perfect = known.get(*ply).copied().flatten();
        let bootstrap = last.1.filter(|_| is_bootstrapped && perfect.is_none());
        let outcome = match bootstrap {
            Some(value) => value.before(last.0 - *ply, discount),
            None => Chances::of_result(perfect.unwrap_or(row.result)).discounted(plies_left, discount),
        };
        let target = match own.filter(|_| search_weight > 0.0) {
            None => outcome,
            Some(own) => {
                let own = if bootstrap.is_some() { own } else { at_its_distance(own, row.root_q, outcome) };
                let ahead = later.map_or((1, outcome), |(later_ply, value)| {
                    let plies = later_ply - *ply;
                    (plies, value.before(plies, discount))
                });
                let search = own.mixed(ahead.1, later_share.powi(ahead.0 as i32));
                later = Some((*ply, search));
                outcome.mixed(search, search_weight)
            }
        };
        let counts_fully = !was_cut_off || perfect.is_some();
        let weight = if counts_fully { 1.0 } else { targets.ply_cap_value_weight as f32 };
        values.push(ValueTarget { wdl: target.to_wdl(), weight });
    }
    values.reverse();
    Ok(values)
}

/// A search's value beside the game's outcome. A search that proved its root knows who wins but not how soon, so where the game
/// ended the same way, the outcome, which is discounted by the plies that it took, stands for both.
fn at_its_distance(own: Chances, root_q: f32, outcome: Chances) -> Chances {
    let [win, _, loss] = outcome.0;
    let agrees = (root_q == 1.0 && win > 0.0) || (root_q == -1.0 && loss > 0.0);
    if agrees { outcome } else { own }
}

/// Win, draw and loss of a search, from its root's q = P(win) − P(loss) and d = P(draw).
fn search_value(row: &PositionRow) -> Result<Chances, Fault> {
    let (q, d) = (row.root_q, row.root_d);
    // Written so that NaN fails too.
    if !(d >= -ROUNDING && q.abs() + d <= 1.0 + ROUNDING) {
        return Err(Fault::SearchValue { q, d });
    }
    let (q, d) = (f64::from(q), f64::from(d));
    Ok(Chances([f64::midpoint(1.0 - d, q), d, f64::midpoint(1.0 - d, -q)]))
}

/// The policy target normalised to sum to 1, in the order of `legal` (packed moves).
pub(super) fn shares(row: &PositionRow, legal: &[u16], targets: Targets) -> Result<Vec<f32>, Fault> {
    let visits: Vec<f64> = row.visits.iter().copied().map(f64::from).collect();
    let counts_visits = targets.policy_target == PolicyTarget::Visits && visits.iter().sum::<f64>() > 0.0;
    let weights = if counts_visits { visits } else { row.target.iter().copied().map(f64::from).collect() };
    let softened = |weight: f64| {
        if targets.policy_temperature == 1.0 { weight } else { weight.powf(1.0 / targets.policy_temperature) }
    };
    let total: f64 = weights.iter().copied().map(softened).sum();
    if total == 0.0 {
        return Err(Fault::NoTarget);
    }
    let mut shares = vec![0.0; legal.len()];
    for (&packed, &weight) in row.moves.iter().zip(&weights) {
        let index = legal.iter().position(|&other| other == packed).ok_or(Fault::TargetIllegal { packed })?;
        shares[index] = (softened(weight) / total) as f32;
    }
    Ok(shares)
}

/// Whether a game is held out. A hash of its moves decides, so that it stays held out as the window moves, and with it every copy
/// of it: searched again, imported twice, or played once more.
pub(super) fn is_held_out(game: &GameRow, targets: Targets) -> bool {
    let mut hasher = blake3::Hasher::new_derive_key("dc0 validation split 2");
    hasher.update(game.start_fen.as_bytes());
    for packed in &game.moves {
        hasher.update(&packed.to_le_bytes());
    }
    unit_number(&hasher) < targets.validation_fraction
}

/// Decides what is left to chance about a part's positions.
#[derive(Debug, Clone, Copy)]
pub(super) struct Chance<'a> {
    pub(super) part: &'a str,
    pub(super) source: u32,
    pub(super) seed: Seed,
}

impl Chance<'_> {
    /// A number in [0, 1) for a position.
    fn number(self, purpose: &str, row: &PositionRow) -> f64 {
        let mut hasher = blake3::Hasher::new_derive_key(purpose);
        for number in [self.seed.run, self.seed.step] {
            hasher.update(&number.to_le_bytes());
        }
        hasher.update(self.part.as_bytes());
        hasher.update(&self.source.to_le_bytes());
        hasher.update(&row.game.to_le_bytes());
        hasher.update(&row.ply.to_le_bytes());
        unit_number(&hasher)
    }
}

/// How often each of a game's positions is in the samples.
///
/// On average it is `weight`, that of the game, times `(1 − w) + w · surprise / mean surprise of the game`, with `w` the parameter
/// `surprise_weight`, rounded to a whole number by chance. After KataGo's policy surprise weighting (`KataGoMethods.md`), where the
/// surprise is KL(target ‖ prior) and a half of the weight is given by it. Positions without a policy target, and games without any
/// surprise, have the game's weight alone. `phase_weights` multiply either. Positions that are not `trained` on or beyond
/// `positions_per_game` have none.
pub(super) fn copies(
    chance: Chance<'_>,
    weight: f64,
    positions: &[PositionRow],
    trained: &[bool],
    targets: Targets,
) -> Vec<u32> {
    let surprise_weight = targets.surprise_weight;
    let chosen = chosen(chance, positions, trained, targets);
    let searched = || positions.iter().zip(&chosen).filter(|(row, is_chosen)| **is_chosen && row.full);
    let (count, total) =
        (searched().count() as f64, searched().map(|(row, _)| f64::from(row.policy_surprise)).sum::<f64>());
    // Not if a surprise is not known either, which is not a number.
    let is_by_surprise = surprise_weight > 0.0 && total > 0.0;
    let copies_of = |(row, is_chosen): (&PositionRow, &bool)| {
        let relative = if is_by_surprise && row.full {
            1.0 - surprise_weight + surprise_weight * count * f64::from(row.policy_surprise) / total
        } else {
            1.0
        };
        let of_phase = || targets.phase_weights[phase(row)];
        let expected = if *is_chosen { weight * relative * of_phase() } else { 0.0 };
        let is_rounded_up = expected.fract() > 0.0 && chance.number("dc0 copies 3", row) < expected.fract();
        expected as u32 + u32::from(is_rounded_up)
    };
    positions.iter().zip(&chosen).map(copies_of).collect()
}

/// The phase of a position, from the one with the fewest pieces.
fn phase(row: &PositionRow) -> usize {
    let board = row.fen.split(' ').next().unwrap_or_default();
    let pieces = board.bytes().filter(u8::is_ascii_alphabetic).count();
    (pieces.saturating_sub(1) / 4).min(PHASES - 1)
}

/// Which of the positions of a game that could be trained on are.
fn chosen(chance: Chance<'_>, positions: &[PositionRow], trained: &[bool], targets: Targets) -> Vec<bool> {
    let mut chosen = trained.to_vec();
    let Some(most) = targets.positions_per_game else { return chosen };
    let number = |index: usize| chance.number("dc0 positions of a game 2", &positions[index]);
    let mut drawn: Vec<(usize, f64)> =
        (0..positions.len()).filter(|index| chosen[*index]).map(|index| (index, number(index))).collect();
    drawn.sort_by(|one, other| one.1.total_cmp(&other.1));
    for (index, _) in drawn.into_iter().skip(most as usize) {
        chosen[index] = false;
    }
    chosen
}

/// A number in [0, 1) from a hash.
fn unit_number(hasher: &blake3::Hasher) -> f64 {
    let mut number = [0; 8];
    hasher.finalize_xof().fill(&mut number);
    // 53 bits are exact in f64.
    (u64::from_le_bytes(number) >> 11) as f64 / (1u64 << 53) as f64
}
