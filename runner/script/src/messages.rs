//! Rewords the engine's errors in the style of the rest of the program.

use rhai::{Dynamic, EvalAltResult, LexError, ParseErrorType};

use super::limits::{MAX_CALL_LEVELS, MAX_ITEMS, MAX_TEXT_BYTES, MAX_VARIABLES};

/// The kind of a value, from the engine's name of its type.
pub fn kind(name: &str) -> &str {
    match name.trim() {
        "i64" | "int" => "whole number",
        "f64" | "float" => "number",
        "string" | "&str" | "ImmutableString" | "&str | ImmutableString | String" => "text",
        "array" => "list",
        "Fn" => "function",
        "bool" => "true or false",
        other => other,
    }
}

/// A value that a script threw, as text.
pub fn shown(thrown: &Dynamic) -> String {
    if thrown.is_unit() { "()".to_owned() } else { thrown.to_string() }
}

/// The words of statements and values.
const KEYWORDS: [&str; 24] = [
    "as", "break", "catch", "const", "continue", "do", "else", "export", "false", "fn", "for", "if",
    "import", "in", "let", "loop", "private", "return", "switch", "throw", "true", "try", "until", "while",
];

/// The message for a keyword where the engine expected a name, and `after` is the rest of its line; `None` if it expected something else,
/// or another word stands there.
pub fn keyword_as_name(error: &ParseErrorType, found: &str, after: &str) -> Option<String> {
    let is_member = || after.trim_start().starts_with(':');
    let is_name = match error {
        ParseErrorType::FnMissingName => true,
        // The name may be missing before `in`.
        ParseErrorType::VariableExpected => found != "in",
        ParseErrorType::PropertyExpected => is_member(),
        // In place of the first name of a map, the engine expects its end. A map without its end is followed by the next statement.
        ParseErrorType::MissingToken(token, why) => token == "}" && why.contains("object map") && is_member(),
        _ => false,
    };
    (is_name && KEYWORDS.contains(&found)).then(|| no_name(found))
}

fn no_name(keyword: &str) -> String {
    format!("`{keyword}` is a keyword and cannot be a name here")
}

/// The message for a syntax error; `None` if it needs the names of the script.
pub fn describe_syntax(error: &ParseErrorType) -> Option<String> {
    Some(match error {
        ParseErrorType::BadInput(error) => lexical(error),
        ParseErrorType::UnexpectedEOF => {
            "the script ends too early; is a bracket or brace still open?".to_owned()
        }
        ParseErrorType::MissingToken(token, _) if token == ";" => {
            "expected `;` before this, at the end of the statement".to_owned()
        }
        ParseErrorType::MissingToken(token, why) => {
            let why = why.replace("object map literal", "map").replace("array literal", "list");
            format!("expected `{token}` {why}")
        }
        ParseErrorType::DuplicatedProperty(name) => format!("`{name}` is given twice in this map"),
        ParseErrorType::DuplicatedVariable(name) => format!("there are two parameters `{name}`"),
        ParseErrorType::PropertyExpected => "expected a name".to_owned(),
        ParseErrorType::VariableExpected => "expected the name of a variable".to_owned(),
        ParseErrorType::Reserved(word) if word.starts_with(char::is_alphabetic) => no_name(word),
        ParseErrorType::UnknownOperator(symbol) | ParseErrorType::Reserved(symbol) => reserved(symbol),
        ParseErrorType::MismatchedType(expected, got) => mismatch(expected, got),
        ParseErrorType::ExprExpected(what) => format!("expected {} here", expression(what)),
        ParseErrorType::WrongFnDefinition => {
            "a function is defined at the top of a script, not within a block or another function".to_owned()
        }
        ParseErrorType::FnDuplicatedDefinition(name, count) => {
            format!("there is a function `{name}` with {} already", arguments(*count))
        }
        ParseErrorType::FnDuplicatedParam(name, parameter) => {
            format!("`{name}` has two parameters `{parameter}`")
        }
        ParseErrorType::FnMissingName => "expected the name of the function".to_owned(),
        ParseErrorType::FnMissingParams(name) => {
            format!("expected the parameters of `{name}`, such as `fn {name}(a, b)`")
        }
        ParseErrorType::FnMissingBody(name) if name.is_empty() => {
            "expected the body of the function".to_owned()
        }
        ParseErrorType::FnMissingBody(name) => format!("expected the body of `{name}` in braces"),
        ParseErrorType::AssignmentToConstant(name) if name.is_empty() => {
            "a value cannot be assigned to; expected the name of a variable on the left".to_owned()
        }
        ParseErrorType::AssignmentToConstant(name) => {
            format!("`{name}` is a constant; declare it with `let` to change it")
        }
        ParseErrorType::AssignmentToInvalidLHS(_) => "nothing can be assigned to this".to_owned(),
        ParseErrorType::LoopBreak => "`break` and `continue` are allowed only in a loop".to_owned(),
        ParseErrorType::ExprTooDeep => {
            "expressions are nested too deeply; give some of them names".to_owned()
        }
        ParseErrorType::VariableUndefined(_) | ParseErrorType::ModuleUndefined(_) => return None,
        other => lowercase(&other.to_string()),
    })
}

fn lexical(error: &LexError) -> String {
    match error {
        LexError::UnexpectedInput(text) => format!("unexpected `{text}`"),
        LexError::MalformedEscapeSequence(text) => {
            format!("`{text}` is not an escape sequence; a backslash itself is \\\\")
        }
        LexError::MalformedNumber(text) => format!("`{text}` is not a number"),
        LexError::MalformedChar(text) => {
            format!("'{text}' is not one character; text is written in double quotes, such as \"{text}\"")
        }
        LexError::MalformedIdentifier(text) => format!("`{text}` is not a name"),
        LexError::UnterminatedString => "this text has no closing quote on its line".to_owned(),
        LexError::ImproperSymbol(symbol, _) => reserved(symbol),
        other => lowercase(&other.to_string()),
    }
}

/// The message for a symbol of another language, with its equivalent here.
fn reserved(symbol: &str) -> String {
    let here = match symbol {
        "===" => "`==`",
        "!==" => "`!=`",
        "->" | "<-" => "nothing: functions declare no types",
        "++" => "`+= 1`",
        "--" => "`-= 1`",
        ":=" => "`let name = value`",
        "::<" => "nothing: there are no type parameters",
        "!." => "`?.`",
        "eval" => return disabled_eval(),
        _ => return format!("unexpected `{symbol}`"),
    };
    format!("there is no `{symbol}`; write {here}")
}

fn expression(what: &str) -> &str {
    match what {
        "" => "a value",
        "a boolean" => "true or false",
        other => other,
    }
}

fn arguments(count: usize) -> String {
    match count {
        0 => "no parameters".to_owned(),
        1 => "1 parameter".to_owned(),
        count => format!("{count} parameters"),
    }
}

fn disabled_eval() -> String {
    "there is no `eval`: scripts are checked as a whole before they run; use a function instead".to_owned()
}

/// The message for a script that has used up its operations.
pub const TOO_MUCH_WORK: &str = "the script itself does too much work; does a loop never end?";

/// The message for an error while a script ran; `None` if the engine's own message will do, or names are needed.
pub fn describe(error: &EvalAltResult) -> Option<String> {
    Some(match error {
        EvalAltResult::ErrorDotExpr(message, _) if !message.is_empty() => dot(message),
        EvalAltResult::ErrorStackOverflow(_) => format!(
            "functions call each other more than {MAX_CALL_LEVELS} deep; does one call itself endlessly?"
        ),
        EvalAltResult::ErrorTooManyOperations(_) => TOO_MUCH_WORK.to_owned(),
        EvalAltResult::ErrorTooManyVariables(_) => {
            format!("more than {MAX_VARIABLES} variables at once; put them into a list or a map")
        }
        EvalAltResult::ErrorDataTooLarge(what, _) => too_large(what),
        EvalAltResult::ErrorMismatchDataType(expected, got, _)
        | EvalAltResult::ErrorMismatchOutputType(expected, got, _) => mismatch(expected, got),
        EvalAltResult::ErrorIndexingType(what, _) => indexing(what),
        EvalAltResult::ErrorIndexNotFound(index, _) => format!("there is nothing at [{index}]"),
        EvalAltResult::ErrorArrayBounds(count, index, _) => {
            format!(
                "there is no item {index} in a list of {count}; items count from 0, and from the end with -1"
            )
        }
        EvalAltResult::ErrorStringBounds(count, index, _) => {
            format!("there is no character {index} in a text of {count}; they count from 0")
        }
        EvalAltResult::ErrorFor(_) => {
            format!("expected {ITERABLE}")
        }
        EvalAltResult::ErrorAssignmentToConstant(name, _) => {
            format!("`{name}` is a constant; declare it with `let` to change it")
        }
        EvalAltResult::ErrorArithmetic(message, _) if !message.is_empty() => lowercase(message),
        _ => return None,
    })
}

/// Rewords `Unknown property 'x' - a getter is not registered for type 'y'` and the like.
fn dot(message: &str) -> String {
    let quoted: Vec<&str> = message.split('\'').skip(1).step_by(2).collect();
    let [name, kind_name, ..] = quoted[..] else { return lowercase(message) };
    let kind = kind(kind_name);
    if message.contains("setter") {
        return format!("`{name}` cannot be set; a {kind} is read-only");
    }
    format!("there is no `{name}` here; a {kind} has no fields")
}

fn indexing(what: &str) -> String {
    let index = |kind_name: &str| format!("a {} has no items", kind(kind_name));
    match what.split_once(" [") {
        Some((kind_name, _)) => index(kind_name),
        None => index(what),
    }
}

fn mismatch(expected: &str, got: &str) -> String {
    let expected = if expected.contains("iterable") { ITERABLE.to_owned() } else { with_article(expected) };
    match (expected.as_str(), with_article(got)) {
        (expected, got) if got.is_empty() => format!("expected {expected}"),
        ("", got) => format!("{got} cannot be used here"),
        (expected, got) => format!("expected {expected}, got {got}"),
    }
}

fn too_large(what: &str) -> String {
    let what = what.to_lowercase();
    if what.contains("string") {
        format!("this text has more than {MAX_TEXT_BYTES} bytes, the most there can be")
    } else if what.contains("map") || what.contains("array") || what.contains("blob") {
        format!("this has more than {MAX_ITEMS} items, the most that a list or map can have")
    } else {
        format!("this is too large: {what}")
    }
}

/// The values that a loop can iterate over.
const ITERABLE: &str = "a list, a range such as 0..10, or a text to go over";

/// A kind of value with its indefinite article.
pub fn with_article(name: &str) -> String {
    match kind(name) {
        plain @ ("text" | "true or false" | "()" | "") => plain.to_owned(),
        kind if kind.starts_with("a ") || kind.starts_with("an ") => kind.to_owned(),
        kind if kind.starts_with(['A', 'E', 'I', 'O', 'U', 'a', 'e', 'i', 'o', 'u']) => format!("an {kind}"),
        kind => format!("a {kind}"),
    }
}

/// A sentence with its first letter in lower case.
fn lowercase(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_lowercase().chain(letters).collect()).unwrap_or_default()
}
