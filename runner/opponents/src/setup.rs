//! A program as an opponent: its file, its parameters, and what it says of itself.

use std::collections::BTreeMap;
use std::fs;
use std::path::{self, Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use dc0_core::durable;
use dc0_core::params::{Param as _, Problems, Value};
use dc0_process::clock::Stopwatch;

use crate::error::OpponentError;
use crate::executable::{Contents, find};
use crate::options::{Declared, changes};
use crate::params::{Limit, Settings};
use crate::process::{Next, Process, Speech, shortened};

/// What is part of an identity, to be raised when the same engine would be made to play differently.
const VERSION: i64 = 2;

/// What a program says of itself when it starts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Introduction {
    /// Its name, usually with a version; may be empty.
    pub(crate) name: String,
    /// Its authors; may be empty.
    pub(crate) author: String,
    /// Its options.
    pub(crate) options: Vec<Declared>,
}

/// A program and how it plays.
#[derive(Debug)]
pub(crate) struct Setup {
    /// `uci` or `xboard`.
    protocol: &'static str,
    /// As in the script.
    pub(crate) command: String,
    /// Absolute.
    path: PathBuf,
    contents: Contents,
    /// Further files by their paths as given.
    files: BTreeMap<String, (PathBuf, Contents)>,
    pub(crate) settings: Settings,
    pub(crate) limit: Limit,
    /// `None` if it has not been started yet.
    pub(crate) introduction: Option<Introduction>,
}

impl Setup {
    /// Reads the files of a program.
    pub(crate) fn new(
        protocol: &'static str,
        command: &str,
        settings: Settings,
    ) -> Result<Self, OpponentError> {
        let Some(limit) = settings.limit.clone() else {
            let mut problems = Problems::default();
            problems.add("nodes", "expected exactly one of nodes, depth, move_time, clock, got none");
            return Err(problems.into_errors(&format!("{protocol}(\"{command}\")")).into());
        };
        let found = find(command)?;
        let absolute = |path: &Path| {
            path::absolute(path).map_err(|cause| OpponentError::Unreadable { path: path.to_owned(), cause })
        };
        let path = absolute(&found)?;
        let contents = Contents::read(&path)?;
        let folder = absolute(Path::new(if settings.folder.is_empty() { "." } else { &settings.folder }))?;
        if !folder.is_dir() {
            let what = "is not a folder, which `folder` must be".to_owned();
            return Err(OpponentError::NoProgram { path: folder, what });
        }
        let mut files = BTreeMap::new();
        for name in settings.files.iter().cloned().chain(mentioned(&settings, &folder)) {
            let path = folder.join(&name);
            let contents = Contents::read(&path)?;
            files.insert(name, (path, contents));
        }
        let command = command.to_owned();
        Ok(Self { protocol, command, path, contents, files, settings, limit, introduction: None })
    }

    /// The call in a script, for messages.
    pub(crate) fn call(&self) -> String {
        format!("{}(\"{}\")", self.protocol, self.command)
    }

    /// The player's name.
    pub(crate) fn name(&self) -> String {
        if !self.settings.name.is_empty() {
            return self.settings.name.clone();
        }
        let mut parts = vec![self.program()];
        let options = self.introduction.as_ref().map_or(&[][..], |introduction| &introduction.options);
        if !self.settings.args.is_empty() {
            parts.push(self.settings.args.join(" "));
        }
        parts.extend(changes(&self.settings.options, options));
        parts.push(self.limit.shown());
        parts.join(", ")
    }

    /// The program's name: as it says, or the command's.
    pub(crate) fn program(&self) -> String {
        let said = self.introduction.as_ref().map(|introduction| introduction.name.clone());
        said.filter(|name| !name.is_empty()).unwrap_or_else(|| {
            self.path
                .file_name()
                .map_or_else(|| self.command.clone(), |name| name.to_string_lossy().into_owned())
        })
    }

    /// What determines its games. It can be known without starting the program, unless a script starts it.
    fn essence(&self) -> Value {
        let text = |text: &str| Value::Text(text.to_owned());
        let files = self.files.iter().map(|(name, (_, contents))| (name.clone(), text(&contents.digest)));
        let Settings { args, options, folder, start_timeout, move_timeout, time_margin, .. } = &self.settings;
        let introduced = self.introduction.as_ref().filter(|_| self.contents.is_script);
        Value::of([
            ("args", args.to_value()),
            ("executable", text(&self.contents.digest)),
            ("files", Value::Group(files.collect())),
            ("folder", text(folder)),
            ("limit", self.limit.to_value()),
            ("move_timeout", move_timeout.to_value()),
            ("options", Value::Group(options.clone())),
            ("protocol", text(self.protocol)),
            ("says", introduced.map_or(Value::None, |introduction| text(&introduction.name))),
            ("start_timeout", start_timeout.to_value()),
            ("time_margin", time_margin.to_value()),
            ("version", Value::Int(VERSION)),
        ])
    }

    /// The digest of what determines its games.
    pub(crate) fn digest(&self) -> String {
        durable::digest(self.essence().canonical().as_bytes())
    }

    /// All that is known of it, for manifests.
    pub(crate) fn identity(&self) -> Value {
        let text = |text: &str| Value::Text(text.to_owned());
        let mut identity = self.essence();
        identity.put("command", text(&self.command));
        identity.put("path", Value::Text(self.path.display().to_string()));
        identity.put("name", Value::Text(self.name()));
        identity.put("digest", Value::Text(self.digest()));
        if let Some(introduction) = &self.introduction {
            identity.put("says", text(&introduction.name));
            identity.put("author", text(&introduction.author));
        }
        identity
    }

    /// Starts the program.
    pub(crate) fn launch(&self, speech: Speech) -> Result<Process, OpponentError> {
        let all = self.files.values().map(|(path, contents)| (path, contents));
        let mut all = std::iter::once((&self.path, &self.contents)).chain(all);
        if let Some((path, _)) = all.find(|(path, contents)| !contents.are_current(path)) {
            return Err(OpponentError::Changed { path: path.clone() });
        }
        let mut command = Command::new(&self.path);
        command.args(&self.settings.args);
        if !self.settings.folder.is_empty() {
            command.current_dir(&self.settings.folder);
        }
        Process::start(command, speech).map_err(|cause| {
            let hint = match cause.raw_os_error() {
                Some(libc::ENOEXEC) => {
                    "; expected a program for this kind of machine, or a script that begins with #!"
                }
                Some(libc::ENOENT) => {
                    "; the program that runs it is missing: check its first line, or its libraries"
                }
                Some(libc::EMFILE | libc::ENFILE | libc::EAGAIN | libc::ENOMEM) => {
                    "; too much is running: play fewer games at once"
                }
                _ => "",
            };
            OpponentError::Start { path: self.path.clone(), cause, hint: hint.to_owned() }
        })
    }

    /// Sends a request and waits for its answer, of which each line goes to `each`; it returns whether it was the last.
    pub(crate) fn request(
        &self,
        process: &Process,
        (request, expected): (&str, &str),
        hint: &str,
        mut each: impl FnMut(&str) -> bool,
    ) -> Result<(), OpponentError> {
        process.write(request);
        let started = Stopwatch::start();
        let limit = Duration::from_secs_f64(self.settings.start_timeout);
        let mut last = String::new();
        loop {
            match process.next(limit.saturating_sub(started.elapsed())) {
                Next::Line(line) if each(&line.text) => return Ok(()),
                Next::Line(line) if line.text.is_empty() => {}
                Next::Line(line) => last = line.text,
                Next::Ended => return Err(self.ended(process, (request, expected), hint)),
                Next::Nothing => {}
            }
            if started.elapsed() >= limit {
                break;
            }
        }
        let found = if last.is_empty() {
            "wrote nothing".to_owned()
        } else {
            format!("wrote \"{}\"", shortened(&last))
        };
        let (program, seconds, hint) = (self.command.clone(), self.settings.start_timeout, hint.to_owned());
        let expectation = expectation((request, expected));
        Err(OpponentError::NotReady { program, found, seconds, expectation, hint })
    }

    /// The error of a program that ended before it answered.
    pub(crate) fn ended(&self, process: &Process, request: (&str, &str), hint: &str) -> OpponentError {
        let ending = process.ending();
        let lower = ending.to_lowercase();
        let wants_terminal = ["tty", "terminal", "ioctl"].iter().any(|word| lower.contains(word));
        let hint = if wants_terminal {
            format!("; it seems to want a terminal, and programs that play have none{hint}")
        } else {
            hint.to_owned()
        };
        let (program, expectation) = (self.command.clone(), expectation(request));
        OpponentError::Ended { program, ending, expectation, hint }
    }
}

/// A request and its answer, for messages.
fn expectation((request, expected): (&str, &str)) -> String {
    format!("\"{expected}\" in answer to \"{request}\"")
}

/// The files that arguments and options name.
fn mentioned(settings: &Settings, folder: &Path) -> Vec<String> {
    let options = settings.options.values().filter_map(|value| match value {
        Value::Text(text) => Some(text),
        _ => None,
    });
    let is_file = |name: &&str| fs::metadata(folder.join(name)).is_ok_and(|about| about.is_file());
    let texts = settings.args.iter().chain(options);
    let names = texts.flat_map(|text| [Some(text.as_str()), text.split_once('=').map(|(_, value)| value)]);
    names.flatten().filter(|name| !name.is_empty()).filter(is_file).map(str::to_owned).collect()
}
