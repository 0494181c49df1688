//! Signature help: the forms of the call around a position.

use lsp_types::{
    Documentation, MarkupContent, MarkupKind, ParameterInformation, ParameterLabel, SignatureHelp,
    SignatureInformation,
};

use super::api_index::arguments;
use super::context::call_around;
use super::cursor::Cursor;
use super::markdown;
use super::script::Script;

/// The signatures of the call around the cursor, and the argument that is being typed.
pub(super) fn signature(cursor: Cursor<'_>) -> Option<SignatureHelp> {
    let (paren, argument) = call_around(cursor.script(), cursor.offset)?;
    let signatures = signatures(cursor, cursor.script().callee(paren)?);
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

/// The signatures of the function that a token names.
fn signatures(cursor: Cursor<'_>, callee: usize) -> Vec<SignatureInformation> {
    let (script, name) = (cursor.script(), cursor.script().word(callee));
    let before = cursor.word_before(callee);
    if before == "::" {
        let module = cursor.module_of(callee);
        return module
            .map_or_else(Vec::new, |module| own(&module.script, name, Some(script.word(callee - 2))));
    }
    let own = own(script, name, None);
    if !own.is_empty() {
        return own;
    }
    if let Some(known) = cursor.api.function(name) {
        let meaning = format!("{} Returns {}.", known.meaning, known.gives);
        return known.forms.iter().map(|form| of_form(form, &arguments(form), &meaning)).collect();
    }
    let Some(built_in) = cursor.api.built_in.get(name) else { return Vec::new() };
    let of_built_in = |form: &String| {
        let arguments = arguments(form.split(" -> ").next().unwrap_or(form));
        // After a dot, the first argument is the receiver.
        let arguments = arguments.get(usize::from(before == ".")..).unwrap_or_default();
        of_form(form, arguments, &built_in.doc)
    };
    built_in.forms.iter().map(of_built_in).collect()
}

/// The signatures of a function that a script declares.
fn own(script: &Script, name: &str, alias: Option<&str>) -> Vec<SignatureInformation> {
    let functions = script.declarations.iter().filter(|declaration| declaration.is_function(name));
    let forms = functions.map(|function| (markdown::form(function, alias), script.doc_of(function)));
    forms.map(|(form, doc)| of_form(&form, &arguments(&form), &doc)).collect()
}

fn of_form(form: &str, arguments: &[&str], doc: &str) -> SignatureInformation {
    let parameter = |argument: &&str| ParameterInformation {
        label: ParameterLabel::Simple((*argument).to_owned()),
        documentation: None,
    };
    let doc = MarkupContent { kind: MarkupKind::Markdown, value: doc.to_owned() };
    SignatureInformation {
        label: form.to_owned(),
        documentation: Some(Documentation::MarkupContent(doc)),
        parameters: Some(arguments.iter().map(parameter).collect()),
        active_parameter: None,
    }
}
