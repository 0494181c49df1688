//! The rules detect planted violations.

use super::modules::{Crate, Sources};
use super::{PIPELINES, cycles_in, impurities, misplaced, system_functions, violations};

/// A crate made of the given files, as if they were in `core/src`.
fn planted(files: &[(&str, &str)]) -> Crate {
    let path = |name: &str| ["core/src", name].iter().collect();
    let sources: Sources = files.iter().map(|(name, text)| (path(name), (*text).to_owned())).collect();
    Crate::read(&path("lib.rs"), &sources)
}

#[track_caller]
fn check(found: &[String], expected: &[&str]) {
    assert_eq!(found.len(), expected.len(), "{found:#?}");
    for (found, expected) in found.iter().zip(expected) {
        assert!(found.contains(expected), "no {expected:?} in\n{found}");
    }
}

const TWO: &str = "mod board;\nmod search;\n";

#[test]
fn a_cycle_is_found_in_every_syntax() {
    let board = "pub struct Game;\n";
    let search = "use crate::board::Game;\npub fn run(game: Game) {}\npub struct Tree;\n";
    check(&cycles_in(&planted(&[("lib.rs", TWO), ("board.rs", board), ("search.rs", search)])), &[]);
    for upward in [
        "use crate::search::Tree;",
        "use crate::{\n    search::{\n        self as other,\n        Tree,\n    },\n};",
        "use super::search::*;",
        "fn f(tree: &crate::search::Tree) {}",
        "fn f() { crate::search::run(Game) }",
        "mod inner { fn f() { super::super::search::run(super::Game) } }",
        "fn f() { println!(\"{:?}\", vec![crate::search::Tree]) }",
        "macro_rules! tree { () => { $crate::search::Tree } }",
        "#[cfg(not(test))]\nuse crate::search::Tree;",
    ] {
        let board = format!("{board}{upward}");
        let found = cycles_in(&planted(&[("lib.rs", TWO), ("board.rs", &board), ("search.rs", search)]));
        check(&found, &["within crate:\n  board → search: core/src/board.rs:"]);
        assert!(
            found[0].contains("  search → board: core/src/search.rs:1: crate::board::Game\n"),
            "{}",
            found[0]
        );
    }
}

#[test]
fn a_cycle_within_a_module_is_found_through_its_re_exports() {
    let search = "mod tree;\nmod walk;\npub use tree::Tree;\npub struct Search;\n";
    let tree = "use super::walk::Walk;\nuse super::Search;\npub struct Tree;\n";
    let files = [("lib.rs", "mod search;"), ("search.rs", search), ("search/tree.rs", tree)];
    let with = |walk| cycles_in(&planted(&[&files[..], &[("search/walk.rs", walk)]].concat()));
    check(&with("pub struct Walk;"), &[]);
    check(&with("use super::Search;\npub struct Walk;"), &[]);
    check(&with("use super::Tree;\npub struct Walk;"), &["within crate::search:\n  tree → walk"]);
}

#[test]
fn a_long_cycle_is_reported_as_a_path_with_all_its_modules() {
    let files = [
        ("lib.rs", "mod a; mod b; mod c; mod d;"),
        ("a.rs", "use crate::b::B; pub struct A;"),
        ("b.rs", "use crate::c::C; pub struct B;"),
        ("c.rs", "use crate::a::A; use crate::d::D; pub struct C;"),
        ("d.rs", "pub struct D;"),
    ];
    let found = cycles_in(&planted(&files));
    check(&found, &["all 3: a, b, c"]);
    assert_eq!(found[0].matches('→').count(), 3, "{}", found[0]);
}

#[test]
fn test_code_is_exempt_from_the_import_rules() {
    let board =
        "pub struct Game;\n#[cfg(test)]\nmod tests;\n#[cfg(all(test, unix))]\nuse crate::search::Tree;\n";
    let search = "use crate::board::Game;\npub struct Tree;\n";
    let tests = "use crate::search::Tree;";
    let files = [("lib.rs", TWO), ("board.rs", board), ("search.rs", search), ("board/tests.rs", tests)];
    check(&cycles_in(&planted(&files)), &[]);
}

#[test]
fn an_import_against_the_pipeline_is_found() {
    let plant = |board: &str, root: &str| {
        let files =
            [("lib.rs", root), ("board.rs", board), ("search.rs", "pub struct Tree;"), ("rng.rs", "")];
        violations(&PIPELINES[0], &planted(&files))
    };
    let root = "mod board; mod rng; mod search;";
    check(&plant("use crate::rng;", root), &[]);
    check(
        &plant("use crate::{\n    rng,\n    search::{Tree},\n};", root),
        &["board uses search: core/src/board.rs:3"],
    );
    check(&plant("fn f(_: crate::search::Tree) {}", root), &["board uses search: core/src/board.rs:1"]);
    check(&plant("", &format!("{root} mod more {{}}")), &["more is neither a stage nor a leaf"]);
}

#[test]
fn a_crate_used_outside_its_allowed_paths_is_found() {
    let plant = |board: &str| misplaced(&planted(&[("lib.rs", "mod board;"), ("board.rs", board)]));
    check(&plant("use shakmaty::Chess;"), &[]);
    check(&plant("use crate::tch; fn f() { batch::x() }"), &[]);
    check(
        &plant("use tch::{\n    Kind,\n    Tensor,\n};"),
        &["core/src/board.rs:2 names tch", "core/src/board.rs:3"],
    );
    check(&plant("fn f(x: arrow_array::Array) {}"), &["names arrow_array"]);
    check(&plant("#[derive(clap::Parser)]\nstruct Options;"), &["board.rs:1 names clap"]);
}

#[test]
fn reading_the_environment_is_found() {
    let plant = |text: &str| impurities(&planted(&[("lib.rs", text)]));
    check(&plant("fn f() { format!(\"{}\", env!(\"CARGO_PKG_VERSION\")); }"), &[]);
    check(&plant("use std::{\n    env,\n    fs,\n};"), &["lib.rs:2: std::env"]);
    check(&plant("fn f() { assert!(std::env::var(\"X\").is_ok()); }"), &["lib.rs:1: std::env"]);
}

#[test]
fn functions_of_a_system_are_found() {
    let found = |text: &str| system_functions("lib.rs", text);
    check(
        &found("fn f(x: f64) -> f64 { ln(x).sqrt() }\n#[cfg(test)]\nmod tests { fn f() { 1f64.ln(); } }"),
        &[],
    );
    check(&found("fn f(x: f64) -> f64 {\n    -(-x.ln()).exp()\n}"), &["lib.rs:2: exp", "lib.rs:2: ln"]);
    check(&found("fn f(x: &mut [f64]) { x.iter().map(f64::tanh); }"), &["lib.rs:1: tanh"]);
}
