//! The losses and the other metrics of a batch.

use std::ops::Range;

use tch::{Device, Kind, TchError, Tensor};

use super::batch::TrainingBatch;
use crate::network::MOVES_LEFT_SCALE;
use crate::network::torch::Heads;
use crate::params::Schedule;
use crate::trainer::TrainParams;
use crate::trainer::validation::HUBER_DELTA;

/// The logit of a padding move: its probability is exactly 0, and unlike minus infinity it stays finite when multiplied by a
/// target of 0.
const PADDING_LOGIT: f64 = -1e9;

/// The number of [`Sums`].
pub(super) const SUMS: usize = 9;

/// KataGo's addition to each share before it is softened (`metrics_pytorch.py`), so that moves without a visit have a target too.
const SOFT_POLICY_FLOOR: f64 = 1e-7;

/// The unit of the material head: a queen.
const MATERIAL_SCALE: f64 = 9.0;

/// Sums over the rows of a batch, or a number for each of them.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Sums<T> {
    /// Σ −Σ share · ln policy over the rows with a policy target.
    pub(super) policy: T,
    /// Over all rows: Σ −w Σ target · ln wdl, or Σ w (tanh x − value)² for a scalar head (AlphaZero 2018, equation 1), where w is the
    /// row's weight.
    pub(super) value: T,
    /// Σ of the Huber loss of moves left over the rows whose game was played to its end; 0 without that head.
    pub(super) moves_left: T,
    /// Σ −Σ softened share · ln soft policy over the rows with a policy target; 0 without that head.
    pub(super) soft_policy: T,
    /// Σ −Σ reply's share · ln reply over the rows with a reply; 0 without that head.
    pub(super) reply: T,
    /// Σ (x − balance / 9)² over all rows; 0 without that head.
    pub(super) material: T,
    /// Rows whose likeliest move has (one of) the largest shares of the target.
    pub(super) top_moves: T,
    /// Rows with one of these moves among the three likeliest.
    pub(super) top_three: T,
    /// Σ Σ (wdl − result)² over the rows with a result (Brier 1950).
    pub(super) brier: T,
}

impl<T> Sums<T> {
    /// The sums in the order of their fields.
    pub(super) fn into_array(self) -> [T; SUMS] {
        let Self { policy, value, moves_left, soft_policy, reply, material, top_moves, top_three, brier } =
            self;
        [policy, value, moves_left, soft_policy, reply, material, top_moves, top_three, brier]
    }

    /// The reverse of [`Sums::into_array`].
    pub(super) fn from_array(sums: [T; SUMS]) -> Self {
        let [policy, value, moves_left, soft_policy, reply, material, top_moves, top_three, brier] = sums;
        Self { policy, value, moves_left, soft_policy, reply, material, top_moves, top_three, brier }
    }

    /// Those that are losses, each with the rows behind it and its weight.
    fn losses<'a>(&'a self, counts: &Sums<f64>, params: &'a TrainParams) -> [(&'a T, f64, &'a Schedule); 6] {
        [
            (&self.policy, counts.policy, &params.policy_weight),
            (&self.value, counts.value, &params.value_weight),
            (&self.moves_left, counts.moves_left, &params.moves_left_weight),
            (&self.soft_policy, counts.soft_policy, &params.soft_policy_weight),
            (&self.reply, counts.reply, &params.reply_weight),
            (&self.material, counts.material, &params.material_weight),
        ]
    }
}

/// Sums on the device.
pub(super) type LossSums = Sums<Tensor>;

impl LossSums {
    /// The losses of a net's outputs against a batch's targets.
    pub(super) fn new(heads: &Heads, batch: &TrainingBatch, params: &TrainParams) -> Result<Self, TchError> {
        let of_legal = |logits: &Tensor| -> Result<Tensor, TchError> {
            logits.f_gather(1, &batch.legal, false)?.f_masked_fill(&batch.padding, PADDING_LOGIT)
        };
        let logits = of_legal(&heads.policy)?;
        let without_head = || Tensor::f_zeros([0i64; 0].as_slice(), (Kind::Float, logits.device()));
        let auxiliary = &heads.auxiliary;
        Ok(Self {
            policy: cross_entropy(&logits, &batch.shares)?,
            value: value_loss(&heads.value, &batch.wdl)?,
            moves_left: match &heads.moves_left {
                Some(numbers) => moves_left_loss(numbers, batch)?,
                None => without_head()?,
            },
            soft_policy: match &auxiliary.soft_policy {
                Some(soft) => cross_entropy(&of_legal(soft)?, &softened(batch, params)?)?,
                None => without_head()?,
            },
            reply: match &auxiliary.reply {
                Some(reply) => reply_loss(reply, batch)?,
                None => without_head()?,
            },
            material: match &auxiliary.material {
                Some(numbers) => {
                    let target = batch.material.f_div_scalar(MATERIAL_SCALE)?;
                    numbers.f_squeeze_dim(1)?.f_sub(&target)?.f_square()?.f_sum(Kind::Float)?
                }
                None => without_head()?,
            },
            top_moves: top_moves(&logits, &batch.shares, 1)?,
            top_three: top_moves(&logits, &batch.shares, 3)?,
            brier: brier(&heads.value, batch)?,
        })
    }

    /// The sums in field order and `more`, as one vector on the device.
    pub(super) fn stacked(self, more: Option<Tensor>) -> Result<Tensor, TchError> {
        let sums = self.into_array().into_iter().chain(more);
        Tensor::f_stack(&sums.collect::<Vec<_>>(), 0)?.f_detach()
    }

    /// The loss that is minimised in an update: the weighted sum of means, each over the rows that have its target, the value's by
    /// their weights.
    pub(super) fn total(
        &self,
        counts: &Sums<f64>,
        params: &TrainParams,
        update: u32,
    ) -> Result<Tensor, TchError> {
        let weighted = self.losses(counts, params).map(|(sum, count, weight)| {
            let share = if count > 0.0 { 1.0 / count } else { 0.0 };
            sum.f_mul_scalar(weight.at(update) * share)
        });
        let [first, others @ ..] = weighted;
        others.into_iter().try_fold(first?, |total, term| total.f_add(&term?))
    }
}

/// The rows behind each sum, the value's by their weights; 0 for a head that the net does not have.
pub(super) fn counts(heads: &Heads, batch: &TrainingBatch) -> Sums<f64> {
    let of_head = |has_head: bool, rows: usize| if has_head { rows as f64 } else { 0.0 };
    let (policy, auxiliary) = (batch.policy_rows as f64, &heads.auxiliary);
    Sums {
        policy,
        value: batch.value_weight,
        moves_left: of_head(heads.moves_left.is_some(), batch.ended_rows),
        soft_policy: of_head(auxiliary.soft_policy.is_some(), batch.policy_rows),
        reply: of_head(auxiliary.reply.is_some(), batch.reply_rows),
        material: of_head(auxiliary.material.is_some(), batch.rows),
        top_moves: policy,
        top_three: policy,
        brier: batch.result_rows as f64,
    }
}

/// −Σ target · ln softmax(logits).
fn cross_entropy(logits: &Tensor, targets: &Tensor) -> Result<Tensor, TchError> {
    logits.f_log_softmax(1, Kind::Float)?.f_mul(targets)?.f_sum(Kind::Float)?.f_neg()
}

/// `numbers` are `[B, 3]` logits or `[B, 1]` before tanh; `wdl` `[B, 3]` sums to each row's weight.
fn value_loss(numbers: &Tensor, wdl: &Tensor) -> Result<Tensor, TchError> {
    if numbers.size()[1] == 3 {
        return cross_entropy(numbers, wdl);
    }
    let weight = wdl.f_sum_dim_intlist([1i64].as_slice(), true, Kind::Float)?;
    let difference = wdl.f_narrow(1, 0, 1)?.f_sub(&wdl.f_narrow(1, 2, 1)?)?;
    // A row of weight 0 has a difference of 0, so any divisor will do.
    let target = difference.f_div(&weight.f_clamp_min(f64::from(f32::MIN_POSITIVE))?)?;
    numbers.f_tanh()?.f_sub(&target)?.f_square()?.f_mul(&weight)?.f_sum(Kind::Float)
}

/// Huber 1964 on plies / 20.
fn moves_left_loss(numbers: &Tensor, batch: &TrainingBatch) -> Result<Tensor, TchError> {
    let predicted = numbers.f_squeeze_dim(1)?.f_softplus()?;
    let target = batch.plies_left.f_div_scalar(MOVES_LEFT_SCALE)?;
    let loss = predicted.f_huber_loss(&target, tch::Reduction::None, HUBER_DELTA)?;
    loss.f_mul(&batch.ended)?.f_sum(Kind::Float)
}

/// The softened policy target; a row without a policy target is all 0.
fn softened(batch: &TrainingBatch, params: &TrainParams) -> Result<Tensor, TchError> {
    let powers = batch.shares.f_add_scalar(SOFT_POLICY_FLOOR)?;
    let powers = powers.f_pow_tensor_scalar(1.0 / params.soft_policy_temperature)?;
    let powers = powers.f_masked_fill(&batch.padding, 0.0)?;
    let total = powers.f_sum_dim_intlist([1i64].as_slice(), true, Kind::Float)?;
    powers.f_div(&total.f_clamp_min(f64::from(f32::MIN_POSITIVE))?)
}

/// Over all indices of the policy, since which moves the opponent will have depends on the move that comes first.
fn reply_loss(logits: &Tensor, batch: &TrainingBatch) -> Result<Tensor, TchError> {
    let logs = logits.f_log_softmax(1, Kind::Float)?.f_gather(1, &batch.replies, false)?;
    logs.f_mul(&batch.reply_shares)?.f_sum(Kind::Float)?.f_neg()
}

/// `[B, 3]`: win, draw and loss of a value head's numbers.
fn probabilities(numbers: &Tensor) -> Result<Tensor, TchError> {
    if numbers.size()[1] == 3 {
        return numbers.f_softmax(1, Kind::Float);
    }
    let win = numbers.f_tanh()?.f_add_scalar(1.0)?.f_div_scalar(2.0)?;
    let loss = win.f_rsub_scalar(1.0)?;
    Tensor::f_cat(&[&win, &win.f_zeros_like()?, &loss], 1)
}

/// `[B]`: P(win) + P(draw) / 2 for the side to move, from a value head's numbers.
pub(super) fn expected_scores(numbers: &Tensor) -> Result<Vec<f32>, TchError> {
    let wdl = probabilities(numbers)?;
    let scores = wdl.f_select(1, 0)?.f_add(&wdl.f_select(1, 1)?.f_div_scalar(2.0)?)?.f_contiguous()?;
    let mut values = vec![0.0; scores.numel()];
    let count = values.len();
    scores.f_to_device(Device::Cpu)?.f_copy_data(&mut values, count)?;
    Ok(values)
}

fn brier(numbers: &Tensor, batch: &TrainingBatch) -> Result<Tensor, TchError> {
    let has_result = batch.result.f_sum_dim_intlist([1i64].as_slice(), true, Kind::Float)?;
    let errors = probabilities(numbers)?.f_sub(&batch.result)?.f_square()?;
    errors.f_mul(&has_result)?.f_sum(Kind::Float)
}

/// Rows with one of the moves with the largest share of the target among the `count` likeliest.
fn top_moves(logits: &Tensor, shares: &Tensor, count: i64) -> Result<Tensor, TchError> {
    let (_, likeliest) = logits.f_topk(count.min(logits.size()[1]), 1, true, false)?;
    let share = shares.f_gather(1, &likeliest, false)?.f_amax([1i64].as_slice(), true)?;
    let most = shares.f_amax([1i64].as_slice(), true)?;
    share.f_eq_tensor(&most)?.f_logical_and(&most.f_gt(0.0)?)?.f_sum(Kind::Float)
}

/// Sums over samples as plain numbers, for means over any number of batches.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Totals {
    sums: Sums<f64>,
    counts: Sums<f64>,
    policy_entropy: f64,
}

/// The number of numbers in [`Totals`].
pub(super) const TOTALS: usize = 2 * SUMS + 1;

impl Totals {
    /// The totals of one batch, from the values of its [`LossSums`], their [`counts`] and the sum of its policy targets' entropies.
    pub(super) fn new(sums: Sums<f64>, counts: Sums<f64>, policy_entropy: f64) -> Self {
        Self { sums, counts, policy_entropy }
    }

    /// Adds another batch's totals.
    pub(super) fn add(&mut self, other: &Self) {
        *self =
            Self::from_numbers(std::array::from_fn(|index| self.numbers()[index] + other.numbers()[index]));
    }

    /// The means; not a number where there is nothing to average.
    pub(super) fn means(&self) -> Means {
        let (sums, counts) = (self.sums.into_array(), self.counts.into_array());
        Means {
            losses: Sums::from_array(std::array::from_fn(|index| sums[index] / counts[index])),
            policy_entropy: self.policy_entropy / self.counts.policy,
        }
    }

    /// The sum of the mean losses, each by the mean of its weight over some updates. A loss without a row or a weight adds nothing; `None`
    /// if all are without.
    pub(super) fn loss(&self, params: &TrainParams, updates: &Range<u32>) -> Option<f64> {
        let means = self.means().losses;
        let terms = means.losses(&self.counts, params).into_iter();
        let weighted = terms.filter(|(_, count, _)| *count > 0.0).filter_map(|(mean, _, weight)| {
            let weight = mean_weight(weight, updates.clone());
            (weight > 0.0).then_some(weight * mean)
        });
        weighted.reduce(|total, term| total + term)
    }

    /// Whether all sums are finite; those without a row are 0.
    pub(super) fn is_finite(&self) -> bool {
        self.sums.into_array().iter().all(|sum| sum.is_finite())
    }

    /// The fields in order, as stored in the training state.
    pub(super) fn numbers(&self) -> [f64; TOTALS] {
        let sums = self.sums.into_array().into_iter();
        let numbers = sums.chain(self.counts.into_array()).chain([self.policy_entropy]);
        numbers.collect::<Vec<_>>().try_into().expect("two numbers for each sum and the entropy")
    }

    /// The reverse of [`Totals::numbers`].
    pub(super) fn from_numbers(numbers: [f64; TOTALS]) -> Self {
        let of = |first: usize| Sums::from_array(std::array::from_fn(|index| numbers[first + index]));
        Self { sums: of(0), counts: of(SUMS), policy_entropy: numbers[TOTALS - 1] }
    }
}

/// The mean of a weight over updates, exactly the weight where it does not change.
fn mean_weight(weight: &Schedule, updates: Range<u32>) -> f64 {
    let (first, count) = (weight.at(updates.start), updates.len() as f64);
    first + updates.map(|update| weight.at(update) - first).sum::<f64>() / count
}

/// Means over samples, each over the rows that have it; not a number without any.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Means {
    /// Those of [`Sums`].
    pub(super) losses: Sums<f64>,
    /// Entropy of the policy targets, in nats: the least possible policy loss.
    pub(super) policy_entropy: f64,
}
