//! Process-wide settings for libtorch: loading it, the CUDA library, threads and devices.

use std::error::Error as _;
use std::mem;
use std::sync::OnceLock;

pub use dc0_libtorch::LoadError;
use libloading::os::unix::{Library, RTLD_GLOBAL, RTLD_NOW};
use tch::{Cuda, Device};
use thiserror::Error;

/// Whether nets can run on CUDA devices.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CudaStatus {
    /// CUDA works.
    On {
        /// The number of devices.
        devices: i64,
    },
    /// CUDA does not work.
    Off {
        /// The reason, for people.
        reason: String,
    },
}

/// Loads libtorch, unless it is loaded already, and with it the CUDA library if there is one; says whether CUDA works. Programs whose nets
/// are all of the kind `nnue` never need it.
pub fn load() -> Result<&'static CudaStatus, LoadError> {
    static CUDA: OnceLock<CudaStatus> = OnceLock::new();
    dc0_libtorch::load()?;
    Ok(CUDA.get_or_init(load_cuda))
}

/// Whether libtorch is loaded.
pub fn is_loaded() -> bool {
    dc0_libtorch::is_loaded()
}

/// libtorch's CUDA library. Loading it registers the device, so the program need not be linked against it.
const CUDA_LIBRARY: &str = "libtorch_cuda.so";

fn load_cuda() -> CudaStatus {
    if let Err(reason) = open_library(CUDA_LIBRARY) {
        return CudaStatus::Off { reason };
    }
    if Cuda::is_available() {
        CudaStatus::On { devices: Cuda::device_count() }
    } else {
        let reason =
            "libtorch_cuda.so is loaded and finds no device; check the driver with nvidia-smi".to_owned();
        CudaStatus::Off { reason }
    }
}

/// Whether the driver of CUDA is installed. Without it there is no CUDA device, whatever libtorch could do.
fn has_driver() -> bool {
    open_library("libcuda.so.1").is_ok()
}

/// Loads a library from the loader's search path: next to libtorch's other libraries by the program's run path, then
/// system-wide.
#[allow(unsafe_code, reason = "loading a library has no safe interface")]
fn open_library(name: &str) -> Result<(), String> {
    // SAFETY: the library's initialisers are libtorch's own or those of CUDA's driver, and it is never closed.
    let library = unsafe { Library::open(Some(name), RTLD_NOW | RTLD_GLOBAL) };
    library
        .map(mem::forget)
        .map_err(|error| error.source().map_or_else(|| error.to_string(), ToString::to_string))
}

/// Sets how many threads libtorch uses for work from the calling thread.
///
/// OpenMP keeps this number per thread, so every thread that runs a net must set it.
pub fn set_threads(threads: u32) {
    // Reading it first makes libtorch initialise the thread, which would otherwise reset the setting at its first operation.
    if tch::get_num_threads() != threads as i32 {
        tch::set_num_threads(threads as i32);
    }
}

/// Whether the CPU has bf16 multiplication; without it, bf16 is slower than f32.
pub fn cpu_has_bf16() -> bool {
    #[cfg(target_arch = "x86_64")]
    return std::arch::is_x86_feature_detected!("avx512bf16");
    #[cfg(target_arch = "aarch64")]
    return std::arch::is_aarch64_feature_detected!("bf16");
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    false
}

/// The versions and hardware that nets run on, for a run's record: they can change rounding. Loads libtorch.
pub fn versions() -> Result<String, LoadError> {
    load()?;
    let mkldnn = if tch::utils::has_mkldnn() { "with" } else { "without" };
    let bf16 = if cpu_has_bf16() { "with" } else { "without" };
    Ok(format!("libtorch 2.11.0 {mkldnn} oneDNN, CPU {bf16} bf16, {} CUDA devices", Cuda::device_count()))
}

/// A device that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum DeviceError {
    #[error(
        "`{text}` is not a device; expected auto, cpu, cuda, cuda:0, cuda:1, …, several of these with commas, cuda:all, or mps"
    )]
    Unknown { text: String },
    #[error(
        "`{text}` names several devices that are not all CUDA; give one device, or several like cuda:0,cuda:1"
    )]
    Mixed { text: String },
    #[error(
        "device {text} is not available: found {found} CUDA devices; `dc0-run doctor` says why, `--device cpu` always works"
    )]
    Unavailable { text: String, found: i64 },
    /// libtorch, which knows the devices, cannot be loaded.
    #[error(transparent)]
    Load(#[from] LoadError),
}

/// Parses one or more devices, separated by commas and each as for [`parse_device`], or `cuda:all`.
pub fn parse_devices(text: &str) -> Result<Vec<Device>, DeviceError> {
    if text == "cuda:all" {
        load()?;
        let devices: Vec<Device> = (0..Cuda::device_count() as usize).map(Device::Cuda).collect();
        return if devices.is_empty() { Err(unavailable(text)) } else { Ok(devices) };
    }
    let devices: Vec<Device> = text.split(',').map(parse_device).collect::<Result<_, _>>()?;
    let is_mixed = devices.len() > 1 && !devices.iter().all(|device| device.is_cuda());
    if is_mixed { Err(DeviceError::Mixed { text: text.to_owned() }) } else { Ok(devices) }
}

/// Parses a device: `auto` (the first CUDA device, or else the CPU), `cpu`, `cuda` (the first), `cuda:N` or `mps`. Loads
/// libtorch, except for `cpu`, and for `auto` on a machine without the driver of CUDA.
pub fn parse_device(text: &str) -> Result<Device, DeviceError> {
    if text == "cpu" || text == "auto" && !has_driver() {
        return Ok(Device::Cpu);
    }
    load()?;
    let number = match text {
        "auto" => return Ok(Device::cuda_if_available()),
        "mps" => {
            let usable = tch::utils::has_mps();
            return if usable { Ok(Device::Mps) } else { Err(unavailable(text)) };
        }
        "cuda" => Some(0),
        _ => text.strip_prefix("cuda:").and_then(|number| number.parse::<usize>().ok()),
    };
    let number = number.ok_or_else(|| DeviceError::Unknown { text: text.to_owned() })?;
    let usable = i64::try_from(number).is_ok_and(|number| number < Cuda::device_count());
    if usable { Ok(Device::Cuda(number)) } else { Err(unavailable(text)) }
}

fn unavailable(text: &str) -> DeviceError {
    DeviceError::Unavailable { text: text.to_owned(), found: Cuda::device_count() }
}
