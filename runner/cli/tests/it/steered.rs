//! `--check` of scripts that steer by their results.

use serde_json::{Value, json};

use crate::experiment::{Ended, Experiment, SMALL};

const NET: &str = "let run = open_run(\"small\");
let net = run.network(#{ tower: #{ blocks: 1, filters: 8 }, value_head: #{ filters: 2, hidden: 8 } });
";

fn check(script: &str, code: i32) -> Ended {
    Experiment::new(script).run_ends(&["--check"], code)
}

/// The plan for programs.
fn plan(script: &str) -> Value {
    let ended = Experiment::new(script).run_ends(&["--check", "--format", "json"], 0);
    serde_json::from_str(&ended.stdout).expect("JSON")
}

/// The figures of all alternatives by name.
fn all<'a>(plan: &'a Value, name: &str) -> Vec<&'a Value> {
    plan["alternatives"].as_array().expect("a list").iter().map(|alternative| &alternative[name]).collect()
}

#[test]
fn a_loop_that_waits_for_a_win_is_planned_as_if_it_came() {
    let script = NET.to_owned()
        + "let verdict = run.arena(net, \"random\", #{ games: 4 });
while verdict.score < 0.55 {
    run.self_play(net, #{ games: 4 });
    net = run.train(net, run.window(), #{ updates: 4 });
    verdict = run.arena(net, \"random\", #{ games: 4 });
    print(`score ${verdict.score}`);
}";
    let ended = check(&script, 0);
    let parts = "differs from x.rhai:4:14, which reads `score`";
    for expected in [
        "  2 steps  ",
        "\nassumed: games of 150 plies (or max_plies), 10% of them drawn, every simulation evaluates, the first player wins",
        "\nThe plan depends on results that are not known yet. If\n",
        "  the first player wins, losses fall:   2 steps",
        "this plan\n",
        &format!("  matches end even:                     no end after 10000 steps  {parts}\n"),
        &format!("  the first player loses, losses rise:  no end after 10000 steps  {parts}\n"),
    ] {
        assert!(ended.stdout.contains(expected), "{expected}\n{}", ended.stdout);
    }
    assert!(!ended.stderr.contains("print: "), "the shown plan prints nothing: {}", ended.stderr);
    let plan = plan(&script);
    assert_eq!((&plan["assumption"], &plan["distinct"]), (&json!("first wins"), &json!(2)));
    assert_eq!(all(&plan, "assumption"), [&json!("even"), &json!("first wins"), &json!("first loses")]);
    assert_eq!(all(&plan, "is_endless"), [&json!(true), &json!(false), &json!(true)]);
    assert_eq!(all(&plan, "steps"), [&Value::Null, &json!(2), &Value::Null]);
    let reading = json!({ "file": "x.rhai", "line": 4, "column": 14, "figure": "score" });
    assert_eq!(all(&plan, "differs_from"), [&reading, &Value::Null, &reading]);
}

#[test]
fn a_loop_that_catches_all_errors_has_an_end_in_the_plan() {
    let script = "let run = open_run(\"small\");
loop {
    try {
        let verdict = run.arena(\"random\", \"greedy\", #{ games: 2 });
        if verdict.wins > 1000 { break; }
    } catch (error) { }
}";
    let ended = check(script, 2);
    assert!(ended.stderr.contains("no end"), "{}", ended.stderr);
}

#[test]
fn a_gate_says_at_which_line_the_plans_part() {
    let script = NET.to_owned()
        + "let best = net;
for iteration in 0..2 {
    run.self_play(best, #{ games: 4 });
    let candidate = run.train(best, run.window(), #{ updates: 4 });
    print(`loss ${candidate.loss}`);
    let verdict = run.arena(candidate, best, #{ games: 4 });
    if verdict.score > 0.45 { best = run.promote(candidate); }
    print(`score ${verdict.score}, ${verdict.losses} lost`);
}";
    let plan = plan(&script);
    assert_eq!(plan["assumption"], json!("even"));
    assert_eq!(all(&plan, "steps"), [&json!(7), &json!(7), &json!(7)]);
    assert_eq!(all(&plan, "differs"), [&json!(false), &json!(false), &json!(true)]);
    let reading = json!({ "file": "x.rhai", "line": 9, "column": 15, "figure": "score" });
    assert_eq!(all(&plan, "differs_from"), [&Value::Null, &Value::Null, &reading]);
    let ended = check(&script, 0);
    assert!(ended.stdout.contains("  the first player wins, losses fall:   7 steps"), "{}", ended.stdout);
    assert!(ended.stdout.contains("the same plan\n"), "{}", ended.stdout);
    assert!(ended.stderr.contains("print: score 0.5, 1 lost\n"), "{}", ended.stderr);
}

#[test]
fn a_loop_that_waits_for_a_number_of_a_table_is_given_up_early() {
    let script = NET.to_owned()
        + "let rows = 0;
while rows < 3 {
    run.self_play(net, #{ games: 4 });
    rows = run.sql(\"select count(*) as n from games where result <> 7\").column(\"n\")[0];
}";
    let ended = check(&script, 0);
    // A query counts as 20 steps, of which there are 10000.
    assert!(ended.stdout.contains("no end after 478 steps and 477 queries of tables"), "{}", ended.stdout);
}

#[test]
fn a_loop_that_only_queries_a_table_is_given_up_early() {
    let script = NET.to_owned()
        + "run.self_play(net, #{ games: 4 });
while run.sql(\"select count(*) as n from games\").rows()[0].n < 1000000 { }";
    let ended = check(&script, 0);
    let endless =
        "no end after 2 steps and 500 queries of tables  differs from x.rhai:4:50, which reads `rows`\n";
    assert_eq!(ended.stdout.matches(endless).count(), 2, "{}", ended.stdout);
    assert!(ended.stdout.contains("tables hold 1000000:  2 steps"), "{}", ended.stdout);
}

#[test]
fn a_script_that_reads_tables_is_planned_with_small_and_large_numbers() {
    let script = NET.to_owned()
        + "run.self_play(net, #{ games: 4 });
while run.sql(\"select count(*) as n from games\").rows()[0].n < 12 { run.self_play(net, #{ games: 4 }); }
if run.table(\"games\").column(\"opening_plies\")[0] > 100 { run.train(net, run.window(), #{ updates: 4 }); }";
    let ended = check(&script, 0);
    let parts = "x.rhai:4:50, which reads `rows`";
    for expected in [
        format!(
            "  matches end even, tables hold 0:                           no end after 478 steps and 477 queries of tables  differs from {parts}\n"
        ),
        format!(
            "  the first player wins, losses fall, tables hold 1:         no end after 478 steps and 477 queries of tables  differs from {parts}\n"
        ),
        "  the first player loses, losses rise, tables hold 1000000:  3 steps".to_owned(),
        "a table has one row of millions\n".to_owned(),
    ] {
        assert!(ended.stdout.contains(&expected), "{expected}\n{}", ended.stdout);
    }
}

#[test]
fn a_number_of_a_table_may_be_out_of_a_parameters_range() {
    let script = NET.to_owned()
        + "run.self_play(net, #{ games: 4 });
let games = run.sql(\"select count(*) as n from games\").rows()[0].n;
run.self_play(net, #{ games: games });";
    let ended = check(&script, 0);
    let row = |words: &str| {
        let rows = ended.stdout.lines().filter(|line| line.trim_start().starts_with(words));
        rows.map(str::to_owned).next().unwrap_or_else(|| panic!("{}", ended.stdout))
    };
    assert!(row("matches end even").contains("games: must lie in 1..=100000000, got 0"), "{}", ended.stdout);
    assert!(row("the first player wins").contains("this plan"), "{}", ended.stdout);
    let wrong = script.replace("games: games", "gmaes: games");
    let ended = check(&wrong, 2);
    assert!(ended.stderr.contains("did you mean `games`?"), "{}", ended.stderr);
}

#[test]
fn a_script_that_only_shows_its_results_has_one_plan() {
    let ended = check(&(SMALL.to_owned() + "print(`${best.loss}, ${best.name}`);"), 0);
    assert!(!ended.stdout.contains("depends on results"), "{}", ended.stdout);
    assert!(
        plan("let run = open_run(\"small\"); let net = run.network(); print(net.name);")["alternatives"]
            .as_array()
            .expect("a list")
            .is_empty()
    );
}

#[test]
fn loops_over_losses_draws_and_solved_positions_have_an_end() {
    for (line, body) in [
        (
            6,
            "let net = run.train(net, run.window(), #{ updates: 4 });
while net.loss > 1.5 { net = run.train(net, run.window(), #{ updates: 4 }); }",
        ),
        (
            6,
            "let net = run.train(net, run.window(), #{ updates: 4 });
while net.policy_accuracy < 0.9 { net = run.train(net, run.window(), #{ updates: 4 }); }",
        ),
        (5, "while games.draw_rate > 0.2 { games = run.self_play(net, #{ games: 20 }); }"),
        (
            6,
            "let seen = run.search(net, [\"startpos\"], #{});
while seen.proven == 0 { seen = run.search(net, [\"startpos\"], #{}); }",
        ),
        (
            7,
            "let suite = [\"6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - bm Ra8#;\"];
let solved = run.puzzles(net, suite, #{ simulations: [1] });
while solved.solved[0] < 0.8 { solved = run.puzzles(net, suite, #{ simulations: [1] }); }",
        ),
    ] {
        let plan = plan(&format!("{NET}\nlet games = run.self_play(net, #{{ games: 20 }});\n{body}"));
        assert_eq!(plan["assumption"], json!("first wins"), "{body}");
        assert_eq!(all(&plan, "differs_from")[0]["line"], json!(line), "{body}");
    }
    // As long as the new net wins.
    let plan = plan(&format!(
        "{NET}while run.arena(net, \"random\", #{{ games: 4 }}).score > 0.4 {{ run.self_play(net, #{{ games: 2 }}); }}"
    ));
    assert_eq!(plan["assumption"], json!("first loses"));
}

#[test]
fn branches_of_other_assumptions_are_checked_and_their_own_errors_shown() {
    let branch = |then: &str| {
        format!(
            "{NET}let verdict = run.arena(net, \"random\", #{{ games: 4 }});\nif verdict.score > 0.6 {{ {then} }}"
        )
    };
    let wrong = check(&branch("run.self_play(net, #{ game: 4 });"), 2);
    assert!(wrong.stderr.contains("x.rhai:4:30: self_play: 1 problem"), "{}", wrong.stderr);
    let stopped = check(&branch("throw \"too strong\";"), 0);
    let expected = "stops at x.rhai:4:26: the script threw: too strong";
    assert!(stopped.stdout.contains(expected), "{}", stopped.stdout);
}

#[test]
fn trials_of_a_sweep_that_wait_for_a_win_have_an_end() {
    let sweep = |body: &str| {
        format!(
            "sweep(#{{ name: \"small\", space: #{{ c: uniform(1.0, 2.0) }}, sampler: \"random\", trials: 3 }}, |trial| {{
    let net = trial.run.network(#{{ tower: #{{ blocks: 1, filters: 8 }} }});
    let search = #{{ c_puct: trial.c }};
    let verdict = trial.run.arena(net, \"random\", #{{ games: 4, search: search }});
    {body}
    verdict
}});"
        )
    };
    let again = "verdict = trial.run.arena(net, \"random\", #{ games: 4, search: search });";
    let steered = plan(&sweep(&format!("while verdict.wins < 3 {{ {again} }}")));
    assert_eq!(steered["assumption"], json!("first wins"));
    assert_eq!(steered["sweeps"][0]["runs"], json!(3));
    let reading = json!({ "file": "x.rhai", "line": 5, "column": 18, "figure": "wins" });
    assert_eq!(all(&steered, "differs_from"), [&reading, &Value::Null, &reading]);
    // The objective is read, but random trials are the same whatever it is.
    let plain = plan(&sweep(""));
    assert_eq!(all(&plain, "differs"), [&json!(false); 3]);
    assert_eq!(plain["assumption"], json!("even"));
}

#[test]
fn a_growth_by_a_head_that_the_net_has_is_refused_as_in_the_run() {
    let experiment = Experiment::new(
        "let run = open_run(\"small\");
let net = run.network(#{ tower: #{ blocks: 1, filters: 8 }, auxiliary_heads: #{ reply: true } });
run.grow(net, #{ auxiliary_heads: #{ reply: true } });",
    );
    let error = |args: &[&str]| {
        let ended = experiment.run_ends(args, 2);
        let at = ended.stderr.find("error: ").expect("an error");
        ended.stderr[at..].to_owned()
    };
    let checked = error(&["--check"]);
    let expected = "the net has auxiliary_heads.reply already; leave it out";
    assert!(checked.contains(expected), "{checked}");
    assert_eq!(checked, error(&[]));
    // It has not begun.
    let report = experiment.command(&["verify", "datasets/small"]).stdout;
    assert!(report.contains("whole; 1 finished step with") && !report.contains("not finished"), "{report}");
}
