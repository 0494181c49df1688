//! What an expression is, where the text tells it simply: a chain of names and calls from a variable's first value.

use dc0_core::params::Value;

use super::catalogue::{Catalogue, Given, TRIAL};
use super::outline::What;
use super::scan::{Bracket, Kind};
use super::script::{Entry, Script, is_keyword};

/// What declares a parameter of a script, and may be told in words what it is for.
const DECLARING: [&str; 5] = ["number", "whole", "choice", "flag", "text"];

/// What a value is.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Type {
    /// A run, a net, games, …
    Handle(String),
    /// A trial of the sweep with this parenthesis.
    Trial(usize),
    /// The map of the script that this bracket opens.
    Map(usize),
    /// Plain data, such as this.
    Data(Value),
}

/// A name that can be read from a value.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Member {
    /// The name.
    pub(super) name: String,
    /// What its value is, for people.
    pub(super) detail: String,
    /// What the script says of it.
    pub(super) doc: String,
    /// Where the script declares it.
    pub(super) key: Option<usize>,
    kind: Option<Type>,
}

/// How far a value is followed from variable to variable.
const MOST_STEPS: usize = 16;

/// Reads types from a script.
#[derive(Clone, Copy)]
pub(super) struct Types<'a> {
    /// The script.
    pub(super) script: &'a Script,
    /// What functions give.
    pub(super) catalogue: &'a Catalogue,
}

impl Types<'_> {
    /// What stands left of a dot.
    pub(super) fn before_dot(&self, dot: usize) -> Option<Type> {
        let end = dot.checked_sub(1)?;
        self.of_chain(self.chain_start(end)?, end, MOST_STEPS).map(|(kind, _)| kind)
    }

    /// What a variable is at a place.
    pub(super) fn of_variable(&self, name: &str, offset: usize) -> Option<Type> {
        self.variable(name, offset, MOST_STEPS)
    }

    fn variable(&self, name: &str, offset: usize, steps: usize) -> Option<Type> {
        let declared = self.script.lookup(name, offset)?;
        match declared.what {
            What::Parameter => self.of_parameter(declared.at),
            _ => self.of_value(declared.value?, steps.checked_sub(1)?),
        }
    }

    /// The parameter of a closure that a sweep is given is a trial.
    fn of_parameter(&self, name: usize) -> Option<Type> {
        let paren = self.script.parent(name)?;
        let callee = self.script.callee(paren)?;
        (self.script.word(callee) == "sweep").then_some(Type::Trial(paren))
    }

    /// What the value is that begins with a token; nothing where an operator makes something else of it.
    fn of_value(&self, first: usize, steps: usize) -> Option<Type> {
        let (kind, end) = self.of_chain(first, usize::MAX, steps)?;
        let is_whole = matches!(self.script.word(end), ";" | "," | "" | "}" | ")" | "]")
            || self.script.tokens[end - 1].end < self.script.range(end).start
                && self.script.text[self.script.tokens[end - 1].end..self.script.range(end).start]
                    .contains('\n');
        let stays =
            self.script.word(end) == "+" && matches!(kind, Type::Map(_) | Type::Data(Value::Group(_)));
        (is_whole || stays).then_some(kind)
    }

    /// The first token of the chain of names and calls that ends with a token.
    fn chain_start(&self, end: usize) -> Option<usize> {
        let script = self.script;
        let mut at = end;
        loop {
            if let Some(Kind::Close) = script.kind(at) {
                at = script.partner(at)?;
                if script.opens(at, Bracket::Square) {
                    at = at.checked_sub(1)?;
                    continue;
                }
                at = script.callee(at).unwrap_or(at);
            }
            match at.checked_sub(1).map(|before| script.word(before)) {
                Some("." | "?." | "::") => at = at.checked_sub(2)?,
                _ => return Some(at),
            }
        }
    }

    /// What a chain is from its first token up to a last one at most, and the token behind what was read.
    fn of_chain(&self, first: usize, last: usize, steps: usize) -> Option<(Type, usize)> {
        let script = self.script;
        let steps = steps.checked_sub(1)?;
        let (mut kind, mut at) = match self.of_first(first, steps) {
            Some((kind, at)) => (Some(kind), at),
            // What a function of dc0 gives is known even where its run is not.
            None if script.is_word(first) && !is_keyword(script.word(first)) => (None, first + 1),
            None => return None,
        };
        while at < last && matches!(script.word(at), "." | "?." | "[") {
            if script.word(at) == "[" {
                kind = kind.as_ref().and_then(item);
                at = script.partner(at)? + 1;
                continue;
            }
            let name = at + 1;
            (kind, at) = if script.opens(name + 1, Bracket::Paren) {
                (self.given(name), script.partner(name + 1)? + 1)
            } else {
                (kind.and_then(|kind| self.member_type(&kind, script.word(name), steps)), name + 1)
            };
        }
        Some((kind?, at))
    }

    fn of_first(&self, first: usize, steps: usize) -> Option<(Type, usize)> {
        let script = self.script;
        match script.kind(first)? {
            Kind::Open(Bracket::Map) => {
                Some((Type::Map(first), script.partner(first).map_or(first + 1, |end| end + 1)))
            }
            Kind::Open(Bracket::Paren) => {
                Some((self.of_value(first + 1, steps)?, script.partner(first)? + 1))
            }
            Kind::Word if is_keyword(script.word(first)) || script.word(first + 1) == "::" => None,
            Kind::Word if script.opens(first + 1, Bracket::Paren) => {
                Some((self.given(first)?, script.partner(first + 1)? + 1))
            }
            Kind::Word => {
                let kind = self.variable(script.word(first), script.range(first).start, steps)?;
                Some((kind, first + 1))
            }
            _ => None,
        }
    }

    /// What a call gives, by the token of the function's name.
    fn given(&self, name: usize) -> Option<Type> {
        let script = self.script;
        let word = script.word(name);
        let is_own =
            script.declared.iter().any(|own| own.name == word && matches!(own.what, What::Function(_)));
        if is_own {
            return None;
        }
        if word == "params" && script.opens(name + 2, Bracket::Map) {
            return Some(Type::Map(name + 2));
        }
        match self.catalogue.gives(word)? {
            Given::Handle(kind) => Some(Type::Handle(kind.clone())),
            Given::Data(value) => Some(Type::Data(value.clone())),
        }
    }

    fn member_type(&self, kind: &Type, name: &str, steps: usize) -> Option<Type> {
        if let Type::Map(map) = kind {
            let entry =
                self.script.entries(*map).into_iter().find(|entry| self.script.name_of(*entry) == name)?;
            return self.of_entry(*map, entry, steps);
        }
        self.members(kind).into_iter().find(|member| member.name == name)?.kind
    }

    /// What a member of a map is; in a declaration of parameters, calls say what values they may have.
    fn of_entry(&self, map: usize, entry: Entry, steps: usize) -> Option<Type> {
        let value = entry.value?;
        let is_call = self.script.is_word(value) && self.script.opens(value + 1, Bracket::Paren);
        if is_call && self.is_declaration(map) {
            return None;
        }
        self.of_value(value, steps)
    }

    /// Whether a map is that of `params`, or a group in it.
    pub(super) fn is_declaration(&self, map: usize) -> bool {
        let script = self.script;
        let mut open = map;
        while let Some(parent) = script.parent(open).filter(|parent| script.opens(*parent, Bracket::Map)) {
            open = parent;
        }
        let call = script.parent(open).and_then(|paren| script.callee(paren));
        call.is_some_and(|name| script.word(name) == "params")
    }

    /// The names that can be read from a value.
    pub(super) fn members(&self, kind: &Type) -> Vec<Member> {
        match kind {
            Type::Handle(name) => self.of_fields(name),
            Type::Trial(paren) => [self.of_fields(TRIAL), self.dimensions(*paren)].concat(),
            Type::Map(map) => {
                self.script.entries(*map).into_iter().map(|entry| self.of_map(*map, entry)).collect()
            }
            Type::Data(Value::Group(members)) => {
                let known = members.iter().map(|(name, value)| of_data(name, Some(value.clone())));
                known.collect()
            }
            Type::Data(_) => Vec::new(),
        }
    }

    fn of_fields(&self, kind: &str) -> Vec<Member> {
        let field = |(name, value): (String, Option<Value>)| {
            let member = of_data(&name, value);
            let is_run = kind == TRIAL && name == "run";
            if is_run {
                Member {
                    kind: Some(Type::Handle("Run".to_owned())),
                    detail: "the run of this trial".to_owned(),
                    ..member
                }
            } else {
                member
            }
        };
        self.catalogue.fields(kind).into_iter().map(field).collect()
    }

    /// The dimensions of a sweep's space, which its trials have as names.
    fn dimensions(&self, paren: usize) -> Vec<Member> {
        let script = self.script;
        let Some(Type::Map(map)) = self.of_value(paren + 1, MOST_STEPS) else { return Vec::new() };
        let space = script.entries(map).into_iter().find(|entry| script.name_of(*entry) == "space");
        let Some(Type::Map(space)) = space.and_then(|space| self.of_value(space.value?, MOST_STEPS)) else {
            return Vec::new();
        };
        let entries = script.entries(space).into_iter();
        entries.map(|entry| Member { kind: None, ..self.of_map(space, entry) }).collect()
    }

    fn of_map(&self, map: usize, entry: Entry) -> Member {
        Member {
            name: self.script.name_of(entry).to_owned(),
            detail: self.script.value_text(map, entry),
            doc: self.script.said_of(entry),
            key: Some(entry.key),
            kind: self.of_entry(map, entry, MOST_STEPS),
        }
    }
}

impl Script {
    /// What the script says of a member of a map: what `whole(…)` and its like are told, the comment behind it, or the lines above.
    pub(super) fn said_of(&self, entry: Entry) -> String {
        if let Some(said) = entry.value.and_then(|value| self.said_in(value)) {
            return said.to_owned();
        }
        let behind = self.comment_behind(entry.key).filter(|_| self.is_last_of_line(entry));
        behind.map_or_else(|| self.comment_above(entry.key, "//"), ToOwned::to_owned)
    }

    /// The last argument of a call that declares a parameter, if it is a text.
    fn said_in(&self, value: usize) -> Option<&str> {
        let (open, close) = (value + 1, self.partner(value + 1)?);
        let is_declaration = DECLARING.contains(&self.word(value)) && self.opens(open, Bracket::Paren);
        match self.kind(close.checked_sub(1).filter(|_| is_declaration)?)? {
            Kind::Text(said) if close > open + 2 => self.text.get(said.clone()),
            _ => None,
        }
    }

    /// Whether no other member begins on the line of this one.
    fn is_last_of_line(&self, entry: Entry) -> bool {
        let line_end = self.text[self.range(entry.key).end..]
            .find('\n')
            .map_or(self.text.len(), |at| self.range(entry.key).end + at);
        let Some(map) = self.parent(entry.key) else { return true };
        let next = self.entries(map).into_iter().find(|other| other.key > entry.key);
        next.is_none_or(|next| self.range(next.key).start > line_end)
    }

    /// The text of a member's value, shortened to one line.
    pub(super) fn value_text(&self, map: usize, entry: Entry) -> String {
        let Some(value) = entry.value else { return String::new() };
        let start = self.range(value).start;
        let separator = (value..self.tokens.len())
            .find(|token| self.parent(*token) == Some(map) && self.word(*token) == ",");
        let end = separator.map_or(self.end_of(map), |token| self.tokens[token].start).min(self.end_of(map));
        let text = self.text.get(start..end).unwrap_or_default();
        let line = text.lines().next().unwrap_or_default().trim();
        if line.len() < text.trim().len() { format!("{line} …") } else { line.to_owned() }
    }
}

/// An item of a list.
fn item(list: &Type) -> Option<Type> {
    match list {
        Type::Data(Value::List(items)) => items.first().cloned().map(Type::Data),
        _ => None,
    }
}

fn of_data(name: &str, value: Option<Value>) -> Member {
    let detail = value.as_ref().map_or("", |value| match value {
        Value::None => "() where there is none",
        value => value.kind(),
    });
    Member {
        name: name.to_owned(),
        detail: detail.to_owned(),
        doc: String::new(),
        key: None,
        kind: value.map(Type::Data),
    }
}

#[cfg(test)]
mod tests {
    use super::{Catalogue, Script, Types};

    /// The names after the dot before the mark.
    fn names(catalogue: &Catalogue, text: &str) -> Vec<String> {
        let offset = text.find('¦').expect("a mark");
        let script = Script::new(&text.replace('¦', ""));
        let types = Types { script: &script, catalogue };
        let dot = script.before(offset).expect("a dot");
        let kind = types.before_dot(dot);
        kind.map(|kind| types.members(&kind).into_iter().map(|member| member.name).collect())
            .unwrap_or_default()
    }

    #[test]
    fn values_are_followed_from_name_to_name() {
        let catalogue = Catalogue::new();
        let has = |text: &str, name: &str| {
            let names = names(&catalogue, text);
            assert!(names.iter().any(|known| known == name), "{name} in {names:?} of {text}");
        };
        has("let run = open_run(\"x\"); run.¦", "generation");
        has("let run = open_run(\"x\"); let best = run.network(#{}); let b = best; b.¦", "loss");
        has("let verdict = run.arena(a, b, #{ games: 2 }); if verdict.¦ > 0.5 { }", "score");
        has("let p = params(#{ games: 4, search: #{ c_puct: 1.5 } }); p.search.¦", "c_puct");
        has("let s = #{ a: 1 } + #{ b: 2 }; s.¦", "a");
        has("sweep(#{ space: #{ blocks: int(1, 2) } }, |trial| { trial.¦ })", "blocks");
        has("sweep(#{ space: #{} }, |trial| { let run = trial.run; run.¦ })", "folder");
        has("run.window(#{ iterations: 4 }).¦", "positions");
        has("let found = sweep(#{}, |t| 1); found.best.¦", "value");
        assert!(names(&catalogue, "let n = run.train(a, b, #{}).loss > 1; n.¦").is_empty());
        assert!(names(&catalogue, "nothing.¦").is_empty() && names(&catalogue, ".¦").is_empty());
    }

    #[test]
    fn a_variable_that_names_itself_ends_nowhere() {
        let catalogue = Catalogue::new();
        assert!(names(&catalogue, "let a = a; let a = a.b; a.¦").is_empty());
        assert!(
            names(
                &catalogue,
                &format!(
                    "let a0 = 1;{} a40.¦",
                    (1..41).map(|n| format!("let a{n} = a{};", n - 1)).collect::<String>()
                )
            )
            .is_empty()
        );
    }
}
