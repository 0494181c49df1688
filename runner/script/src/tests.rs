//! Scripts with their output, or their exact error message.

use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex};

use rhai::{Dynamic, Engine, Map, NativeCallContext, Scope};

use dc0_core::params;
use dc0_core::params::Schedule;

use super::call::{Answer, Call};
use super::compile::compile;
use super::convert::Sampling;
use super::engine::{EngineHooks, engine};
use super::failure::Failure;
use super::jail::Jail;
use super::names::{Names, Usage};
use super::report::{from_rhai, render};
use dc0_process::exit::Exit;
use dc0_runs::declared::Declaration;
use dc0_runs::sources::Sources;

params! {
    /// Parameters of a host function for tests.
    pub struct PlayParams {
        /// Simulations.
        simulations: u32 = 800, in 1..=1_000_000;
        /// Exploration.
        c_puct: f64 = 1.25, in 0.0..=10.0;
        /// By ply.
        temperature: Schedule = Schedule::constant(1.0), in 0.0..=10.0;
        /// Plies.
        max_plies: u32 = 4, in 1..=100;
    }
}

#[allow(clippy::needless_pass_by_value, reason = "the engine hands every argument over by value")]
fn play(context: NativeCallContext<'_>, map: Map) -> Answer<String> {
    let call = Call::new("play", &context);
    let params = call.read::<PlayParams>(&map, Sampling::by(&map, "max_plies", 4))?.params;
    Ok(format!(
        "{} {} {:?}",
        params.simulations,
        params.c_puct,
        params::Param::to_value(&params.temperature).canonical()
    ))
}

const USAGES: &[Usage] =
    &[Usage { name: "play", form: "play(#{…})", returns: "text", meaning: "", example: "" }];

struct Script {
    engine: Engine,
    names: Names,
    jail: Jail,
    sources: Arc<Sources>,
    printed: Arc<Mutex<Vec<String>>>,
}

impl Script {
    fn new(folder: &Path, overrides: &[&str]) -> Self {
        let sources = Arc::new(Sources::default());
        let printed = Arc::new(Mutex::new(Vec::new()));
        let print = Arc::clone(&printed);
        let surroundings = EngineHooks {
            sources: Arc::clone(&sources),
            print: Box::new(move |line| print.lock().unwrap().push(line.to_owned())),
            debug: Box::new(|_| {}),
            is_stopped: Box::new(|| false),
            operations: super::limits::MAX_OPERATIONS,
        };
        let mut engine = engine(folder, surroundings);
        let jail = Jail::new(folder, Arc::clone(&sources));
        let overrides = overrides.iter().map(|text| text.parse().expect("name=value")).collect();
        let declaration = Arc::new(Declaration::new(overrides));
        let declare = Arc::clone(&declaration);
        engine.register_fn("play", play);
        engine.register_fn("params", move |context: NativeCallContext<'_>, map: Map| {
            crate::declare::declare(&declare, &context, map)
        });
        let names = Names::new(&engine, USAGES, declaration, Arc::clone(&sources));
        Self { engine, names, jail, sources, printed }
    }

    /// The printed lines, or the error as the user sees it with its exit code.
    fn run(&self, name: &str, text: &str) -> Result<Vec<String>, (String, Exit)> {
        self.sources.keep(name, text);
        let shown = |failure: Failure| (render(&failure, &self.sources), failure.exit);
        let script = compile(&self.engine, &self.names, &self.jail, name, text).map_err(shown)?;
        let ran = self.engine.eval_ast_with_scope::<Dynamic>(&mut Scope::new(), &script);
        drop(ran.map_err(|error| shown(from_rhai(&error, name, &self.names)))?);
        Ok(self.printed.lock().unwrap().clone())
    }
}

fn run_with(overrides: &[&str], text: &str) -> Result<Vec<String>, (String, Exit)> {
    let folder = tempfile::tempdir().expect("folder");
    Script::new(folder.path(), overrides).run("x.rhai", text)
}

#[track_caller]
fn check(text: &str, expected: &[&str]) {
    assert_eq!(
        run_with(&[], text).map_err(|error| error.0),
        Ok(expected.iter().map(|line| (*line).to_owned()).collect())
    );
}

#[track_caller]
fn check_error(text: &str, expected: &str) {
    let (message, exit) = run_with(&[], text).expect_err("is an error");
    assert_eq!(message, expected);
    assert_eq!(exit, Exit::BadInput);
}

#[test]
fn all_problems_of_a_call_are_reported_with_file_line_and_column() {
    check_error(
        "let x = 1;\nlet y = play(#{ c_puc: 2, simulation: 3, max_plies: 0, temperature: |ply| 99 });",
        "error: x.rhai:2:9: play: 4 problems in its parameters
  c_puc: unknown parameter; did you mean `c_puct`?
  simulation: unknown parameter; did you mean `simulations`?
  temperature[0]: must lie in 0.0..=10.0, got 99.0
  max_plies: must lie in 1..=100, got 0
  |
2 | let y = play(#{ c_puc: 2, simulation: 3, max_plies: 0, temperature: |ply| 99 });
  |         ^",
    );
}

#[test]
fn functions_are_sampled_as_often_as_the_call_says() {
    check(
        "print(play(#{ temperature: |ply| if ply < 2 { 1 } else { 0.5 } }))",
        &["800 1.25 \"[[0,1.0],[2,0.5]]\""],
    );
    check(
        "let half = 2; print(play(#{ max_plies: 9, temperature: |ply| if ply < 8 { 1.0 } else { half } }))",
        &["800 1.25 \"[[0,1.0],[8,2.0]]\""],
    );
}

#[test]
fn functions_must_take_and_return_a_number() {
    check_error(
        "play(#{ temperature: |ply| \"warm\" })",
        "error: x.rhai:1:1: play: 1 problem in its parameters
  temperature: the function returns text for 0; expected a number
  |
1 | play(#{ temperature: |ply| \"warm\" })
  | ^",
    );
    let (message, _) = run_with(&[], "play(#{ temperature: || 1 })").expect_err("takes no number");
    assert!(message.contains("temperature: the function must take one whole number"), "{message}");
}

#[test]
fn an_error_in_a_function_is_shown_with_its_call() {
    check_error(
        "fn cold(p) { p.coldness }\nlet p = params(#{ warmth: 1 });\ncold(p);",
        "error: x.rhai:1:16: there is no `coldness` in this map
  called from x.rhai:3:1
  |
1 | fn cold(p) { p.coldness }
  |                ^",
    );
}

#[test]
fn syntax_errors_show_the_line() {
    check_error(
        "let x = ;",
        "error: x.rhai:1:9: unexpected `;`
  |
1 | let x = ;
  |         ^",
    );
}

#[test]
fn unknown_functions_and_variables_are_found_before_anything_runs() {
    check_error(
        "print(1);\nif false { plya(#{}); }",
        "error: x.rhai:2:12: there is no function `plya`; did you mean `play`?
  |
2 | if false { plya(#{}); }
  |            ^",
    );
    check_error(
        "let run = 1;\nrun.distill(2, 3);",
        "error: x.rhai:2:5: there is no function `distill`: `run.reanalyze(teacher, games, #{ search: #{ simulations: 1 } })` stores a \
         teacher's answers, and `run.train` learns from them; see experiments/distill.rhai
  |
2 | run.distill(2, 3);
  |     ^",
    );
    let (message, _) = run_with(&[], "print(1); if false { print(y) }").expect_err("unknown variable");
    assert!(message.starts_with("error: x.rhai:1:28: there is no variable `y`"), "{message}");
}

#[test]
fn a_call_in_the_wrong_form_shows_the_right_one() {
    let (message, _) = run_with(&[], "play(1, 2)").expect_err("wrong form");
    assert!(
        message.contains("`play` is not called with (whole number, whole number); call it as play(#{…})"),
        "{message}"
    );
}

#[test]
fn endless_recursion_and_eval_are_errors() {
    let (message, exit) = run_with(&[], "fn deep(n) { deep(n + 1) }\ndeep(0)").expect_err("too deep");
    assert!(
        message.starts_with("error: x.rhai:2:1: functions call each other more than 64 deep"),
        "{message}"
    );
    assert_eq!(exit, Exit::BadInput);
    let (message, _) = run_with(&[], "eval(\"1\")").expect_err("no eval");
    assert!(message.contains("eval"), "{message}");
}

/// Counting all items at each push would take minutes.
#[test]
#[expect(clippy::disallowed_methods, reason = "the time is what is tested")]
fn long_lists_grow_in_linear_time() {
    let start = std::time::Instant::now();
    let text = "let points = []; for count in 0..300000 { points.push([count, 0.5 * count]); }
        fn grown(list) { list.push(\"two\"); list }
        print(points.len()); print(points[-1]); print(grown([1])); let list = [1]; push(list, list); print(list);
        let mine = [1]; let read = || mine; mine.push(2); print(read.call());";
    check(text, &["300000", "[299999, 149999.5]", "[1, \"two\"]", "[1, [1]]", "[1, 2]"]);
    assert!(start.elapsed() < std::time::Duration::from_secs(30), "{:?}", start.elapsed());
}

#[test]
fn lists_are_sorted_by_any_number() {
    check(
        "let rows = [#{ n: \"a\", elo: 10.5 }, #{ n: \"b\", elo: 300.0 }, #{ n: \"c\", elo: -20.0 }, #{ n: \"d\", elo: 10.5 }];
        rows.sort(|x, y| y.elo - x.elo); print(rows.map(|row| row.n));
        let numbers = [3, 1, 2, 1]; numbers.sort(|x, y| x - y); print(numbers);
        numbers.sort_by(|x, y| x >= y); print(numbers);
        print([numbers.filter(|x| x > 1), numbers.filter(|x, i| i < 2), numbers.find(|x| x < 3), numbers.find(|x| x > 3)]);
        print([numbers.some(|x| x == 1), numbers.all(|x| x > 0), numbers.all(|x| x > 1), [].some(|x| true), [].all(|x| false)]);
        print([numbers.retain(|x| x > 1), numbers, numbers.drain(|x| x > 2), numbers]);",
        &[
            "[\"b\", \"a\", \"d\", \"c\"]",
            "[1, 1, 2, 3]",
            "[3, 2, 1, 1]",
            "[[3, 2], [3, 2], 2, ()]",
            "[true, true, false, false, true]",
            "[[1, 1], [3, 2], [3], [2]]",
        ],
    );
    check(
        "let floats = [0.5, 0.75, 0.25]; print([floats.order(|x, y| y - x), floats.order_by(|x, y| x < y), floats]);
        print([floats.index_of(|x| x < 0.7), floats.index_of(|x| x < 0.7, 1), floats.index_of(|x, i| i < 2, -2), floats.index_of(|x| true, 3)]);
        print([floats.find(|x| x < 0.7, 1), floats.find(|x| x < 0.7, -9), floats.find(|x| x > 0.7, -1)]);
        let list = [1, 2, 4, 3, 9, 1]; list.dedup(|x, y| y - x < 2); print(list);",
        &[
            "[[0.75, 0.5, 0.25], [0.25, 0.5, 0.75], [0.5, 0.75, 0.25]]",
            "[0, 2, 1, -1]",
            "[0.25, 0.5, ()]",
            "[1, 4, 9]",
        ],
    );
}

#[test]
fn members_of_a_map_are_chosen_by_name_and_value() {
    check(
        "let map = #{ a: 1, b: 2, c: 3 };
        print([map.filter(|name, value| value > 1), map.filter(|name| name == \"a\"), map.filter(|name| this == 3)]);
        print([map.retain(|name, value| value > 1), map]); print([map.drain(|name, value| name == \"b\"), map]);",
        &[
            "[#{\"b\": 2, \"c\": 3}, #{\"a\": 1}, #{\"c\": 3}]",
            "[#{\"a\": 1}, #{\"b\": 2, \"c\": 3}]",
            "[#{\"b\": 2}, #{\"c\": 3}]",
        ],
    );
}

#[test]
fn equal_items_keep_their_order() {
    for function in ["|x, y| x.e < y.e", "|x, y| x.e <= y.e", "|x, y| x.e - y.e"] {
        let text = format!(
            "let list = [#{{ n: \"a\", e: 1 }}, #{{ n: \"b\", e: 1 }}, #{{ n: \"c\", e: 0 }}, #{{ n: \"d\", e: 1 }}];
            print(list.order({function}).map(|item| item.n));"
        );
        check(&text, &["[\"c\", \"a\", \"b\", \"d\"]"]);
    }
}

#[test]
fn constant_lists_and_maps_are_not_changed() {
    for call in [
        "sort(|x, y| x - y)",
        "sort_by(|x, y| x < y)",
        "retain(|x| true)",
        "drain(|x| true)",
        "dedup(|x, y| true)",
    ] {
        let (message, _) = run_with(&[], &format!("const C = [3, 1, 2]; C.{call};")).expect_err(call);
        assert!(message.contains("cannot be called on constant"), "{call}: {message}");
    }
    for call in ["retain(|name| true)", "drain(|name| true)"] {
        let (message, _) = run_with(&[], &format!("const C = #{{ a: 1 }}; C.{call};")).expect_err(call);
        assert!(message.contains("cannot be called on constant"), "{call}: {message}");
    }
    check(
        "const C = [3, 1, 2]; print([C.order(|x, y| x - y), C.filter(|x| x > 1), C]);",
        &["[[1, 2, 3], [3, 2], [3, 1, 2]]"],
    );
}

#[test]
fn what_a_lists_function_cannot_answer_is_an_error() {
    for (call, message) in [
        ("list.sort(|x, y| throw \"no\")", "no"),
        ("list.sort(|x, y| if x > () { 1 } else { 0 })", "have no order"),
        ("list.sort(|x, y| \"a\")", "sort: the function should return a number, or true or false, found a"),
        ("list.filter(|x| x)", "filter: the function should return true or false, found 3"),
        ("list.find(|x| ())", "find: the function should return true or false"),
        ("list.all(|x| 0.5)", "all: the function should return true or false, found 0.5"),
        ("list.some(|x| 1)", "some: the function"),
        ("list.retain(|x| 1)", "retain: the function"),
        ("list.drain(|x| 1)", "drain: the function"),
        ("list.sort(|x, y| if x < y { false } else { 0 })", "sort: the function should return true or false"),
        ("list.order(|x, y| throw \"no\")", "no"),
        ("list.order_by(|x, y| \"a\")", "order_by: the function should return a number"),
        ("list.index_of(|x| 1)", "index_of: the function"),
        ("list.index_of(|x| 1, 1)", "index_of: the function"),
        ("list.find(|x| 1, 1)", "find: the function"),
        ("list.dedup(|x, y| throw \"no\")", "no"),
        ("list.dedup(|x, y| 1)", "dedup: the function"),
        ("map.filter(|name, value| 1)", "filter: the function"),
        ("map.retain(|name, value| 7)", "retain: the function"),
        ("map.drain(|name| ())", "drain: the function"),
    ] {
        let script = format!(
            "let list = [3, 1, 2]; let map = #{{ a: 1 }};\ntry {{ {call}; }} catch (e) {{ print(list); throw e; }}"
        );
        let (shown, _) = run_with(&[], &script).expect_err(call);
        assert!(shown.starts_with("error: x.rhai:2:") && shown.contains(message), "{call}: {shown}");
    }
}

#[test]
fn lists_have_a_million_items_at_most() {
    for grow in
        ["list.push(0)", "list.push([0, 0])", "list.push(list)", "list.push(#{ a: [list] })", "list += 0"]
    {
        let text = format!("let list = []; list.pad(999990, 0); for count in 0..1100000 {{ {grow}; }}");
        let (message, _) = run_with(&[], &text).expect_err("has too many items");
        assert!(message.contains("this has more than 1000000 items"), "{grow}: {message}");
    }
}

#[test]
fn a_thrown_value_fails_the_script() {
    let (message, exit) = run_with(&[], "throw \"no luck\"").expect_err("throws");
    assert!(message.starts_with("error: x.rhai:1:1: the script threw: no luck"), "{message}");
    assert_eq!(exit, Exit::Failed);
}

#[test]
fn parameters_take_values_from_the_command_line() {
    let text = "let p = params(#{ games: 4, search: #{ c_puct: 1.5, on: true }, name: \"x\", sizes: [1] });
        print(`${p.games} ${p.search.c_puct} ${p.search.on} ${p.name} ${p.sizes}`);";
    let overrides = ["games=7", "search.c_puct=2", "search.on=false", "name=3", "sizes=[1, 2]"];
    assert_eq!(run_with(&overrides, text), Ok(vec!["7 2.0 false 3 [1, 2]".to_owned()]));
}

#[test]
fn all_wrong_values_from_the_command_line_are_reported() {
    let text = "let p = params(#{ games: 4, search: #{ c_puct: 1.5 } });";
    let overrides = ["game=7", "search.c_puct=much", "search=1", "games=1.5", "games.x=1"];
    let (message, exit) = run_with(&overrides, text).expect_err("wrong");
    let expected = "error: x.rhai:1:9: --set: 5 problems in its parameters
  game: the script declares no such parameter; did you mean `games`?
  search.c_puct: expected a number, got \"much\"
  search: is a group; set its members, such as --set group.name=1
  games: expected a whole number like the default 4, got \"1.5\"
  games.x: `games` is not a group; set it with --set games=…
  |
1 | let p = params(#{ games: 4, search: #{ c_puct: 1.5 } });
  |         ^";
    assert_eq!((message.as_str(), exit), (expected, Exit::BadInput));
}

#[test]
fn parameters_are_declared_once_and_misspelt_ones_are_named() {
    let (message, _) = run_with(&[], "params(#{}); params(#{});").expect_err("twice");
    assert!(message.contains("params: is called a second time"), "{message}");
    let (message, _) = run_with(&[], "let p = params(#{ games: 1 }); p.gmaes").expect_err("misspelt");
    assert!(message.contains("there is no `gmaes` in this map; did you mean `games`?"), "{message}");
    let (message, _) =
        run_with(&[], "let p = params(#{ games: 1 }); let other = #{}; other.games").expect_err("elsewhere");
    assert!(
        message.contains("there is no `games` in this map") && !message.contains("`games`?"),
        "{message}"
    );
}

/// A folder with a script folder in it, a module inside and a secret outside.
fn with_modules() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("folder");
    let write = |path: &str, text: &str| {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().expect("has a parent")).expect("folder");
        fs::write(path, text).expect("writes");
    };
    write("scripts/lib/one.rhai", "import \"two\" as two; fn one() { two::two() / 2 }");
    write("scripts/lib/two.rhai", "fn two() { 2 }");
    write("scripts/lib/two.new.rhai", "fn one() { 3 }");
    write("scripts/lib/broken.rhai", "fn broken() {\n    1 + ;\n}");
    write("scripts/lib/circle.rhai", "import \"circle\" as circle; fn one() { 1 }");
    write("secret.rhai", "fn secret() { 42 }");
    folder
}

fn run_import(path: &str) -> Result<Vec<String>, String> {
    let folder = with_modules();
    let scripts = folder.path().join("scripts");
    #[cfg(unix)]
    std::os::unix::fs::symlink(folder.path().join("secret.rhai"), scripts.join("link.rhai")).expect("links");
    let path = path.replace("FOLDER", &folder.path().display().to_string());
    let name = scripts.join("x.rhai").display().to_string();
    let text = format!("import \"{path}\" as m; print(m::one());");
    let ran = Script::new(&scripts, &[]).run(&name, &text);
    ran.map_err(|(message, _)| message.replace(&folder.path().display().to_string(), "FOLDER"))
}

#[test]
fn modules_are_imported_from_the_importing_files_folder() {
    assert_eq!(run_import("lib/one"), Ok(vec!["1".to_owned()]));
    assert_eq!(run_import("lib/../lib/one"), Ok(vec!["1".to_owned()]));
    assert_eq!(run_import("lib/one.rhai"), Ok(vec!["1".to_owned()]));
    assert_eq!(run_import("lib/two.new"), Ok(vec!["3".to_owned()]));
}

#[test]
fn imports_stay_within_the_scripts_folder() {
    let outside =
        "leads out of FOLDER/scripts, and only files at or below the script's folder can be imported";
    for path in ["../secret", "lib/../../secret", "../missing", "link"] {
        let message = run_import(path).expect_err("is outside");
        assert!(message.contains(outside), "{path}: {message}");
    }
    let message = run_import("FOLDER/scripts/lib/one").expect_err("is absolute");
    assert!(message.contains("absolute paths are not allowed"), "{message}");
}

#[test]
fn a_broken_module_is_shown_in_its_own_file() {
    let message = run_import("lib/broken").expect_err("is broken");
    let expected = "error: FOLDER/scripts/lib/broken.rhai:2:9:";
    assert!(message.starts_with(expected) && message.contains("2 |     1 + ;"), "{message}");
    assert!(message.contains("called from FOLDER/scripts/x.rhai:1:"), "{message}");
}

#[test]
fn missing_and_circular_imports_are_errors() {
    let message = run_import("lib/three").expect_err("is missing");
    assert!(message.contains("there is no FOLDER/scripts/lib/three.rhai"), "{message}");
    for path in ["lib/brokn", "lib/brokn.rhai"] {
        let message = run_import(path).expect_err("is misspelt");
        assert!(message.contains("did you mean \"lib/broken\"?"), "{message}");
    }
    let message = run_import("lib/circle").expect_err("is a circle");
    assert!(message.contains("this file is being imported already"), "{message}");
}

#[test]
fn values_without_an_order_are_not_compared() {
    for (compared, message) in [
        ("() > 20", ">: () and 20 have no order; () says that there is no value, so ask for `!= ()` first"),
        (
            "2.5 <= ()",
            "<=: 2.5 and () have no order; () says that there is no value, so ask for `!= ()` first",
        ),
        ("\"3\" >= 2", ">=: \"3\" and 2 have no order"),
        ("[1] < 2", "<: [1] and 2 have no order"),
        ("(0..3) > 2", ">: a value of the type range and 2 have no order\n"),
        ("[0..3] < 3", "<: a list and 3 have no order\n"),
        ("#{ a: [1.5] } < 3", "<: #{\"a\": [1.5]} and 3 have no order\n"),
    ] {
        let (shown, _) =
            run_with(&[], &format!("let x = 1;\nif {compared} {{ x = 2; }}")).expect_err("is an error");
        assert!(shown.starts_with("error: x.rhai:2:") && shown.contains(message), "{shown}");
    }
    let (shown, _) = run_with(&[], "try { play(#{ c_puc: 1 }) } catch (e) {\nif e > 1 { print(e) } }")
        .expect_err("an error has no order");
    assert!(
        shown.starts_with("error: x.rhai:2:6: >: a value of the type Error and 1 have no order\n"),
        "{shown}"
    );
    check(
        "print([1 < 2.5, 2 >= 2, 1.5 > 1, \"a\" < \"b\", () == (), () != 3, \"3\" == 3, 1 == 1.0, true || false])",
        &["[true, true, true, true, true, true, false, true, true]"],
    );
}
