//! The engine's options, set with `setoption` or on the command line.

mod declared;
mod tuned;

use std::collections::BTreeSet;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use dc0_core::alphabeta::SelectivityParams;
use dc0_core::board::{Tablebase, TablebaseError};
use dc0_core::network::Tower;
use dc0_core::network::checkpoint::Checkpoint;
use dc0_core::network::torch::Precision;
use dc0_core::param_enum;
use dc0_core::params::{ParamErrors, nearest};
use dc0_core::search::{Requirement, RootRule, SearchParams, unmet};
use dc0_process::exit::Exit;
use dc0_process::fault::Fault;
use dc0_process::resources::available_memory;
use thiserror::Error;

use crate::score::{ScoreFit, ScoreParams};
use crate::uci::log::Log;
use crate::uci::notation::Notation;
use crate::uci::time::TimeParams;
use dc0_backend::{Backend, BackendError, BackendRequest, Evaluators, Workload};
use dc0_runs::net::{NetError, named, shipped};
use declared::{Declared, Kind};
use tuned::Kept;

/// The option that chooses what searches.
const SEARCH_MODE: &str = "SearchMode";

/// The option that chooses the net.
pub(super) const MODEL: &str = "DC0Model";

/// The option of how freely moves are drawn.
const TEMPERATURE: &str = "DC0Temperature";

/// The option of the root's rule.
const ROOT_RULE: &str = "search.root.rule";

/// The option without a value; the session handles it.
pub(super) const CLEAR_HASH: &str = "Clear Hash";

/// Size of the evaluation cache in MiB: some 40,000 positions, more than a move of a fast game evaluates. Chosen.
const HASH: u32 = 16;

/// Limits of threads, and of leaves per thread: their product stays below the 65,535 descents that may be under way through an edge.
const MAX: (i64, i64) = (64, 1000);

param_enum! {
    /// What searches.
    pub enum SearchMode {
        /// The tree search of dc0 with a net.
        Dc0 = "dc0",
        /// Alpha-beta with the value of an `nnue`.
        AlphaBeta = "alphabeta",
        /// Alpha-beta by material and piece squares, without a net.
        Material = "material",
    }
}

/// Options of the tree search and its nets, besides `search.…`.
const OF_TREE_SEARCH: [&str; 9] = [
    "Backend",
    "BatchSize",
    "DC0Cpuct",
    "DC0Seed",
    "DC0Simulations",
    TEMPERATURE,
    "Device",
    "VerboseMoveStats",
    "score.scale",
];

/// Those of them that a command line may give for nets of either search.
const FOR_ANY_NET: [&str; 2] = ["Backend", "Device"];

/// Why a game in the terminal does not use `time.…`.
const NO_CLOCK: &str = "which has no clock";

/// Options that a game in the terminal does not use, besides `time.…`, each with the reason.
const NOT_IN_PLAY: [(&str, &str); 9] = [
    (CLEAR_HASH, "which begins with an empty cache"),
    ("LogFile", "which has no session of UCI to log"),
    ("Move Overhead", NO_CLOCK),
    ("MultiPV", "which shows a fixed number of lines"),
    ("Ponder", "which does not search during your moves"),
    ("UCI_AnalyseMode", "which chooses moves as --temperature says"),
    ("UCI_Chess960", "which reads castling in every notation"),
    ("UCI_ShowWDL", "which shows the chances in its bar"),
    ("VerboseMoveStats", "which writes no lines of UCI"),
];

impl SearchMode {
    /// Whether the second searcher, alpha-beta, looks for the move.
    pub(super) fn is_alphabeta(self) -> bool {
        self != Self::Dc0
    }

    /// Whether an option changes anything in this mode.
    fn uses(self, option: &str) -> bool {
        match self {
            Self::Dc0 => !option.starts_with("alphabeta."),
            Self::AlphaBeta => !option.starts_with("search.") && !OF_TREE_SEARCH.contains(&option),
            Self::Material => {
                Self::AlphaBeta.uses(option) && !option.starts_with("score.") && option != MODEL
            }
        }
    }
}

/// Why there is neither `UCI_LimitStrength` nor `UCI_Elo`.
const NO_ELO: &str =
    "an Elo on a human scale would have to be measured for each net; with fewer nodes it plays weaker";

/// Why an option was not set.
#[derive(Debug, Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum SettingsError {
    #[error("there is no option \"{name}\"{}", hint.as_ref().map(|hint| format!("; did you mean \"{hint}\"?")).unwrap_or_default())]
    Unknown { name: String, hint: Option<String> },
    /// An option that chess programs know and the engine has not, for a reason.
    #[error("there is no option \"{name}\": {NO_ELO}")]
    Elo { name: String },
    #[error("option {name}: expected {expected}, got \"{value}\"; it keeps its value")]
    Value { name: String, expected: String, value: String },
    /// A member of a group that is off, on a command line.
    #[error(
        "option {option} has no effect while {switch} is false; set {switch} to true, too, or leave {option} out"
    )]
    WithoutEffect { option: String, switch: String },
    /// An option that the chosen search does not use, on a command line.
    #[error("option {option} has no effect in SearchMode {}; leave it out, or choose another SearchMode", mode.name())]
    Unused { option: String, mode: SearchMode },
    #[error("option {SEARCH_MODE}: expected dc0, because `play` uses the tree search, got {}; leave it out", mode.name())]
    NotPlayed { mode: SearchMode },
    #[error("option {option} is of no use in `play`, {why}; leave it out")]
    NotInPlay { option: String, why: &'static str },
    /// The temperature beside a root rule that draws no moves, on a command line.
    #[error(
        "option {TEMPERATURE} has no effect with search.root.rule {}, which chooses its move by itself; leave it out, or choose another rule",
        rule.name()
    )]
    NoDraw { rule: RootRule },
    #[error(
        "option Hash: expected at most {available} MiB, which this machine has available, got {wanted}; it keeps its value"
    )]
    Memory { wanted: u32, available: u64 },
    #[error(
        "option {option}: expected a net with a {lacks}, which this one does not have; set DC0Model to one that has it first; it keeps \
         its value"
    )]
    Unmet { option: String, lacks: &'static str },
    #[error("option LogFile: cannot write to \"{file}\": {cause}; it keeps its value")]
    Log { file: String, cause: std::io::Error },
    /// A parameter of the search or of time management.
    #[error("{0}; it keeps its value")]
    Search(#[from] ParamErrors),
    #[error(transparent)]
    Net(#[from] NetError),
    #[error(transparent)]
    Backend(#[from] BackendError),
    #[error(transparent)]
    Tablebases(#[from] TablebaseError),
}

/// What a chess program should know about an option that was set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SettingsNote {
    /// The option belongs to a group that is off.
    WithoutEffect {
        /// The option.
        option: String,
        /// The option that switches its group on.
        switch: String,
    },
    /// What searches does not use these options.
    Unused {
        /// The options.
        options: Vec<String>,
        /// What searches.
        mode: SearchMode,
    },
    /// The root rule draws no moves, so the temperature has no effect.
    NoDraw {
        /// The rule.
        rule: RootRule,
    },
    /// A net was chosen that cannot serve options that were on, or can serve options that another net switched off.
    Switched {
        /// Options that are off now, each with what the net lacks.
        off: Vec<(String, &'static str)>,
        /// Options that are on again.
        on: Vec<String>,
    },
}

impl fmt::Display for SettingsNote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::WithoutEffect { option, switch } => {
                write!(f, "{option} has no effect until {switch} is true")
            }
            Self::Unused { options, mode } => {
                let have = if options.len() == 1 { "has" } else { "have" };
                write!(f, "{} {have} no effect in SearchMode {}", options.join(", "), mode.name())
            }
            Self::NoDraw { rule } => {
                write!(
                    f,
                    "{TEMPERATURE} has no effect with search.root.rule {}, which chooses its move by itself",
                    rule.name()
                )
            }
            Self::Switched { off, on } => {
                let off = off
                    .iter()
                    .map(|(option, lacks)| format!("{option} is false now, because this net has no {lacks}"));
                let on = on.iter().map(|option| format!("{option} is true again, which this net can serve"));
                f.write_str(&off.chain(on).collect::<Vec<_>>().join("; "))
            }
        }
    }
}

impl Fault for SettingsError {
    fn exit(&self) -> Exit {
        match self {
            Self::Net(cause) => cause.exit(),
            _ => Exit::BadInput,
        }
    }
}

/// The values of all options. A search works with a copy, so changes take effect with the next one.
#[derive(Clone)]
pub struct Settings {
    pub(super) mode: SearchMode,
    pub(super) net: Arc<Checkpoint>,
    /// What evaluates nets; libtorch if the backend is `auto`.
    evaluators: Arc<Evaluators>,
    pub(super) search: SearchParams,
    /// What alpha-beta leaves out.
    pub(super) selectivity: SelectivityParams,
    /// Members of groups that are off.
    kept: Kept,
    /// Options that have another value than their default.
    changed: BTreeSet<String>,
    /// Options that are off because the net cannot serve them, and on again with the next one that can.
    switched_off: BTreeSet<String>,
    pub(super) time: TimeParams,
    score: ScoreParams,
    /// How the net's values become scores.
    net_fit: ScoreFit,
    pub(super) tablebases: Option<Tablebase>,
    pub(super) temperature: f64,
    pub(super) seed: u64,
    pub(super) threads: u32,
    /// The leaf batch asked for; 0 for the device's default.
    batch_size: u32,
    /// Size of the evaluation cache in MiB.
    pub(super) hash: u32,
    /// Lines that are reported (`MultiPV`).
    pub(super) lines: usize,
    /// `Move Overhead` in milliseconds.
    pub(super) overhead: i64,
    pub(super) notation: Notation,
    pub(super) shows_wdl: bool,
    pub(super) analyses: bool,
    /// Whether the statistics of all root moves follow a search (`VerboseMoveStats`).
    pub(super) shows_moves: bool,
    pub(super) log: Option<Log>,
    backend: Backend,
    device: String,
    onnxruntime: Option<PathBuf>,
}

/// Why a game in the terminal does not use an option; `None` if it does.
fn not_in_play(option: &str) -> Option<&'static str> {
    let listed = NOT_IN_PLAY.iter().find(|(name, _)| *name == option).map(|(_, why)| *why);
    listed.or_else(|| option.starts_with("time.").then_some(NO_CLOCK))
}

/// A size of the hash in MiB, if the machine has that much; nothing is known of some systems.
fn affordable(wanted: u32, available: Option<u64>) -> Result<u32, SettingsError> {
    match available {
        Some(available) if u64::from(wanted) > available => Err(SettingsError::Memory { wanted, available }),
        _ => Ok(wanted),
    }
}

fn combo(default: &str, names: &[&str]) -> Kind {
    Kind::Combo { default: default.to_owned(), names: names.iter().map(|name| (*name).to_owned()).collect() }
}

/// Every option, in the order in which `uci` lists them.
fn all() -> Vec<Declared> {
    let search = tuned::search();
    let spin = |default, least, most| Kind::Spin { default, least, most };
    let own = [
        (SEARCH_MODE, combo(SearchMode::Dc0.name(), SearchMode::NAMES)),
        (MODEL, Kind::Text(String::new())),
        ("DC0Simulations", spin(search.simulations.into(), 1, 10_000_000)),
        ("DC0Cpuct", Kind::Text(search.c_puct.to_string())),
        (TEMPERATURE, Kind::Text("0".to_owned())),
        ("DC0Seed", spin(1, 0, i64::from(u32::MAX))),
        ("Threads", spin(1, 1, MAX.0)),
        ("Hash", spin(HASH.into(), 0, 65_536)),
        (CLEAR_HASH, Kind::Button),
        ("BatchSize", spin(0, 0, MAX.1)),
        ("Backend", combo("auto", &["auto", "torch", "onnx"])),
        ("Device", Kind::Text("auto".to_owned())),
        ("MultiPV", spin(1, 1, 218)),
        ("Ponder", Kind::Check(false)),
        ("Move Overhead", spin(50, 0, 60_000)),
        ("SyzygyPath", Kind::Text(String::new())),
        ("UCI_Chess960", Kind::Check(false)),
        ("UCI_ShowWDL", Kind::Check(false)),
        ("UCI_AnalyseMode", Kind::Check(false)),
        ("VerboseMoveStats", Kind::Check(false)),
        ("LogFile", Kind::Text(String::new())),
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
    /// The defaults: the shipped net, on what this machine has.
    pub fn new(onnxruntime: Option<PathBuf>) -> Result<Self, SettingsError> {
        let (backend, device) = (Backend::Auto, "auto".to_owned());
        let net = shipped()?.net;
        let evaluators = evaluators(backend, &device, &net, onnxruntime.as_deref())?;
        let mut settings = Self {
            mode: SearchMode::Dc0,
            net_fit: ScoreFit::of_net(&net),
            net,
            evaluators,
            search: tuned::search(),
            selectivity: SelectivityParams::default(),
            kept: Kept::default(),
            changed: BTreeSet::new(),
            switched_off: BTreeSet::new(),
            time: TimeParams::default(),
            score: ScoreParams::default(),
            tablebases: None,
            temperature: 0.0,
            seed: 1,
            threads: 1,
            batch_size: 0,
            hash: HASH,
            lines: 1,
            overhead: 50,
            notation: Notation::default(),
            shows_wdl: false,
            analyses: false,
            shows_moves: false,
            log: None,
            backend,
            device,
            onnxruntime,
        };
        settings.fit_batch();
        Ok(settings)
    }

    /// Takes the leaf batch that was asked for, or the default of the device that evaluates.
    fn fit_batch(&mut self) {
        self.search.leaf_batch = match self.batch_size {
            0 => tuned::batch_size(&self.net.spec, self.evaluators.first_device()),
            requested => requested,
        };
    }

    /// Sets an option; case does not matter in its name. On an error nothing changes.
    pub fn set(&mut self, name: &str, value: &str) -> Result<Option<SettingsNote>, SettingsError> {
        let all = all();
        let Some(option) = all.iter().find(|option| option.name.eq_ignore_ascii_case(name)) else {
            if ["UCI_LimitStrength", "UCI_Elo"].iter().any(|known| known.eq_ignore_ascii_case(name)) {
                return Err(SettingsError::Elo { name: name.to_owned() });
            }
            let names = all.iter().map(|option| option.name.as_str());
            let hint = nearest(name, names).map(ToOwned::to_owned);
            return Err(SettingsError::Unknown { name: name.to_owned(), hint });
        };
        let checked = option.checked(value).ok_or_else(|| option.refuse(option.expected(), value))?;
        let mut changed = self.clone();
        changed.apply(option, &checked)?;
        changed.fit_batch();
        if option.is_default(&checked) {
            changed.changed.remove(&option.name);
        } else {
            changed.changed.insert(option.name.clone());
        }
        let note = changed.fit_to_net(option)?.or_else(|| changed.note(option));
        *self = changed;
        Ok(note)
    }

    /// Fails where the net cannot serve the search that an option asks for. A net that was chosen later is taken, and the search
    /// changed: a match that is to measure this net must not go on with another one. What a net has switched off is on again with the
    /// next net that can serve it, unless the option was set since.
    fn fit_to_net(&mut self, set: &Declared) -> Result<Option<SettingsNote>, SettingsError> {
        self.switched_off.remove(&set.name);
        if set.name != MODEL {
            return match unmet(&self.search, &self.net.spec) {
                Some(Requirement { member, lacks }) => {
                    Err(SettingsError::Unmet { option: format!("search.{member}"), lacks })
                }
                None => Ok(None),
            };
        }
        let mut on = std::mem::take(&mut self.switched_off);
        for option in &on {
            self.tune(option, "true")?;
        }
        let mut off = Vec::new();
        while let Some(Requirement { member, lacks }) = unmet(&self.search, &self.net.spec) {
            let option = format!("search.{member}");
            self.tune(&option, "false")?;
            self.switched_off.insert(option.clone());
            if !on.remove(&option) {
                off.push((option, lacks));
            }
        }
        let on: Vec<String> = on.into_iter().collect();
        Ok((!(off.is_empty() && on.is_empty())).then_some(SettingsNote::Switched { off, on }))
    }

    fn note(&self, set: &Declared) -> Option<SettingsNote> {
        let mut without_effect = self.kept.without_effect(&self.search).into_iter();
        if let Some((option, switch)) = without_effect.find(|(option, _)| *option == set.name) {
            return Some(SettingsNote::WithoutEffect { option, switch });
        }
        if let (TEMPERATURE | ROOT_RULE, Some(rule)) = (set.name.as_str(), self.rule_without_draws()) {
            return Some(SettingsNote::NoDraw { rule });
        }
        let options: Vec<String> = match set.name.as_str() {
            SEARCH_MODE => self.unused().cloned().collect(),
            name => {
                self.changed.get(name).filter(|name| !self.mode.uses(name)).cloned().into_iter().collect()
            }
        };
        (!options.is_empty()).then_some(SettingsNote::Unused { options, mode: self.mode })
    }

    /// The root rule of the tree search if it cannot use the temperature that is set.
    fn rule_without_draws(&self) -> Option<RootRule> {
        let rule = self.search.root.rule;
        (self.mode == SearchMode::Dc0 && self.temperature > 0.0 && !rule.draws_moves()).then_some(rule)
    }

    /// The options that have another value than their default, which changes nothing in this mode; without those that are for every net
    /// that the session may choose.
    fn unused(&self) -> impl Iterator<Item = &String> {
        let is_unused = |name: &&String| !self.mode.uses(name) && !FOR_ANY_NET.contains(&name.as_str());
        self.changed.iter().filter(is_unused)
    }

    /// Fails if an option has no effect, because its group is off, or because only another mode uses it.
    pub(crate) fn check_effects(&self) -> Result<(), SettingsError> {
        if let Some((option, switch)) = self.kept.without_effect(&self.search).into_iter().next() {
            return Err(SettingsError::WithoutEffect { option, switch });
        }
        if let Some(rule) = self.rule_without_draws() {
            return Err(SettingsError::NoDraw { rule });
        }
        match self.unused().next() {
            Some(option) => Err(SettingsError::Unused { option: option.clone(), mode: self.mode }),
            None => Ok(()),
        }
    }

    /// Fails if another search was chosen, or an option set, that a game in the terminal does not use. `given` are the options of the
    /// command line: a button has no value that differs from its default.
    pub(crate) fn check_play(&self, given: &[(String, String)]) -> Result<(), SettingsError> {
        if self.mode != SearchMode::Dc0 {
            return Err(SettingsError::NotPlayed { mode: self.mode });
        }
        let clears = given.iter().any(|(name, _)| name.eq_ignore_ascii_case(CLEAR_HASH));
        let mut set = self.changed.iter().map(String::as_str).chain(clears.then_some(CLEAR_HASH));
        match set.find_map(|option| Some((option, not_in_play(option)?))) {
            Some((option, why)) => Err(SettingsError::NotInPlay { option: option.to_owned(), why }),
            None => Ok(()),
        }
    }

    fn apply(&mut self, option: &Declared, value: &str) -> Result<(), SettingsError> {
        let is_on = value == "true";
        // Only for spins, whose value is checked already.
        let number = || value.parse::<i64>().unwrap_or_default();
        match option.name.as_str() {
            MODEL => {
                let net = if value.is_empty() { shipped()?.net } else { named(value)?.net };
                self.net_fit = ScoreFit::of_net(&net);
                // The same net keeps its threads and the tree.
                if self.net != net {
                    if is_nnue(&net) != is_nnue(&self.net) {
                        self.evaluators =
                            evaluators(self.backend, &self.device, &net, self.onnxruntime.as_deref())?;
                    }
                    self.net = net;
                }
            }
            "DC0Simulations" => self.search.simulations = number() as u32,
            "DC0Cpuct" => self.search.c_puct = option.number(value, (0.0, 100.0))?,
            TEMPERATURE => self.temperature = option.number(value, (0.0, 100.0))?,
            "DC0Seed" => self.seed = number() as u64,
            "Threads" => self.threads = number() as u32,
            "BatchSize" => self.batch_size = number() as u32,
            "Backend" if value == self.backend.name() => {}
            "Backend" => {
                let backend = Backend::from_name(value).unwrap_or(self.backend);
                self.evaluators = evaluators(backend, &self.device, &self.net, self.onnxruntime.as_deref())?;
                self.backend = backend;
            }
            "Device" if value == self.device => {}
            "Device" => {
                self.evaluators = evaluators(self.backend, value, &self.net, self.onnxruntime.as_deref())?;
                value.clone_into(&mut self.device);
            }
            "Hash" => {
                self.hash = affordable(
                    number() as u32,
                    available_memory().map(|free| free / (1 << 20) + u64::from(self.hash)),
                )?;
            }
            "MultiPV" => self.lines = number() as usize,
            "Move Overhead" => self.overhead = number(),
            "SyzygyPath" => self.set_tablebases(value)?,
            "UCI_Chess960" => self.notation.is_chess960 = is_on,
            "UCI_ShowWDL" => self.shows_wdl = is_on,
            "UCI_AnalyseMode" => self.analyses = is_on,
            "VerboseMoveStats" => self.shows_moves = is_on,
            "LogFile" => self.log = log(value)?,
            SEARCH_MODE => self.mode = SearchMode::from_name(value).unwrap_or(self.mode),
            // The chess program decides about pondering, and the session clears the cache.
            "Ponder" | CLEAR_HASH => {}
            name => self.tune(name, value)?,
        }
        Ok(())
    }

    /// Sets a declared parameter by its dotted name.
    fn tune(&mut self, name: &str, value: &str) -> Result<(), ParamErrors> {
        match name.split_once('.') {
            Some((group @ "time", path)) => {
                tuned::set(group, &mut self.time, &mut self.kept, path, value)?;
            }
            Some((group @ "score", path)) => {
                tuned::set(group, &mut self.score, &mut self.kept, path, value)?;
            }
            Some((group @ "alphabeta", path)) => {
                tuned::set(group, &mut self.selectivity, &mut self.kept, path, value)?;
            }
            Some((group, path)) => tuned::set(group, &mut self.search, &mut self.kept, path, value)?,
            None => {}
        }
        Ok(())
    }

    /// How the values of tree searches become the scores that are shown.
    pub(super) fn score_fit(&self) -> ScoreFit {
        self.score.applied_to(self.net_fit)
    }

    /// The same for alpha-beta: the shipped nets are fitted to games of tree searches, and in games of alpha-beta their values
    /// are chances.
    pub(super) fn alphabeta_fit(&self) -> ScoreFit {
        self.score.applied_to(ScoreFit::NONE)
    }

    fn set_tablebases(&mut self, folders: &str) -> Result<(), SettingsError> {
        let folders = (!folders.is_empty()).then(|| folders.to_owned());
        self.tablebases = Tablebase::open_if(folders.as_deref())?;
        self.search.tablebases = folders;
        Ok(())
    }

    /// What evaluates the net. With the backend `auto`, the backends are measured where this machine has not done so before.
    pub(super) fn evaluators(&self) -> Result<Arc<Evaluators>, SettingsError> {
        if self.backend != Backend::Auto {
            return Ok(Arc::clone(&self.evaluators));
        }
        let (device, onnxruntime) = (self.device.as_str(), self.onnxruntime.as_deref());
        // On average, about half of a batch is left after collisions and cached positions (docs/methods/budgets.md).
        let rows = self.search.leaf_batch.div_ceil(2 * self.threads);
        let work = Workload { spec: self.net.spec.clone(), rows };
        let choice = request(self.backend, device, onnxruntime).resolve(Some(&work))?;
        match choice.backend {
            Backend::Onnx => Ok(Arc::new(Evaluators::new(&choice, onnxruntime)?)),
            Backend::Torch | Backend::Auto => Ok(Arc::clone(&self.evaluators)),
        }
    }

    /// Whether the threads of other settings can serve these.
    pub(super) fn same_threads(&self, other: &Self) -> bool {
        let size = |settings: &Self| (settings.threads, settings.hash, settings.search.leaf_batch);
        size(self) == size(other)
            && Arc::ptr_eq(&self.net, &other.net)
            && Arc::ptr_eq(&self.evaluators, &other.evaluators)
    }

    /// The same settings on the CPU with libtorch, which runs every net.
    pub(super) fn on_cpu(&self) -> Result<Self, SettingsError> {
        let evaluators = evaluators(Backend::Torch, "cpu", &self.net, None)?;
        let device = "cpu".to_owned();
        let mut settings = Self { evaluators, backend: Backend::Torch, device, ..self.clone() };
        settings.fit_batch();
        Ok(settings)
    }
}

fn log(file: &str) -> Result<Option<Log>, SettingsError> {
    let open = || Log::open(Path::new(file));
    let opened = (!file.is_empty()).then(open).transpose();
    opened.map_err(|cause| SettingsError::Log { file: file.to_owned(), cause })
}

/// What evaluates a net if the backend `auto` is libtorch.
fn evaluators(
    backend: Backend,
    device: &str,
    net: &Checkpoint,
    onnxruntime: Option<&Path>,
) -> Result<Arc<Evaluators>, SettingsError> {
    let choice = request(backend, device_for(net, backend, device), onnxruntime).resolve(None)?;
    Ok(Arc::new(Evaluators::new(&choice, onnxruntime)?))
}

/// The device that evaluates a net: such nets and ONNX Runtime are computed on the CPU, so nothing need be known of other devices.
fn device_for<'a>(net: &Checkpoint, backend: Backend, device: &'a str) -> &'a str {
    let is_on_cpu = is_nnue(net) || backend == Backend::Onnx;
    if is_on_cpu && device == "auto" { "cpu" } else { device }
}

fn is_nnue(net: &Checkpoint) -> bool {
    net.spec.tower.kind == Tower::Nnue
}

fn request<'a>(backend: Backend, device: &'a str, onnxruntime: Option<&'a Path>) -> BackendRequest<'a> {
    BackendRequest { backend, device, precision: Precision::Auto, onnxruntime }
}

#[cfg(test)]
mod tests;
