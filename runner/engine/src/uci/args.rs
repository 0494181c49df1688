//! The arguments of `uci`.

use std::path::PathBuf;

use clap::Args;
use dc0_backend::Backend;

/// What the engine starts with; a chess program may change it.
#[derive(Debug, Args)]
pub struct UciArgs {
    /// The net: a weights file, or the folder of a run and one of its generations [default: the one in the program].
    #[arg(long, value_name = "NET.safetensors|RUN[:GENERATION]")]
    pub net: Option<String>,
    /// What runs the net: torch, onnx, or auto for the faster one here [default: torch].
    #[arg(long, value_name = "NAME", value_parser = dc0_backend::parse_backend)]
    pub backend: Option<Backend>,
    /// Where the net runs: auto, cpu, cuda:0 [default: auto].
    #[arg(long, value_name = "NAME")]
    pub device: Option<String>,
    /// ONNX Runtime's library, or the folder that holds it [default: found with Python or the system].
    #[arg(long, value_name = "PATH")]
    pub onnxruntime: Option<PathBuf>,
    /// Set an option, such as `--option Threads=4`; `uci` lists them.
    #[arg(long = "option", value_name = "NAME=VALUE", value_parser = option)]
    pub options: Vec<(String, String)>,
}

fn option(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("expected NAME=VALUE")?;
    Ok((name.trim().to_owned(), value.trim().to_owned()))
}
