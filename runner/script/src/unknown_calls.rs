//! Calls of unknown functions, found before anything runs, even in code that may never be reached.

use std::collections::{BTreeMap, BTreeSet};

use rhai::{AST, ASTNode, Expr, FnAccess, FnCallExpr, Position};

use super::failure::Failure;
use super::imports::Parsed;
use super::location::ScriptLocation;
use super::names::{Names, unknown_in_module};
use dc0_process::exit::Exit;

/// The functions that can be called besides the engine's own.
struct Known<'a> {
    names: &'a Names,
    /// Functions of all files: an imported function also sees those of its caller.
    anywhere: BTreeSet<&'a str>,
    /// Public functions by the name of their file.
    by_file: BTreeMap<&'a str, BTreeSet<&'a str>>,
    /// Members of maps, which may be functions.
    members: &'a BTreeSet<String>,
}

/// The wrong calls of a script and its imports, at most `max_per_file` of each file.
pub(super) fn calls(all: &[Parsed], names: &Names, max_per_file: usize) -> Vec<Failure> {
    let known = Known::of(all, names);
    let mut found = Vec::new();
    for file in all {
        let failure = |(message, position)| {
            let location = ScriptLocation::new(&file.source, position);
            Failure::at(location, Exit::BadInput, message).called_from(&file.calls)
        };
        found.extend(known.problems(file).into_iter().take(max_per_file).map(failure));
    }
    found
}

impl<'a> Known<'a> {
    fn of(all: &'a [Parsed], names: &'a Names) -> Self {
        let functions =
            || all.iter().flat_map(|file| file.script.iter_functions().map(move |function| (file, function)));
        let mut by_file: BTreeMap<&str, BTreeSet<&str>> =
            all.iter().map(|file| (file.source.as_str(), BTreeSet::new())).collect();
        for (file, function) in functions().filter(|(_, function)| function.access == FnAccess::Public) {
            by_file.entry(&file.source).or_default().insert(function.name);
        }
        let anywhere = functions().map(|(_, function)| function.name).collect();
        let members = names.set_members(|| all.iter().flat_map(|file| members(&file.script)).collect());
        Self { names, anywhere, by_file, members }
    }

    /// The wrong calls of a file, each with its position.
    fn problems(&self, file: &Parsed) -> Vec<(String, Position)> {
        let mut found: Vec<(String, Position)> = Vec::new();
        file.script.walk(&mut |path: &[ASTNode<'_>]| {
            if let Some((call, position)) = path.last().and_then(|node| called(node))
                && let Some(message) = self.problem(call, file)
                && found.iter().all(|(_, known)| *known != position)
            {
                found.push((message, position));
            }
            true
        });
        found
    }

    /// What is wrong with a call. A call into an imported file is checked only if the module's name stands for a single file that
    /// compiles.
    fn problem(&self, call: &FnCallExpr, file: &Parsed) -> Option<String> {
        let name = call.name.as_str();
        match call.namespace.path.as_slice() {
            [] => {
                let is_known =
                    self.names.has(name) || self.anywhere.contains(name) || self.members.contains(name);
                (!is_known).then(|| self.names.unknown_function(name, &self.anywhere))
            }
            [module] => {
                let target = file.modules.get(module.name.as_str())?;
                let known = self.by_file.get(target.as_str())?;
                (!known.contains(name)).then(|| unknown_in_module(&module.name, name, known.iter().copied()))
            }
            _ => None,
        }
    }
}

/// A call of a named function, with its position.
fn called<'a>(node: &ASTNode<'a>) -> Option<(&'a FnCallExpr, Position)> {
    match node {
        ASTNode::Expr(Expr::FnCall(call, position) | Expr::MethodCall(call, position))
            if !call.is_operator_call() =>
        {
            Some((call, *position))
        }
        _ => None,
    }
}

/// Names of the members of a script's maps.
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
