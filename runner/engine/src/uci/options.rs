//! What can be set, with `setoption` or on the command line.

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
use dc0_backend::{Backend, BackendError, Choice, Evaluators, Wish};
use dc0_runs::net::{NetError, named, shipped};
use declared::{Declared, Kind};
use tuned::BATCH_SIZE;

/// The option that is no value; whoever reads commands obeys it.
pub(super) const CLEAR_HASH: &str = "Clear Hash";

/// Mebibytes for answers of the net: some 40,000 positions, more than a move of a fast game looks at. Chosen.
const HASH: u32 = 16;

/// Most threads, and most leaves of one: together less than the 65,535 descents that a move can have in flight.
const MOST: (i64, i64) = (64, 1000);

/// Why an option keeps its value.
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
    /// The value is not one of those that the option has.
    #[error("option {name}: expected {expected}, got \"{value}\"; it stays as it was")]
    Value {
        /// The option.
        name: String,
        /// What it takes.
        expected: String,
        /// The value given.
        value: String,
    },
    /// A parameter of the search or of the time.
    #[error("{0}; it stays as it was")]
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

/// Everything that is set. A search works with a copy, so that what is set meanwhile holds from the next one on.
#[derive(Clone)]
pub struct Settings {
    pub(super) net: Arc<Checkpoint>,
    pub(super) evaluators: Arc<Evaluators>,
    pub(super) search: SearchParams,
    pub(super) time: TimeParams,
    pub(super) tables: Option<Tablebase>,
    pub(super) temperature: f64,
    pub(super) seed: u64,
    pub(super) threads: u32,
    /// Mebibytes for answers of the net.
    pub(super) hash: u32,
    pub(super) lines: usize,
    /// Milliseconds.
    pub(super) overhead: i64,
    pub(super) shows_wdl: bool,
    pub(super) analyses: bool,
    backend: Backend,
    device: String,
    onnxruntime: Option<PathBuf>,
}

fn combo(default: &str, words: &[&str]) -> Kind {
    Kind::Combo { default: default.to_owned(), words: words.iter().map(|word| (*word).to_owned()).collect() }
}

/// Every option in the order in which they are told.
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
        ("Threads", spin(1, 1, MOST.0)),
        ("Hash", spin(HASH.into(), 0, 65_536)),
        (CLEAR_HASH, Kind::Button),
        ("BatchSize", spin(BATCH_SIZE.into(), 1, MOST.1)),
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
pub(super) fn told() -> Vec<String> {
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
            tables: None,
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

    /// Sets an option; case does not matter in its name. What cannot be set changes nothing.
    pub fn set(&mut self, name: &str, value: &str) -> Result<(), SettingsError> {
        let all = all();
        let Some(option) = all.iter().find(|option| option.name.eq_ignore_ascii_case(name)) else {
            let names = all.iter().map(|option| option.name.as_str());
            let hint = nearest(name, names).map(ToOwned::to_owned);
            return Err(SettingsError::Unknown { name: name.to_owned(), hint });
        };
        let checked = option.checked(value).ok_or_else(|| option.refuse(option.expected(), value))?;
        self.take(option, &checked)
    }

    fn take(&mut self, option: &Declared, value: &str) -> Result<(), SettingsError> {
        let is_on = value == "true";
        // Of a spin, whose value was looked at.
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
            "BatchSize" => self.search.leaves = number() as u32,
            "Backend" => {
                let backend = Backend::from_word(value).unwrap_or(self.backend);
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
            "SyzygyPath" => self.take_tables(value)?,
            "UCI_ShowWDL" => self.shows_wdl = is_on,
            "UCI_AnalyseMode" => self.analyses = is_on,
            // The only mode there is; pondering is what the chess program does, and forgetting what the session does.
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

    fn take_tables(&mut self, folders: &str) -> Result<(), SettingsError> {
        let folders = (!folders.is_empty()).then(|| folders.to_owned());
        self.tables = folders.as_deref().map(|folders| Tablebase::open(Path::new(folders))).transpose()?;
        self.search.tablebases = folders;
        Ok(())
    }

    /// The same on the CPU with libtorch, where everything runs.
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
    let wish = Wish { backend, device, precision: Precision::Auto, onnxruntime };
    let choice: Choice = wish.settle(true)?;
    Ok(Arc::new(Evaluators::new(&choice, onnxruntime)?))
}

#[cfg(test)]
mod tests;
