//! Every kind of step, each in its own file. A new kind is a [`StepKind`](dc0_runs::StepKind), a type that implements
//! [`Step`](crate::step::Step), and a line here.

mod arena;
mod grow;
mod import;
mod load_network;
mod network;
mod players;
mod puzzles;
mod reanalyze;
mod search;
mod self_play;
mod train;
mod validate;

pub use arena::{Arena, MatchPlayer, MatchSetup, PLAYERS, WrapEvaluator, endings, opening_book, unused_by};
pub use import::sources as import_sources;
pub use network::summary_members;
pub use players::PlayerInput;
pub use self_play::{ARCHIVE, SelfPlay, play_one, play_shard, starts};
pub use train::STATE as TRAINING_STATE;

use dc0_core::import::{Lc0Params, PgnParams};
use dc0_core::network::NetworkSpec;
use dc0_core::search::{Requirement, SearchParams};

use crate::executor::RemoteKind;
use crate::step::{Kind, KindOf};

/// The kinds whose shards workers do.
pub static REMOTE_KINDS: &[RemoteKind] =
    &[self_play::REMOTE, reanalyze::REMOTE, arena::REMOTE, puzzles::REMOTE];

/// The kinds, in the order of the reference.
pub static KINDS: &[&dyn Kind] = &[
    &KindOf::<network::NewNetwork>::ENTRY,
    &KindOf::<load_network::LoadNetwork>::ENTRY,
    &KindOf::<grow::Growth>::ENTRY,
    &KindOf::<SelfPlay>::ENTRY,
    &KindOf::<import::Import<PgnParams>>::ENTRY,
    &KindOf::<import::Import<Lc0Params>>::ENTRY,
    &KindOf::<train::Training>::ENTRY,
    &KindOf::<validate::NetworkValidation>::ENTRY,
    &KindOf::<reanalyze::Reanalysis>::ENTRY,
    &KindOf::<Arena>::ENTRY,
    &KindOf::<search::PositionSearch>::ENTRY,
    &KindOf::<puzzles::Puzzles>::ENTRY,
];

/// Why a net cannot serve a search, whose parameters are in the named group; `None` if it can.
fn unmet(group: &str, search: &SearchParams, net: &NetworkSpec) -> Option<String> {
    let Requirement { member, lacks } = dc0_core::search::unmet(search, net)?;
    Some(format!(
        "{group}.{member}: expected a net with a {lacks}, which this one does not have; leave it out, or give another net"
    ))
}

/// The kind with this name.
pub fn kind(name: &str) -> Option<&'static dyn Kind> {
    KINDS.iter().copied().find(|kind| kind.name() == name)
}

#[cfg(test)]
mod tests {
    use dc0_runs::StepKind;

    use super::KINDS;

    #[test]
    fn every_kind_is_implemented_once() {
        let sorted = |kinds: &mut dyn Iterator<Item = StepKind>| {
            let mut kinds: Vec<StepKind> = kinds.collect();
            kinds.sort_by_key(|kind| kind.name);
            kinds
        };
        let implemented = sorted(&mut KINDS.iter().map(|kind| *kind.step_kind()));
        assert_eq!(implemented, sorted(&mut StepKind::ALL.iter().copied()));
    }
}
