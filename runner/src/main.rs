//! dc0-run
fn main() {}
