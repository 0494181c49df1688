//! Samplers: which point a sweep tries next.
//!
//! A sampler is a pure function of the space, its settings, a seed, the trial's number and what was told of other
//! trials. Nothing is kept between questions, so after a kill the same journal gives the same answers. Each dimension
//! draws from a stream of its own, keyed by seed, trial and name: a new dimension leaves the draws of the others alone
//! (but not a Sobol sequence, whose points belong together).
//!
//! No point of a discrete space is tried twice while others are untried: a draw that gives a point again is repeated,
//! [`DRAWS`] times by the sampler's own rule, as often by chance, and then the first untried point of the grid is taken.
//! When all have been tried, there is no next point.

mod draws;
mod params;
mod parzen;

use std::collections::BTreeSet;

use super::space::{Point, Space, canonical};
use super::told::{Direction, Told};
use draws::Draws;
pub use params::{SamplerKind, SamplerParams};

/// How often a point that was tried before is drawn again by one rule.
const DRAWS: u32 = 32;

/// What all questions of one sweep have in common.
#[derive(Debug, Clone, Copy)]
pub struct Sampler<'a> {
    /// What is searched.
    pub space: &'a Space,
    /// How; it fits the space, see [`SamplerParams::check`].
    pub params: &'a SamplerParams,
    /// Which values are good.
    pub direction: Direction,
    /// Of the sweep.
    pub seed: u64,
}

impl Sampler<'_> {
    /// The point of trial `number`; none when every point has been tried.
    ///
    /// `told` are the other trials, in any order. Those at work belong to it: their points are not tried again, and TPE
    /// counts them as bad, so that parallel trials keep apart (the constant liar of Ginsbourger et al. 2010).
    pub fn ask(&self, number: u32, told: &[Told]) -> Option<Point> {
        let tried: BTreeSet<String> = told.iter().map(|told| canonical(&told.point)).collect();
        let is_new = |point: &Point| !tried.contains(&canonical(point));
        let first_untried = || self.space.grid().find(is_new);
        if self.params.kind == SamplerKind::Grid {
            return first_untried();
        }
        let mut draws = Draws::new(self.seed, number);
        let by_rule = (0..DRAWS).map(|_| self.params.kind);
        let by_chance = (0..DRAWS).map(|_| SamplerKind::Random);
        let mut last = None;
        for kind in by_rule.chain(by_chance) {
            let point = self.draw(kind, &mut draws, told);
            if is_new(&point) {
                return Some(point);
            }
            last = Some(point);
        }
        if self.space.is_discrete() { first_untried() } else { last }
    }

    fn draw(&self, kind: SamplerKind, draws: &mut Draws, told: &[Told]) -> Point {
        let point = match kind {
            SamplerKind::Sobol => {
                let units = draws.sobol(self.space.dimensions().map(|(name, _)| name));
                self.space.build(|name, domain| Some(domain.at_unit(units[name])))
            }
            SamplerKind::Tpe if parzen::measured(told) >= self.params.startup as usize => {
                let trials = parzen::best_first(told, self.direction);
                self.space.build(|name, domain| {
                    Some(parzen::ask(self.params, name, domain, &trials, draws.stream(name)))
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
