//! The machines that PyTorch publishes a usable libtorch for.

use std::env::consts::{ARCH, OS};
use std::fmt;

use anyhow::bail;

/// The operating system, which decides the names of libraries and the contents of wheels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Platform {
    Linux,
    Macos,
}

/// Which libraries are installed. The program is the same for both: at start it loads the CUDA libraries if they exist.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Flavour {
    Cpu,
    Cuda,
}

impl Platform {
    pub(super) fn of_this_machine() -> anyhow::Result<Self> {
        Self::named(OS, ARCH)
    }

    fn named(os: &str, arch: &str) -> anyhow::Result<Self> {
        match (os, arch) {
            ("linux", "x86_64" | "aarch64") => Ok(Self::Linux),
            ("macos", "aarch64") => Ok(Self::Macos),
            _ => bail!(
                "no libtorch {} wheel exists for {os} on {arch}; it exists for Linux on x86_64 and aarch64 and for \
                 macOS on aarch64. If you have a libtorch of that version, set LIBTORCH to its folder",
                super::VERSION
            ),
        }
    }

    pub(super) fn flavour(self, cuda: bool) -> anyhow::Result<Flavour> {
        match (self, cuda) {
            (Self::Macos, true) => bail!("there is no CUDA on macOS; run `cargo xtask setup` without --cuda"),
            (_, true) => Ok(Flavour::Cuda),
            (_, false) => Ok(Flavour::Cpu),
        }
    }
}

impl Flavour {
    /// Peak disk space of fetching, with both the wheels and the unpacked files, plus a margin.
    /// Measured on an x86-64 Linux at 1.7 and 5.9 GB (CUDA), plus pip's own cache of the wheels (0.6 and 2.5 GB).
    pub(super) fn bytes_while_fetching(self) -> u64 {
        match self {
            Self::Cpu => 2_500_000_000,
            Self::Cuda => 9_000_000_000,
        }
    }

    /// Whether an installation of flavour `self` can be used if `wanted` is required.
    pub(super) fn serves(self, wanted: Self) -> bool {
        self == wanted || self == Self::Cuda
    }
}

impl fmt::Display for Flavour {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Cpu => "cpu",
            Self::Cuda => "cuda",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_error_of_an_unsupported_machine_names_the_supported_ones() {
        let message = Platform::named("windows", "x86_64").expect_err("unsupported").to_string();
        assert!(message.contains("windows on x86_64") && message.contains("Linux"), "{message}");
    }

    #[test]
    fn a_cuda_installation_serves_both_flavours() {
        assert!(Flavour::Cuda.serves(Flavour::Cpu) && Flavour::Cuda.serves(Flavour::Cuda));
        assert!(!Flavour::Cpu.serves(Flavour::Cuda));
    }
}
