//! What searches the moves of self-play: the tree search, or alpha-beta.

use crate::alphabeta::{AlphaBetaParams, SelectivityParams};
use crate::board::{Tablebase, TablebaseError};
use crate::params::{Bounds, Param, ParamKind, Params as _, Problems, Row, Value, group_row};
use crate::search::SearchParams;
use crate::{param_enum, params};

param_enum! {
    /// What searches the moves of self-play.
    pub enum SearcherKind {
        /// The tree search.
        Tree = "tree",
        /// Alpha-beta by the values of the net, which must be an `nnue`, as engines make games to learn from.
        AlphaBeta = "alphabeta",
    }
}

params! {
    /// The alpha-beta search of self-play: one thread, and limits that do not depend on time, so that games repeat.
    pub struct AlphaBetaSearch {
        /// Of `alphabeta`: positions that every search visits at most; more give better moves and values, and fewer rows in the same
        /// time. As many as in Stockfish's data set `nodes5000pv2_UHO`.
        nodes: u64 = 5000, in 1..=1_000_000_000;
        /// Of `alphabeta`: plies that every search goes deep at most; () for no limit but `nodes`.
        depth: Option<u32> = None, in 1..=199;
        /// Of `alphabeta`: size of the transposition table of each lane in MiB, which is cleared before every game; 0 for none. The
        /// default holds the searches of several moves.
        hash_mb: u32 = 2, in 0..=1024;
        /// Folder of Syzygy tablebases, or several separated by `:`; () for none.
        tablebases: Option<String> = None;
        /// Of `alphabeta`: what the search leaves out or looks at twice.
        selectivity: SelectivityParams = SelectivityParams::default();
    }
}

impl AlphaBetaSearch {
    /// The same as the parameters of a searcher.
    pub(super) fn params(&self) -> AlphaBetaParams {
        let Self { nodes, depth, hash_mb, selectivity, .. } = self.clone();
        AlphaBetaParams { nodes: Some(nodes), depth, hash_mb, threads: 1, tablebases: None, selectivity }
    }
}

/// The search of every move, a group whose `kind` decides which members it has. Without `kind` it is that of a tree search.
#[derive(Debug, Clone, PartialEq)]
pub enum SelfPlaySearch {
    /// The tree search.
    Tree(Box<SearchParams>),
    /// Alpha-beta.
    AlphaBeta(AlphaBetaSearch),
}

impl Default for SelfPlaySearch {
    fn default() -> Self {
        SearchParams::default().into()
    }
}

impl From<SearchParams> for SelfPlaySearch {
    fn from(search: SearchParams) -> Self {
        Self::Tree(Box::new(search))
    }
}

impl From<AlphaBetaSearch> for SelfPlaySearch {
    fn from(search: AlphaBetaSearch) -> Self {
        Self::AlphaBeta(search)
    }
}

impl SelfPlaySearch {
    /// Which search it is.
    pub fn searcher(&self) -> SearcherKind {
        match self {
            Self::Tree(_) => SearcherKind::Tree,
            Self::AlphaBeta(_) => SearcherKind::AlphaBeta,
        }
    }

    /// The folders of tablebases that searches probe, if any.
    pub fn tablebases(&self) -> Option<&str> {
        match self {
            Self::Tree(search) => search.tablebases.as_deref(),
            Self::AlphaBeta(search) => search.tablebases.as_deref(),
        }
    }

    /// Opens the tablebases that searches probe, if any.
    pub fn open_tablebases(&self) -> Result<Option<Tablebase>, TablebaseError> {
        Tablebase::open_if(self.tablebases())
    }
}

/// The member that decides between the searches.
const KIND: &str = "kind";

impl Param for SelfPlaySearch {
    fn kind() -> ParamKind {
        ParamKind::Group
    }

    /// After a problem it is still a search of the kind that was asked for, so that what else is given can be judged.
    fn read(value: &Value, path: &str, _: Option<Bounds>, problems: &mut Problems) -> Option<Self> {
        let mut members = match value {
            Value::Group(members) => members.clone(),
            other => return SearchParams::read(other, path, None, problems).map(Self::from),
        };
        let kind = match members.remove(KIND) {
            Some(kind) => SearcherKind::read(&kind, &format!("{path}.{KIND}"), None, problems)?,
            None => SearcherKind::Tree,
        };
        let (own, others, other) = match kind {
            SearcherKind::Tree => (SearchParams::names(), AlphaBetaSearch::names(), SearcherKind::AlphaBeta),
            SearcherKind::AlphaBeta => (AlphaBetaSearch::names(), SearchParams::names(), SearcherKind::Tree),
        };
        members.retain(|name, _| {
            let name = name.as_str();
            let is_misplaced = others.contains(&name) && !own.contains(&name);
            if is_misplaced {
                let message = without_use(other, kind);
                problems.add_judged(&format!("{path}.{name}"), message);
            }
            !is_misplaced
        });
        let members = Value::Group(members);
        Some(match kind {
            SearcherKind::Tree => {
                SearchParams::read(&members, path, None, problems).unwrap_or_default().into()
            }
            SearcherKind::AlphaBeta => {
                AlphaBetaSearch::read(&members, path, None, problems).unwrap_or_default().into()
            }
        })
    }

    /// That of a tree search does not name its kind, which is the default.
    fn to_value(&self) -> Value {
        match self {
            Self::Tree(search) => search.to_value(),
            Self::AlphaBeta(search) => {
                let mut value = search.to_value();
                if let Value::Group(members) = &mut value {
                    members.insert(KIND.to_owned(), SearcherKind::AlphaBeta.to_value());
                }
                value
            }
        }
    }

    fn rows_at(path: &str, default: &Self, _: Option<Bounds>, doc: &str) -> Vec<Row> {
        let kind = Row {
            path: format!("{path}.{KIND}"),
            kind: SearcherKind::kind(),
            default: default.searcher().to_value().to_string(),
            range: None,
            doc: "Which search; `alphabeta` has `nodes`, `depth`, `hash_mb`, `tablebases` and `selectivity`, and no other members."
                .to_owned(),
        };
        let mut rows = group_row(path, doc);
        rows.push(kind);
        rows.extend(SearchParams::member_rows(path));
        let known = |row: &Row, rows: &[Row]| rows.iter().any(|other| other.path == row.path);
        // Members of both are described once.
        let own = AlphaBetaSearch::member_rows(path).into_iter();
        let own: Vec<Row> = own.filter(|row| !known(row, &rows)).collect();
        rows.extend(own);
        rows
    }
}

/// Why a member or a parameter of one search has no use in another.
pub(super) fn without_use(of: SearcherKind, given: SearcherKind) -> String {
    let (of, given) = (of.name(), given.name());
    format!("belongs to the search \"{of}\", and search.kind is \"{given}\"; leave one of them out")
}
