//! The plan of an array: the command of its trials, and which trials each task runs.

use std::path::{Path, PathBuf};
use std::{env, fs};

use dc0_process::command::Failure;
use dc0_process::exit::Exit;
use dc0_runs::RunError;
use serde::{Deserialize, Serialize};

/// The version of the file.
const VERSION: u32 = 1;

/// Variables in which batch systems give a task its number.
const VARIABLES: [&str; 2] = ["SLURM_ARRAY_TASK_ID", "HQ_TASK_ID"];

/// What the tasks of an array have in common, and their trials.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Plan {
    version: u32,
    /// The working folder.
    pub(super) folder: PathBuf,
    /// The script and its options.
    pub(super) arguments: Vec<String>,
    /// The trials of each task.
    pub(super) tasks: Vec<Vec<u32>>,
}

impl Plan {
    /// A plan for trials, of which each task runs so many.
    pub(super) fn new(folder: PathBuf, arguments: Vec<String>, trials: &[u32], group: usize) -> Self {
        Self {
            version: VERSION,
            folder,
            arguments,
            tasks: trials.chunks(group).map(<[u32]>::to_vec).collect(),
        }
    }

    /// The file's bytes.
    pub(super) fn content(&self) -> Vec<u8> {
        serde_json::to_vec_pretty(self).expect("text and numbers")
    }

    pub(super) fn read(path: &Path) -> Result<Self, Failure> {
        let bytes = fs::read(path).map_err(RunError::io("read", path))?;
        let wrong =
            |cause: String| Failure::new(Exit::BadInput, format!("{} is no plan: {cause}", path.display()));
        let plan: Self = serde_json::from_slice(&bytes).map_err(|cause| wrong(cause.to_string()))?;
        if plan.version != VERSION {
            return Err(wrong(format!("its version is {}, expected {VERSION}", plan.version)));
        }
        Ok(plan)
    }

    /// The trials of a task, whose number the batch system gives if the user does not.
    pub(super) fn trials(&self, path: &Path, task: Option<usize>) -> Result<Vec<u32>, Failure> {
        let bad = |text: String| Failure::new(Exit::BadInput, text);
        let given = VARIABLES.iter().find_map(|name| Some((name, env::var(name).ok()?)));
        let task = match (task, given) {
            (Some(task), _) => task,
            (None, Some((name, text))) => text
                .parse()
                .map_err(|_| bad(format!("{name} is \"{text}\", expected the number of a task")))?,
            (None, None) => {
                return Err(bad(format!("give the number of a task, or set {}", VARIABLES.join(" or "))));
            }
        };
        let count = self.tasks.len();
        self.tasks.get(task).cloned().ok_or_else(|| {
            bad(format!("{} has the tasks 0 to {}, and not {task}", path.display(), count.saturating_sub(1)))
        })
    }
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use super::Plan;

    #[test]
    fn trials_are_divided_among_tasks() {
        let plan = Plan::new(PathBuf::from("/x"), vec!["a.rhai".to_owned()], &[0, 2, 3, 7, 9], 2);
        let of = |task| plan.trials(Path::new("plan.json"), Some(task)).ok();
        assert_eq!([of(0), of(1), of(2), of(3)], [Some(vec![0, 2]), Some(vec![3, 7]), Some(vec![9]), None]);
    }

    #[test]
    fn a_plan_is_read_as_it_was_written_and_nothing_else_is() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("plan.json");
        let plan = Plan::new(PathBuf::from("/x y"), vec!["--set=a='\"$x\n".to_owned()], &[1], 1);
        std::fs::write(&path, plan.content()).expect("writes");
        assert_eq!(Plan::read(&path).expect("a plan"), plan);
        let newer = Plan { version: 2, ..plan };
        std::fs::write(&path, newer.content()).expect("writes");
        assert!(Plan::read(&path).expect_err("newer").message.contains("its version is 2"));
        std::fs::write(&path, "{}").expect("writes");
        assert!(Plan::read(&path).expect_err("no plan").message.contains("is no plan"));
    }
}
