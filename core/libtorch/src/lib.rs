//! libtorch on demand. On Linux with an x86-64 processor a program that uses `tch` starts without it: the C++ layer of `torch-sys` lies
//! in the program as a shared library, and each of its functions is a jump that loads it when it is first called. [`load`] does
//! so beforehand, and says what is wrong where that fails. Elsewhere libtorch is loaded at start, and [`load`] has nothing to do.

#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
mod at_start;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod on_demand;

#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
use at_start as library;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
use on_demand as library;

/// libtorch cannot be loaded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "libtorch cannot be loaded: {0}; `cargo xtask setup` fetches it into .libtorch, and LD_LIBRARY_PATH may name the folder of another \
     one of the same version"
)]
pub struct LoadError(String);

/// Loads libtorch, unless it is loaded already. Threads that call it at the same time wait for the first.
pub fn load() -> Result<(), LoadError> {
    library::load().map_err(LoadError)
}

/// Whether libtorch is loaded.
pub fn is_loaded() -> bool {
    library::is_loaded()
}
