//! What kind of completion fits at a position in a script, and which parameter of which call a value belongs to.

use std::ops::Range;

use super::script::Script;
use dc0_script::scan::{Bracket, TokenKind};

/// A parameter of a call, or a group of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ParameterPath {
    /// The function.
    pub(super) call: String,
    /// The names from the call's map to the parameter; empty for the map itself.
    pub(super) path: Vec<String>,
}

/// What kind of completion fits at a position. Ranges cover what is typed there already.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum CompletionContext {
    /// Nothing: a comment, a number, or the name of a declaration.
    Nothing,
    /// The path of an import.
    Import(Range<usize>),
    /// The inside of a string.
    String {
        /// The string without its quotes.
        content: Range<usize>,
        /// Its token.
        token: usize,
    },
    /// A member after a dot.
    Member {
        /// The dot.
        dot: usize,
        /// The name so far.
        word: Range<usize>,
    },
    /// A function of an imported script.
    InModule {
        /// The alias given by the import.
        alias: String,
        /// The name so far.
        word: Range<usize>,
    },
    /// The name of a member of a map.
    Key {
        /// The map's bracket.
        map: usize,
        /// The name so far.
        word: Range<usize>,
    },
    /// An expression or a statement.
    Expression {
        /// The name so far.
        word: Range<usize>,
        /// The parameter whose value begins here, if one does.
        parameter: Option<ParameterPath>,
    },
}

/// The most brackets between a value and its call.
const MOST_BRACKETS: usize = 24;
/// The most variables between a map and its call.
const MOST_VARIABLES: usize = 2;

impl CompletionContext {
    /// What fits at an offset.
    pub(super) fn at(script: &Script, offset: usize) -> Self {
        if script.is_in_comment(offset) {
            return Self::Nothing;
        }
        let Some(token) = script.before(offset) else {
            return Self::Expression { word: offset..offset, parameter: None };
        };
        let is_within = offset <= script.tokens[token].end;
        match &script.tokens[token].kind {
            TokenKind::String(content) if content.start <= offset && offset <= content.end => {
                let content = content.clone();
                if script.is_import(token) { Self::Import(content) } else { Self::String { content, token } }
            }
            TokenKind::Number if is_within => Self::Nothing,
            TokenKind::Word if is_within => Self::of_word(script, script.range(token), token.checked_sub(1)),
            _ => Self::of_word(script, offset..offset, Some(token)),
        }
    }

    /// The context of a word after the token `before`.
    fn of_word(script: &Script, word: Range<usize>, before: Option<usize>) -> Self {
        let Some(before) = before else { return Self::Expression { word, parameter: None } };
        match script.word(before) {
            "let" | "const" | "fn" | "for" | "as" | "import" if script.is_word(before) => Self::Nothing,
            "." | "?." => Self::Member { dot: before, word },
            "::" => match before.checked_sub(1).filter(|alias| script.is_word(*alias)) {
                Some(alias) => Self::InModule { alias: script.word(alias).to_owned(), word },
                None => Self::Nothing,
            },
            symbol => {
                let is_open = matches!(script.tokens[before].kind, TokenKind::Open(_));
                let around = if is_open { Some(before) } else { script.parent(before) };
                match around.filter(|open| script.opens(*open, Bracket::Map)) {
                    Some(map) if before == map || symbol == "," => Self::Key { map, word },
                    Some(map) if symbol == ":" => {
                        Self::Expression { word, parameter: member_of(script, map, before - 1) }
                    }
                    _ => Self::Expression { word, parameter: None },
                }
            }
        }
    }
}

/// The parameter whose value contains a token, directly or in a list.
pub(super) fn parameter_of(script: &Script, token: usize) -> Option<ParameterPath> {
    let mut open = script.parent(token)?;
    while script.opens(open, Bracket::Square) {
        open = script.parent(open)?;
    }
    script.opens(open, Bracket::Map).then(|| member_of(script, open, token))?
}

/// The parameter that is given by the map's member at a token.
pub(super) fn member_of(script: &Script, map: usize, token: usize) -> Option<ParameterPath> {
    let name = match script.entry_of(map, token) {
        Some(entry) => script.name_of(entry),
        None => script.word(token),
    };
    let mut parameter = members_of(script, map)?;
    parameter.path.push(name.to_owned());
    Some(parameter)
}

/// The call whose parameters a map holds: directly, nested in other maps, or through a variable.
pub(super) fn members_of(script: &Script, map: usize) -> Option<ParameterPath> {
    call_of(script, map, MOST_VARIABLES)
}

fn call_of(script: &Script, value: usize, variables: usize) -> Option<ParameterPath> {
    let (mut token, mut path) = (value, Vec::new());
    for _ in 0..MOST_BRACKETS {
        let open = script.parent(token).filter(|open| !script.opens(*open, Bracket::Brace));
        let Some(open) = open else {
            let mut found = uses(script, assigned(script, token)?, token)
                .find_map(|found| call_of(script, found, variables.checked_sub(1)?))?;
            found.path.extend(path.into_iter().rev());
            return Some(found);
        };
        if script.opens(open, Bracket::Map) {
            let entry = script.entry_of(open, token).filter(|entry| entry.key != token)?;
            path.push(script.name_of(entry).to_owned());
        } else if let Some(callee) = script.callee(open) {
            let is_of_module = callee.checked_sub(1).is_some_and(|before| script.word(before) == "::");
            path.reverse();
            return (!is_of_module).then(|| ParameterPath { call: script.word(callee).to_owned(), path });
        } else if !script.opens(open, Bracket::Paren) {
            return None;
        }
        token = open;
    }
    None
}

/// The token of the variable that is assigned in the statement around a token.
fn assigned(script: &Script, token: usize) -> Option<usize> {
    let parent = script.parent(token);
    let is_equals = |at: &usize| script.parent(*at) == parent && matches!(script.word(*at), "=" | "+=");
    let ends = |at: &usize| script.parent(*at) == parent && script.word(*at) == ";" || Some(*at) == parent;
    let equals = (0..token).rev().take_while(|at| !ends(at)).find(is_equals)?;
    equals.checked_sub(1).filter(|name| script.is_word(*name))
}

/// Where a variable is used as a value after a token.
fn uses(script: &Script, variable: usize, after: usize) -> impl Iterator<Item = usize> {
    (after..script.tokens.len()).filter(move |token| {
        let before = token.checked_sub(1).map_or("", |before| script.word(before));
        script.is_word(*token)
            && script.word(*token) == script.word(variable)
            && !matches!(before, "." | "?." | "let" | "const" | "for" | "::")
            && !matches!(script.word(token + 1), ":" | "." | "?." | "::" | "=" | "(")
    })
}

/// The call whose arguments are being typed at an offset: its parenthesis, and the index of the argument.
pub(super) fn call_around(script: &Script, offset: usize) -> Option<(usize, usize)> {
    let mut bracket = script.enclosing(offset)?;
    while script.callee(bracket).is_none() {
        if script.opens(bracket, Bracket::Brace) {
            return None;
        }
        bracket = script.parent(bracket)?;
    }
    Some((bracket, script.commas(bracket, offset)))
}

#[cfg(test)]
mod tests {
    use super::{CompletionContext, ParameterPath, Script, call_around, members_of, parameter_of};

    fn at(text: &str) -> (Script, CompletionContext) {
        let offset = text.find('¦').expect("a mark");
        let script = Script::new(&text.replace('¦', ""));
        let context = CompletionContext::at(&script, offset);
        (script, context)
    }

    /// The call and path of the map whose member is typed.
    fn key(text: &str) -> String {
        let (script, context) = at(text);
        let CompletionContext::Key { map, .. } = context else { return format!("{context:?}") };
        members_of(&script, map).map_or("nowhere".to_owned(), shown)
    }

    fn shown(parameter: ParameterPath) -> String {
        [vec![parameter.call], parameter.path].concat().join(".")
    }

    #[test]
    fn map_members_resolve_to_their_call() {
        assert_eq!(key("run.self_play(net, #{ ¦"), "self_play");
        assert_eq!(key("run.self_play(net, #{ games: 4, sea¦ }); let x = 1;"), "self_play");
        assert_eq!(key("run.self_play(net, #{ search: #{ root: #{ ¦"), "self_play.search.root");
        assert_eq!(key("run.train(a, run.window(), base + #{ upd¦"), "train");
        assert_eq!(key("let search = #{ sim¦ }; run.arena(a, b, #{ search: search });"), "arena.search");
        assert_eq!(key("let base = #{ ¦ }; run.train(a, w, base + #{ updates: 1 });"), "train");
        assert_eq!(key("let x = #{ ¦ };"), "nowhere");
        assert_eq!(key("let x = #{ ¦ }; print(x.y);"), "nowhere");
        assert_eq!(key("guards::search(#{ ¦ })"), "nowhere");
        assert_eq!(key("sweep(#{ space: #{ x: int(1, 2) }, ¦ }, |t| 1)"), "sweep");
        assert_eq!(key("let a = #{ ¦ }; let a = #{ b: a }; let b = #{ a: b };"), "nowhere");
    }

    #[test]
    fn values_resolve_to_their_parameter() {
        let (_, context) = at("run.self_play(net, #{ policy_targets: ¦ })");
        let CompletionContext::Expression { parameter: Some(parameter), .. } = context else {
            panic!("{context:?}")
        };
        assert_eq!(shown(parameter), "self_play.policy_targets");
        let (script, context) = at("run.self_play(net, #{ search: #{ root: #{ rule: \"gu¦");
        let CompletionContext::String { token, .. } = context else { panic!("{context:?}") };
        assert_eq!(parameter_of(&script, token).map(shown).as_deref(), Some("self_play.search.root.rule"));
    }

    #[test]
    fn nothing_is_offered_where_nothing_fits() {
        for text in
            ["// a¦", "let a¦", "fn f¦", "import \"a\" as b¦", "let x = 12¦", "/* ¦ */", "// ¦\nlet x = 1;"]
        {
            assert_eq!(at(text).1, CompletionContext::Nothing, "{text}");
        }
    }

    #[test]
    fn contexts_are_distinguished() {
        assert!(matches!(at("run.¦").1, CompletionContext::Member { .. }));
        assert!(
            matches!(at("run.sel¦f_play(a, b)").1, CompletionContext::Member { word, .. } if word == (4..13))
        );
        assert!(
            matches!(at("schedules::¦").1, CompletionContext::InModule { alias, .. } if alias == "schedules")
        );
        assert!(
            matches!(at("import \"lib/¦\" as x").1, CompletionContext::Import(content) if content == (8..12))
        );
        assert!(matches!(at("¦").1, CompletionContext::Expression { .. }));
        assert!(matches!(at("let a = b; ¦").1, CompletionContext::Expression { parameter: None, .. }));
        assert!(matches!(at("print(`a ${b.¦}`)").1, CompletionContext::Member { .. }));
    }

    #[test]
    fn the_call_and_argument_being_typed_are_found() {
        let call = |text: &str| {
            let offset = text.find('¦').expect("a mark");
            let script = Script::new(&text.replace('¦', ""));
            let (paren, argument) = call_around(&script, offset)?;
            Some((script.word(script.callee(paren)?).to_owned(), argument))
        };
        assert_eq!(call("run.train(a, ¦"), Some(("train".to_owned(), 1)));
        assert_eq!(call("run.train(a, w, #{ x: [1, 2], ¦ })"), Some(("train".to_owned(), 2)));
        assert_eq!(call("sweep(#{}, |t| { ¦ })"), None);
        assert_eq!(call("let a = (1, ¦"), None);
        assert_eq!(call("fn f(a, ¦) { }"), None);
    }
}
