//! Reads lines, and turns each into jobs, a reply or a refusal.

use std::io::{self, BufRead};
use std::sync::Arc;

use dc0_core::board::Tablebase;
use dc0_core::network::NetworkSpec;
use dc0_core::params::Value;
use serde::Serialize;

use super::action::Action;
use super::answer::answer;
use super::job::Task;
use super::query::{Query, QueryReader};
use super::queue::Queue;
use super::refusal::Refusal;
use crate::lines::{self, Input};
use crate::score::ScoreFit;
use crate::uci::output::Output;

/// Bytes of an id. Chosen: enough for any name, little beside an answer.
const LONGEST_ID: usize = 1000;

/// What the server is, as far as readers and clients need it.
#[derive(Debug, Clone)]
pub(super) struct Context {
    /// The net's name.
    pub(super) network: String,
    /// What evaluates it.
    pub(super) backend: String,
    pub(super) lanes: u32,
    /// Rows of a batch.
    pub(super) rows: u32,
    /// Members of the search for queries that do not set them.
    pub(super) search: Value,
    /// What the net consists of.
    pub(super) net: NetworkSpec,
}

impl Context {
    /// One line for people.
    pub(super) fn about(&self) -> String {
        let Self { network, backend, lanes, rows, .. } = self;
        let lanes = dc0_process::format::counted(*lanes as usize, "lane");
        format!("analysis by {network}, on {backend}, in {lanes} with batches of {rows}")
    }
}

/// Reads lines.
pub(super) struct Reader<'a> {
    pub(super) context: Context,
    pub(super) queue: &'a Queue,
    pub(super) output: &'a Output,
    pub(super) fit: ScoreFit,
    /// The tablebases opened last, with their folders.
    pub(super) tablebases: Option<(String, Tablebase)>,
}

/// A line that can be served.
enum Request {
    Query(Box<Query>),
    Action(String, Action),
}

/// The reply to an action.
#[derive(Serialize)]
struct Reply<'a> {
    id: &'a str,
    action: &'static str,
    #[serde(flatten)]
    about: Option<Version<'a>>,
    /// Searches that end because of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    terminated: Option<usize>,
}

#[derive(Serialize)]
struct Version<'a> {
    #[serde(rename = "version")]
    program: &'static str,
    network: &'a str,
    backend: &'a str,
    lanes: u32,
    batch_size: u32,
}

impl Reader<'_> {
    /// Reads to the end of the input, or until the server ends.
    pub(super) fn listen(&mut self, input: &mut dyn BufRead) -> io::Result<()> {
        loop {
            let read = match lines::next(input)? {
                Input::End => break,
                Input::Line(line) if line.is_empty() => continue,
                Input::Line(line) => self.request(&line),
                Input::NotUtf8(_) => Err(Refusal::of_line("expected UTF-8; the line is ignored")),
                Input::TooLong => Err(Refusal::of_line(lines::too_long())),
            };
            match read {
                Ok(Request::Query(query)) => {
                    if !self.queue.add(&Arc::new(*query)) {
                        break;
                    }
                }
                Ok(Request::Action(id, action)) => self.execute(&id, &action),
                Err(refusal) => self.output.line(&refusal.line()),
            }
        }
        self.queue.close();
        Ok(())
    }

    fn request(&mut self, line: &str) -> Result<Request, Refusal> {
        let given: Value = serde_json::from_str(line)
            .map_err(|error| Refusal::of_line(format!("expected a JSON object in one line: {error}")))?;
        let Value::Group(mut members) = given else {
            let problem = format!("expected a JSON object in one line, got {given} ({})", given.kind());
            return Err(Refusal::of_line(problem));
        };
        let id = match members.remove("id") {
            Some(Value::Text(id)) if !id.is_empty() && id.len() <= LONGEST_ID => id,
            given => {
                let expected = format!("expected text of 1 to {LONGEST_ID} bytes");
                let found = match given {
                    None => "nothing".to_owned(),
                    Some(Value::Text(text)) => format!("text of {} bytes", text.len()),
                    Some(other) => format!("{other} ({})", other.kind()),
                };
                return Err(Refusal::of_field(None, "id", format!("{expected}, got {found}")));
            }
        };
        if let Some(action) = members.remove("action") {
            let action = Action::read(&id, &action, &Value::Group(members))?;
            return Ok(Request::Action(id, action));
        }
        let mut reader = QueryReader {
            search: &self.context.search,
            net: &self.context.net,
            tablebases: &mut self.tablebases,
        };
        Ok(Request::Query(Box::new(reader.query(&id, Value::Group(members))?)))
    }

    fn execute(&self, id: &str, action: &Action) {
        let mut reply = Reply { id, action: action.name(), about: None, terminated: None };
        match action {
            Action::QueryVersion => {
                let Context { network, backend, lanes, rows, .. } = &self.context;
                let program = env!("CARGO_PKG_VERSION");
                let (lanes, batch_size) = (*lanes, *rows);
                reply.about = Some(Version { program, network, backend, lanes, batch_size });
            }
            Action::Terminate { id, turns } => {
                let is_turn = |turn| turns.as_ref().is_none_or(|turns| turns.contains(&turn));
                let concerns = |task: &Task| task.query.id == *id && is_turn(task.turn);
                reply.terminated = Some(self.terminate(&concerns));
            }
            Action::TerminateAll => reply.terminated = Some(self.terminate(&|_| true)),
            Action::ClearCache => self.queue.clear_cache(),
        }
        self.output.line(&serde_json::to_string(&reply).expect("text and numbers"));
    }

    /// Ends searches; those that wait are answered here, the others by their lanes. Returns their number.
    fn terminate(&self, concerns: &dyn Fn(&Task) -> bool) -> usize {
        let (waiting, count) = self.queue.terminate(concerns);
        for job in waiting {
            job.task.terminate();
            self.output.line(&answer(&job, self.fit, false));
        }
        count
    }
}
