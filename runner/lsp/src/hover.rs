//! Hover: what the token at a position in a script means.

use std::ops::Range;

use super::context::{ParameterPath, member_of, parameter_of};
use super::cursor::Cursor;
use super::markdown;
use super::members::of_data;
use super::parameter;
use super::script::{Declaration, DeclarationKind};
use dc0_script::scan::{Bracket, TokenKind};

/// What a token means.
pub(super) struct Hover {
    /// The meaning, as Markdown.
    pub(super) markdown: String,
    /// The token's byte range.
    pub(super) range: Range<usize>,
}

/// What the token at the cursor means.
pub(super) fn hover(cursor: Cursor<'_>) -> Option<Hover> {
    let token = cursor.token()?;
    let markdown = match cursor.script().kind(token)? {
        TokenKind::String(content) => cursor.meaning_of_string(token, content),
        TokenKind::Word => cursor.meaning_of_word(token),
        _ => None,
    }?;
    Some(Hover { markdown, range: cursor.script().range(token) })
}

impl Cursor<'_> {
    /// A string: the script that it imports, or the parameter whose value it is.
    fn meaning_of_string(&self, token: usize, content: &Range<usize>) -> Option<String> {
        let script = self.script();
        if let Some(meaning) = self.meaning_of_key(token) {
            return Some(meaning);
        }
        if script.is_import(token) {
            return self.meaning_of_module(&script.text[content.clone()]);
        }
        self.meaning_of_parameter(&parameter_of(script, token)?)
    }

    fn meaning_of_module(&self, path: &str) -> Option<String> {
        let module = self.module(path)?;
        Some(markdown::of_module(&module.path.display().to_string(), &module.script))
    }

    fn meaning_of_parameter(&self, ParameterPath { call, path }: &ParameterPath) -> Option<String> {
        self.api.parameter(call, path).map(|row| parameter::documentation(row, call))
    }

    fn meaning_of_word(&self, token: usize) -> Option<String> {
        match self.word_before(token) {
            "." | "?." => self.meaning_of_member(token),
            "::" => {
                let (script, module) = (self.script(), self.module_of(token)?);
                let mut functions = module.script.declarations.iter();
                let function = functions.find(|declaration| declaration.is_function(script.word(token)))?;
                Some(markdown::of_own_function(&module.script, function, Some(script.word(token - 2))))
            }
            _ => self.meaning_of_key(token).or_else(|| self.meaning_of_name(token)),
        }
    }

    /// The name of a map's member: a parameter of a call, or a member of the script's own.
    fn meaning_of_key(&self, token: usize) -> Option<String> {
        let script = self.script();
        let (map, entry) = script.entry(token)?;
        let parameter = member_of(script, map, token);
        let of_call = parameter.and_then(|parameter| self.meaning_of_parameter(&parameter));
        of_call.or_else(|| Some(markdown::of_entry(script, map, entry)))
    }

    /// A member after a dot; of any handle if the receiver is unknown.
    fn meaning_of_member(&self, token: usize) -> Option<String> {
        let (script, members) = (self.script(), self.members());
        let name = script.word(token);
        let of_value = || {
            let Some(receiver) = members.before_dot(token - 1) else {
                let (kind, _, value) = self.api.all_fields().find(|(_, field, _)| *field == name)?;
                return Some(markdown::of_member(&of_data(name, value), &format!("a `{kind}`")));
            };
            let member = members.member(&receiver, name)?;
            Some(markdown::of_member(&member, &markdown::owner(&receiver)))
        };
        let is_call = script.opens(token + 1, Bracket::Paren);
        let of_value = if is_call { None } else { of_value() };
        of_value.or_else(|| self.meaning_of_function(name))
    }

    /// A name with neither dot nor `::` before it.
    fn meaning_of_name(&self, token: usize) -> Option<String> {
        let script = self.script();
        let (name, offset) = (script.word(token), script.range(token).end);
        let own = script.declarations.iter().find(|declaration| declaration.at == token);
        let is_call = script.opens(token + 1, Bracket::Paren);
        let found = own
            .or_else(|| script.lookup(name, offset))
            .filter(|found| !is_call || !matches!(found.kind, DeclarationKind::Constant));
        match found {
            Some(function) if function.is_function(name) => {
                Some(markdown::of_own_function(script, function, None))
            }
            Some(Declaration { kind: DeclarationKind::Module(path), .. }) => self.meaning_of_module(path),
            Some(variable) => {
                let offset = variable.visible.start.max(offset);
                Some(markdown::of_variable(self.members(), variable, offset))
            }
            None => self.meaning_of_function(name),
        }
    }

    /// A function of dc0 or of Rhai.
    fn meaning_of_function(&self, name: &str) -> Option<String> {
        let of_dc0 = self.api.function(name).map(|function| markdown::of_function(self.api, function));
        of_dc0.or_else(|| self.api.built_in.get(name).map(markdown::of_built_in))
    }
}
