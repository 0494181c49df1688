//! What evaluates nets: libtorch or ONNX Runtime, on which devices, in which precision.

mod calibration;
pub mod onnxruntime;

use std::fmt::Display;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use dc0_core::alphabeta::QuiescentNnue;
use dc0_core::network::checkpoint::Checkpoint;
use dc0_core::network::nnue::NnueNet;
use dc0_core::network::onnx::{InputForm, OnnxEvaluator, OnnxLibrary, OnnxModel, OnnxOptions};
use dc0_core::network::torch::runtime::{self, DeviceError, LoadError, parse_devices};
use dc0_core::network::torch::{Device, Precision, TorchEvaluator, TorchOptions};
use dc0_core::network::{Evaluator, EvaluatorError, NetworkSpec, Tower};
use thiserror::Error;

pub use calibration::Workload;
pub use dc0_runs::Backend;
use dc0_runs::Environment;
use onnxruntime::OnnxRuntimeError;

/// Parses a backend's name on the command line.
pub fn parse_backend(name: &str) -> Result<Backend, String> {
    Backend::from_name(name).ok_or_else(|| format!("expected one of {}", Backend::NAMES.join(", ")))
}

/// Batches are padded to a multiple of this on devices other than the CPU: few shapes, each prepared once. Chosen.
const DEVICE_PAD_TO: u32 = 64;

/// Whether a net is computed by dc0 itself, on the CPU and row by row, so that a batch is no faster than its rows.
pub fn is_by_rows(net: &NetworkSpec) -> bool {
    net.tower.kind == Tower::Nnue
}

/// Why a backend cannot be used.
#[derive(Debug, Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum BackendError {
    #[error(transparent)]
    Device(#[from] DeviceError),
    #[error(transparent)]
    Load(#[from] LoadError),
    #[error(transparent)]
    OnnxRuntime(#[from] OnnxRuntimeError),
    #[error("the backend onnx runs on the CPU, not on {device}; give `--device cpu` or the backend torch")]
    OnnxDevice { device: String },
    #[error(
        "the backend onnx supports f32 only, not {precision}; leave the precision out or give the backend torch"
    )]
    OnnxPrecision { precision: &'static str },
}

/// The backend that the user requests for a new run's nets.
#[derive(Debug, Clone, Copy)]
pub struct BackendRequest<'a> {
    /// The backend.
    pub backend: Backend,
    /// The devices, as the command line names them.
    pub device: &'a str,
    /// The precision.
    pub precision: Precision,
    /// The path of ONNX Runtime's library, if the user gives it.
    pub onnxruntime: Option<&'a Path>,
}

/// The resolved backend of a run, as stored in its record; nothing is `auto`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice {
    /// `torch` or `onnx`.
    pub backend: Backend,
    /// The devices, separated by commas.
    pub device: String,
    /// The precision.
    pub precision: Precision,
    /// Batches are padded to a multiple of this.
    pub pad_to: u32,
}

impl BackendRequest<'_> {
    /// Resolves `auto`: to the backend that is faster at `work`, or to libtorch if there is nothing to measure.
    pub fn resolve(self, work: Option<&Workload>) -> Result<Choice, BackendError> {
        let is_by_rows = work.is_some_and(|work| is_by_rows(&work.spec));
        // The integers of such a net are computed on the CPU, and need no libtorch that knows of devices.
        let device = if is_by_rows && self.device == "auto" { "cpu" } else { self.device };
        let devices = parse_devices(device)?;
        let is_cpu = devices == [Device::Cpu];
        let device = devices.iter().copied().map(device_name).collect::<Vec<_>>().join(",");
        let torch = self.precision.resolved(devices[0]);
        let has_choice = is_cpu && matches!(self.precision, Precision::Auto | Precision::F32);
        let backend = match (self.backend, work) {
            (Backend::Auto, Some(work)) if has_choice && !is_by_rows => {
                calibration::faster(work, torch, self.onnxruntime)?
            }
            (Backend::Auto, _) => Backend::Torch,
            (backend, _) => backend,
        };
        if let (Backend::Torch, Some(path)) = (self.backend, self.onnxruntime) {
            // It is not needed, but a wrong path is a mistake.
            onnxruntime::load(Some(path))?;
        }
        if backend == Backend::Onnx {
            self.check_onnx(is_cpu, &device)?;
            return Ok(Choice { backend, device, precision: Precision::F32, pad_to: 1 });
        }
        let pad_to = if is_cpu { 1 } else { DEVICE_PAD_TO };
        Ok(Choice { backend, device, precision: torch, pad_to })
    }

    fn check_onnx(self, is_cpu: bool, device: &str) -> Result<(), BackendError> {
        if !is_cpu {
            return Err(BackendError::OnnxDevice { device: device.to_owned() });
        }
        match self.precision {
            Precision::Auto | Precision::F32 => Ok(()),
            other => Err(BackendError::OnnxPrecision { precision: other.name() }),
        }
    }
}

/// Makes the inference copies of nets, one for each lane.
#[derive(Debug)]
pub struct Evaluators {
    engine: Engine,
    /// The number made; lanes take the devices in turn.
    made: AtomicUsize,
}

#[derive(Debug)]
enum Engine {
    Torch { devices: Vec<Device>, precision: Precision, pad_to: u32 },
    Onnx(OnnxLibrary),
}

impl Evaluators {
    /// Evaluators for a resolved backend.
    pub fn new(choice: &Choice, onnxruntime: Option<&Path>) -> Result<Self, BackendError> {
        let engine = match choice.backend {
            Backend::Onnx => Engine::Onnx(onnxruntime::load(onnxruntime)?),
            Backend::Torch | Backend::Auto => {
                let devices = parse_devices(&choice.device)?;
                Engine::Torch { devices, precision: choice.precision, pad_to: choice.pad_to }
            }
        };
        Ok(Self { engine, made: AtomicUsize::new(0) })
    }

    /// The device that training uses, the first one; the CPU for ONNX Runtime.
    pub fn first_device(&self) -> Device {
        match &self.engine {
            Engine::Torch { devices, .. } => devices[0],
            Engine::Onnx(_) => Device::Cpu,
        }
    }

    /// The precision of evaluations.
    pub fn precision(&self) -> Precision {
        match &self.engine {
            Engine::Torch { precision, .. } => *precision,
            Engine::Onnx(_) => Precision::F32,
        }
    }

    /// The backend.
    pub fn backend(&self) -> Backend {
        match &self.engine {
            Engine::Torch { .. } => Backend::Torch,
            Engine::Onnx(_) => Backend::Onnx,
        }
    }

    /// Batches are padded to a multiple of this.
    pub fn pad_to(&self) -> u32 {
        match &self.engine {
            Engine::Torch { pad_to, .. } => *pad_to,
            Engine::Onnx(_) => 1,
        }
    }

    /// The names of the devices that lanes use.
    pub fn device_names(&self) -> Vec<String> {
        match &self.engine {
            Engine::Torch { devices, .. } => devices.iter().copied().map(device_name).collect(),
            Engine::Onnx(_) => vec![device_name(Device::Cpu)],
        }
    }

    /// Versions of the libraries that evaluate and train nets, as [`Choice::libraries`] has them.
    pub fn libraries(&self) -> Result<String, LoadError> {
        let torch = runtime::versions()?;
        Ok(match &self.engine {
            Engine::Torch { .. } => torch,
            Engine::Onnx(library) => format!("{torch}, ONNX Runtime {}", library.version()),
        })
    }

    /// The backend and its version, for the log: rounding depends on it.
    pub fn describe(&self) -> String {
        match &self.engine {
            Engine::Torch { .. } => "libtorch".to_owned(),
            Engine::Onnx(library) => {
                format!("ONNX Runtime {} from {}", library.version(), library.path().display())
            }
        }
    }

    /// What computes a net.
    pub fn describe_for(&self, net: &NetworkSpec) -> String {
        if is_by_rows(net) { "the CPU, in integers".to_owned() } else { self.describe() }
    }

    /// The device that evaluates a net: the first one, or the CPU for an `nnue`.
    pub fn device_for(&self, net: &NetworkSpec) -> Device {
        if is_by_rows(net) { Device::Cpu } else { self.first_device() }
    }

    /// Makes an evaluator for a lane. On a CPU it has one thread, since lanes share the processor. Nets of the kind `nnue` are computed
    /// in integers by dc0 itself, whatever the backend.
    pub fn make(&self, net: &Checkpoint) -> Result<Box<dyn Evaluator>, EvaluatorError> {
        if is_by_rows(&net.spec) {
            return boxed(NnueNet::shared(&net.spec, &net.weights).map(QuiescentNnue::new));
        }
        match &self.engine {
            Engine::Torch { precision, .. } => self.make_on_torch(net, *precision),
            Engine::Onnx(library) => {
                let model = OnnxModel::export(&net.spec, &net.weights, None, InputForm::Packed);
                let evaluator =
                    model.and_then(|model| OnnxEvaluator::new(library, &model, OnnxOptions::default()));
                boxed(evaluator)
            }
        }
    }

    /// As [`make`](Self::make); with a precision of its own always on libtorch, so not for nets of the kind `nnue`.
    pub fn make_in(
        &self,
        net: &Checkpoint,
        precision: Option<Precision>,
    ) -> Result<Box<dyn Evaluator>, EvaluatorError> {
        match precision {
            Some(precision) => self.make_on_torch(net, precision),
            None => self.make(net),
        }
    }

    fn make_on_torch(
        &self,
        net: &Checkpoint,
        precision: Precision,
    ) -> Result<Box<dyn Evaluator>, EvaluatorError> {
        let (device, pad_to) = match &self.engine {
            Engine::Torch { devices, pad_to, .. } => {
                let lane = self.made.fetch_add(1, Ordering::Relaxed);
                (devices[lane % devices.len()], *pad_to)
            }
            Engine::Onnx(_) => (Device::Cpu, 1),
        };
        let options = TorchOptions { device, precision, pad_to, ..TorchOptions::default() };
        boxed(TorchEvaluator::new(&net.spec, &net.weights, options))
    }
}

fn boxed<T: Evaluator + 'static>(
    made: Result<T, impl Display>,
) -> Result<Box<dyn Evaluator>, EvaluatorError> {
    Ok(Box::new(made.map_err(|cause| EvaluatorError::Make { cause: cause.to_string() })?))
}

impl Choice {
    /// Versions of the libraries that evaluate and train nets: rounding depends on them.
    pub fn libraries(&self, onnxruntime: Option<&Path>) -> Result<String, BackendError> {
        let torch = runtime::versions()?;
        match self.backend {
            Backend::Onnx => {
                Ok(format!("{torch}, ONNX Runtime {}", onnxruntime::load(onnxruntime)?.version()))
            }
            Backend::Torch | Backend::Auto => Ok(torch),
        }
    }

    /// Reads the backend from a run's record; the error says what is wrong with it.
    pub fn of(environment: &Environment) -> Result<Self, String> {
        let Environment { backend, device, precision, pad_to, .. } = environment;
        Ok(Self {
            backend: Backend::from_name(backend).ok_or_else(|| format!("there is no backend {backend}"))?,
            device: device.clone(),
            precision: Precision::from_name(precision)
                .ok_or_else(|| format!("there is no precision {precision}"))?,
            pad_to: *pad_to,
        })
    }
}

/// The names of the devices given on the command line, one by one.
pub fn devices(given: &str) -> Result<Vec<String>, BackendError> {
    Ok(parse_devices(given)?.into_iter().map(device_name).collect())
}

/// A device's name on the command line.
pub fn device_name(device: Device) -> String {
    match device {
        Device::Cpu => "cpu".to_owned(),
        Device::Cuda(number) => format!("cuda:{number}"),
        Device::Mps => "mps".to_owned(),
        Device::Vulkan => "vulkan".to_owned(),
    }
}

/// Lanes that keep a device busy, if there are cores for them: while one waits for its batch, the others search. See the table of lanes
/// in `docs/performance.md`.
const LANES_PER_DEVICE: u32 = 8;

/// The number of lanes for devices with these names. On a CPU each core has one. On other devices a core can serve two at least, of which
/// one waits.
pub fn lanes_on(devices: &[String]) -> u32 {
    let count = devices.len() as u32;
    if devices == ["cpu"] { cores() } else { (LANES_PER_DEVICE * count).min(cores()).max(2 * count) }
}

/// The processor cores that this process may use.
pub fn cores() -> u32 {
    std::thread::available_parallelism().map_or(1, |cores| cores.get() as u32)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::onnxruntime::OnnxRuntimeError;
    use super::{Backend, BackendError, BackendRequest, Choice, Evaluators};
    use dc0_core::network::checkpoint::Checkpoint;
    use dc0_core::network::torch::Precision;
    use dc0_core::network::{NetworkSpec, Tower, TowerSpec, initial_weights};
    use dc0_core::params::Value;
    use dc0_core::rng::Seed;

    fn resolved(backend: Backend, device: &str, precision: Precision) -> Result<Choice, BackendError> {
        BackendRequest { backend, device, precision, onnxruntime: None }.resolve(None)
    }

    #[test]
    fn a_resolved_backend_has_nothing_automatic() {
        let choice = resolved(Backend::Auto, "cpu", Precision::Auto).expect("a CPU");
        assert_eq!((choice.backend, choice.device.as_str(), choice.pad_to), (Backend::Torch, "cpu", 1));
        assert_ne!(choice.precision, Precision::Auto);
        let onnx = resolved(Backend::Onnx, "cpu", Precision::Auto).expect("a CPU");
        assert_eq!((onnx.backend, onnx.precision), (Backend::Onnx, Precision::F32));
    }

    #[test]
    fn a_given_library_must_be_usable_even_if_libtorch_is_requested() {
        let onnxruntime = Some(Path::new("/nowhere/lib.so"));
        let (backend, precision) = (Backend::Torch, Precision::F32);
        let found = BackendRequest { backend, device: "cpu", precision, onnxruntime }.resolve(None);
        let is_refused = matches!(found, Err(BackendError::OnnxRuntime(OnnxRuntimeError::Given { .. })));
        assert!(is_refused, "{found:?}");
    }

    #[test]
    fn a_net_that_cannot_be_computed_is_named_as_the_cause() {
        let tower = TowerSpec { kind: Tower::Nnue, filters: 64, ..TowerSpec::default() };
        let spec = NetworkSpec { tower, ..NetworkSpec::default() };
        let mut weights = initial_weights(&spec, Seed { run: 0, step: 0 });
        weights.values_mut().flat_map(|tensor| &mut tensor.data).for_each(|weight| *weight *= 1e6);
        let net = Checkpoint { spec, weights, provenance: Value::None };
        let choice = resolved(Backend::Torch, "cpu", Precision::F32).expect("a CPU");
        let made = Evaluators::new(&choice, None).expect("a CPU").make(&net);
        let error = made.err().expect("numbers above 16 bits").to_string();
        assert!(
            error.starts_with("the net cannot evaluate positions: output 0 of the layer stem"),
            "{error}"
        );
    }

    #[test]
    fn onnx_runtime_needs_the_cpu_and_32_bits() {
        let error = resolved(Backend::Onnx, "cpu", Precision::Bf16).expect_err("16 bits");
        assert!(error.to_string().contains("supports f32 only, not bf16"), "{error}");
        assert!(matches!(resolved(Backend::Torch, "gpu", Precision::Auto), Err(BackendError::Device(_))));
    }
}
