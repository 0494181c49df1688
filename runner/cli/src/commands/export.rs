//! `dc0-run export`: writes nets, sweeps and curves in the formats of other programs.

mod args;
mod curves;
mod games;
mod puzzles;
mod study;
mod tensors;

use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use dc0_core::board::TablebaseError;
use dc0_core::durable;
use dc0_core::encoding::EncodingError;
use dc0_core::network::checkpoint::CheckpointError;
use dc0_core::network::graph::Graph;
use dc0_core::network::onnx::{InputForm, OnnxError, OnnxModel};
use dc0_core::network::{NetworkSpec, parameter_count};
use dc0_core::store::StoreError;
use thiserror::Error;

pub(crate) use args::ExportArgs;
use args::{ExportEngineArgs, ExportEvalfileArgs, ExportFormat, ExportNetArgs, ExportOnnxArgs};
use dc0_process::command::{Command, Failure, Program};
use dc0_process::console::Console;
use dc0_process::exit::Exit;
use dc0_process::fault::Fault;
use dc0_runs::evalfile::{EvalFileError, write_engine, write_evalfile};
use dc0_runs::net::{NetError, named};
use dc0_runs::{Folder, FolderKind, RunError};

/// Why nothing was exported.
#[derive(Debug, Error)]
enum ExportError {
    #[error("{}: expected a name that ends in {ending}", path.display())]
    Name { path: PathBuf, ending: &'static str },
    #[error(transparent)]
    Encoding(#[from] EncodingError),
    #[error("cannot write {}", file.display())]
    Write {
        file: PathBuf,
        #[source]
        cause: io::Error,
    },
    #[error("{}: {cause}; `dc0-run verify` says more", file.display())]
    Rows { file: PathBuf, cause: String },
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    #[error(transparent)]
    Net(#[from] NetError),
    #[error(transparent)]
    Onnx(#[from] OnnxError),
    #[error("{} holds no {what}, and neither does {}", path.display(), Path::new("datasets").join(path).display())]
    Nothing { path: PathBuf, what: &'static str },
    #[error("{} has no {wanted} in its finished steps", run.display())]
    NoGames { run: PathBuf, wanted: String },
    #[error("{}: game {game} cannot be read: {cause}; put back a good copy of the file", file.display())]
    Game { file: PathBuf, game: u32, cause: String },
    #[error(transparent)]
    Run(#[from] RunError),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Tablebases(#[from] TablebaseError),
    #[error(transparent)]
    EvalFile(#[from] EvalFileError),
}

impl ExportError {
    /// For `map_err` on writing a file.
    fn writing(file: &Path) -> impl FnOnce(io::Error) -> Self {
        move |cause| Self::Write { file: file.to_owned(), cause }
    }
}

/// Why the writing of a file stopped.
enum Stop {
    /// Its content cannot be had.
    Content(Box<ExportError>),
    Write(io::Error),
}

impl Stop {
    /// For `map_err` on writing a file together with its content.
    fn writing(file: &Path) -> impl FnOnce(Self) -> ExportError {
        move |stop| match stop {
            Self::Content(error) => *error,
            Self::Write(cause) => ExportError::writing(file)(cause),
        }
    }
}

impl From<io::Error> for Stop {
    fn from(cause: io::Error) -> Self {
        Self::Write(cause)
    }
}

impl From<ExportError> for Stop {
    fn from(error: ExportError) -> Self {
        Self::Content(Box::new(error))
    }
}

impl From<StoreError> for Stop {
    fn from(error: StoreError) -> Self {
        ExportError::from(error).into()
    }
}

/// Writes a text to a file, or to standard output where `-` stands for a file.
fn write_text(
    out: &Path,
    console: &Console,
    fill: impl FnOnce(&mut dyn Write) -> Result<(), Stop>,
) -> Result<(), ExportError> {
    if !is_stdout(out) {
        let written = durable::write_with(out, |file| {
            let mut out = BufWriter::new(file);
            fill(&mut out)?;
            Ok(out.flush()?)
        });
        return written.map_err(Stop::writing(out));
    }
    let mut outcome = Ok(());
    let name = out;
    console.results(|out| match fill(out) {
        Err(Stop::Write(cause)) if cause.kind() == io::ErrorKind::BrokenPipe => Err(cause),
        filled => {
            outcome = filled.map_err(Stop::writing(name));
            Ok(())
        }
    });
    outcome
}

fn is_stdout(out: &Path) -> bool {
    out == Path::new("-")
}

/// The existing folder of a run or sweep that a command line names.
fn found(
    name: &Path,
    kinds: &[FolderKind],
    what: &'static str,
) -> Result<(PathBuf, FolderKind), ExportError> {
    let found = Folder::named(Path::new("datasets"), name, kinds);
    found.ok_or_else(|| ExportError::Nothing { path: name.to_owned(), what })
}

impl Fault for ExportError {
    fn exit(&self) -> Exit {
        match self {
            Self::Tablebases(TablebaseError::Damaged { .. }) => Exit::Storage,
            Self::Name { .. }
            | Self::Encoding(_)
            | Self::Nothing { .. }
            | Self::NoGames { .. }
            | Self::Onnx(OnnxError::TooLarge { .. })
            | Self::Tablebases(_) => Exit::BadInput,
            Self::EvalFile(cause) => cause.exit(),
            Self::Net(cause) => cause.exit(),
            Self::Checkpoint(CheckpointError::Extension { .. } | CheckpointError::Tensors { .. }) => {
                Exit::BadInput
            }
            Self::Run(cause) => cause.exit(),
            Self::Write { cause: source, .. }
            | Self::Checkpoint(CheckpointError::Write { source, .. })
            | Self::Onnx(OnnxError::Write { source, .. }) => Exit::of_writing(source),
            Self::Checkpoint(_) | Self::Game { .. } | Self::Rows { .. } | Self::Onnx(_) | Self::Store(_) => {
                Exit::Storage
            }
        }
    }
}

impl Command for ExportArgs {
    const NAME: &'static str = "export";
    const ABOUT: &'static str = "Write a net, games, training tensors, puzzles, a sweep or training curves in the format of other programs";

    fn run(&self, program: &Program) -> Result<Exit, Failure> {
        program.show_warnings()?;
        let lines = match &self.format {
            ExportFormat::Engine(args) => engine(args)?,
            ExportFormat::Evalfile(args) => evalfile(args)?,
            ExportFormat::Net(args) => net(args)?,
            ExportFormat::Onnx(args) => onnx(args)?,
            ExportFormat::Optuna(args) => study::write(args, &program.console)?,
            ExportFormat::Pgn(args) => games::write(args, &program.console)?,
            ExportFormat::Puzzles(args) => puzzles::write(args, &program.console)?,
            ExportFormat::Tensorboard(args) => curves::write(args)?,
            ExportFormat::Tensors(args) => tensors::write(args)?,
        };
        let report = lines.join("\n");
        if self.format.is_for_stdout() {
            program.console.note(&report);
        } else {
            program.console.result(&report);
        }
        Ok(Exit::Done)
    }
}

impl ExportFormat {
    /// Whether standard output gets the content, and no report.
    fn is_for_stdout(&self) -> bool {
        match self {
            Self::Optuna(args) => is_stdout(&args.out),
            Self::Pgn(args) => is_stdout(&args.out),
            Self::Puzzles(args) => is_stdout(&args.out),
            _ => false,
        }
    }
}

fn engine(ExportEngineArgs { evalfile, out }: &ExportEngineArgs) -> Result<Vec<String>, ExportError> {
    write_engine(evalfile, out)?;
    Ok(vec![format!("wrote    {}: this program with the net of {}", out.display(), evalfile.display())])
}

fn evalfile(args: &ExportEvalfileArgs) -> Result<Vec<String>, ExportError> {
    let named = named(&args.net)?;
    write_evalfile(&named.net, &args.out)?;
    Ok(vec![format!("wrote    {}", args.out.display()), format!("net      {}", named.file.display())])
}

fn net(args: &ExportNetArgs) -> Result<Vec<String>, ExportError> {
    let named = named(&args.net)?;
    let digest = if args.rounded { named.net.save_rounded(&args.out) } else { named.net.save(&args.out) };
    Ok(vec![
        format!("wrote    {} and its .json, weights {}", args.out.display(), &digest?[..8]),
        format!("net      {}", named.file.display()),
        format!("spec     {}", described(&named.net.spec)),
    ])
}

fn onnx(args: &ExportOnnxArgs) -> Result<Vec<String>, ExportError> {
    if args.out.extension().is_none_or(|extension| extension != "onnx") {
        return Err(ExportError::Name { path: args.out.clone(), ending: ".onnx" });
    }
    let named = named(&args.net)?;
    let form = if args.packed { InputForm::Packed } else { InputForm::Planes };
    let model = OnnxModel::export(&named.net.spec, &named.net.weights, Some(&named.digest), form)?;
    model.save(&args.out)?;
    let (opset, bytes) = (OnnxModel::OPERATOR_SET, model.bytes().len());
    let mut lines = vec![
        format!("wrote    {} ({bytes} bytes), ONNX operator set {opset}", args.out.display()),
        format!("net      {}", named.file.display()),
    ];
    lines.extend(lines_of(&model));
    Ok(lines)
}

/// Describes an ONNX file, line by line.
pub(crate) fn lines_of(model: &OnnxModel) -> Vec<String> {
    let digest = model.weights_digest().map_or("never stored", |digest| digest.get(..8).unwrap_or(digest));
    let mut lines = vec![format!("weights  {digest}"), format!("spec     {}", described(model.spec()))];
    lines.extend(model.inputs().iter().map(|tensor| format!("input    {tensor}")));
    lines.extend(model.outputs().iter().map(|tensor| format!("output   {tensor}")));
    lines
}

fn described(spec: &NetworkSpec) -> String {
    let tower = &spec.tower;
    format!(
        "{} {}, {} parameters, {} multiply-adds an evaluation, encoding {} ({})",
        tower.kind.name(),
        tower.size(),
        parameter_count(spec),
        Graph::new(spec).multiply_adds(),
        spec.encoding.name(),
        spec.orientation.name()
    )
}

#[cfg(test)]
mod tests {
    use dc0_core::network::onnx::{InputForm, OnnxModel};
    use dc0_core::network::{initial_weights, preset};
    use dc0_core::rng::Seed;

    use super::lines_of;

    #[test]
    fn the_digest_of_a_changed_file_is_shown_as_it_is() {
        let spec = preset("dc0-2x32").expect("a preset of this name").spec;
        let weights = initial_weights(&spec, Seed { run: 0, step: 0 });
        for (digest, shown) in [("0123456789", "01234567"), ("0123", "0123"), ("aééééb", "aééééb")] {
            let model = OnnxModel::export(&spec, &weights, Some(digest), InputForm::Packed).expect("exports");
            assert_eq!(lines_of(&model)[0], format!("weights  {shown}"));
        }
    }
}
