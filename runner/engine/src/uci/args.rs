//! The arguments of `uci`.

use clap::Args;

use crate::net_args::NetArgs;

/// What the engine starts with; a chess program may change it.
#[derive(Debug, Args)]
pub struct UciArgs {
    /// The net.
    #[command(flatten)]
    pub net: NetArgs,
    /// Set an option, such as `--option Threads=4`; `uci` lists them.
    #[arg(long = "option", value_name = "NAME=VALUE", value_parser = option)]
    pub options: Vec<(String, String)>,
}

fn option(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("expected NAME=VALUE")?;
    Ok((name.trim().to_owned(), value.trim().to_owned()))
}
