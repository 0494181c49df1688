//! Output and assertions of scripts: `assert`, `table`, `log` and `run.note`.

#![allow(clippy::needless_pass_by_value, reason = "the engine hands every argument over by value")]

use std::sync::Arc;

use rhai::{Array, Dynamic, Engine, Map, NativeCallContext};

use super::session::{RunHandle, Session};
use crate::call::{Answer, Call};
use crate::failure::Failure;
use crate::messages::with_article;
use dc0_core::text_table::{Align, aligned};
use dc0_process::exit::Exit;

type Context<'a> = NativeCallContext<'a>;

pub(super) fn register(engine: &mut Engine, session: &Arc<Session>) {
    let shared = Arc::clone(session);
    engine.register_fn("assert", move |context: Context<'_>, holds: bool, message: &str| {
        assert(&context, &shared, holds, message)
    });
    engine.register_fn("table", |context: Context<'_>, rows: Array| table(&context, &rows, None));
    engine.register_fn("table", |context: Context<'_>, rows: Array, columns: Array| {
        table(&context, &rows, Some(&columns))
    });
    engine.register_fn("log", |text: &str| log::info!(target: "script", "{text}"));
    engine.register_fn("note", |context: Context<'_>, run: RunHandle, text: &str| {
        Call::new("note", &context).run(run.0.host.note(text))
    });
}

/// Ends the script as failed if a condition is false.
fn assert(context: &Context<'_>, session: &Session, holds: bool, message: &str) -> Answer<()> {
    if holds {
        return Ok(());
    }
    let location = Call::new("assert", context).location();
    let note = if session.has_planned_steps() {
        " (results are mocked here; if the condition depends on them, it may hold in a real run)"
    } else {
        ""
    };
    Err(Failure::new(Exit::Failed, format!("assert: {message}{note}")).into_rhai(location))
}

/// Formats maps as aligned text, numbers to the right, with the given columns or one for each name in alphabetical order.
fn table(context: &Context<'_>, rows: &Array, columns: Option<&Array>) -> Answer<String> {
    let call = Call::new("table", context);
    let mut maps = Vec::new();
    for (index, row) in rows.iter().enumerate() {
        let kind = || with_article(context.engine().map_type_name(row.type_name()));
        let wrong = || call.misuse(format!("[{index}]: expected a map, got {}", kind()));
        maps.push(row.read_lock::<Map>().ok_or_else(wrong)?.clone());
    }
    let mut names: Vec<String> = maps.iter().flat_map(|map| map.keys().map(ToString::to_string)).collect();
    names.sort();
    names.dedup();
    if let Some(columns) = columns {
        names = chosen(context, columns, &names).map_err(|cause| call.misuse(cause))?;
    }
    let is_number = |value: &Dynamic| value.is_int() || value.is_float() || value.is_unit();
    let is_right = |name: &String| maps.iter().filter_map(|map| map.get(name.as_str())).all(is_number);
    let right: Vec<bool> = names.iter().map(is_right).collect();
    let cell = |map: &Map, name: &String| map.get(name.as_str()).map_or_else(|| "-".to_owned(), shown);
    let row = |map: &Map| names.iter().map(|name| cell(map, name)).collect::<Vec<_>>();
    let rows: Vec<Vec<String>> = std::iter::once(names.clone()).chain(maps.iter().map(row)).collect();
    let align = |column: usize| if right[column] { Align::Right } else { Align::Left };
    Ok(aligned(&rows, align).join("\n"))
}

/// The columns of a table in the script's order; `known` has the names of its maps.
fn chosen(context: &Context<'_>, columns: &Array, known: &[String]) -> Result<Vec<String>, String> {
    let kind = |column: &Dynamic| with_article(context.engine().map_type_name(column.type_name()));
    let name = |column: &Dynamic| {
        let wrong = |_| format!("expected names of columns, got {}", kind(column));
        let name = column.clone().into_string().map_err(wrong)?;
        if known.is_empty() || known.contains(&name) {
            return Ok(name);
        }
        Err(format!("no map has \"{name}\"; there are {}", known.join(", ")))
    };
    if columns.is_empty() && !known.is_empty() {
        return Err("expected names of columns, got none; leave out the list for all of them".to_owned());
    }
    columns.iter().map(name).collect()
}

/// A cell: numbers with at most four decimals, `()` as a dash.
fn shown(value: &Dynamic) -> String {
    if value.is_unit() {
        return "-".to_owned();
    }
    match value.as_float() {
        Ok(number) if number.is_finite() && number.abs() < 1e6 => {
            let text = format!("{number:.4}");
            text.trim_end_matches('0').trim_end_matches('.').to_owned()
        }
        Ok(number) => format!("{number:e}"),
        Err(_) => value.to_string(),
    }
}
