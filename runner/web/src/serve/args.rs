//! The command line of `serve`.

use std::net::IpAddr;
use std::path::PathBuf;

use clap::Args;

/// What is served, and to whom.
#[derive(Debug, Args)]
pub struct ServeArgs {
    /// The folder that holds runs.
    #[arg(value_name = "DIR", default_value = "datasets")]
    pub dir: PathBuf,
    /// The port; 0 for any that is free [default: 8420, or the next that is free].
    #[arg(long, value_name = "N")]
    pub port: Option<u16>,
    /// The address to listen on; any but a loopback address lets other machines in, and nothing is encrypted.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1")]
    pub bind: IpAddr,
    /// Another name that browsers reach this machine by, besides localhost and its addresses.
    #[arg(long = "host", value_name = "NAME", value_parser = host)]
    pub hosts: Vec<String>,
    /// Where nets run in games: cpu, auto, cuda:0; the CPU leaves a GPU to the runs.
    #[arg(long, value_name = "NAME", default_value = "cpu")]
    pub device: String,
    /// The most simulations that a move in a game may ask for.
    #[arg(long, value_name = "N", default_value_t = 10_000, value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    pub max_sims: u32,
}

/// A name of a machine. Browsers' ports are not compared, so a name with one would match nothing.
fn host(name: &str) -> Result<String, String> {
    if name.is_empty() || name.contains(|letter: char| ":/".contains(letter) || letter.is_whitespace()) {
        return Err("expected a name without a port or a path, such as lab".to_owned());
    }
    Ok(name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::host;

    #[test]
    fn a_host_is_a_name_alone() {
        assert_eq!(host("lab.example").as_deref(), Ok("lab.example"));
        for wrong in ["", "lab:8477", "http://lab", "lab/", "a b"] {
            assert!(host(wrong).is_err(), "{wrong}");
        }
    }
}
