//! The command line: a script and how it is run, or one of the commands.

use std::ffi::OsString;

use clap::error::ErrorKind;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};
use dc0_process::command::Entry;
use dc0_script::args::ScriptArgs;

use crate::commands::COMMANDS;

const EXIT_CODES: &str = "Exit codes: 0 done, 1 the work failed or what was compared differs, 2 the script, its parameters or the command line are wrong, \
3 a file cannot be read or written or is damaged, 130 stopped on request.";

/// What the program is told to do.
pub(crate) enum Task {
    /// A command, with its arguments.
    Command(&'static Entry, ArgMatches),
    /// To run a script.
    Script(Box<ScriptArgs>),
}

/// Reads the command line of this process. A wrong one, and a question for the program's own help, end it.
pub(crate) fn parse() -> Task {
    read(std::env::args_os()).unwrap_or_else(|error| error.exit())
}

/// Reads a command line. Where clap would show its help, and a script is given, the script is to show its own.
pub(crate) fn read(words: impl IntoIterator<Item = OsString>) -> Result<Task, clap::Error> {
    let words: Vec<OsString> = words.into_iter().collect();
    let asked = match program().try_get_matches_from(&words) {
        Err(error) if error.kind() == ErrorKind::DisplayHelp => error,
        matches => return task(&matches?),
    };
    let Ok(matches) = without_help().try_get_matches_from(words) else { return Err(asked) };
    match task(&matches) {
        Ok(Task::Script(mut script)) if script.script.is_some() => {
            script.help = true;
            Ok(Task::Script(script))
        }
        _ => Err(asked),
    }
}

fn task(matches: &ArgMatches) -> Result<Task, clap::Error> {
    match matches.subcommand() {
        Some((name, matches)) => {
            let entry = COMMANDS.iter().find(|entry| entry.name == name);
            Ok(Task::Command(entry.expect("clap knows the listed commands only"), matches.clone()))
        }
        None => Ok(Task::Script(Box::new(ScriptArgs::from_arg_matches(matches)?))),
    }
}

fn program() -> Command {
    ScriptArgs::augment_args(Command::new("dc0-run"))
        .version(env!("CARGO_PKG_VERSION"))
        .about("Runs AlphaZero chess experiments from Rhai scripts")
        .after_help(EXIT_CODES)
        .args_conflicts_with_subcommands(true)
        .subcommand_negates_reqs(true)
        .subcommands(COMMANDS.iter().map(|entry| (entry.arguments)()))
}

/// The command line on which `--help` is an option like others.
fn without_help() -> Command {
    let help = Arg::new("help").short('h').long("help").action(ArgAction::SetTrue).help("Show this help");
    program().disable_help_flag(true).arg(help)
}

/// The options for scripts, as the program's own help shows them.
pub(crate) fn script_options() -> String {
    without_help().help_template("{options}{after-help}").render_help().to_string()
}

#[cfg(test)]
mod tests {
    use super::{ErrorKind, Task, program, read};

    fn parsed(line: &str) -> Result<Task, ErrorKind> {
        read(line.split(' ').map(Into::into)).map_err(|error| error.kind())
    }

    fn asks_for_a_scripts_help(line: &str) -> Result<bool, ErrorKind> {
        parsed(line).map(|task| matches!(task, Task::Script(script) if script.help))
    }

    #[test]
    fn the_command_line_is_consistent() {
        program().debug_assert();
    }

    #[test]
    fn a_first_word_is_a_command_or_else_a_script() {
        let Ok(Task::Script(script)) = parsed("dc0-run x.rhai --set a=1 --set b.c=2") else {
            panic!("a script")
        };
        assert_eq!(script.script.expect("a script"), std::path::Path::new("x.rhai"));
        assert_eq!(script.overrides.len(), 2);
        assert!(matches!(parsed("dc0-run doctor"), Ok(Task::Command(entry, _)) if entry.name == "doctor"));
        assert!(parsed("dc0-run").is_err());
        assert!(parsed("dc0-run x.rhai --set nothing").is_err());
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
