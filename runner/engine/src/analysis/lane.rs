//! Lanes: threads that search jobs in lockstep, with the leaves of all in every batch.

use dc0_core::network::{Evaluator, EvaluatorError};
use dc0_core::search::Lockstep;

use super::answer::answer;
use super::job::Job;
use super::queue::{End, Queue};
use crate::score::ScoreFit;
use crate::uci::output::Output;

/// What a lane works with.
pub(super) struct Lane<'a> {
    pub(super) queue: &'a Queue,
    pub(super) output: &'a Output,
    /// Rows of its batches.
    pub(super) rows: u32,
    pub(super) fit: ScoreFit,
}

impl Lane<'_> {
    /// Searches until the server ends.
    pub(super) fn work(&self, evaluator: Box<dyn Evaluator>) -> Result<(), EvaluatorError> {
        let (mut jobs, mut evaluators, mut lockstep) = (Vec::new(), [evaluator], Lockstep::new(1));
        let mut cache_clears = 0;
        while self.queue.fill(&mut jobs, self.rows) {
            let requested = self.queue.cache_clears();
            if requested > cache_clears {
                evaluators[0].start_shard();
                cache_clears = requested;
            }
            jobs.iter_mut().filter(|job| job.progress.is_none()).for_each(Job::begin);
            lockstep.round(&mut jobs, &mut evaluators)?;
            self.report(&mut jobs);
        }
        Ok(())
    }

    /// Writes the answers of jobs that are over, which leave, and the reports that are due.
    fn report(&self, jobs: &mut Vec<Job>) {
        jobs.retain_mut(|job| {
            let is_over = job.is_over();
            if is_over || job.is_due() {
                self.output.line(&answer(job, self.fit, !is_over));
            }
            if is_over {
                self.queue.finish(&job.task);
            }
            !is_over
        });
        if self.output.is_broken() {
            self.queue.end(End::Broken);
        }
    }
}
