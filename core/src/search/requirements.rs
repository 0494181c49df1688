//! What some rules ask of the net.

use super::params::SearchParams;
use crate::network::{NetworkSpec, Tower};

/// Something that a search needs and a net lacks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Requirement {
    /// The member of [`SearchParams`] that needs it.
    pub member: &'static str,
    /// What the net would have.
    pub lacks: &'static str,
}

/// The first member of a search's parameters that a net cannot serve.
pub fn unmet(params: &SearchParams, net: &NetworkSpec) -> Option<Requirement> {
    if params.moves_left.is_some() && net.moves_left_head.is_none() {
        return Some(Requirement { member: "moves_left", lacks: "moves_left_head" });
    }
    let is_blind = params.quiescence == Some(true) && net.tower.kind != Tower::Nnue;
    is_blind.then_some(Requirement { member: "quiescence", lacks: "tower of the kind nnue" })
}

#[cfg(test)]
mod tests {
    use super::unmet;
    use crate::network::preset;
    use crate::search::{MovesLeftParams, SearchParams};

    #[test]
    fn requirements_follow_the_search() {
        let plain = SearchParams::default();
        let hasty = SearchParams { moves_left: Some(MovesLeftParams::default()), ..plain.clone() };
        let quiet = SearchParams { quiescence: Some(true), ..plain.clone() };
        let member =
            |params, net| unmet(params, &preset(net).expect("exists").spec).map(|unmet| unmet.member);
        for (net, expected) in [("dc0-2x32", Some("quiescence")), ("nnue-128", None)] {
            assert_eq!(member(&plain, net), None);
            assert_eq!(member(&hasty, net), Some("moves_left"));
            assert_eq!(member(&quiet, net), expected);
        }
    }
}
