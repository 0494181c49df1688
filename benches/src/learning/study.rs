//! What figures are measured on, and the statistics that they share.

use std::error::Error;

use dc0_core::board::{Ending, Game, Tablebase};
use dc0_core::encoding::Encoding;
use dc0_core::network::{Batch, Evaluations, Evaluator};
use dc0_core::store::PositionRow;

/// Rows of a batch.
const ROWS: usize = 256;

/// A row of the table.
pub(super) struct Row {
    pub(super) what: &'static str,
    /// `None` if it does not apply to the net.
    pub(super) value: Option<f64>,
    /// The positions that it was measured on.
    pub(super) positions: usize,
}

/// A stored position with its game up to there.
pub(super) struct StoredPosition {
    pub(super) game: Game,
    pub(super) row: PositionRow,
    /// How the game ended.
    pub(super) end: Ending,
}

/// The positions, the net, and the tablebases if there are any.
pub(super) struct Study {
    pub(super) positions: Vec<StoredPosition>,
    pub(super) tables: Option<Tablebase>,
    evaluator: Box<dyn Evaluator>,
}

/// What the net says of one row.
pub(super) struct Evaluated {
    /// P(win) − P(loss) for the side to move.
    pub(super) value: f64,
    /// Probabilities of the legal moves, in the order of move generation.
    pub(super) policy: Vec<f32>,
}

impl Evaluated {
    /// The index of the likeliest move.
    pub(super) fn best(&self) -> Option<usize> {
        let moves = self.policy.iter().enumerate();
        moves.max_by(|(_, one), (_, other)| one.total_cmp(other)).map(|(index, _)| index)
    }
}

impl Study {
    pub(super) fn new(
        positions: Vec<StoredPosition>,
        tables: Option<Tablebase>,
        evaluator: Box<dyn Evaluator>,
    ) -> Self {
        Self { positions, tables, evaluator }
    }

    pub(super) fn encoding(&self) -> &Encoding {
        self.evaluator.encoding()
    }

    /// The net's answers to the rows that `push` adds to a batch for each position: none, one or several.
    pub(super) fn evaluate(
        &mut self,
        push: &dyn Fn(&StoredPosition, &Encoding, &mut Batch),
    ) -> Result<Vec<Evaluated>, Box<dyn Error>> {
        let encoding = self.evaluator.encoding().clone();
        let (mut batch, mut out, mut all) = (Batch::default(), Evaluations::default(), Vec::new());
        let mut positions = self.positions.iter().peekable();
        while let Some(position) = positions.next() {
            push(position, &encoding, &mut batch);
            if batch.len() < ROWS && positions.peek().is_some() {
                continue;
            }
            self.evaluator.evaluate(&batch, &mut out)?;
            let policy = |row| out.policy[batch.legal_range(row)].to_vec();
            let values = out.wdl.iter().map(|wdl| f64::from(wdl.value()));
            all.extend(values.enumerate().map(|(row, value)| Evaluated { value, policy: policy(row) }));
            batch.clear();
        }
        Ok(all)
    }
}

/// The mean; `None` of none.
pub(super) fn mean(numbers: impl Iterator<Item = f64>) -> Option<f64> {
    let (count, sum) = numbers.fold((0, 0.0), |(count, sum), number| (count + 1, sum + number));
    (count > 0).then(|| sum / f64::from(count))
}

/// The root of the mean of squares; `None` of none.
pub(super) fn root_mean_square(numbers: impl Iterator<Item = f64>) -> Option<f64> {
    mean(numbers.map(|number| number * number)).map(f64::sqrt)
}

/// Pearson's correlation; `None` if one of the two is constant.
pub(super) fn correlation(pairs: impl Iterator<Item = (f64, f64)>) -> Option<f64> {
    let pairs: Vec<(f64, f64)> = pairs.collect();
    let pairs = pairs.iter().copied();
    let (x, y) = (mean(pairs.clone().map(|pair| pair.0))?, mean(pairs.clone().map(|pair| pair.1))?);
    let moment = |of: fn((f64, f64)) -> f64| mean(pairs.clone().map(|pair| of((pair.0 - x, pair.1 - y))));
    let (xx, yy, xy) = (moment(|(x, _)| x * x)?, moment(|(_, y)| y * y)?, moment(|(x, y)| x * y)?);
    (xx > 0.0 && yy > 0.0).then(|| xy / (xx * yy).sqrt())
}
