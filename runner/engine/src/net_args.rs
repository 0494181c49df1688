//! The arguments that say which net plays and what runs it.

use std::path::PathBuf;

use clap::Args;
use dc0_backend::Backend;

/// A net, and what runs it.
#[derive(Debug, Args)]
pub struct NetArgs {
    /// The net: a weights file, or the folder of a run and one of its generations [default: the shipped one].
    #[arg(long, value_name = "NET.safetensors|RUN[:GENERATION]")]
    pub net: Option<String>,
    /// What runs the net: torch, onnx, or auto for the faster one here [default: auto; for `explain` and `analysis` torch].
    #[arg(long, value_name = "NAME", value_parser = dc0_backend::parse_backend)]
    pub backend: Option<Backend>,
    /// Where the net runs: auto, cpu, cuda:0 [default: auto].
    #[arg(long, value_name = "NAME")]
    pub device: Option<String>,
    /// ONNX Runtime's library, or the folder that holds it [default: set-up's, Python's or the system's].
    #[arg(long, value_name = "PATH")]
    pub onnxruntime: Option<PathBuf>,
}

/// A parameter and its value.
pub(crate) fn pair(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("expected NAME=VALUE, such as c_puct=2")?;
    Ok((name.trim().to_owned(), value.trim().to_owned()))
}
