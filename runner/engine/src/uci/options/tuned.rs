//! Declared parameters as options, by their dotted names.

use dc0_core::params::{Param, ParamErrors, Params, Row, Value, read};
use dc0_core::search::SearchParams;

use super::{BATCH_SIZE, Declared, Kind};
use crate::uci::time::TimeParams;

/// Parameters of the search that have an option of their own, and those that cannot search one tree with several threads.
const LEFT_OUT: [&str; 5] = ["simulations", "c_puct", "leaves", "tablebases", "engine"];

/// The search of the engine before anything is set: that of scripts, with a tree kept from move to move and mates seen at once.
pub(super) fn search() -> SearchParams {
    SearchParams { leaves: BATCH_SIZE, reuse_tree: true, mate_in_one: true, ..SearchParams::default() }
}

/// The options, in the order of the reference.
pub(super) fn declared() -> Vec<Declared> {
    let (search, time) = (search(), TimeParams::default());
    options("search", &search, &LEFT_OUT).chain(options("time", &time, &[])).collect()
}

fn options<P: Params>(group: &str, defaults: &P, left_out: &[&str]) -> impl Iterator<Item = Declared> {
    let defaults = defaults.to_value();
    let is_shown = |row: &Row| !left_out.contains(&row.path.as_str()) && row.kind != P::kind();
    P::rows().into_iter().filter(is_shown).map(move |row| {
        let default =
            at(&defaults, &row.path).map_or_else(|| row.default.trim_matches('"').to_owned(), plain);
        Declared { name: format!("{group}.{}", row.path), kind: kind(&row, default) }
    })
}

fn kind(row: &Row, default: String) -> Kind {
    let range = || {
        let (least, most) = row.range.split_once("..=")?;
        Some((least.parse().ok()?, most.parse().ok()?))
    };
    if row.kind == bool::kind() {
        Kind::Check(default == "true")
    } else if let (true, Some((least, most)), Ok(number)) =
        (row.kind == u32::kind(), range(), default.parse())
    {
        Kind::Spin { default: number, least, most }
    } else if let Some(words) = row.kind.strip_prefix("one of ").filter(|words| !words.contains("()")) {
        Kind::Combo { default, words: words.split(", ").map(ToOwned::to_owned).collect() }
    } else {
        Kind::Text(default)
    }
}

fn at<'a>(value: &'a Value, path: &str) -> Option<&'a Value> {
    path.split('.').try_fold(value, |value, name| match value {
        Value::Group(members) => members.get(name),
        _ => None,
    })
}

/// A value without quotes.
fn plain(value: &Value) -> String {
    match value {
        Value::Text(text) => text.clone(),
        other => other.to_string().trim_matches('"').to_owned(),
    }
}

/// The parameters of a group with one of them set.
pub(super) fn with<P: Params>(group: &str, params: &P, path: &str, value: &str) -> Result<P, ParamErrors> {
    let mut all = params.to_value();
    all.put(path, Value::of_word(value));
    read(group, &all)
}
