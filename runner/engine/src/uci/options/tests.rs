use dc0_core::search::{RootRule, SearchParams};

use super::declared::{Declared, Kind};
use super::{Settings, all, option_lines};

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
        "option name SearchMode type combo default dc0 var dc0",
        "option name DC0Model type string default <empty>",
        "option name DC0Simulations type spin default 800 min 1 max 10000000",
        "option name DC0Cpuct type string default 1.25",
        "option name MultiPV type spin default 1 min 1 max 218",
        "option name Ponder type check default false",
        "option name Move Overhead type spin default 50 min 0 max 60000",
        "option name UCI_ShowWDL type check default false",
        "option name Hash type spin default 16 min 0 max 65536",
        "option name Clear Hash type button",
        "option name time.moves_ahead type spin default 30 min 1 max 200",
        "option name time.largest_share type string default 0.4",
        "option name search.reuse_tree type check default true",
        "option name search.root.rule type combo default puct var puct var gumbel",
        "option name search.fpu.value type string default 0.33",
        "option name search.root.c_puct type string default ()",
        "option name search.root.considered type spin default 16 min 1 max 218",
    ] {
        assert!(lines.iter().any(|line| line == expected), "{expected} is missing in\n{}", lines.join("\n"));
    }
    assert!(!lines.iter().any(|line| line.contains("search.leaf_batch") || line.contains("search.engine")));
}

#[test]
fn every_option_takes_its_own_default() {
    let mut settings = settings();
    let search = settings.search.clone();
    let is_off = |option: &Declared| option.kind == Kind::Text("()".to_owned());
    let off: Vec<String> =
        all().iter().filter(|option| is_off(option)).map(|option| format!("{}.", option.name)).collect();
    for option in all() {
        let default = match option.kind {
            Kind::Button => String::new(),
            Kind::Check(default) => default.to_string(),
            Kind::Spin { default, .. } => default.to_string(),
            Kind::Combo { default, .. } | Kind::Text(default) => default,
        };
        // A member of a group that is off would switch the group on.
        let is_in_no_off_group = off.iter().any(|group| option.name.starts_with(group));
        if !is_in_no_off_group {
            settings.set(&option.name, &default).unwrap_or_else(|error| panic!("{}: {error}", option.name));
        }
    }
    assert_eq!(settings.search, search);
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
    assert!(refused(settings, "SearchMode", "alphabeta").contains("one of dc0"));
    assert!(refused(settings, "search.draw_score", "7").contains("must lie in -1.0..=1.0, got 7"));
    assert!(refused(settings, "search.draw_score", "").contains("expected a number"));
    assert!(refused(settings, "Hash", "70000").contains("0..=65536"));
    assert!(refused(settings, "time.largest_share", "2").contains("must lie in 0.01..=1.0, got 2"));
    assert!(refused(settings, "search.root.rule", "gumbel").contains("reuse_tree"));
    assert!(refused(settings, "DC0Model", "nowhere.safetensors").contains("expected a file, found none"));
    assert!(refused(settings, "Device", "toaster").contains("toaster"));
    assert!(refused(settings, "SyzygyPath", "/nowhere/at/all").contains("/nowhere/at/all"));
    assert_eq!(refused(settings, "Treads", "2"), "there is no option \"Treads\"; did you mean \"Threads\"?");
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
        SearchParams { root, leaf_batch: 16, mate_in_one: true, ..SearchParams::default() }
    );
}
