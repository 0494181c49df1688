//! Evaluations per second of nets on libtorch or ONNX Runtime, by net and batch size.
//!
//! `cargo run --release -p dc0-benches -- evaluate --lanes 2`
//! `cargo run --release -p dc0-benches -- evaluate --backend torch,onnx --onnxruntime PATH --precision f32`

use std::error::Error;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum, value_parser};
use dc0_core::encoding::{Encoding, EncodingName};
use dc0_core::network::onnx::{InputForm, OnnxEvaluator, OnnxLibrary, OnnxModel, OnnxOptions};
use dc0_core::network::torch::runtime;
use dc0_core::network::torch::{Precision, TorchEvaluator, TorchOptions};
use dc0_core::network::{Batch, Evaluations, Evaluator, NetworkSpec, Tower, TowerSpec, initial_weights};
use dc0_core::rng::Seed;

use crate::positions::games;
use crate::timing::{now, positive_seconds};

/// Measures nets with random weights; each lane is a thread with its own copy of the net.
#[derive(Args)]
pub(crate) struct Options {
    /// Nets, as `BLOCKSxFILTERS`.
    #[arg(long, value_delimiter = ',', default_values = ["2x32", "4x64", "6x128"], value_parser = net)]
    nets: Vec<(u32, u32)>,
    /// The encoding of the nets' input.
    #[arg(long, default_value = EncodingName::Dc0.name(), value_parser = encoding)]
    encoding: EncodingName,
    /// Batch sizes.
    #[arg(long, value_delimiter = ',', default_values_t = [16, 64, 256], value_parser = value_parser!(u64).range(1..))]
    batch: Vec<u64>,
    /// The libraries that evaluate the nets.
    #[arg(long, value_enum, value_delimiter = ',', default_values = ["torch"])]
    backend: Vec<Backend>,
    /// The library of ONNX Runtime, for the backends that use it.
    #[arg(long, value_name = "PATH")]
    onnxruntime: Option<PathBuf>,
    /// The library's threads per lane.
    #[arg(long, default_value_t = 1, value_parser = value_parser!(u32).range(1..))]
    threads: u32,
    /// Evaluators in parallel.
    #[arg(long, default_value_t = 1, value_parser = value_parser!(u32).range(1..))]
    lanes: u32,
    /// f32, bf16, or auto.
    #[arg(long, default_value = "auto", value_parser = precision)]
    precision: Precision,
    /// auto, cpu, or cuda:N.
    #[arg(long, default_value = "cpu")]
    device: String,
    /// Seconds per cell of the table.
    #[arg(long, default_value_t = 1.0, value_parser = positive_seconds)]
    seconds: f64,
}

fn net(text: &str) -> Result<(u32, u32), String> {
    let parts = text.split_once('x').and_then(|(a, b)| Some((a.parse().ok()?, b.parse().ok()?)));
    parts.ok_or_else(|| format!("`{text}`: expected BLOCKSxFILTERS, such as 4x64"))
}

fn encoding(text: &str) -> Result<EncodingName, String> {
    EncodingName::from_name(text)
        .ok_or_else(|| format!("`{text}`: expected one of {}", EncodingName::NAMES.join(", ")))
}

fn precision(text: &str) -> Result<Precision, String> {
    Precision::from_name(text)
        .ok_or_else(|| format!("`{text}`: expected one of {}", Precision::NAMES.join(", ")))
}

fn batch_of(encoding: &Encoding, rows: u64) -> Batch {
    let mut batch = Batch::default();
    for game in games(rows, 80) {
        batch.push(encoding, &game);
    }
    batch
}

/// The library that evaluates a net.
#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum Backend {
    /// libtorch.
    Torch,
    /// libtorch with the convolutions only: a plain tower, nothing before or after it.
    Tower,
    /// ONNX Runtime with planes as floats.
    Onnx,
    /// ONNX Runtime with planes as bits that the net expands.
    OnnxPacked,
}

impl Backend {
    fn is_onnx(self) -> bool {
        matches!(self, Self::Onnx | Self::OnnxPacked)
    }

    fn name(self) -> &'static str {
        match self {
            Self::Torch => "torch",
            Self::Tower => "tower",
            Self::Onnx => "onnx",
            Self::OnnxPacked => "onnx-packed",
        }
    }
}

/// Everything that all cells of the table share.
struct Bench<'a> {
    options: &'a Options,
    torch: TorchOptions,
    library: Option<OnnxLibrary>,
}

type Evaluate = Box<dyn FnMut(&Batch)>;

impl<'a> Bench<'a> {
    fn new(options: &'a Options) -> Result<Self, Box<dyn Error>> {
        if let Some(backend) = options.backend.iter().find(|backend| backend.is_onnx())
            && options.onnxruntime.is_none()
        {
            return Err(format!(
                "--backend {} needs ONNX Runtime's library; give it with --onnxruntime PATH",
                backend.name()
            )
            .into());
        }
        let device = runtime::parse_device(&options.device)?;
        let (precision, threads) = (options.precision, options.threads);
        let torch = TorchOptions { device, precision, threads, ..TorchOptions::default() };
        let library = options.onnxruntime.as_ref().map(|path| OnnxLibrary::load(path)).transpose()?;
        Ok(Self { options, torch, library })
    }

    /// A lane's evaluator of a net with random weights.
    fn evaluator(&self, backend: Backend, spec: &NetworkSpec) -> Evaluate {
        let weights = initial_weights(spec, Seed { run: 1, step: 1 });
        let mut out = Evaluations::default();
        match backend {
            Backend::Torch | Backend::Tower => {
                let mut net = TorchEvaluator::new(spec, &weights, self.torch).expect("the net fits");
                match backend {
                    Backend::Tower => Box::new(move |batch| net.run_tower(batch).expect("evaluates")),
                    _ => Box::new(move |batch| net.evaluate(batch, &mut out).expect("evaluates")),
                }
            }
            Backend::Onnx | Backend::OnnxPacked => {
                let form = if backend == Backend::Onnx { InputForm::Planes } else { InputForm::Packed };
                let model = OnnxModel::export(spec, &weights, None, form).expect("the net fits");
                let library = self.library.as_ref().expect("checked before");
                let options = OnnxOptions { threads: self.options.threads };
                let mut net = OnnxEvaluator::new(library, &model, options).expect("the net fits");
                Box::new(move |batch| net.evaluate(batch, &mut out).expect("evaluates"))
            }
        }
    }

    /// Evaluations per second of one lane.
    fn lane(&self, backend: Backend, spec: &NetworkSpec, rows: u64) -> f64 {
        let mut evaluate = self.evaluator(backend, spec);
        let batch = batch_of(&spec.input(), rows);
        for _ in 0..3 {
            evaluate(&batch);
        }
        let (start, mut evaluations) = (now(), 0);
        while start.elapsed() < Duration::from_secs_f64(self.options.seconds) {
            evaluate(&batch);
            evaluations += rows;
        }
        evaluations as f64 / start.elapsed().as_secs_f64()
    }

    fn all_lanes(&self, backend: Backend, spec: &NetworkSpec, rows: u64) -> f64 {
        std::thread::scope(|scope| {
            let run = || self.lane(backend, spec, rows);
            let lanes: Vec<_> = (0..self.options.lanes).map(|_| scope.spawn(run)).collect();
            lanes.into_iter().map(|lane| lane.join().expect("a lane does not panic")).sum()
        })
    }

    fn row(&self, backend: Backend, (blocks, filters): (u32, u32)) {
        let kind = if backend == Backend::Tower { Tower::Resnet } else { Tower::SeResnet };
        let tower = TowerSpec { kind, blocks, filters, ..TowerSpec::default() };
        let spec = NetworkSpec { encoding: self.options.encoding, tower, ..NetworkSpec::default() };
        print!("{:>8} {:>11}", format!("{blocks}x{filters}"), backend.name());
        for rows in &self.options.batch {
            print!(" {:>10.0}", self.all_lanes(backend, &spec, *rows));
        }
        println!();
    }
}

pub(crate) fn run(options: &Options) -> Result<(), Box<dyn Error>> {
    let versions = runtime::versions()?;
    let bench = Bench::new(options)?;
    println!("{versions}");
    if let Some(library) = &bench.library {
        println!("ONNX Runtime {} from {}, f32", library.version(), library.path().display());
    }
    let precision = options.precision.name();
    println!("{} lanes of {} threads, {precision}; evaluations/s", options.lanes, options.threads);
    print!("{:>8} {:>11}", "net", "backend");
    for rows in &options.batch {
        print!(" {:>10}", format!("b{rows}"));
    }
    println!();
    for net in &options.nets {
        for backend in &options.backend {
            bench.row(*backend, *net);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::{Bench, Options};

    /// The options as a command of their own.
    #[derive(Parser)]
    struct Alone {
        #[command(flatten)]
        options: Options,
    }

    #[test]
    fn what_cannot_be_measured_is_an_error_before_any_measurement() {
        for (given, expected) in
            [("--backend onnx", "--onnxruntime PATH"), ("--backend torch,onnx-packed", "--onnxruntime PATH")]
        {
            let options = Alone::parse_from(std::iter::once("evaluate").chain(given.split(' '))).options;
            let error = Bench::new(&options).err().expect("it lacks the library").to_string();
            assert!(error.contains(expected), "{error}");
        }
        for given in ["--seconds=-1", "--seconds=nan", "--lanes=0", "--batch=0", "--threads=0"] {
            assert!(Alone::try_parse_from(["evaluate", given]).is_err(), "{given}");
        }
    }
}
