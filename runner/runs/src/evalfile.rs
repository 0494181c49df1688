//! Nets in a single file, and programs that carry one: match servers give an engine its net as one file (`EVALFILE`).
//!
//! An evalfile has the weights, the JSON beside them, and an ending of fixed length. A program with an evalfile at its end plays with
//! that net where none is named; linkers and loaders ignore what follows a program.

use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::{env, fs};

use dc0_core::network::checkpoint::{Checkpoint, CheckpointError, LoadedCheckpoint};
use dc0_core::{durable, regular};
use thiserror::Error;

use dc0_process::exit::Exit;
use dc0_process::fault::Fault;

/// The last bytes of an evalfile, after the lengths of the weights and of the JSON, each as 64 bits with the lowest byte first.
const MARK: &[u8; 16] = b"dc0 evalfile  1\n";
const ENDING: u64 = 32;

/// Whether a net follows the program, which the last byte says: `-` for none, and `+` in an engine that was made with one. So an engine
/// that was cut does not play with another net.
static FOLLOWED: [u8; 24] = *b"dc0 followed by a net: -";
const FOLLOWED_BY_NET: u8 = b'+';

/// A net cannot be taken from or put into a single file.
#[derive(Debug, Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum EvalFileError {
    #[error(
        "{}: {problem}; expected an evalfile, as `dc0-run export evalfile NET --out FILE` writes it; if it is one, copy it again",
        file.display()
    )]
    NoEvalFile { file: PathBuf, problem: String },
    /// The net in it was changed.
    #[error("{}: {problem}; the file is damaged, copy it again", file.display())]
    Damaged {
        /// The evalfile, or the engine with it at its end.
        file: PathBuf,
        problem: String,
    },
    #[error("{}: the net that this engine was made with is missing at its end; it was cut, copy it again", file.display())]
    Cut { file: PathBuf },
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    #[error("cannot {doing} {}: {cause}", file.display())]
    Io {
        doing: &'static str,
        file: PathBuf,
        #[source]
        cause: io::Error,
    },
}

impl EvalFileError {
    fn io(doing: &'static str, file: &Path) -> impl FnOnce(io::Error) -> Self {
        move |cause| Self::Io { doing, file: file.to_owned(), cause }
    }
}

impl Fault for EvalFileError {
    fn exit(&self) -> Exit {
        match self {
            Self::NoEvalFile { .. } => Exit::BadInput,
            Self::Io { doing: "write", cause, .. } => Exit::of_writing(cause),
            Self::Io { cause, .. } if cause.kind() == io::ErrorKind::NotFound => Exit::BadInput,
            Self::Damaged { .. } | Self::Cut { .. } | Self::Checkpoint(_) | Self::Io { .. } => Exit::Storage,
        }
    }
}

/// Writes a net as an evalfile.
pub fn write_evalfile(net: &Checkpoint, out: &Path) -> Result<(), EvalFileError> {
    let [weights, manifest] = net.to_bytes(out)?;
    durable::write(out, &joined(&weights, &manifest)).map_err(EvalFileError::io("write", out))
}

fn joined(weights: &[u8], manifest: &[u8]) -> Vec<u8> {
    let lengths = [weights, manifest].map(|part| (part.len() as u64).to_le_bytes());
    [weights, manifest, lengths.as_flattened(), MARK].concat()
}

/// The net of an evalfile.
pub fn read_evalfile(file: &Path) -> Result<LoadedCheckpoint, EvalFileError> {
    let found = at_end(file)?.filter(|found| found.begin == 0);
    let none =
        || EvalFileError::NoEvalFile { file: file.to_owned(), problem: "it has no ending of one".to_owned() };
    found.ok_or_else(none)?.net(file)
}

/// Writes a copy of this program that carries the net of an evalfile.
pub fn write_engine(evalfile: &Path, out: &Path) -> Result<(), EvalFileError> {
    read_evalfile(evalfile)?;
    let program = own_program()?;
    let mut bytes = fs::read(&program).map_err(EvalFileError::io("read", &program))?;
    if let Some(carried) = at_own_end()? {
        bytes.truncate(carried.begin as usize);
    }
    let (_, label) = followed().split_last().expect("it has bytes");
    let labels: Vec<usize> = bytes
        .windows(label.len())
        .enumerate()
        .filter(|(_, bytes)| *bytes == label)
        .map(|(at, _)| at)
        .collect();
    for at in labels {
        bytes[at + label.len()] = FOLLOWED_BY_NET;
    }
    bytes.extend(regular::read(evalfile).map_err(EvalFileError::io("read", evalfile))?);
    durable::write(out, &bytes).map_err(EvalFileError::io("write", out))?;
    let permissions = fs::metadata(&program).map_err(EvalFileError::io("inspect", &program))?.permissions();
    fs::set_permissions(out, permissions).map_err(EvalFileError::io("make a program of", out))
}

/// The net that this program carries, if it carries one.
pub(super) fn carried() -> Result<Option<LoadedCheckpoint>, EvalFileError> {
    at_own_end()?.map(|found| found.net(&own_file()?)).transpose()
}

/// The evalfile at the end of this program, if it was made with one.
fn at_own_end() -> Result<Option<Carried>, EvalFileError> {
    let found = at_end(&own_program()?)?;
    if found.is_none() && followed().ends_with(&[FOLLOWED_BY_NET]) {
        return Err(EvalFileError::Cut { file: own_file()? });
    }
    Ok(found)
}

/// As this program has it: the compiler must not take the value from the source.
fn followed() -> &'static [u8] {
    std::hint::black_box(&FOLLOWED)
}

fn own_program() -> Result<PathBuf, EvalFileError> {
    // Stays readable when the file is replaced while the program runs.
    let linux = Path::new("/proc/self/exe");
    if linux.exists() {
        return Ok(linux.to_owned());
    }
    own_file()
}

/// The name of this program, for people.
fn own_file() -> Result<PathBuf, EvalFileError> {
    env::current_exe().map_err(EvalFileError::io("find", Path::new("this program")))
}

/// An evalfile at the end of a file.
#[derive(Debug)]
struct Carried {
    /// Where it begins.
    begin: u64,
    weights: Vec<u8>,
    manifest: Vec<u8>,
}

impl Carried {
    fn net(&self, file: &Path) -> Result<LoadedCheckpoint, EvalFileError> {
        // Its own files had such a name.
        let weights = file.with_extension("safetensors");
        let damaged = |problem| EvalFileError::Damaged { file: file.to_owned(), problem };
        Checkpoint::from_bytes(&weights, &self.manifest, &self.weights).map_err(|error| match error {
            CheckpointError::Manifest { source, .. } => damaged(format!("its JSON cannot be read: {source}")),
            CheckpointError::Digest { expected, found, .. } => {
                damaged(format!("expected digest {expected} of the weights as its JSON says, found {found}"))
            }
            other => other.into(),
        })
    }
}

/// The evalfile at the end of a file; `None` if nothing looks like one.
fn at_end(file: &Path) -> Result<Option<Carried>, EvalFileError> {
    let io = || EvalFileError::io("read", file);
    let mut opened = regular::open(file).map_err(io())?;
    let length = opened.metadata().map_err(io())?.len();
    let Some(last) = length.checked_sub(ENDING) else { return Ok(None) };
    let mut read = |from: u64, bytes: u64| {
        opened.seek(SeekFrom::Start(from))?;
        let mut content = vec![0; bytes as usize];
        opened.read_exact(&mut content).map(|()| content)
    };
    let ending = read(last, ENDING).map_err(io())?;
    let (lengths, mark) = ending.split_at(ENDING as usize - MARK.len());
    if mark != MARK {
        return Ok(None);
    }
    let (numbers, _) = lengths.as_chunks();
    let [weights, manifest] = [0, 1].map(|part| u64::from_le_bytes(numbers[part]));
    let begin = weights.checked_add(manifest).and_then(|parts| last.checked_sub(parts));
    let Some(begin) = begin else {
        let problem =
            format!("it has {length} bytes, and its ending says that {weights} and {manifest} come before");
        return Err(EvalFileError::NoEvalFile { file: file.to_owned(), problem });
    };
    Ok(Some(Carried {
        begin,
        weights: read(begin, weights).map_err(io())?,
        manifest: read(begin + weights, manifest).map_err(io())?,
    }))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use dc0_core::network::checkpoint::Checkpoint;
    use dc0_process::exit::Exit;
    use dc0_process::fault::Fault as _;

    use super::{at_end, read_evalfile, write_evalfile};

    #[test]
    fn every_cut_or_changed_evalfile_is_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let net = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../datasets/networks/az_small.safetensors");
        let file = folder.path().join("net");
        let net = Checkpoint::load(&net).expect("a net");
        write_evalfile(&net.checkpoint, &file).expect("writes");
        let whole = fs::read(&file).expect("reads");
        assert_eq!(read_evalfile(&file).expect("is whole"), net);
        let length = whole.len();
        for cut in [0, 1, 31, 32, length / 2, length - 33, length - 1] {
            fs::write(&file, &whole[..cut]).expect("writes");
            assert!(read_evalfile(&file).is_err(), "{cut}");
        }
        // A byte of the weights, of the JSON's digest, of each length and of the mark.
        let digest = whole.windows(14).rposition(|part| part == b"weights_blake3").expect("has a digest");
        for changed in
            [9, length / 2, digest + 20, length - 32, length - 26, length - 24, length - 17, length - 5]
        {
            let mut bytes = whole.clone();
            bytes[changed] ^= 1;
            fs::write(&file, bytes).expect("writes");
            assert!(read_evalfile(&file).is_err(), "{changed}");
        }
        fs::write(&file, [b"a program".as_slice(), &whole].concat()).expect("writes");
        assert_eq!(at_end(&file).expect("reads").expect("carries one").begin, 9);
        let below = write_evalfile(&net.checkpoint, &file.join("net")).expect_err("is below a file");
        assert_eq!(below.exit(), Exit::BadInput, "{below:?}");
        assert!(read_evalfile(&file).is_err(), "more than an evalfile");
    }
}
