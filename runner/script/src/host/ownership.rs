//! Values belong to the run that made them, because their files lie in its folder.
//!
//! Games are read where they are, and `load_network` copies nets, so both take values of every run that the script has opened itself: it
//! opens them again and calls their steps again when it goes on. Trials of a sweep that have ended are not called again.

use dc0_steps::handles::{Analysis, Network, Window};
use dc0_steps::step::Argument;

use super::session::RunHandle;
use crate::call::{Answer, Call};

/// A value that belongs to a run.
pub(super) trait Owned {
    /// The folders of the runs that it belongs to.
    fn owners(&self) -> Vec<&str>;

    /// Whether its files are read where they are.
    fn is_read_anywhere(&self) -> bool {
        false
    }

    /// Whether it is a net, or plays with one.
    fn has_net(&self) -> bool {
        false
    }

    /// What the value is, for messages.
    fn label(&self) -> String;
}

impl Owned for Network {
    fn owners(&self) -> Vec<&str> {
        vec![&self.0.run]
    }

    fn has_net(&self) -> bool {
        true
    }

    fn label(&self) -> String {
        format!("net {}", self.name())
    }
}

impl Owned for Window {
    /// Games of datasets and of earlier runs belong to none.
    fn owners(&self) -> Vec<&str> {
        self.games().filter(|games| !games.0.is_loaded).map(|games| &*games.0.run).collect()
    }

    fn is_read_anywhere(&self) -> bool {
        true
    }

    fn label(&self) -> String {
        "window of games".to_owned()
    }
}

impl Owned for Analysis {
    fn owners(&self) -> Vec<&str> {
        vec![&self.0.run]
    }

    fn label(&self) -> String {
        format!("analysis {:04}", self.0.number)
    }
}

impl Owned for Argument {
    fn owners(&self) -> Vec<&str> {
        match self {
            Self::Network(network) => network.owners(),
            Self::Window(window) => window.owners(),
            Self::Analysis(analysis) => analysis.owners(),
            Self::Player(player) => player.network().map(Owned::owners).unwrap_or_default(),
            Self::StoredNetwork { .. } | Self::Text(_) | Self::Texts(_) => Vec::new(),
        }
    }

    fn is_read_anywhere(&self) -> bool {
        matches!(self, Self::Window(_))
    }

    fn has_net(&self) -> bool {
        matches!(self, Self::Network(_) | Self::Player(_))
    }

    fn label(&self) -> String {
        match self {
            Self::Network(network) => network.label(),
            Self::Window(window) => window.label(),
            Self::Analysis(analysis) => analysis.label(),
            Self::Player(player) => format!("player {}", player.name()),
            Self::StoredNetwork { .. } | Self::Text(_) | Self::Texts(_) => "text".to_owned(),
        }
    }
}

/// As [`check`], for the arguments of a step.
pub(super) fn check_arguments(call: &Call<'_>, run: &RunHandle, arguments: &[Argument]) -> Answer<()> {
    check(call, run, &arguments.iter().map(|argument| argument as &dyn Owned).collect::<Vec<_>>())
}

/// As [`check_arguments`], for a step that copies what it is given.
pub(super) fn check_copied(call: &Call<'_>, run: &RunHandle, arguments: &[Argument]) -> Answer<()> {
    for argument in arguments {
        check_owners(call, run, argument, true)?;
        if let Argument::StoredNetwork { runs, name } = argument
            && run.0.own_runs.has_net(runs, name)
        {
            return Err(call.misuse(format!(
                "\"{name}\" is a run of this script; give the net itself, `run.load_network(net)`"
            )));
        }
    }
    Ok(())
}

/// An error if a value belongs to another run than the one it is given to.
pub(super) fn check(call: &Call<'_>, run: &RunHandle, values: &[&dyn Owned]) -> Answer<()> {
    values.iter().try_for_each(|value| check_owners(call, run, *value, value.is_read_anywhere()))
}

fn check_owners(call: &Call<'_>, run: &RunHandle, value: &dyn Owned, takes_own_runs: bool) -> Answer<()> {
    let (own, own_runs) = (&run.0.info.folder, &run.0.own_runs);
    let is_foreign = |owner: &&str| *owner != own && !(takes_own_runs && own_runs.has(owner));
    let Some(owner) = value.owners().into_iter().find(is_foreign) else { return Ok(()) };
    let hint = if value.has_net() && own_runs.has(owner) {
        "take a copy of the net into this run with `run.load_network(net)`"
    } else {
        "make it in this run by the same call, which takes finished steps over from the trials of its sweep and from runs that `from` names"
    };
    Err(call.misuse(format!(
        "the {} belongs to the run {owner}, and this is a call of the run {own}; {hint}",
        value.label()
    )))
}
