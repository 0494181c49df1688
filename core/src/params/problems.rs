//! All problems with one call's parameters, collected before any is reported.

use thiserror::Error;

/// Parameters of a group by name, each with what is wrong with it beside the others.
pub type Advice = Vec<(&'static str, String)>;

/// Advice on the parameters that are at fault, given each with whether it is and what to say.
pub fn advice<const N: usize>(all: [(&'static str, bool, &str); N]) -> Advice {
    let at_fault = all.into_iter().filter(|(_, is_at_fault, _)| *is_at_fault);
    at_fault.map(|(name, _, message)| (name, message.to_owned())).collect()
}

/// One problem with one parameter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Dotted path of the parameter, such as `search.c_puct`.
    pub path: String,
    /// What was expected, what was found, and what to do.
    pub message: String,
}

/// All problems of one call.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{what}: {} in its parameters{}", count(.problems.len()), list(.problems))]
pub struct ParamErrors {
    /// The call the parameters were for.
    pub what: String,
    /// At least one problem, in the order of the paths.
    pub problems: Vec<Problem>,
}

fn count(problems: usize) -> String {
    if problems == 1 { "1 problem".to_owned() } else { format!("{problems} problems") }
}

/// The most problems that are listed; a schedule can have one for every ply.
const MAX_LISTED: usize = 20;

fn list(problems: &[Problem]) -> String {
    let mut list: String =
        problems.iter().take(MAX_LISTED).map(|p| format!("\n  {}: {}", p.path, p.message)).collect();
    if problems.len() > MAX_LISTED {
        list += "\n  … and ";
        list += &(problems.len() - MAX_LISTED).to_string();
        list += " more";
    }
    list
}

/// Parameters by the names they had, and by those they have, perhaps in a group, for people with older scripts.
const RENAMED: [(&str, &str); 8] = [
    ("first_play", "fpu"),
    ("in_flight", "virtual_loss_mode"),
    ("leaves", "leaf_batch"),
    ("opponent_precision", "second.precision"),
    ("opponent_search", "second.search"),
    ("seats", "game_slots"),
    ("stop_by_gain", "kld_gain"),
    ("stop_when_settled", "smart_pruning"),
];

/// A collector of [`Problem`]s.
#[derive(Debug, Default)]
pub struct Problems {
    all: Vec<Problem>,
    /// Those of values that could not be read.
    unread: usize,
}

impl Problems {
    /// Adds the problem of a value at a dotted path that cannot be read, so that nothing that depends on it can be judged.
    pub fn add(&mut self, path: &str, message: impl Into<String>) {
        self.add_judged(path, message);
        self.unread += 1;
    }

    /// Adds the problem of a value at a dotted path that was read, and that does not fit the others.
    pub fn add_judged(&mut self, path: &str, message: impl Into<String>) {
        self.all.push(Problem { path: path.to_owned(), message: message.into() });
    }

    /// Adds a problem for an unknown name, with a suggestion from the known ones.
    pub fn unknown(&mut self, path: &str, name: &str, known: &[&str]) {
        let is_known = |new: &str| known.contains(&new.split_once('.').map_or(new, |(group, _)| group));
        let renamed = RENAMED.iter().find(|(old, new)| *old == name && is_known(new));
        let hint = match (renamed, nearest(name, known.iter().copied())) {
            (Some((_, new)), _) => format!("it is called `{new}` now"),
            (None, Some(near)) => format!("did you mean `{near}`?"),
            (None, None) => format!("known are {}", known.join(", ")),
        };
        self.add(path, format!("unknown parameter; {hint}"));
    }

    /// Whether there are no problems so far.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// The number of problems so far.
    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// The number of values so far that could not be read.
    pub fn unread(&self) -> usize {
        self.unread
    }

    /// The collected problems as an error; `what` names the call.
    pub fn into_errors(self, what: &str) -> ParamErrors {
        ParamErrors { what: what.to_owned(), problems: self.all }
    }
}

/// The name of which another one is a slip of the keys: at most one edit for four letters. For lists of names that have nothing to do
/// with each other, in which [`nearest`] would find one too easily.
pub fn intended<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    known
        .into_iter()
        .map(|candidate| (strsim::osa_distance(name, candidate), candidate))
        .filter(|(edits, _)| *edits <= name.chars().count() / 4)
        .min_by_key(|(edits, _)| *edits)
        .map(|(_, candidate)| candidate)
}

/// The known name that is most similar to a misspelt one (Jaro–Winkler similarity of at least 0.75, chosen).
pub fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    known
        .into_iter()
        .map(|candidate| (strsim::jaro_winkler(name, candidate), candidate))
        .filter(|(similarity, _)| *similarity >= 0.75)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, candidate)| candidate)
}
