//! Measures a net on stored games without training it: what it predicts of each position, beside what training would teach.

use rand::RngExt;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::calibration::Calibration;
use super::params::unused_horizon;
use super::samples::{Part, Sample, SampleError, Samples, is_held_out, is_quiet, out_of_order};
use super::{CappedGames, PolicyTarget, TrainParams, TrainedPositions};
use crate::board::{Game, GameTextError, Move, Tablebase};
use crate::event::{Cancelled, Event, Observer};
use crate::network::{Batch, Evaluations, Evaluator, EvaluatorError, MOVES_LEFT_SCALE, ValueHead, Wdl};
use crate::params;
use crate::params::Value;
use crate::rng::{Purpose, Seed};
use crate::store::{GameRow, PositionRow, PredictionRow, games_with_positions};

/// Where the moves-left loss turns from square to linear, in units of [`MOVES_LEFT_SCALE`]: 10 plies, as in Leela's training
/// (`lczero-training`, `tfprocess.py`).
pub(super) const HUBER_DELTA: f64 = 10.0 / MOVES_LEFT_SCALE;

params! {
    /// Measures a net on stored games. Targets are those of a training with the same parameters, and losses its losses.
    pub struct ValidateParams {
        /// The `validation_fraction` of a training, of whose games only those are measured that it holds out; `()` for all games.
        held_out: Option<f64> = None, in 1e-6..=0.5;
        /// Which positions are measured.
        positions: TrainedPositions = TrainedPositions::Full;
        /// Share of these positions that are measured, drawn at random: the same ones of a window in every step of a run.
        share: f64 = 1.0, in 1e-6..=1.0;
        /// What a full search teaches the policy.
        policy_target: PolicyTarget = PolicyTarget::Search;
        /// Temperature of the policy's target: shares become `p^(1/T)`, normalised. Above 1 softer, below 1 sharper.
        policy_temperature: f64 = 1.0, in 0.1..=100.0;
        /// Share of the search's win, draw and loss in the value target; the rest is the game's result.
        search_value_weight: f64 = 0.5, in 0.0..=1.0;
        /// Horizon of the search's part of the value target, in plies.
        search_value_horizon: f64 = 1.0, in 1.0..=10_000.0;
        /// A win or loss `n` plies later counts as won or lost with probability `discount^n` and as drawn otherwise.
        discount: f64 = 1.0, in 0.9..=1.0;
        /// The result of games that only the ply cap ended.
        capped_games: CappedGames = CappedGames::Bootstrap;
        /// Folder of Syzygy tablebases, or several separated by `:`, that correct the games' results; `()` for the results as played.
        tablebases: Option<String> = None;
        /// Positions that are evaluated together.
        batch: u32 = 256, in 1..=65_536;
    }
    unused |params| unused_horizon(params.search_value_weight).into_iter().collect();
}

impl ValidateParams {
    /// A training with the same targets, which holds out nothing.
    pub fn training(&self) -> TrainParams {
        TrainParams {
            positions: self.positions,
            policy_target: self.policy_target,
            policy_temperature: self.policy_temperature,
            search_value_weight: self.search_value_weight,
            search_value_horizon: self.search_value_horizon,
            discount: self.discount,
            capped_games: self.capped_games,
            tablebases: self.tablebases.clone(),
            validation_fraction: 0.0,
            ..TrainParams::default()
        }
    }
}

/// Means over rows of the `predictions` table, to be merged in the order of the rows.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct PredictionSums {
    /// Rows.
    pub positions: u64,
    policy: Mean,
    target_entropy: Mean,
    likeliest: Mean,
    top_three: Mean,
    value: Mean,
    brier: Mean,
    moves_left: Mean,
    calibration: Calibration,
}

/// A sum, and of how many numbers.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
struct Mean {
    sum: f64,
    count: f64,
}

impl Mean {
    /// Adds a number; NaN stands for none.
    fn add(&mut self, number: f64) {
        if !number.is_nan() {
            self.sum += number;
            self.count += 1.0;
        }
    }

    fn merge(&mut self, other: Self) {
        self.sum += other.sum;
        self.count += other.count;
    }

    /// None without a number.
    fn value(self) -> Value {
        if self.count > 0.0 { Value::Float(self.sum / self.count) } else { Value::None }
    }
}

impl PredictionSums {
    /// Adds a row.
    pub fn add(&mut self, row: &PredictionRow) {
        let among = |most: u16| if row.rank == 0 { f64::NAN } else { f64::from(u8::from(row.rank <= most)) };
        self.positions += 1;
        self.policy.add(row.policy_loss.into());
        self.target_entropy.add(row.target_entropy.into());
        self.likeliest.add(among(1));
        self.top_three.add(among(3));
        self.value.add(row.value_loss.into());
        self.brier.add(row.brier.into());
        self.moves_left.add(huber(row.moves_left, row.plies_left));
        if !row.score.is_nan() {
            self.calibration.add(f64::midpoint(1.0, row.q.into()), row.score.into());
        }
    }

    /// Adds the rows of another one.
    pub fn merge(&mut self, other: &Self) {
        self.positions += other.positions;
        self.policy.merge(other.policy);
        self.target_entropy.merge(other.target_entropy);
        self.likeliest.merge(other.likeliest);
        self.top_three.merge(other.top_three);
        self.value.merge(other.value);
        self.brier.merge(other.brier);
        self.moves_left.merge(other.moves_left);
        self.calibration.merge(&other.calibration);
    }

    /// The means by the names that a training has for them; `()` where no position has what is measured.
    pub fn to_value(&self) -> Value {
        let calibration_error = self.calibration.error();
        let known = |value: f64| if value.is_nan() { Value::None } else { Value::Float(value) };
        Value::of([
            ("positions", Value::Int(self.positions as i64)),
            ("scored_positions", Value::Int(self.brier.count as i64)),
            ("policy_loss", self.policy.value()),
            ("policy_entropy", self.target_entropy.value()),
            ("policy_accuracy", self.likeliest.value()),
            ("policy_top_three", self.top_three.value()),
            ("value_loss", self.value.value()),
            ("moves_left_loss", self.moves_left.value()),
            ("brier", self.brier.value()),
            ("calibration_error", known(calibration_error)),
        ])
    }
}

/// Huber's loss (1964) of moves left in units of 20 plies, as training has it; not a number without either.
fn huber(predicted: f32, target: f32) -> f64 {
    let error = (f64::from(predicted) - f64::from(target)).abs() / MOVES_LEFT_SCALE;
    if error <= HUBER_DELTA { 0.5 * error * error } else { HUBER_DELTA * (error - 0.5 * HUBER_DELTA) }
}

/// Why a net could not be measured.
#[derive(Debug, Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum ValidateError {
    #[error(transparent)]
    Sample(#[from] SampleError),
    /// A stored game cannot be replayed.
    #[error(transparent)]
    Game(#[from] GameTextError),
    #[error(transparent)]
    Evaluator(#[from] EvaluatorError),
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
}

/// What determines the predictions of a net, besides the net and the games.
#[derive(Debug, Clone, Copy)]
pub struct ValidationJob<'a> {
    /// What is measured, against which targets.
    pub params: &'a ValidateParams,
    /// The seed of the random choice of positions.
    pub seed: Seed,
    /// The net's value head.
    pub value_head: ValueHead,
    /// The tablebases of the parameters.
    pub tables: Option<&'a Tablebase>,
}

/// The games of a shard.
#[derive(Debug, Clone, Copy)]
pub struct ValidationGames<'a> {
    /// The number of their iteration or import within the window.
    pub source: u32,
    /// The number of their iteration or import in its run.
    pub iteration: u32,
    /// Their file, for errors.
    pub name: &'a str,
    /// The games, sorted by number.
    pub games: &'a [GameRow],
    /// Their positions, sorted by game and ply.
    pub positions: &'a [PositionRow],
}

/// What a net predicts of the games of a shard.
#[derive(Debug, Clone, PartialEq)]
pub struct Validated {
    /// A row for each position measured.
    pub rows: Vec<PredictionRow>,
    /// Games with such a position.
    pub games: u64,
}

impl ValidationJob<'_> {
    /// Measures a net on the games of a shard.
    pub fn shard(
        &self,
        shard: ValidationGames<'_>,
        evaluator: &mut dyn Evaluator,
        observer: &dyn Observer,
    ) -> Result<Validated, ValidateError> {
        evaluator.start_shard();
        let training = self.params.training();
        let mut measuring = Measuring {
            job: self,
            shard,
            waiting: Vec::new(),
            batch: Batch::default(),
            evaluations: Evaluations::default(),
            rows: Vec::new(),
        };
        let mut games = 0;
        for found in games_with_positions(shard.games, shard.positions) {
            let (game, own) = found.map_err(|stray| out_of_order(shard.name, stray))?;
            if self.holds_out(game) {
                // Game by game, so that no more targets are in memory than a batch needs.
                let tables = self.tables.cloned();
                let mut samples = Samples::with_tablebases(evaluator.encoding().clone(), &training, tables);
                let games_of_part = std::slice::from_ref(game);
                samples.add(Part {
                    name: shard.name,
                    source: 0,
                    weight: 1.0,
                    games: games_of_part,
                    positions: own,
                })?;
                games += u64::from(measuring.game(game, own, &samples, evaluator, observer)?);
            }
            observer.event(Event::Work { unit: "games", amount: 1 });
        }
        measuring.evaluate(evaluator, observer)?;
        Ok(Validated { rows: measuring.rows, games })
    }

    /// Whether a game is measured.
    fn holds_out(&self, game: &GameRow) -> bool {
        self.params.held_out.is_none_or(|validation_fraction| {
            is_held_out(game, &TrainParams { validation_fraction, ..TrainParams::default() })
        })
    }
}

/// The shard that is measured.
struct Measuring<'a> {
    job: &'a ValidationJob<'a>,
    shard: ValidationGames<'a>,
    /// The positions of `batch`.
    waiting: Vec<Waiting>,
    batch: Batch,
    evaluations: Evaluations,
    rows: Vec<PredictionRow>,
}

/// A position that waits for its evaluation.
struct Waiting {
    /// Its row without the net's part.
    row: PredictionRow,
    legal: Vec<Move>,
    /// The policy target; empty without one.
    shares: Vec<f32>,
    target: Wdl,
    /// The game's result for the side to move, -1, 0 or 1, or that of perfect play; `None` without one.
    result: Option<i8>,
}

impl Measuring<'_> {
    /// Adds the positions of a game; returns whether there were any.
    fn game(
        &mut self,
        game: &GameRow,
        positions: &[PositionRow],
        samples: &Samples,
        evaluator: &mut dyn Evaluator,
        observer: &dyn Observer,
    ) -> Result<bool, ValidateError> {
        let params = self.job.params;
        let number = u64::from(self.shard.source) << 32 | u64::from(game.game);
        let mut choice = self.job.seed.stream(number, Purpose::Validation);
        let played = Game::from_packed(&game.start_fen, &game.moves)?;
        let mut replayed = Game::from_position(played.start().clone());
        let (mut sample, mut is_measured) = (0, false);
        for position in positions {
            while replayed.ply() < usize::from(position.ply) {
                replayed.play_unchecked(played.moves()[replayed.ply()]);
            }
            let is_drawn = choice.random::<f64>() < params.share;
            let is_quiet = is_quiet(replayed.position(), played.moves()[replayed.ply()]);
            if !params.positions.include(position.full, is_quiet) {
                continue;
            }
            if is_drawn {
                is_measured = true;
                self.batch.push(evaluator.encoding(), &replayed);
                self.waiting.push(self.waiting_for(position, &replayed, &samples.training_row(sample)));
                if self.batch.len() >= params.batch as usize {
                    self.evaluate(evaluator, observer)?;
                }
            }
            sample += 1;
        }
        Ok(is_measured)
    }

    fn waiting_for(&self, position: &PositionRow, game: &Game, sample: &Sample<'_>) -> Waiting {
        let row = PredictionRow {
            source: self.shard.source,
            iteration: self.shard.iteration,
            game: position.game,
            ply: position.ply,
            fen: position.fen.clone(),
            likeliest: 0,
            prior: 0.0,
            rank: 0,
            policy_loss: f32::NAN,
            target_entropy: cross_entropy(sample.shares, sample.shares),
            q: 0.0,
            d: 0.0,
            target_q: sample.wdl.value(),
            target_d: sample.wdl.draw,
            value_loss: f32::NAN,
            score: sample.result.map_or(f32::NAN, |result| f32::midpoint(1.0, result.into())),
            brier: f32::NAN,
            moves_left: f32::NAN,
            plies_left: sample.plies_left.map_or(f32::NAN, f32::from),
        };
        let (legal, shares) = (game.position().legal_moves(), sample.shares.to_vec());
        Waiting { row, legal, shares, target: sample.wdl, result: sample.result }
    }

    /// Evaluates the batch, and makes rows of it.
    fn evaluate(
        &mut self,
        evaluator: &mut dyn Evaluator,
        observer: &dyn Observer,
    ) -> Result<(), ValidateError> {
        observer.check()?;
        evaluator.evaluate(&self.batch, &mut self.evaluations)?;
        let amount = self.waiting.len() as u64;
        observer.event(Event::Work { unit: "positions", amount });
        observer.event(Event::Work { unit: "evaluations", amount });
        let rows = self.waiting.drain(..).enumerate().map(|(index, waiting)| {
            let policy = &self.evaluations.policy[self.batch.legal_range(index)];
            let wdl = self.evaluations.wdl[index];
            let (likeliest, prior) = likeliest(&waiting.legal, policy);
            PredictionRow {
                likeliest: likeliest.packed(),
                prior,
                rank: rank(policy, &waiting.shares),
                policy_loss: cross_entropy(&waiting.shares, policy),
                q: wdl.value(),
                d: wdl.draw,
                value_loss: value_loss(self.job.value_head, waiting.target, wdl),
                brier: waiting.result.map_or(f32::NAN, |result| brier(wdl, result)),
                moves_left: self.evaluations.moves_left.get(index).copied().unwrap_or(f32::NAN),
                ..waiting.row
            }
        });
        self.rows.extend(rows);
        self.batch.clear();
        Ok(())
    }
}

/// The likeliest move, the first of several, and its probability.
fn likeliest(legal: &[Move], policy: &[f32]) -> (Move, f32) {
    let moves = legal.iter().copied().zip(policy.iter().copied());
    let best = moves.reduce(|best, next| if next.1 > best.1 { next } else { best });
    best.expect("a position with a stored move has legal ones")
}

/// The place by probability of the move with the largest share of the target, the best one of several; 0 without a target. Of equally
/// likely moves the first one comes first, as for the likeliest.
fn rank(policy: &[f32], shares: &[f32]) -> u16 {
    let most = shares.iter().copied().fold(0.0, f32::max);
    if most == 0.0 {
        return 0;
    }
    let before = |index: usize| {
        let likelier = policy.iter().filter(|other| **other > policy[index]).count();
        likelier + policy[..index].iter().filter(|other| **other == policy[index]).count()
    };
    let right = (0..shares.len()).filter(|index| shares[*index] == most);
    right.map(before).min().map_or(0, |before| 1 + before as u16)
}

/// −Σ share · ln probability in nats; not a number without shares. A probability that a float cannot hold counts as the least that it can.
fn cross_entropy(shares: &[f32], policy: &[f32]) -> f32 {
    if shares.is_empty() {
        return f32::NAN;
    }
    let term = |(share, prior): (&f32, &f32)| match *share {
        0.0 => 0.0,
        share => f64::from(share) * f64::from(prior.max(f32::MIN_POSITIVE)).ln(),
    };
    let sum: f64 = shares.iter().zip(policy).map(term).sum();
    // Targets and probabilities sum to 1 up to rounding, which is no reason for a loss below 0.
    (-sum).max(0.0) as f32
}

fn value_loss(head: ValueHead, target: Wdl, found: Wdl) -> f32 {
    match head {
        ValueHead::Wdl => {
            cross_entropy(&[target.win, target.draw, target.loss], &[found.win, found.draw, found.loss])
        }
        ValueHead::Scalar => (found.value() - target.value()).powi(2),
    }
}

/// The squared distance of win, draw and loss from a result of -1, 0 or 1 (Brier 1950).
fn brier(found: Wdl, result: i8) -> f32 {
    let of = |expected: i8| f32::from(u8::from(result == expected));
    (found.win - of(1)).powi(2) + (found.draw - of(0)).powi(2) + (found.loss - of(-1)).powi(2)
}
