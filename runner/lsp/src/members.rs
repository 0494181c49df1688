//! Members after a dot, where the receiver is evident from the text: a call, a variable assigned a call's result or a map, or
//! a path into a map. Values are not followed any further.

use dc0_core::params::Value;

use super::api_index::{ApiIndex, ReturnType, TRIAL};
use super::script::{DeclarationKind, Script};
use dc0_script::scan::{Bracket, TokenKind};
use dc0_script::syntax::{Entry, is_keyword};

/// The receiver: what stands before a dot.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Receiver {
    /// A run, a net, games, …
    Handle(String),
    /// A trial of the sweep with this parenthesis.
    Trial(usize),
    /// The map of the script that this bracket opens.
    Map(usize),
    /// Plain data, by an example of its value.
    Data(Value),
}

/// A member that can be read from a value.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Member {
    /// The name.
    pub(super) name: String,
    /// A short description of its value.
    pub(super) detail: String,
    /// The script's comment on it.
    pub(super) doc: String,
    /// The token that declares it in the script.
    pub(super) key: Option<usize>,
    /// What its value is, for its own members.
    receiver: Option<Receiver>,
}

/// The longest path `a.b.c…` that is followed, in names.
const MOST_NAMES: usize = 16;

/// Reads members from a script.
#[derive(Clone, Copy)]
pub(super) struct Members<'a> {
    /// The script.
    pub(super) script: &'a Script,
    /// What functions return.
    pub(super) api: &'a ApiIndex,
}

impl Members<'_> {
    /// The receiver before a dot; none where the text does not show it.
    pub(super) fn before_dot(&self, dot: usize) -> Option<Receiver> {
        self.path_before(dot, MOST_NAMES)
    }

    fn path_before(&self, dot: usize, most: usize) -> Option<Receiver> {
        let script = self.script;
        let last = dot.checked_sub(1).filter(|_| most > 0)?;
        if script.kind(last) == Some(&TokenKind::Close) {
            return self.returned(script.callee(script.partner(last)?)?);
        }
        let name = script.word(last);
        match last.checked_sub(1).map_or("", |before| script.word(before)) {
            "." | "?." => self.member(&self.path_before(last - 1, most - 1)?, name)?.receiver,
            "::" => None,
            _ => self.variable(name, script.range(last).start),
        }
    }

    /// The value of a variable at an offset.
    pub(super) fn variable(&self, name: &str, offset: usize) -> Option<Receiver> {
        let declaration = self.script.lookup(name, offset)?;
        if declaration.kind == DeclarationKind::Parameter {
            self.trial(declaration.at)
        } else {
            self.value(declaration.value?)
        }
    }

    /// The parameter of a closure passed to `sweep` is a trial.
    fn trial(&self, name: usize) -> Option<Receiver> {
        let paren = self.script.parent(name)?;
        let callee = self.script.callee(paren)?;
        (self.script.word(callee) == "sweep").then_some(Receiver::Trial(paren))
    }

    /// The map or call result of the value that begins at a token; none where something follows the call.
    fn value(&self, first: usize) -> Option<Receiver> {
        let script = self.script;
        if script.opens(first, Bracket::Map) {
            return Some(Receiver::Map(first));
        }
        let mut name = first;
        while script.is_word(name) && matches!(script.word(name + 1), "." | "?.") {
            name += 2;
        }
        let is_call = script.is_word(name) && script.opens(name + 1, Bracket::Paren);
        let after = script.partner(name + 1).filter(|_| is_call && !is_keyword(script.word(name)))? + 1;
        let continues = match script.kind(after) {
            Some(TokenKind::Symbol) => !matches!(script.word(after), ";" | ","),
            Some(TokenKind::Open(Bracket::Square)) => true,
            _ => false,
        };
        if continues { None } else { self.returned(name) }
    }

    /// The result of a call, by the token of the function's name.
    fn returned(&self, name: usize) -> Option<Receiver> {
        let (script, word) = (self.script, self.script.word(name));
        if script.declarations.iter().any(|own| own.is_function(word)) {
            return None;
        }
        if word == "params" && script.opens(name + 2, Bracket::Map) {
            return Some(Receiver::Map(name + 2));
        }
        match self.api.returns(word)? {
            ReturnType::Handle(kind) => Some(Receiver::Handle(kind.clone())),
            ReturnType::Data(value) => Some(Receiver::Data(value.clone())),
        }
    }

    /// A member of a value by its name.
    pub(super) fn member(&self, receiver: &Receiver, name: &str) -> Option<Member> {
        self.all(receiver).into_iter().find(|member| member.name == name)
    }

    /// The members of a value.
    pub(super) fn all(&self, receiver: &Receiver) -> Vec<Member> {
        match receiver {
            Receiver::Handle(kind) => {
                let fields = self.api.fields(kind).iter();
                fields.map(|(name, value)| of_data(name, value)).collect()
            }
            Receiver::Trial(paren) => self.of_trial(*paren),
            Receiver::Map(map) => self.of_map(*map),
            Receiver::Data(Value::Group(members)) => {
                members.iter().map(|(name, value)| of_data(name, value)).collect()
            }
            Receiver::Data(_) => Vec::new(),
        }
    }

    /// A trial's own fields, and the dimensions of its sweep's space.
    fn of_trial(&self, paren: usize) -> Vec<Member> {
        let own = |name: &str| {
            let receiver = (name == "run").then(|| Receiver::Handle("Run".to_owned()));
            let detail = if receiver.is_some() { "the run of this trial" } else { "" };
            Member { detail: detail.to_owned(), receiver, ..of_data(name, &Value::None) }
        };
        let names: Vec<Member> = self.api.fields_of_trials().map(own).collect();
        let space = self.value(paren + 1).and_then(|plan| self.member(&plan, "space")?.receiver);
        let dimensions = space.map_or_else(Vec::new, |space| self.all(&space));
        [names, dimensions].concat()
    }

    fn of_map(&self, map: usize) -> Vec<Member> {
        let script = self.script;
        let is_map = |value: &usize| script.opens(*value, Bracket::Map);
        let member = |entry: Entry| Member {
            name: script.name_of(entry).to_owned(),
            detail: script.value_text(map, entry),
            doc: script.doc_of_entry(entry),
            key: Some(entry.key),
            receiver: entry.value.filter(is_map).map(Receiver::Map),
        };
        script.entries(map).into_iter().map(member).collect()
    }
}

impl Receiver {
    /// The type name of a handle, if this is one.
    pub(super) fn handle(&self) -> Option<&str> {
        match self {
            Self::Handle(kind) => Some(kind),
            Self::Trial(_) => Some(TRIAL),
            Self::Map(_) | Self::Data(_) => None,
        }
    }
}

/// A member of a handle or of data, by an example of its value.
pub(super) fn of_data(name: &str, value: &Value) -> Member {
    let detail = if *value == Value::None { "() if there is none" } else { value.kind() };
    Member {
        name: name.to_owned(),
        detail: detail.to_owned(),
        doc: String::new(),
        key: None,
        receiver: Some(Receiver::Data(value.clone())),
    }
}

#[cfg(test)]
mod tests {
    use super::{ApiIndex, Members, Script};

    /// The members after the dot before the mark.
    fn names(api: &ApiIndex, text: &str) -> Vec<String> {
        let offset = text.find('¦').expect("a mark");
        let script = Script::new(&text.replace('¦', ""));
        let members = Members { script: &script, api };
        let receiver = members.before_dot(script.before(offset).expect("a dot"));
        receiver
            .map_or_else(Vec::new, |receiver| members.all(&receiver).into_iter().map(|m| m.name).collect())
    }

    #[test]
    fn members_of_results_maps_and_trials_are_known() {
        let api = ApiIndex::new();
        let has = |text: &str, name: &str| {
            let names = names(&api, text);
            assert!(names.iter().any(|known| known == name), "{name} in {names:?} of {text}");
        };
        has("let run = open_run(\"x\"); run.¦", "generation");
        has("let net = run.train(a, b, #{}) net.¦", "loss");
        has("let verdict = run.arena(a, b, #{ games: 2 }); if verdict.¦ > 0.5 { }", "score");
        has("let p = params(#{ games: 4, search: #{ c_puct: 1.5 } }); p.search.¦", "c_puct");
        has("let s = #{ a: 1 } + #{ b: 2 }; s.¦", "a");
        has("sweep(#{ space: #{ blocks: int(1, 2) } }, |trial| { trial.¦ })", "blocks");
        has("sweep(#{ space: #{} }, |trial| { trial.run.¦ })", "folder");
        has("run.window(#{ iterations: 4 }).¦", "positions");
        has("let found = sweep(#{}, |t| 1); found.best.¦", "value");
    }

    #[test]
    fn receivers_not_evident_from_the_text_are_unknown() {
        let api = ApiIndex::new();
        for text in [
            "let n = run.train(a, b, #{}).loss > 1; n.¦",
            "let net = run.network(); let other = net; other.¦",
            "fn train(a) { a } let net = train(1); net.¦",
            "let a = a; a.¦",
            "nothing.¦",
            ".¦",
        ] {
            assert!(names(&api, text).is_empty(), "{text}");
        }
    }
}
