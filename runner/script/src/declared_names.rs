//! The names that a script's text declares, for suggestions even if the text does not compile.

use std::collections::BTreeSet;

use rhai::{Engine, Token};

/// Declared names by kind.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DeclaredNames {
    /// Variables, parameters of functions included.
    pub variables: BTreeSet<String>,
    /// Functions.
    pub functions: BTreeSet<String>,
    /// How functions are called, such as `step(from, to, at)`.
    pub forms: Vec<String>,
    /// Names of imported modules.
    pub modules: BTreeSet<String>,
}

impl DeclaredNames {
    /// The names that a text declares, whether or not it compiles.
    pub fn of(text: &str) -> Self {
        let engine = Engine::new_raw();
        let (tokens, _control) = engine.lex([&text]);
        let tokens = tokens.map(|(token, _)| token).take_while(|token| *token != Token::EOF);
        let mut names = Self::default();
        let (mut previous, mut list) = (Token::SemiColon, None);
        for token in tokens {
            names.add(&token, &previous, list.as_ref());
            names.add_to_form(&token, &previous, list.as_ref());
            list = match (&token, &previous, list) {
                (Token::Identifier(_), Token::Fn, _) => Some(Token::RightParen),
                (Token::Unit, _, Some(Token::RightParen)) => None,
                (Token::Pipe, _, None) if !is_operand(&previous) => Some(Token::Pipe),
                (end, _, Some(until)) if *end == until => None,
                (_, _, list) => list,
            };
            previous = token;
        }
        names
    }

    /// Adds a name that a token declares; within a list of parameters every name is a variable.
    fn add(&mut self, token: &Token, previous: &Token, list: Option<&Token>) {
        let Token::Identifier(name) = token else { return };
        let kind = match previous {
            Token::Fn => &mut self.functions,
            Token::As => &mut self.modules,
            Token::Let | Token::Const | Token::For => &mut self.variables,
            _ if list.is_some() => &mut self.variables,
            _ => return,
        };
        kind.insert(name.to_string());
    }

    /// Adds what a token says about how a function is called.
    fn add_to_form(&mut self, token: &Token, previous: &Token, list: Option<&Token>) {
        match (token, previous, list) {
            (Token::Identifier(name), Token::Fn, _) => self.forms.push(format!("{name}(")),
            (Token::Identifier(name), _, Some(Token::RightParen)) => {
                let form = self.forms.last_mut().expect("the list is that of a function");
                let separator = if form.ends_with('(') { "" } else { ", " };
                form.extend([separator, name.as_str()]);
            }
            (Token::RightParen | Token::Unit, _, Some(Token::RightParen)) => {
                self.forms.last_mut().expect("the list is that of a function").push(')');
            }
            _ => {}
        }
    }
}

/// Whether an expression can end with this token, so that a `|` after it is an operator.
fn is_operand(token: &Token) -> bool {
    use Token::{
        CharConstant, False, FloatConstant, Identifier, IntegerConstant, RightBrace, RightBracket,
        RightParen, StringConstant, True, Unit,
    };
    let is_bracket = matches!(token, RightParen | RightBracket | RightBrace | Unit);
    let is_number = matches!(token, IntegerConstant(_) | FloatConstant(_));
    is_bracket
        || is_number
        || matches!(token, Identifier(_) | StringConstant(_) | CharConstant(_) | True | False)
}

#[cfg(test)]
mod tests {
    use super::DeclaredNames;

    #[test]
    fn names_are_found_even_in_a_broken_text() {
        let text = "import \"lib/a\" as a; let x = |one, two| one | two; const C = 3 | y;
            fn f(p, q) { p } fn g() { h(p) } for i in 0..3 { // let not = 1;
            } let s = \"let no = 1\"; let = ;";
        let names = DeclaredNames::of(text);
        let is = |found: &std::collections::BTreeSet<String>, expected: &[&str]| {
            assert_eq!(found.iter().map(String::as_str).collect::<Vec<_>>(), expected);
        };
        is(&names.variables, &["C", "i", "one", "p", "q", "s", "two", "x"]);
        is(&names.functions, &["f", "g"]);
        assert_eq!(names.forms, ["f(p, q)", "g()"]);
        is(&names.modules, &["a"]);
    }

    #[test]
    fn a_function_without_a_name_declares_none() {
        for text in
            ["print(zz); fn \nlet x = max(1, 2);", "fn (a) { a }", "fn new(a, b) { a }", "fn", "fn fn(a)"]
        {
            let names = DeclaredNames::of(text);
            assert!(names.forms.is_empty() && names.functions.is_empty(), "{text}: {names:?}");
        }
    }
}
