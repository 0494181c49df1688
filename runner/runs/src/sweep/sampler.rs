//! Samplers choose the next point of a sweep.
//!
//! A sampler is a pure function of the space, its settings, a seed, the trial's number and the observations of other trials.
//! It has no state, so after a kill the same journal gives the same points. Each dimension draws from a random stream of its
//! own, keyed by seed, trial and name, so adding a dimension does not change the draws of the others (except in a Sobol
//! sequence, whose coordinates belong together).
//!
//! No point of a discrete space is tried twice while others are untried: a draw of a known point is repeated, [`DRAWS`] times by
//! the sampler's own rule, as often at random, and then the first untried point of the grid is taken. When all have been tried,
//! there is no next point.

mod draws;
mod params;
mod tpe;

use std::collections::BTreeSet;

use super::observation::{Direction, Observation};
use super::space::{Point, Space, canonical};
use draws::Draws;
pub use params::{SamplerKind, SamplerParams};

/// Draws by each rule until a point is new.
const DRAWS: u32 = 32;

/// The sampler of a sweep.
#[derive(Debug, Clone, Copy)]
pub struct Sampler<'a> {
    /// The search space.
    pub space: &'a Space,
    /// The settings, which must fit the space, see [`SamplerParams::check`].
    pub params: &'a SamplerParams,
    /// Whether larger or smaller values are better.
    pub direction: Direction,
    /// The sweep's seed.
    pub seed: u64,
}

impl<'a> Sampler<'a> {
    /// The point of trial `number`; `None` when every point has been tried.
    ///
    /// `trials` are the other trials in any order, including running ones: their points are not tried again, and TPE counts them
    /// as bad, so that parallel trials stay apart (the constant liar of Ginsbourger et al. 2010).
    pub fn ask(&self, number: u32, trials: &[Observation]) -> Option<Point> {
        let tried = trials.iter().map(|trial| canonical(&trial.point)).collect();
        self.ask_for_new(number, trials, &tried, &mut self.space.grid())
    }

    /// The points of trials from `number` on of which none has a value, while there are any; `tried` are the [`canonical`] points of all
    /// others.
    pub fn points(self, number: u32, mut tried: BTreeSet<String>) -> impl Iterator<Item = Point> + use<'a> {
        // What the grid has left behind is tried.
        let (mut numbers, mut grid) = (number.., self.space.grid());
        std::iter::from_fn(move || {
            let point = self.ask_for_new(numbers.next()?, &[], &tried, &mut grid)?;
            tried.insert(canonical(&point));
            Some(point)
        })
    }

    fn ask_for_new(
        &self,
        number: u32,
        trials: &[Observation],
        tried: &BTreeSet<String>,
        grid: &mut impl Iterator<Item = Point>,
    ) -> Option<Point> {
        let is_new = |point: &Point| !tried.contains(&canonical(point));
        if self.params.kind == SamplerKind::Grid {
            return grid.find(is_new);
        }
        let mut draws = Draws::new(self.seed, number);
        let by_rule = (0..DRAWS).map(|_| self.params.kind);
        let at_random = (0..DRAWS).map(|_| SamplerKind::Random);
        let mut last = None;
        for kind in by_rule.chain(at_random) {
            let point = self.draw(kind, &mut draws, trials);
            if is_new(&point) {
                return Some(point);
            }
            last = Some(point);
        }
        if self.space.is_discrete() { grid.find(is_new) } else { last }
    }

    fn draw(&self, kind: SamplerKind, draws: &mut Draws, trials: &[Observation]) -> Point {
        let point = match kind {
            SamplerKind::Sobol => {
                let units = draws.sobol(self.space.dimensions().map(|(name, _)| name));
                self.space.build(|name, domain| Some(domain.at_unit(units[name])))
            }
            SamplerKind::Tpe if tpe::measured(trials) >= self.params.startup as usize => {
                let (ranked, measured) = (tpe::best_first(trials, self.direction), tpe::measured(trials));
                self.space.build(|name, domain| {
                    Some(tpe::ask(self.params, name, domain, (&ranked, measured), draws.stream(name)))
                })
            }
            SamplerKind::Grid | SamplerKind::Random | SamplerKind::Tpe => {
                self.space.build(|name, domain| Some(domain.at_unit(draws.unit(name))))
            }
        };
        point.expect("every value is given")
    }
}

#[cfg(test)]
mod tests;
