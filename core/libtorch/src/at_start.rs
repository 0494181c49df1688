//! Programs that are linked with libtorch.

pub(super) fn load() -> Result<(), String> {
    Ok(())
}

pub(super) fn is_loaded() -> bool {
    true
}
