//! Go to definition: where a name is declared.

use std::ops::Range;
use std::path::PathBuf;

use super::cursor::Cursor;
use super::script::{Declaration, DeclarationKind};
use super::text::Text;
use super::workspace::Document;
use dc0_script::scan::TokenKind;

/// Where something is declared.
pub(super) struct Definition {
    /// The file.
    pub(super) path: PathBuf,
    /// The file's text.
    pub(super) text: Text,
    /// The name's byte range.
    pub(super) name: Range<usize>,
}

/// Where the name at the cursor is declared.
pub(super) fn definition(cursor: Cursor<'_>) -> Option<Definition> {
    let (script, token) = (cursor.script(), cursor.token()?);
    if let Some(TokenKind::String(content)) = script.kind(token) {
        return if script.is_import(token) { file(cursor, &script.text[content.clone()]) } else { None };
    }
    let name = script.word(token);
    match cursor.word_before(token) {
        "." | "?." => {
            let receiver = cursor.members().before_dot(token - 1)?;
            Some(here(cursor, cursor.members().member(&receiver, name)?.key?))
        }
        "::" => {
            let module = cursor.module_of(token)?;
            let function =
                module.script.declarations.iter().find(|declaration| declaration.is_function(name))?;
            let name = module.script.range(function.at);
            Some(Definition { path: module.path, text: module.text, name })
        }
        _ => {
            // A map's key declares itself, whatever else has its name.
            if script.entry(token).is_some() {
                return Some(here(cursor, token));
            }
            let own = script.declarations.iter().find(|declaration| declaration.at == token);
            match own.or_else(|| script.lookup(name, script.range(token).start))? {
                Declaration { kind: DeclarationKind::Module(path), .. } => file(cursor, path),
                declaration => Some(here(cursor, declaration.at)),
            }
        }
    }
}

fn here(cursor: Cursor<'_>, token: usize) -> Definition {
    let Document { path, text, script, .. } = cursor.document;
    Definition { path: path.clone(), text: text.clone(), name: script.range(token) }
}

/// The start of an imported script.
fn file(cursor: Cursor<'_>, path: &str) -> Option<Definition> {
    let module = cursor.module(path)?;
    Some(Definition { path: module.path, text: module.text, name: 0..0 })
}
