//! The modules in `experiments/lib`, and the functions with which scripts print and assert.

use std::path::Path;

use dc0_script::plans::{Planned, ScriptToPlan};
use dc0_steps::RunOptions;

use crate::experiment::Experiment;

fn run(text: &str) -> Planned {
    run_at(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../experiments/x.rhai")), text)
}

fn run_at(path: &Path, text: &str) -> Planned {
    let options = RunOptions { device: Some("cpu".to_owned()), ..RunOptions::below("nowhere") };
    ScriptToPlan { operations: 1_000_000, ..ScriptToPlan::new(path, text, options) }.plan()
}

#[track_caller]
fn check(text: &str, expected: &[&str]) {
    let ran = run(text);
    assert_eq!(ran.error(), None);
    assert_eq!(ran.lines(), expected);
}

#[test]
fn schedules_have_the_given_endpoints() {
    let import = "import \"lib/schedules\" as schedules;";
    check(
        &format!(
            "{import} print(schedules::step(1.0, 0.25, 3)); print(schedules::step(1.0, 0.25, 0));
            print(schedules::linear(1.0, 0.0, 5));
            let c = schedules::cosine(1.0, 0.0, 3); print(c.len()); print(schedules::value_at(c, 1) == 0.5);
            print(schedules::warmup(2, 2.0));
            print(schedules::warmup(2, [[0, 8.0], [1, 4.0], [7, 1.0]]));"
        ),
        &[
            "[[0, 1.0], [3, 0.25]]",
            "[[0, 0.25]]",
            "[[0, 1.0], [1, 0.75], [2, 0.5], [3, 0.25], [4, 0.0]]",
            "3",
            "true",
            "[[0, 1.0], [1, 2.0], [2, 2.0]]",
            "[[0, 4.0], [1, 4.0], [2, 4.0], [7, 1.0]]",
        ],
    );
}

#[test]
fn a_plan_shows_the_beginning_of_a_long_schedule() {
    let experiment = Experiment::new(
        "let run = open_run(\"x\");
        let net = run.network(#{ tower: #{ blocks: 1, filters: 8 } });
        let games = run.self_play(net, #{ games: 2, max_plies: 9 });
        run.train(net, games, #{ updates: 9000, learning_rate: |update| 0.001 + 0.0000001 * update });",
    );
    let plan = experiment.run_ends(&["--check"], 0);
    let line = plan.stdout.lines().find(|line| line.contains("learning_rate")).expect("a line");
    assert!(line.contains("[[0,0.001]") && line.contains('…') && line.len() < 200, "{line}");
}

#[test]
fn schedules_without_counters_and_functions_to_warm_up_are_refused() {
    for (call, expected) in [
        ("linear(1.0, 0.0, 0)", "linear: expected at least 1 counter, got 0"),
        ("cosine(1.0, 0.0, -2)", "cosine: expected at least 1 counter, got -2"),
        ("warmup(-1, 1.0)", "warmup: expected at least 0 counters, got -1"),
        ("warmup(100, |update| 0.1)", "warmup: expected a number or a list of [counter, value]"),
    ] {
        let error = run(&format!("import \"lib/schedules\" as schedules; schedules::{call};")).error();
        let error = error.expect("is refused");
        assert!(error.contains(expected), "{error}");
    }
}

/// Some editors write a byte-order mark before UTF-8 text.
#[test]
fn scripts_and_modules_may_begin_with_a_byte_order_mark() {
    let experiment =
        Experiment::new("\u{feff}import \"twice\" as twice;\nprint(twice::of(4)); twice::wrong();");
    let module = experiment.folder.path().join("twice.rhai");
    std::fs::write(module, "\u{feff}fn of(x) { 2 * x } fn wrong() { throw \"no luck\"; }").expect("writes");
    let ended = experiment.run(&["--out", "datasets"]);
    assert_eq!(ended.stdout, "8\n", "{}", ended.stderr);
    for part in ["error: twice.rhai:1:33: the script threw: no luck", "called from x.rhai:2:29"] {
        assert!(ended.stderr.contains(part), "{part}: {}", ended.stderr);
    }
}

#[test]
fn a_step_accepts_a_schedule_of_a_module() {
    let ran = run("import \"lib/schedules\" as schedules;
        let run = open_run(\"x\"); let net = run.network();
        run.self_play(net, #{ games: 2, max_plies: 9, temperature: schedules::step(1.0, 0.0, 4) });");
    let plan = ran.plans.expect("a plan").text();
    assert!(plan.contains("[[0,1.0],[4,0.0]]"), "{plan}");
}

#[test]
fn guards_report_problems_and_nothing_else() {
    check(
        "import \"lib/guards\" as guards;
        let games = #{ games: 56, draw_rate: 53.0 / 56.0, reasons: #{ threefold: 53 }, iteration: 3, mean_entropy: 0.2 };
        print(guards::draw_death(games, 0.99) == ()); print(guards::draw_death(games, 0.4));
        games.reasons = #{ threefold: 50, ply_cap: 3 }; print(guards::draw_death(games, 0.4));
        print(guards::collapsed_entropy(games, 0.1) == ()); print(guards::collapsed_entropy(games, 0.3) != ());
        let net = #{ name: \"0002\", gradient_norm: 9.0, loss: 1.0, validation_loss: 1.5 };
        print(guards::exploding_gradient(net, 10.0) == ());
        print(guards::exploding_gradient(net, 5.0)); print(guards::overfitted(net, 0.4) != ());
        net.gradient_norm = 0.0 / 0.0; print(guards::exploding_gradient(net, 1e9) != ());",
        &[
            "true",
            "too few games are decided: 94.643% of iteration 3 are drawn, 0.0% cut off",
            "too few games are decided: 89.286% of iteration 3 are drawn, 5.357% cut off",
            "true",
            "true",
            "true",
            "gradients explode: a norm of 9.0 in net 0002",
            "true",
            "true",
        ],
    );
}

#[test]
fn tables_are_aligned_and_wrong_rows_reported() {
    check(
        "print(table([#{ net: \"0001\", score: 0.5 }, #{ net: \"2\", score: 10, elo: () }]));",
        &["elo  net   score\n  -  0001    0.5\n  -  2        10"],
    );
    check(
        "print(table([#{ net: \"0001\", score: 0.5 }, #{ net: \"2\", elo: 3 }], [\"score\", \"net\"]));",
        &["score  net\n  0.5  0001\n    -  2"],
    );
    let error = run("table([#{ net: 1 }], [1]);").error().expect("a wrong column");
    assert!(error.contains("table: expected names of columns, got a whole number"), "{error}");
    let error = run("table([#{ net: 1 }], []);").error().expect("no columns");
    assert!(error.contains("table: expected names of columns, got none"), "{error}");
    let error = run("table([#{ net: 1 }], [\"nets\"]);").error().expect("a wrong column");
    assert!(error.contains("table: no map has \"nets\"; there are net"), "{error}");
    let error = run("table([#{}, 3]);").error().expect("a wrong row");
    assert!(
        error.starts_with("error: ") && error.contains("table: [1]: expected a map, got a whole number"),
        "{error}"
    );
}

#[test]
fn a_failed_assertion_ends_the_script() {
    check(
        "assert(1 < 2, \"never\"); print(\"on\"); log(\"x\"); let run = open_run(\"x\"); run.note(\"y\");",
        &["on"],
    );
    let ran = run("assert(1 > 2, \"one is not more than two\");");
    let failure = ran.plans.expect_err("does not hold");
    assert_eq!(failure.message, "assert: one is not more than two");
    assert_eq!(failure.exit, dc0_process::exit::Exit::Failed);
    let ran = run(
        "let run = open_run(\"x\"); let net = run.network(); assert(net.parameters < 5, \"a small net\");",
    );
    let message = ran.plans.expect_err("does not hold for a mock result").message;
    assert!(
        message.ends_with(
            "(results are mocked here; if the condition depends on them, it may hold in a real run)"
        ),
        "{message}"
    );
}

#[test]
fn a_planned_sweep_counts_shared_steps_once() {
    let ran = run("sweep(#{ name: \"s\", space: #{ c_puct: choice([1.0, 2.0, 4.0]) }, sampler: \"grid\", trials: 9, replicates: 2 }, |trial| {
            let net = trial.run.network(#{ tower: #{ blocks: 1, filters: 8 } });
            let games = trial.run.self_play(net, #{ games: 4, max_plies: 20 });
            let made = trial.run.train(net, trial.run.window(), #{ updates: 10 });
            trial.run.arena(made, net, #{ games: 2, search: #{ c_puct: trial.c_puct }, max_plies: 20 })
        });");
    let plan = ran.plans.expect("a plan").text();
    // Three points of two seeds: nets, games and trainings are the same for all points of a seed, matches are not.
    assert!(plan.contains("6 runs would begin or go on; 12 of 24 steps differ"), "{plan}");
    let lines: Vec<String> =
        plan.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    for expected in ["sweep s: self_play (2 steps) 8", "sweep s: arena (6 steps) 12", "12 steps "] {
        assert!(lines.iter().any(|line| line.starts_with(expected)), "{expected}\n{plan}");
    }
}

#[test]
fn a_declared_parameter_is_a_value_and_a_sweep_dimension() {
    check(
        "let rate = number(2, 0.5, 4, \"c_puct\");
        let p = params(#{ rate: rate, group: #{ few: whole(3, 1, 9) }, on: flag(false), who: text(\"me\") });
        print(p); print(type_of(p.rate));",
        &["#{\"group\": #{\"few\": 3}, \"on\": false, \"rate\": 2.0, \"who\": \"me\"}", "f64"],
    );
    let swept = |space: &str| {
        format!(
            "let rate = number(2, 0.5, 4);
            sweep(#{{ name: \"s\", space: {space}, sampler: \"grid\", trials: 9 }}, |trial| {{ print(trial.params); 0.5 }});"
        )
    };
    check(
        &swept("#{ rate: rate.points(2), on: flag(true) }"),
        &[
            "#{\"on\": false, \"rate\": 0.5}",
            "#{\"on\": false, \"rate\": 4.0}",
            "#{\"on\": true, \"rate\": 0.5}",
            "#{\"on\": true, \"rate\": 4.0}",
        ],
    );
    check(
        &swept("#{ few: whole(1, 1, 3), rule: choice(\"a\", [\"a\"]).when(#{ few: 2 }) }"),
        &["#{\"few\": 1}", "#{\"few\": 2, \"rule\": \"a\"}", "#{\"few\": 3}"],
    );
    let error = run(&swept("#{ who: text(\"me\"), rate: number(1, 4, 2) }")).error().expect("no dimensions");
    assert!(
        error.contains("space.who.kind: expected one of choice, int, uniform, log_uniform, got \"text\""),
        "{error}"
    );
    assert!(error.contains("space.rate.high: must lie above low (4.0), got 2.0"), "{error}");
}

/// The searches, self-plays and trainings of `presets.rhai`, each called for a plan.
#[test]
fn every_preset_is_accepted_by_its_step() {
    let text = include_str!("../../../../experiments/lib/presets.rhai");
    let signatures = text.lines().filter_map(|line| line.strip_prefix("fn ")?.strip_suffix(" {"));
    let mut planned = 0;
    for signature in signatures {
        let call = signature.replace("simulations", "24").replace("updates", "7000").replace("seen", "0");
        let step = if call.contains("training") {
            format!("run.train(net, run.window(), presets::{call});")
        } else if call.contains("self_play") {
            format!("run.self_play(net, presets::{call} + #{{ games: 4 }});")
        } else {
            format!(
                "run.arena(net, net, #{{ games: 4, search: presets::{call} }});
                run.self_play(net, #{{ games: 4, search: presets::{call} }});"
            )
        };
        let script = format!(
            "import \"lib/presets\" as presets; let run = open_run(\"x\");
            let net = run.network(); run.self_play(net, #{{ games: 4 }}); {step}"
        );
        let ran = run(&script);
        assert_eq!(ran.error(), None, "{call}");
        planned += 1;
    }
    assert!(planned >= 9, "{planned} presets");
}

#[test]
fn the_alphazero_learning_rate_drops_tenfold_three_times() {
    check(
        "import \"lib/presets\" as presets; print(presets::alphazero_training(700).learning_rate);
        print(presets::alphazero_training(2).learning_rate);",
        &["[[0, 0.2], [100, 0.02], [300, 0.002], [500, 0.0002]]", "[[0, 0.002], [1, 0.0002]]"],
    );
}

#[test]
fn the_katago_learning_rate_warms_up_once_in_a_run() {
    check(
        "import \"lib/presets\" as presets;
        let rates = presets::katago_training(700, 0).learning_rate;
        print([rates.len, rates[0], rates[1][0], rates[8]]);
        print(presets::katago_training(700, 1_700_000).learning_rate);
        print(presets::katago_training(700, 2_000_000).learning_rate);",
        &[
            "[9, [0, 0.000384], 976, [7812, 0.00768]]",
            "[[0, 0.00384], [195, 0.0054857142857142865], [1171, 0.00768]]",
            "[[0, 0.00768]]",
        ],
    );
}

#[test]
fn every_ablation_can_be_planned_and_states_question_expectation_and_result() {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../experiments/ablations"));
    let files = std::fs::read_dir(folder).expect("lists").map(|entry| entry.expect("an entry").path());
    let mut planned = 0;
    for file in files.filter(|file| file.extension().is_some_and(|kind| kind == "rhai")) {
        let text = std::fs::read_to_string(&file).expect("reads");
        let ran = run_at(&file, &text);
        assert_eq!(ran.error(), None, "{}", file.display());
        let question = text.lines().next().unwrap_or_default();
        assert!(question.starts_with("// ") && question.ends_with('?'), "{}: {question}", file.display());
        for part in ["\n// Expected: ", "\n// Seen: "] {
            assert!(text.contains(part), "{} lacks{part}", file.display());
        }
        planned += 1;
    }
    assert!(planned >= 5, "{planned} ablations");
}
