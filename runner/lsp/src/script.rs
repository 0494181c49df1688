//! A script: its syntax, and its declared names with their scopes.

use std::ops::{Deref, Range};

use dc0_script::scan::{Bracket, TokenKind};
use dc0_script::syntax::Syntax;

/// The kind of a declared name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum DeclarationKind {
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
pub(super) struct Declaration {
    /// The name.
    pub(super) name: String,
    /// Its token.
    pub(super) at: usize,
    /// Its kind.
    pub(super) kind: DeclarationKind,
    /// The byte range of its scope.
    pub(super) visible: Range<usize>,
    /// The first token of its initial value.
    pub(super) value: Option<usize>,
}

impl Declaration {
    /// Whether this is a function with the given name.
    pub(super) fn is_function(&self, name: &str) -> bool {
        self.name == name && matches!(self.kind, DeclarationKind::Function(_))
    }
}

/// A parsed script.
#[derive(Debug)]
pub(super) struct Script {
    syntax: Syntax,
    /// What the script declares, in the order of the text.
    pub(super) declarations: Vec<Declaration>,
}

impl Deref for Script {
    type Target = Syntax;

    fn deref(&self) -> &Syntax {
        &self.syntax
    }
}

impl Script {
    /// Parses a text.
    pub(super) fn new(text: &str) -> Self {
        let syntax = Syntax::new(text);
        let declarations =
            (0..syntax.tokens.len()).flat_map(|token| declarations_at(&syntax, token)).collect();
        Self { syntax, declarations }
    }

    /// The declaration of a name at an offset; later declarations shadow earlier ones.
    pub(super) fn lookup(&self, name: &str, offset: usize) -> Option<&Declaration> {
        self.visible(offset).find(|declaration| declaration.name == name)
    }

    /// The declarations in scope at an offset, the latest first. A function's body sees no variables outside of it.
    pub(super) fn visible(&self, offset: usize) -> impl Iterator<Item = &Declaration> {
        let body = self.function_around(offset);
        self.declarations.iter().rev().filter(move |declaration| {
            let is_global =
                matches!(declaration.kind, DeclarationKind::Function(_) | DeclarationKind::Module(_));
            let is_inside = body.is_none_or(|body| declaration.visible.start >= body);
            declaration.visible.contains(&offset) && (is_global || is_inside)
        })
    }

    /// Where the body of the function around an offset begins.
    fn function_around(&self, offset: usize) -> Option<usize> {
        let is_body = |brace: usize| {
            let paren = brace.checked_sub(1).and_then(|close| self.partner(close));
            let before = paren.and_then(|paren| paren.checked_sub(2));
            self.opens(brace, Bracket::Brace) && before.is_some_and(|before| self.word(before) == "fn")
        };
        let mut around = std::iter::successors(self.enclosing(offset), |open| self.parent(*open));
        around.find(|open| is_body(*open)).map(|open| self.range(open).start)
    }

    /// The functions that other scripts can call.
    pub(super) fn public_functions(&self) -> impl Iterator<Item = &Declaration> {
        self.declarations.iter().filter(|declaration| {
            matches!(declaration.kind, DeclarationKind::Function(_)) && !self.is_private(declaration)
        })
    }

    fn is_private(&self, function: &Declaration) -> bool {
        function.at.checked_sub(2).is_some_and(|before| self.word(before) == "private")
    }

    /// The comment above a declaration.
    pub(super) fn doc_of(&self, declaration: &Declaration) -> String {
        let mark = if matches!(declaration.kind, DeclarationKind::Function(_)) { "///" } else { "//" };
        self.comment_above(declaration.at, mark)
    }

    /// The path of the module in a call `module::function(…)`, by the function's token.
    pub(super) fn module_of(&self, function: usize) -> Option<&str> {
        let alias = function.checked_sub(2).filter(|_| self.word(function - 1) == "::")?;
        match &self.lookup(self.word(alias), self.range(alias).start)?.kind {
            DeclarationKind::Module(path) => Some(path),
            _ => None,
        }
    }
}

/// What is declared by the declaration that begins at a token, if one does.
fn declarations_at(syntax: &Syntax, token: usize) -> Vec<Declaration> {
    let next = token + 1;
    match syntax.word(token) {
        "|" if begins_closure(syntax, token) => parameters(syntax, token, names(syntax, next, "|")),
        _ if !syntax.is_word(token) => Vec::new(),
        "let" => variable(syntax, next, DeclarationKind::Variable),
        "const" => variable(syntax, next, DeclarationKind::Constant),
        "for" => parameters(syntax, token, names(syntax, next, "in")),
        "catch" => parameters(syntax, token, names(syntax, next, ")")),
        "fn" => function(syntax, next),
        "import" => import(syntax, token),
        _ => Vec::new(),
    }
}

fn declare(syntax: &Syntax, at: usize, kind: DeclarationKind, visible: Range<usize>) -> Vec<Declaration> {
    let name = syntax.word(at).to_owned();
    let declaration = Declaration { name, at, kind, visible, value: None };
    syntax.is_word(at).then_some(declaration).into_iter().collect()
}

fn variable(syntax: &Syntax, at: usize, kind: DeclarationKind) -> Vec<Declaration> {
    let value = Some(at + 2).filter(|value| syntax.word(at + 1) == "=" && *value < syntax.tokens.len());
    let visible = end_of_statement(syntax, at)..end_of_block(syntax, at);
    let declarations = declare(syntax, at, kind, visible).into_iter();
    declarations.map(|declaration| Declaration { value, ..declaration }).collect()
}

/// Where the statement of a declaration ends; a variable is not in scope in its own initial value.
fn end_of_statement(syntax: &Syntax, at: usize) -> usize {
    let parent = syntax.parent(at);
    let ends = |token: &usize| {
        let word = syntax.word(*token);
        let is_end = matches!(word, ";" | "let" | "const" | "fn" | "import" | "export");
        is_end && syntax.parent(*token) == parent || parent.is_some() && syntax.partner(*token) == parent
    };
    let end = (at + 1..syntax.tokens.len()).find(ends);
    end.map_or(syntax.range(at).end, |end| syntax.tokens[end].start)
}

/// Where the block around a token ends.
fn end_of_block(syntax: &Syntax, token: usize) -> usize {
    let is_block =
        |open: &usize| syntax.opens(*open, Bracket::Brace) || syntax.opens(*open, Bracket::Interpolation);
    let block = std::iter::successors(syntax.parent(token), |open| syntax.parent(*open)).find(is_block);
    block.map_or(syntax.text.len(), |open| syntax.end_of(open)) + 1
}

/// The longest list that is read, in names and separators; in half-typed text a list may have no end.
const MOST_NAMES: usize = 64;

/// The names from a token up to the word `end`, and the token of that word.
fn names(syntax: &Syntax, from: usize, end: &str) -> (Vec<usize>, usize) {
    let is_listed = |token: &usize| !matches!(syntax.word(*token), ";" | "{") && syntax.word(*token) != end;
    let listed = (from..syntax.tokens.len()).take(MOST_NAMES).take_while(is_listed).count();
    let names = (from..from + listed).filter(|token| syntax.is_word(*token)).collect();
    (names, from + listed)
}

/// Names in scope in a body only. The body of a loop, a function or a `catch` is the next block in the bracket of the `keyword`; that of
/// a closure is a block or an expression.
fn parameters(syntax: &Syntax, keyword: usize, (names, end): (Vec<usize>, usize)) -> Vec<Declaration> {
    let parent = syntax.parent(keyword);
    let is_closure = syntax.word(keyword) == "|";
    let is_block = |token: usize| syntax.opens(token, Bracket::Brace) && (!is_closure || token == end + 1);
    let ends = |token: &usize| {
        let is_inside = syntax.parent(*token) == parent;
        is_inside && (is_block(*token) || matches!(syntax.word(*token), "," | ";"))
            || parent.is_some_and(|open| syntax.partner(open) == Some(*token))
    };
    let (start, end) = match (end + usize::from(is_closure)..syntax.tokens.len()).find(ends) {
        Some(block) if is_block(block) => (block, syntax.end_of(block)),
        Some(separator) => (end, syntax.tokens[separator].start),
        None => (end, syntax.text.len()),
    };
    let visible = syntax.range(start).start..end + 1;
    names
        .into_iter()
        .flat_map(|name| declare(syntax, name, DeclarationKind::Parameter, visible.clone()))
        .collect()
}

fn function(syntax: &Syntax, at: usize) -> Vec<Declaration> {
    let has_parameters = syntax.opens(at + 1, Bracket::Paren);
    let listed = if has_parameters { names(syntax, at + 2, ")") } else { (Vec::new(), at) };
    let parameter_names = listed.0.iter().map(|name| syntax.word(*name).to_owned()).collect();
    let mut all = declare(syntax, at, DeclarationKind::Function(parameter_names), 0..syntax.text.len() + 1);
    all.extend(parameters(syntax, at - 1, listed));
    all
}

fn import(syntax: &Syntax, token: usize) -> Vec<Declaration> {
    let Some(TokenKind::String(path)) = syntax.kind(token + 1) else { return Vec::new() };
    if syntax.word(token + 2) != "as" {
        return Vec::new();
    }
    let path = syntax.text[path.clone()].to_owned();
    let visible = syntax.range(token + 3).start..end_of_block(syntax, token);
    declare(syntax, token + 3, DeclarationKind::Module(path), visible)
}

/// Whether a `|` begins the parameters of a closure: a value is expected there.
fn begins_closure(syntax: &Syntax, bar: usize) -> bool {
    let Some(before) = bar.checked_sub(1) else { return true };
    match syntax.kind(before) {
        Some(TokenKind::Open(_)) => true,
        Some(TokenKind::Symbol) => syntax.word(before) != "|",
        Some(TokenKind::Word) => BEFORE_VALUES.contains(&syntax.word(before)),
        _ => false,
    }
}

/// Keywords that are followed by a value.
const BEFORE_VALUES: [&str; 8] = ["return", "in", "if", "while", "until", "else", "throw", "switch"];

#[cfg(test)]
mod tests {
    use super::{DeclarationKind, Script};

    fn seen(text: &str) -> Vec<String> {
        let offset = text.find('¦').expect("a mark");
        let script = Script::new(&text.replace('¦', " "));
        let mut names: Vec<String> =
            script.visible(offset).map(|declaration| declaration.name.clone()).collect();
        names.sort();
        names
    }

    #[test]
    fn scopes_are_those_of_rhai() {
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
            script.declarations.iter().find(|declaration| declaration.name == name).map(|d| d.kind.clone())
        };
        assert_eq!(is("x"), Some(DeclarationKind::Module("lib/x".to_owned())));
        assert_eq!(is("f"), Some(DeclarationKind::Function(vec!["a".to_owned(), "b".to_owned()])));
        assert_eq!(is("late"), Some(DeclarationKind::Variable));
    }
}
