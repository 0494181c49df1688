//! SHA-256 as encoded in wheels: URL-safe base64 without padding.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest, Sha256};

/// Large enough that system calls cost little beside hashing.
const CHUNK_BYTES: usize = 1 << 18;

pub(crate) fn of_bytes(bytes: &[u8]) -> String {
    URL_SAFE_NO_PAD.encode(Sha256::digest(bytes))
}

pub(super) fn of_file(path: &Path) -> io::Result<String> {
    copy(File::open(path)?, io::sink(), |_| ())
}

/// Copies `from` to `to` and returns the digest; `progress` gets the size of each chunk.
pub(super) fn copy(mut from: impl Read, mut to: impl Write, progress: impl Fn(u64)) -> io::Result<String> {
    let mut hasher = Sha256::new();
    let mut chunk = vec![0; CHUNK_BYTES];
    loop {
        let read = from.read(&mut chunk)?;
        if read == 0 {
            return Ok(URL_SAFE_NO_PAD.encode(hasher.finalize()));
        }
        hasher.update(&chunk[..read]);
        to.write_all(&chunk[..read])?;
        progress(read as u64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// FIPS 180-2, appendix B.1: the digest of "abc" is ba7816bf 8f01cfea ... f20015ad.
    const ABC: &str = "ungWv48Bz-pBQUDeXa4iI7ADYaOWF3qctBD_YfIAFa0";

    #[test]
    fn agrees_with_the_standard() -> io::Result<()> {
        assert_eq!(of_bytes(b"abc"), ABC);
        assert_eq!(copy(&b"abc"[..], io::sink(), |_| ())?, ABC);
        Ok(())
    }
}
