//! `dc0-run bench` from outside with the least possible work: that it runs and what it prints, not how fast it is.

use crate::experiment::Experiment;

const TINY: [&str; 13] = [
    "bench",
    "search",
    "--games=2",
    "--simulations=4",
    "--searches=2",
    "--long-simulations=6",
    "--lanes=2",
    "--rows",
    "1,3",
    "--seconds",
    "0",
    "--plot",
    "plots/plot.svg",
];

#[test]
fn engines_are_compared_in_a_table_and_a_plot() {
    let experiment = Experiment::new("");
    let ended = experiment.command_ends(&TINY, 0);
    let words: Vec<Vec<&str>> = ended.stdout.lines().map(|line| line.split_whitespace().collect()).collect();
    let count = |start: &[&str]| words.iter().filter(|line| line.starts_with(start)).count();
    for (start, lines) in [
        (["fast", "uniform"], 1),
        (["fast", "hashed"], 1),
        (["reference", "uniform"], 1),
        (["reference", "hashed"], 1),
        (["lanes", "hashed"], 2),
        (["games", "uniform"], 2),
        (["leaves", "hashed"], 2),
    ] {
        assert_eq!(count(&start), lines, "{start:?}\n{}", ended.stdout);
    }
    let svg = std::fs::read_to_string(experiment.folder.path().join("plots/plot.svg")).expect("a plot");
    let document = roxmltree::Document::parse(&svg).expect("every element is closed");
    assert_eq!(document.root_element().tag_name().name(), "svg");
    let drawn = |name: &str| document.descendants().filter(|node| node.tag_name().name() == name).count();
    assert!(drawn("rect") > 12 && drawn("path") >= 6 && drawn("text") > 40, "{svg}");
    for text in ["simulations/s", "bytes", "lanes", "reference hashed", "leaves, uniform"] {
        assert!(svg.contains(text), "{text}");
    }
}

#[test]
fn the_alpha_beta_search_is_measured() {
    let experiment = Experiment::new("");
    let ended = experiment.command_ends(&["bench", "alphabeta", "--depth", "4"], 0);
    let words: Vec<&str> = ended.stdout.split_whitespace().collect();
    assert_eq!((words[1], words[3]), ("nodes", "nps"), "{}", ended.stdout);
    assert!(words[0].parse::<u64>().expect("nodes") > 1000);
}

#[test]
fn an_unwritable_plot_is_reported() {
    let experiment = Experiment::new("");
    let mut args = TINY.to_vec();
    std::fs::write(experiment.folder.path().join("file"), "").expect("writes");
    args[12] = "file/plot.svg";
    let ended = experiment.command(&args);
    assert!(ended.stderr.starts_with("error: cannot write the plot file/plot.svg: "), "{}", ended.stderr);
    assert_eq!(ended.code, Some(3));
}

#[test]
fn out_of_range_arguments_are_bad_input() {
    let experiment = Experiment::new("");
    for wrong in [["--games", "0"], ["--rows", "1,0"], ["--rows", "one"], ["--simulations", "1"]] {
        experiment.command_ends(&["bench", "search", wrong[0], wrong[1]], 2);
    }
}

const DEVICE: [&str; 11] = [
    "bench",
    "device",
    "--device=cpu",
    "--nets=dc0-2x32",
    "--batch=4,8",
    "--lanes=2",
    "--pad-to=8",
    "--seconds=0",
    "--plies=2",
    "--simulations=3",
    "--training-batch=4",
];

#[test]
fn a_device_is_checked_before_it_is_measured() {
    let ended = Experiment::new("").command_ends(&[&DEVICE[..], &["--precision=f32,bf16"]].concat(), 0);
    let lines: Vec<&str> = ended.stdout.lines().collect();
    assert!(lines[0].starts_with("ok  dc0-2x32 in f32: differs by at most 0.00"), "{}", ended.stdout);
    assert!(lines[1].starts_with("ok  dc0-2x32 in bf16: "), "{}", ended.stdout);
    let rows = lines.iter().filter(|line| line.starts_with("dc0-2x32 ")).count();
    assert_eq!(rows, 2 * 4, "two batches, self-play and a training for each precision\n{}", ended.stdout);
    assert_eq!(ended.stdout.matches("of the raw rate").count(), 2);
    for (line, precision) in [(2, "f32"), (3, "bf16")] {
        let start = format!("ok  training of dc0-2x32 in {precision}: losses differ by at most ");
        assert!(lines[line].starts_with(&start), "{}", ended.stdout);
        let rate = format!("dc0-2x32            {precision:<9}      4  ");
        assert_eq!(lines.iter().filter(|line| line.starts_with(&rate)).count(), 1, "{}", ended.stdout);
    }
    // 20 boards of bits, 2 scalars and 20 legal moves in the first of the positions; half of the batch has more.
    let bytes: f64 = lines[7].split_whitespace().nth(4).and_then(|word| word.parse().ok()).expect("bytes");
    assert!((8.0 * 20.0 + 4.0 * 2.0 + 4.0 * 5.0..400.0).contains(&bytes), "{}", lines[7]);
}

#[test]
fn of_an_nnue_only_the_training_is_measured_on_a_device() {
    let measure = [
        "bench",
        "device",
        "--device=cpu",
        "--precision=f32",
        "--nets=nnue-128",
        "--seconds=0",
        "--training-batch=4",
    ];
    let ended = Experiment::new("").command_ends(&measure, 0);
    assert!(ended.stdout.starts_with("nnue-128 plays in integers on the CPU"), "{}", ended.stdout);
    assert!(ended.stdout.contains("ok  training of nnue-128 in f32"), "{}", ended.stdout);
    assert!(!ended.stdout.contains("evaluations/s"), "{}", ended.stdout);
}

#[test]
fn missing_devices_and_nets_are_bad_input() {
    for (wrong, expected) in [
        ("--nets=dc0-9x9", "there is no net \"dc0-9x9\"; there are dc0-2x32, "),
        ("--device=cuda:99", "device cuda:99 is not available"),
        ("--device=gpu", "`gpu` is not a device"),
    ] {
        let ended = Experiment::new("").command(&["bench", "device", wrong]);
        assert!(ended.stderr.contains(expected), "{}", ended.stderr);
        assert_eq!(ended.code, Some(2), "{wrong}");
    }
}
