//! Batches of one size.

use super::{Batch, Evaluations, Evaluator, EvaluatorError};
use crate::encoding::Encoding;

/// An evaluator that only ever evaluates batches of one size: larger ones in parts, and the last part filled up with copies of its
/// first row.
///
/// Libraries choose their algorithms, and so the order of sums, by the size of a batch. Here a row's evaluation depends on the row
/// alone, so that it does not matter which other positions happen to be evaluated at the same time.
pub struct FixedSize {
    inner: Box<dyn Evaluator>,
    rows: usize,
    part: Batch,
    evaluations: Evaluations,
}

impl FixedSize {
    /// Evaluates this many rows at a time, at least one.
    pub fn new(inner: Box<dyn Evaluator>, rows: usize) -> Self {
        let (part, evaluations) = (Batch::default(), Evaluations::default());
        Self { inner, rows: rows.max(1), part, evaluations }
    }
}

impl Evaluator for FixedSize {
    fn encoding(&self) -> &Encoding {
        self.inner.encoding()
    }

    fn evaluate(&mut self, batch: &Batch, out: &mut Evaluations) -> Result<(), EvaluatorError> {
        out.clear();
        for start in (0..batch.len()).step_by(self.rows) {
            let end = batch.len().min(start + self.rows);
            self.part.clear();
            for row in start..start + self.rows {
                let row = if row < end { row } else { start };
                self.part.push_row(batch, row, self.inner.encoding());
            }
            self.inner.evaluate(&self.part, &mut self.evaluations)?;
            let wanted = end - start;
            let moves = self.part.legal_ends[wanted - 1] as usize;
            out.policy.extend_from_slice(&self.evaluations.policy[..moves]);
            out.wdl.extend_from_slice(&self.evaluations.wdl[..wanted]);
            out.moves_left.extend(self.evaluations.moves_left.iter().take(wanted));
        }
        Ok(())
    }

    fn start_shard(&mut self) {
        self.inner.start_shard();
    }

    fn cache_hits(&self) -> u64 {
        self.inner.cache_hits()
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::rc::Rc;

    use super::FixedSize;
    use crate::encoding::Encoding;
    use crate::network::fake::Hashed;
    use crate::network::samples::{batch_of, encoding};
    use crate::network::{Batch, Evaluations, Evaluator, EvaluatorError};

    /// Notes the sizes of the batches that reach it.
    struct Sizes(Hashed, Rc<RefCell<Vec<usize>>>);

    impl Evaluator for Sizes {
        fn encoding(&self) -> &Encoding {
            self.0.encoding()
        }

        fn evaluate(&mut self, batch: &Batch, out: &mut Evaluations) -> Result<(), EvaluatorError> {
            self.1.borrow_mut().push(batch.len());
            self.0.evaluate(batch, out)
        }
    }

    #[test]
    fn every_batch_has_the_same_size_and_every_row_its_own_evaluation() {
        for (rows, sizes) in [(0, vec![]), (1, vec![4]), (4, vec![4]), (9, vec![4, 4, 4])] {
            let seen = Rc::default();
            let inner = Sizes(Hashed::new(encoding(), 1), Rc::clone(&seen));
            let batch = batch_of(0..rows);
            let (mut fixed, mut plain) = (Evaluations::default(), Evaluations::default());
            FixedSize::new(Box::new(inner), 4).evaluate(&batch, &mut fixed).expect("fakes do not fail");
            Hashed::new(encoding(), 1).evaluate(&batch, &mut plain).expect("fakes do not fail");
            assert_eq!(*seen.borrow(), sizes, "{rows} rows");
            assert_eq!((fixed.policy, fixed.wdl), (plain.policy, plain.wdl), "{rows} rows");
            assert_eq!(fixed.moves_left, plain.moves_left);
        }
    }
}
