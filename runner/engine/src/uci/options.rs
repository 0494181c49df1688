//! The engine's options, set with `setoption` or on the command line.

mod declared;
mod tuned;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use dc0_core::board::{Tablebase, TablebaseError};
use dc0_core::network::checkpoint::{Checkpoint, CheckpointError};
use dc0_core::network::torch::Precision;
use dc0_core::params::{ParamErrors, nearest};
use dc0_core::search::SearchParams;
use dc0_process::exit::Exit;
use dc0_process::fault::Fault;
use thiserror::Error;

use crate::uci::time::TimeParams;
use dc0_backend::{Backend, BackendError, BackendRequest, Choice, Evaluators};
use dc0_runs::net::{NetError, named, shipped};
use declared::{Declared, Kind};
use tuned::BATCH_SIZE;

/// The option without a value; the session handles it.
pub(super) const CLEAR_HASH: &str = "Clear Hash";

/// Size of the evaluation cache in MiB: some 40,000 positions, more than a move of a fast game evaluates. Chosen.
const HASH: u32 = 16;

/// Limits of threads, and of leaves per thread: their product stays below the 65,535 descents that may be under way through an edge.
const MAX: (i64, i64) = (64, 1000);

/// Why an option was not set.
#[derive(Debug, Error)]
pub enum SettingsError {
    /// There is no such option.
    #[error("there is no option \"{name}\"{}", hint.as_ref().map(|hint| format!("; did you mean \"{hint}\"?")).unwrap_or_default())]
    Unknown {
        /// The name given.
        name: String,
        /// The nearest name.
        hint: Option<String>,
    },
    /// The option does not take this value.
    #[error("option {name}: expected {expected}, got \"{value}\"; it keeps its value")]
    Value {
        /// The option.
        name: String,
        /// What it takes.
        expected: String,
        /// The value given.
        value: String,
    },
    /// A parameter of the search or of time management.
    #[error("{0}; it keeps its value")]
    Search(#[from] ParamErrors),
    /// The net.
    #[error(transparent)]
    Net(#[from] NetError),
    /// The net in the program.
    #[error(transparent)]
    Shipped(#[from] CheckpointError),
    /// What nets run on.
    #[error(transparent)]
    Backend(#[from] BackendError),
    /// Tablebases.
    #[error(transparent)]
    Tablebases(#[from] TablebaseError),
}

impl Fault for SettingsError {
    fn exit(&self) -> Exit {
        Exit::BadInput
    }
}

/// The values of all options. A search works with a copy, so changes take effect with the next one.
#[derive(Clone)]
pub struct Settings {
    pub(super) net: Arc<Checkpoint>,
    pub(super) evaluators: Arc<Evaluators>,
    pub(super) search: SearchParams,
    pub(super) time: TimeParams,
    pub(super) tablebases: Option<Tablebase>,
    pub(super) temperature: f64,
    pub(super) seed: u64,
    pub(super) threads: u32,
    /// Size of the evaluation cache in MiB.
    pub(super) hash: u32,
    /// Lines that are reported (`MultiPV`).
    pub(super) lines: usize,
    /// `Move Overhead` in milliseconds.
    pub(super) overhead: i64,
    pub(super) shows_wdl: bool,
    pub(super) analyses: bool,
    backend: Backend,
    device: String,
    onnxruntime: Option<PathBuf>,
}

fn combo(default: &str, names: &[&str]) -> Kind {
    Kind::Combo { default: default.to_owned(), names: names.iter().map(|name| (*name).to_owned()).collect() }
}

/// Every option, in the order in which `uci` lists them.
fn all() -> Vec<Declared> {
    let search = tuned::search();
    let spin = |default, least, most| Kind::Spin { default, least, most };
    let own = [
        ("SearchMode", combo("dc0", &["dc0"])),
        ("DC0Model", Kind::Text(String::new())),
        ("DC0Simulations", spin(search.simulations.into(), 1, 10_000_000)),
        ("DC0Cpuct", Kind::Text(search.c_puct.to_string())),
        ("DC0Temperature", Kind::Text("0".to_owned())),
        ("DC0Seed", spin(1, 0, i64::from(u32::MAX))),
        ("Threads", spin(1, 1, MAX.0)),
        ("Hash", spin(HASH.into(), 0, 65_536)),
        (CLEAR_HASH, Kind::Button),
        ("BatchSize", spin(BATCH_SIZE.into(), 1, MAX.1)),
        ("Backend", combo("torch", &["torch", "onnx", "auto"])),
        ("Device", Kind::Text("auto".to_owned())),
        ("MultiPV", spin(1, 1, 218)),
        ("Ponder", Kind::Check(false)),
        ("Move Overhead", spin(50, 0, 60_000)),
        ("SyzygyPath", Kind::Text(String::new())),
        ("UCI_ShowWDL", Kind::Check(false)),
        ("UCI_AnalyseMode", Kind::Check(false)),
    ];
    own.map(|(name, kind)| Declared { name: name.to_owned(), kind })
        .into_iter()
        .chain(tuned::declared())
        .collect()
}

/// The lines that answer `uci`.
pub(super) fn option_lines() -> Vec<String> {
    all().iter().map(Declared::line).collect()
}

impl Declared {
    fn refuse(&self, expected: String, value: &str) -> SettingsError {
        SettingsError::Value { name: self.name.clone(), expected, value: value.to_owned() }
    }

    fn number(&self, value: &str, (least, most): (f64, f64)) -> Result<f64, SettingsError> {
        let number = value.parse::<f64>().ok().filter(|number| (least..=most).contains(number));
        number.ok_or_else(|| self.refuse(format!("a number in {least}..={most}"), value))
    }
}

impl Settings {
    /// The defaults: the net in the program, on what this machine has.
    pub fn new(onnxruntime: Option<PathBuf>) -> Result<Self, SettingsError> {
        let (backend, device) = (Backend::Torch, "auto".to_owned());
        let evaluators = evaluators(backend, &device, onnxruntime.as_deref())?;
        Ok(Self {
            net: Arc::new(shipped()?.net),
            evaluators,
            search: tuned::search(),
            time: TimeParams::default(),
            tablebases: None,
            temperature: 0.0,
            seed: 1,
            threads: 1,
            hash: HASH,
            lines: 1,
            overhead: 50,
            shows_wdl: false,
            analyses: false,
            backend,
            device,
            onnxruntime,
        })
    }

    /// Sets an option; case does not matter in its name. On an error nothing changes.
    pub fn set(&mut self, name: &str, value: &str) -> Result<(), SettingsError> {
        let all = all();
        let Some(option) = all.iter().find(|option| option.name.eq_ignore_ascii_case(name)) else {
            let names = all.iter().map(|option| option.name.as_str());
            let hint = nearest(name, names).map(ToOwned::to_owned);
            return Err(SettingsError::Unknown { name: name.to_owned(), hint });
        };
        let checked = option.checked(value).ok_or_else(|| option.refuse(option.expected(), value))?;
        self.apply(option, &checked)
    }

    fn apply(&mut self, option: &Declared, value: &str) -> Result<(), SettingsError> {
        let is_on = value == "true";
        // Only for spins, whose value is checked already.
        let number = || value.parse::<i64>().unwrap_or_default();
        match option.name.as_str() {
            "DC0Model" => {
                self.net = Arc::new(if value.is_empty() { shipped()?.net } else { named(value)?.net });
            }
            "DC0Simulations" => self.search.simulations = number() as u32,
            "DC0Cpuct" => self.search.c_puct = option.number(value, (0.0, 100.0))?,
            "DC0Temperature" => self.temperature = option.number(value, (0.0, 100.0))?,
            "DC0Seed" => self.seed = number() as u64,
            "Threads" => self.threads = number() as u32,
            "BatchSize" => self.search.leaf_batch = number() as u32,
            "Backend" => {
                let backend = Backend::from_name(value).unwrap_or(self.backend);
                self.evaluators = evaluators(backend, &self.device, self.onnxruntime.as_deref())?;
                self.backend = backend;
            }
            "Device" => {
                self.evaluators = evaluators(self.backend, value, self.onnxruntime.as_deref())?;
                value.clone_into(&mut self.device);
            }
            "Hash" => self.hash = number() as u32,
            "MultiPV" => self.lines = number() as usize,
            "Move Overhead" => self.overhead = number(),
            "SyzygyPath" => self.set_tablebases(value)?,
            "UCI_ShowWDL" => self.shows_wdl = is_on,
            "UCI_AnalyseMode" => self.analyses = is_on,
            // There is only one mode; the chess program decides about pondering, and the session clears the cache.
            "SearchMode" | "Ponder" | CLEAR_HASH => {}
            name => self.tune(name, value)?,
        }
        Ok(())
    }

    /// Sets a declared parameter by its dotted name.
    fn tune(&mut self, name: &str, value: &str) -> Result<(), ParamErrors> {
        match name.split_once('.') {
            Some((group @ "time", path)) => self.time = tuned::with(group, &self.time, path, value)?,
            Some((group, path)) => self.search = tuned::with(group, &self.search, path, value)?,
            None => {}
        }
        Ok(())
    }

    fn set_tablebases(&mut self, folders: &str) -> Result<(), SettingsError> {
        let folders = (!folders.is_empty()).then(|| folders.to_owned());
        self.tablebases =
            folders.as_deref().map(|folders| Tablebase::open(Path::new(folders))).transpose()?;
        self.search.tablebases = folders;
        Ok(())
    }

    /// The same settings on the CPU with libtorch, which runs every net.
    pub(super) fn on_cpu(&self) -> Result<Self, SettingsError> {
        let evaluators = evaluators(Backend::Torch, "cpu", None)?;
        Ok(Self { evaluators, backend: Backend::Torch, device: "cpu".to_owned(), ..self.clone() })
    }
}

fn evaluators(
    backend: Backend,
    device: &str,
    onnxruntime: Option<&Path>,
) -> Result<Arc<Evaluators>, SettingsError> {
    let request = BackendRequest { backend, device, precision: Precision::Auto, onnxruntime };
    let choice: Choice = request.resolve(true)?;
    Ok(Arc::new(Evaluators::new(&choice, onnxruntime)?))
}

#[cfg(test)]
mod tests;
