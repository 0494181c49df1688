//! How much is done by tests that go through many random cases.

/// The number of cases: all in an optimised build, as the whole test command makes, and a tenth in a build for development, where each
/// takes ten times as long.
pub(crate) const fn cases(optimized: u32) -> u32 {
    if cfg!(debug_assertions) { optimized / 10 } else { optimized }
}
