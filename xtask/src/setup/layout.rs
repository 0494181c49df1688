//! Which files of which wheel are installed, and where.
//!
//! All libraries go into `lib`, whichever wheel they come from: each looks for the others beside itself (its run path
//! holds `$ORIGIN`). Files that only Python needs are left out.

use super::platform::{Flavour, Platform};

/// Libraries that only CUDA needs, and those that only Python needs.
const CUDA_ONLY: [&str; 5] = ["c10_cuda", "caffe2_nvrtc", "torch_cuda", "torch_cuda_linalg", "torch_nvshmem"];
const PYTHON_ONLY: [&str; 3] = ["torch_python", "torch_global_deps", "shm"];

/// Libraries from NVIDIA's wheels that `libtorch_cpu.so` is linked against.
const CPU_NEEDS: [&str; 2] = ["libcudart.so", "libcupti.so"];

/// What else a set-up for GPUs needs: libtorch's own library, and those that it and the libraries that it loads later need.
const CUDA_NEEDS: [&str; 14] = [
    "libtorch_cuda.so",
    "libcublas.so",
    "libcublasLt.so",
    "libcudnn.so",
    "libcufft.so",
    "libcufile.so",
    "libcurand.so",
    "libcusolver.so",
    "libcusparse.so",
    "libcusparseLt.so",
    "libnccl.so",
    "libnvJitLink.so",
    "libnvrtc.so",
    "libnvshmem_host.so",
];

/// Linker scripts. The wheels' `libtorch.so` only ties the CPU and CUDA libraries together, so it does not load without
/// CUDA, but tch's build passes it to the linker; this script in its place names the libraries that matter.
/// The second replaces the compiler's own file of that name, which not every system has.
const LINUX_SCRIPTS: [(&str, &str); 2] =
    [("lib/libtorch.so", "INPUT(libtorch_cpu.so libc10.so)\n"), ("lib/libgomp.so", "INPUT(libgomp.so.1)\n")];

/// The installed path of an entry of the torch wheel; `None` if it is left out.
pub(super) fn of_torch(entry: &str, platform: Platform, flavour: Flavour) -> Option<String> {
    if let Some(header) = entry.strip_prefix("torch/include/") {
        return Some(format!("include/{header}"));
    }
    let name = entry.strip_prefix("torch/lib/").or_else(|| entry.strip_prefix("torch.libs/"))?;
    let stem = library_stem(name)?;
    let unwanted = PYTHON_ONLY.contains(&stem)
        || (flavour == Flavour::Cpu && CUDA_ONLY.contains(&stem))
        || (platform == Platform::Linux && stem == "torch");
    (!unwanted).then(|| format!("lib/{name}"))
}

/// The installed path of an entry of a wheel with NVIDIA's libraries; `None` if it is left out.
pub(super) fn of_nvidia(entry: &str, flavour: Flavour) -> Option<String> {
    let (folder, name) = entry.rsplit_once('/')?;
    let is_library = folder.ends_with("/lib") && name.contains(".so");
    let wanted = flavour == Flavour::Cuda || CPU_NEEDS.iter().any(|needed| is_version_of(name, needed));
    (is_library && wanted).then(|| format!("lib/{name}"))
}

/// The libraries that a torch wheel built for CUDA needs and that are not among `installed`, the files of `lib`.
pub(super) fn missing(installed: &[String], flavour: Flavour) -> Vec<&'static str> {
    let cuda: &[_] = if flavour == Flavour::Cuda { &CUDA_NEEDS } else { &[] };
    let needed = CPU_NEEDS.iter().chain(cuda).copied();
    needed.filter(|library| !installed.iter().any(|name| is_version_of(name, library))).collect()
}

/// Whether `name` is `library` or has a version after it: `libcudnn.so.9` is one of `libcudnn.so`.
fn is_version_of(name: &str, library: &str) -> bool {
    name.strip_prefix(library).is_some_and(|version| version.is_empty() || version.starts_with('.'))
}

/// Small files written beside the unpacked ones: path and content.
pub(super) fn written(platform: Platform, version: &str) -> Vec<(String, String)> {
    let mut files = vec![("build-version".to_owned(), format!("{version}\n"))];
    if platform == Platform::Linux {
        files.extend(LINUX_SCRIPTS.map(|(path, text)| (path.to_owned(), text.to_owned())));
    }
    files
}

/// `torch_cpu` for `libtorch_cpu.so`, `libtorch_cpu.dylib` or `libtorch_cpu.so.1`; `None` for other files and folders.
fn library_stem(name: &str) -> Option<&str> {
    let (stem, ending) = name.strip_prefix("lib")?.split_once('.')?;
    let is_library = ending.split('.').any(|part| part == "so" || part == "dylib");
    (is_library && !ending.contains('/')).then_some(stem)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cpu_installation_takes_headers_and_cpu_libraries() {
        let path_of = |entry| of_torch(entry, Platform::Linux, Flavour::Cpu);
        assert_eq!(path_of("torch/include/ATen/ATen.h").as_deref(), Some("include/ATen/ATen.h"));
        assert_eq!(path_of("torch/lib/libtorch_cpu.so").as_deref(), Some("lib/libtorch_cpu.so"));
        assert_eq!(path_of("torch/lib/libgomp.so.1").as_deref(), Some("lib/libgomp.so.1"));
        for left_out in
            ["torch/lib/libtorch_cuda.so", "torch/lib/libtorch.so", "torch/lib/libshm.so", "torch/nn/a.py"]
        {
            assert_eq!(path_of(left_out), None, "{left_out}");
        }
        assert_eq!(path_of("torch/lib/libshm/socket.h"), None);
    }

    #[test]
    fn macos_keeps_its_libtorch() {
        let path_of = |entry| of_torch(entry, Platform::Macos, Flavour::Cpu);
        assert_eq!(path_of("torch/lib/libtorch.dylib").as_deref(), Some("lib/libtorch.dylib"));
        assert_eq!(path_of("torch/lib/libomp.dylib").as_deref(), Some("lib/libomp.dylib"));
        assert_eq!(path_of("torch/lib/libtorch_python.dylib"), None);
    }

    #[test]
    fn a_cuda_installation_takes_all_of_nvidias_libraries() {
        let cudnn = "nvidia/cudnn/lib/libcudnn.so.9";
        assert_eq!(of_nvidia(cudnn, Flavour::Cuda).as_deref(), Some("lib/libcudnn.so.9"));
        assert_eq!(of_nvidia(cudnn, Flavour::Cpu), None);
        assert_eq!(
            of_nvidia("nvidia/cu13/lib/libcudart.so.13", Flavour::Cpu).as_deref(),
            Some("lib/libcudart.so.13")
        );
        assert_eq!(of_nvidia("nvidia/cu13/include/cuda.h", Flavour::Cuda), None);
    }
    #[test]
    fn what_is_missing_is_named() {
        let installed = ["libcudart.so.13", "libtorch_cuda.so"].map(ToOwned::to_owned);
        assert_eq!(missing(&installed, Flavour::Cpu), ["libcupti.so"]);
        assert_eq!(missing(&installed, Flavour::Cuda).len(), CUDA_NEEDS.len());
    }
}
