//! Batch scripts: what a task may use, as the directives of Slurm and of `HyperQueue`, and the few lines that start it.

use std::fmt::Write as _;
use std::num::NonZeroU32;
use std::path::Path;

use clap::Args;
use dc0_process::command::Failure;
use dc0_process::exit::Exit;
use dc0_script::args::{ScriptArgs, above_zero};

/// MiB of a GiB.
const MIB: f64 = 1024.0;

/// What each task may use.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Tasks")]
pub(super) struct TaskArgs {
    /// CPU cores of a task. They are also the lanes, except with `--gpus`, and the training threads of a new sweep, unless `--lanes`
    /// and `--threads` say otherwise.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=4096))]
    cpus: u32,
    /// GPUs of a task [default: none].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=64))]
    gpus: Option<u32>,
    /// Memory of a task, in GiB [default: the batch system's].
    #[arg(long, value_name = "GIB", value_parser = above_zero)]
    memory: Option<f64>,
    /// The time that a task may take, as HOURS:MINUTES:SECONDS [default: the batch system's].
    #[arg(long, value_name = "H:M:S", value_parser = seconds)]
    time: Option<u64>,
    /// Trials of a task, one after the other.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    group: u32,
}

/// How Slurm is to run the array.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Slurm")]
pub(super) struct SlurmArgs {
    /// The partition [default: the cluster's].
    #[arg(long, value_name = "NAME", value_parser = plain)]
    partition: Option<String>,
    /// The account that pays [default: the user's].
    #[arg(long, value_name = "NAME", value_parser = plain)]
    account: Option<String>,
    /// The quality of service [default: the cluster's].
    #[arg(long, value_name = "NAME", value_parser = plain)]
    qos: Option<String>,
    /// Tasks that may run at the same time [default: any number].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    at_once: Option<u32>,
    /// Seconds before the time limit at which a trial is stopped and its task queued again; must be shorter than `--time`.
    #[arg(long, value_name = "SECONDS", default_value_t = 120, value_parser = clap::value_parser!(u32).range(1..=65_535))]
    warning: u32,
}

/// How `HyperQueue` is to run the array.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "HyperQueue")]
pub(super) struct HqArgs {
    /// The priority of the tasks; higher ones run first.
    #[arg(long, value_name = "N", default_value_t = 0, allow_negative_numbers = true)]
    priority: i32,
}

/// What a batch script runs.
#[derive(Debug)]
pub(super) struct Job<'a> {
    /// The sweep's name.
    pub(super) name: &'a str,
    /// This program.
    pub(super) executable: &'a Path,
    /// The plan's file.
    pub(super) plan: &'a Path,
    /// The folder of the tasks' output.
    pub(super) logs: &'a Path,
    /// The number of tasks.
    pub(super) tasks: NonZeroU32,
}

/// A name that is no shell text and no second directive.
fn plain(text: &str) -> Result<String, String> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-.,:+@/".contains(c);
    if text.chars().all(is_plain) && text.starts_with(|c: char| c.is_ascii_alphanumeric()) {
        return Ok(text.to_owned());
    }
    Err("expected letters, digits and _ - . , : + @ /".to_owned())
}

fn seconds(text: &str) -> Result<u64, String> {
    let parts: Option<Vec<u64>> = text.split(':').map(|part| part.parse().ok()).collect();
    let all = match parts.as_deref() {
        Some([hours, minutes, seconds]) if *hours <= 100_000 && *minutes < 60 && *seconds < 60 => {
            hours * 3600 + minutes * 60 + seconds
        }
        _ => 0,
    };
    if all > 0 { Ok(all) } else { Err("expected HOURS:MINUTES:SECONDS, such as 12:00:00".to_owned()) }
}

impl TaskArgs {
    pub(super) fn cpus(&self) -> u32 {
        self.cpus
    }

    pub(super) fn group(&self) -> usize {
        self.group as usize
    }

    /// The arguments of a trial's command: those of the script, with lanes for the cores of the task.
    pub(super) fn arguments(&self, args: &ScriptArgs, words: &[String]) -> Vec<String> {
        let needs_lanes = args.run.lanes.is_none() && self.gpus.is_none();
        let lanes = needs_lanes.then(|| format!("--lanes={}", self.cpus));
        lanes.into_iter().chain(words.iter().cloned()).collect()
    }

    fn memory_mib(&self) -> Option<u64> {
        self.memory.map(|gib| (gib * MIB).ceil() as u64)
    }
}

impl SlurmArgs {
    /// An error unless the warning comes before the end.
    pub(super) fn check(&self, task: &TaskArgs) -> Result<(), Failure> {
        if task.time.is_some_and(|time| time <= self.warning.into()) {
            let cause = format!("--warning {} leaves no time; it must be shorter than --time", self.warning);
            return Err(Failure::new(Exit::BadInput, cause));
        }
        Ok(())
    }

    /// The batch script.
    pub(super) fn text(&self, task: &TaskArgs, job: &Job<'_>) -> Result<String, Failure> {
        let last = job.tasks.get() - 1;
        let at_once = self.at_once.map(|tasks| format!("%{tasks}")).unwrap_or_default();
        let log = quoted_path(job.logs)?;
        let mut text = format!(
            "#!/bin/bash\n# Each task of this array runs trials of the sweep {}: sbatch THIS_FILE\n#SBATCH --job-name=dc0-{}\n",
            job.name, job.name
        );
        let mut directive = |line: String| writeln!(text, "#SBATCH --{line}").expect("writes to text");
        directive(format!("array=0-{last}{at_once}"));
        for (option, value) in
            [("partition", &self.partition), ("account", &self.account), ("qos", &self.qos)]
        {
            if let Some(value) = value {
                directive(format!("{option}={value}"));
            }
        }
        directive("nodes=1".to_owned());
        directive("ntasks=1".to_owned());
        directive(format!("cpus-per-task={}", task.cpus));
        if let Some(gpus) = task.gpus {
            directive(format!("gres=gpu:{gpus}"));
        }
        if let Some(memory) = task.memory_mib() {
            directive(format!("mem={memory}M"));
        }
        if let Some(time) = task.time {
            let (hours, minutes, seconds) = (time / 3600, time / 60 % 60, time % 60);
            directive(format!("time={}-{:02}:{minutes:02}:{seconds:02}", hours / 24, hours % 24));
        }
        directive("requeue".to_owned());
        directive("open-mode=append".to_owned());
        directive(format!("signal=B:USR1@{}", self.warning));
        directive(format!("output=\"{log}/%A_%a.log\""));
        write!(
            text,
            r#"
# A warning before the time limit (USR1) stops the trial where it can go on, and queues this task again. TERM only stops it: then
# Slurm queues the task again, or a user has cancelled it.
again=
trap 'again=1; kill -TERM "$trial" 2>/dev/null' USR1
trap 'kill -TERM "$trial" 2>/dev/null' TERM
{executable} sweep-trial {plan} "$SLURM_ARRAY_TASK_ID" &
trial=$!
if [ -n "$again" ]; then kill -TERM "$trial"; fi
wait "$trial"
code=$?
# A signal ends `wait`, but not the trial.
while kill -0 "$trial" 2>/dev/null; do
    wait "$trial"
    code=$?
done
if [ -n "$again" ] && [ "$code" -gt 128 ]; then
    exec scontrol requeue "${{SLURM_ARRAY_JOB_ID}}_${{SLURM_ARRAY_TASK_ID}}"
fi
exit "$code"
"#,
            executable = literal(job.executable),
            plan = literal(job.plan)
        )
        .expect("writes to text");
        Ok(text)
    }
}

impl HqArgs {
    /// The batch script.
    pub(super) fn text(&self, task: &TaskArgs, job: &Job<'_>) -> Result<String, Failure> {
        let last = job.tasks.get() - 1;
        let log = quoted_path(job.logs)?;
        let mut text = format!(
            "#!/bin/bash\n# Each task of this array runs trials of the sweep {}: hq submit THIS_FILE\n#HQ --name=dc0-{}\n",
            job.name, job.name
        );
        let mut directive = |line: String| writeln!(text, "#HQ --{line}").expect("writes to text");
        directive(format!("array=0-{last}"));
        directive(format!("cpus={}", task.cpus));
        if let Some(gpus) = task.gpus {
            directive(format!("resource gpus/nvidia={gpus}"));
        }
        if let Some(memory) = task.memory_mib() {
            directive(format!("resource mem={memory}"));
        }
        if let Some(time) = task.time {
            directive(format!("time-request={time}s"));
        }
        directive(format!("priority={}", self.priority));
        directive(format!("stdout=\"{log}/%{{JOB_ID}}_%{{TASK_ID}}.out\""));
        directive(format!("stderr=\"{log}/%{{JOB_ID}}_%{{TASK_ID}}.err\""));
        let (executable, plan) = (literal(job.executable), literal(job.plan));
        writeln!(text, "\nexec {executable} sweep-trial {plan} \"$HQ_TASK_ID\"").expect("writes to text");
        Ok(text)
    }
}

/// A path as one word of a shell, whatever it contains.
fn literal(path: &Path) -> String {
    format!("'{}'", path.display().to_string().replace('\'', r"'\''"))
}

/// A path between double quotes of a directive. A batch system replaces what `%` begins.
fn quoted_path(path: &Path) -> Result<String, Failure> {
    let text = path.display().to_string();
    let bad = ['"', '\\', '\n', '\r', '%'];
    if !text.contains(bad) {
        return Ok(text);
    }
    let problem = format!(
        "the batch system cannot write to {}: in directives, `\"`, `\\`, `%` and line ends have other meanings; use another \
         folder, with --out",
        path.display()
    );
    Err(Failure::new(Exit::BadInput, problem))
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;
    use std::path::Path;

    use super::{HqArgs, Job, SlurmArgs, TaskArgs, literal, plain, seconds};

    fn parsed<T: clap::Args>(line: &str) -> T {
        let line = ["x"].into_iter().chain(line.split_whitespace());
        let matches = T::augment_args(clap::Command::new("x")).get_matches_from(line);
        T::from_arg_matches(&matches).expect("arguments")
    }

    fn job(logs: &Path) -> Job<'_> {
        let (executable, plan) = (Path::new("/opt/dc0 it's/dc0-run"), Path::new("/d/$(id)/plan.json"));
        Job { name: "cpuct", executable, plan, logs, tasks: NonZeroU32::new(6).expect("some") }
    }

    #[test]
    fn directives_have_the_options_and_paths_are_literal() {
        let task: TaskArgs = parsed("--cpus 4 --gpus 1 --memory 7.5 --time 30:05:00");
        let slurm: SlurmArgs = parsed("--partition fast --account lab --at-once 2");
        let text = slurm.text(&task, &job(Path::new("/d/my logs"))).expect("a script");
        for line in [
            "#SBATCH --array=0-5%2",
            "#SBATCH --partition=fast",
            "#SBATCH --account=lab",
            "#SBATCH --cpus-per-task=4",
            "#SBATCH --gres=gpu:1",
            "#SBATCH --mem=7680M",
            "#SBATCH --time=1-06:05:00",
            "#SBATCH --requeue",
            "#SBATCH --signal=B:USR1@120",
            "#SBATCH --output=\"/d/my logs/%A_%a.log\"",
            r#"'/opt/dc0 it'\''s/dc0-run' sweep-trial '/d/$(id)/plan.json' "$SLURM_ARRAY_TASK_ID" &"#,
        ] {
            assert!(text.lines().any(|found| found == line), "{line}\n{text}");
        }
        let hq: HqArgs = parsed("");
        let text = hq.text(&task, &job(Path::new("/d/logs"))).expect("a script");
        for line in
            ["#HQ --array=0-5", "#HQ --cpus=4", "#HQ --resource mem=7680", "#HQ --time-request=108300s"]
        {
            assert!(text.lines().any(|found| found == line), "{line}\n{text}");
        }
    }

    #[test]
    fn what_a_directive_cannot_hold_is_refused() {
        let (task, slurm): (TaskArgs, SlurmArgs) = (parsed(""), parsed(""));
        for folder in ["/d/100%", "/d/\"x", "/d/a\nb", "/d/a\\b"] {
            assert!(slurm.text(&task, &job(Path::new(folder))).is_err(), "{folder}");
            let hq = parsed::<HqArgs>("").text(&task, &job(Path::new(folder))).expect_err("is refused");
            assert!(
                hq.message.contains("in directives, `\"`, `\\`, `%` and line ends have"),
                "{}",
                hq.message
            );
        }
        for name in ["", "a b", "a\n#SBATCH --wrap=x", "$(id)", "-x", "a;b"] {
            assert!(plain(name).is_err(), "{name}");
        }
        assert!(plain("long,gpu.x").is_ok());
        let (short, late): (TaskArgs, SlurmArgs) = (parsed("--time 0:01:00"), parsed("--warning 60"));
        assert!(late.check(&short).is_err() && late.check(&task).is_ok());
    }

    #[test]
    fn times_are_read() {
        assert_eq!((seconds("1:02:03"), seconds("100:00:00")), (Ok(3723), Ok(360_000)));
        for text in ["", "10", "1:60:00", "0:00:00", "-1:00:00", "1-00:00:00"] {
            assert!(seconds(text).is_err(), "{text}");
        }
        assert_eq!(literal(Path::new("a'b")), r"'a'\''b'");
    }
}
