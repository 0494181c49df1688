//! Values belong to the run that made them, because their files lie in its folder. Passing one to another run is an error.

use super::session::RunHandle;
use crate::call::{Answer, Call};
use dc0_steps::handles::{Analysis, Network, Window};
use dc0_steps::step::Argument;

/// A value that belongs to a run.
pub(super) trait Owned {
    /// The folder of the run; `None` for values that belong to no run.
    fn owner(&self) -> Option<&str>;

    /// What the value is, for messages.
    fn label(&self) -> String;
}

impl Owned for Network {
    fn owner(&self) -> Option<&str> {
        Some(&self.0.run)
    }

    fn label(&self) -> String {
        format!("net {}", self.name())
    }
}

impl Owned for Window {
    /// Games of datasets and of other runs belong to none: they are read where they are.
    fn owner(&self) -> Option<&str> {
        self.games().find(|games| !games.0.is_loaded).map(|games| &*games.0.run)
    }

    fn label(&self) -> String {
        "window of games".to_owned()
    }
}

impl Owned for Analysis {
    fn owner(&self) -> Option<&str> {
        Some(&self.0.run)
    }

    fn label(&self) -> String {
        format!("analysis {:04}", self.0.number)
    }
}

impl Owned for Argument {
    fn owner(&self) -> Option<&str> {
        match self {
            Self::Network(network) => network.owner(),
            Self::Window(window) => window.owner(),
            Self::Analysis(analysis) => analysis.owner(),
            Self::Player(player) => player.network().and_then(Owned::owner),
            Self::Text(_) | Self::Texts(_) => None,
        }
    }

    fn label(&self) -> String {
        match self {
            Self::Network(network) => network.label(),
            Self::Window(window) => window.label(),
            Self::Analysis(analysis) => analysis.label(),
            Self::Player(player) => format!("player {}", player.name()),
            Self::Text(_) | Self::Texts(_) => "text".to_owned(),
        }
    }
}

/// As [`check`], for the arguments of a step.
pub(super) fn check_arguments(call: &Call<'_>, run: &RunHandle, arguments: &[Argument]) -> Answer<()> {
    check(call, run, &arguments.iter().map(|argument| argument as &dyn Owned).collect::<Vec<_>>())
}

/// An error if a value belongs to another run than the one it is given to.
pub(super) fn check(call: &Call<'_>, run: &RunHandle, values: &[&dyn Owned]) -> Answer<()> {
    let own = &run.0.info.folder;
    for value in values {
        if let Some(owner) = value.owner().filter(|owner| owner != own) {
            return Err(call.misuse(format!(
                "the {} belongs to the run {owner}, and this is a call of the run {own}; make it in this run by the same call, \
                 which takes finished steps over from the trials of its sweep and from runs that `from` names",
                value.label()
            )));
        }
    }
    Ok(())
}
