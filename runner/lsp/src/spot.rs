//! What stands at a place of a script, and what could be typed there.

use std::ops::Range;

use super::outline::What;
use super::scan::{Bracket, Kind};
use super::script::Script;

/// A parameter, or a group of them: the call and the names that lead there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Destination {
    /// The function.
    pub(super) call: String,
    /// The names; none for the call's own map.
    pub(super) path: Vec<String>,
}

/// What could be typed at a place. Ranges are of what stands there already.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Spot {
    /// Nothing: a comment, a number, or a name that is being given.
    Nothing,
    /// The path of an import.
    Import(Range<usize>),
    /// The inside of a text.
    Text {
        /// The text without its quotes.
        content: Range<usize>,
        /// Its token.
        token: usize,
    },
    /// A name behind a dot.
    Member {
        /// The dot.
        dot: usize,
        /// The name so far.
        word: Range<usize>,
    },
    /// A function of an imported script.
    InModule {
        /// The name that the import gave it.
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
    /// A value or a statement.
    Expression {
        /// The name so far.
        word: Range<usize>,
        /// The parameter whose value it is, if it is one's first token.
        parameter: Option<Destination>,
    },
}

/// How far a map is followed: through brackets around it, and from variable to variable.
#[derive(Debug, Clone, Copy)]
struct Reach {
    brackets: usize,
    variables: usize,
}

const REACH: Reach = Reach { brackets: 24, variables: 3 };

impl Script {
    /// What could be typed at a place.
    pub(super) fn spot(&self, offset: usize) -> Spot {
        if self.comment_at(offset) {
            return Spot::Nothing;
        }
        let Some(token) = self.before(offset) else {
            return Spot::Expression { word: offset..offset, parameter: None };
        };
        let is_within = offset <= self.tokens[token].end;
        match &self.tokens[token].kind {
            Kind::Text(content) if content.start <= offset && offset <= content.end => {
                self.text_spot(token, content)
            }
            Kind::Number if is_within => Spot::Nothing,
            Kind::Word if is_within => self.word_spot(self.range(token), token.checked_sub(1)),
            _ => self.word_spot(offset..offset, Some(token)),
        }
    }

    fn text_spot(&self, token: usize, content: &Range<usize>) -> Spot {
        let is_import = token.checked_sub(1).is_some_and(|before| self.word(before) == "import");
        if is_import { Spot::Import(content.clone()) } else { Spot::Text { content: content.clone(), token } }
    }

    /// What a word is that stands behind a token.
    fn word_spot(&self, word: Range<usize>, before: Option<usize>) -> Spot {
        let Some(before) = before else { return Spot::Expression { word, parameter: None } };
        let symbol = self.word(before);
        let is_name = matches!(symbol, "let" | "const" | "fn" | "for" | "as" | "import");
        if is_name && self.is_word(before) {
            return Spot::Nothing;
        }
        match symbol {
            "." | "?." => Spot::Member { dot: before, word },
            "::" => match before.checked_sub(1).filter(|alias| self.is_word(*alias)) {
                Some(alias) => Spot::InModule { alias: self.word(alias).to_owned(), word },
                None => Spot::Nothing,
            },
            _ => self.key_or_value(word, before),
        }
    }

    fn key_or_value(&self, word: Range<usize>, before: usize) -> Spot {
        let around = if matches!(self.tokens[before].kind, Kind::Open(_)) {
            Some(before)
        } else {
            self.parent(before)
        };
        let map = around.filter(|open| self.opens(*open, Bracket::Map));
        match map {
            Some(map) if before == map || self.word(before) == "," => Spot::Key { map, word },
            Some(map) if self.word(before) == ":" => {
                let parameter = self.member_destination(map, before - 1);
                Spot::Expression { word, parameter }
            }
            _ => Spot::Expression { word, parameter: None },
        }
    }

    /// What the value at a token is given to, if that is a parameter of a call.
    pub(super) fn value_destination(&self, token: usize) -> Option<Destination> {
        let map = self.nearest_map(token)?;
        self.member_destination(map, token)
    }

    /// The map around a token, through lists.
    fn nearest_map(&self, token: usize) -> Option<usize> {
        let mut open = self.parent(token)?;
        while self.opens(open, Bracket::Square) {
            open = self.parent(open)?;
        }
        self.opens(open, Bracket::Map).then_some(open)
    }

    /// The parameter that the member of a map is to which a token belongs.
    pub(super) fn member_destination(&self, map: usize, token: usize) -> Option<Destination> {
        let entry = self.entry_of(map, token);
        let name = match entry {
            Some(entry) => self.name_of(entry).to_owned(),
            None => self.word(token).to_owned(),
        };
        let mut destination = self.destination(map)?;
        destination.path.push(name);
        Some(destination)
    }

    /// Which call's parameters a map holds, directly, within other maps, or by way of variables.
    pub(super) fn destination(&self, map: usize) -> Option<Destination> {
        self.goes_to(map, REACH)
    }

    /// Where the value at a token goes to.
    fn goes_to(&self, token: usize, reach: Reach) -> Option<Destination> {
        let reach = Reach { brackets: reach.brackets.checked_sub(1)?, ..reach };
        match self.parent(token) {
            Some(open) if self.opens(open, Bracket::Map) => {
                let entry = self.entry_of(open, token).filter(|entry| entry.key != token)?;
                let mut around = self.goes_to(open, reach)?;
                around.path.push(self.name_of(entry).to_owned());
                Some(around)
            }
            Some(open) if self.opens(open, Bracket::Paren) => match self.callee(open) {
                Some(callee) => {
                    let is_of_module = callee.checked_sub(1).is_some_and(|before| self.word(before) == "::");
                    let call = self.word(callee).to_owned();
                    (!is_of_module).then_some(Destination { call, path: Vec::new() })
                }
                None => self.goes_to(open, reach),
            },
            Some(open) if !self.opens(open, Bracket::Brace) => None,
            _ => self.variable_goes_to(self.assigned(token)?, token, reach),
        }
    }

    /// The token of the variable that the statement around a token gives a value.
    fn assigned(&self, token: usize) -> Option<usize> {
        let parent = self.parent(token);
        let is_equals = |at: &usize| self.parent(*at) == parent && matches!(self.word(*at), "=" | "+=");
        let ends = |at: &usize| self.parent(*at) == parent && self.word(*at) == ";" || Some(*at) == parent;
        let equals = (0..token).rev().take_while(|at| !ends(at)).find(is_equals)?;
        equals.checked_sub(1).filter(|name| self.is_word(*name))
    }

    /// Where the first use of a variable leads from which that is known.
    fn variable_goes_to(&self, variable: usize, value: usize, reach: Reach) -> Option<Destination> {
        let reach = Reach { variables: reach.variables.checked_sub(1)?, ..reach };
        let name = self.word(variable);
        let is_use = |token: &usize| {
            let before = token.checked_sub(1).map_or("", |before| self.word(before));
            self.word(*token) == name
                && self.is_word(*token)
                && !matches!(before, "." | "?." | "let" | "const" | "for" | "::")
                && !matches!(self.word(token + 1), ":" | "." | "?." | "::" | "=" | "(")
        };
        let mut uses = (value..self.tokens.len()).filter(is_use);
        uses.find_map(|token| self.goes_to(token, reach))
    }

    /// The call around a place whose arguments are being typed: its parenthesis, and the number of the argument.
    pub(super) fn call_at(&self, offset: usize) -> Option<(usize, usize)> {
        let mut bracket = self.enclosing(offset)?;
        loop {
            if self.callee(bracket).is_some() {
                return Some((bracket, self.commas(bracket, offset)));
            }
            if self.opens(bracket, Bracket::Brace) {
                return None;
            }
            bracket = self.parent(bracket)?;
        }
    }

    /// The path of the module that a function is called in, by the function's token.
    pub(super) fn module_of(&self, function: usize) -> Option<&str> {
        let alias = function.checked_sub(2).filter(|_| self.word(function - 1) == "::")?;
        match &self.lookup(self.word(alias), self.range(alias).start)?.what {
            What::Module(path) => Some(path),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Destination, Script, Spot};

    fn at(text: &str) -> (Script, Spot) {
        let offset = text.find('¦').expect("a mark");
        let script = Script::new(&text.replace('¦', ""));
        let spot = script.spot(offset);
        (script, spot)
    }

    /// The call and path of the map whose member is typed.
    fn key(text: &str) -> String {
        let (script, spot) = at(text);
        let Spot::Key { map, .. } = spot else { return format!("{spot:?}") };
        script.destination(map).map_or("nowhere".to_owned(), shown)
    }

    fn shown(destination: Destination) -> String {
        [vec![destination.call], destination.path].concat().join(".")
    }

    #[test]
    fn members_of_maps_know_their_call() {
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
    fn values_know_their_parameter() {
        let (_, spot) = at("run.self_play(net, #{ policy_targets: ¦ })");
        let Spot::Expression { parameter: Some(parameter), .. } = spot else { panic!("{spot:?}") };
        assert_eq!(shown(parameter), "self_play.policy_targets");
        let (script, spot) = at("run.self_play(net, #{ search: #{ root: #{ rule: \"gu¦");
        let Spot::Text { token, .. } = spot else { panic!("{spot:?}") };
        assert_eq!(script.value_destination(token).map(shown).as_deref(), Some("self_play.search.root.rule"));
    }

    #[test]
    fn nothing_is_offered_where_nothing_fits() {
        for text in
            ["// a¦", "let a¦", "fn f¦", "import \"a\" as b¦", "let x = 12¦", "/* ¦ */", "// ¦\nlet x = 1;"]
        {
            assert_eq!(at(text).1, Spot::Nothing, "{text}");
        }
    }

    #[test]
    fn places_are_told_apart() {
        assert!(matches!(at("run.¦").1, Spot::Member { .. }));
        assert!(matches!(at("run.sel¦f_play(a, b)").1, Spot::Member { word, .. } if word == (4..13)));
        assert!(matches!(at("schedules::¦").1, Spot::InModule { alias, .. } if alias == "schedules"));
        assert!(matches!(at("import \"lib/¦\" as x").1, Spot::Import(content) if content == (8..12)));
        assert!(matches!(at("¦").1, Spot::Expression { .. }));
        assert!(matches!(at("let a = b; ¦").1, Spot::Expression { parameter: None, .. }));
        assert!(matches!(at("print(`a ${b.¦}`)").1, Spot::Member { .. }));
    }

    #[test]
    fn calls_know_their_argument() {
        let call = |text: &str| {
            let offset = text.find('¦').expect("a mark");
            let script = Script::new(&text.replace('¦', ""));
            let (paren, argument) = script.call_at(offset)?;
            Some((script.word(script.callee(paren)?).to_owned(), argument))
        };
        assert_eq!(call("run.train(a, ¦"), Some(("train".to_owned(), 1)));
        assert_eq!(call("run.train(a, w, #{ x: [1, 2], ¦ })"), Some(("train".to_owned(), 2)));
        assert_eq!(call("sweep(#{}, |t| { ¦ })"), None);
        assert_eq!(call("let a = (1, ¦"), None);
        assert_eq!(call("fn f(a, ¦) { }"), None);
    }
}
