//! Calls of the standard library's functions of numbers that are a system's own.

use syn::visit::{self, Visit};

use super::modules::{attributes, is_for_tests};

/// Their last digits differ between systems; IEEE 754 defines the square root to the bit.
const FUNCTIONS: [&str; 22] = [
    "acos", "asin", "atan", "atan2", "cbrt", "cos", "cosh", "exp", "exp2", "exp_m1", "hypot", "ln", "ln_1p",
    "log", "log10", "log2", "powf", "sin", "sin_cos", "sinh", "tan", "tanh",
];

struct Calls<'a> {
    file: &'a str,
    found: Vec<String>,
}

impl Calls<'_> {
    fn call(&mut self, name: &syn::Ident) {
        if FUNCTIONS.contains(&name.to_string().as_str()) {
            self.found.push(format!("{}:{}: {name}", self.file, name.span().start().line));
        }
    }
}

impl<'ast> Visit<'ast> for Calls<'_> {
    fn visit_item(&mut self, item: &'ast syn::Item) {
        if !attributes(item).iter().any(is_for_tests) {
            visit::visit_item(self, item);
        }
    }

    fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
        self.call(&call.method);
        visit::visit_expr_method_call(self, call);
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        if let [kind, name] = &path.segments.iter().collect::<Vec<_>>()[..]
            && ["f32", "f64"].contains(&kind.ident.to_string().as_str())
        {
            self.call(&name.ident);
        }
        visit::visit_path(self, path);
    }
}

/// The calls in a file, but for those of its tests.
pub(super) fn system_functions(file: &str, text: &str) -> Vec<String> {
    let parsed = syn::parse_file(text).unwrap_or_else(|error| panic!("{file}: {error}"));
    let mut calls = Calls { file, found: Vec::new() };
    calls.visit_file(&parsed);
    calls.found
}
