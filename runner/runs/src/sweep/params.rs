//! The parameters of a sweep.

use dc0_core::network::torch::Precision;
use dc0_core::params;
use dc0_core::params::Problems;

use super::events::Spent;
use super::observation::Direction;
use super::pruner::PrunerParams;
use super::sampler::SamplerParams;
use super::space::Space;
use crate::Backend;

params! {
    /// A search over a space: many runs, each a trial, chosen, pruned and compared.
    pub struct SweepParams {
        /// The sweep's name, and that of its folder.
        name: String = String::new();
        /// The parameters to vary: `choice([…])`, `int(low, high)`, `uniform(low, high)`, `log_uniform(low, high)` by name.
        space: Space = Space::default();
        /// How points are chosen.
        sampler: SamplerParams = SamplerParams::default();
        /// Which trials end early.
        pruner: PrunerParams = PrunerParams::default();
        /// Trials in all; fewer where the space has fewer points.
        trials: u32 = 20, in 1..=1_000_000;
        /// Runs of each trial, each with a seed of its own; the trial's value is their mean.
        replicates: u32 = 1, in 1..=1000;
        /// The name of the value in tables.
        objective: String = "value".to_owned();
        /// Whether larger or smaller values are better.
        direction: Direction = Direction::Maximize;
        /// Replicates that run at the same time, each with its share of the cores.
        parallel: u32 = 1, in 1..=256;
        /// What each replicate may spend; the script looks at `trial.goes_on`, so the last round goes beyond it.
        budget: BudgetParams = BudgetParams::default();
        /// Seed of the sampler and of replicate 0, unless the command line gives one; replicate n adds n to it.
        seed: u64 = 1, in 0_i64..=9_007_199_254_740_991;
        /// The library that evaluates nets during play; the command line's `--backend` takes precedence.
        backend: Backend = Backend::Auto;
        /// The precision of nets during play.
        precision: Precision = Precision::Auto;
        /// Sweeps and runs in the same folder whose finished steps are taken over where they are the same.
        from: Vec<String> = Vec::new();
        /// Whether trials that failed before are retried.
        retry_failed: bool = false;
    }
    check |params| {
        let mut problems = Vec::new();
        if params.name.is_empty() {
            problems.push(("name", "is missing; give the sweep a name, which is also its folder's".to_owned()));
        }
        if params.space.dimensions().next().is_none() {
            problems.push(("space", "is missing; give at least one parameter, such as #{ c_puct: uniform(1, 3) }".to_owned()));
        }
        let mut unsuitable = Problems::default();
        params.sampler.check(&params.space, "space", &mut unsuitable);
        let unsuitable = unsuitable.into_errors("sweep").problems.into_iter();
        problems.extend(unsuitable.map(|problem| ("sampler", format!("{}: {}", problem.path, problem.message))));
        problems
    };
}

params! {
    /// What a replicate may spend, the same for all, so that trials of different sizes are compared fairly.
    pub struct BudgetParams {
        /// Games of self-play and of matches; () for any number.
        games: Option<f64> = None, in 1.0..=1e15;
        /// Evaluations of positions, those that a cache answered included; () for any number.
        evaluations: Option<f64> = None, in 1.0..=1e18;
        /// Updates of the optimiser; () for any number.
        updates: Option<f64> = None, in 1.0..=1e15;
        /// Floating-point operations of nets, without evaluations that a cache answered; a training sample counts three times an
        /// evaluation; () for any number.
        flops: Option<f64> = None, in 1.0..=1e24;
        /// Seconds of steps; () for any time. Results then depend on the machine.
        seconds: Option<f64> = None, in 0.001..=1e9;
    }
}

impl BudgetParams {
    /// The share of the budget that is left, by the scarcest resource: 1 without a budget, 0 once it is spent.
    pub fn left(&self, spent: &Spent) -> f64 {
        let all = [
            (self.games, spent.games),
            (self.evaluations, spent.evaluations),
            (self.updates, spent.updates),
            (self.flops, spent.flops),
            (self.seconds, spent.seconds),
        ];
        let shares = all.into_iter().filter_map(|(budget, spent)| Some(1.0 - spent / budget?));
        shares.fold(1.0, f64::min).max(0.0)
    }
}
