//! A script's own results as tables: `run.table`, `run.sql`, and the methods of the frames that they return.
//!
//! A frame holds the results of the script's calls so far, and nothing else from the run's folder. So a script that is run again
//! sees the same rows at the same point and makes the same decisions.

#![allow(clippy::needless_pass_by_value, reason = "the engine hands every argument over by value")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use dc0_analysis::{AnalysisError, Database, Files, Frame, Grouped, Limits, RunSource, Session, Work};
use dc0_core::params::Value;
use dc0_core::poison::IgnorePoison as _;
use dc0_core::store::Provenance;
use rhai::{Array, Dynamic, Engine, Map, NativeCallContext};

use super::session::RunHandle;
use crate::call::{Answer, Call};
use crate::dynamic::to_dynamic;
use crate::messages::with_article;
use crate::order;
use dc0_steps::AssumedTables;
use dc0_tables::{QueryError, digests, step};

type Context<'a> = NativeCallContext<'a>;

/// A frame as a script holds it.
#[derive(Debug, Clone)]
struct Table {
    frame: Frame,
    planned: Option<Planned>,
}

/// A frame in a dry run whose earlier steps are not all finished, so that rows are missing.
#[derive(Debug, Clone)]
struct Planned {
    assumed: AssumedTables,
    /// Whether some are finished, so that the rows of these are known.
    has_finished_steps: bool,
}

/// A frame in groups as a script holds it.
#[derive(Debug, Clone)]
struct Groups {
    grouped: Grouped,
    planned: Option<Planned>,
}

/// Limits of a printed frame.
const SHOWN: Limits = Limits { rows: 100, width: 60 };

/// The databases of a script, by the folders of runs that they read. Frames of runs in one folder can be joined.
#[derive(Debug, Default)]
struct Sessions(Mutex<BTreeMap<PathBuf, Arc<Session>>>);

impl Sessions {
    /// The database for a run's folder.
    fn of(&self, run: &Path) -> Arc<Session> {
        let folder = run.parent().unwrap_or(run).to_owned();
        let mut known = self.0.lock().ignore_poison();
        let new = || Arc::new(Session::new(Work::Exact, std::slice::from_ref(&folder)));
        Arc::clone(known.entry(folder.clone()).or_insert_with(new))
    }
}

pub(super) fn register(engine: &mut Engine) {
    engine.register_type_with_name::<Table>("Frame").register_type_with_name::<Groups>("Groups");
    order::refuse::<Table>(engine, "");
    order::refuse::<Groups>(engine, "");
    let sessions = Arc::new(Sessions::default());
    let own = Arc::clone(&sessions);
    engine.register_fn("table", move |context: Context<'_>, run: RunHandle, name: &str| {
        let call = Call::new("table", &context);
        query_run(&call, &run, &own, |database| database.table(name))
    });
    engine.register_fn("sql", move |context: Context<'_>, run: RunHandle, statement: &str| {
        let call = Call::new("sql", &context);
        query_run(&call, &run, &sessions, |database| database.query(statement))
    });
    engine.register_fn("filter", |context: Context<'_>, table: Table, condition: &str| {
        table.query(&Call::new("filter", &context), |frame| frame.filter(condition))
    });
    engine.register_fn("sort", |context: Context<'_>, table: Table, by: &str| {
        table.query(&Call::new("sort", &context), |frame| frame.sort(by))
    });
    engine.register_fn("select", |context: Context<'_>, table: Table, items: Array| {
        let call = Call::new("select", &context);
        let items = texts(&call, &items)?;
        table.query(&call, |frame| frame.select(&items))
    });
    engine.register_fn("head", head);
    engine.register_fn("join", |context: Context<'_>, table: Table, other: Table, on: Array| {
        let call = Call::new("join", &context);
        let on = texts(&call, &on)?;
        let joined = table.query(&call, |frame| frame.join(&other.frame, &on))?;
        let planned = match (joined.planned, other.planned) {
            (Some(own), Some(other)) => Some(Planned { assumed: own.assumed.joined(&other.assumed), ..own }),
            (own, other) => own.or(other),
        };
        Ok::<_, Box<rhai::EvalAltResult>>(Table { frame: joined.frame, planned })
    });
    engine.register_fn("group_by", |context: Context<'_>, table: Table, by: Array| {
        let call = Call::new("group_by", &context);
        let by = texts(&call, &by)?;
        let grouped = query_result(&call, table.frame.group_by(&by))?;
        Ok::<_, Box<rhai::EvalAltResult>>(Groups { grouped, planned: table.planned })
    });
    engine.register_fn("agg", agg);
    register_readers(engine);
}

fn register_readers(engine: &mut Engine) {
    engine.register_fn("rows", rows);
    engine.register_fn("column", column);
    engine.register_fn("columns", |table: &mut Table| {
        table.frame.columns().iter().map(|name| name.as_str().into()).collect::<Array>()
    });
    engine.register_fn("len", |context: Context<'_>, table: Table| {
        let call = Call::new("len", &context);
        let rows = query_result(&call, table.frame.count())? as i64;
        let Some(planned) = &table.planned else { return Ok::<_, Box<rhai::EvalAltResult>>(rows) };
        planned.assumed.note_reading(call.reading("len"));
        Ok(rows.max(1))
    });
    engine.register_fn(rhai::FUNC_TO_STRING, |context: Context<'_>, table: Table| shown(&context, &table));
    engine.register_fn(rhai::FUNC_TO_DEBUG, |context: Context<'_>, table: Table| shown(&context, &table));
}

/// The result of a query; a failed one is an error of the call.
fn query_result<T>(call: &Call<'_>, answer: Result<T, AnalysisError>) -> Answer<T> {
    call.run(answer.map_err(QueryError::from))
}

/// Queries the tables of a run, as far as the script has got.
fn query_run(
    call: &Call<'_>,
    run: &RunHandle,
    sessions: &Sessions,
    query: impl FnOnce(&Database) -> Result<Frame, AnalysisError>,
) -> Answer<Table> {
    let info = &run.0.info;
    let steps = call.run(run.0.host.steps())?;
    let done = || (0..).zip(&steps).filter_map(|(order, manifest)| Some((order, manifest.as_ref()?)));
    let files = done().flat_map(|(_, manifest)| manifest.files.iter().map(|entry| entry.path.clone()));
    let source = RunSource {
        name: info.name.clone(),
        folder: info.folder.clone().into(),
        trial: None,
        files: Files::Only(files.collect()),
        digests: digests(done().map(|(_, manifest)| manifest)),
        costs: Provenance::new(),
        // Times are left out: they differ when the script is run again.
        steps: done().map(|(order, manifest)| step(order, manifest, None)).collect(),
        promotions: run.0.progress().promotions.clone(),
        about: None,
    };
    let database = Database::within(&sessions.of(&source.folder), vec![source]);
    let is_assumed = steps.iter().any(Option::is_none);
    let assumed = if is_assumed { call.run(run.0.host.assumed_tables())? } else { None };
    let has_finished_steps = steps.iter().any(Option::is_some);
    let planned = assumed.map(|assumed| Planned { assumed, has_finished_steps });
    Ok(Table { frame: query_result(call, query(&database))?, planned })
}

impl Table {
    fn query(
        &self,
        call: &Call<'_>,
        query: impl FnOnce(&Frame) -> Result<Frame, AnalysisError>,
    ) -> Answer<Self> {
        Ok(Self { frame: query_result(call, query(&self.frame))?, planned: self.planned.clone() })
    }

    /// All rows as the script sees them; `what` is what it reads. In a dry run an empty frame has one mock row, so that a script that
    /// reads the first row can be planned, and empty cells have mock values to calculate with.
    fn read(&self, call: &Call<'_>, what: &str) -> Answer<Vec<Vec<Value>>> {
        let rows = query_result(call, self.frame.rows())?;
        let stored = (0..rows.len()).map(|row| rows.row(row));
        let Some(planned) = &self.planned else { return Ok(stored.collect()) };
        planned.assumed.note_reading(call.reading(what));
        let kinds: Vec<String> = rows.columns().into_iter().map(|(_, kind)| kind).collect();
        let mock_row = rows.is_empty().then(|| vec![Value::None; kinds.len()]);
        let filled = |(cell, kind): (Value, &String)| planned.cell(cell, kind);
        Ok(stored.chain(mock_row).map(|row| row.into_iter().zip(&kinds).map(filled).collect()).collect())
    }
}

impl Planned {
    /// A cell as the script sees it. Without a finished step even a count of rows is not known.
    fn cell(&self, cell: Value, kind: &str) -> Value {
        let is_number = matches!(cell, Value::Int(_) | Value::Float(_));
        if cell != Value::None && (self.has_finished_steps || !is_number) {
            return cell;
        }
        match kind {
            "text" => Value::Text(String::new()),
            "bool" => Value::Bool(self.assumed.flag()),
            "f32" | "f64" => Value::Float(self.assumed.number() as f64),
            list if list.starts_with("list") => Value::List(Vec::new()),
            _ => Value::Int(self.assumed.number()),
        }
    }
}

fn head(context: Context<'_>, table: Table, rows: i64) -> Answer<Table> {
    let call = Call::new("head", &context);
    let rows =
        u64::try_from(rows).map_err(|_| call.misuse(format!("expected a number of rows, got {rows}")))?;
    table.query(&call, |frame| frame.head(rows))
}

fn agg(context: Context<'_>, groups: Groups, aggregates: Map) -> Answer<Table> {
    let call = Call::new("agg", &context);
    let mut named = Vec::new();
    for (name, text) in &aggregates {
        let kind = || with_article(context.engine().map_type_name(text.type_name()));
        let wrong = || call.misuse(format!("{name}: expected text, such as \"avg(plies)\", got {}", kind()));
        let text = text.clone().into_immutable_string().map_err(|_| wrong())?;
        named.push((name.to_string(), text.to_string()));
    }
    if named.is_empty() {
        return Err(call.misuse("expected at least one aggregate, as in #{ n: \"count(*)\" }"));
    }
    let frame = query_result(&call, groups.grouped.agg(&named))?;
    Ok(Table { frame, planned: groups.planned })
}

fn rows(context: Context<'_>, table: Table) -> Answer<Array> {
    let names = table.frame.columns();
    let row = |cells: Vec<Value>| -> Dynamic {
        let cells = names.iter().zip(&cells).map(|(name, cell)| (name.as_str().into(), to_dynamic(cell)));
        cells.collect::<Map>().into()
    };
    Ok(table.read(&Call::new("rows", &context), "rows")?.into_iter().map(row).collect())
}

fn column(context: Context<'_>, table: Table, name: &str) -> Answer<Array> {
    let call = Call::new("column", &context);
    let cells = table.query(&call, |frame| frame.only(name))?.read(&call, name)?;
    Ok(cells.iter().flatten().map(to_dynamic).collect())
}

fn shown(context: &Context<'_>, table: &Table) -> Answer<String> {
    query_result(&Call::new("print", context), table.frame.preview(SHOWN))
}

/// A script's list of texts.
fn texts(call: &Call<'_>, list: &Array) -> Answer<Vec<String>> {
    let text = |item: &Dynamic| {
        let kind = || with_article(call.context().engine().map_type_name(item.type_name()));
        let wrong = |_| call.misuse(format!("expected a list of texts; one of them is {}", kind()));
        item.clone().into_immutable_string().map(|text| text.to_string()).map_err(wrong)
    };
    list.iter().map(text).collect()
}
