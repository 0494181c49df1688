//! The functions a script can call, for finding misspelt ones before anything runs and for naming the nearest.

use std::collections::BTreeSet;
use std::sync::Arc;

use rhai::{AST, ASTNode, Engine, Expr, Position};

use dc0_core::params::nearest;

use super::declared::Declaration;

/// A host function as a script calls it.
#[derive(Debug, Clone, Copy)]
pub struct Usage {
    /// Its name.
    pub name: &'static str,
    /// How it is called.
    pub form: &'static str,
}

/// Everything that can be called.
pub struct Names {
    known: BTreeSet<String>,
    usages: &'static [Usage],
    declaration: Arc<Declaration>,
}

/// Functions that are part of the language and therefore in no package.
const BUILT_IN: [&str; 8] =
    ["Fn", "call", "curry", "is_shared", "is_def_var", "is_def_fn", "type_of", "print"];

impl Names {
    /// From what an engine has registered; `usages` are the host's own functions.
    pub fn new(engine: &Engine, usages: &'static [Usage], declaration: Arc<Declaration>) -> Self {
        let registered = engine.collect_fn_metadata(None, |info| Some(info.metadata.name.to_string()), true);
        let known =
            registered.into_iter().chain(BUILT_IN.map(str::to_owned)).chain(["debug".to_owned()]).collect();
        Self { known, usages, declaration }
    }

    /// The first call of a function that nobody has, even where the script may never come to it.
    ///
    /// Calls into imported modules are not looked at, nor methods named as some member of a map, which may be a function.
    pub fn unknown_call(&self, script: &AST) -> Option<(String, Position)> {
        let own: BTreeSet<&str> = script.iter_functions().map(|function| function.name).collect();
        let members = members(script);
        let mut found = None;
        script.walk(&mut |path: &[ASTNode<'_>]| {
            let Some((name, position)) = path.last().and_then(|node| called(node)) else {
                return true;
            };
            let is_known = self.known.contains(name) || own.contains(name) || members.contains(name);
            if !is_known {
                found = Some((self.unknown_function(name), position));
            }
            found.is_none()
        });
        found
    }

    fn unknown_function(&self, name: &str) -> String {
        let own = self.usages.iter().map(|usage| usage.name);
        let hint = nearest(name, own).or_else(|| nearest(name, self.known.iter().map(String::as_str)));
        let hint = hint.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
        format!("there is no function `{name}`{hint}")
    }

    /// What to say of a call that found no function: a signature such as `self_play (Run, map)`.
    pub fn missing_function(&self, signature: &str) -> String {
        let name = signature.split(" (").next().unwrap_or(signature);
        if name.starts_with("anon$") {
            return "the function takes the wrong number of arguments; a schedule is a function of one whole number".to_owned();
        }
        match self.usages.iter().find(|usage| usage.name == name) {
            Some(usage) => {
                format!("`{name}` is not called with ({}; call it as {}", arguments(signature), usage.form)
            }
            None if self.known.contains(name) => {
                format!("`{name}` is not defined for ({}", arguments(signature))
            }
            None => self.unknown_function(name),
        }
    }

    /// What to say of a name that a map does not have.
    pub fn missing_property(&self, name: &str) -> String {
        let rows = self.declaration.rows();
        let members = rows.iter().flat_map(|row| row.path.split('.'));
        let hint = nearest(name, members).map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
        format!("there is no `{name}` in this map{hint}")
    }
}

/// The arguments of a signature with the closing parenthesis.
fn arguments(signature: &str) -> &str {
    signature.split_once(" (").map_or(")", |(_, arguments)| arguments)
}

/// The name and place of a call of a function by its plain name.
fn called<'a>(node: &ASTNode<'a>) -> Option<(&'a str, Position)> {
    match node {
        ASTNode::Expr(Expr::FnCall(call, position) | Expr::MethodCall(call, position))
            if !call.is_qualified() && !call.is_operator_call() =>
        {
            Some((call.name.as_str(), *position))
        }
        _ => None,
    }
}

/// Names of the members of the script's maps; a member may be a function.
fn members(script: &AST) -> BTreeSet<String> {
    let mut members = BTreeSet::new();
    script.walk(&mut |path: &[ASTNode<'_>]| {
        if let Some(ASTNode::Expr(Expr::Map(map, _))) = path.last() {
            members.extend(map.0.iter().map(|(name, _)| name.as_str().to_owned()));
        }
        true
    });
    members
}
