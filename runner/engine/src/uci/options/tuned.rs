//! Declared parameters as options, by their dotted names.
//!
//! A group that may be absent, such as `search.kld_gain`, is an option of its own that switches the group on and off. Chess programs
//! send the members of a group that is off, too; they keep such a value until the group is on.

use std::collections::BTreeMap;

use dc0_backend::is_by_rows;
use dc0_core::alphabeta::SelectivityParams;
use dc0_core::network::NetworkSpec;
use dc0_core::network::torch::Device;
use dc0_core::params::{Param as _, ParamErrors, ParamKind, Params, Row, Value, read};
use dc0_core::search::{FpuParams, SearchParams};

use super::declared::{Declared, Kind};
use crate::score::ScoreParams;
use crate::uci::time::TimeParams;

/// Leaf batch of nets that are evaluated row by row: more make the search less exact and hardly faster (docs/methods/budgets.md, "Leaf
/// batches").
const BATCH_BY_ROWS: u32 = 8;

/// Leaf batch of other nets on the CPU: enough to keep a core busy, few enough to stop within milliseconds; on a clock no fewer are
/// better (docs/methods/budgets.md, "Leaf batches").
const BATCH_ON_CPU: u32 = 16;

/// The same on other devices, which take as long for some positions as for hundreds: on a GPU this is ten times as many positions a
/// second as with 16, and worth it (docs/methods/budgets.md, "Leaf batches").
const BATCH_ON_DEVICE: u32 = 256;

/// The leaf batch where nobody asks for one, for a net whose evaluators are made for a device.
pub(super) fn batch_size(net: &NetworkSpec, device: Device) -> u32 {
    match device {
        _ if is_by_rows(net) => BATCH_BY_ROWS,
        Device::Cpu => BATCH_ON_CPU,
        _ => BATCH_ON_DEVICE,
    }
}

/// Search parameters that have an option of their own, and those with which several threads cannot share a tree.
const LEFT_OUT: [&str; 5] = ["simulations", "c_puct", "leaf_batch", "tablebases", "engine"];

/// The engine's default search, but for its leaf batch: that of scripts, with tree reuse, with mates in one seen at once, and with
/// what was measured for the shipped net (`docs/methods/az_nnue.md`, "In a tree search").
pub(super) fn search() -> SearchParams {
    SearchParams {
        reuse_tree: true,
        mate_in_one: true,
        policy_temperature: 1.5,
        fpu: FpuParams { value: -0.1, ..FpuParams::default() },
        ..SearchParams::default()
    }
}

/// The options, in the order of the reference.
pub(super) fn declared() -> Vec<Declared> {
    let (search, time, score) = (search(), TimeParams::default(), ScoreParams::default());
    let selectivity = SelectivityParams::default();
    let timed = options("time", &time, &[]);
    let selective = options("alphabeta", &selectivity, &[]);
    options("search", &search, &LEFT_OUT)
        .chain(timed)
        .chain(options("score", &score, &[]))
        .chain(selective)
        .collect()
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
        _ if is_switch(row) => Kind::Check(default != "()"),
        ParamKind::Optional(inner) if **inner == ParamKind::Bool => {
            Kind::Combo { default, names: ["()", "true", "false"].map(str::to_owned).to_vec() }
        }
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

/// Members of groups that are off, by their dotted names: what they will be once their group is on.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Kept(BTreeMap<String, Value>);

/// Sets one of the parameters of `group`, or switches a group of them. On an error nothing changes.
pub(super) fn set<P: Params>(
    group: &str,
    params: &mut P,
    kept: &mut Kept,
    path: &str,
    value: &str,
) -> Result<(), ParamErrors> {
    let rows = P::rows();
    if rows.iter().any(|row| row.path == path && is_switch(row)) {
        return switch(group, params, kept, path, value == "true");
    }
    let mut all = params.to_value();
    let value = Value::from_argument(value);
    if switch_of(&rows, path).is_some_and(|switch| at(&all, &switch.path) == Some(&Value::None)) {
        // Checked with the defaults of all other parameters, since those set now may exclude the group.
        let mut alone = P::default().to_value();
        alone.put(path, value);
        let checked: P = read(group, &alone)?;
        if let Some(value) = at(&checked.to_value(), path) {
            kept.0.insert(name(group, path), value.clone());
        }
    } else {
        all.put(path, value);
        *params = read(group, &all)?;
    }
    Ok(())
}

/// Switches the group at `path` on, with the members that were kept for it, or off, and keeps its members.
fn switch<P: Params>(
    group: &str,
    params: &mut P,
    kept: &mut Kept,
    path: &str,
    is_on: bool,
) -> Result<(), ParamErrors> {
    let mut all = params.to_value();
    if (at(&all, path) != Some(&Value::None)) == is_on {
        return Ok(());
    }
    let prefix = format!("{path}.");
    let members = P::rows().into_iter().map(|row| row.path).filter(|path| path.starts_with(&prefix));
    let mut still_kept = kept.clone();
    if is_on {
        all.put(path, Value::group());
        for member in members {
            if let Some(value) = still_kept.0.remove(&name(group, &member)) {
                all.put(&member, value);
            }
        }
    } else {
        let value = |member: String| Some((name(group, &member), at(&all, &member)?.clone()));
        still_kept.0.extend(members.filter_map(value));
        all.put(path, Value::None);
    }
    (*params, *kept) = (read(group, &all)?, still_kept);
    Ok(())
}

/// The option's name of a parameter.
fn name(group: &str, path: &str) -> String {
    format!("{group}.{path}")
}

/// Whether a row is that of a group that may be absent.
fn is_switch(row: &Row) -> bool {
    matches!(row.kind, ParamKind::Optional(_)) && row.kind.is_group()
}

/// The row of the group that may be absent and has this member.
fn switch_of<'a>(rows: &'a [Row], path: &str) -> Option<&'a Row> {
    rows.iter().find(|row| {
        is_switch(row) && path.strip_prefix(&row.path).is_some_and(|member| member.starts_with('.'))
    })
}

impl Kept {
    /// The members of search parameters that have another value than their default while their group is off, each with its switch.
    pub(super) fn without_effect(&self, search: &SearchParams) -> Vec<(String, String)> {
        let (rows, all) = (SearchParams::rows(), search.to_value());
        let waits = |row: &Row| {
            let option = name("search", &row.path);
            let kept = self.0.get(&option)?;
            let switch = switch_of(&rows, &row.path)?;
            let is_off = at(&all, &switch.path) == Some(&Value::None);
            (is_off && kept.to_string() != row.default).then(|| (option, name("search", &switch.path)))
        };
        rows.iter().filter_map(waits).collect()
    }
}
