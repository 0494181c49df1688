//! Damaged files give errors, never panics or silently wrong rows.

use std::fs;
use std::path::Path;

use rand::RngExt;

use super::super::{
    FileEntry, FileProblem, PositionRow, StoreError, read_entry, read_table, verify_file, verify_files,
};
use super::{game, play_games, position, write};
use crate::rng::{Purpose, Seed, Stream};

/// The file's content with one defect: truncated, a bit flipped, bytes overwritten, or bytes inserted. Half of all defects hit
/// the file's footer, which describes the rest.
fn damaged(content: &[u8], stream: &mut Stream) -> Vec<u8> {
    let size = content.len();
    let start = if stream.random_range(0..2) == 0 { 0 } else { size - size.min(2500) };
    let offset = stream.random_range(start..size);
    let mut changed = content.to_vec();
    match stream.random_range(0..4) {
        0 => changed.truncate(offset),
        1 => changed[offset] ^= 1 << stream.random_range(0..8),
        2 => {
            let end = (offset + stream.random_range(1..64)).min(size);
            changed[offset..end].iter_mut().for_each(|byte| *byte = stream.random_range(0..=255));
        }
        _ => drop(changed.splice(offset..offset, [stream.random_range(0..=255); 3])),
    }
    changed
}

#[test]
fn damaged_files_are_errors_or_valid_rows() {
    let folder = tempfile::tempdir().unwrap();
    let entry = write(folder.path(), "part", &play_games(4, 8, 60).positions);
    let path = folder.path().join("part");
    let content = fs::read(&path).unwrap();
    let mut refused = 0;
    for number in 0..2000 {
        let changed = damaged(&content, &mut Seed { run: 1, step: 1 }.stream(number, Purpose::Sampling));
        fs::write(&path, &changed).unwrap();
        // Pages have no digest of their own, so a defect that turns values into other valid ones (about one in seven) is
        // only found by the manifest's digest.
        refused += u32::from(read_table::<PositionRow>(&path).is_err());
        let by_digest = verify_file(folder.path(), &entry);
        assert_eq!(by_digest.is_ok(), changed == content, "defect {number}");
    }
    assert!(refused > 1000, "only {refused} of 2000 defects were found without the manifest");
}

#[test]
fn a_file_that_is_not_parquet_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "part", &[position()]);
    let path = folder.path().join("part");
    let whole = fs::read(&path).unwrap();
    for content in [&b""[..], b"PAR1", b"hello, this is no table at all", &whole[..whole.len() - 1]] {
        fs::write(&path, content).unwrap();
        let error = read_table::<PositionRow>(&path).unwrap_err();
        assert!(matches!(error, StoreError::Damaged { .. }), "{error}");
        let text = error.to_string();
        assert!(
            text.contains("is not a whole Parquet file") && text.contains("run the script again"),
            "{text}"
        );
    }
}

fn entries(root: &Path) -> Vec<FileEntry> {
    ["whole", "gone", "cut", "changed", "grown"].map(|path| write(root, path, &[game()])).into()
}

#[test]
fn every_changed_file_is_named_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let entries = entries(folder.path());
    verify_files(folder.path(), &entries).unwrap();
    let path = |name: &str| folder.path().join(name);
    let content = fs::read(path("cut")).unwrap();
    fs::remove_file(path("gone")).unwrap();
    fs::write(path("cut"), &content[..9]).unwrap();
    fs::write(path("changed"), content.iter().map(|byte| byte ^ 1).collect::<Vec<_>>()).unwrap();
    fs::write(path("grown"), [&content[..], b"!"].concat()).unwrap();
    let error = verify_files(folder.path(), &entries).unwrap_err();
    let text = error.to_string();
    assert!(
        text.starts_with("4 files are not as they were written") && text.contains("run the script again"),
        "{text}"
    );
    let StoreError::Changed { faults } = error else { panic!("another error") };
    let found: Vec<_> =
        faults.iter().map(|fault| fault.file.file_name().unwrap().to_str().unwrap()).collect();
    assert_eq!(found, ["gone", "cut", "changed", "grown"]);
    assert_eq!(faults[0].problem, FileProblem::Missing);
    assert_eq!(faults[1].problem, FileProblem::Size { expected: content.len() as u64, found: 9 });
    assert_eq!(faults[2].problem, FileProblem::Content);
    // Too large to be read.
    fs::File::options()
        .write(true)
        .open(path("grown"))
        .and_then(|file| file.set_len(1 << 43))
        .expect("a sparse file");
    let StoreError::Changed { faults } = verify_files(folder.path(), &entries[3..]).unwrap_err() else {
        panic!("another error")
    };
    let expected = content.len() as u64;
    assert_eq!(faults.last().expect("grown").problem, FileProblem::Size { expected, found: 1 << 43 });
    let one = verify_files(folder.path(), &entries[1..2]).unwrap_err().to_string();
    assert!(
        one.starts_with("a file is not as it was written: ") && one.ends_with("its step makes it again"),
        "{one}"
    );
}

#[test]
fn a_table_that_changed_since_its_manifest_is_not_read() {
    let folder = tempfile::tempdir().unwrap();
    let entry = write(folder.path(), "part", &[position()]);
    write(folder.path(), "part", &[PositionRow { ply: 2, ..position() }]);
    let error = read_entry::<PositionRow>(folder.path(), &entry).unwrap_err();
    assert!(matches!(error, StoreError::Changed { .. }), "{error}");
}
