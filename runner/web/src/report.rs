//! `dc0-run report`: a report on runs as one self-contained HTML file. Runs are only read.

mod inputs;

use std::io;
use std::path::{Path, PathBuf};

use clap::Args;
use dc0_analysis::charts::{Chart, ChartError, Theme};
use dc0_analysis::report::{Report, comparison as compared, report as written};
use dc0_analysis::{AnalysisError, Damage, Database, Work};
use dc0_core::durable;
use thiserror::Error;

use dc0_process::command::{Command, Failure, Program};
use dc0_process::exit::Exit;
use dc0_process::fault::{Fault, chain};
use dc0_process::format::counted;
use dc0_tables::{SourcesError, exit_of};
use inputs::Inputs;

/// The size of a chart in a file of its own.
const CHART: (f64, f64) = (720.0, 420.0);

/// The arguments of `report`.
#[derive(Debug, Args)]
pub struct ReportArgs {
    /// Runs and sweeps: folders, or names below `--runs`. Several are compared.
    #[arg(value_name = "RUN", required = true)]
    pub names: Vec<String>,
    /// The folder that holds runs.
    #[arg(long, value_name = "DIR", default_value = "datasets")]
    pub runs: PathBuf,
    /// The file to write; an existing one is replaced [default: report.html in the run's folder; for several runs, here].
    #[arg(long, value_name = "FILE.html")]
    pub out: Option<PathBuf>,
    /// Write every chart as an SVG and a PNG into this folder, too.
    #[arg(long, value_name = "DIR")]
    pub charts: Option<PathBuf>,
}

/// Why a report was not written.
#[derive(Debug, Error)]
enum ReportError {
    #[error(transparent)]
    Sources(#[from] SourcesError),
    #[error(transparent)]
    Analysis(#[from] AnalysisError),
    #[error(transparent)]
    Chart(#[from] ChartError),
    #[error("{}: expected a name that ends in .html", file.display())]
    Name { file: PathBuf },
    #[error("cannot write {}", file.display())]
    Write {
        file: PathBuf,
        #[source]
        cause: io::Error,
    },
}

impl Fault for ReportError {
    fn exit(&self) -> Exit {
        match self {
            Self::Name { .. } => Exit::BadInput,
            Self::Sources(error) => error.exit(),
            Self::Analysis(error) => exit_of(error),
            Self::Chart(_) => Exit::Failed,
            Self::Write { cause, .. } => Exit::of_writing(cause),
        }
    }
}

impl Command for ReportArgs {
    const NAME: &'static str = "report";
    const ABOUT: &'static str = "Report what happened in runs, as one self-contained HTML file. Exit code 3 if data are missing or damaged, which the page says";

    fn run(&self, program: &Program) -> Result<Exit, Failure> {
        let (lines, faults) = write(self)?;
        program.console.result(&lines.join("\n"));
        for fault in &faults {
            program.console.note(&format!("error: {}", fault.message));
        }
        if !faults.is_empty() {
            program.console.note(&format!(
                "the report leaves out what is missing or damaged, and says so: {}",
                counted(faults.len(), "problem")
            ));
        }
        Ok(if faults.is_empty() { Exit::Done } else { Exit::Storage })
    }
}

/// The page of one run or sweep, or why there is none.
pub(crate) fn page(folder: &Path) -> Result<String, String> {
    let make = || -> Result<String, ReportError> { Ok(made(inputs_of(&[folder])?)?.0.html) };
    make().map_err(|cause| chain(&cause))
}

/// The page with some runs in the same charts, or why there is none.
pub(crate) fn comparison(folders: &[&Path]) -> Result<String, String> {
    let make = || -> Result<String, ReportError> {
        let Inputs { sources, runs, .. } = inputs_of(folders)?;
        let database = Database::of_readable(sources.runs, Vec::new(), Work::Exact, sources.faults);
        Ok(compared(&database, &runs)?.html)
    };
    make().map_err(|cause| chain(&cause))
}

fn inputs_of(folders: &[&Path]) -> Result<Inputs, ReportError> {
    let names: Vec<String> = folders.iter().map(|folder| folder.display().to_string()).collect();
    inputs::inputs(Path::new(""), &names)
}

/// The report of what can be read.
fn made(inputs: Inputs) -> Result<(Report, PathBuf), ReportError> {
    let Inputs { sources, runs, sweeps, default_folder } = inputs;
    let database = Database::of_readable(sources.runs, sources.sweeps, Work::Exact, sources.faults);
    Ok((written(&database, &runs, &sweeps)?, default_folder))
}

fn write(args: &ReportArgs) -> Result<(Vec<String>, Vec<Damage>), ReportError> {
    let given = args.out.as_deref();
    if let Some(file) = given.filter(|file| file.extension().is_none_or(|ending| ending != "html")) {
        return Err(ReportError::Name { file: file.to_owned() });
    }
    let (Report { html, charts, faults }, default_folder) = made(inputs::inputs(&args.runs, &args.names)?)?;
    let file = given.map_or_else(|| default_folder.join("report.html"), Path::to_owned);
    put(&file, html.as_bytes())?;
    let mut lines = vec![format!(
        "wrote    {}: {}, {} KiB",
        file.display(),
        counted(charts.len(), "chart"),
        html.len() / 1024
    )];
    if let Some(folder) = &args.charts {
        for chart in &charts {
            draw(folder, chart)?;
        }
        lines.push(format!(
            "wrote    {}: {}, as SVG and PNG",
            folder.display(),
            counted(charts.len(), "chart")
        ));
    }
    Ok((lines, faults))
}

fn draw(folder: &Path, chart: &Chart) -> Result<(), ReportError> {
    let svg = chart.svg(Theme::Light, CHART.0, CHART.1);
    put(&folder.join(format!("{}.svg", chart.name)), svg.as_bytes())?;
    put(&folder.join(format!("{}.png", chart.name)), &chart.png(CHART.0, CHART.1)?)
}

fn put(file: &Path, bytes: &[u8]) -> Result<(), ReportError> {
    durable::write(file, bytes).map_err(|cause| ReportError::Write { file: file.to_owned(), cause })
}
