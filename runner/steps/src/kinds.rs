//! Every kind of step, each in a file of its own. A new one is a type with [`Step`](crate::step::Step) and a line here.

mod arena;
mod grow;
mod network;
mod search;
mod self_play;
mod train;

pub use arena::{Arena, Around, Meeting};
pub use network::summary_members;
pub use self_play::{SelfPlay, play_shard};

use crate::step::{Kind, Of};

/// The kinds, in the order of the reference.
pub static KINDS: &[&dyn Kind] = &[
    &Of::<network::NewNetwork>::ENTRY,
    &Of::<grow::Growth>::ENTRY,
    &Of::<SelfPlay>::ENTRY,
    &Of::<train::Training>::ENTRY,
    &Of::<Arena>::ENTRY,
    &Of::<search::PositionSearch>::ENTRY,
];

/// The kind of a name.
pub fn kind(name: &str) -> Option<&'static dyn Kind> {
    KINDS.iter().copied().find(|kind| kind.name() == name)
}

#[cfg(test)]
mod tests {
    use dc0_runs::Series;

    use super::KINDS;

    #[test]
    fn runs_number_each_kind_as_the_kind_says() {
        for kind in KINDS {
            let known = Series::of_kind(kind.name()).map(|(_, series)| series);
            assert_eq!(known, Some(kind.series()), "add {} to Series::of_kind", kind.name());
        }
    }
}
