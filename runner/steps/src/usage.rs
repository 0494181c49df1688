//! How scripts call a function, for the reference, error messages and editors.

/// The documentation of a host function.
#[derive(Debug, Clone, Copy)]
pub struct Usage {
    /// Its name.
    pub name: &'static str,
    /// How it is called; several forms are joined by ` or `.
    pub form: &'static str,
    /// What it returns, as a noun phrase.
    pub returns: &'static str,
    /// What it does, in one or two sentences.
    pub meaning: &'static str,
    /// A line of a script that calls it.
    pub example: &'static str,
}
