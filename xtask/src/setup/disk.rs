//! Checks free disk space before half an hour of downloading, not after it.

use std::path::Path;

use anyhow::ensure;

/// Stops with an error if the file system of `folder` has less than `needed_bytes` free.
/// If the system does not report it, the set-up continues and a write may fail.
pub(super) fn check_free(folder: &Path, needed_bytes: u64) -> anyhow::Result<()> {
    let Ok(system) = rustix::fs::statvfs(folder) else {
        return Ok(());
    };
    let free_bytes = system.f_bavail.saturating_mul(system.f_frsize);
    ensure!(
        free_bytes >= needed_bytes,
        "fetching libtorch needs about {} free in {}, which has {}; free some space, or set LIBTORCH to a libtorch \
         elsewhere",
        gigabytes(needed_bytes),
        folder.display(),
        gigabytes(free_bytes)
    );
    Ok(())
}

fn gigabytes(bytes: u64) -> String {
    format!("{:.1} GB", bytes as f64 / 1e9)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn says_how_much_is_needed_and_where() {
        assert!(check_free(Path::new("/"), 0).is_ok());
        let message = check_free(Path::new("/"), u64::MAX).expect_err("no disk has this much").to_string();
        assert!(message.contains("free in /"), "{message}");
    }
}
