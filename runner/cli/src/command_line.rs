//! The command line: a script with its options, or one of the commands.

use std::ffi::OsString;

use clap::error::ErrorKind;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};
use dc0_process::command::Entry;
use dc0_script::args::ScriptArgs;

use crate::commands::COMMANDS;

const EXIT_CODES: &str = "Exit codes: 0 done, 1 the work failed or what was compared differs, 2 the script, its parameters or the command line are wrong, \
3 a file cannot be read or written or is damaged, 130 stopped on request.";

/// What the program is to do.
pub(crate) enum Task {
    /// A command, with its arguments.
    Command(&'static Entry, ArgMatches),
    /// To run a script.
    Script(Box<ScriptArgs>),
}

/// Reads a command line. `--help` with a script is the script's own help.
pub(crate) fn read(args: impl IntoIterator<Item = OsString>) -> Result<Task, clap::Error> {
    let args: Vec<OsString> = args.into_iter().collect();
    let help = match program().try_get_matches_from(&args) {
        Err(error) if error.kind() == ErrorKind::DisplayHelp => error,
        matches => return task(&matches?),
    };
    let Ok(matches) = without_help().try_get_matches_from(args) else { return Err(help) };
    match task(&matches) {
        Ok(Task::Script(mut script)) if script.script.is_some() => {
            script.help = true;
            Ok(Task::Script(script))
        }
        _ => Err(help),
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

/// The command line with `--help` as an ordinary option.
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

    fn is_script_help(line: &str) -> Result<bool, ErrorKind> {
        parsed(line).map(|task| matches!(task, Task::Script(script) if script.help))
    }

    #[test]
    fn the_command_line_is_consistent() {
        program().debug_assert();
    }

    #[test]
    fn the_first_argument_is_a_command_or_a_script() {
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
    fn help_with_a_script_is_the_scripts_own() {
        for line in ["dc0-run x.rhai --help", "dc0-run -h x.rhai", "dc0-run --set a=1 x.rhai -h"] {
            assert_eq!(is_script_help(line), Ok(true), "{line}");
        }
        for line in ["dc0-run --help", "dc0-run doctor --help", "dc0-run uci -h"] {
            assert_eq!(is_script_help(line), Err(ErrorKind::DisplayHelp), "{line}");
        }
        assert_eq!(is_script_help("dc0-run x.rhai"), Ok(false));
        assert_eq!(is_script_help("dc0-run x.rhai --hlep"), Err(ErrorKind::UnknownArgument));
    }
}
