//! `--help` beside a script: the script's own help instead of the program's.

use std::ffi::OsString;

use clap::error::ErrorKind;
use clap::{Arg, ArgAction, Command, CommandFactory, FromArgMatches, Parser};

use crate::cli::Cli;

/// Reads the command line of this process. A wrong one, and a question for the program's own help, end it.
pub fn parse() -> Cli {
    read(std::env::args_os().collect()).unwrap_or_else(|error| error.exit())
}

/// Reads a command line. Where clap would show its help, and a script is given, the script is to show its own.
fn read(words: Vec<OsString>) -> Result<Cli, clap::Error> {
    let asked = match Cli::try_parse_from(&words) {
        Err(error) if error.kind() == ErrorKind::DisplayHelp => error,
        read => return read,
    };
    let Ok(matches) = without_help().try_get_matches_from(words) else { return Err(asked) };
    match Cli::from_arg_matches(&matches) {
        Ok(mut cli) if cli.command.is_none() && cli.script.script.is_some() => {
            cli.script.help = true;
            Ok(cli)
        }
        _ => Err(asked),
    }
}

/// The command line on which `--help` is an option like others.
fn without_help() -> Command {
    let help = Arg::new("help").short('h').long("help").action(ArgAction::SetTrue).help("Show this help");
    Cli::command().disable_help_flag(true).arg(help)
}

/// The options for scripts, as the program's own help shows them.
pub fn options() -> String {
    without_help().help_template("{options}{after-help}").render_help().to_string()
}

#[cfg(test)]
mod tests {
    use super::{ErrorKind, read};

    fn asks_for_a_scripts_help(line: &str) -> Result<bool, ErrorKind> {
        let words = line.split(' ').map(Into::into).collect();
        read(words).map(|cli| cli.script.help).map_err(|error| error.kind())
    }

    #[test]
    fn help_beside_a_script_is_the_scripts_and_else_the_programs() {
        for line in ["dc0-run x.rhai --help", "dc0-run -h x.rhai", "dc0-run --set a=1 x.rhai -h"] {
            assert_eq!(asks_for_a_scripts_help(line), Ok(true), "{line}");
        }
        for line in ["dc0-run --help", "dc0-run doctor --help", "dc0-run uci -h"] {
            assert_eq!(asks_for_a_scripts_help(line), Err(ErrorKind::DisplayHelp), "{line}");
        }
        assert_eq!(asks_for_a_scripts_help("dc0-run x.rhai"), Ok(false));
        assert_eq!(asks_for_a_scripts_help("dc0-run x.rhai --hlep"), Err(ErrorKind::UnknownArgument));
    }
}
