//! The pages of the reference that are generated from the code: parameters from their declarations, planes from their tables.

mod encodings;
pub mod script;

use std::fmt::Write as _;

use dc0_core::alphabeta::AlphaBetaParams;
use dc0_core::arena::{LeagueParams, PlayerParams};
use dc0_core::network::graph::Graph;
use dc0_core::network::torch::InspectParams;
use dc0_core::network::{Preset, parameter_count, presets};
use dc0_core::params::{Params, Row};
use dc0_core::selfplay::SelfPlayParams;

use clap::ValueEnum;
use dc0_engine::analysis::QueryParams;
use dc0_engine::explain::ExplainParams;
use dc0_engine::score::ScoreParams;
use dc0_engine::uci::time::TimeParams;
use dc0_opponents::{UciParams, XboardParams};
use dc0_runs::sweep::params::SweepParams;
use dc0_steps::host::{ForkParams, OpenParams};
use dc0_steps::kinds::KINDS;
use dc0_steps::window::WindowParams;

use crate::host::RateParams;

/// Has the parameters of `self_play`, which the page does not list twice.
const START: &str = "start_self_play";

const HEAD: &str = "# Parameters

Every parameter of every call, as `dc0-run docs` prints them from the declarations in the code.
Parameters left out of a call's map have their defaults; a dotted name is a member of a group, such as `search: #{ root: #{ rule: \"gumbel\" } }`.
Where the default is `()`, the members listed below it are those of the group if it is given, with their own defaults.
";

/// The pages that are generated from the code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Page {
    /// Every parameter of every call of a script.
    Parameters,
    /// Every plane of every input encoding.
    Encodings,
    /// Every function that scripts can call.
    Script,
    /// The functions of scripts as a Rhai definition file, for editors.
    Definitions,
}

/// A page as Markdown.
pub fn markdown(page: Page) -> String {
    match page {
        Page::Parameters => parameters(),
        Page::Encodings => encodings::page(),
        Page::Script => script::page(),
        Page::Definitions => script::definitions(),
    }
}

/// The parameters of one call of a script.
#[derive(Debug)]
pub struct CallParameters {
    /// The function.
    pub call: &'static str,
    /// What the call's parameters are about.
    pub about: &'static str,
    /// Each parameter, groups expanded.
    pub rows: Vec<Row>,
}

fn call_parameters<P: Params>(call: &'static str) -> CallParameters {
    CallParameters { call, about: P::about(), rows: P::rows() }
}

/// The parameters of every call that has some.
pub fn all_calls() -> Vec<CallParameters> {
    let mut calls = vec![call_parameters::<OpenParams>("open_run"), call_parameters::<ForkParams>("fork")];
    for kind in KINDS {
        calls.extend(kind.usages().iter().map(|usage| match usage.name {
            "inspect" => call_parameters::<InspectParams>(usage.name),
            "window" => call_parameters::<WindowParams>(usage.name),
            call => {
                let (about, rows) = kind.parameters();
                CallParameters { call, about, rows }
            }
        }));
    }
    calls.extend([
        call_parameters::<SelfPlayParams>(START),
        call_parameters::<PlayerParams>("player"),
        call_parameters::<AlphaBetaParams>("alphabeta"),
        call_parameters::<UciParams>("uci"),
        call_parameters::<XboardParams>("xboard"),
        call_parameters::<RateParams>("rate"),
        call_parameters::<LeagueParams>("league"),
        call_parameters::<ExplainParams>("explain"),
        call_parameters::<SweepParams>("sweep"),
    ]);
    calls.retain(|parameters| !parameters.rows.is_empty());
    calls
}

/// One table for each call of a script.
fn parameters() -> String {
    let mut page = HEAD.to_owned();
    // Those of games that are played beside other steps are those of `self_play`.
    for mut parameters in all_calls().into_iter().filter(|parameters| parameters.call != START) {
        if parameters.call == "rate" {
            // Those of a match are listed there.
            parameters.rows.retain(|row| !row.path.starts_with("arena."));
        }
        section(&mut page, &parameters);
        if parameters.call == "network" {
            named_nets(&mut page);
        }
    }
    section(&mut page, &call_parameters::<QueryParams>("analysis"));
    section(&mut page, &call_parameters::<TimeParams>("time"));
    section(&mut page, &call_parameters::<ScoreParams>("score"));
    page.truncate(page.trim_end().len());
    page
}

fn section(page: &mut String, parameters: &CallParameters) {
    let CallParameters { call, about, rows } = parameters;
    let table: String = rows.iter().map(line).collect();
    let head = "| name | kind | default | range | meaning |\n|---|---|---|---|---|";
    write!(page, "\n## `{call}`\n\n{about}\n\n{head}\n{table}").expect("text takes everything");
}

/// The nets that `network_preset` knows.
fn named_nets(page: &mut String) {
    let line = |preset: Preset| {
        let Preset { name, about, spec } = preset;
        let (parameters, encoding) = (parameter_count(&spec), spec.encoding.name());
        let giga = 2.0 * Graph::new(&spec).multiply_adds() as f64 / 1e9;
        format!("| `{name}` | {encoding} | {parameters} | {giga:.3} | {about} |\n")
    };
    let table: String = presets().into_iter().map(line).collect();
    let head = "| name | encoding | parameters | GFLOP an evaluation | description |\n|---|---|---|---|---|";
    let about =
        "The spec of a named net, as a map that a script may change before it gives it to `run.network`.";
    write!(page, "\n## `network_preset`\n\n{about}\n\n{head}\n{table}").expect("text takes everything");
}

fn line(row: &Row) -> String {
    let code = |text: &str| if text.is_empty() { String::new() } else { format!("`{text}`") };
    let range = row.range.map(|range| range.to_string()).unwrap_or_default();
    let cells = [code(&row.path), row.kind.to_string(), code(&row.default), code(&range), row.doc.clone()];
    format!("| {} |\n", cells.map(|cell| cell.replace('|', "\\|")).join(" | "))
}
