//! The plan of a script, for `--check` and editors. A script that steers by its results is planned under every assumption about them;
//! the plan that is shown is the first one with an end.

use std::path::Path;
use std::sync::{Arc, Mutex};

use dc0_core::poison::IgnorePoison as _;
use dc0_process::exit::Exit;
use dc0_runs::declared::Declaration;
use dc0_runs::overrides::Override;
use dc0_runs::sources::Sources;
use dc0_steps::check::{Alternative, MAX_STEPS, PlannedEnd, Planner};
use dc0_steps::host::Host;
use dc0_steps::{Assumption, RunOptions};

use crate::engine::EngineHooks;
use crate::failure::Failure;
use crate::limits::MAX_OPERATIONS;
use crate::messages::TOO_MUCH_WORK;
use crate::report;
use crate::script_run::ScriptRun;

/// Steps after which a plan is given up if the script has an end under another assumption. It is more than nearly all scripts have,
/// and takes about a second.
const MOST_STEPS: usize = 10_000;

/// Most lines of output that a plan keeps; a script without an end could print for ever.
const MAX_PRINTED: usize = 10_000;

/// A script to plan, and where and how it would run.
pub struct ScriptToPlan<'a> {
    /// Its file, as the user named it, which need not exist; imports are relative to it.
    pub path: &'a Path,
    /// The folder that its imports must stay in; the script's own if `None`.
    pub folder: Option<&'a Path>,
    /// Its text.
    pub text: &'a str,
    /// The values of its parameters that the command line sets.
    pub overrides: Vec<Override>,
    /// Where and how it would run.
    pub options: RunOptions,
    /// Where its text and those of its imports are kept.
    pub sources: Arc<Sources>,
    /// Most operations of the interpreter before the script is stopped.
    pub operations: u64,
    /// Whether the plan is no longer wanted.
    pub is_stopped: Arc<dyn Fn() -> bool + Send + Sync>,
}

/// A plan that has come to its end.
pub struct Plans {
    shown: Arc<Planner>,
    alternatives: Vec<Alternative>,
}

/// A line that a script prints.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Printed {
    /// The line.
    pub line: String,
    /// Whether it comes from `debug`.
    pub is_debug: bool,
}

/// What a script printed, and its plan or error.
pub struct Planned {
    /// What it printed.
    pub printed: Vec<Printed>,
    /// The plan, or the error.
    pub plans: Result<Plans, Failure>,
    /// The script's text and those of its imports.
    pub sources: Arc<Sources>,
}

/// The run of a script under one assumption.
struct Attempt {
    planner: Arc<Planner>,
    printed: Vec<Printed>,
    ended: Result<(), Failure>,
    sources: Arc<Sources>,
}

/// What an attempt printed, with the number of lines that were too many.
#[derive(Default)]
struct Output {
    lines: Vec<Printed>,
    left_out: usize,
}

impl Plans {
    /// The plan as text.
    pub fn text(&self) -> String {
        self.shown.plan(&self.alternatives)
    }

    /// The plan for programs.
    pub fn json(&self) -> serde_json::Value {
        self.shown.plan_json(&self.alternatives)
    }

    /// The number of trials that would fail, of all sweeps.
    pub(crate) fn failing_trials(&self) -> usize {
        self.shown.failing_trials()
    }
}

impl std::fmt::Debug for Plans {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text())
    }
}

impl Output {
    fn add(&mut self, line: &str, is_debug: bool) {
        if self.lines.len() < MAX_PRINTED {
            self.lines.push(Printed { line: line.to_owned(), is_debug });
        } else {
            self.left_out += 1;
        }
    }

    fn into_lines(mut self) -> Vec<Printed> {
        if self.left_out > 0 {
            let line = format!("… {} more lines", self.left_out);
            self.lines.push(Printed { line, is_debug: false });
        }
        self.lines
    }
}

impl Planned {
    /// What `print` printed.
    pub fn lines(&self) -> Vec<&str> {
        self.printed.iter().filter(|printed| !printed.is_debug).map(|printed| &*printed.line).collect()
    }

    /// The error as the user reads it.
    pub fn error(&self) -> Option<String> {
        self.plans.as_ref().err().map(|failure| report::render(failure, &self.sources))
    }
}

impl<'a> ScriptToPlan<'a> {
    /// A script that no command line gives values, with the limits of the program.
    pub fn new(path: &'a Path, text: &'a str, options: RunOptions) -> Self {
        Self {
            path,
            folder: None,
            text,
            overrides: Vec::new(),
            options,
            sources: Arc::default(),
            operations: MAX_OPERATIONS,
            is_stopped: Arc::new(|| false),
        }
    }

    /// Plans the script: nothing is computed, written or shown.
    pub fn plan(&self) -> Planned {
        self.sources.keep(&self.path.display().to_string(), self.text);
        let mut attempts = self.attempts(MOST_STEPS);
        // A long script, or one without an end.
        if attempts.iter().all(|attempt| attempt.ended.is_err()) && attempts.iter().any(Attempt::is_endless) {
            attempts = self.attempts(MAX_STEPS);
        }
        if let Some(wrong) = attempts.iter().position(Attempt::ends_all) {
            return attempts.swap_remove(wrong).into_planned(|_, failure| Err(failure));
        }
        let Some(shown) = attempts.iter().position(|attempt| attempt.ended.is_ok()) else {
            return no_end(attempts);
        };
        let alternatives = match attempts.len() {
            1 => Vec::new(),
            _ => attempts.iter().map(|attempt| attempt.beside(&attempts[shown])).collect(),
        };
        let Attempt { planner: shown, printed, sources, .. } = attempts.swap_remove(shown);
        Planned { printed, plans: Ok(Plans { shown, alternatives }), sources }
    }

    /// Runs the script under every assumption, unless it is wrong or does the same under all of them: it reads no result.
    fn attempts(&self, most_steps: usize) -> Vec<Attempt> {
        let mut attempts: Vec<Attempt> = Vec::new();
        for assumption in Assumption::ALL {
            if attempts.iter().any(|earlier| earlier.ends_all() || !earlier.is_steered()) {
                break;
            }
            attempts.push(self.attempt(assumption, most_steps));
        }
        attempts
    }

    /// Runs the script under an assumption.
    fn attempt(&self, assumption: Assumption, most_steps: usize) -> Attempt {
        let output = Arc::new(Mutex::new(Output::default()));
        let keep = |is_debug: bool| {
            let output = Arc::clone(&output);
            move |line: &str| output.lock().ignore_poison().add(line, is_debug)
        };
        let (print, debug, is_stopped) = (keep(false), keep(true), Arc::clone(&self.is_stopped));
        let hooks = EngineHooks {
            sources: Arc::clone(&self.sources),
            print: Box::new(print),
            debug: Box::new(debug),
            is_stopped: Box::new(move || is_stopped()),
            operations: self.operations,
        };
        let declaration = Arc::new(Declaration::new(self.overrides.clone()));
        let (name, options) = (self.path.display().to_string(), self.options.clone());
        let planner = Planner::new(&name, options, Arc::clone(&declaration), assumption);
        let planner = Arc::new(planner.with_most_steps(most_steps));
        let host = Arc::clone(&planner) as Arc<dyn Host>;
        let Self { path, folder, text, .. } = *self;
        let ended = ScriptRun { path, folder, text, host, declaration }.run(hooks).map(|_| ());
        let printed = std::mem::take(&mut *output.lock().ignore_poison()).into_lines();
        Attempt { planner, printed, ended, sources: Arc::clone(&self.sources) }
    }
}

impl Attempt {
    /// Whether the script reads results that are assumed.
    fn is_steered(&self) -> bool {
        self.planner.trace().has_readings()
    }

    fn is_endless(&self) -> bool {
        let is_at_work = |failure: &Failure| failure.message == TOO_MUCH_WORK;
        matches!(self.planner.end(None), PlannedEnd::Endless { .. })
            || self.ended.as_ref().is_err_and(is_at_work)
    }

    /// Whether the script is wrong, a file cannot be read, or the plan is no longer wanted. Under another assumption a failed `assert`
    /// may hold, and a number from a table may be a parameter's value.
    fn ends_all(&self) -> bool {
        let is_wrong = |failure: &Failure| match failure.exit {
            Exit::Failed => false,
            Exit::BadInput => !self.planner.trace().reads_tables(),
            _ => true,
        };
        self.ended.as_ref().is_err_and(is_wrong) && !self.is_endless()
    }

    /// How the script ends, beside the plan that is shown.
    fn beside(&self, shown: &Self) -> Alternative {
        let error = self.ended.as_ref().err().map(|failure| match &failure.location {
            Some(location) => format!("{location}: {}", failure.message),
            None => failure.message.clone(),
        });
        let end = self.planner.end(error);
        let is_shown = self.planner.assumption() == shown.planner.assumption();
        let parting = shown.planner.trace().parting(&self.planner.trace());
        let differs = parting.is_some() || matches!(end, PlannedEnd::Fails(_));
        Alternative {
            assumption: self.planner.assumption(),
            reads_tables: shown.planner.trace().reads_tables(),
            end,
            is_shown,
            differs,
            parting: parting.flatten(),
        }
    }

    fn into_planned(self, plans: impl FnOnce(Arc<Planner>, Failure) -> Result<Plans, Failure>) -> Planned {
        let plans = match self.ended {
            Ok(()) => Ok(Plans { shown: self.planner, alternatives: Vec::new() }),
            Err(failure) => plans(self.planner, failure),
        };
        Planned { printed: self.printed, plans, sources: self.sources }
    }
}

/// The error of a script that comes to its end under no assumption: the first one of its own, or else that it goes on for ever.
fn no_end(mut attempts: Vec<Attempt>) -> Planned {
    let is_steered = attempts.len() > 1;
    let own = attempts.iter().position(|attempt| !attempt.is_endless());
    let attempt = attempts.swap_remove(own.unwrap_or(0));
    attempt.into_planned(|_, mut failure| {
        if own.is_none() && is_steered {
            let words = Assumption::ALL.map(Assumption::words).join("; ");
            failure.message = format!("under each assumption ({words}), {}", failure.message);
        }
        Err(failure)
    })
}

#[cfg(test)]
mod tests {
    use super::{Assumption, Attempt, RunOptions, ScriptToPlan};

    /// Plans a script for matches that end even.
    fn attempt(text: &str, most_steps: usize) -> Attempt {
        let folder = tempfile::tempdir().expect("a folder");
        let options = RunOptions { device: Some("cpu".to_owned()), ..RunOptions::below(folder.path()) };
        let path = folder.path().join("x.rhai");
        ScriptToPlan::new(&path, text, options).attempt(Assumption::Even, most_steps)
    }

    fn has_end(attempt: &Attempt) -> bool {
        attempt.ended.is_ok() && !attempt.is_endless()
    }

    #[test]
    fn too_many_steps_end_the_plan_whichever_trial_they_are_in() {
        let text =
            "sweep(#{ name: \"s\", space: #{ x: choice([1, 2, 3]) }, sampler: #{ kind: \"grid\" } }, |trial| {
            for step in 0..2 * trial.number + 1 { trial.run.network(#{}); }
            0.5
        });";
        let endless = attempt(text, 2);
        let message = endless.ended.as_ref().expect_err("the second trial has three steps").message.clone();
        assert!(message.starts_with("the plan has no end after 3 steps;"), "{message}");
        assert!(endless.is_endless() && !endless.ends_all());
        let ended = attempt(text, 20);
        assert!(has_end(&ended), "{:?}", ended.ended);
    }

    #[test]
    fn queries_whose_rows_are_not_read_count_only_until_the_next_step() {
        let text = |after: &str| {
            format!(
                "let run = open_run(\"small\");
                let net = run.network(#{{ tower: #{{ blocks: 1, filters: 8 }} }});
                for i in 0..4 {{
                    print(run.sql(\"select 1\"));
                    print(run.sql(\"select 2\"));
                    {after}
                }}"
            )
        };
        let ended = attempt(&text("run.self_play(net, #{ games: 4 });"), 50);
        assert!(has_end(&ended), "{:?}", ended.ended);
        let message = attempt(&text(""), 50).ended.expect_err("eight queries count as 160 steps").message;
        let expected = "the plan has no end after 1 step and 3 queries of tables; does a loop of the script only query tables?";
        assert_eq!(message, expected);
    }

    #[test]
    fn a_query_counts_once_however_often_it_is_read() {
        let script = |rest: &str| {
            format!(
                "let run = open_run(\"small\");
                let step = |run| run.network(#{{ tower: #{{ blocks: 1, filters: 8 }} }});
                step.call(run);
                {rest}"
            )
        };
        let often = "let games = run.table(\"games\");
            for i in 0..9 { games.rows(); games.column(\"result\"); games.len(); }";
        let ended = attempt(&script(often), 30);
        assert!(has_end(&ended), "{:?}", ended.ended);
        let waiting = "while run.table(\"games\").len() < 1000 { step.call(run); }";
        let endless = attempt(&script(waiting), 100);
        let message = endless.ended.as_ref().expect_err("it waits for rows").message.clone();
        assert!(message.contains("which reads `len`"), "{message}");
    }

    #[test]
    fn queries_of_a_trial_do_not_count_for_others() {
        let text =
            "sweep(#{ name: \"s\", space: #{ x: choice([1, 2, 3]) }, sampler: #{ kind: \"grid\" } }, |trial| {
            trial.run.network(#{ tower: #{ blocks: 1, filters: 8 } });
            let count = || trial.run.sql(\"select count(*) as n from games\").rows()[0].n;
            1.0 * count.call() + count.call()
        });";
        let ended = attempt(text, 50);
        assert!(has_end(&ended), "{:?}", ended.ended);
        let endless = attempt(text, 40);
        let message = endless.ended.as_ref().expect_err("a step and two queries count as 41").message.clone();
        assert!(
            message.contains("no end after 1 step and 2 queries of tables; does the script wait"),
            "{message}"
        );
    }
}
