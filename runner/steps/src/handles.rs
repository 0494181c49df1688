//! The handles that scripts get and pass on. They are small, shared and immutable.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use dc0_core::arena::rating::{PairResult, Tally};
use dc0_core::arena::{BASELINES, Baseline, PlayerParams, baseline};
use dc0_core::board::Game;
use dc0_core::network::NetworkSpec;
use dc0_core::params::{Problem, Value};
use dc0_core::search::SearchParams;
use dc0_core::selfplay::Shard;
use dc0_core::store::{FileEntry, MatchGameRow, ShardFiles, StoreError, read_entry};
use dc0_opponents::Opponent;
use dc0_runs::{Folder, Generation};

use crate::summary::Summary;

/// A stored net.
#[derive(Debug, Clone)]
pub struct Network(pub Arc<NetworkFields>);

/// The fields of a net.
#[derive(Debug, Clone)]
pub struct NetworkFields {
    /// The folder of the run that made it.
    pub run: Arc<str>,
    /// Its number among the run's nets, from 0.
    pub number: u32,
    /// blake3 of its weights' file.
    pub digest: String,
    /// Its architecture.
    pub spec: NetworkSpec,
    /// Its weights' file, relative to the run.
    pub file: String,
    /// The state that the training which made it left, if one did and kept it.
    pub training_state: Option<FileEntry>,
    /// Summary of the step that made it.
    pub summary: Summary,
}

impl Network {
    /// The folder of the run that made it.
    pub(crate) fn folder(&self) -> Folder {
        Folder::at(Path::new(&*self.0.run))
    }

    /// The number as in file names.
    pub fn name(&self) -> String {
        format!("{:04}", self.0.number)
    }

    /// The net as a generation of the run, promoted after this many steps.
    pub fn generation(&self, generation: u32, steps: u32) -> Generation {
        let (network, blake3) = (self.0.file.clone(), self.0.digest.clone());
        Generation { generation, network, blake3, steps: Some(steps) }
    }
}

/// The games of one iteration, or of one import.
#[derive(Debug, Clone)]
pub struct Games(pub Arc<GamesFields>);

/// The fields of an iteration's games.
#[derive(Debug, Clone)]
pub struct GamesFields {
    /// The folder of the run that made them.
    pub run: Arc<str>,
    /// Whether they were read as those of a dataset or a run, and belong to no run of the script.
    pub is_loaded: bool,
    /// The number of the iteration, from 0.
    pub iteration: u32,
    /// Where they come from.
    pub made: Made,
    /// The step's short identity; the names of its parts contain it instead of the iteration's number.
    pub step: String,
    /// The tables, relative to the run.
    pub files: Vec<FileEntry>,
    /// Summary of the games.
    pub summary: Summary,
}

/// Where games come from; a net is given by its number, which is not known if its step is not there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Made {
    /// They are imported.
    Imported,
    /// A net played them.
    Played(Option<u32>),
    /// They are copies of other games, with targets of a net's new searches.
    Copied(Option<u32>),
}

impl Games {
    /// The net that played them, or searched the copies, if it is known.
    pub fn network(&self) -> Option<u32> {
        match self.0.made {
            Made::Imported => None,
            Made::Played(network) | Made::Copied(network) => network,
        }
    }

    /// The folder of the run or dataset that stores them; `own` is that of the run that reads them.
    pub(crate) fn root<'a>(&'a self, own: &'a Path) -> &'a Path {
        // The text of a path that is not Unicode names no folder, but the run's own is known.
        if *own.display().to_string() == *self.0.run { own } else { Path::new(&*self.0.run) }
    }
}

/// The games of some iterations or imports, the oldest first.
#[derive(Debug, Clone, Default)]
pub struct Window(pub Arc<Vec<Source>>);

/// Games of a window.
#[derive(Debug, Clone)]
pub struct Source {
    /// The games.
    pub games: Games,
    /// How often a training takes their positions, relative to those of others; at least 0.
    pub weight: f64,
}

/// Where a shard of a window is stored.
pub(crate) struct StoredShard<'a> {
    /// The number of its games within the window.
    pub(crate) source: u32,
    /// The games that it is a part of.
    pub(crate) games: &'a Games,
    /// Its files.
    pub(crate) files: ShardFiles<'a>,
}

impl Source {
    /// The largest weight; each copy of a position takes four bytes.
    pub const MOST_WEIGHT: f64 = 100.0;

    /// What a training reads from it, for the record: a shard's name, and the weight if it is not 1.
    pub(crate) fn label(&self, shard: &str) -> String {
        if self.weight == 1.0 { shard.to_owned() } else { format!("{shard} × {}", self.weight) }
    }
}

impl From<Games> for Window {
    fn from(games: Games) -> Self {
        [games].into_iter().collect()
    }
}

impl FromIterator<Games> for Window {
    fn from_iter<I: IntoIterator<Item = Games>>(games: I) -> Self {
        Self(Arc::new(games.into_iter().map(|games| Source { games, weight: 1.0 }).collect()))
    }
}

impl Window {
    /// These games and others.
    pub fn with(&self, other: &Self) -> Self {
        Self(Arc::new(self.0.iter().chain(&*other.0).cloned().collect()))
    }

    /// The same games with every weight multiplied by a number.
    pub fn weighted(&self, factor: f64) -> Self {
        let scaled = |source: &Source| Source { games: source.games.clone(), weight: source.weight * factor };
        Self(Arc::new(self.0.iter().map(scaled).collect()))
    }

    /// A problem for a step that takes all games equally.
    pub(crate) fn refuse_weights(&self, problems: &mut Vec<Problem>) {
        if self.0.iter().any(|source| source.weight != 1.0) {
            let message =
                "its games have weights, which only run.train uses; leave out `* weight`".to_owned();
            problems.push(Problem { path: "window".to_owned(), message });
        }
    }

    /// The games, the oldest first.
    pub fn games(&self) -> impl Iterator<Item = &Games> {
        self.0.iter().map(|source| &source.games)
    }

    /// The files of the shards, the oldest first.
    pub fn parts(&self) -> impl Iterator<Item = ShardFiles<'_>> {
        self.stored().map(|stored| stored.files)
    }

    /// Where the shards are stored, the oldest first.
    pub(crate) fn stored(&self) -> impl Iterator<Item = StoredShard<'_>> {
        (0..).zip(self.games()).flat_map(|(source, games)| {
            let files = ShardFiles::of_iteration(&games.0.files);
            files.map(move |files| StoredShard { source, games, files })
        })
    }

    /// The shards of a step that reads the games shard by shard.
    pub(crate) fn shards(&self) -> Vec<Shard> {
        let mut first_game = 0;
        let shard = |(index, files): (u32, ShardFiles<'_>)| {
            let shard = Shard { index, first_game, games: files.games.rows as u32 };
            first_game += shard.games;
            shard
        };
        (0..).zip(self.parts()).map(shard).collect()
    }

    /// Where one of these shards is stored.
    pub(crate) fn stored_shard(&self, shard: Shard) -> StoredShard<'_> {
        self.stored().nth(shard.index as usize).expect("a shard is one of the window's")
    }

    /// The sum of a summary's figure over the iterations.
    pub fn sum(&self, name: &str) -> i64 {
        self.games().map(|games| games.0.summary.member(name).and_then(int).unwrap_or(0)).sum()
    }

    /// The same with each iteration's figure times its weight.
    pub(crate) fn weighted_sum(&self, name: &str) -> f64 {
        let figure = |games: &Games| games.0.summary.member(name).and_then(int).unwrap_or(0) as f64;
        self.0.iter().map(|source| source.weight * figure(&source.games)).sum()
    }
}

/// The result of a match.
#[derive(Debug, Clone)]
pub struct MatchResult(pub Arc<MatchResultFields>);

/// The fields of a match's result.
#[derive(Debug, Clone)]
pub struct MatchResultFields {
    /// The folder of the run that played it.
    pub run: Arc<str>,
    /// The first player.
    pub first: String,
    /// The second player.
    pub second: String,
    /// The tables, relative to the run; none in a plan.
    pub files: Vec<FileEntry>,
    /// Summary of the match.
    pub summary: Summary,
}

impl MatchResult {
    /// The games of each pair, by the players' names; none of a match that is only planned.
    pub fn pairs(&self) -> Result<Vec<PairResult<String>>, StoreError> {
        let mut pairs: BTreeMap<u32, PairResult<String>> = BTreeMap::new();
        for file in &self.0.files {
            for row in read_entry::<MatchGameRow>(Path::new(&*self.0.run), file)? {
                let pair = pairs.entry(row.pair).or_insert_with(|| PairResult {
                    first: self.0.first.clone(),
                    second: self.0.second.clone(),
                    white: Tally::default(),
                    black: Tally::default(),
                });
                let own = if row.first_is_white { &mut pair.white } else { &mut pair.black };
                own.count(row.score);
            }
        }
        Ok(pairs.into_values().collect())
    }
}

/// Searches of given positions.
#[derive(Debug, Clone)]
pub struct Analysis(pub Arc<AnalysisFields>);

/// The fields of an analysis.
#[derive(Debug, Clone)]
pub struct AnalysisFields {
    /// The folder of the run that made them.
    pub run: Arc<str>,
    /// Their number among the run's analyses, from 0.
    pub number: u32,
    /// The tables, relative to the run: lines and trees in turn, or only lines.
    pub files: Vec<FileEntry>,
    /// The parameters of the searches, if they can be continued from the stored trees.
    pub continues: Option<SearchParams>,
    /// Summary of the searches.
    pub summary: Summary,
}

impl Analysis {
    /// The number of positions.
    pub fn positions(&self) -> usize {
        self.0.summary.member("positions").and_then(int).unwrap_or(0) as usize
    }
}

/// Solved puzzles.
#[derive(Debug, Clone)]
pub struct SolvedPuzzles(pub Arc<SolvedPuzzlesFields>);

/// The fields of solved puzzles.
#[derive(Debug, Clone)]
pub struct SolvedPuzzlesFields {
    /// Their number among the run's suites, from 0.
    pub number: u32,
    /// Summary of the attempts.
    pub summary: Summary,
}

/// A net measured on stored games.
#[derive(Debug, Clone)]
pub struct Validation(pub Arc<ValidationFields>);

/// The fields of a validation.
#[derive(Debug, Clone)]
pub struct ValidationFields {
    /// Its number among the run's validations, from 0.
    pub number: u32,
    /// Means of losses and scores.
    pub summary: Summary,
}

/// The positions to search.
#[derive(Debug, Clone)]
pub enum SearchInput {
    /// The last positions of games.
    Games(Vec<Game>),
    /// Earlier searches to continue.
    Continue(Analysis),
}

impl SearchInput {
    /// The number of positions.
    pub fn positions(&self) -> usize {
        match self {
            Self::Games(games) => games.len(),
            Self::Continue(earlier) => earlier.positions(),
        }
    }
}

/// A player of a match.
#[derive(Debug, Clone)]
pub enum Player {
    /// A net.
    Network {
        /// The net.
        network: Network,
        /// What the player has of its own.
        own: Arc<PlayerParams>,
    },
    /// A player without a net.
    Baseline(&'static dyn Baseline),
    /// Another program.
    Program(ProgramPlayer),
}

/// A program that plays.
#[derive(Debug, Clone)]
pub struct ProgramPlayer {
    /// Its name, as rows record it.
    pub name: String,
    /// A digest of what determines its games.
    pub digest: String,
    /// The program; `None` for a player of an earlier step, which plays no more.
    pub opponent: Option<Opponent>,
}

impl From<Opponent> for ProgramPlayer {
    fn from(opponent: Opponent) -> Self {
        Self { name: opponent.name(), digest: opponent.digest(), opponent: Some(opponent) }
    }
}

impl Player {
    /// A net with the search of the match.
    pub fn of(network: Network) -> Self {
        Self::Network { network, own: Arc::default() }
    }

    /// The baseline with a name; the error lists the names.
    pub fn named(name: &str) -> Result<Self, String> {
        let unknown = || {
            let known: Vec<&str> = BASELINES.iter().map(|baseline| baseline.name()).collect();
            let known = known.join("\", \"");
            format!("there is no player \"{name}\"; give a network, a player, or one of \"{known}\"")
        };
        baseline(name).map(Self::Baseline).ok_or_else(unknown)
    }

    /// The name for people.
    pub fn name(&self) -> String {
        match self {
            Self::Network { network, own } => labelled(&network.name(), own),
            Self::Baseline(baseline) => baseline.name().to_owned(),
            Self::Program(program) => program.name.clone(),
        }
    }

    /// The name in rows and file names: a net's digest, because its number changes with the script.
    pub fn row_name(&self) -> String {
        match self {
            Self::Network { network, own } => labelled(short_digest(&network.0.digest), own),
            Self::Baseline(baseline) => baseline.name().to_owned(),
            Self::Program(program) => program.name.clone(),
        }
    }

    /// Whether it plays as the other one does.
    pub fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Network { network, own }, Self::Network { network: others, own: others_own }) => {
                network.0.digest == others.0.digest && own == others_own
            }
            (Self::Baseline(baseline), Self::Baseline(other)) => baseline.name() == other.name(),
            (Self::Program(program), Self::Program(other)) => program.digest == other.digest,
            _ => false,
        }
    }

    /// Its net, if it has one.
    pub fn network(&self) -> Option<&Network> {
        match self {
            Self::Network { network, .. } => Some(network),
            Self::Baseline(_) | Self::Program(_) => None,
        }
    }

    /// What it has of its own, if it is a net.
    pub fn own(&self) -> Option<&PlayerParams> {
        match self {
            Self::Network { own, .. } => Some(own),
            Self::Baseline(_) | Self::Program(_) => None,
        }
    }

    /// The program, if it is one.
    pub fn program(&self) -> Option<&ProgramPlayer> {
        match self {
            Self::Program(program) => Some(program),
            Self::Network { .. } | Self::Baseline(_) => None,
        }
    }
}

/// The digits of a net's digest that are its name in rows.
pub(crate) fn short_digest(digest: &str) -> &str {
    &digest[..16]
}

fn labelled(net: &str, own: &PlayerParams) -> String {
    own.label().map_or_else(|| net.to_owned(), |label| format!("{net}@{label}"))
}

/// A value with named fields that scripts can read.
pub trait Fields: Clone + Send + Sync + 'static {
    /// The name of the type in scripts.
    const KIND: &'static str;

    /// Names and values, in the order of listings.
    fn fields(&self) -> Vec<(String, Value)>;

    /// The summary of the step whose result this is, if it is one.
    fn summary(&self) -> Option<&Summary> {
        None
    }
}

fn int(value: &Value) -> Option<i64> {
    match value {
        Value::Int(number) => Some(*number),
        _ => None,
    }
}

/// The value's own fields, then the members of its summary.
fn with_summary<const N: usize>(own: [(&str, Value); N], summary: &Value) -> Vec<(String, Value)> {
    let own = own.map(|(name, value)| (name.to_owned(), value));
    let members = match summary {
        Value::Group(members) => members.clone(),
        _ => std::collections::BTreeMap::new(),
    };
    own.into_iter().chain(members).collect()
}

impl Fields for Network {
    const KIND: &'static str = "Network";

    fn fields(&self) -> Vec<(String, Value)> {
        let net = &self.0;
        let own = [
            ("name", Value::from(self.name())),
            ("number", Value::Int(net.number.into())),
            ("digest", Value::from(&net.digest)),
            ("file", Value::from(&net.file)),
        ];
        with_summary(own, &net.summary)
    }

    fn summary(&self) -> Option<&Summary> {
        Some(&self.0.summary)
    }
}

impl Fields for Player {
    const KIND: &'static str = "Player";

    fn fields(&self) -> Vec<(String, Value)> {
        vec![("name".to_owned(), Value::from(self.name()))]
    }
}

impl Fields for Games {
    const KIND: &'static str = "Games";

    fn fields(&self) -> Vec<(String, Value)> {
        let network = self.network().map(|network| format!("{network:04}")).into();
        with_summary(
            [("iteration", Value::Int(self.0.iteration.into())), ("network", network)],
            &self.0.summary,
        )
    }

    fn summary(&self) -> Option<&Summary> {
        Some(&self.0.summary)
    }
}

impl Fields for Window {
    const KIND: &'static str = "Window";

    fn fields(&self) -> Vec<(String, Value)> {
        let iterations = Value::Int(self.0.len() as i64);
        let sums = ["games", "positions"].map(|name| (name.to_owned(), Value::Int(self.sum(name))));
        [("iterations".to_owned(), iterations)].into_iter().chain(sums).collect()
    }
}

/// Results of which a script sees the number and the summary.
macro_rules! numbered {
    ($($kind:ident),+) => {$(
        impl Fields for $kind {
            const KIND: &'static str = stringify!($kind);

            fn fields(&self) -> Vec<(String, Value)> {
                with_summary([("number", Value::Int(self.0.number.into()))], &self.0.summary)
            }

            fn summary(&self) -> Option<&Summary> {
                Some(&self.0.summary)
            }
        }
    )+};
}

numbered!(Analysis, SolvedPuzzles, Validation);

impl Fields for MatchResult {
    const KIND: &'static str = "MatchResult";

    fn fields(&self) -> Vec<(String, Value)> {
        with_summary(
            [("first", Value::from(&self.0.first)), ("second", Value::from(&self.0.second))],
            &self.0.summary,
        )
    }

    fn summary(&self) -> Option<&Summary> {
        Some(&self.0.summary)
    }
}
