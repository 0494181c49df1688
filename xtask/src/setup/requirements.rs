//! The other wheels with libraries that libtorch needs, from the torch wheel's metadata.

use super::platform::{Flavour, Platform};

/// The meta-package that pins one CUDA release; its extras select parts of it.
const TOOLKIT: &str = "cuda-toolkit";

/// Parts of the toolkit that even `libtorch_cpu.so` needs in the wheels built for CUDA: the runtime and the tracer.
const CPU_PARTS: [&str; 2] = ["cudart", "cupti"];

/// The requirements for pip, without environment markers.
pub(super) fn libraries(metadata: &str, platform: Platform, flavour: Flavour) -> Vec<String> {
    if platform == Platform::Macos {
        return Vec::new();
    }
    let required = metadata.lines().filter_map(|line| line.strip_prefix("Requires-Dist: "));
    required.filter_map(|line| library(line, flavour)).collect()
}

/// The requirement of a line if it names a wheel of libraries, not of Python code, and is not optional.
fn library(line: &str, flavour: Flavour) -> Option<String> {
    let (requirement, marker) = line.split_once(';').unwrap_or((line, ""));
    let requirement = requirement.trim();
    if marker.contains("extra ==")
        || !(requirement.starts_with(TOOLKIT) || requirement.starts_with("nvidia-"))
    {
        return None;
    }
    match flavour {
        Flavour::Cuda => Some(requirement.to_owned()),
        Flavour::Cpu => toolkit_parts(requirement, &CPU_PARTS),
    }
}

/// The toolkit requirement with only `parts` of its extras; `None` if it is not the toolkit or has none of them.
fn toolkit_parts(requirement: &str, parts: &[&str]) -> Option<String> {
    let (extras, version) = requirement.strip_prefix(TOOLKIT)?.strip_prefix('[')?.split_once(']')?;
    let kept: Vec<_> = extras.split(',').map(str::trim).filter(|extra| parts.contains(extra)).collect();
    (!kept.is_empty()).then(|| format!("{TOOLKIT}[{}]{version}", kept.join(",")))
}

#[cfg(test)]
mod tests {
    use super::*;

    const METADATA: &str = "\
Name: torch
Requires-Dist: sympy>=1.13.3
Requires-Dist: cuda-toolkit[cublas,cudart,cupti]==13.0.2; platform_system == \"Linux\"
Requires-Dist: cuda-bindings<14,>=13.0.3; platform_system == \"Linux\"
Requires-Dist: nvidia-nccl-cu13==2.28.9; platform_system == \"Linux\"
Requires-Dist: nvidia-extra==1.0; extra == \"gpu\"
";

    #[test]
    fn the_cpu_flavour_needs_two_parts_of_the_toolkit() {
        let found = libraries(METADATA, Platform::Linux, Flavour::Cpu);
        assert_eq!(found, ["cuda-toolkit[cudart,cupti]==13.0.2"]);
    }

    #[test]
    fn the_cuda_flavour_needs_every_library_but_no_python_package() {
        let found = libraries(METADATA, Platform::Linux, Flavour::Cuda);
        assert_eq!(found, ["cuda-toolkit[cublas,cudart,cupti]==13.0.2", "nvidia-nccl-cu13==2.28.9"]);
    }

    #[test]
    fn macos_and_wheels_without_cuda_need_nothing_more() {
        assert!(libraries(METADATA, Platform::Macos, Flavour::Cpu).is_empty());
        assert!(libraries("Requires-Dist: sympy\n", Platform::Linux, Flavour::Cpu).is_empty());
    }
}
