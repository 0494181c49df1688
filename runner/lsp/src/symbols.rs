//! The outline of a script: its functions, top-level variables and imports, and the parameters it declares.

use lsp_types::{DocumentSymbol, SymbolKind};

use super::markdown;
use super::scan::Bracket;
use super::script::{Declared, What};
use super::workspace::Document;

/// The outline, in the order of the text.
pub(super) fn symbols(document: &Document) -> Vec<DocumentSymbol> {
    let script = &document.script;
    let is_shown = |declared: &&Declared| match declared.what {
        What::Function(_) | What::Module(_) => true,
        What::Variable | What::Constant => script.parent(declared.at).is_none(),
        What::Parameter => false,
    };
    script.declared.iter().filter(is_shown).map(|declared| of_declared(document, declared)).collect()
}

fn of_declared(document: &Document, declared: &Declared) -> DocumentSymbol {
    let (kind, detail) = match &declared.what {
        What::Function(_) => (SymbolKind::FUNCTION, Some(markdown::form(declared, None))),
        What::Module(path) => (SymbolKind::MODULE, Some(format!("\"{path}\""))),
        What::Constant => (SymbolKind::CONSTANT, None),
        What::Variable | What::Parameter => (SymbolKind::VARIABLE, None),
    };
    let end = end_of(document, declared);
    symbol(document, (&declared.name, kind, detail), (declared.at, end), parameters(document, declared))
}

/// The end of a symbol's range: of a function's body, or a variable's statement.
fn end_of(document: &Document, declared: &Declared) -> usize {
    let script = &document.script;
    let body = || {
        let close = script.partner(declared.at + 1)?;
        script
            .opens(close + 1, Bracket::Brace)
            .then(|| script.partner(close + 1).map(|end| script.range(end).end))?
    };
    let end = match declared.what {
        What::Function(_) => body().unwrap_or(0),
        _ => declared.visible.start,
    };
    end.clamp(script.range(declared.at).end, script.text.len().max(script.range(declared.at).end))
}

/// The parameters that `params(#{…})` declares.
fn parameters(document: &Document, declared: &Declared) -> Vec<DocumentSymbol> {
    let script = &document.script;
    let call = declared
        .value
        .filter(|value| script.word(*value) == "params" && script.opens(value + 2, Bracket::Map));
    let Some(map) = call.map(|call| call + 2) else { return Vec::new() };
    let entries = script.entries(map).into_iter();
    entries
        .map(|entry| {
            let detail = Some(script.value_text(map, entry));
            let end = script.range(entry.value.unwrap_or(entry.key)).end;
            symbol(document, (script.name_of(entry), SymbolKind::FIELD, detail), (entry.key, end), Vec::new())
        })
        .collect()
}

fn symbol(
    document: &Document,
    (name, kind, detail): (&str, SymbolKind, Option<String>),
    (token, end): (usize, usize),
    children: Vec<DocumentSymbol>,
) -> DocumentSymbol {
    let own = document.script.range(token);
    #[expect(deprecated, reason = "the struct of lsp-types has the field and no constructor without it")]
    DocumentSymbol {
        name: if name.is_empty() { "?".to_owned() } else { name.to_owned() },
        detail,
        kind,
        tags: None,
        deprecated: None,
        range: document.text.span(&(own.start..end)),
        selection_range: document.text.span(&own),
        children: Some(children).filter(|children| !children.is_empty()),
    }
}
