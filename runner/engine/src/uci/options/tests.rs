use std::sync::Arc;

use dc0_core::network::checkpoint::Checkpoint;
use dc0_core::network::torch::Device;
use dc0_core::network::{MovesLeftHeadSpec, NetworkSpec, TowerSpec, initial_weights};
use dc0_core::params::Value;
use dc0_core::rng::Seed;
use dc0_core::search::{FpuParams, KldGain, RootRule, SearchParams};

use super::declared::{Declared, Kind};
use super::{Backend, Settings, affordable, all, device_for, option_lines};

fn settings() -> Settings {
    Settings::new(None).expect("the shipped net on the CPU")
}

fn refused(settings: &mut Settings, name: &str, value: &str) -> String {
    let before = (settings.search.clone(), settings.threads, settings.lines, settings.overhead);
    let message = settings.set(name, value).expect_err("a bad value").to_string();
    let after = (settings.search.clone(), settings.threads, settings.lines, settings.overhead);
    assert_eq!(before, after, "a bad value changes nothing");
    message
}

#[test]
fn options_are_listed_with_their_ranges() {
    let lines = option_lines();
    for expected in [
        "option name SearchMode type combo default dc0 var dc0 var alphabeta var material",
        "option name alphabeta.null_move type check default true",
        "option name DC0Model type string default <empty>",
        "option name DC0Simulations type spin default 800 min 1 max 10000000",
        "option name DC0Cpuct type string default 1.25",
        "option name MultiPV type spin default 1 min 1 max 218",
        "option name Ponder type check default false",
        "option name Move Overhead type spin default 50 min 0 max 60000",
        "option name UCI_ShowWDL type check default false",
        "option name Hash type spin default 16 min 0 max 65536",
        "option name Clear Hash type button",
        "option name VerboseMoveStats type check default false",
        "option name LogFile type string default <empty>",
        "option name score.scale type string default ()",
        "option name search.virtual_loss_mode type combo default visit var loss var visit",
        "option name time.moves_ahead type spin default 30 min 1 max 200",
        "option name time.largest_share type string default 0.4",
        "option name search.reuse_tree type check default true",
        "option name search.root.rule type combo default puct var puct var gumbel",
        "option name search.fpu.value type string default -0.1",
        "option name search.quiescence type combo default () var () var true var false",
        "option name search.root.c_puct type string default ()",
        "option name search.kld_gain type check default false",
        "option name search.moves_left type check default false",
        "option name search.root.fpu type check default false",
        "option name search.root.considered type spin default 16 min 1 max 218",
    ] {
        assert!(lines.iter().any(|line| line == expected), "{expected} is missing in\n{}", lines.join("\n"));
    }
    assert!(!lines.iter().any(|line| line.contains("search.leaf_batch") || line.contains("search.engine")));
}

/// The value with which chess programs send an option back that nobody changed; `None` for buttons.
fn declared_default(option: &Declared) -> Option<String> {
    match &option.kind {
        Kind::Button => None,
        Kind::Check(default) => Some(default.to_string()),
        Kind::Spin { default, .. } => Some(default.to_string()),
        Kind::Combo { default, .. } | Kind::Text(default) => Some(default.clone()),
    }
}

#[test]
fn declared_defaults_change_nothing_in_any_order() {
    let fresh = settings();
    let mut options = all();
    for _ in 0..2 {
        let mut settings = fresh.clone();
        for option in &options {
            let Some(default) = declared_default(option) else { continue };
            let note = settings.set(&option.name, &default);
            assert_eq!(note.unwrap_or_else(|error| panic!("{}: {error}", option.name)), None);
            assert_eq!((&settings.search, &settings.time), (&fresh.search, &fresh.time), "{}", option.name);
        }
        // The same net on the same backend: neither threads nor a tree are lost.
        assert!(Arc::ptr_eq(&settings.net, &fresh.net));
        assert!(Arc::ptr_eq(&settings.evaluators, &fresh.evaluators));
        options.reverse();
    }
}

#[test]
fn members_of_a_group_take_effect_once_it_is_on() {
    let mut settings = settings();
    let note = settings.set("search.kld_gain.interval", "50").expect("a parameter").expect("a note");
    assert_eq!(note.to_string(), "search.kld_gain.interval has no effect until search.kld_gain is true");
    assert_eq!(settings.search.kld_gain, None);
    let error = settings.check_effects().expect_err("one has no effect").to_string();
    assert!(error.contains("set search.kld_gain to true"), "{error}");
    assert!(refused(&mut settings, "search.kld_gain.interval", "0").contains("1..=1000000"));

    let gain = |interval| Some(KldGain { interval, ..KldGain::default() });
    for (name, value, expected) in [
        ("search.kld_gain", "true", gain(50)),
        ("search.kld_gain.interval", "70", gain(70)),
        ("search.kld_gain", "true", gain(70)),
        ("search.kld_gain", "false", None),
        ("search.kld_gain.interval", "100", None),
        ("search.kld_gain", "true", gain(100)),
    ] {
        assert_eq!(settings.set(name, value).expect("a parameter"), None, "{name} {value}");
        assert_eq!(settings.search.kld_gain, expected, "{name} {value}");
    }
    settings.check_effects().expect("every option has its effect");
    settings.set("search.root.fpu", "true").expect("a group");
    assert_eq!(settings.search.root.fpu, Some(FpuParams::default()));
}

#[test]
fn a_temperature_has_no_effect_with_a_rule_that_draws_no_moves() {
    let mut settings = settings();
    settings.set("search.reuse_tree", "false").expect("a switch");
    assert_eq!(settings.set("DC0Temperature", "0.5").expect("a number"), None);
    settings.check_effects().expect("a PUCT root draws its moves");
    let note = settings.set("search.root.rule", "gumbel").expect("a rule").expect("a note").to_string();
    assert!(note.starts_with("DC0Temperature has no effect with search.root.rule gumbel"), "{note}");
    let error = settings.check_effects().expect_err("it has no effect").to_string();
    assert!(error.contains("DC0Temperature") && error.contains("leave it out"), "{error}");
    assert!(settings.set("DC0Temperature", "1").expect("a number").is_some());
    settings.set("DC0Temperature", "0").expect("a number");
    settings.check_effects().expect("every option has its effect");
}

#[test]
fn moves_left_need_a_net_that_predicts_them() {
    let mut settings = settings();
    let without = Arc::clone(&settings.net);
    settings.set("search.moves_left.slope", "0.1").expect("kept until the group is on");
    let message = refused(&mut settings, "search.moves_left", "true");
    assert!(message.contains("expected a net with a moves_left_head"), "{message}");

    let spec = NetworkSpec {
        tower: TowerSpec { blocks: 1, filters: 8, ..TowerSpec::default() },
        moves_left_head: Some(MovesLeftHeadSpec::default()),
        ..NetworkSpec::default()
    };
    let weights = initial_weights(&spec, Seed { run: 1, step: 0 });
    settings.net = Arc::new(Checkpoint { spec, weights, provenance: Value::None });
    settings.set("search.moves_left", "true").expect("this net predicts them");
    let slope = |settings: &Settings| settings.search.moves_left.as_ref().map(|left| left.slope);
    assert_eq!(slope(&settings), Some(0.1));

    // The shipped net does not: it is taken, and the search does without.
    let note = settings.set("DC0Model", "").expect("the shipped net").expect("a note").to_string();
    assert_eq!(note, "search.moves_left is false now, because this net has no moves_left_head");
    assert_eq!((slope(&settings), &settings.net), (None, &without));
    assert!(refused(&mut settings, "search.moves_left", "true").contains("moves_left_head"));
}

#[test]
fn what_a_net_switches_off_is_on_again_with_the_next_that_can_serve_it() {
    let mut settings = settings();
    assert_eq!(settings.set("DC0Model", "shipped:az_small").expect("a shipped net"), None);
    assert!(refused(&mut settings, "search.quiescence", "true").contains("tower of the kind nnue"));
    settings.set("DC0Model", "").expect("the shipped net");
    settings.set("search.quiescence", "true").expect("this net can");
    let mut choose = |net: &str| {
        let note = settings.set("DC0Model", net).expect("a shipped net");
        (settings.search.quiescence, note.map(|note| note.to_string()).unwrap_or_default())
    };
    let off = "search.quiescence is false now, because this net has no tower of the kind nnue";
    assert_eq!(choose("shipped:az_small"), (Some(false), off.to_owned()));
    assert_eq!(choose("shipped:az_small"), (Some(false), String::new()), "it is said once");
    let on = "search.quiescence is true again, which this net can serve";
    assert_eq!(choose("shipped:az_nnue"), (Some(true), on.to_owned()));
    choose("shipped:az_small");
    settings.set("search.quiescence", "false").expect("as it is");
    assert_eq!(settings.set("DC0Model", "").expect("the shipped net"), None);
    assert_eq!(settings.search.quiescence, Some(false), "set since");
}

#[test]
fn names_are_case_insensitive() {
    let mut settings = settings();
    for (name, value) in [
        ("threads", "4"),
        ("MULTIPV", "3"),
        ("move overhead", "200"),
        ("dc0cpuct", "2.5"),
        ("BatchSize", "64"),
        ("search.fpu.kind", "Absolute"),
        ("search.root.c_puct", "3"),
        ("Search.KLD_gain", "TRUE"),
        ("search.kld_gain.interval", "50"),
        ("UCI_ShowWDL", "True"),
        ("hash", "64"),
        ("time.moves_ahead", "20"),
    ] {
        settings.set(name, value).unwrap_or_else(|error| panic!("{name}: {error}"));
    }
    assert_eq!((settings.threads, settings.lines, settings.overhead), (4, 3, 200));
    assert_eq!(
        (settings.search.c_puct, settings.search.leaf_batch, settings.search.root.c_puct),
        (2.5, 64, Some(3.0))
    );
    assert_eq!(settings.search.kld_gain.as_ref().map(|stop| stop.interval), Some(50));
    assert!(settings.shows_wdl);
    assert_eq!((settings.hash, settings.time.moves_ahead), (64, 20));
}

#[test]
fn bad_values_are_rejected_with_the_range() {
    let settings = &mut settings();
    assert!(refused(settings, "Threads", "0").contains("expected a whole number in 1..=64, got \"0\""));
    assert!(refused(settings, "Threads", "many").contains("a whole number in 1..=64"));
    assert!(refused(settings, "MultiPV", "99999999999999999999").contains("1..=218"));
    assert!(refused(settings, "DC0Cpuct", "nan").contains("a number in 0..=100"));
    assert!(refused(settings, "UCI_ShowWDL", "yes").contains("true or false"));
    assert!(refused(settings, "SearchMode", "minimax").contains("one of dc0, alphabeta, material"));
    assert!(refused(settings, "search.draw_score", "7").contains("must lie in -1.0..=1.0, got 7"));
    assert!(refused(settings, "search.draw_score", "").contains("expected a number"));
    assert!(refused(settings, "Hash", "70000").contains("0..=65536"));
    assert!(refused(settings, "time.largest_share", "2").contains("must lie in 0.01..=1.0, got 2"));
    assert!(refused(settings, "search.root.rule", "gumbel").contains("reuse_tree"));
    assert!(refused(settings, "DC0Model", "nowhere.safetensors").contains("expected a file, found none"));
    assert!(refused(settings, "Device", "toaster").contains("toaster"));
    assert!(refused(settings, "SyzygyPath", "/nowhere/at/all").contains("/nowhere/at/all"));
    let elo = refused(settings, "UCI_Elo", "1500");
    assert!(elo.starts_with("there is no option \"UCI_Elo\": an Elo on a human scale"), "{elo}");
    assert_eq!(refused(settings, "Treads", "2"), "there is no option \"Treads\"; did you mean \"Threads\"?");
}

#[test]
fn a_hash_beyond_the_memory_is_refused() {
    assert_eq!(affordable(4096, Some(4096)).expect("fits"), 4096);
    assert_eq!(affordable(65_536, None).expect("nothing is known"), 65_536);
    let message = affordable(4097, Some(4096)).expect_err("too large").to_string();
    assert!(message.contains("expected at most 4096 MiB") && message.contains("got 4097"), "{message}");
}

#[test]
fn no_value_of_any_option_ends_the_engine_and_a_refusal_says_what_is_expected() {
    let odd = [
        "",
        " ",
        "nan",
        "inf",
        "-inf",
        "1e400",
        "-1",
        "99999999999999999999",
        "0x10",
        "true and false",
        "\u{0}",
        "é",
        "none",
    ];
    let (fresh, mut tried) = (settings(), 0);
    for option in all().iter().filter(|option| !["LogFile", "Clear Hash"].contains(&option.name.as_str())) {
        for value in odd {
            let mut settings = fresh.clone();
            if let Err(error) = settings.set(&option.name, value) {
                let message = error.to_string();
                assert!(message.len() > 20, "{}: {message}", option.name);
                assert_eq!(settings.search, fresh.search, "{} {value:?}", option.name);
                tried += 1;
            }
        }
    }
    assert!(tried > 500, "{tried}");
}

#[test]
fn the_leaf_batch_is_the_nets_and_the_devices_unless_one_is_requested() {
    let mut settings = settings();
    assert_eq!(settings.search.leaf_batch, 8);
    settings.set("BatchSize", "40").expect("a size");
    assert_eq!(settings.search.leaf_batch, 40);
    settings.set("DC0Model", "shipped:az_small").expect("a shipped net");
    assert_eq!(settings.search.leaf_batch, 40);
    settings.set("BatchSize", "0").expect("the default");
    assert_eq!(settings.search.leaf_batch, 16);
    let residual = settings.net.spec.clone();
    settings.set("DC0Model", "shipped:az_nnue").expect("a shipped net");
    assert_eq!(settings.search.leaf_batch, 8);
    let on_gpu = |net: &NetworkSpec| super::tuned::batch_size(net, Device::Cuda(1));
    assert_eq!((on_gpu(&residual), on_gpu(&settings.net.spec)), (256, 8));
}

#[test]
fn a_gumbel_root_needs_tree_reuse_off() {
    let mut settings = settings();
    settings.set("search.reuse_tree", "false").expect("a parameter");
    settings.set("search.root.rule", "gumbel").expect("a rule");
    let root = settings.search.root.clone();
    assert_eq!(root.rule, RootRule::Gumbel);
    assert_eq!(
        settings.search,
        SearchParams {
            root,
            leaf_batch: 8,
            mate_in_one: true,
            policy_temperature: 1.5,
            fpu: FpuParams { value: -0.1, ..FpuParams::default() },
            ..SearchParams::default()
        }
    );
}

#[test]
fn options_that_a_game_in_the_terminal_does_not_use_are_refused_there() {
    let play = |name: &str, value: &str| {
        let mut settings = settings();
        settings.set(name, value).expect("an option of the engine");
        let given = [(name.to_owned(), value.to_owned())];
        settings.check_play(&given).map_err(|error| error.to_string())
    };
    for (name, value) in
        [("Threads", "2"), ("score.scale", "200"), ("search.c_puct_base", "100"), ("MultiPV", "1")]
    {
        assert_eq!(play(name, value), Ok(()));
    }
    for (name, value, why) in [
        ("MultiPV", "3", "a fixed number of lines"),
        ("Move Overhead", "10", "no clock"),
        ("time.longest", "2", "no clock"),
        ("Ponder", "true", "does not search during your moves"),
        ("UCI_AnalyseMode", "true", "as --temperature says"),
        ("clear hash", "", "an empty cache"),
    ] {
        let refused = play(name, value).expect_err("is of no use").to_lowercase();
        let option = name.to_lowercase();
        assert!(refused.starts_with(&format!("option {option} is of no use in `play`, which ")), "{refused}");
        assert!(refused.contains(why), "{refused}");
    }
    assert_eq!(play("UCI_AnalyseMode", "false"), Ok(()));
    let refused = play("SearchMode", "alphabeta").expect_err("another search");
    assert!(refused.contains("`play` uses the tree search, got alphabeta"), "{refused}");
}

#[test]
fn what_only_the_cpu_computes_is_not_sent_elsewhere() {
    let (nnue, mut residual) = (settings().net, (*settings().net).clone());
    residual.spec = NetworkSpec::default();
    for (net, backend, expected) in [
        (&*nnue, Backend::Torch, "cpu"),
        (&residual, Backend::Onnx, "cpu"),
        (&residual, Backend::Torch, "auto"),
        (&residual, Backend::Auto, "auto"),
    ] {
        assert_eq!(device_for(net, backend, "auto"), expected, "{backend:?}");
        assert_eq!(device_for(net, backend, "cuda:0"), "cuda:0", "{backend:?}");
    }
}
