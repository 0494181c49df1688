//! How scripts call a function, for the reference, messages and editors.

/// A host function as a script calls it.
#[derive(Debug, Clone, Copy)]
pub struct Usage {
    /// Its name.
    pub name: &'static str,
    /// How it is called; several forms are joined by ` or `.
    pub form: &'static str,
    /// What it gives.
    pub gives: &'static str,
    /// What it does, in a sentence or two.
    pub meaning: &'static str,
    /// A line of a script that uses it.
    pub example: &'static str,
}
