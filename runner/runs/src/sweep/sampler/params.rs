//! The settings of samplers.

use dc0_core::params::Problems;
use dc0_core::{param_enum, params};

use crate::sweep::of_another_kind;
use crate::sweep::space::Space;

param_enum! {
    /// How points are chosen.
    pub enum SamplerKind {
        /// Every point of a finite space, in order; an interval needs `points`.
        Grid = "grid",
        /// Random search: each dimension independently, uniform on its scale (Bergstra & Bengio 2012).
        Random = "random",
        /// A Sobol sequence (Sobol' 1967, directions of Joe & Kuo 2008), scrambled by the seed (Owen 1995, Burley 2020).
        /// Its points spread more evenly than random ones; trial counts of 2, 4, 8, … fill the space best.
        Sobol = "sobol",
        /// Tree-structured Parzen estimator (Bergstra et al. 2011): where good trials are dense and bad ones are not.
        Tpe = "tpe",
    }
}

params! {
    /// How a sweep chooses its points. A bare word stands for a group with this `kind`.
    pub struct SamplerParams {
        /// The rule.
        kind: SamplerKind = SamplerKind::Tpe;
        /// TPE: trials with a value before it applies; until then points are drawn at random.
        startup: u32 = 10, in 1..=100_000;
        /// TPE: values drawn for each dimension, of which the most promising is taken.
        candidates: u32 = 24, in 1..=100_000;
        /// TPE: share of the trials, best first, that counts as good.
        gamma: f64 = 0.1, in 0.01..=0.5;
    }
    check |params| {
        let declared = Self::default();
        let of_tpe = [
            ("startup", params.startup != declared.startup),
            ("candidates", params.candidates != declared.candidates),
            ("gamma", params.gamma != declared.gamma),
        ];
        let is_tpe = params.kind == SamplerKind::Tpe;
        let without_effect = of_tpe.into_iter().filter(|(_, is_set)| *is_set && !is_tpe);
        without_effect.map(|(name, _)| (name, of_another_kind(params.kind.name(), "tpe"))).collect()
    };
    shorthand kind;
}

impl SamplerParams {
    /// Adds a problem for each dimension that the sampler cannot handle; `path` is that of the space.
    pub fn check(&self, space: &Space, path: &str, problems: &mut Problems) {
        let endless = space.dimensions().filter(|(_, dimension)| dimension.domain.count().is_none());
        for (name, dimension) in endless.filter(|_| self.kind == SamplerKind::Grid) {
            let message = format!(
                "a grid needs finitely many values, got {}; say how many with points, or take another sampler",
                dimension.domain
            );
            problems.add(&format!("{path}.{name}"), message);
        }
    }
}
