//! Finding the table files.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use shakmaty::Chess;
use shakmaty_syzygy::Tablebase as Tables;

use super::{Opened, TablebaseError};

const WDL: &str = ".rtbw";
const DTZ: &str = ".rtbz";

/// The length modulo 64 of every WDL and DTZ file: padded tables and a checksum.
const LENGTH_MODULO_64: u64 = 16;

pub(super) fn is_wdl(name: &str) -> bool {
    name.ends_with(WDL)
}

/// Opens the tables in the folders that `given` names.
pub(super) fn folders(given: &Path) -> Result<Opened, TablebaseError> {
    let mut opened =
        Opened { folders: given.to_owned(), files: BTreeMap::new(), tables: Tables::<Chess>::new() };
    let folders = split_paths(given);
    if folders.is_empty() {
        return Err(TablebaseError::NoFolder { given: given.display().to_string() });
    }
    for folder in folders {
        opened.add_folder(folder)?;
    }
    if !opened.files.keys().any(|name| is_wdl(name)) {
        return Err(TablebaseError::NoTables { folders: given.to_owned() });
    }
    Ok(opened)
}

fn split_paths(given: &Path) -> Vec<&Path> {
    let parts = given.as_os_str().as_bytes().split(|&byte| byte == b':');
    parts.filter(|part| !part.is_empty()).map(|part| Path::new(OsStr::from_bytes(part))).collect()
}

impl Opened {
    fn add_folder(&mut self, folder: &Path) -> Result<(), TablebaseError> {
        let read =
            |source: io::Error| TablebaseError::Read { path: folder.to_owned(), source: source.into() };
        for entry in fs::read_dir(folder).map_err(read)? {
            let path = entry.map_err(read)?.path();
            let name = path.file_name().and_then(OsStr::to_str).unwrap_or_default();
            let is_table = name.ends_with(WDL) || name.ends_with(DTZ);
            if is_table && !self.files.contains_key(name) {
                self.add_file(folder, name, &path)?;
            }
        }
        Ok(())
    }

    fn add_file(&mut self, folder: &Path, name: &str, path: &Path) -> Result<(), TablebaseError> {
        let read =
            |source: io::Error| TablebaseError::Read { path: PathBuf::from(path), source: source.into() };
        let size_bytes = fs::metadata(path).map_err(read)?.len();
        if size_bytes % 64 != LENGTH_MODULO_64 {
            let cause = format!("a table has 64·n + 16 bytes, found {size_bytes}");
            return Err(TablebaseError::Damaged { folder: folder.to_owned(), table: name.to_owned(), cause });
        }
        match self.tables.add_file(path) {
            Ok(()) => drop(self.files.insert(name.to_owned(), size_bytes)),
            // It has a table's extension, but its name is not a material configuration.
            Err(source) if source.kind() == io::ErrorKind::InvalidInput => {}
            Err(source) => return Err(read(source)),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::super::{Tablebase, TablebaseError};

    fn open_error(folders: &Path) -> String {
        Tablebase::open(folders).expect_err("there are no tables").to_string()
    }

    #[test]
    fn folders_without_tables_are_rejected_by_name() {
        let folder = tempfile::tempdir().expect("a folder");
        let empty = folder.path().join("empty");
        assert!(open_error(&empty).contains("empty: cannot be read"));
        fs::create_dir(&empty).expect("a folder");
        assert!(open_error(&empty).contains("empty: no Syzygy tables found"));
        assert!(open_error(Path::new("::")).contains("\"::\" names no folder"));
    }

    #[test]
    fn a_file_of_the_wrong_length_is_rejected_by_name() {
        let folder = tempfile::tempdir().expect("a folder");
        fs::write(folder.path().join("KQvK.rtbw"), [0; 100]).expect("a file");
        let text = open_error(folder.path());
        assert!(text.contains("KQvK.rtbw") && text.contains("found 100"), "{text}");
    }

    #[test]
    fn probing_a_damaged_table_is_an_error() {
        let folder = tempfile::tempdir().expect("a folder");
        fs::write(folder.path().join("KQvK.rtbw"), [0; 80]).expect("a file");
        fs::write(folder.path().join("notes.rtbw"), [0; 80]).expect("a file");
        let tables = Tablebase::open(folder.path()).expect("a file of the right length");
        assert_eq!((tables.tables(), tables.max_pieces()), (1, 3));
        let queen = crate::board::Position::from_fen("8/8/8/8/8/2k5/8/KQ6 b - - 0 1").expect("a FEN");
        let error = tables.probe_wdl(&queen).expect_err("zeros are not a table");
        assert!(matches!(error, TablebaseError::Damaged { .. }), "{error}");
        assert!(error.to_string().contains("KQvK.rtbw"), "{error}");
        assert!(tables.adjudicate(&queen).is_err());
        // Between captures and pawn moves nothing is adjudicated, so no table is read.
        let later = crate::board::Position::from_fen("8/8/8/8/8/2k5/8/KQ6 b - - 1 1").expect("a FEN");
        assert_eq!(tables.adjudicate(&later).expect("no table is read"), None);
    }

    #[test]
    fn positions_that_no_table_covers_have_no_result_and_are_not_an_error() {
        let folder = tempfile::tempdir().expect("a folder");
        fs::write(folder.path().join("KQvK.rtbw"), [0; 80]).expect("a file");
        let tables = Tablebase::open(folder.path()).expect("a file of the right length");
        for fen in [
            "4k3/8/8/8/8/8/8/4K2R w K - 0 1",
            "4k3/8/8/8/8/8/8/4K2R w - - 0 1",
            "4k3/8/8/8/8/8/8/R3K2R w - - 0 1",
        ] {
            let position = crate::board::Position::from_fen(fen).expect("a FEN");
            assert_eq!(tables.probe_wdl(&position).expect("no table is read"), None, "{fen}");
            let game = crate::board::Game::from_position(position);
            assert_eq!(tables.rank_root(&game).expect("no table is read"), None, "{fen}");
        }
    }
}
