//! What a script declares: functions, variables, parameters, modules, each with where it can be seen.

use std::ops::Range;

use super::scan::{Bracket, Kind};
use super::script::Script;

/// What a name stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum What {
    /// A variable.
    Variable,
    /// A constant.
    Constant,
    /// A parameter of a function or closure, a loop's counter, or a caught error.
    Parameter,
    /// A function with its parameters.
    Function(Vec<String>),
    /// An imported script, by the path that the import gives.
    Module(String),
}

/// A declared name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Declared {
    /// The name.
    pub(super) name: String,
    /// Its token.
    pub(super) at: usize,
    /// What it stands for.
    pub(super) what: What,
    /// Where it can be used.
    pub(super) visible: Range<usize>,
    /// The first token of its first value.
    pub(super) value: Option<usize>,
}

/// Tokens between a name and its block, at most.
const MOST_TOKENS: usize = 4096;

/// Everything that a script declares.
pub(super) fn declared(script: &Script) -> Vec<Declared> {
    let finder = Finder { script };
    (0..script.tokens.len()).flat_map(|token| finder.at(token)).collect()
}

impl Script {
    /// What a name stands for at a place; the latest declaration goes before earlier ones.
    pub(super) fn lookup(&self, name: &str, offset: usize) -> Option<&Declared> {
        self.visible(offset).into_iter().find(|declared| declared.name == name)
    }

    /// The declarations that can be used at a place, the latest first. A function's body sees no variables around it.
    pub(super) fn visible(&self, offset: usize) -> Vec<&Declared> {
        let body = self.function_around(offset);
        let can_be_seen = |declared: &&Declared| {
            let is_global = matches!(declared.what, What::Function(_) | What::Module(_));
            declared.visible.contains(&offset)
                && (is_global || body.is_none_or(|body| declared.visible.start >= body))
        };
        self.declared.iter().rev().filter(can_be_seen).collect()
    }

    /// Where the body of the function around a place begins.
    fn function_around(&self, offset: usize) -> Option<usize> {
        let mut bracket = self.enclosing(offset);
        while let Some(open) = bracket {
            if self.opens(open, Bracket::Brace) && self.is_body(open) {
                return Some(self.tokens[open].start);
            }
            bracket = self.parent(open);
        }
        None
    }

    /// Whether a brace is that of a `fn name(…) {`.
    fn is_body(&self, brace: usize) -> bool {
        let paren = brace.checked_sub(1).and_then(|close| self.partner(close));
        paren.and_then(|paren| paren.checked_sub(2)).is_some_and(|before| self.word(before) == "fn")
    }
}

struct Finder<'a> {
    script: &'a Script,
}

impl Finder<'_> {
    /// What the token declares, if it begins a declaration.
    fn at(&self, token: usize) -> Vec<Declared> {
        if !self.script.is_word(token) {
            return if self.is_closure(token) { self.closure(token) } else { Vec::new() };
        }
        match self.script.word(token) {
            "let" => self.variable(token + 1, &What::Variable),
            "const" => self.variable(token + 1, &What::Constant),
            "for" => self.in_block(self.names(token + 1, "in"), token),
            "catch" => self.in_block(self.names(token + 1, ")"), token),
            "fn" => self.function(token + 1),
            "import" => self.import(token),
            _ => Vec::new(),
        }
    }

    fn declared(&self, at: usize, what: What, visible: Range<usize>, value: Option<usize>) -> Vec<Declared> {
        let name = self.script.word(at).to_owned();
        if self.script.is_word(at) { vec![Declared { name, at, what, visible, value }] } else { Vec::new() }
    }

    fn variable(&self, at: usize, what: &What) -> Vec<Declared> {
        let script = self.script;
        let value =
            (script.word(at + 1) == "=").then_some(at + 2).filter(|value| *value < script.tokens.len());
        self.declared(at, what.clone(), self.statement_end(at)..self.end_of_block(at), value)
    }

    /// Where the statement of a declaration ends; a variable is not there in its own value.
    fn statement_end(&self, at: usize) -> usize {
        let script = self.script;
        let parent = script.parent(at);
        let ends = |token: &usize| {
            let is_end = script.word(*token) == ";" || is_declaration(script.word(*token));
            is_end && script.parent(*token) == parent || parent.is_some() && script.partner(*token) == parent
        };
        let end = (at + 1..script.tokens.len()).find(ends);
        end.map_or(script.range(at).end, |end| script.tokens[end].start)
    }

    /// Where the block around a token ends.
    fn end_of_block(&self, token: usize) -> usize {
        let mut bracket = self.script.parent(token);
        while let Some(open) = bracket {
            if self.script.opens(open, Bracket::Brace) || self.script.opens(open, Bracket::Interpolation) {
                return self.script.end_of(open) + 1;
            }
            bracket = self.script.parent(open);
        }
        self.script.text.len() + 1
    }

    /// The names from a token to a word that ends them.
    fn names(&self, from: usize, end: &str) -> Vec<usize> {
        let script = self.script;
        let listed = (from..script.tokens.len())
            .take(64)
            .take_while(|token| script.word(*token) != end && !matches!(script.word(*token), ";" | "{"));
        listed.filter(|token| script.is_word(*token)).collect()
    }

    /// Names that the next block has.
    fn in_block(&self, names: Vec<usize>, from: usize) -> Vec<Declared> {
        let script = self.script;
        let last = names.last().copied().unwrap_or(from);
        let is_block = |token: &usize| {
            script.opens(*token, Bracket::Brace) && script.parent(*token) == script.parent(from)
        };
        let visible = (last..script.tokens.len())
            .take(MOST_TOKENS)
            .take_while(|token| script.word(*token) != ";")
            .find(is_block)
            .map_or(0..0, |open| script.tokens[open].start..script.end_of(open) + 1);
        names
            .into_iter()
            .flat_map(|name| self.declared(name, What::Parameter, visible.clone(), None))
            .collect()
    }

    fn function(&self, at: usize) -> Vec<Declared> {
        let parameters =
            if self.script.opens(at + 1, Bracket::Paren) { self.names(at + 2, ")") } else { Vec::new() };
        let names = parameters.iter().map(|name| self.script.word(*name).to_owned()).collect();
        let mut all = self.declared(at, What::Function(names), 0..self.script.text.len() + 1, None);
        all.extend(self.in_block(parameters, at));
        all
    }

    fn import(&self, token: usize) -> Vec<Declared> {
        let script = self.script;
        let Some(Kind::Text(path)) = script.kind(token + 1) else { return Vec::new() };
        if script.word(token + 2) != "as" {
            return Vec::new();
        }
        let path = script.text[path.clone()].to_owned();
        let visible = script.range(token + 3).start..self.end_of_block(token);
        self.declared(token + 3, What::Module(path), visible, None)
    }

    /// Whether a `|` begins the parameters of a closure. Of several in a row, every other one does.
    fn is_closure(&self, token: usize) -> bool {
        let script = self.script;
        if script.word(token) != "|" {
            return false;
        }
        let bars = (0..token).rev().take_while(|before| script.word(*before) == "|").count();
        let begins_value = match (token - bars).checked_sub(1).map(|before| (before, script.kind(before))) {
            None | Some((_, Some(Kind::Open(_) | Kind::Symbol))) => true,
            // The second bar of `|x|` stands behind a name, too.
            Some((before, Some(Kind::Word))) => is_before_value(script.word(before)),
            Some(_) => false,
        };
        begins_value && bars % 2 == 0
    }

    fn closure(&self, bar: usize) -> Vec<Declared> {
        let script = self.script;
        let names = self.names(bar + 1, "|");
        let Some(end) = (bar + 1..script.tokens.len()).take(64).find(|token| script.word(*token) == "|")
        else {
            return Vec::new();
        };
        let body = end + 1;
        let until =
            if script.opens(body, Bracket::Brace) { script.end_of(body) } else { self.expression_end(body) };
        let visible = script.tokens[end].start..until + 1;
        names
            .into_iter()
            .flat_map(|name| self.declared(name, What::Parameter, visible.clone(), None))
            .collect()
    }

    /// Where the expression that begins with a token ends.
    fn expression_end(&self, first: usize) -> usize {
        let script = self.script;
        let parent = script.parent(first.saturating_sub(1));
        let ends = |token: &usize| {
            script.parent(*token) == parent && matches!(script.word(*token), "," | ";")
                || parent.is_some_and(|open| script.partner(open) == Some(*token))
        };
        (first..script.tokens.len()).find(ends).map_or(script.text.len(), |end| script.tokens[end].start)
    }
}

fn is_declaration(word: &str) -> bool {
    matches!(word, "let" | "const" | "fn" | "import" | "export")
}

/// Whether a value comes next behind a keyword.
fn is_before_value(word: &str) -> bool {
    matches!(word, "return" | "in" | "if" | "while" | "until" | "else" | "throw" | "switch")
}

#[cfg(test)]
mod tests {
    use super::{Script, What};

    fn seen(text: &str) -> Vec<String> {
        let offset = text.find('¦').expect("a mark");
        let script = Script::new(&text.replace('¦', " "));
        let mut names: Vec<String> =
            script.visible(offset).iter().map(|declared| declared.name.clone()).collect();
        names.sort();
        names
    }

    #[test]
    fn names_are_seen_where_rhai_sees_them() {
        assert_eq!(seen("let a = 1; { let b = 2; } ¦ let c = 3;"), ["a"]);
        assert_eq!(seen("let a = 1; fn f(x, y) { let z = 2; ¦ } import \"m\" as m;"), ["f", "x", "y", "z"]);
        assert_eq!(seen("import \"m\" as m; fn f(x) { ¦ }"), ["f", "m", "x"]);
        assert_eq!(seen("for (x, i) in list { ¦ }"), ["i", "x"]);
        assert_eq!(seen("try { } catch (error) { ¦ }"), ["error"]);
        assert_eq!(seen("sweep(#{}, |trial| { let net = 1; ¦ })"), ["net", "trial"]);
        assert_eq!(seen("run.train(a, #{ rate: |update| 1.0 + ¦, b: 2 })"), ["update"]);
        assert_eq!(seen("run.train(a, #{ rate: |update| 1.0, b: ¦ })"), Vec::<String>::new());
        assert_eq!(seen("let a = 1 | 2; let b = a | ¦;"), ["a"]);
        assert_eq!(seen("let a = ¦;"), Vec::<String>::new());
    }

    #[test]
    fn functions_and_modules_are_declared() {
        let script = Script::new("import \"lib/x\" as x; fn f(a, b) { } let late = f(1, 2);");
        let is = |name: &str| {
            script.declared.iter().find(|declared| declared.name == name).map(|d| d.what.clone())
        };
        assert_eq!(is("x"), Some(What::Module("lib/x".to_owned())));
        assert_eq!(is("f"), Some(What::Function(vec!["a".to_owned(), "b".to_owned()])));
        assert_eq!(is("late"), Some(What::Variable));
    }
}
