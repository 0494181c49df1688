//! Nets named on a command line: a weights file, or a generation of a run.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex, OnceLock};

use dc0_core::network::checkpoint::{Checkpoint, CheckpointError, LoadedCheckpoint};
use dc0_core::poison::IgnorePoison as _;
use thiserror::Error;

use crate::error::RunError;
use crate::evalfile::{self, EvalFileError};
use crate::folder::{Folder, FolderKind};
use crate::generations::Generation;
use crate::view::RunView;
use dc0_process::exit::Exit;
use dc0_process::fault::Fault;

/// The net that a command line names cannot be used.
#[derive(Debug, Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum NetError {
    #[error(
        "\"{name}\" is neither a file ending in .safetensors nor a run, by its folder or its name in {}; expected NET.safetensors, RUN, \
         RUN:GENERATION, {SHIPPED_RESIDUAL} or {SHIPPED_NNUE}",
        runs.display()
    )]
    Unknown { name: String, runs: PathBuf },
    #[error("the run {} has promoted no net yet; run its script first", run.display())]
    NoGeneration { run: PathBuf },
    #[error("the run {} has no generation {requested}; its generations are 0 to {last}{others}", run.display())]
    MissingGeneration {
        run: PathBuf,
        requested: String,
        last: u32,
        /// How to name its nets that are no generations; may be empty.
        others: String,
    },
    #[error(
        "{}: expected digest {expected} as the run says, found {found}; \
         put back the file, or run the script again",
        file.display()
    )]
    Digest { file: PathBuf, expected: String, found: String },
    /// The run's list of generations cannot be read.
    #[error(transparent)]
    Run(#[from] RunError),
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    /// The net that the program carries cannot be read.
    #[error(transparent)]
    EvalFile(#[from] EvalFileError),
}

impl Fault for NetError {
    fn exit(&self) -> Exit {
        match self {
            Self::Unknown { .. } | Self::NoGeneration { .. } | Self::MissingGeneration { .. } => {
                Exit::BadInput
            }
            Self::Digest { .. } | Self::Run(_) | Self::Checkpoint(_) => Exit::Storage,
            Self::EvalFile(error) => error.exit(),
        }
    }
}

/// A net with the digest of its weights.
#[derive(Debug, Clone)]
pub struct Named {
    /// The weights file.
    pub file: PathBuf,
    /// The net, shared by all that play with it.
    pub net: Arc<Checkpoint>,
    /// blake3 of the weights file.
    pub digest: String,
}

/// The folder that holds runs where no other one is named.
pub const RUNS: &str = "datasets";

/// The names of the nets that are built into the program.
const SHIPPED: &str = "shipped";
const SHIPPED_RESIDUAL: &str = "shipped:az_small";
const SHIPPED_NNUE: &str = "shipped:az_nnue";

/// The shipped net that plays where none is named: the evalfile that the program carries, or else `az_nnue`. It is read once, since
/// every game of the live view asks for it.
pub fn shipped() -> Result<Named, NetError> {
    static READ: OnceLock<Named> = OnceLock::new();
    if let Some(net) = READ.get() {
        return Ok(net.clone());
    }
    let net = match evalfile::carried()? {
        Some(LoadedCheckpoint { checkpoint, digest }) => {
            Named { file: PathBuf::from("the evalfile in the program"), net: Arc::new(checkpoint), digest }
        }
        None => shipped_nnue().clone(),
    };
    Ok(READ.get_or_init(|| net).clone())
}

/// The nnue that is built into the program: `datasets/networks/az_nnue`, trained by a script of `experiments`. It is read once.
pub fn shipped_nnue() -> &'static Named {
    static READ: LazyLock<Named> = LazyLock::new(|| {
        let weights = include_bytes!("../../../datasets/networks/az_nnue.safetensors");
        built_in("az_nnue", include_bytes!("../../../datasets/networks/az_nnue.json"), weights)
    });
    &READ
}

/// The residual net that is built into the program: `datasets/networks/az_small`, trained by a script of `experiments`. It is read once.
pub fn shipped_residual() -> &'static Named {
    static READ: LazyLock<Named> = LazyLock::new(|| {
        let weights = include_bytes!("../../../datasets/networks/az_small.safetensors");
        built_in("az_small", include_bytes!("../../../datasets/networks/az_small.json"), weights)
    });
    &READ
}

fn built_in(name: &str, manifest: &[u8], weights: &[u8]) -> Named {
    let file = PathBuf::from(format!("datasets/networks/{name}.safetensors"));
    let loaded = Checkpoint::from_bytes(&file, manifest, weights).expect("tests read the shipped nets");
    let file = PathBuf::from(format!("{name}, in the program"));
    Named { file, net: Arc::new(loaded.checkpoint), digest: loaded.digest }
}

/// Reads the net that `NET.safetensors`, `RUN` (its last generation), `RUN:GENERATION`, `shipped`, `shipped:az_small` or
/// `shipped:az_nnue` names; `RUN` is a run's folder, or its name in `datasets`.
pub fn named(name: &str) -> Result<Named, NetError> {
    named_in(Path::new(RUNS), name)
}

/// As [`named`], where the names of runs are those in the folder `runs`.
pub fn named_in(runs: &Path, name: &str) -> Result<Named, NetError> {
    named_with(runs, name, &|warning| log::warn!("{warning}"))
}

/// Whether a name is that of a net: a shipped one, a file, or a run, which may have no such generation.
pub fn is_net(runs: &Path, name: &str) -> bool {
    let run = name.rsplit_once(':').map_or(name, |(run, _)| run);
    [SHIPPED, SHIPPED_RESIDUAL, SHIPPED_NNUE].contains(&name)
        || is_file(name)
        || run_folder_in(runs, run).is_some()
}

fn is_file(name: &str) -> bool {
    Path::new(name).extension().is_some_and(|extension| extension == "safetensors")
}

/// As [`named_in`]; `warn` is called, once for each run, where its name stands for the net that it began with.
pub fn named_with(runs: &Path, name: &str, warn: &dyn Fn(String)) -> Result<Named, NetError> {
    match name {
        SHIPPED => return shipped(),
        SHIPPED_RESIDUAL => return Ok(shipped_residual().clone()),
        SHIPPED_NNUE => return Ok(shipped_nnue().clone()),
        _ => {}
    }
    if is_file(name) {
        let loaded = Checkpoint::load(Path::new(name))?;
        return Ok(Named {
            file: PathBuf::from(name),
            net: Arc::new(loaded.checkpoint),
            digest: loaded.digest,
        });
    }
    let (run, requested) = match name.rsplit_once(':') {
        Some((run, generation)) => (run, Some(generation)),
        None => (name, None),
    };
    let unknown = || NetError::Unknown { name: name.to_owned(), runs: runs.to_owned() };
    let folder = run_folder_in(runs, run).ok_or_else(unknown)?;
    let generations = RunView::new(folder.clone()).generations()?;
    let generation = pick(&folder, &generations, requested)?;
    let net = stored(folder.path(&generation.network), &generation.blake3)?;
    if requested.is_none() && generations.len() == 1 {
        warn_of_first_net(&folder, generation, &net.net, warn);
    }
    Ok(net)
}

/// The net with a digest that a finished step of a run made; `None` if none did.
pub fn made_by(run: &Folder, digest: &str) -> Result<Option<Named>, NetError> {
    let steps = RunView::new(run.clone()).steps()?;
    let weights = steps.iter().filter_map(|step| step.manifest.weights());
    let Some(entry) = weights.into_iter().find(|weights| weights.blake3 == digest) else { return Ok(None) };
    Ok(Some(stored(run.path(&entry.path), digest)?))
}

/// Reads a weights file of a run, which must have the digest that the run's records give.
fn stored(file: PathBuf, expected: &str) -> Result<Named, NetError> {
    let LoadedCheckpoint { checkpoint, digest } = Checkpoint::load(&file)?;
    if digest != expected {
        return Err(NetError::Digest { file, expected: expected.to_owned(), found: digest });
    }
    Ok(Named { file, net: Arc::new(checkpoint), digest })
}

/// Whether a run made a net without another one, so that its weights are random.
fn is_untrained(net: &Checkpoint) -> bool {
    net.provenance.member("step").is_some() && net.provenance.member("start").is_none()
}

/// Warns, once for each run, that its only generation is the net that it began with, and says how to choose another one. A run that
/// has no other is its first net, unless that has random weights.
fn warn_of_first_net(run: &Folder, first: &Generation, net: &Checkpoint, warn: &dyn Fn(String)) {
    static WARNED: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());
    let others = other_nets(run, std::slice::from_ref(first));
    let is_untrained = is_untrained(net);
    let is_meant = !is_untrained && others.is_empty();
    if is_meant || !WARNED.lock().ignore_poison().insert(run.root().to_owned()) {
        return;
    }
    let what = if is_untrained { "whose weights are random" } else { "the net that it began with" };
    warn(format!(
        "the run {} has promoted no net, so this is its generation 0, {what}{others}; nets that its script promotes (run.promote) are \
         RUN:GENERATION",
        run.root().display()
    ));
}

/// How to name the nets of a run that are no generations, in words that follow a sentence; empty if there are none.
fn other_nets(run: &Folder, generations: &[Generation]) -> String {
    let own: BTreeSet<PathBuf> = generations.iter().map(|generation| run.path(&generation.network)).collect();
    let entries = own.first().and_then(|file| fs::read_dir(file.parent()?).ok());
    let files = entries.into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path()));
    let last = files
        .filter(|file| file.extension().is_some_and(|extension| extension == "safetensors"))
        .filter(|file| !own.contains(file))
        .max();
    last.map_or_else(String::new, |last| {
        format!("; another net is named by its file, such as {}", last.display())
    })
}

/// The folder of a run: its path, or its name in `datasets`.
pub fn run_folder(run: &str) -> Option<Folder> {
    run_folder_in(Path::new(RUNS), run)
}

/// The folder of a run: its path, or its name in the folder `runs`.
pub fn run_folder_in(runs: &Path, run: &str) -> Option<Folder> {
    let (path, _) = Folder::named(runs, Path::new(run), &[FolderKind::Run])?;
    // The folder is only read, so it may have any name.
    path.canonicalize().ok().map(|path| Folder::at(&path))
}

fn pick<'a>(
    folder: &Folder,
    generations: &'a [Generation],
    requested: Option<&str>,
) -> Result<&'a Generation, NetError> {
    let run = || folder.root().to_owned();
    let last = generations.last().ok_or_else(|| NetError::NoGeneration { run: run() })?;
    let Some(requested) = requested else { return Ok(last) };
    let number = requested.parse::<u32>().ok();
    let found = generations.iter().find(|generation| Some(generation.generation) == number);
    found.ok_or_else(|| NetError::MissingGeneration {
        run: run(),
        requested: requested.to_owned(),
        last: last.generation,
        others: other_nets(folder, generations),
    })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{Folder, Generation, pick, run_folder_in};

    #[test]
    fn a_run_may_lie_in_a_folder_of_any_name() {
        let runs = tempfile::tempdir().expect("a folder");
        let folder = runs.path().join("a b");
        fs::create_dir(&folder).expect("a folder");
        assert!(run_folder_in(runs.path(), "a b").is_none());
        fs::write(folder.join("run.json"), "{}").expect("a file");
        let found = [folder.to_str().expect("text"), "a b"].map(|name| run_folder_in(runs.path(), name));
        let roots = found.map(|found| found.expect("a run").root().to_owned());
        let own = folder.canonicalize().expect("a path");
        assert_eq!(roots, [own.clone(), own]);
    }

    #[test]
    fn only_nets_that_are_no_generations_are_named_by_their_files() {
        let run = tempfile::tempdir().expect("a folder");
        let folder = Folder::at(run.path());
        let network = |number: u32| format!("networks/{number:04}.safetensors");
        let generation = |generation| Generation {
            generation,
            network: network(generation),
            blake3: String::new(),
            steps: None,
        };
        let generations = [0, 1, 2].map(generation);
        fs::create_dir(run.path().join("networks")).expect("a folder");
        let message = || pick(&folder, &generations, Some("9")).expect_err("there are three").to_string();
        for number in 0..3 {
            fs::write(folder.path(&network(number)), "").expect("a file");
        }
        let all = message();
        assert!(all.ends_with("its generations are 0 to 2"), "{all}");
        fs::write(folder.path(&network(3)), "").expect("a file");
        let other = message();
        assert!(other.contains("its generations are 0 to 2; another net is named by its file"), "{other}");
        assert!(other.ends_with("0003.safetensors"), "{other}");
    }
}
