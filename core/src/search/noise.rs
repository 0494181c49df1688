//! Dirichlet noise at the root.

use rand_distr::Distribution;
use rand_distr::multi::Dirichlet;

use crate::params;
use crate::rng::Stream;

params! {
    /// Dirichlet noise mixed into the root's priors, so that self-play sometimes tries every move (Silver et al. 2018).
    pub struct RootNoise {
        /// Concentration; smaller puts the noise on fewer moves. The default is AlphaZero's for chess.
        alpha: f64 = 0.3, in 0.001..=1000.0;
        /// Total concentration, divided equally among the legal moves and used instead of `alpha` (10.83 in KataGo, Wu 2020); ()
        /// for `alpha`.
        total: Option<f64> = None, in 0.001..=1000.0;
        /// Share of noise in the mixed prior.
        fraction: f64 = 0.25, in 0.0..=1.0;
    }
    check |noise| {
        let has_both = noise.total.is_some() && noise.alpha != RootNoise::default().alpha;
        has_both.then(|| ("alpha", "has no effect beside total; leave one of them out".to_owned())).into_iter().collect()
    };
}

impl RootNoise {
    /// A sample over this many moves, which sums to 1.
    pub(super) fn sample(&self, moves: usize, stream: &mut Stream) -> Vec<f64> {
        if moves < 2 {
            return vec![1.0; moves];
        }
        let alpha = self.total.map_or(self.alpha, |total| total / moves as f64);
        let alphas = vec![alpha; moves];
        let dirichlet = Dirichlet::new(&alphas).expect("at least two concentrations above zero");
        dirichlet.sample(stream)
    }
}
