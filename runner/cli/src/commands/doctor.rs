//! `dc0-run doctor`: checks what this machine offers, and whether experiments can run here.

use std::path::{Path, PathBuf};

use dc0_analysis::duckdb_version;
use dc0_core::network::checkpoint::Checkpoint;
use dc0_core::network::onnx::{InputForm, OnnxEvaluator, OnnxModel, OnnxOptions};
use dc0_core::network::torch::runtime::{self, CudaStatus};
use dc0_core::network::torch::{Device, TorchEvaluator, TorchOptions};
use dc0_core::network::{Evaluator, EvaluatorError, NetworkSpec, TowerSpec, initial_weights};
use dc0_core::params::Value;
use dc0_core::rng::Seed;
use dc0_core::search::SearchParams;
use dc0_core::selfplay::{SelfPlayJob, SelfPlayParams, play, shards_of};

use clap::Args;
use dc0_backend::cores;
use dc0_backend::onnxruntime::{self, OnnxRuntimeError};
use dc0_process::command::{Command, Failure, Program};
use dc0_process::console::Console;
use dc0_process::exit::Exit;
use dc0_process::resources::available_memory;

/// What `doctor` checks.
#[derive(Debug, Args)]
pub(super) struct DoctorArgs {
    /// The library of ONNX Runtime, or a folder that holds it [default: the checkout's, that of python3 or of the system].
    #[arg(long, value_name = "PATH")]
    pub onnxruntime: Option<PathBuf>,
    /// The folder that runs would be written to.
    #[arg(long, value_name = "DIR", default_value = "datasets")]
    pub out: PathBuf,
}

/// Runs need at least this much free space.
const LEAST_FREE_BYTES: u64 = 1 << 30;

/// The result of one check.
struct Finding {
    what: &'static str,
    found: String,
    /// Whether experiments can run.
    is_good: bool,
}

fn good(what: &'static str, found: impl Into<String>) -> Finding {
    Finding { what, found: found.into(), is_good: true }
}

fn judged(what: &'static str, found: Result<String, String>) -> Finding {
    let is_good = found.is_ok();
    Finding { what, found: found.unwrap_or_else(|problem| problem), is_good }
}

impl Command for DoctorArgs {
    const NAME: &'static str = "doctor";
    const ABOUT: &'static str = "Check what this machine offers and whether experiments can run here";

    fn run(&self, program: &Program) -> Result<Exit, Failure> {
        Ok(examine(self, &program.console))
    }
}

fn examine(args: &DoctorArgs, console: &Console) -> Exit {
    let findings = [
        good("dc0", env!("CARGO_PKG_VERSION")),
        judged("libraries", runtime::versions().map_err(|cause| cause.to_string())),
        judged("a game on cpu", try_game(&on_torch(Device::Cpu))),
        cuda(),
        onnx_runtime(args.onnxruntime.as_deref()),
        sql(),
        good("cores", cores().to_string()),
        good(
            "memory",
            available_memory()
                .map_or_else(|| "unknown".to_owned(), |bytes| format!("{} free", gibibytes(bytes))),
        ),
        judged("folder for runs", writable(&args.out)),
        judged("free space", free_space(&args.out)),
    ];
    let lines = findings.iter().map(|finding| {
        let mark = if finding.is_good { "ok   " } else { "WRONG" };
        format!("{mark}  {:<15}  {}", finding.what, finding.found)
    });
    console.result(&lines.collect::<Vec<_>>().join("\n"));
    if findings.iter().all(|finding| finding.is_good) { Exit::Done } else { Exit::Failed }
}

/// A machine without CUDA is good; one whose CUDA device cannot play is not.
fn cuda() -> Finding {
    match runtime::load() {
        Ok(CudaStatus::On { devices }) => {
            let played = try_game(&on_torch(Device::Cuda(0)));
            judged("CUDA", played.map(|played| format!("{devices} devices; a game on cuda:0 {played}")))
        }
        Ok(CudaStatus::Off { reason }) => good("CUDA", format!("off, nets run on the CPU: {reason}")),
        Err(_) => good("CUDA", "unknown without libtorch".to_owned()),
    }
}

/// A machine without ONNX Runtime is good, unless one was named; one that cannot play is not.
fn onnx_runtime(given: Option<&Path>) -> Finding {
    let library = match onnxruntime::load(given) {
        Ok(library) => library,
        Err(OnnxRuntimeError::Nowhere { .. }) => {
            let advice = "`pip install onnxruntime` brings one, or say where it is with --onnxruntime";
            return good("ONNX Runtime", format!("none found, nets run on libtorch; {advice}"));
        }
        Err(problem) => return judged("ONNX Runtime", Err(problem.to_string())),
    };
    let played = try_game(&|net| {
        let model = OnnxModel::export(&net.spec, &net.weights, None, InputForm::Planes);
        let evaluator = model.and_then(|model| OnnxEvaluator::new(&library, &model, OnnxOptions::default()));
        Ok(Box::new(evaluator.map_err(|cause| cause.to_string())?))
    });
    let found = format!("{} from {}", library.version(), library.path().display());
    judged("ONNX Runtime", played.map(|played| format!("{found}; a game on it {played}")))
}

/// A machine without DuckDB's library is good for everything but SQL and reports.
fn sql() -> Finding {
    good(
        "SQL",
        duckdb_version().map_or_else(|error| error.to_string(), |version| format!("DuckDB {version}")),
    )
}

/// Something that evaluates a net, or why there is none.
type MakeEvaluator<'a> = dyn Fn(&Checkpoint) -> Result<Box<dyn Evaluator>, String> + Sync + 'a;

fn on_torch(device: Device) -> impl Fn(&Checkpoint) -> Result<Box<dyn Evaluator>, String> {
    let options = TorchOptions { device, ..TorchOptions::default() };
    move |net| {
        let made = TorchEvaluator::new(&net.spec, &net.weights, options);
        Ok(Box::new(made.map_err(|cause| cause.to_string())?))
    }
}

/// Plays a few plies with a tiny net: exercises the rules, the search and the evaluator together.
fn try_game(make: &MakeEvaluator<'_>) -> Result<String, String> {
    let tower = TowerSpec { blocks: 1, filters: 8, ..TowerSpec::default() };
    let spec = NetworkSpec { tower, ..NetworkSpec::default() };
    let seed = Seed { run: 1, step: 1 };
    let net = Checkpoint { weights: initial_weights(&spec, seed), spec, provenance: Value::None };
    let make_evaluator = || make(&net).map_err(|cause| EvaluatorError::Make { cause });
    let search = SearchParams { simulations: 8, ..SearchParams::default() };
    let params =
        SelfPlayParams { games: 2, max_plies: 4, search: search.into(), ..SelfPlayParams::default() };
    let job = SelfPlayJob::new(&params, seed, "doctor", &make_evaluator);
    let keep = |_, _| Ok(());
    match play(&job, &shards_of(2, 2), 1, &keep, &dc0_core::event::Silent) {
        Ok(()) => Ok("works".to_owned()),
        Err(error) => Err(format!("fails: {}", dc0_process::fault::chain(&error))),
    }
}

/// Writes and removes a file where runs would be written; folders that this creates stay.
fn writable(out: &Path) -> Result<String, String> {
    let probe = out.join(format!("doctor.{}.tmp", std::process::id()));
    let tried = std::fs::create_dir_all(out)
        .and_then(|()| std::fs::write(&probe, "x"))
        .and_then(|()| std::fs::remove_file(&probe));
    let shown = out.display();
    tried
        .map(|()| format!("{shown} can be written"))
        .map_err(|cause| format!("{shown} cannot be written ({cause}); give --out"))
}

fn free_space(out: &Path) -> Result<String, String> {
    let free = rustix::fs::statvfs(out).map(|disk| disk.f_bavail.saturating_mul(disk.f_frsize));
    match free {
        Ok(bytes) if bytes < LEAST_FREE_BYTES => Err(format!(
            "{} in {}, and runs need at least {}",
            gibibytes(bytes),
            out.display(),
            gibibytes(LEAST_FREE_BYTES)
        )),
        Ok(bytes) => Ok(gibibytes(bytes)),
        Err(_) => Ok("unknown".to_owned()),
    }
}

fn gibibytes(bytes: u64) -> String {
    format!("{:.1} GiB", bytes as f64 / (1u64 << 30) as f64)
}
