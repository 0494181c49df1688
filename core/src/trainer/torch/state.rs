//! The training state between two updates, stored so that training resumes exactly.
//!
//! One safetensors file: `net.*`, `optimizer.*` and, if the weights are averaged, `average.*` as 32-bit floats, and the report as 64-bit floats under `curve`,
//! `validation` and `meter`. Its metadata has one entry, `dc0`, so that equal states are equal bytes. That entry has a digest of
//! the whole state, because a changed byte of a weight would otherwise be trained on.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::io;
use std::io::Read;
use std::path::Path;

use safetensors::tensor::{Dtype, SafeTensors, View};
use serde::{Deserialize, Serialize};

use super::error::TrainError;
use super::loss::{TOTALS, Totals};
use super::report::{Meter, Report, TrainingRow, ValidationRow};
use crate::network::{WeightTensor, Weights};
use crate::trainer::{AverageKind, OptimizerKind};
use crate::{durable, regular};

const METADATA: &str = "dc0";
const VERSION: u32 = 7;

/// The oldest version whose nets, optimisers and averages are read: a finished training of it may be carried on. Its report may have
/// other columns and is not read.
const OLDEST_CARRIED: u32 = 3;

/// The oldest version whose Muon leaves first layers and outputs to `AdamW`, and so has running means of both kinds for its own tensors.
const OLDEST_MUON: u32 = 7;

/// Everything that the next update depends on, apart from the job.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct State {
    /// Updates done.
    pub(super) done: u32,
    pub(super) net: Weights,
    pub(super) optimizer: OptimizerState,
    pub(super) average: Option<AverageState>,
    pub(super) report: Report,
}

/// The state of an optimiser.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct OptimizerState {
    pub(super) kind: OptimizerKind,
    /// Updates since the state was empty.
    pub(super) updates: u64,
    pub(super) tensors: Weights,
}

/// The state of an average of weights.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct AverageState {
    pub(super) kind: AverageKind,
    /// Steps that it has made.
    pub(super) steps: u32,
    pub(super) weights: Weights,
}

/// The contents of the file's metadata.
#[derive(Debug, Serialize, Deserialize)]
struct Heading {
    version: u32,
    /// A digest of everything that the training depends on.
    identity: String,
    done: u32,
    /// The optimiser's kind.
    optimizer: String,
    optimizer_updates: u64,
    /// Steps of the weights' average, if there is one.
    average_steps: Option<u32>,
    /// The average's kind, if there is one; versions before 5 do not say it and are read as `ema`.
    #[serde(default)]
    average: Option<String>,
    /// [`Self::digest_with`] the tensors.
    #[serde(default)]
    blake3: String,
}

impl Heading {
    /// The digest, 64 hex digits, of these fields except the digest itself, and of the names, types, shapes and bytes of all
    /// tensors, sorted by name. Lengths precede what has no fixed size, so that nothing can move from one field to the next.
    fn digest_with<'a>(
        &self,
        tensors: impl Iterator<Item = (&'a str, Dtype, &'a [usize], &'a [u8])>,
    ) -> String {
        let mut hasher =
            blake3::Hasher::new_derive_key(&format!("dc0 stored training state {}", self.version));
        let mut add = |bytes: &[u8]| {
            hasher.update(&(bytes.len() as u64).to_le_bytes());
            hasher.update(bytes);
        };
        add(&self.version.to_le_bytes());
        add(self.identity.as_bytes());
        add(&self.done.to_le_bytes());
        add(self.optimizer.as_bytes());
        add(&self.optimizer_updates.to_le_bytes());
        add(&self.average_steps.map_or(Vec::new(), |steps| steps.to_le_bytes().to_vec()));
        if let Some(kind) = &self.average {
            add(kind.as_bytes());
        }
        for (name, dtype, shape, bytes) in tensors {
            add(name.as_bytes());
            add(dtype.to_string().as_bytes());
            let sizes = shape.iter().flat_map(|size| (*size as u64).to_le_bytes());
            add(&sizes.collect::<Vec<u8>>());
            add(bytes);
        }
        hasher.finalize().to_hex().to_string()
    }
}

/// One stored tensor.
struct StoredTensor {
    dtype: Dtype,
    shape: Vec<usize>,
    bytes: Vec<u8>,
}

impl View for StoredTensor {
    fn dtype(&self) -> Dtype {
        self.dtype
    }

    fn shape(&self) -> &[usize] {
        &self.shape
    }

    fn data(&self) -> Cow<'_, [u8]> {
        Cow::Borrowed(&self.bytes)
    }

    fn data_len(&self) -> usize {
        self.bytes.len()
    }
}

impl StoredTensor {
    fn weights(tensor: &WeightTensor) -> Self {
        let bytes = tensor.data.iter().flat_map(|value| value.to_le_bytes()).collect();
        Self { dtype: Dtype::F32, shape: tensor.shape.clone(), bytes }
    }

    fn rows<const N: usize>(rows: &[[f64; N]]) -> Self {
        let bytes = rows.as_flattened().iter().flat_map(|value| value.to_le_bytes()).collect();
        Self { dtype: Dtype::F64, shape: vec![rows.len(), N], bytes }
    }
}

/// The number of updates done in a stored state, read from the file's header only; `None` if there is no such file or it is not
/// a training state.
pub fn updates_done(path: &Path) -> Option<u32> {
    let mut file = regular::open(path).ok()?;
    let mut length = [0; 8];
    file.read_exact(&mut length).ok()?;
    let mut header = String::new();
    file.take(u64::from_le_bytes(length)).read_to_string(&mut header).ok()?;
    let header: serde_json::Value = serde_json::from_str(&header).ok()?;
    let heading: Heading = serde_json::from_str(header["__metadata__"][METADATA].as_str()?).ok()?;
    Some(heading.done)
}

/// Checks that a stored state is as it was written. A file that does not exist is no error.
pub fn check_state(path: &Path) -> Result<(), TrainError> {
    State::read(path, OLDEST_CARRIED).map(|_| ())
}

impl State {
    /// Writes the state whole or not at all.
    pub(super) fn save(&self, path: &Path, identity: &str) -> Result<(), TrainError> {
        self.save_as(path, identity, VERSION)
    }

    /// As [`save`](Self::save), with a version; tests write older ones.
    pub(super) fn save_as(&self, path: &Path, identity: &str, version: u32) -> Result<(), TrainError> {
        let tensors = self.tensors();
        let mut heading = Heading {
            version,
            identity: identity.to_owned(),
            done: self.done,
            optimizer: self.optimizer.kind.name().to_owned(),
            optimizer_updates: self.optimizer.updates,
            average_steps: self.average.as_ref().map(|average| average.steps),
            average: self.average.as_ref().map(|average| average.kind.name().to_owned()),
            blake3: String::new(),
        };
        heading.blake3 = heading.digest_with(tensors.iter().map(|(name, tensor)| {
            (name.as_str(), tensor.dtype, tensor.shape.as_slice(), tensor.bytes.as_slice())
        }));
        let heading = serde_json::to_string(&heading).expect("a heading has text keys only");
        let metadata = HashMap::from([(METADATA.to_owned(), heading)]);
        let bytes = safetensors::serialize(tensors, Some(metadata))
            .map_err(|cause| damaged(path, format!("it cannot be built: {cause}")))?;
        durable::write(path, &bytes)
            .map_err(|source| TrainError::StateWrite { path: path.to_owned(), source })
    }

    fn tensors(&self) -> BTreeMap<String, StoredTensor> {
        let groups = [("net", &self.net), ("optimizer", &self.optimizer.tensors)];
        let average = self.average.iter().map(|average| ("average", &average.weights));
        let mut tensors: BTreeMap<String, StoredTensor> = groups
            .into_iter()
            .chain(average)
            .flat_map(|(group, weights)| weights.iter().map(move |(name, tensor)| (group, name, tensor)))
            .map(|(group, name, tensor)| (format!("{group}.{name}"), StoredTensor::weights(tensor)))
            .collect();
        let curve: Vec<_> = self.report.curve.iter().map(TrainingRow::numbers).collect();
        let validation: Vec<_> = self.report.validation.iter().map(ValidationRow::numbers).collect();
        tensors.insert("curve".to_owned(), StoredTensor::rows(&curve));
        tensors.insert("validation".to_owned(), StoredTensor::rows(&validation));
        tensors.insert("meter".to_owned(), StoredTensor::rows(&[meter_numbers(&self.report.meter)]));
        tensors
    }

    /// Reads a state; `None` if there is no file. A state of another training is an error.
    pub(super) fn load(path: &Path, identity: &str) -> Result<Option<Self>, TrainError> {
        match Self::read(path, VERSION)? {
            Some((heading, _)) if heading.identity != identity => {
                Err(TrainError::OtherState { path: path.to_owned() })
            }
            read => Ok(read.map(|(_, state)| state)),
        }
    }

    /// Reads the state that a finished training left, for one with an optimiser of this kind.
    pub(super) fn load_finished(path: &Path, kind: OptimizerKind) -> Result<Self, TrainError> {
        let missing = || io::Error::from(io::ErrorKind::NotFound);
        let unreadable = |source| TrainError::StateRead { path: path.to_owned(), source };
        let read = Self::read(path, OLDEST_CARRIED)?;
        let (Heading { version: found, .. }, state) = read.ok_or_else(|| unreadable(missing()))?;
        if [kind, state.optimizer.kind] == [OptimizerKind::Muon; 2] && found < OLDEST_MUON {
            return Err(TrainError::MuonState { path: path.to_owned(), found, expected: OLDEST_MUON });
        }
        Ok(state)
    }

    /// Reads a state of this version, or of one since `oldest`.
    fn read(path: &Path, oldest: u32) -> Result<Option<(Heading, Self)>, TrainError> {
        let bytes = match regular::read(path) {
            Ok(bytes) => bytes,
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(source) => {
                return Err(TrainError::StateRead { path: path.to_owned(), source });
            }
        };
        let heading = heading(&bytes).map_err(|cause| damaged(path, cause))?;
        if !(oldest..=VERSION).contains(&heading.version) {
            let (path, found) = (path.to_owned(), heading.version);
            return Err(TrainError::StateVersion { path, found, expected: VERSION });
        }
        let state = Self::parse(&bytes, &heading).map_err(|cause| damaged(path, cause))?;
        Ok(Some((heading, state)))
    }

    /// Checks the digest before anything else, then reads the tensors.
    fn parse(bytes: &[u8], heading: &Heading) -> Result<Self, String> {
        let stored = SafeTensors::deserialize(bytes).map_err(|cause| cause.to_string())?;
        let by_name: BTreeMap<String, _> = stored.tensors().into_iter().collect();
        let found = heading.digest_with(
            by_name.iter().map(|(name, view)| (name.as_str(), view.dtype(), view.shape(), view.data())),
        );
        if found != heading.blake3 {
            return Err(format!("its digest is {found}, not {} as written in it", heading.blake3));
        }
        let report = if heading.version == VERSION { report(&stored)? } else { Report::default() };
        let kind = OptimizerKind::from_name(&heading.optimizer)
            .ok_or_else(|| format!("its optimizer \"{}\" is not known", heading.optimizer))?;
        let tensors = weights(&stored, "optimizer.")?;
        let average = |steps| {
            let kind = heading.average.as_deref().unwrap_or(AverageKind::Ema.name());
            let kind =
                AverageKind::from_name(kind).ok_or_else(|| format!("its average \"{kind}\" is not known"))?;
            Ok::<_, String>(AverageState { kind, steps, weights: weights(&stored, "average.")? })
        };
        Ok(Self {
            done: heading.done,
            net: weights(&stored, "net.")?,
            optimizer: OptimizerState { kind, updates: heading.optimizer_updates, tensors },
            average: heading.average_steps.map(average).transpose()?,
            report,
        })
    }
}

fn damaged(path: &Path, cause: String) -> TrainError {
    TrainError::StateDamaged { path: path.to_owned(), cause }
}

fn heading(bytes: &[u8]) -> Result<Heading, String> {
    let (_, metadata) = SafeTensors::read_metadata(bytes).map_err(|cause| cause.to_string())?;
    let text = metadata.metadata().as_ref().and_then(|entries| entries.get(METADATA));
    let text = text.ok_or("its metadata has no entry `dc0`")?;
    serde_json::from_str(text).map_err(|cause| cause.to_string())
}

fn report(stored: &SafeTensors<'_>) -> Result<Report, String> {
    Ok(Report {
        curve: numbers(stored, "curve")?.into_iter().map(TrainingRow::from_numbers).collect(),
        validation: numbers(stored, "validation")?.into_iter().map(ValidationRow::from_numbers).collect(),
        meter: numbers(stored, "meter")?.first().copied().map(meter).ok_or("`meter` is empty")?,
    })
}

fn weights(stored: &SafeTensors<'_>, prefix: &str) -> Result<Weights, String> {
    let tensors = stored.tensors();
    let group = tensors.iter().filter_map(|(name, view)| Some((name.strip_prefix(prefix)?, view)));
    group
        .map(|(name, view)| {
            if view.dtype() != Dtype::F32 {
                return Err(format!("`{prefix}{name}` should be F32, found {}", view.dtype()));
            }
            let data = view.data().as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect();
            Ok((name.to_owned(), WeightTensor { shape: view.shape().to_vec(), data }))
        })
        .collect()
}

/// Rows of `N` numbers.
fn numbers<const N: usize>(stored: &SafeTensors<'_>, name: &str) -> Result<Vec<[f64; N]>, String> {
    let view = stored.tensor(name).map_err(|cause| cause.to_string())?;
    match (view.dtype(), view.shape()) {
        (Dtype::F64, [_, columns]) if *columns == N => {}
        (dtype, shape) => {
            return Err(format!("`{name}` should be F64 [rows, {N}], found {dtype} {shape:?}"));
        }
    }
    let values: Vec<f64> = view.data().as_chunks().0.iter().map(|bytes| f64::from_le_bytes(*bytes)).collect();
    Ok(values.as_chunks().0.to_vec())
}

fn meter_numbers(meter: &Meter) -> [f64; 2 + TOTALS] {
    let own = [meter.updates, meter.gradient_norms];
    let numbers = own.into_iter().chain(meter.totals.numbers());
    numbers.collect::<Vec<_>>().try_into().expect("two numbers and the totals")
}

fn meter([updates, gradient_norms, totals @ ..]: [f64; 2 + TOTALS]) -> Meter {
    Meter { totals: Totals::from_numbers(totals), gradient_norms, updates }
}
