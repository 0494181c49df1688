//! `dc0-run sweep-slurm`, `sweep-hq` and `sweep-trial`: the trials of a sweep as an array of jobs.
//!
//! The first two choose the points of all trials and write two files: a plan with the command of the trials, and a batch script that
//! only names the plan. No parameter is ever part of a shell's text. The third runs the trials of one task of the plan.

mod batch;
mod plan;

use std::borrow::Cow;
use std::env;
use std::fs;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use clap::parser::ValueSource;
use clap::{ArgAction, ArgMatches, Args, FromArgMatches};
use dc0_core::durable;
use dc0_fleet::redacted;
use dc0_process::command::{Command, Failure, Program};
use dc0_process::exit::Exit;
use dc0_process::format::counted;
use dc0_runs::sweep::alone::{Chosen, SweepPart};
use dc0_runs::{Folder, RunError};
use dc0_script::args::ScriptArgs;
use dc0_script::launch::quoted;

use crate::run_script;
use batch::{HqArgs, Job, SlurmArgs, TaskArgs};
use plan::Plan;

/// Digits of the digest in the files' names: arrays that are still waiting keep their own plans.
const DIGITS: usize = 8;

/// Options of the script's own command, which an array cannot have.
const REFUSED: [&str; 3] = ["check", "parameters", "trials"];

/// A script's command line, read and as it was given.
#[derive(Debug)]
struct ScriptCommand {
    args: ScriptArgs,
    words: Vec<String>,
}

impl Args for ScriptCommand {
    fn augment_args(command: clap::Command) -> clap::Command {
        // Options that `write` refuses are still read, so that it can say why.
        REFUSED
            .iter()
            .fold(ScriptArgs::augment_args(command), |command, id| command.mut_arg(id, |arg| arg.hide(true)))
    }

    fn augment_args_for_update(command: clap::Command) -> clap::Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for ScriptCommand {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        Ok(Self { args: ScriptArgs::from_arg_matches(matches)?, words: words(matches) })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// The words of the command line that belong to the script.
fn words(matches: &ArgMatches) -> Vec<String> {
    let known = ScriptArgs::augment_args(clap::Command::new("script"));
    let (mut options, mut positional) = (Vec::new(), Vec::new());
    for arg in known.get_arguments() {
        let id = arg.get_id().as_str();
        if matches.value_source(id) != Some(ValueSource::CommandLine) {
            continue;
        }
        let values = matches.get_raw(id).into_iter().flatten().map(|value| value.to_string_lossy());
        match arg.get_long() {
            None => positional.extend(values.map(Cow::into_owned)),
            Some(long) if matches!(arg.get_action(), ArgAction::SetTrue) => options.push(format!("--{long}")),
            Some(long) => options.extend(values.map(|value| format!("--{long}={value}"))),
        }
    }
    if positional.iter().any(|word| word.starts_with('-')) {
        options.push("--".to_owned());
        return [options, positional].concat();
    }
    [positional, options].concat()
}

/// An array of Slurm jobs.
#[derive(Debug, Args)]
pub(super) struct SweepSlurmArgs {
    #[command(flatten)]
    script: ScriptCommand,
    #[command(flatten)]
    task: TaskArgs,
    #[command(flatten)]
    slurm: SlurmArgs,
}

/// An array of `HyperQueue` tasks.
#[derive(Debug, Args)]
pub(super) struct SweepHqArgs {
    #[command(flatten)]
    script: ScriptCommand,
    #[command(flatten)]
    task: TaskArgs,
    #[command(flatten)]
    hq: HqArgs,
}

/// One task of an array.
#[derive(Debug, Args)]
pub(super) struct SweepTrialArgs {
    /// The plan that `sweep-slurm` or `sweep-hq` has written.
    #[arg(value_name = "PLAN.json")]
    plan: PathBuf,
    /// The number of the task [default: that of `SLURM_ARRAY_TASK_ID` or `HQ_TASK_ID`].
    #[arg(value_name = "TASK")]
    task: Option<usize>,
}

impl Command for SweepSlurmArgs {
    const NAME: &'static str = "sweep-slurm";
    const ABOUT: &'static str = "Write a Slurm batch script that runs the trials of a script's sweep";

    fn run(&self, program: &Program) -> Result<Exit, Failure> {
        self.slurm.check(&self.task)?;
        write(&self.script, &self.task, "slurm", "sbatch", &|job| self.slurm.text(&self.task, job), program)
    }
}

impl Command for SweepHqArgs {
    const NAME: &'static str = "sweep-hq";
    const ABOUT: &'static str = "Write a HyperQueue script that runs the trials of a script's sweep";

    fn run(&self, program: &Program) -> Result<Exit, Failure> {
        write(&self.script, &self.task, "hq", "hq submit", &|job| self.hq.text(&self.task, job), program)
    }
}

impl Command for SweepTrialArgs {
    const NAME: &'static str = "sweep-trial";
    const ABOUT: &'static str = "Run the trials of one task of a batch script's plan";

    fn run(&self, program: &Program) -> Result<Exit, Failure> {
        let plan = Plan::read(&self.plan)?;
        let trials = plan.trials(&self.plan, self.task)?;
        let folder = &plan.folder;
        env::set_current_dir(folder).map_err(|cause| {
            Failure::new(Exit::Storage, format!("cannot change to the folder {}: {cause}", folder.display()))
        })?;
        let command = ScriptArgs::augment_args(clap::Command::new("dc0-run").no_binary_name(true));
        let args = command.try_get_matches_from(&plan.arguments);
        let args = args.and_then(|matches| ScriptArgs::from_arg_matches(&matches)).map_err(|error| {
            Failure::new(Exit::BadInput, format!("{}: {}", self.plan.display(), error.render()))
        })?;
        run_script(&ScriptArgs { trials, ..args }, program)
    }
}

/// Chooses the points of a script's sweep, and writes the plan and the batch script.
fn write(
    script: &ScriptCommand,
    task: &TaskArgs,
    kind: &str,
    submit: &str,
    text: &dyn Fn(&Job<'_>) -> Result<String, Failure>,
    program: &Program,
) -> Result<Exit, Failure> {
    let bad = |text: &str| Err(Failure::new(Exit::BadInput, text));
    let ScriptCommand { args, words } = script;
    if args.run.check || args.parameters || !args.trials.is_empty() {
        return bad("leave out --check, --parameters and --trial; they belong to the script's own command");
    }
    if args.run.workers.as_ref().is_some_and(|url| redacted(url) != *url) {
        return bad("the credentials in the URL of --workers would stand in a file; use --credentials FILE");
    }
    if args.run.artefacts.as_ref().is_some_and(|url| redacted(url) != *url) {
        return bad(
            "the credentials in the URL of --artefacts would stand in a file; put them into the environment, as docs/guides/several-machines.md says",
        );
    }
    let mut files = args.script.iter().chain(&args.params);
    if let Some(piped) = files.find(|file| file.exists() && !file.is_file()) {
        return bad(&format!(
            "{} is no file, so the tasks could not read it; write it to a file first",
            piped.display()
        ));
    }
    let chosen = Arc::<OnceLock<Chosen>>::default();
    let part = SweepPart::Points { threads: task.cpus(), chosen: Arc::clone(&chosen) };
    let chosen = match run_script(&ScriptArgs { part, ..args.clone() }, program)? {
        Exit::Done => chosen.get().expect("a script that did its part has a sweep"),
        failed => return Ok(failed),
    };
    let here = env::current_dir().map_err(RunError::io("inspect", Path::new(".")))?;
    let command: Vec<String> = words.iter().map(|word| quoted(word)).collect();
    let collect = format!("dc0-run {}", command.join(" "));
    if chosen.left.is_empty() {
        program.console.result(&format!(
            "nothing is left of {}: all its {} have ended\n{collect}",
            chosen.folder.display(),
            counted(chosen.all, "trial")
        ));
        return Ok(Exit::Done);
    }
    let plan = Plan::new(here.clone(), task.arguments(args, words), &chosen.left, task.group());
    let array = here.join(Folder::at(&chosen.folder).array());
    fs::create_dir_all(array.join("logs")).map_err(RunError::io("create", &array))?;
    let content = plan.content();
    let digest = &durable::digest(&content)[..DIGITS];
    let (plan_file, file) =
        (array.join(format!("plan-{digest}.json")), array.join(format!("{kind}-{digest}.sh")));
    let executable = env::current_exe().map_err(RunError::io("inspect", Path::new("dc0-run")))?;
    let job = Job {
        name: &chosen.name,
        executable: &executable,
        plan: &plan_file,
        logs: &array.join("logs"),
        tasks: NonZeroU32::new(plan.tasks.len() as u32).expect("some trials are left"),
    };
    let text = text(&job)?;
    durable::write(&plan_file, &content).map_err(RunError::io("write", &plan_file))?;
    durable::write(&file, text.as_bytes()).map_err(RunError::io("write", &file))?;
    let shown = file.strip_prefix(&here).unwrap_or(&file).display().to_string();
    program.console.result(&format!(
        "{} of {} left, as {}; submit them:\n  {submit} {}\nwhen they have ended, collect their results:\n  {collect}",
        counted(chosen.left.len(), "trial"),
        chosen.all,
        counted(plan.tasks.len(), "task"),
        quoted(&shown)
    ));
    Ok(Exit::Done)
}

#[cfg(test)]
mod tests {
    use clap::{Args as _, FromArgMatches as _};

    use super::{ScriptCommand, SweepSlurmArgs};

    #[test]
    fn the_words_of_the_script_are_kept_as_they_were_given() {
        let line = [
            "x",
            "my script.rhai",
            "--partition",
            "gpu",
            "--set",
            "a=1; rm -rf /",
            "--seed=3",
            "--set",
            "b='$(id)'",
            "--lanes",
            "2",
        ];
        let command = SweepSlurmArgs::augment_args(clap::Command::new("x"));
        let matches = command.try_get_matches_from(line).expect("a command line");
        let words = ScriptCommand::from_arg_matches(&matches).expect("the script's part").words;
        let mut expected =
            ["my script.rhai", "--set=a=1; rm -rf /", "--seed=3", "--set=b='$(id)'", "--lanes=2"];
        let mut found: Vec<&str> = words.iter().map(String::as_str).collect();
        expected.sort_unstable();
        found.sort_unstable();
        assert_eq!(found, expected);

        let command = SweepSlurmArgs::augment_args(clap::Command::new("x"));
        let matches = command.try_get_matches_from(["x", "--seed", "3", "--", "-x.rhai"]);
        let command = ScriptCommand::from_arg_matches(&matches.expect("a command line"));
        assert_eq!(command.expect("the script's part").words, ["--seed=3", "--", "-x.rhai"]);
    }

    #[test]
    fn the_help_lists_only_options_that_an_array_can_have() {
        let help = SweepSlurmArgs::augment_args(clap::Command::new("x")).render_long_help().to_string();
        let lists = |option: &str| {
            help.lines().any(|line| line.trim_start().split([' ', ',']).next() == Some(option))
        };
        assert!(lists("--set") && lists("--partition"), "{help}");
        for option in ["--check", "--parameters", "--trial"] {
            assert!(!lists(option), "{help}");
        }
    }
}
