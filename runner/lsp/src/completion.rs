//! Completions at a position in a script.

use std::fs;
use std::ops::Range;
use std::path::Path;

use dc0_core::params::Row;
use lsp_types::{
    CompletionItem, CompletionItemKind, CompletionTextEdit, Documentation, InsertTextFormat, MarkupContent,
    MarkupKind, TextEdit,
};

use super::api_index::{Function, argument_strings};
use super::context::{CompletionContext, ParameterPath, members_of, parameter_of};
use super::cursor::Cursor;
use super::markdown;
use super::members::{Member, of_data};
use super::parameter;
use super::script::{Declaration, DeclarationKind};
use dc0_script::syntax::KEYWORDS;

/// The most files that are offered to an import.
const MOST_FILES: usize = 500;
/// How deep folders are searched for scripts to import.
const MOST_DEPTH: usize = 4;

/// Everything that fits at a position; `has_snippets` says that the editor supports snippets.
pub(super) fn completions(cursor: Cursor<'_>, has_snippets: bool) -> Vec<CompletionItem> {
    let (offers, word) = match CompletionContext::at(cursor.script(), cursor.offset) {
        CompletionContext::Nothing => return Vec::new(),
        CompletionContext::Import(content) => (cursor.imports(), content),
        CompletionContext::String { content, token } => (cursor.string_values(token), content),
        CompletionContext::Member { dot, word } => (cursor.members_after(dot), word),
        CompletionContext::InModule { alias, word } => (cursor.functions_of_module(&alias), word),
        CompletionContext::Key { map, word } => (cursor.keys(map, &word), word),
        CompletionContext::Expression { word, parameter } => (cursor.expressions(parameter), word),
    };
    // An edit of a completion has to be on one line.
    if cursor.script().text[word.clone()].contains('\n') {
        return Vec::new();
    }
    let range = cursor.document.text.span(&word);
    offers.into_iter().map(|offer| offer.item(range, has_snippets)).collect()
}

/// A completion, before the range that it replaces is known.
struct Offer {
    label: String,
    kind: CompletionItemKind,
    /// Offers with a lower rank come first.
    rank: char,
    detail: String,
    doc: String,
    /// What is inserted, if not the label: as a snippet, and plain.
    insert: Option<(String, String)>,
}

impl Offer {
    fn new(label: impl Into<String>, kind: CompletionItemKind, rank: char) -> Self {
        Self { label: label.into(), kind, rank, detail: String::new(), doc: String::new(), insert: None }
    }

    fn detail(self, detail: impl Into<String>) -> Self {
        Self { detail: detail.into(), ..self }
    }

    fn doc(self, doc: impl Into<String>) -> Self {
        Self { doc: doc.into(), ..self }
    }

    fn insert(self, snippet: impl Into<String>, plain: impl Into<String>) -> Self {
        Self { insert: Some((snippet.into(), plain.into())), ..self }
    }

    fn item(self, range: lsp_types::Range, has_snippets: bool) -> CompletionItem {
        let Self { label, kind, rank, detail, doc, insert } = self;
        let is_snippet = insert.is_some() && has_snippets;
        let format = if is_snippet { InsertTextFormat::SNIPPET } else { InsertTextFormat::PLAIN_TEXT };
        let inserted = insert.map(|(snippet, plain)| if has_snippets { snippet } else { plain });
        let new_text = inserted.unwrap_or_else(|| label.clone());
        let markdown =
            |value| Documentation::MarkupContent(MarkupContent { kind: MarkupKind::Markdown, value });
        CompletionItem {
            sort_text: Some(format!("{rank}{label}")),
            filter_text: Some(label.clone()),
            label,
            kind: Some(kind),
            detail: Some(detail).filter(|detail| !detail.is_empty()),
            documentation: Some(doc).filter(|doc| !doc.is_empty()).map(markdown),
            insert_text_format: Some(format),
            text_edit: Some(CompletionTextEdit::Edit(TextEdit { range, new_text })),
            ..CompletionItem::default()
        }
    }
}

impl<'a> Cursor<'a> {
    /// Names of members that a map does not have yet.
    fn keys(&self, map: usize, word: &Range<usize>) -> Vec<Offer> {
        let script = self.script();
        let Some(ParameterPath { call, path }) = members_of(script, map) else { return Vec::new() };
        let others = script.entries(map).into_iter().filter(|entry| script.range(entry.key) != *word);
        let given: Vec<&str> = others.map(|entry| script.name_of(entry)).collect();
        // A name that already has a value keeps it.
        let has_value = script.text[word.end..].trim_start().starts_with(':');
        let offer = |(order, row): (u32, &Row)| {
            let name = row.path.rsplit('.').next().unwrap_or_default();
            let order = char::from_u32('A' as u32 + order).unwrap_or('z');
            let offer = Offer::new(name, CompletionItemKind::FIELD, order)
                .detail(parameter::detail(row))
                .doc(parameter::documentation(row, &call));
            let snippet = || format!("{name}: {}", parameter::value_snippet(row));
            let offer = if has_value { offer } else { offer.insert(snippet(), format!("{name}: ")) };
            (!given.contains(&name)).then_some(offer)
        };
        (0..).zip(self.api.members(&call, &path)).filter_map(offer).collect()
    }

    /// Values that fit between the quotes of a string.
    fn string_values(&self, token: usize) -> Vec<Offer> {
        let script = self.script();
        if let Some(row) = parameter_of(script, token).and_then(|parameter| self.row(&parameter)) {
            let offer = |name: &&str| Offer::new(*name, CompletionItemKind::ENUM_MEMBER, '5').doc(&row.doc);
            return row.kind.choices().iter().map(offer).collect();
        }
        let call = script.parent(token).and_then(|paren| Some((paren, script.callee(paren)?)));
        let Some((paren, callee)) = call else { return Vec::new() };
        let strings = argument_strings(script.word(callee), script.commas(paren, self.offset)).into_iter();
        strings
            .map(|(text, doc)| Offer::new(text, CompletionItemKind::ENUM_MEMBER, '5').detail(doc))
            .collect()
    }

    fn row(&self, ParameterPath { call, path }: &ParameterPath) -> Option<&'a Row> {
        self.api.parameter(call, path)
    }

    /// Fields and methods of the receiver before a dot; of all handles if the receiver is unknown.
    fn members_after(&self, dot: usize) -> Vec<Offer> {
        let field = |member: Member, owner: &str| {
            let doc = markdown::of_member(&member, owner);
            Offer::new(member.name, CompletionItemKind::FIELD, '1').detail(member.detail).doc(doc)
        };
        let Some(receiver) = self.members().before_dot(dot) else {
            let fields = self.api.all_fields();
            let fields =
                fields.map(|(kind, name, value)| field(of_data(name, value), &format!("a `{kind}`")));
            return fields.chain(self.methods(None)).chain(self.built_in()).collect();
        };
        let owner = markdown::owner(&receiver);
        let fields = self.members().all(&receiver).into_iter().map(|member| field(member, &owner));
        match receiver.handle() {
            Some(kind) => fields.chain(self.methods(Some(kind))).collect(),
            None => fields.chain(self.built_in()).collect(),
        }
    }

    /// The methods of handles of a kind; of all kinds if none is given.
    fn methods(&self, kind: Option<&str>) -> impl Iterator<Item = Offer> {
        let fits = move |function: &&Function| {
            function.receiver.is_some_and(|own| kind.is_none_or(|kind| kind.eq_ignore_ascii_case(own)))
        };
        let fitting: Vec<&Function> = self.api.functions.iter().filter(fits).collect();
        fitting.into_iter().map(|function| self.function(function, CompletionItemKind::METHOD, '2'))
    }

    fn function(&self, function: &Function, kind: CompletionItemKind, rank: char) -> Offer {
        Offer::new(function.name, kind, rank)
            .detail(format!("{} → {}", function.form, function.gives))
            .doc(markdown::of_function(self.api, function))
            .insert(markdown::snippet(function), function.name)
    }

    fn built_in(&self) -> impl Iterator<Item = Offer> {
        self.api.built_in.iter().map(|(name, function)| {
            Offer::new(name, CompletionItemKind::FUNCTION, '8')
                .detail(function.forms.first().cloned().unwrap_or_default())
                .doc(markdown::of_built_in(function))
                .insert(format!("{name}($1)$0"), name)
        })
    }

    /// The functions of an imported script.
    fn functions_of_module(&self, alias: &str) -> Vec<Offer> {
        let Some(Declaration { kind: DeclarationKind::Module(path), .. }) =
            self.script().lookup(alias, self.offset)
        else {
            return Vec::new();
        };
        let Some(module) = self.module(path) else { return Vec::new() };
        let functions = module.script.public_functions();
        let doc = |function| markdown::of_own_function(&module.script, function, Some(alias));
        functions.map(|function| own_function(function).doc(doc(function))).collect()
    }

    /// Scripts that can be imported: those in this script's folder and below.
    fn imports(&self) -> Vec<Offer> {
        let path = &self.document.path;
        let mut names = Vec::new();
        list_scripts(path.parent().unwrap_or(Path::new("")), "", MOST_DEPTH, &mut names);
        names.sort();
        let own = path.file_stem().map(|name| name.to_string_lossy().into_owned());
        let others = names.into_iter().filter(|name| Some(name) != own.as_ref());
        let offer = |name: String| {
            let about = self.about_module(&name);
            Offer::new(name, CompletionItemKind::FILE, '5').doc(about)
        };
        others.map(offer).collect()
    }

    fn about_module(&self, path: &str) -> String {
        self.module(path).map(|module| module.script.opening_comment()).unwrap_or_default()
    }

    /// Everything that can begin an expression or a statement; values of the parameter come first.
    fn expressions(&self, parameter: Option<ParameterPath>) -> Vec<Offer> {
        let row = parameter.and_then(|parameter| self.row(&parameter));
        let mut offers: Vec<Offer> = row.map(values).unwrap_or_default();
        let mut seen: Vec<&str> = Vec::new();
        for declaration in self.script().visible(self.offset) {
            if !seen.contains(&declaration.name.as_str()) {
                seen.push(&declaration.name);
                offers.push(self.own(declaration));
            }
        }
        let global = self.api.functions.iter().filter(|function| function.receiver.is_none());
        offers.extend(global.map(|function| self.function(function, CompletionItemKind::FUNCTION, '4')));
        offers.extend(KEYWORDS.map(|word| Offer::new(word, CompletionItemKind::KEYWORD, '7')));
        offers.extend(self.built_in());
        offers
    }

    fn own(&self, declaration: &Declaration) -> Offer {
        let offer = |kind, rank| Offer::new(&declaration.name, kind, rank);
        match &declaration.kind {
            DeclarationKind::Function(_) => {
                own_function(declaration).doc(markdown::of_own_function(self.script(), declaration, None))
            }
            DeclarationKind::Module(path) => offer(CompletionItemKind::MODULE, '3')
                .detail(format!("\"{path}\""))
                .doc(self.about_module(path)),
            DeclarationKind::Constant => offer(CompletionItemKind::CONSTANT, '2'),
            DeclarationKind::Variable | DeclarationKind::Parameter => offer(
                CompletionItemKind::VARIABLE,
                '2',
            )
            .doc(markdown::of_variable(self.members(), declaration, self.offset)),
        }
    }
}

/// A function that a script declares; its parameters become placeholders.
fn own_function(function: &Declaration) -> Offer {
    let parameters: &[String] =
        if let DeclarationKind::Function(parameters) = &function.kind { parameters } else { &[] };
    let placeholder = |(number, name): (usize, &String)| format!("${{{number}:{}}}", markdown::escaped(name));
    let placeholders: Vec<String> = (1..).zip(parameters).map(placeholder).collect();
    Offer::new(&function.name, CompletionItemKind::FUNCTION, '3')
        .detail(markdown::form(function, None))
        .insert(format!("{}({})$0", function.name, placeholders.join(", ")), &function.name)
}

/// Values that fit a parameter.
fn values(row: &Row) -> Vec<Offer> {
    let offer = |value: String| {
        let detail = if value == row.default { "the default" } else { "" };
        let offer = Offer::new(&value, CompletionItemKind::VALUE, '1').detail(detail).doc(&row.doc);
        if value == "#{}" { offer.insert("#{ $1 \\}", "#{ }") } else { offer }
    };
    parameter::values(row).into_iter().map(offer).collect()
}

/// Lists the scripts in a folder and below, as imports name them.
fn list_scripts(folder: &Path, prefix: &str, depth: usize, found: &mut Vec<String>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.filter_map(Result::ok) {
        let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
        if found.len() >= MOST_FILES || name.starts_with('.') {
            continue;
        }
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        if is_folder && depth > 0 && name != "target" {
            list_scripts(&path, &format!("{prefix}{name}/"), depth - 1, found);
        } else if let Some(stem) = name.strip_suffix(".rhai") {
            found.push(format!("{prefix}{stem}"));
        }
    }
}
