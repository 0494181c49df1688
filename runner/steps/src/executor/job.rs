//! Shards described for other processes.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use dc0_backend::{Backend, Evaluators};
use dc0_core::network::Tower;
use dc0_core::network::checkpoint::Checkpoint;
use dc0_core::network::torch::Precision;
use dc0_core::network::torch::runtime::LoadError;
use dc0_core::params::Value;
use dc0_core::rng::Seed;
use dc0_core::selfplay::Shard;
use dc0_core::store::{Provenance, TableRow, encode_table};
use dc0_core::{durable, regular};
use dc0_runs::{Identity, RunError, StepWorkspace, device_kind};
use serde::{Deserialize, Serialize};

use crate::error::StepError;
use crate::files;
use crate::handles::Network;

/// The version of jobs, tasks and replies. Processes of different versions do not work together.
pub const FORMAT: u32 = 3;

/// A file, by its content.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Artefact {
    /// What it is, for messages.
    pub name: String,
    /// Its size.
    pub bytes: u64,
    /// Its blake3 digest, 64 hex digits.
    pub blake3: String,
}

/// The two files of a net.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NetArtefacts {
    /// The weights.
    pub weights: Artefact,
    /// The JSON file with the spec.
    pub manifest: Artefact,
}

/// A player, or the net that plays or searches.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JobPlayer {
    /// Its name in rows.
    pub name: String,
    /// Its net; `None` for a player without one.
    pub net: Option<NetArtefacts>,
}

/// What evaluates nets.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Evaluation {
    /// `torch` or `onnx`.
    pub backend: String,
    /// The precision.
    pub precision: String,
    /// Batches are padded to a multiple of this.
    pub pad_to: u32,
    /// The kind of device: `cpu`, `cuda`.
    pub device: String,
    /// Versions of the libraries, which must be the same; empty if they may differ.
    pub libraries: String,
    /// Whether all nets are computed in integers, with the same numbers on every machine.
    pub is_exact: bool,
}

/// What the shards of a step have in common.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Job {
    /// [`FORMAT`].
    pub format: u32,
    /// The kind of the step.
    pub kind: String,
    /// The version of the kind.
    pub version: u32,
    /// The step's identity, 64 hex digits; with the run's seed it determines the random streams.
    pub step: String,
    /// The run's seed.
    pub run_seed: u64,
    /// All parameters of the step.
    pub params: Value,
    /// What evaluates nets.
    pub evaluation: Evaluation,
    /// Who plays or searches.
    pub players: Vec<JobPlayer>,
    /// Other files that all shards read.
    pub files: Vec<Artefact>,
    /// The provenance of the tables, to which a kind may add the shard's number.
    pub provenance: Provenance,
}

impl Job {
    /// The bytes that other processes get; equal jobs have equal bytes.
    pub fn bytes(&self) -> Vec<u8> {
        serde_json::to_vec(self).expect("a job has text keys and plain numbers")
    }

    /// The seed of the random streams; `None` if the identity is malformed.
    pub fn seed(&self) -> Option<Seed> {
        Some(Identity::from_digits(&self.step)?.seed(self.run_seed))
    }

    /// All files that it reads.
    pub fn artefacts(&self) -> impl Iterator<Item = &Artefact> {
        let nets = self.players.iter().filter_map(|player| player.net.as_ref());
        nets.flat_map(|net| [&net.weights, &net.manifest]).chain(&self.files)
    }
}

/// A shard of a job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Task {
    /// The shard's number.
    pub index: u32,
    /// The number of its first game.
    pub first_game: u32,
    /// Its games.
    pub games: u32,
    /// Files that only this shard reads.
    pub files: Vec<Artefact>,
}

impl Task {
    /// The task of a shard that reads no files of its own.
    pub fn of(shard: Shard) -> Self {
        let Shard { index, first_game, games } = shard;
        Self { index, first_game, games, files: Vec::new() }
    }

    /// The shard.
    pub fn shard(&self) -> Shard {
        Shard { index: self.index, first_game: self.first_game, games: self.games }
    }
}

/// The files of artefacts on this machine, by their digests.
pub type Sources = BTreeMap<String, PathBuf>;

/// A description with the files that it names.
#[derive(Debug, Clone)]
pub struct Described<T> {
    /// The description.
    pub of: T,
    /// The files.
    pub sources: Sources,
}

impl<T> Described<T> {
    /// Names a file of which size and digest are known.
    pub(crate) fn name(&mut self, name: String, path: PathBuf, bytes: u64, blake3: &str) -> Artefact {
        self.sources.insert(blake3.to_owned(), path);
        Artefact { name, bytes, blake3: blake3.to_owned() }
    }

    /// Reads a file and names it.
    pub(crate) fn name_file(&mut self, name: &str, path: &Path) -> Result<Artefact, StepError> {
        let content = regular::read(path).map_err(RunError::io("read", path))?;
        let digest = durable::digest(&content);
        Ok(self.name(name.to_owned(), path.to_owned(), content.len() as u64, &digest))
    }

    /// Reads the content of an artefact, and checks that the file has not changed since it was named.
    pub fn content(&self, artefact: &Artefact) -> Result<Vec<u8>, StepError> {
        let path = self.sources.get(&artefact.blake3).map_or(Path::new(""), PathBuf::as_path);
        let content = regular::read(path).map_err(RunError::io("read", path))?;
        if durable::digest(&content) != artefact.blake3 {
            let cause = io::Error::other(format!("{} has changed while workers need it", artefact.name));
            return Err(RunError::io("read", path)(cause).into());
        }
        Ok(content)
    }
}

impl Described<Job> {
    /// Adds a player with a net of the run.
    pub(crate) fn add_net(
        &mut self,
        workspace: &StepWorkspace,
        name: &str,
        network: &Network,
    ) -> Result<(), StepError> {
        let path = workspace.folder.path(&network.0.file);
        let weights = self.name_file("weights", &path)?;
        let manifest = self.name_file("manifest", &path.with_extension("json"))?;
        let net = Some(NetArtefacts { weights, manifest });
        self.of.players.push(JobPlayer { name: name.to_owned(), net });
        Ok(())
    }
}

/// The name of the provenance of tables that processes which may round differently took part in.
const WORKERS: &str = "workers";

/// The provenance of a step's tables. Those of floating-point nets say if workers of several kinds took part.
pub(crate) fn step_provenance<const N: usize>(
    workspace: &StepWorkspace,
    nets: &[&Checkpoint],
    is_mixed: bool,
    more: [(&str, &str); N],
) -> Provenance {
    let mut provenance = files::provenance(workspace, more);
    if is_mixed && !is_exact(nets) {
        provenance.insert(WORKERS.to_owned(), "mixed".to_owned());
    }
    provenance
}

/// The provenance of a shard's tables.
pub(crate) fn shard_provenance(step: &Provenance, shard: Shard) -> Provenance {
    let mut provenance = step.clone();
    provenance.insert("shard".to_owned(), shard.index.to_string());
    provenance
}

/// Whether all nets are computed in integers.
pub(crate) fn is_exact(nets: &[&Checkpoint]) -> bool {
    nets.iter().all(|net| net.spec.tower.kind == Tower::Nnue)
}

impl Evaluation {
    /// Of nets by these evaluators; `is_mixed` says whether they may be evaluated by processes that round differently.
    pub(crate) fn new(
        evaluators: &Evaluators,
        nets: &[&Checkpoint],
        is_mixed: bool,
    ) -> Result<Self, LoadError> {
        let is_exact = is_exact(nets);
        let may_differ = is_exact || is_mixed;
        let device = evaluators.device_names().into_iter().next().unwrap_or_default();
        Ok(Self {
            device: device_kind(&device).to_owned(),
            libraries: if may_differ { String::new() } else { evaluators.libraries()? },
            backend: evaluators.backend().name().to_owned(),
            precision: evaluators.precision().name().to_owned(),
            pad_to: evaluators.pad_to(),
            is_exact,
        })
    }

    /// The backend; `None` if it is unknown or not a resolved one.
    pub fn backend(&self) -> Option<Backend> {
        Backend::from_name(&self.backend).filter(|backend| *backend != Backend::Auto)
    }

    /// The precision; `None` if it is unknown or not a resolved one.
    pub fn precision(&self) -> Option<Precision> {
        Precision::from_name(&self.precision).filter(|precision| *precision != Precision::Auto)
    }
}

/// A table of a shard that another process sends back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReplyTable {
    /// The table's name.
    pub name: String,
    /// The bytes of its file.
    pub content: Vec<u8>,
}

impl ReplyTable {
    /// The table of some rows.
    pub(crate) fn of<R: TableRow>(rows: &[R], provenance: &Provenance) -> Result<Self, StepError> {
        let content = encode_table(rows, Path::new(R::TABLE), provenance)?;
        Ok(Self { name: R::TABLE.to_owned(), content })
    }

    /// The digest of its file.
    pub fn digest(&self) -> String {
        durable::digest(&self.content)
    }
}

/// What another process sends back for a shard.
#[derive(Debug, Clone, PartialEq)]
pub struct Reply {
    /// The shard's tables.
    pub tables: Vec<ReplyTable>,
    /// Figures that are in no table.
    pub figures: serde_json::Value,
}
