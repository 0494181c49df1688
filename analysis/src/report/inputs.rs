//! The runner's input for reports: facts about runs and sweeps that are not in their tables, as plain data.

use dc0_core::params::Value;

/// Facts about a run that are not in its tables.
#[derive(Debug, Clone, PartialEq)]
pub struct ReportRun {
    /// The run's name, as in the column `run`.
    pub name: String,
    /// The parameters that the script declares, with their values.
    pub params: Value,
    /// Seed, device, versions and times, as names and values.
    pub environment: Vec<(String, String)>,
    /// The script's text.
    pub script: String,
    /// The generations, with the digests of their nets' weights.
    pub generations: Vec<(u32, String)>,
    /// Unfinished steps, each in a few words.
    pub unfinished: Vec<String>,
}

/// Facts about a sweep that are not in its table of trials.
#[derive(Debug, Clone, PartialEq)]
pub struct ReportSweep {
    /// The sweep's name, as in the column `run` of `trials`.
    pub name: String,
    /// The name of the objective.
    pub objective: String,
    /// Whether larger values are better.
    pub maximize: bool,
    /// The importance of each parameter, as shares, the largest first.
    pub importances: Vec<(String, f64)>,
    /// The parameters with a logarithmic scale.
    pub logarithmic: Vec<String>,
    /// Why trials failed, by their numbers.
    pub failures: Vec<(u32, String)>,
}

impl ReportRun {
    /// Whether candidates have to pass a gate: a net was promoted, or the script contains a promotion.
    pub(super) fn is_gated(&self) -> bool {
        self.generations.len() > 1 || code(&self.script).contains("promote(")
    }
}

/// A script without its comments, its strings and its characters.
fn code(script: &str) -> String {
    let (mut code, mut rest) = (String::new(), script);
    while let Some(letter) = rest.chars().next() {
        let left_out = match letter {
            '/' if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            '/' if rest.starts_with("/*") => comment(rest),
            '"' | '`' | '\'' => quoted(rest, letter),
            _ => 0,
        };
        if left_out == 0 {
            code.push(letter);
        }
        rest = &rest[left_out.max(letter.len_utf8())..];
    }
    code
}

/// The length of the block comment with which a text begins; such comments may contain others.
fn comment(text: &str) -> usize {
    let (mut depth, mut end) = (0, 0);
    while let Some(mark) = text[end..].find(['/', '*']) {
        let from = end + mark;
        let (step, size) = match text.get(from..from + 2) {
            Some("/*") => (1, 2),
            Some("*/") => (-1, 2),
            _ => (0, 1),
        };
        (depth, end) = (depth + step, from + size);
        if depth == 0 {
            return end;
        }
    }
    text.len()
}

/// The length of the string or character with which a text begins. Between backticks a backslash is a letter as any other.
fn quoted(text: &str, quote: char) -> usize {
    let mut letters = text.char_indices().skip(1);
    while let Some((index, letter)) = letters.next() {
        if letter == quote {
            return index + 1;
        }
        if letter == '\\' && quote != '`' {
            letters.next();
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use dc0_core::params::Value;

    use super::ReportRun;

    #[test]
    fn only_code_that_promotes_makes_a_gate() {
        let is_gated = |script: &str| {
            let (name, script) = ("x".to_owned(), script.to_owned());
            let (environment, generations, unfinished) = (Vec::new(), Vec::new(), Vec::new());
            ReportRun { name, params: Value::None, environment, script, generations, unfinished }.is_gated()
        };
        assert!(is_gated("if score > 0.5 { run.promote(net) }"));
        assert!(is_gated("print(\"//\"); run.promote(net)"));
        assert!(is_gated("print(`C:\\`); run.promote(net) // ends"));
        assert!(is_gated("let quote = '\"'; let slash = '\\''; run.promote(net)"));
        assert!(is_gated("/* a /* b */ ä */ run.promote(net)"));
        assert!(!is_gated("let net = run.train(net); // no run.promote(net)\nprint(net)"));
        assert!(!is_gated("/* a /* b */ run.promote(net) */"));
        assert!(!is_gated("/*/ run.promote(net)"));
        assert!(!is_gated("print(\"\\\"run.promote(net)\")"));
    }
}
