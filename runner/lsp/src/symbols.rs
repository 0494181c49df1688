//! The outline of a script: its functions, top-level variables and imports, and the parameters it declares.

use lsp_types::{DocumentSymbol, SymbolKind};

use super::markdown;
use super::script::{Declaration, DeclarationKind};
use super::workspace::Document;
use dc0_script::scan::Bracket;

/// The outline, in the order of the text.
pub(super) fn symbols(document: &Document) -> Vec<DocumentSymbol> {
    let script = &document.script;
    let is_shown = |declaration: &&Declaration| match declaration.kind {
        DeclarationKind::Function(_) | DeclarationKind::Module(_) => true,
        DeclarationKind::Variable | DeclarationKind::Constant => script.parent(declaration.at).is_none(),
        DeclarationKind::Parameter => false,
    };
    script
        .declarations
        .iter()
        .filter(is_shown)
        .map(|declaration| of_declaration(document, declaration))
        .collect()
}

fn of_declaration(document: &Document, declaration: &Declaration) -> DocumentSymbol {
    let (kind, detail) = match &declaration.kind {
        DeclarationKind::Function(_) => (SymbolKind::FUNCTION, Some(markdown::form(declaration, None))),
        DeclarationKind::Module(path) => (SymbolKind::MODULE, Some(format!("\"{path}\""))),
        DeclarationKind::Constant => (SymbolKind::CONSTANT, None),
        DeclarationKind::Variable | DeclarationKind::Parameter => (SymbolKind::VARIABLE, None),
    };
    let end = end_of(document, declaration);
    symbol(document, &declaration.name, kind, detail, declaration.at, end, parameters(document, declaration))
}

/// The end of a symbol's range: of a function's body, or a variable's statement.
fn end_of(document: &Document, declaration: &Declaration) -> usize {
    let script = &document.script;
    let body = || {
        let close = script.partner(declaration.at + 1)?;
        script
            .opens(close + 1, Bracket::Brace)
            .then(|| script.partner(close + 1).map(|end| script.range(end).end))?
    };
    let end = match declaration.kind {
        DeclarationKind::Function(_) => body().unwrap_or(0),
        _ => declaration.visible.start,
    };
    end.clamp(script.range(declaration.at).end, script.text.len().max(script.range(declaration.at).end))
}

/// The parameters that `params(#{…})` declares.
fn parameters(document: &Document, declaration: &Declaration) -> Vec<DocumentSymbol> {
    let script = &document.script;
    let call = declaration
        .value
        .filter(|value| script.word(*value) == "params" && script.opens(value + 2, Bracket::Map));
    let Some(map) = call.map(|call| call + 2) else { return Vec::new() };
    let entries = script.entries(map).into_iter();
    entries
        .map(|entry| {
            let detail = Some(script.value_text(map, entry));
            let end = script.range(entry.value.unwrap_or(entry.key)).end;
            symbol(document, script.name_of(entry), SymbolKind::FIELD, detail, entry.key, end, Vec::new())
        })
        .collect()
}

fn symbol(
    document: &Document,
    name: &str,
    kind: SymbolKind,
    detail: Option<String>,
    token: usize,
    end: usize,
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
