//! What stands at a place of a script: what it means, where it is declared, and how the call around it is made.

use std::ops::Range;
use std::path::PathBuf;

use lsp_types::{
    Documentation, MarkupContent, MarkupKind, ParameterInformation, ParameterLabel, SignatureHelp,
    SignatureInformation,
};

use super::catalogue::{Catalogue, arguments, forms_of, usage};
use super::desk::{Desk, Document, imported};
use super::outline::{Declared, What};
use super::scan::{Bracket, Kind};
use super::spot::Destination;
use super::text::Text;
use super::types::Types;
use super::words;

/// A place that is looked at.
#[derive(Clone, Copy)]
pub(super) struct Look<'a> {
    /// What can be called.
    pub(super) catalogue: &'a Catalogue,
    /// What is open.
    pub(super) desk: &'a Desk,
    /// The script.
    pub(super) document: &'a Document,
    /// The byte.
    pub(super) offset: usize,
}

/// Where something is declared: a file with its text, and the bytes.
pub(super) struct Declaration {
    /// The file.
    pub(super) path: PathBuf,
    /// The file's text.
    pub(super) text: Text,
    /// The name.
    pub(super) name: Range<usize>,
}

impl<'a> Look<'a> {
    fn types(&self) -> Types<'a> {
        Types { script: &self.document.script, catalogue: self.catalogue }
    }

    /// What the token here means, as Markdown, with its bytes.
    pub(super) fn hover(&self) -> Option<(String, Range<usize>)> {
        let script = &self.document.script;
        if script.comment_at(self.offset) {
            return None;
        }
        let token = script.at(self.offset)?;
        let meaning = match script.kind(token)? {
            Kind::Text(content) => self.of_text(token, content),
            Kind::Word => self.of_word(token),
            _ => None,
        };
        meaning.map(|meaning| (meaning, script.range(token)))
    }

    /// A text: the script that it imports, or the parameter whose value it is.
    fn of_text(&self, token: usize, content: &Range<usize>) -> Option<String> {
        let script = &self.document.script;
        if let Some(meaning) = self.of_key(token) {
            return Some(meaning);
        }
        if token.checked_sub(1).is_some_and(|before| script.word(before) == "import") {
            return self.of_module(&script.text[content.clone()]);
        }
        self.of_parameter(&script.value_destination(token)?)
    }

    fn of_module(&self, path: &str) -> Option<String> {
        let module = self.desk.module(&self.document.path, path)?;
        let functions = module.script.declared.iter().filter(|declared| {
            matches!(declared.what, What::Function(_)) && !module.script.is_private(declared)
        });
        let forms: Vec<String> =
            functions.map(|function| format!("fn {}", words::form(function, None))).collect();
        let name = module.path.display();
        Some(format!("`{name}`\n\n{}\n\n{}", module.script.opening_comment(), words::code(&forms.join("\n"))))
    }

    fn of_parameter(&self, Destination { call, path }: &Destination) -> Option<String> {
        self.catalogue.parameter(call, path).map(|row| words::of_row(row, call))
    }

    fn of_word(&self, token: usize) -> Option<String> {
        let script = &self.document.script;
        let before = token.checked_sub(1).map_or("", |before| script.word(before));
        match before {
            "." | "?." => self.of_member(token),
            "::" => self.of_module_function(token),
            _ => self.of_key(token).or_else(|| self.of_name(token)),
        }
    }

    /// The name of a member of a map: a parameter of a call, or one that the script declares.
    fn of_key(&self, token: usize) -> Option<String> {
        let script = &self.document.script;
        let map = script.parent(token).filter(|open| script.opens(*open, Bracket::Map))?;
        let entry = script.entries(map).into_iter().find(|entry| entry.key == token)?;
        let destination = script.member_destination(map, token);
        let of_call = destination.and_then(|destination| self.of_parameter(&destination));
        of_call.or_else(|| Some(words::of_entry(script, map, entry)))
    }

    /// A name behind a dot.
    fn of_member(&self, token: usize) -> Option<String> {
        let (script, name) = (&self.document.script, self.document.script.word(token));
        let kind = self.types().before_dot(token - 1);
        let is_call = script.opens(token + 1, Bracket::Paren);
        let member = kind.filter(|_| !is_call).and_then(|kind| {
            let member = self.types().members(&kind).into_iter().find(|member| member.name == name)?;
            Some(words::of_member(&member, &words::owner(&kind)))
        });
        member.or_else(|| self.of_function(name))
    }

    fn of_module_function(&self, token: usize) -> Option<String> {
        let script = &self.document.script;
        let module = self.desk.module(&self.document.path, script.module_of(token)?)?;
        let function =
            module.script.declared.iter().find(|declared| is_function(declared, script.word(token)))?;
        Some(words::of_function(&module.script, function, Some(script.word(token - 2))))
    }

    /// A name that stands alone.
    fn of_name(&self, token: usize) -> Option<String> {
        let script = &self.document.script;
        let (name, offset) = (script.word(token), script.range(token).end);
        let own = script.declared.iter().find(|declared| declared.at == token);
        let is_call = script.opens(token + 1, Bracket::Paren);
        let found = own
            .or_else(|| script.lookup(name, offset))
            .filter(|found| !is_call || !matches!(found.what, What::Constant));
        match found {
            Some(function) if matches!(function.what, What::Function(_)) => {
                Some(words::of_function(script, function, None))
            }
            Some(Declared { what: What::Module(path), .. }) => self.of_module(path),
            Some(variable) => {
                Some(words::of_variable(self.types(), variable, variable.visible.start.max(offset)))
            }
            None => self.of_function(name),
        }
    }

    /// A function that needs no declaration.
    fn of_function(&self, name: &str) -> Option<String> {
        let of_dc0 = usage(name).map(|known| words::documentation(self.catalogue, known));
        of_dc0.or_else(|| self.catalogue.built_in.get(name).map(words::of_built_in))
    }

    /// Where the name here is declared.
    pub(super) fn definition(&self) -> Option<Declaration> {
        let script = &self.document.script;
        let token = script.at(self.offset).filter(|_| !script.comment_at(self.offset))?;
        if let Some(Kind::Text(content)) = script.kind(token) {
            let is_import = token.checked_sub(1).is_some_and(|before| script.word(before) == "import");
            return if is_import { self.file(&script.text[content.clone()]) } else { None };
        }
        let name = script.word(token);
        match token.checked_sub(1).map_or("", |before| script.word(before)) {
            "." | "?." => {
                let kind = self.types().before_dot(token - 1)?;
                let member = self.types().members(&kind).into_iter().find(|member| member.name == name)?;
                Some(self.here(member.key?))
            }
            "::" => {
                let module = self.desk.module(&self.document.path, script.module_of(token)?)?;
                let function = module.script.declared.iter().find(|declared| is_function(declared, name))?;
                let name = module.script.range(function.at);
                Some(Declaration { path: module.path, text: module.text, name })
            }
            _ => {
                let own = script.declared.iter().find(|declared| declared.at == token);
                match own.or_else(|| script.lookup(name, script.range(token).start))? {
                    Declared { what: What::Module(path), .. } => self.file(path),
                    declared => Some(self.here(declared.at)),
                }
            }
        }
    }

    fn here(&self, token: usize) -> Declaration {
        let Document { path, text, script, .. } = self.document;
        Declaration { path: path.clone(), text: text.clone(), name: script.range(token) }
    }

    /// The beginning of an imported script.
    fn file(&self, path: &str) -> Option<Declaration> {
        let module = self.desk.module(&self.document.path, path)?;
        debug_assert_eq!(imported(&self.document.path, path).as_ref(), Some(&module.path));
        Some(Declaration { path: module.path, text: module.text, name: 0..0 })
    }

    /// How the call around this place is made.
    pub(super) fn signature(&self) -> Option<SignatureHelp> {
        let script = &self.document.script;
        let (paren, argument) = script.call_at(self.offset)?;
        let callee = script.callee(paren)?;
        let signatures = self.signatures(callee);
        let fits = |signature: &SignatureInformation| {
            signature.parameters.as_ref().is_some_and(|all| all.len() > argument)
        };
        let active = signatures.iter().position(fits).unwrap_or(signatures.len().saturating_sub(1));
        (!signatures.is_empty()).then_some(SignatureHelp {
            signatures,
            active_signature: Some(active as u32),
            active_parameter: Some(argument as u32),
        })
    }

    /// The forms of the function that a token names.
    fn signatures(&self, callee: usize) -> Vec<SignatureInformation> {
        let (script, name) = (&self.document.script, self.document.script.word(callee));
        let before = callee.checked_sub(1).map_or("", |before| script.word(before));
        if before == "::" {
            let module =
                script.module_of(callee).and_then(|path| self.desk.module(&self.document.path, path));
            let Some(module) = module else { return Vec::new() };
            let functions = module.script.declared.iter().filter(|declared| is_function(declared, name));
            let alias = script.word(callee - 2);
            return functions
                .map(|function| {
                    signature(&words::form(function, Some(alias)), &module.script.doc_of(function))
                })
                .collect();
        }
        let own: Vec<_> = script.declared.iter().filter(|declared| is_function(declared, name)).collect();
        if !own.is_empty() {
            return own
                .into_iter()
                .map(|function| signature(&words::form(function, None), &script.doc_of(function)))
                .collect();
        }
        if let Some(known) = usage(name) {
            let meaning = format!("{} Gives {}.", known.meaning, known.gives);
            return forms_of(known).iter().map(|form| signature(form, &meaning)).collect();
        }
        let is_method = before == ".";
        let built_in = self.catalogue.built_in.get(name);
        built_in.map_or_else(Vec::new, |function| {
            function.forms.iter().map(|form| signature_of_method(form, &function.doc, is_method)).collect()
        })
    }
}

fn is_function(declared: &Declared, name: &str) -> bool {
    declared.name == name && matches!(declared.what, What::Function(_))
}

fn signature(form: &str, doc: &str) -> SignatureInformation {
    of_arguments(form, &arguments(form), doc)
}

/// A function of Rhai's: behind a dot, its first argument is what stands left of the dot.
fn signature_of_method(form: &str, doc: &str, is_method: bool) -> SignatureInformation {
    let call = form.split(" -> ").next().unwrap_or(form);
    let arguments = arguments(call);
    of_arguments(form, arguments.get(usize::from(is_method)..).unwrap_or_default(), doc)
}

fn of_arguments(form: &str, arguments: &[&str], doc: &str) -> SignatureInformation {
    let parameter = |argument: &&str| ParameterInformation {
        label: ParameterLabel::Simple((*argument).to_owned()),
        documentation: None,
    };
    SignatureInformation {
        label: form.to_owned(),
        documentation: Some(Documentation::MarkupContent(MarkupContent {
            kind: MarkupKind::Markdown,
            value: doc.to_owned(),
        })),
        parameters: Some(arguments.iter().map(parameter).collect()),
        active_parameter: None,
    }
}
