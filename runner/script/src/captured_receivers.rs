//! Functions that use the variable on which a method is called with them, as in `list.filter(|x| list.len() > x)`.
//!
//! The engine locks the variable during the call, so the function cannot use it. Where the function is written in the call, this is
//! found before anything runs.

use std::collections::BTreeSet;

use rhai::{ASTNode, Expr, FnCallExpr, Position, Stmt};

use super::failure::Failure;
use super::imports::Parsed;
use super::location::ScriptLocation;
use super::names::{CallOnCaptured, Names};
use dc0_process::exit::Exit;

/// The functions of a script and its imports that use the variable on which they are given to a method. Method calls that may
/// prove to be such only when they run are noted in `names`.
pub(super) fn problems(all: &[Parsed], names: &Names) -> Vec<Failure> {
    names.set_calls_on_captured(|| all.iter().flat_map(calls_on_captured).collect());
    all.iter().flat_map(in_file).collect()
}

fn in_file(file: &Parsed) -> Vec<Failure> {
    let mut found = Vec::new();
    each_method_call(file, |variable, call, _| {
        for position in call.args.iter().filter_map(|argument| use_of(variable, argument)) {
            let location = ScriptLocation::new(&file.source, position);
            let message = Names::captured_receiver(variable, &call.name);
            found.push(Failure::at(location, Exit::BadInput, message).called_from(&file.calls));
        }
    });
    found
}

fn calls_on_captured(file: &Parsed) -> Vec<CallOnCaptured> {
    let mut captured: BTreeSet<String> = BTreeSet::new();
    file.script.walk(&mut |path: &[ASTNode<'_>]| {
        if let Some(ASTNode::Stmt(Stmt::Share(variables))) = path.last() {
            captured.extend(variables.iter().map(|(variable, _)| variable.name.to_string()));
        }
        true
    });
    let mut calls = Vec::new();
    each_method_call(file, |variable, call, position| {
        if captured.contains(variable) {
            let location = ScriptLocation::new(&file.source, position);
            calls.push(CallOnCaptured {
                variable: variable.to_owned(),
                method: call.name.to_string(),
                location,
            });
        }
    });
    calls
}

/// Calls `on_call` for every method call on a variable or on a part of one, such as `trial.run.self_play(…)`.
fn each_method_call(file: &Parsed, mut on_call: impl FnMut(&str, &FnCallExpr, Position)) {
    file.script.walk(&mut |path: &[ASTNode<'_>]| {
        if let Some(ASTNode::Expr(Expr::Dot(chain, ..) | Expr::Index(chain, ..))) = path.last()
            && let Expr::Variable(variable, ..) = &chain.lhs
        {
            let mut rest = Some(&chain.rhs);
            while let Some(part) = rest {
                let link = match part {
                    Expr::Dot(chain, ..) | Expr::Index(chain, ..) => {
                        rest = Some(&chain.rhs);
                        &chain.lhs
                    }
                    last => {
                        rest = None;
                        last
                    }
                };
                if let Expr::MethodCall(call, position) = link {
                    on_call(&variable.1, call, *position);
                }
            }
        }
        true
    });
}

/// Where a function in an argument, or in a list or map that is the argument, uses a variable.
fn use_of(variable: &str, argument: &Expr) -> Option<Position> {
    match argument {
        Expr::Array(items, _) => items.iter().find_map(|item| use_of(variable, item)),
        Expr::Map(map, _) => map.0.iter().find_map(|(_, member)| use_of(variable, member)),
        Expr::Stmt(block) => block.iter().find_map(|statement| match statement {
            Stmt::Share(captured) => captured
                .iter()
                .find(|(captured, _)| captured.name == variable)
                .map(|(captured, _)| captured.pos),
            _ => None,
        }),
        _ => None,
    }
}
