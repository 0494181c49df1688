//! The pages of the reference that are written from the code: parameters from their declarations, planes from their tables.

mod encodings;
pub mod script;

use std::fmt::Write as _;

use dc0_core::network::graph::Graph;
use dc0_core::network::torch::InspectParams;
use dc0_core::network::{Preset, parameter_count, presets};
use dc0_core::params::{Params, Row};

use clap::ValueEnum;
use dc0_engine::explain::ExplainParams;
use dc0_engine::uci::time::TimeParams;
use dc0_runs::sweep::params::SweepParams;
use dc0_steps::host::{ForkParams, OpenParams, WindowParams};
use dc0_steps::kinds::KINDS;

const HEAD: &str = "# Parameters

Every parameter of every call, as `dc0-run docs` prints them from the declarations in the code.
What a call's map leaves out has its default; a dotted name is a member of a group, such as `search: #{ root: #{ rule: \"gumbel\" } }`.
Where the default is `()`, the members below it are those of a group that is given, with what they have when left out.
";

/// The pages that are written from the code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Page {
    /// Every parameter of every call of a script.
    Parameters,
    /// Every plane of every input encoding.
    Encodings,
    /// Every function of scripts.
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
    /// What they are about.
    pub about: &'static str,
    /// Each parameter, groups expanded.
    pub rows: Vec<Row>,
}

fn of_call<P: Params>(call: &'static str) -> CallParameters {
    CallParameters { call, about: P::about(), rows: P::rows() }
}

/// The parameters of every call of a script that has some.
pub fn of_calls() -> Vec<CallParameters> {
    let mut calls = vec![of_call::<OpenParams>("open_run"), of_call::<ForkParams>("fork")];
    for kind in KINDS {
        calls.extend(kind.usages().iter().map(|usage| match usage.name {
            "inspect" => of_call::<InspectParams>(usage.name),
            "window" => of_call::<WindowParams>(usage.name),
            call => {
                let (about, rows) = kind.parameters();
                CallParameters { call, about, rows }
            }
        }));
    }
    calls.extend([of_call::<ExplainParams>("explain"), of_call::<SweepParams>("sweep")]);
    calls
}

/// One table for each call of a script.
fn parameters() -> String {
    let mut page = HEAD.to_owned();
    for of_call in of_calls() {
        section(&mut page, &of_call);
        if of_call.call == "network" {
            named_nets(&mut page);
        }
    }
    section(&mut page, &of_call::<TimeParams>("time"));
    page.truncate(page.trim_end().len());
    page
}

fn section(page: &mut String, of_call: &CallParameters) {
    let CallParameters { call, about, rows } = of_call;
    let table: String = rows.iter().map(line).collect();
    let head = "| name | kind | default | range | meaning |\n|---|---|---|---|---|";
    write!(page, "\n## `{call}`\n\n{about}\n\n{head}\n{table}").expect("text takes everything");
}

/// The nets that `network_preset` knows.
fn named_nets(page: &mut String) {
    let line = |preset: Preset| {
        let Preset { name, about, spec } = preset;
        let (parameters, encoding) = (parameter_count(&spec), spec.encoding.word());
        let giga = 2.0 * Graph::new(&spec).multiply_adds() as f64 / 1e9;
        format!("| `{name}` | {encoding} | {parameters} | {giga:.3} | {about} |\n")
    };
    let table: String = presets().into_iter().map(line).collect();
    let head = "| name | encoding | parameters | GFLOP an evaluation | what |\n|---|---|---|---|---|";
    let about = "A net by its name, as a map for `run.network` that a script may change before.";
    write!(page, "\n## `network_preset`\n\n{about}\n\n{head}\n{table}").expect("text takes everything");
}

fn line(row: &Row) -> String {
    let code = |text: &str| if text.is_empty() { String::new() } else { format!("`{text}`") };
    let range = row.range.map(|range| range.to_string()).unwrap_or_default();
    let cells = [code(&row.path), row.kind.to_string(), code(&row.default), code(&range), row.doc.clone()];
    format!("| {} |\n", cells.map(|cell| cell.replace('|', "\\|")).join(" | "))
}
