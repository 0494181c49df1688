//! Free disk space, as the system reports it.

use std::path::Path;

/// Free bytes for this user on the disk of an existing folder, if the system reports them.
#[cfg(unix)]
#[allow(unsafe_code, reason = "the free space of a disk has no safe interface")]
pub(super) fn free_bytes(folder: &Path) -> Option<u64> {
    use std::os::unix::ffi::OsStrExt;
    let path = std::ffi::CString::new(folder.as_os_str().as_bytes()).ok()?;
    // SAFETY: `statvfs` is a struct of integers, for which zeros are a value; the path is a C string; the call writes
    // nothing but the struct, whose content is used only if the call succeeds.
    let stats = unsafe {
        let mut stats: libc::statvfs = std::mem::zeroed();
        (libc::statvfs(path.as_ptr(), &raw mut stats) == 0).then_some(stats)
    }?;
    Some(stats.f_bavail as u64 * stats.f_frsize as u64)
}

/// Free bytes for this user on the disk of an existing folder, if the system reports them.
#[cfg(not(unix))]
pub(super) fn free_bytes(_: &Path) -> Option<u64> {
    None
}
