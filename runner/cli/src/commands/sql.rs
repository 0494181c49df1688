//! `dc0-run sql`: queries over the tables of runs.

mod args;
mod listing;

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use dc0_analysis::{AnalysisError, Database, Format, Frame, Limits, Rows, Work, questions};
use dc0_core::durable;
use thiserror::Error;

pub(crate) use args::SqlArgs;
use args::{SqlFormat, ViewsFor};
use dc0_process::command::{Command, Failure, Program};
use dc0_process::console::Console;
use dc0_process::exit::Exit;
use dc0_process::fault::Fault;
use dc0_process::format::counted;
use dc0_tables::{Sources, SourcesError, exit_of};

/// A query without an answer.
#[derive(Debug, Error)]
enum SqlError {
    #[error(
        "no run is named; give runs, then the statement, as in dc0-run sql first \"select count(*) from games\""
    )]
    NoRun,
    #[error(
        "no statement is given; the last word, \"{word}\", is a run. Give one after it, such as \"select count(*) from games\""
    )]
    NoStatement { word: String },
    #[error("the format of {} is not clear from its name; give it a name ending in .csv, .json or .parquet, or --format", file.display())]
    NoFormat { file: PathBuf },
    #[error("Parquet is not text for a terminal or a pipe; give --out FILE.parquet")]
    NoFile,
    #[error("{} is there already; give another name, or --replace", file.display())]
    Taken { file: PathBuf },
    #[error("cannot write {}", file.display())]
    Write {
        file: PathBuf,
        #[source]
        cause: io::Error,
    },
    #[error(transparent)]
    Sources(#[from] SourcesError),
    #[error(transparent)]
    Analysis(#[from] AnalysisError),
    #[error("an answer would leave out data of the runs; --incomplete answers from what can be read")]
    Incomplete(#[source] Box<SqlError>),
}

impl SqlError {
    /// Whether it is about stored data that are missing or damaged.
    fn is_of_data(&self) -> bool {
        match self {
            Self::Sources(error) => error.exit() == Exit::Storage,
            Self::Analysis(error) => matches!(error, AnalysisError::Store(_)),
            _ => false,
        }
    }
}

impl Fault for SqlError {
    fn exit(&self) -> Exit {
        match self {
            Self::NoRun
            | Self::NoStatement { .. }
            | Self::NoFormat { .. }
            | Self::NoFile
            | Self::Taken { .. } => Exit::BadInput,
            Self::Write { cause, .. } => Exit::of_writing(cause),
            Self::Incomplete(_) => Exit::Storage,
            Self::Sources(error) => error.exit(),
            Self::Analysis(error) => exit_of(error),
        }
    }
}

impl Command for SqlArgs {
    const NAME: &'static str = "sql";
    const ABOUT: &'static str = "Query the tables of runs with SQL";

    fn run(&self, program: &Program) -> Result<Exit, Failure> {
        let named = |error: SqlError| {
            if error.is_of_data() && !self.incomplete { SqlError::Incomplete(Box::new(error)) } else { error }
        };
        answer(self, &program.console).map_err(named)?;
        Ok(Exit::Done)
    }
}

fn answer(args: &SqlArgs, console: &Console) -> Result<(), SqlError> {
    if args.tables {
        let database = database(args, &args.words)?;
        console.result(&listing::tables(&database)?);
        note_left_out(&database, console);
        return Ok(());
    }
    if let Some(program) = args.views {
        let database = database(args, &args.words)?;
        console.result(&match program {
            ViewsFor::Duckdb => database.views()?,
            ViewsFor::Polars => database.polars()?,
        });
        note_left_out(&database, console);
        return Ok(());
    }
    if args.examples {
        let database = if args.words.is_empty() { None } else { Some(database(args, &args.words)?) };
        console.result(&listing::examples(&questions(), database.as_ref())?);
        if let Some(database) = &database {
            note_left_out(database, console);
        }
        return Ok(());
    }
    let (statement, names) = args.words.split_last().ok_or(SqlError::NoRun)?;
    if !statement.contains(char::is_whitespace)
        && Sources::named(&args.runs, std::slice::from_ref(statement)).is_ok()
    {
        return Err(SqlError::NoStatement { word: statement.clone() });
    }
    let target = Target::new(args)?;
    let database = database(args, names)?;
    let frame = database.query(statement)?;
    match (target.file, target.format) {
        (None, SqlFormat::Table) => print(&frame, args, console)?,
        _ => target.write(&frame.rows()?, args, console)?,
    }
    note_left_out(&database, console);
    Ok(())
}

/// Lists what an answer leaves out.
fn note_left_out(database: &Database, console: &Console) {
    database.faults().iter().for_each(|fault| console.note(&format!("warn: left out: {}", fault.message)));
}

/// Prints the first rows as a table; the others are only counted.
fn print(frame: &Frame, args: &SqlArgs, console: &Console) -> Result<(), SqlError> {
    let rows = frame.head((args.rows as u64).saturating_add(1).min(i64::MAX as u64))?.rows()?;
    let shown = rows.shown(limits(args.rows, args));
    console.result(&shown.table);
    if shown.rows_left_out > 0 {
        let (all, some) = (frame.count()?, args.rows);
        console.note(&format!("the first {some} of {all} rows; --rows {all} shows all"));
    }
    if shown.cells_cut > 0 {
        let (cells, width) = (shown.cells_cut, args.width);
        console.note(&format!(
            "{} cut at {width} characters; --width and --format csv show more",
            if cells == 1 { "1 cell is".to_owned() } else { format!("{cells} cells are") }
        ));
    }
    Ok(())
}

/// The tables of runs. Data that are missing or damaged are an error, unless an incomplete answer is asked for.
fn database(args: &SqlArgs, names: &[String]) -> Result<Database, SqlError> {
    if names.is_empty() {
        return Err(SqlError::NoRun);
    }
    if args.incomplete {
        let Sources { runs, sweeps, faults, .. } = Sources::readable(&args.runs, names)?;
        return Ok(Database::of_readable(runs, sweeps, Work::Fast, faults));
    }
    let sources = Sources::named(&args.runs, names)?;
    Ok(Database::new(sources.runs, sources.sweeps, Work::Fast))
}

/// Where an answer goes, and in which format.
struct Target<'a> {
    file: Option<&'a Path>,
    format: SqlFormat,
}

impl<'a> Target<'a> {
    fn new(args: &'a SqlArgs) -> Result<Self, SqlError> {
        let file = args.out.as_deref();
        let format = match (args.format, file) {
            (Some(format), _) => format,
            (None, None) => SqlFormat::Table,
            (None, Some(file)) => {
                by_name(file).ok_or_else(|| SqlError::NoFormat { file: file.to_owned() })?
            }
        };
        if format == SqlFormat::Parquet && file.is_none() {
            return Err(SqlError::NoFile);
        }
        // Checked before the query runs, not after.
        if let Some(file) = file.filter(|file| file.exists() && !args.replace) {
            return Err(SqlError::Taken { file: file.to_owned() });
        }
        Ok(Self { file, format })
    }

    fn write(&self, rows: &Rows, args: &SqlArgs, console: &Console) -> Result<(), SqlError> {
        let write = |out: &mut dyn Write| match self.format {
            SqlFormat::Csv => rows.write_text(Format::Csv, out),
            SqlFormat::Json => rows.write_text(Format::Json, out),
            SqlFormat::Parquet => rows.write_parquet(out),
            SqlFormat::Table => writeln!(out, "{}", rows.shown(limits(rows.len(), args)).table),
        };
        let Some(file) = self.file else {
            console.results(write);
            return Ok(());
        };
        let filled = |file: &mut File| {
            let mut out = BufWriter::new(file);
            write(&mut out)?;
            out.flush()
        };
        durable::write_with(file, filled)
            .map_err(|cause| SqlError::Write { file: file.to_owned(), cause })?;
        console.note(&format!("wrote {}: {}", file.display(), counted(rows.len(), "row")));
        Ok(())
    }
}

fn limits(rows: usize, args: &SqlArgs) -> Limits {
    Limits { rows, width: args.width as usize }
}

fn by_name(file: &Path) -> Option<SqlFormat> {
    match file.extension()?.to_str()? {
        "csv" => Some(SqlFormat::Csv),
        "json" | "jsonl" | "ndjson" => Some(SqlFormat::Json),
        "parquet" => Some(SqlFormat::Parquet),
        "txt" => Some(SqlFormat::Table),
        _ => None,
    }
}
