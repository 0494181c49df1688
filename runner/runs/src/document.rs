//! The small bookkeeping files of a run: JSON objects, each read and written whole, with a digest of its own text at its end.

use std::io;
use std::path::Path;

use serde::Serialize;
use serde::de::DeserializeOwned;

use dc0_core::{durable, regular};

use super::error::{Remedy, RunError};

/// What ends the text of a sealed file, around the digest of everything before it.
const SEAL: [&str; 2] = [",\n  \"blake3\": \"", "\"\n}\n"];

/// Reads a file written by [`write_sealed`]; `None` if it does not exist. A file with any changed byte is an error.
/// Its message ends with the remedy.
pub(super) fn read_sealed<T: DeserializeOwned>(path: &Path, remedy: Remedy) -> Result<Option<T>, RunError> {
    let content = match regular::read(path) {
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => return Ok(None),
        read => read.map_err(RunError::io("read", path))?,
    };
    unsealed(&content).map(Some).map_err(|cause| remedy.damaged(path, cause))
}

fn unsealed<T: DeserializeOwned>(content: &[u8]) -> Result<T, String> {
    let text = std::str::from_utf8(content).map_err(|cause| cause.to_string())?;
    let parts = text.strip_suffix(SEAL[1]).and_then(|text| text.rsplit_once(SEAL[0]));
    let (members, digest) = parts.ok_or("it does not end with a digest of its content")?;
    let found = durable::digest(members.as_bytes());
    if found != digest {
        return Err(format!("the digest of its content is {found}, not {digest} as written at its end"));
    }
    serde_json::from_str(&format!("{members}\n}}")).map_err(|cause| cause.to_string())
}

/// Writes an object whole or not at all, with the digest of its text as its last member.
pub(super) fn write_sealed<T: Serialize>(path: &Path, content: &T) -> Result<(), RunError> {
    durable::write(path, sealed(content).as_bytes()).map_err(RunError::io("write", path))
}

/// As [`write_sealed`], for what can be made again: a power cut may undo it.
pub(super) fn write_sealed_part<T: Serialize>(path: &Path, content: &T) -> Result<(), RunError> {
    durable::write_part(path, sealed(content).as_bytes()).map_err(RunError::io("write", path))
}

fn sealed<T: Serialize>(content: &T) -> String {
    let text = serde_json::to_string_pretty(content).expect("bookkeeping has text keys only");
    let members = text.strip_suffix("\n}").expect("an object with members");
    format!("{members}{}{}{}", SEAL[0], durable::digest(members.as_bytes()), SEAL[1])
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{Remedy, RunError, read_sealed, write_sealed};

    #[test]
    fn every_changed_bit_and_every_missing_byte_of_a_sealed_file_is_noticed() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("note.json");
        assert_eq!(read_sealed::<(u32,)>(&path, Remedy::Repeat).expect("no file"), None);
        let content = serde_json::json!({ "files": [{ "path": "a/b", "bytes": 12 }], "part": 3.5 });
        write_sealed(&path, &content).expect("writes");
        let read = || read_sealed::<serde_json::Value>(&path, Remedy::Repeat);
        assert_eq!(read().expect("whole"), Some(content));
        let whole = fs::read(&path).expect("reads");
        let flipped = (0..whole.len() * 8).map(|bit| {
            let mut bytes = whole.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            bytes
        });
        for bytes in flipped.chain((0..whole.len()).map(|length| whole[..length].to_vec())) {
            fs::write(&path, &bytes).expect("writes");
            let error = read().expect_err("is noticed");
            assert!(matches!(error, RunError::Damaged { remedy: Remedy::Repeat, .. }), "{error}");
            assert!(error.to_string().contains("delete it"), "{error}");
        }
    }
}
