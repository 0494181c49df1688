//! What could be typed at a place of a script.

use std::fs;
use std::ops::Range;
use std::path::Path;

use dc0_core::params::{ParamKind, Row};
use lsp_types::{
    CompletionItem, CompletionItemKind, CompletionTextEdit, Documentation, InsertTextFormat, MarkupContent,
    MarkupKind, TextEdit,
};

use super::catalogue::{self, Catalogue, receiver};
use super::desk::{Desk, Document};
use super::outline::{Declared, What};
use super::script::KEYWORDS;
use super::spot::{Destination, Spot};
use super::types::{Type, Types};
use super::words;
use dc0_script::names::Usage;

/// Files that an import is offered, at most.
const MOST_FILES: usize = 500;
/// Folders within folders that imports are looked for in.
const MOST_DEPTH: usize = 4;

/// Where something is to be completed.
#[derive(Clone, Copy)]
pub(super) struct Completer<'a> {
    /// What can be called.
    pub(super) catalogue: &'a Catalogue,
    /// What is open.
    pub(super) desk: &'a Desk,
    /// The script.
    pub(super) document: &'a Document,
    /// The byte.
    pub(super) offset: usize,
    /// Whether the editor fills in places of snippets.
    pub(super) has_snippets: bool,
}

/// What is offered, before it is known what it takes the place of.
struct Offer {
    label: String,
    kind: CompletionItemKind,
    detail: String,
    doc: String,
    /// What is put in, if not the label; as a snippet, and plain.
    insert: Option<(String, String)>,
    /// Offers with a lower rank come first.
    rank: char,
}

impl Offer {
    fn new(label: impl Into<String>, kind: CompletionItemKind) -> Self {
        Self { label: label.into(), kind, detail: String::new(), doc: String::new(), insert: None, rank: '5' }
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

    fn rank(self, rank: char) -> Self {
        Self { rank, ..self }
    }
}

impl<'a> Completer<'a> {
    fn types(&self) -> Types<'a> {
        Types { script: &self.document.script, catalogue: self.catalogue }
    }

    /// Everything that fits.
    pub(super) fn items(&self) -> Vec<CompletionItem> {
        let (offers, word) = match self.document.script.spot(self.offset) {
            Spot::Nothing => return Vec::new(),
            Spot::Import(content) => (self.imports(), content),
            Spot::Text { content, token } => (self.texts(token), content),
            Spot::Member { dot, word } => (self.members(dot), word),
            Spot::InModule { alias, word } => (self.of_module(&alias), word),
            Spot::Key { map, word } => (self.keys(map, &word), word),
            Spot::Expression { word, parameter } => (self.expressions(parameter), word),
        };
        offers.into_iter().map(|offer| self.item(offer, &word)).collect()
    }

    fn item(&self, offer: Offer, word: &Range<usize>) -> CompletionItem {
        let Offer { label, kind, detail, doc, insert, rank } = offer;
        let is_snippet = insert.is_some() && self.has_snippets;
        let new_text = match insert {
            Some((snippet, _)) if self.has_snippets => snippet,
            Some((_, plain)) => plain,
            None => label.clone(),
        };
        let range = self.document.text.span(word);
        let markdown = MarkupContent { kind: MarkupKind::Markdown, value: doc };
        CompletionItem {
            sort_text: Some(format!("{rank}{label}")),
            filter_text: Some(label.clone()),
            label,
            kind: Some(kind),
            detail: Some(detail).filter(|detail| !detail.is_empty()),
            documentation: Some(markdown)
                .filter(|doc| !doc.value.is_empty())
                .map(Documentation::MarkupContent),
            insert_text_format: Some(if is_snippet {
                InsertTextFormat::SNIPPET
            } else {
                InsertTextFormat::PLAIN_TEXT
            }),
            text_edit: Some(CompletionTextEdit::Edit(TextEdit { range, new_text })),
            ..CompletionItem::default()
        }
    }

    /// Names of a map's members that are not there yet.
    fn keys(&self, map: usize, word: &Range<usize>) -> Vec<Offer> {
        let script = &self.document.script;
        let Some(Destination { call, path }) = script.destination(map) else { return Vec::new() };
        let others = script.entries(map).into_iter().filter(|entry| script.range(entry.key) != *word);
        let given: Vec<&str> = others.map(|entry| script.name_of(entry)).collect();
        // Where a name is changed, its value stays.
        let has_value = script.text[word.end..].trim_start().starts_with(':');
        let rows = self.catalogue.members(&call, &path).into_iter().enumerate();
        rows.filter_map(|(order, row)| {
            let name = row.path.rsplit('.').next().unwrap_or_default();
            if given.contains(&name) {
                return None;
            }
            let order = char::from_u32('A' as u32 + order as u32).unwrap_or('z');
            let offer = Offer::new(name, CompletionItemKind::FIELD)
                .detail(words::detail(row))
                .doc(words::of_row(row, &call));
            Some(if has_value { offer } else { with_value(offer, name, row) }.rank(order))
        })
        .collect()
    }

    /// What fits between the quotes of a text.
    fn texts(&self, token: usize) -> Vec<Offer> {
        let script = &self.document.script;
        let of_parameter = script.value_destination(token).and_then(|destination| self.row(&destination));
        if let Some(row) = of_parameter {
            let doc = row.doc.clone();
            return row
                .kind
                .words()
                .iter()
                .map(|word| Offer::new(*word, CompletionItemKind::ENUM_MEMBER).doc(&doc))
                .collect();
        }
        let call = script.parent(token).and_then(|paren| Some((paren, script.callee(paren)?)));
        let Some((paren, callee)) = call else { return Vec::new() };
        let words = catalogue::words(script.word(callee), script.commas(paren, self.offset));
        words
            .into_iter()
            .map(|(word, doc)| Offer::new(word, CompletionItemKind::ENUM_MEMBER).detail(doc))
            .collect()
    }

    fn row(&self, Destination { call, path }: &Destination) -> Option<&'a Row> {
        self.catalogue.parameter(call, path)
    }

    /// Names and functions of what stands left of a dot; functions of all values where it is not known.
    fn members(&self, dot: usize) -> Vec<Offer> {
        let kind = self.types().before_dot(dot);
        let fields = kind.iter().flat_map(|kind| {
            let owner = words::owner(kind);
            self.types().members(kind).into_iter().map(move |member| {
                let doc = words::of_member(&member, &owner);
                Offer::new(member.name, CompletionItemKind::FIELD).detail(member.detail).doc(doc).rank('1')
            })
        });
        let methods = match &kind {
            Some(Type::Handle(name)) => catalogue::methods(Some(name)),
            Some(Type::Trial(_)) => catalogue::methods(Some("Trial")),
            Some(Type::Map(_) | Type::Data(_)) => Vec::new(),
            None => catalogue::methods(None),
        };
        let methods = methods.into_iter().map(|usage| self.function(usage).rank('2'));
        let is_plain = !matches!(kind, Some(Type::Handle(_) | Type::Trial(_)));
        let built_in = self.built_in().filter(|_| is_plain);
        fields.chain(methods).chain(built_in).collect()
    }

    fn function(&self, usage: &'static Usage) -> Offer {
        let name = usage.name;
        Offer::new(
            name,
            if receiver(usage).is_some() { CompletionItemKind::METHOD } else { CompletionItemKind::FUNCTION },
        )
        .detail(format!("{} → {}", usage.form, usage.gives))
        .doc(words::documentation(self.catalogue, usage))
        .insert(words::snippet(usage), name)
    }

    fn built_in(&self) -> impl Iterator<Item = Offer> {
        self.catalogue.built_in.iter().map(|(name, function)| {
            let form = function.forms.first().cloned().unwrap_or_default();
            let offer =
                Offer::new(name, CompletionItemKind::FUNCTION).detail(form).doc(words::of_built_in(function));
            offer.insert(format!("{name}($1)$0"), name).rank('8')
        })
    }

    /// The functions of an imported script.
    fn of_module(&self, alias: &str) -> Vec<Offer> {
        let Some(Declared { what: What::Module(path), .. }) = self.document.script.lookup(alias, self.offset)
        else {
            return Vec::new();
        };
        let Some(module) = self.desk.module(&self.document.path, path) else { return Vec::new() };
        let declared = module.script.declared.iter();
        let functions = declared.filter(|declared| {
            matches!(declared.what, What::Function(_)) && !module.script.is_private(declared)
        });
        functions
            .map(|function| {
                own_function(function).doc(words::of_function(&module.script, function, Some(alias)))
            })
            .collect()
    }

    /// Scripts that can be imported: those in the folder of this one and below.
    fn imports(&self) -> Vec<Offer> {
        let folder = self.document.path.parent().unwrap_or(Path::new(""));
        let mut files = Vec::new();
        list_scripts(folder, "", MOST_DEPTH, &mut files);
        let own = self.document.path.file_stem().map(|name| name.to_string_lossy().into_owned());
        files.sort();
        files
            .into_iter()
            .filter(|name| Some(name) != own.as_ref())
            .map(|name| {
                let about = self
                    .desk
                    .module(&self.document.path, &name)
                    .map(|module| module.script.opening_comment());
                Offer::new(name, CompletionItemKind::FILE).doc(about.unwrap_or_default())
            })
            .collect()
    }

    /// Everything that can begin a value or a statement; what fits the parameter comes first.
    fn expressions(&self, parameter: Option<Destination>) -> Vec<Offer> {
        let row = parameter.and_then(|parameter| self.row(&parameter));
        let mut offers: Vec<Offer> = row.map(values).unwrap_or_default();
        let visible = self.document.script.visible(self.offset);
        let mut seen: Vec<&str> = Vec::new();
        for declared in visible {
            if !seen.contains(&declared.name.as_str()) {
                seen.push(&declared.name);
                offers.push(self.own(declared));
            }
        }
        let global = catalogue::functions().into_iter().map(|usage| self.function(usage).rank('4'));
        let keywords = KEYWORDS.iter().map(|word| Offer::new(*word, CompletionItemKind::KEYWORD).rank('7'));
        offers.extend(global.chain(keywords).chain(self.built_in()));
        offers
    }

    fn own(&self, declared: &Declared) -> Offer {
        let script = &self.document.script;
        match &declared.what {
            What::Function(_) => own_function(declared).doc(words::of_function(script, declared, None)),
            What::Module(path) => {
                let about =
                    self.desk.module(&self.document.path, path).map(|module| module.script.opening_comment());
                Offer::new(&declared.name, CompletionItemKind::MODULE)
                    .detail(format!("\"{path}\""))
                    .doc(about.unwrap_or_default())
                    .rank('3')
            }
            What::Constant => Offer::new(&declared.name, CompletionItemKind::CONSTANT).rank('2'),
            What::Variable | What::Parameter => {
                let doc = words::of_variable(self.types(), declared, self.offset);
                Offer::new(&declared.name, CompletionItemKind::VARIABLE).doc(doc).rank('2')
            }
        }
    }
}

/// A function of a script; its parameters are places to fill in.
fn own_function(function: &Declared) -> Offer {
    let What::Function(parameters) = &function.what else {
        return Offer::new(&function.name, CompletionItemKind::FUNCTION);
    };
    let places =
        parameters.iter().enumerate().map(|(at, name)| format!("${{{}:{}}}", at + 1, words::escaped(name)));
    let snippet = format!("{}({})$0", function.name, places.collect::<Vec<_>>().join(", "));
    Offer::new(&function.name, CompletionItemKind::FUNCTION)
        .detail(words::form(function, None))
        .insert(snippet, &function.name)
        .rank('3')
}

/// A parameter's name with its value to be filled in.
fn with_value(offer: Offer, name: &str, row: &Row) -> Offer {
    let snippet = match row.kind.required() {
        ParamKind::Choice(words) => format!("{name}: \"${{1|{}|}}\"", words.join(",")),
        _ if !row.kind.words().is_empty() => format!("{name}: $1"),
        kind if kind.is_group() => format!("{name}: #{{ $1 \\}}"),
        _ if row.kind == ParamKind::Text => format!("{name}: \"$1\""),
        _ if row.default.is_empty() => format!("{name}: $1"),
        _ => format!("{name}: ${{1:{}}}", words::escaped(&row.default)),
    };
    offer.insert(snippet, format!("{name}: "))
}

/// Values that fit a parameter.
fn values(row: &Row) -> Vec<Offer> {
    let quoted = row.kind.words().iter().map(|word| format!("\"{word}\""));
    let is_switch = *row.kind.required() == ParamKind::Bool;
    let switch = is_switch.then_some(["true".to_owned(), "false".to_owned()]);
    let group = row.kind.is_group().then(|| "#{}".to_owned());
    let nothing = matches!(row.kind, ParamKind::Optional(_)).then(|| "()".to_owned());
    let default = Some(row.default.clone()).filter(|default| !default.is_empty());
    let mut all: Vec<String> = default
        .into_iter()
        .chain(quoted)
        .chain(switch.into_iter().flatten())
        .chain(group)
        .chain(nothing)
        .collect();
    let mut seen = Vec::new();
    all.retain(|value| {
        let is_first = !seen.contains(value);
        seen.push(value.clone());
        is_first
    });
    let offer = |value: String| {
        let detail = if value == row.default { "the default" } else { "" };
        let offer = Offer::new(&value, CompletionItemKind::VALUE).detail(detail).doc(&row.doc).rank('1');
        if value == "#{}" { offer.insert("#{ $1 \\}", "#{ }") } else { offer }
    };
    all.into_iter().map(offer).collect()
}

/// Scripts in a folder and below, as imports name them.
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
