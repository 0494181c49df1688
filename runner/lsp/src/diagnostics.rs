//! What is wrong with a script, as diagnostics for the editor: each problem at its own word.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};

use dc0_core::params::Problem;
use lsp_types::{
    Diagnostic, DiagnosticRelatedInformation, DiagnosticSeverity, Location, NumberOrString, Uri,
};

use super::api_index::ApiIndex;
use super::members::{Members, Receiver};
use super::script::Script;
use super::text::Text;
use dc0_process::exit::Exit;
use dc0_script::failure::Failure;
use dc0_script::location::ScriptLocation;
use dc0_script::messages::TOO_MUCH_WORK;
use dc0_script::scan::Bracket;
use dc0_script::syntax::Entry;

/// The source of the diagnostics, which sets them apart from those of other tools.
const SOURCE: &str = "dc0";

/// Locates the failures of a check in the scripts that took part.
pub(super) struct Diagnosis<'a> {
    /// What scripts can call.
    pub(super) api: &'a ApiIndex,
    /// The script that was checked, as errors name it.
    pub(super) main: &'a str,
    /// All texts, as errors name them.
    pub(super) texts: &'a BTreeMap<String, String>,
    /// The URI of a file.
    pub(super) uri: &'a dyn Fn(&Path) -> Option<Uri>,
}

/// A script that took part.
struct CheckedScript {
    text: Text,
    script: Script,
}

/// The diagnostics of each file.
pub(super) type Diagnostics = BTreeMap<PathBuf, Vec<Diagnostic>>;

impl Diagnosis<'_> {
    /// The diagnostics of a failure, by file.
    pub(super) fn diagnostics(&self, failure: &Failure) -> Diagnostics {
        let mut found = Diagnostics::new();
        for failure in std::iter::once(failure).chain(&failure.details.others) {
            let (file, diagnostics) = self.of_failure(failure);
            let summary = self.in_main(failure, &diagnostics);
            found.entry(file).or_default().extend(diagnostics);
            found.entry(self.main.into()).or_default().extend(summary);
        }
        found
    }

    fn part(&self, source: &str) -> Option<CheckedScript> {
        let text = self.texts.get(source)?;
        Some(CheckedScript { text: Text::new(text.clone()), script: Script::new(text) })
    }

    fn of_failure(&self, failure: &Failure) -> (PathBuf, Vec<Diagnostic>) {
        let nowhere = ScriptLocation { source: self.main.to_owned(), point: None };
        let location = failure.location.as_ref().unwrap_or(&nowhere);
        let Some(part) = self.part(&location.source) else {
            let text = format!("{location}: {}", failure.message);
            return (self.main.into(), vec![diagnostic(failure, lsp_types::Range::default(), text)]);
        };
        let range = part.range(location);
        let mut whole = diagnostic(failure, part.text.span(&range), message(failure));
        whole.related_information = Some(self.calls(failure)).filter(|calls| !calls.is_empty());
        let of_problem = |problem: &Problem| {
            let own = part.locate(self.api, range.start, problem);
            let message = format!("{}: {}", problem.path, problem.message);
            let mut related = self.calls(failure);
            related.extend(own.as_ref().and_then(|_| self.related(location, "in this call")));
            Diagnostic {
                range: part.text.span(own.as_ref().unwrap_or(&range)),
                message,
                related_information: Some(related).filter(|related| !related.is_empty()),
                ..whole.clone()
            }
        };
        let problems: Vec<Diagnostic> = failure.details.problems.iter().map(of_problem).collect();
        (PathBuf::from(&location.source), if problems.is_empty() { vec![whole] } else { problems })
    }

    /// The chain of calls that led to a failure.
    fn calls(&self, failure: &Failure) -> Vec<DiagnosticRelatedInformation> {
        failure.details.calls.iter().filter_map(|call| self.related(call, "called from here")).collect()
    }

    fn related(&self, location: &ScriptLocation, message: &str) -> Option<DiagnosticRelatedInformation> {
        let part = self.part(&location.source)?;
        let uri = (self.uri)(Path::new(&location.source))?;
        let range = part.text.span(&part.range(location));
        Some(DiagnosticRelatedInformation { location: Location { uri, range }, message: message.to_owned() })
    }

    /// A failure in an imported script, reported also in the checked script: where it calls or imports the other.
    fn in_main(&self, failure: &Failure, diagnostics: &[Diagnostic]) -> Option<Diagnostic> {
        let location = failure.location.as_ref().filter(|location| location.source != self.main)?;
        let outermost = failure.details.calls.iter().rev().find(|call| call.source == self.main)?;
        let part = self.part(self.main)?;
        let file = Path::new(&location.source).file_name().unwrap_or_default().to_string_lossy();
        let line = location.point.map(|(line, _)| format!(":{line}")).unwrap_or_default();
        let range = part.text.span(&part.range(outermost));
        let there = diagnostics.first()?;
        let uri = (self.uri)(Path::new(&location.source))?;
        let related = DiagnosticRelatedInformation {
            location: Location { uri, range: there.range },
            message: "the problem is here".to_owned(),
        };
        Some(Diagnostic {
            related_information: Some(vec![related]),
            ..diagnostic(failure, range, format!("{file}{line}: {}", message(failure)))
        })
    }
}

fn diagnostic(failure: &Failure, range: lsp_types::Range, message: String) -> Diagnostic {
    let severity = match failure.exit {
        _ if failure.message == TOO_MUCH_WORK => DiagnosticSeverity::INFORMATION,
        Exit::BadInput => DiagnosticSeverity::ERROR,
        _ => DiagnosticSeverity::WARNING,
    };
    let code = failure
        .message
        .split(": ")
        .next()
        .filter(|call| !failure.details.problems.is_empty() && !call.contains(' '));
    Diagnostic {
        range,
        severity: Some(severity),
        code: code.map(|call| NumberOrString::String(call.to_owned())),
        source: Some(SOURCE.to_owned()),
        message,
        ..Diagnostic::default()
    }
}

/// The message of a failure, worded for a script that is being edited.
fn message(failure: &Failure) -> String {
    match failure.exit {
        _ if failure.message == TOO_MUCH_WORK => {
            "the check ends here: the script does much work of its own; `dc0-run --check` goes further"
                .to_owned()
        }
        Exit::Failed => format!("{} (with the results that a check assumes)", failure.message),
        _ => failure.message.clone(),
    }
}

impl CheckedScript {
    /// The range of the token at a place.
    fn range(&self, location: &ScriptLocation) -> Range<usize> {
        let Some(point) = location.point else { return 0..0 };
        let offset = self.text.offset_of_point(point);
        let next = self.script.tokens.partition_point(|token| token.start < offset);
        let starts = self.script.tokens.get(next).filter(|token| token.start == offset);
        let within = self.script.tokens[..next].last().filter(|token| offset < token.end || starts.is_none());
        match (starts, within) {
            (None, Some(token)) if offset < token.end => offset..token.end,
            // Past the last token of a line or of the text, that token is marked.
            (Some(token), _) | (None, Some(token)) => token.start..token.end,
            (None, None) => offset..offset,
        }
    }

    /// Locates the parameter of a problem in the call whose name begins at a byte offset.
    fn locate(&self, api: &ApiIndex, call: usize, problem: &Problem) -> Option<Range<usize>> {
        let name = self.script.at(call)?;
        let paren = name + 1;
        if !self.script.opens(paren, Bracket::Paren) {
            return None;
        }
        let path: Vec<&str> = problem.path.split('.').collect();
        let end = self.script.partner(paren).unwrap_or(self.script.tokens.len());
        let maps = self.maps(api, paren, paren + 1..end);
        let deepest = maps
            .iter()
            .rev()
            .filter_map(|map| self.deepest(api, *map, &path))
            .max_by_key(|(depth, _)| *depth);
        match deepest {
            Some((depth, entry))
                if depth == path.len() && !problem.message.starts_with("unknown parameter") =>
            {
                Some(self.value_range(entry))
            }
            Some((_, entry)) => Some(self.script.range(entry.key)),
            None => self.item(paren, path[0]),
        }
    }

    /// The maps among some tokens of a bracket, as far as the text shows them: those written there, and those of variables.
    fn maps(&self, api: &ApiIndex, bracket: usize, tokens: Range<usize>) -> Vec<usize> {
        let script = &self.script;
        let map = |token: usize| {
            if script.opens(token, Bracket::Map) {
                return Some(token);
            }
            let is_name = script.is_word(token) && !matches!(script.word(token - 1), "." | "?." | "::");
            if is_name { self.map_of_variable(api, token) } else { None }
        };
        tokens.filter(|token| script.parent(*token) == Some(bracket)).filter_map(map).collect()
    }

    fn map_of_variable(&self, api: &ApiIndex, token: usize) -> Option<usize> {
        let members = Members { script: &self.script, api };
        match members.variable(self.script.word(token), self.script.range(token).start)? {
            Receiver::Map(map) => Some(map),
            _ => None,
        }
    }

    /// The deepest member along a path that exists, and how many names of the path lead to it.
    fn deepest(&self, api: &ApiIndex, map: usize, path: &[&str]) -> Option<(usize, Entry)> {
        let script = &self.script;
        let (first, rest) = path.split_first()?;
        let name = first.split('[').next().unwrap_or(first);
        let entry = script.entries(map).into_iter().find(|entry| script.name_of(*entry) == name)?;
        let inner = entry.value.map(|value| self.maps(api, map, value..script.end_of_value(map, value)));
        let inner = inner.into_iter().flatten().filter(|inner| *inner != map && path.len() < 16);
        let deeper = inner.filter_map(|inner| self.deepest(api, inner, rest)).max_by_key(|(depth, _)| *depth);
        Some(deeper.map_or((1, entry), |(depth, entry)| (depth + 1, entry)))
    }

    /// The range of a member's value if it is on one line, else of its name.
    fn value_range(&self, entry: Entry) -> Range<usize> {
        let script = &self.script;
        let key = script.range(entry.key);
        let (Some(value), Some(map)) = (entry.value, script.parent(entry.key)) else { return key };
        let text = script.value_text(map, entry);
        let start = script.range(value).start;
        if text.ends_with('…') || text.is_empty() { key } else { start..start + text.len() }
    }

    /// The item of a list among a call's arguments, for paths such as `positions[1]`.
    fn item(&self, paren: usize, name: &str) -> Option<Range<usize>> {
        let script = &self.script;
        let number: usize = name.split_once('[')?.1.strip_suffix(']')?.parse().ok()?;
        let end = script.partner(paren).unwrap_or(script.tokens.len());
        let list = (paren + 1..end)
            .find(|token| script.parent(*token) == Some(paren) && script.opens(*token, Bracket::Square))?;
        let mut items = (list + 1..end).filter(|token| script.parent(*token) == Some(list));
        let mut commas = 0;
        let item = items.find(|token| {
            let is_comma = script.word(*token) == ",";
            commas += usize::from(is_comma);
            !is_comma && commas == number
        })?;
        Some(script.range(item))
    }
}
