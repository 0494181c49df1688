//! Compiles the C++ layer of `torch-sys` into a shared library, and writes a jump for each of its functions.
//!
//! `torch-sys` links every program with libtorch, which the loader then maps at each start: a quarter of a second and more than 100 MB
//! for programs that may never need it. With its feature `doc-only` it declares its functions and links nothing; what it left out is
//! made here, and `src/lib.rs` loads it at the first call.

use std::collections::BTreeSet;
use std::env;
use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The libtorch that this version of `torch-sys` is written for.
const VERSION: &str = "2.11.0";

/// The name of the shared library.
const LIBRARY: &str = "libdc0_torch.so";

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=LIBTORCH");
    let target = |name: &str| env::var(format!("CARGO_CFG_TARGET_{name}"));
    if target("OS")? != "linux" || target("ARCH")? != "x86_64" {
        return Ok(());
    }
    let out = PathBuf::from(env::var("OUT_DIR")?);
    let sources = torch_sys()?;
    println!("cargo::rerun-if-changed={}", sources.display());
    compile(&sources, &out)?;
    let functions = functions(&sources.join("src"))?;
    fs::write(out.join("jumps.rs"), jumps(&functions))?;
    Ok(())
}

/// The sources of `torch-sys`.
fn torch_sys() -> Result<PathBuf, Box<dyn Error>> {
    let metadata = Command::new(env::var("CARGO")?)
        .args(["metadata", "--format-version", "1", "--filter-platform", &env::var("TARGET")?])
        .arg("--manifest-path")
        .arg(Path::new(&env::var("CARGO_MANIFEST_DIR")?).join("Cargo.toml"))
        .output()?;
    if !metadata.status.success() {
        return Err(format!("cargo metadata: {}", String::from_utf8_lossy(&metadata.stderr)).into());
    }
    let metadata: serde_json::Value = serde_json::from_slice(&metadata.stdout)?;
    let packages = metadata["packages"].as_array().ok_or("cargo metadata names no packages")?;
    let package = packages.iter().find(|package| package["name"] == "torch-sys");
    let manifest = package.and_then(|package| package["manifest_path"].as_str());
    let folder = Path::new(manifest.ok_or("cargo metadata does not name torch-sys")?).parent();
    Ok(folder.ok_or("the manifest of torch-sys lies in no folder")?.to_owned())
}

/// As the build script of `torch-sys` compiles them, but into a shared library.
fn compile(sources: &Path, out: &Path) -> Result<(), Box<dyn Error>> {
    let libtorch = env::var("LIBTORCH").map(PathBuf::from)?;
    let include = libtorch.join("include");
    if !include.is_dir() {
        return Err(format!("there is no libtorch in {}; run `cargo xtask setup`", libtorch.display()).into());
    }
    let header = include.join("torch/headeronly/version.h");
    let found = fs::read_to_string(&header).map_err(|cause| format!("{}: {cause}", header.display()))?;
    if !found.contains(&format!("\"{VERSION}\"")) {
        let shown = header.display();
        return Err(format!("dc0 needs libtorch {VERSION}, and {shown} is of another version").into());
    }
    let mut build = cc::Build::new();
    build
        .cpp(true)
        .pic(true)
        .warnings(false)
        .debug(false)
        .include(&include)
        .include(include.join("torch/csrc/api/include"))
        .std("c++17")
        .define("_GLIBCXX_USE_CXX11_ABI", "1")
        .define("GLOG_USE_GLOG_EXPORT", None)
        .files(["torch_api.cpp", "torch_api_generated.cpp"].map(|file| sources.join("libtch").join(file)));
    let objects = build.try_compile_intermediates()?;
    let libraries = libtorch.join("lib");
    let linked = build
        .try_get_compiler()?
        .to_command()
        .arg("-shared")
        .arg("-o")
        .arg(out.join(LIBRARY))
        .args(objects)
        .arg(format!("-L{}", libraries.display()))
        .args(["-ltorch_cpu", "-lc10", "-Wl,-Bsymbolic", "-Wl,--strip-all"])
        .arg(format!("-Wl,--disable-new-dtags,-rpath,{}", libraries.display()))
        .output()?;
    if !linked.status.success() {
        return Err(format!("linking {LIBRARY}: {}", String::from_utf8_lossy(&linked.stderr)).into());
    }
    Ok(())
}

/// The functions that `torch-sys` declares and does not define.
fn functions(sources: &Path) -> Result<BTreeSet<String>, Box<dyn Error>> {
    let mut functions = BTreeSet::new();
    for file in ["lib.rs", "c_generated.rs", "cuda.rs"] {
        let mut is_declaration = false;
        for line in fs::read_to_string(sources.join(file))?.lines() {
            match line {
                "extern \"C\" {" => is_declaration = true,
                "}" => is_declaration = false,
                _ => {}
            }
            let name = line.trim_start().strip_prefix("pub fn ").and_then(|rest| rest.split('(').next());
            functions.extend(name.filter(|_| is_declaration).map(str::to_owned));
        }
    }
    Ok(functions)
}

/// For each function a jump to where it lies once it is loaded, and the list of their names.
///
/// The first call goes to `dc0_libtorch_first_call`, which keeps the arguments, loads the library and returns to the jump.
fn jumps(functions: &BTreeSet<String>) -> String {
    let mut text = format!("static NAMES: [&CStr; {}] = [\n", functions.len());
    for name in functions {
        writeln!(text, "    c\"{name}\",").expect("a text takes all");
    }
    text += "];\n\nstd::arch::global_asm!(\n    r#\"\n";
    text += ".section .text.dc0_libtorch,\"ax\",@progbits\n";
    for (index, name) in functions.iter().enumerate() {
        writeln!(
            text,
            ".globl {name}\n.type {name},@function\n{name}:\n\
             2: movq {{functions}}+8*{index}(%rip), %r11\n\
             testq %r11, %r11\njz 3f\njmpq *%r11\n\
             3: callq dc0_libtorch_first_call\njmp 2b"
        )
        .expect("a text takes all");
    }
    text += ".text\n\"#,\n    functions = sym FUNCTIONS,\n    options(att_syntax)\n);\n";
    text
}
