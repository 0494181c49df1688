//! Nets in scripts: presets, every kind of head, growth and inspection.

use crate::experiment::Experiment;

/// The heads, towers and encodings that the default net does not have; each trains on games of another net.
const KINDS: &str = r#"
let run = open_run("small");
let small = #{ tower: #{ blocks: 1, filters: 8 }, value_head: #{ filters: 2, hidden: 8 } };
let first = run.network(small);
run.self_play(first, #{ games: 6, shard_games: 3, search: #{ simulations: 2 }, max_plies: 512 });
let kinds = [
    #{ tower: #{ kind: "transformer", blocks: 1, filters: 16, activation: "mish" } },
    #{ tower: #{ kind: "resnet", blocks: 1, filters: 8, activation: "swish" }, policy_head: #{ kind: "dense" } },
    #{ encoding: "az-119", tower: #{ blocks: 1, filters: 8 } },
    #{ encoding: "lc0-112", history: 2, tower: #{ blocks: 1, filters: 8 } },
    #{ tower: #{ blocks: 1, filters: 8 }, value_head: #{ kind: "scalar" }, moves_left_head: #{} },
];
for kind in kinds {
    let net = run.network(kind);
    let trained = run.train(net, run.window(#{ iterations: 9 }), #{ updates: 3, batch: 16, validation_fraction: 0.3 });
    print(`moves left ${trained.moves_left_loss != ()}, value ${trained.value_loss > 0.0}`);
    run.self_play(trained, #{ games: 2, search: #{ simulations: 4 }, max_plies: 20 });
}
let grown = run.grow(first, #{ blocks: 2, filters: 12 });
print(`${first.parameters < grown.parameters} ${first.flops < grown.flops}`);
let frozen = run.train(grown, run.window(#{}), #{ updates: 2, batch: 16, batch_norm: "frozen" });
let seen = run.inspect(frozen, #{ positions: 20 });
print(`${seen.layers.len} ${seen.layers[0].name} ${seen.logit_deviation < 1.5} ${seen.value_deviation > 0.0}`);
"#;

#[test]
fn every_kind_of_net_trains_on_the_same_games_and_plays() {
    let experiment = Experiment::new(KINDS);
    let ended = experiment.run_ends(&[], 0);
    let lines: Vec<&str> = ended.stdout.lines().collect();
    let trained = "moves left false, value true";
    let last = ["moves left true, value true", "true true", "13 stem.conv true true"];
    assert_eq!(lines[..4], [trained; 4], "{}", ended.stdout);
    assert_eq!(lines[4..7], last, "{}", ended.stdout);
    assert!(ended.stderr.contains(" parameters, grown"), "{}", ended.stderr);
    let again = experiment.run(&[]);
    assert_eq!((again.code, again.stdout), (Some(0), ended.stdout), "finished steps are skipped");
}

/// A run is its last generation where a net is named. One that has promoted none is its first net, which is rarely the one that is
/// meant.
#[test]
fn the_random_net_of_a_run_without_promotions_comes_with_a_warning() {
    let script = |name: &str, rest: &str| {
        format!(
            "let run = open_run(\"{name}\"); let net = run.network(#{{ tower: #{{ blocks: 1, filters: 8 }} }});
            let games = run.self_play(net, #{{ games: 2, search: #{{ simulations: 2 }}, max_plies: 8 }}); {rest}"
        )
    };
    let training = "let trained = run.train(net, games, #{ updates: 1, batch: 4 });";
    let experiment = Experiment::new(&script("plain", training));
    assert_eq!(experiment.run(&[]).code, Some(0));
    let ended = |args: &[&str]| experiment.command_ends(args, 0);
    let export = |net| ended(&["export", "net", net, "--out", "copy.safetensors"]).stderr;
    for stderr in [ended(&["inspect", "plain"]).stderr, export("plain")] {
        let expected =
            ["warn: the run ", "plain has promoted no net", "random", "0001.safetensors", "RUN:GENERATION"];
        assert!(expected.iter().all(|part| stderr.contains(part)), "{stderr}");
    }
    assert_eq!(export("plain:0"), "");

    experiment
        .write("let run = open_run(\"other\"); run.load_network(\"plain\"); run.load_network(\"plain\");");
    let loaded = experiment.run(&[]);
    assert_eq!(loaded.stderr.matches("has promoted no net").count(), 1, "{}", loaded.stderr);

    let command =
        ["match", "plain", "random", "--games", "2", "--sims", "1", "--device", "cpu", "--name", "m"];
    let played = ended(&command).stderr;
    assert!(played.contains("plain has promoted no net"), "{played}");

    // A net from elsewhere is not random, and still not the one that the run has trained.
    experiment.write(
        "let run = open_run(\"pupil\"); let first = run.load_network(\"datasets/plain/networks/0001.safetensors\");
        let games = run.self_play(first, #{ games: 2, search: #{ simulations: 2 }, max_plies: 8 });
        run.train(first, games, #{ updates: 1, batch: 4 });",
    );
    assert_eq!(experiment.run(&[]).code, Some(0));
    let exported = export("pupil");
    assert!(exported.contains("generation 0, the net that it began with; another net is"), "{exported}");
    let missing = experiment.command_ends(&["export", "net", "pupil:2", "--out", "copy.safetensors"], 2);
    assert!(missing.stderr.contains("0 to 0; another net is named by its file"), "{}", missing.stderr);

    experiment.write(&script("better", &format!("{training} run.promote(trained);")));
    assert_eq!(experiment.run(&[]).code, Some(0));
    assert_eq!(export("better"), "");
}

#[test]
fn every_kind_of_net_passes_a_check() {
    let ended = Experiment::new(KINDS).run_ends(&["--check"], 0);
    for expected in ["1×16 transformer, ", "0000 grows to 2×12 se_resnet, ", "GFLOP an evaluation"] {
        assert!(ended.stdout.contains(expected), "{expected}\n{}", ended.stdout);
    }
}

#[test]
fn scripts_can_edit_a_preset() {
    let script = r#"
let run = open_run("small");
let spec = network_preset("dlchess");
spec.tower.blocks = 1;
spec.tower.filters = 16;
print(run.network(spec).parameters);
"#;
    let ended = Experiment::new(script).run_ends(&[], 0);
    // stem 9·22·16 + 32; block 18·256 + 64, SE 3·16 + 1 + 32; policy 9·256 + 32 and 9·73·16 + 73; value 16 + 2, 64·256 + 256, 257.
    let expected = 3_168 + 32 + 4_608 + 64 + 81 + 2_304 + 32 + 10_512 + 73 + 18 + 16_640 + 257;
    assert_eq!(ended.stdout.trim(), expected.to_string());
}

#[test]
fn unknown_presets_and_impossible_growth_are_bad_input() {
    for (script, expected) in [
        ("network_preset(\"dc0-2x23\")", "there is no net \"dc0-2x23\"; did you mean \"dc0-2x32\"?"),
        (
            "let run = open_run(\"small\"); run.grow(run.network(#{ tower: #{ blocks: 1, filters: 8 } }), #{ blocks: 0 })",
            "blocks would shrink from 1 to 0",
        ),
        (
            "let run = open_run(\"small\"); run.network(#{ tower: #{ kind: \"transformer\", filters: 10, heads: 4 } })",
            "tower.heads: 4 heads cannot share 10 filters equally",
        ),
    ] {
        let ended = Experiment::new(script).run(&["--check"]);
        assert!(ended.stderr.contains(expected), "{expected}\n{}", ended.stderr);
        assert_eq!(ended.code, Some(2), "{script}");
    }
}

#[test]
fn inspect_shows_a_stored_net_and_rejects_a_damaged_one() {
    let experiment = Experiment::new("open_run(\"small\").network(#{ tower: #{ blocks: 1, filters: 8 } });");
    assert_eq!(experiment.run(&[]).code, Some(0));
    let net = experiment.first_in("networks/0000.safetensors");
    let inspect = |more: &[&str], code| {
        let words = [&["inspect", net.to_str().expect("text"), "--positions", "8"], more].concat();
        experiment.command_ends(&words, code)
    };
    let ended = inspect(&[], 0);
    assert!(ended.stdout.contains("parameters, 0.00"), "{}", ended.stdout);
    let row = ended.stdout.lines().find(|line| line.starts_with("stem.conv ")).expect("a row");
    // 8·20·9 weights and 8 scales and shifts; 2·64·8·20·9 operations.
    assert!(row.contains("8×8×8") && row.contains("1456") && row.contains("0.18"), "{row}");
    let json = inspect(&["--json"], 0).stdout;
    assert!(json.contains("\"logit_deviation\"") && json.contains("\"stem.conv\""), "{json}");
    std::fs::write(&net, "no net").expect("writes");
    inspect(&[], 3);
}

#[test]
fn every_command_that_plays_ends_with_3_if_its_net_is_damaged() {
    let experiment = Experiment::new("open_run(\"small\").network(#{ tower: #{ blocks: 1, filters: 8 } });");
    assert_eq!(experiment.run(&[]).code, Some(0));
    let net = experiment.first_in("networks/0000.safetensors");
    std::fs::write(&net, "no net").expect("writes");
    let net = net.to_str().expect("text");
    for command in [&["uci"][..], &["play"], &["analysis"], &["explain", "startpos"]] {
        experiment.command_ends(&[command, &["--net", net]].concat(), 3);
    }
}

#[test]
fn a_net_too_large_for_memory_is_refused_with_the_figures() {
    // 309 GB of weights.
    let experiment = Experiment::new(
        r#"let run = open_run("large");
        let net = run.network(#{ tower: #{ blocks: 256, filters: 4096 } });"#,
    );
    for args in [&["--check"][..], &[]] {
        let refused = experiment.run_ends(args, 2);
        for part in [
            "x.rhai:2:",
            "network: this takes at least 6",
            "(weights 3",
            "are available here; use a smaller net",
        ] {
            assert!(refused.stderr.contains(part), "no \"{part}\" in {}", refused.stderr);
        }
    }
}

#[test]
fn a_net_is_exported_by_itself_whole_or_rounded() {
    let experiment = Experiment::new(
        "let run = open_run(\"small\"); run.promote(run.network(#{ tower: #{ kind: \"nnue\", filters: 64 } }));",
    );
    assert_eq!(experiment.run(&[]).code, Some(0));
    let size = |name: &str| experiment.folder.path().join(name).metadata().expect("written").len();
    for (out, more) in [("whole.safetensors", &[][..]), ("half.safetensors", &["--rounded"][..])] {
        experiment.command_ends(&[&["export", "net", "datasets/small", "--out", out], more].concat(), 0);
        experiment.command(&["inspect", out]).has("187397 parameters");
    }
    assert!(size("half.safetensors") * 2 < size("whole.safetensors") + 20_000);
    experiment.command_ends(&["export", "net", "datasets/small", "--out", "net.onnx"], 2);
}
