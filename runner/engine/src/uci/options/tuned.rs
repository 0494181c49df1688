//! Declared parameters as options, by their dotted names.

use dc0_core::params::{ParamErrors, ParamKind, Params, Row, Value, read};
use dc0_core::search::SearchParams;

use super::declared::{Declared, Kind};
use crate::uci::time::TimeParams;

/// Leaf batch of one thread: enough to keep one core busy, few enough to stop within milliseconds. Chosen.
pub(super) const BATCH_SIZE: u32 = 16;

/// Search parameters that have an option of their own, and those with which several threads cannot share a tree.
const LEFT_OUT: [&str; 5] = ["simulations", "c_puct", "leaf_batch", "tablebases", "engine"];

/// The engine's default search: that of scripts, with tree reuse and with mates in one seen at once.
pub(super) fn search() -> SearchParams {
    SearchParams { leaf_batch: BATCH_SIZE, reuse_tree: true, mate_in_one: true, ..SearchParams::default() }
}

/// The options, in the order of the reference.
pub(super) fn declared() -> Vec<Declared> {
    let (search, time) = (search(), TimeParams::default());
    options("search", &search, &LEFT_OUT).chain(options("time", &time, &[])).collect()
}

fn options<P: Params>(group: &str, defaults: &P, left_out: &[&str]) -> impl Iterator<Item = Declared> {
    let defaults = defaults.to_value();
    let is_shown = |row: &Row| !left_out.contains(&row.path.as_str()) && row.kind != ParamKind::Group;
    P::rows().into_iter().filter(is_shown).map(move |row| {
        let default =
            at(&defaults, &row.path).map_or_else(|| row.default.trim_matches('"').to_owned(), plain);
        Declared { name: format!("{group}.{}", row.path), kind: kind(&row, default) }
    })
}

fn kind(row: &Row, default: String) -> Kind {
    match &row.kind {
        ParamKind::Bool => Kind::Check(default == "true"),
        ParamKind::Choice(names) => {
            Kind::Combo { default, names: names.iter().map(|name| (*name).to_owned()).collect() }
        }
        ParamKind::WholeNumber => spin(row, &default).unwrap_or(Kind::Text(default)),
        _ => Kind::Text(default),
    }
}

fn spin(row: &Row, default: &str) -> Option<Kind> {
    let (least, most) = row.range?.whole_numbers()?;
    Some(Kind::Spin { default: default.parse().ok()?, least, most })
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
    all.put(path, Value::from_argument(value));
    read(group, &all)
}
