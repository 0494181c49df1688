//! The command line of xtask, parsed by hand: a parser crate would double the build time.

use std::path::PathBuf;

use anyhow::{bail, ensure};

use crate::setup;

pub(crate) const HELP: &str = "\
The tasks around dc0 that cargo alone cannot do.

  cargo xtask setup [--cuda] [--wheels DIR]
                              put libtorch 2.11.0 into .libtorch, DuckDB's library into .duckdb and ONNX Runtime's into
                              .onnxruntime, if they are missing
      --cuda                  with the libraries for NVIDIA GPUs (larger by several GB)
      --wheels DIR            use libtorch's wheels in DIR and download nothing, neither DuckDB nor ONNX Runtime
  cargo xtask run SCRIPT [ARGS]
                              set up, build dc0-run in release mode, run the script with it
  cargo xtask tablebases      put the Syzygy tablebases with three and four pieces into .syzygy (6 MB to download)
  cargo xtask test [--fast]   everything CI checks: formatting, lints, all tests
      --fast                  formatting, lints and the tests beside the code only
  cargo xtask help            this page";

/// What the user asked for.
#[derive(Debug, PartialEq)]
pub(crate) enum Command {
    Help,
    Setup(setup::Options),
    /// The arguments for dc0-run, the script first.
    Run(Vec<String>),
    Tablebases,
    Test {
        /// Leave out whatever takes minutes or needs outside programs.
        fast: bool,
    },
}

impl Command {
    /// Reads the arguments after the program's name.
    pub(crate) fn parse(args: &[String]) -> anyhow::Result<Self> {
        let Some((name, rest)) = args.split_first() else {
            return Ok(Self::Help);
        };
        match name.as_str() {
            "help" | "--help" | "-h" => Ok(Self::Help),
            "setup" => parse_setup(rest).map(Self::Setup),
            "run" => {
                ensure!(
                    !rest.is_empty(),
                    "`cargo xtask run` needs a script; for example experiments/az_small.rhai"
                );
                Ok(Self::Run(rest.to_vec()))
            }
            "tablebases" => {
                ensure!(
                    rest.is_empty(),
                    "`cargo xtask tablebases` does not know `{}`; it takes nothing",
                    rest.join(" ")
                );
                Ok(Self::Tablebases)
            }
            "test" => parse_test(rest),
            other => bail!("unknown command `{other}`; expected setup, run, tablebases, test or help"),
        }
    }
}

fn parse_setup(args: &[String]) -> anyhow::Result<setup::Options> {
    let mut options = setup::Options::default();
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--cuda" => options.cuda = true,
            "--wheels" => {
                let Some(dir) = args.next() else {
                    bail!("`--wheels` needs the folder that holds the wheels");
                };
                options.wheels = Some(PathBuf::from(dir));
            }
            other => bail!("`cargo xtask setup` does not know `{other}`; expected --cuda or --wheels DIR"),
        }
    }
    Ok(options)
}

fn parse_test(args: &[String]) -> anyhow::Result<Command> {
    match args {
        [] => Ok(Command::Test { fast: false }),
        [flag] if flag == "--fast" => Ok(Command::Test { fast: true }),
        _ => bail!("`cargo xtask test` does not know `{}`; expected nothing or --fast", args.join(" ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> anyhow::Result<Command> {
        Command::parse(&line.split_whitespace().map(String::from).collect::<Vec<_>>())
    }

    #[test]
    fn reads_every_setup_option() -> anyhow::Result<()> {
        let expected = setup::Options { cuda: true, wheels: Some(PathBuf::from("w")) };
        assert_eq!(parse("setup --cuda --wheels w")?, Command::Setup(expected));
        Ok(())
    }

    #[test]
    fn passes_on_options_after_the_script() -> anyhow::Result<()> {
        let expected = ["a.rhai", "--seed", "7"].map(String::from).to_vec();
        assert_eq!(parse("run a.rhai --seed 7")?, Command::Run(expected));
        Ok(())
    }

    #[test]
    fn an_unknown_argument_is_named_in_the_error() {
        for (line, argument) in [
            ("setpu", "setpu"),
            ("setup --gpu", "--gpu"),
            ("tablebases --all", "--all"),
            ("test --slow", "--slow"),
        ] {
            let message = parse(line).expect_err("the line is wrong").to_string();
            assert!(message.contains(argument), "{message}");
        }
    }
}
