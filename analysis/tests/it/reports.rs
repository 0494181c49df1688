//! Reports of small handmade runs.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use dc0_analysis::charts::{Chart, Ink, Marks, Scale};
use dc0_analysis::report::{Report, ReportRun, ReportSweep, comparison, report};
use dc0_analysis::{Database, Files, RunSource, StepRow, SweepSource, Work};
use dc0_core::board::{GameResult, Move, Reason};
use dc0_core::params::Value;
use dc0_core::store::{
    FileEntry, GameRow, MatchGameRow, PositionRow, Provenance, Scores, TrainingRow, ValidationRow,
    WideColumn, WideKind, write_table, write_wide,
};

const START: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
const AFTER: &str = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1";

/// A net's digest; tables have its first 16 digits.
fn digest(net: u32) -> String {
    format!("{net:064}").chars().rev().collect()
}

fn id(net: u32) -> String {
    digest(net)[..16].to_owned()
}

fn store_iteration(folder: &Path, iteration: u32, games: u32) {
    store_iteration_of(folder, iteration, games, games);
}

fn packed(text: &str) -> u16 {
    Move::from_uci(text).expect("a move").packed()
}

fn game_row(game: u32) -> GameRow {
    GameRow {
        game,
        network: id(0),
        start_fen: START.to_owned(),
        moves: vec![packed("e2e4"), packed("e7e5")],
        opening_plies: 0,
        result: if game == 0 { GameResult::WhiteWins } else { GameResult::Draw },
        reason: Reason::Threefold.into(),
    }
}

/// Games of two positions each; only the first `full` games have policy targets.
fn store_iteration_of(folder: &Path, iteration: u32, games: u32, full: u32) {
    let position = |game: u32, ply: u16| PositionRow {
        game,
        ply,
        fen: if ply == 0 { START } else { AFTER }.to_owned(),
        played: packed(if ply == 0 { "e2e4" } else { "e7e5" }),
        legal: 20,
        moves: vec![packed(if ply == 0 { "e2e4" } else { "e7e5" })],
        visits: vec![8],
        target: vec![8],
        root_q: 1.0,
        root_d: 0.5,
        net_q: -1.0,
        net_d: 0.25,
        simulations: 8,
        full: game < full,
        policy_surprise: 0.5,
        result: 0,
    };
    let path = |table: &str| format!("{table}/iteration={iteration:04}/part-0a-00000.parquet");
    let all: Vec<GameRow> = (0..games).map(game_row).collect();
    let positions: Vec<PositionRow> =
        (0..games).flat_map(|game| [position(game, 0), position(game, 1)]).collect();
    write_table(folder, &path("games"), &all, &Provenance::new()).expect("valid rows");
    write_table(folder, &path("positions"), &positions, &Provenance::new()).expect("valid rows");
}

/// A match of drawn pairs between a net and its predecessor.
fn store_match(folder: &Path, number: u32, pairs: u32) {
    store_match_of(folder, number, pairs, [id(number + 1), id(number)]);
}

fn store_match_of(folder: &Path, number: u32, pairs: u32, players: [String; 2]) {
    store_match_scored(folder, number, pairs, players, |game| f64::from(game % 2));
}

fn store_match_scored(
    folder: &Path,
    number: u32,
    pairs: u32,
    [first, second]: [String; 2],
    score: impl Fn(u32) -> f64,
) {
    let game = |game: u32| MatchGameRow {
        game,
        pair: game / 2,
        first: first.clone(),
        second: second.clone(),
        first_is_white: game.is_multiple_of(2),
        start_fen: START.to_owned(),
        moves: Vec::new(),
        opening_plies: 0,
        plies: 0,
        scores: Scores::default(),
        depths: Vec::new(),
        seconds: Vec::new(),
        score: score(game),
        result: if (score(game) == 1.0) == game.is_multiple_of(2) {
            GameResult::WhiteWins
        } else {
            GameResult::BlackWins
        },
        reason: Reason::Checkmate.into(),
        detail: String::new(),
    };
    let rows: Vec<MatchGameRow> = (0..2 * pairs).map(game).collect();
    let path = format!("matches/{number:04}-{:04}-vs-{number:04}.parquet", number + 1);
    write_table(folder, &path, &rows, &Provenance::new()).expect("valid rows");
}

/// The curve of a training of 20 updates.
fn store_training(folder: &Path, net: u32) {
    let row = |update: u32| TrainingRow {
        update,
        learning_rate: 0.01,
        loss: 2.0 / f64::from(net * update),
        policy_loss: 1.0,
        value_loss: 1.0,
        moves_left_loss: 0.0,
        policy_accuracy: 0.5,
        policy_entropy: 0.5,
        gradient_norm: 1.0,
        ..TrainingRow::default()
    };
    let rows: Vec<TrainingRow> = [10, 20].map(row).to_vec();
    write_table(folder, &format!("training/{net:04}.parquet"), &rows, &Provenance::new())
        .expect("valid rows");
}

/// The series of a kind of step.
fn series_of(kind: &str) -> &'static str {
    match kind {
        "self_play" | "import_pgn" | "reanalyze" => "iteration",
        "arena" => "match",
        "validate" => "validation",
        _ => "network",
    }
}

fn step(index: u32, kind: &str, number: u32, net: u32, summary: &[(&str, f64)]) -> StepRow {
    let summary = summary.iter().map(|(name, value)| ((*name).to_owned(), Value::Float(*value))).collect();
    StepRow {
        step: index,
        kind: kind.to_owned(),
        series: Some(series_of(kind).to_owned()),
        number: Some(number),
        identity: format!("{index:08}"),
        network: Some(digest(net)),
        seconds: Some(60.0),
        bytes: 1,
        summary: Value::Group(summary),
        params: Value::group(),
        inputs: Vec::new(),
    }
}

/// A run with three nets and two matches, whose second self-play step is unfinished.
fn source(name: &str, folder: &Path) -> RunSource {
    store_iteration(folder, 0, 4);
    store_iteration(folder, 1, 2);
    store_match(folder, 0, 8);
    store_match(folder, 1, 8);
    let no_costs = WideColumn { name: "step".to_owned(), cells: Vec::new(), if_empty: WideKind::Int };
    write_wide(folder, "costs.parquet", "costs", 1, &[no_costs], &Provenance::new()).expect("writes");
    let played = [("games", 4.0), ("positions", 8.0), ("evaluations", 64.0)];
    let steps = vec![
        step(0, "network", 0, 0, &[]),
        step(1, "self_play", 0, 0, &played),
        step(2, "train", 1, 1, &[("updates", 20.0), ("gradient_norm", 0.5)]),
        step(3, "arena", 0, 1, &[("score", 0.5)]),
        step(4, "train", 2, 2, &[("updates", 20.0), ("gradient_norm", 2.0)]),
        step(5, "arena", 1, 2, &[("score", 0.5)]),
    ];
    RunSource { steps, ..RunSource::from_folder(name, folder) }
}

fn about(name: &str, generations: u32) -> ReportRun {
    ReportRun {
        name: name.to_owned(),
        params: Value::Group([("note".to_owned(), Value::Text("</script><b>'\"".to_owned()))].into()),
        environment: Vec::new(),
        script: "let run = open_run(\"x\"); // </pre><script>".to_owned(),
        promotes: false,
        generations: (0..generations).map(|net| (net, digest(net))).collect(),
        unfinished: vec!["the step 00000006 (self_play) was begun and is not finished".to_owned()],
    }
}

fn reported(runs: &[(&str, u32)]) -> Report {
    let folders: Vec<_> = runs.iter().map(|_| tempfile::tempdir().expect("a folder")).collect();
    let sources = runs.iter().zip(&folders).map(|((name, _), folder)| source(name, folder.path()));
    let database = Database::new(sources.collect(), Vec::new(), Work::Exact);
    let runs: Vec<ReportRun> = runs.iter().map(|(name, generations)| about(name, *generations)).collect();
    report(&database, &runs, &[]).expect("a report")
}

fn chart<'a>(report: &'a Report, name: &str) -> &'a Chart {
    let names: Vec<&str> = report.charts.iter().map(|chart| chart.name.as_str()).collect();
    report
        .charts
        .iter()
        .find(|chart| chart.name == name)
        .unwrap_or_else(|| panic!("{name} is not in {names:?}"))
}

/// Each series of a chart with its points.
fn series(chart: &Chart) -> Vec<(String, usize)> {
    let Marks::Series(series) = &chart.marks else { panic!("{} has no series", chart.name) };
    series.iter().map(|series| (series.name.clone(), series.points.len())).collect()
}

#[test]
fn nets_of_a_run_without_a_gate_are_not_reported_as_rejected() {
    let report = reported(&[("plain", 1)]);
    let html = &report.html;
    assert!(html.contains("Its newest net, 0002, is rated +0 Elo over net 0000"), "{html}");
    assert!(html.contains("this run has no gate") && !html.contains("rejected since"));
    assert!(!html.contains(">not promoted<") && !html.contains("newest promoted net"));
    assert_eq!(series(chart(&report, "elo-net")), [("nets".to_owned(), 3)]);
    assert!(report.charts.iter().all(|chart| chart.name != "elo-generation"));
}

#[test]
fn a_run_with_a_gate_has_generations_and_candidates() {
    let report = reported(&[("gated", 2)]);
    assert!(report.html.contains("Its newest promoted net, 0001, is rated"), "{}", report.html);
    assert!(report.html.contains("candidates rejected since the last promotion: 1"));
    assert_eq!(series(chart(&report, "elo-generation")), [("promoted".to_owned(), 2)]);
    assert_eq!(
        series(chart(&report, "elo-time")),
        [("promoted".to_owned(), 2), ("not promoted".to_owned(), 1)]
    );
}

#[test]
fn the_table_of_ratings_agrees_with_the_report() {
    let folders = [0, 1].map(|_| tempfile::tempdir().expect("a folder"));
    let sources = ["plain", "other"].iter().zip(&folders).map(|(name, folder)| source(name, folder.path()));
    let database = Database::new(sources.collect(), Vec::new(), Work::Exact);
    let statement = "select run, player, net, games, elo, elo_low, elo_high from ratings where elo_high > 0 order by run, net";
    let rows = database.query(statement).expect("a statement").rows().expect("rows");
    assert_eq!(
        rows.column("run").expect("runs"),
        ["other", "other", "plain", "plain"].map(|run| Value::Text(run.to_owned()))
    );
    assert_eq!(rows.numbers("net").expect("nets"), [1.0, 2.0, 1.0, 2.0].map(Some));
    assert_eq!(rows.numbers("games").expect("games"), [32.0, 16.0, 32.0, 16.0].map(Some));
    assert_eq!(rows.column("player").expect("players")[1], Value::Text(id(2)));
    let (low, high) = (rows.numbers("elo_low").expect("ends"), rows.numbers("elo_high").expect("ends"));
    let report = reported(&[("plain", 1)]);
    let Marks::Series(series) = &chart(&report, "elo-net").marks else { panic!("series") };
    let ends: Vec<_> =
        series[0].points[1..].iter().map(|point| point.interval.expect("an interval")).collect();
    assert_eq!(ends, [(low[2].unwrap(), high[2].unwrap()), (low[3].unwrap(), high[3].unwrap())]);
    let all = database.tables().expect("tables");
    let ratings = all.iter().find(|table| table.name == "ratings").expect("the table");
    assert!(
        ratings.rows == 6 && ratings.columns.iter().all(|column| !column.meaning.is_empty()),
        "{ratings:?}"
    );
}

#[test]
fn drawn_matches_have_an_interval() {
    let report = reported(&[("plain", 1)]);
    let Marks::Series(series) = &chart(&report, "elo-net").marks else { panic!("series") };
    let (low, high) = series[0].points[2].interval.expect("an interval");
    assert!(low < -20.0 && high > 20.0, "{low} to {high}");
}

#[test]
fn figures_say_what_they_are_of() {
    let html = reported(&[("plain", 1)]).html;
    let norms = "norm 2 at the end of the latest training, 0.5 in the median of 1 training before it";
    assert!(html.contains(norms), "{}", &html[html.find("Gradients").expect("a check")..][..400]);
    for head in ["time of all steps", "self-play games", "self-play positions", "self-play evaluations"] {
        assert!(html.contains(&format!(">{head}</th>")), "{head}");
    }
    assert!(!html.contains(">evaluations</th>"));
}

#[test]
fn the_last_iteration_is_the_last_finished_one() {
    let html = reported(&[("plain", 1)]).html;
    assert!(html.contains("75.0\u{a0}% of the 4 games of iteration 0 were drawn"), "{html}");
    assert!(html.contains("the step 00000006 (self_play) was begun and is not finished"));
    assert!(html.contains("distinct; warning below") && !html.contains("NaN"));
}

#[test]
fn policy_collapse_is_judged_only_by_searches_with_policy_targets() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut without_targets = source("plain", folder.path());
    let no_targets = [("policy_targets".to_owned(), Value::Bool(false))];
    let entropy = [("mean_entropy".to_owned(), Value::Float(0.0))];
    let self_play = &mut without_targets.steps[1];
    (self_play.params, self_play.summary) = (Value::Group(no_targets.into()), Value::Group(entropy.into()));
    let mut with_targets = without_targets.clone();
    with_targets.steps[1].params = Value::group();
    // Its targets are single moves, however much its games differ.
    let mut alpha_beta = without_targets.clone();
    let kind = [("kind".to_owned(), Value::Text("alphabeta".to_owned()))];
    alpha_beta.steps[1].params = Value::Group([("search".to_owned(), Value::Group(kind.into()))].into());
    let html = |source: RunSource| {
        let database = Database::new(vec![source], Vec::new(), Work::Exact);
        report(&database, &[about("plain", 1)], &[]).expect("a report").html
    };
    assert!(html(without_targets).contains("no games with policy targets"));
    assert!(html(alpha_beta).contains("the latest games are those of alpha-beta"));
    assert!(html(with_targets).contains("mean entropy of the latest policy targets 0;"));
}

#[test]
fn values_of_1_and_minus_1_are_in_the_outermost_bins() {
    let report = reported(&[("plain", 1)]);
    let Marks::Series(values) = &chart(&report, "calibration-0").marks else { panic!("series") };
    let xs: Vec<f64> = values.iter().flat_map(|series| series.points.iter().map(|point| point.x)).collect();
    assert_eq!(xs, [1.0, -1.0]);
    // Two placements in eight positions of the first iteration.
    let Marks::Series(unique) = &chart(&report, "unique-positions").marks else { panic!("series") };
    assert_eq!(unique[0].points.iter().map(|point| point.y).collect::<Vec<_>>(), [0.25, 0.5]);
}

#[test]
fn openings_from_different_starts_are_distinct() {
    let folder = tempfile::tempdir().expect("a folder");
    let source = source("plain", folder.path());
    let without_rook = START.replacen("nr/", "n1/", 1).replace("KQkq", "KQq");
    let game = |game: u32| GameRow {
        start_fen: if game == 3 { without_rook.clone() } else { START.to_owned() },
        ..game_row(game)
    };
    let games: Vec<GameRow> = (0..4).map(game).collect();
    let path = "games/iteration=0000/part-0a-00000.parquet";
    write_table(folder.path(), path, &games, &Provenance::new()).expect("valid rows");
    let report = drawn(source);
    let Marks::Series(openings) = &chart(&report, "unique-openings").marks else { panic!("series") };
    assert_eq!(openings[0].points[0].y, 0.5);
}

/// The x values of a chart's only series.
fn xs(chart: &Chart) -> Vec<f64> {
    let Marks::Series(series) = &chart.marks else { panic!("{} has no series", chart.name) };
    series[0].points.iter().map(|point| point.x).collect()
}

#[test]
fn losses_are_drawn_against_updates_and_against_time() {
    let folder = tempfile::tempdir().expect("a folder");
    let source = source("plain", folder.path());
    store_training(folder.path(), 1);
    store_training(folder.path(), 2);
    let database = Database::new(vec![source.clone()], Vec::new(), Work::Exact);
    let drawn = report(&database, &[about("plain", 1)], &[]).expect("a report");
    assert_eq!(xs(chart(&drawn, "loss")), [10.0, 20.0, 30.0, 40.0]);
    // Steps take a minute each; the trainings are the third and the fifth one.
    let minutes: Vec<f64> = xs(chart(&drawn, "loss-time")).iter().map(|hours| 60.0 * hours).collect();
    let expected = [2.5, 3.0, 4.5, 5.0];
    assert!(
        minutes.iter().zip(expected).all(|(found, expected)| (found - expected).abs() < 1e-9),
        "{minutes:?}"
    );
    // Without times in the journal there is no chart of them.
    let mut untimed = source;
    untimed.steps.iter_mut().for_each(|step| step.seconds = None);
    let database = Database::new(vec![untimed], Vec::new(), Work::Exact);
    let drawn = report(&database, &[about("plain", 1)], &[]).expect("a report");
    assert!(drawn.charts.iter().all(|chart| chart.name != "loss-time"));
}

#[test]
fn held_out_losses_are_at_the_updates_of_their_trainings() {
    let folder = tempfile::tempdir().expect("a folder");
    let source = source("plain", folder.path());
    store_training(folder.path(), 1);
    store_training(folder.path(), 2);
    // The first training held nothing out.
    let rows = [0, 20].map(|update| ValidationRow { update, loss: 1.0, ..ValidationRow::default() });
    write_table(folder.path(), "validation/0002.parquet", &rows, &Provenance::new()).expect("valid rows");
    let database = Database::new(vec![source], Vec::new(), Work::Exact);
    let drawn = report(&database, &[about("plain", 1)], &[]).expect("a report");
    let Marks::Series(series) = &chart(&drawn, "loss").marks else { panic!("series") };
    let held_out = series.iter().find(|series| series.name == "held out").expect("a curve");
    assert_eq!(held_out.points.iter().map(|point| point.x).collect::<Vec<_>>(), [20.0, 40.0]);
}

#[test]
fn an_anchor_with_its_own_search_has_the_same_name_everywhere() {
    let folder = tempfile::tempdir().expect("a folder");
    let source = source("plain", folder.path());
    store_match_of(folder.path(), 0, 8, [id(1), format!("{}@own", id(0))]);
    let database = Database::new(vec![source], Vec::new(), Work::Exact);
    let html = report(&database, &[about("plain", 1)], &[]).expect("a report").html;
    assert!(html.contains("is rated +0 Elo over net 0000@own"), "{html}");
    assert!(html.contains("<td>0000@own</td>") && !html.contains(&format!("{}@own", id(0))));
}

#[test]
fn time_beside_other_steps_counts_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let source = source("plain", folder.path());
    let floats = |cells: [f64; 6]| cells.map(Value::Float).to_vec();
    let columns = [
        ("step", (0..6).map(Value::Int).collect()),
        ("seconds", floats([60.0; 6])),
        ("waited", floats([60.0, 10.0, 60.0, 60.0, 60.0, 60.0])),
        ("cpu_seconds", floats([100.0; 6])),
    ];
    let columns =
        columns.map(|(name, cells)| WideColumn { name: name.to_owned(), cells, if_empty: WideKind::Float });
    write_wide(folder.path(), "costs.parquet", "costs", 1, &columns, &Provenance::new()).expect("writes");
    let database = Database::new(vec![source], Vec::new(), Work::Exact);
    let drawn = report(&database, &[about("plain", 1)], &[]).expect("a report");
    assert!(drawn.html.contains("in 5.17 min."), "{}", drawn.html);
    // CPU time is known up to the games that were played beside other steps.
    assert_eq!(series(chart(&drawn, "elo-cpu-time")), [("nets".to_owned(), 1)]);
    let times: Vec<f64> = {
        let Marks::Series(series) = &chart(&drawn, "elo-time").marks else { panic!("series") };
        series[0].points.iter().map(|point| (3600.0 * point.x).round()).collect()
    };
    assert_eq!(times, [60.0, 130.0, 250.0]);
}

fn drawn(source: RunSource) -> Report {
    let database = Database::new(vec![source], Vec::new(), Work::Exact);
    report(&database, &[about("plain", 1)], &[]).expect("a report")
}

/// The nets of a run with their samples per new position.
fn ratios(report: &Report) -> Vec<(f64, f64)> {
    let Marks::Series(series) = &chart(report, "reuse-total").marks else { panic!("series") };
    series[0].points.iter().map(|point| (point.x, point.y)).collect()
}

#[test]
fn reuse_counts_new_positions_that_are_trained_on() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut source = source("plain", folder.path());
    // 12 positions of imported games, and 8 of self-play, of which 4 are of fast searches.
    store_iteration_of(folder.path(), 0, 6, 6);
    store_iteration_of(folder.path(), 1, 4, 2);
    let trained = |step_number, net, seen| {
        step(step_number, "train", net, net, &[("updates", 20.0), ("samples_seen", seen)])
    };
    source.steps = vec![
        step(0, "network", 0, 0, &[]),
        step(1, "import_pgn", 0, 0, &[("games", 6.0), ("positions", 12.0)]),
        trained(2, 1, 48.0),
        step(3, "self_play", 1, 0, &[("games", 4.0), ("positions", 8.0)]),
        trained(4, 2, 40.0),
        trained(5, 3, 40.0),
    ];
    source.steps[1].network = None;
    let window = |step: u32| vec![(format!("games part-{step:08}-00000"), digest(step))];
    source.steps[2].inputs = window(1);
    // The second window holds only the games of self-play, and the third training has no new ones.
    source.steps[4].inputs = window(3);
    source.steps[5].inputs = window(3);
    let mut of_all = source.clone();
    of_all.steps[4].params.put("positions", Value::Text("all".to_owned()));
    let mut elsewhere = source.clone();
    elsewhere.steps[4].inputs = window(7);
    let own = drawn(source);
    assert_eq!(ratios(&own), [(1.0, 4.0), (2.0, 10.0)]);
    let said = own.html.replace('\u{a0}', " ");
    assert!(
        said.contains("7 samples per new position in the median of 2 trainings; warning above 4"),
        "{said}"
    );
    assert!(said.contains("It imported 6 games with 12 positions."), "{said}");
    assert_eq!(ratios(&drawn(of_all)), [(1.0, 4.0), (2.0, 5.0)]);
    let other = drawn(elsewhere);
    assert!(other.html.contains("the run trained on games of datasets or other runs, too"), "{}", other.html);
    assert!(other.charts.iter().all(|chart| chart.name != "reuse-total"));
}

/// A run whose iterations with the given numbers of games, and of games with policy targets, are by the given steps.
fn source_of(folder: &Path, steps: Vec<StepRow>, iterations: &[(u32, u32, u32)]) -> RunSource {
    let mut source = source("plain", folder);
    let (mut files, mut digests) = (Vec::new(), BTreeMap::new());
    for (iteration, (step, games, full)) in (0..).zip(iterations) {
        store_iteration_of(folder, iteration, *games, *full);
        files.extend(
            ["games", "positions"]
                .map(|table| format!("{table}/iteration={iteration:04}/part-0a-00000.parquet")),
        );
        // What a reanalysis read is known by the digests of the shards.
        let path = format!("games/iteration={iteration:04}/part-{step:08}-00000.parquet");
        digests.insert(path.clone(), FileEntry { path, rows: 0, bytes: 0, blake3: digest(*step) });
    }
    source.files = Files::Only(files);
    source.digests = digests;
    source.steps = steps;
    source
}

/// A reanalysis of the games of steps.
fn copies(index: u32, iteration: u32, steps: &[u32]) -> StepRow {
    let inputs = steps.iter().map(|step| ("games 00000".to_owned(), digest(*step))).collect();
    StepRow { inputs, ..step(index, "reanalyze", iteration, 0, &[]) }
}

/// A training on the games of a step.
fn training(index: u32, net: u32, games: u32, seen: f64) -> StepRow {
    let inputs = vec![(format!("games part-{games:08}-00000"), digest(games))];
    StepRow { inputs, ..step(index, "train", net, net, &[("updates", 20.0), ("samples_seen", seen)]) }
}

fn with_params(mut step: StepRow, params: &[(&str, Value)]) -> StepRow {
    for (name, value) in params {
        step.params.put(name, value.clone());
    }
    step
}

#[test]
fn positions_searched_again_are_new_only_where_their_games_are() {
    let folder = tempfile::tempdir().expect("a folder");
    let steps = vec![
        step(0, "network", 0, 0, &[]),
        step(1, "self_play", 0, 0, &[]),
        training(2, 1, 1, 24.0),
        step(3, "self_play", 1, 0, &[]),
        // The first training read 8 of these 12 positions.
        copies(4, 2, &[1, 3]),
        training(5, 2, 4, 24.0),
        copies(6, 3, &[1]),
        training(7, 3, 6, 24.0),
    ];
    let source = source_of(folder.path(), steps, &[(1, 4, 4), (3, 2, 2), (4, 6, 6), (6, 4, 4)]);
    assert_eq!(ratios(&drawn(source)), [(1.0, 3.0), (2.0, 6.0)]);
}

#[test]
fn positions_that_were_read_are_not_new_where_a_reanalysis_gave_them_targets() {
    let folder = tempfile::tempdir().expect("a folder");
    let all = ("positions", Value::Text("all".to_owned()));
    let steps = |share: f64| {
        vec![
            step(0, "network", 0, 0, &[]),
            step(1, "self_play", 0, 0, &[]),
            with_params(training(2, 1, 1, 24.0), std::slice::from_ref(&all)),
            step(3, "self_play", 1, 0, &[]),
            // All of these 20 positions have targets, of which the first training read 12.
            with_params(copies(4, 2, &[1, 3]), &[all.clone(), ("share", Value::Float(share))]),
            training(5, 2, 4, 24.0),
            step(6, "self_play", 3, 0, &[]),
            // These copies keep the targets that the first ones have: 20 of the 24 were read.
            copies(7, 4, &[4, 6]),
            training(8, 3, 7, 24.0),
        ]
    };
    let iterations = [(1, 6, 1), (3, 4, 1), (4, 10, 10), (6, 2, 2), (7, 12, 12)];
    let source = |share| source_of(folder.path(), steps(share), &iterations);
    assert_eq!(ratios(&drawn(source(1.0))), [(1.0, 2.0), (2.0, 3.0), (3.0, 6.0)]);
    // How many of those that were read have a target by chance is not known.
    assert_eq!(ratios(&drawn(source(0.9))), [(1.0, 2.0)]);
}

#[test]
fn games_of_datasets_that_were_read_leave_the_number_of_new_positions_open() {
    let folder = tempfile::tempdir().expect("a folder");
    let of_dataset = 77;
    let steps = vec![
        step(0, "network", 0, 0, &[]),
        copies(1, 0, &[of_dataset]),
        training(2, 1, 1, 24.0),
        step(3, "self_play", 1, 0, &[]),
        copies(4, 2, &[of_dataset, 3]),
        training(5, 2, 4, 24.0),
        step(6, "self_play", 3, 0, &[]),
        training(7, 3, 6, 24.0),
    ];
    let source = source_of(folder.path(), steps, &[(1, 4, 4), (3, 2, 2), (4, 6, 6), (6, 3, 3)]);
    assert_eq!(ratios(&drawn(source)), [(1.0, 3.0), (3.0, 4.0)]);
}

#[test]
fn a_net_measured_on_stored_games_has_a_row_of_its_figures() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut source = source("plain", folder.path());
    let drawn = |source: &RunSource| {
        let database = Database::new(vec![source.clone()], Vec::new(), Work::Exact);
        report(&database, &[about("plain", 1)], &[]).expect("a report").html
    };
    assert!(drawn(&source).contains("no net was measured on stored games"));
    let figures = [("games", 3.0), ("positions", 1234.0), ("policy_loss", 2.5), ("policy_accuracy", 0.25)];
    source.steps.push(step(6, "validate", 0, 2, &figures));
    let html = drawn(&source);
    let table = html.rsplit("Nets on stored games").next().expect("a table");
    let row: String = table.split("<td>0000</td>").nth(1).expect("a row").chars().take(400).collect();
    for cell in [&id(2), "3", "1234", "2.500", "25.0", "–"] {
        assert!(row.contains(cell), "{cell} is not in {row}");
    }
}

#[test]
fn a_comparison_has_the_curves_of_all_runs_in_the_same_charts() {
    let folders = [(); 2].map(|()| tempfile::tempdir().expect("a folder"));
    let source = |(name, folder): (&str, &tempfile::TempDir)| {
        store_training(folder.path(), 1);
        source(name, folder.path())
    };
    let sources: Vec<RunSource> = ["a", "b"].into_iter().zip(&folders).map(source).collect();
    let database = Database::new(sources, Vec::new(), Work::Exact);
    let compared = comparison(&database, &[about("a", 1), about("b", 1)]).expect("a comparison");
    let names =
        |name: &str| series(chart(&compared, name)).into_iter().map(|(name, _)| name).collect::<Vec<_>>();
    assert_eq!(names("loss"), ["a, training", "b, training"]);
    assert_eq!(names("elo-net"), ["a, nets", "b, nets"]);
    // Games are not read.
    assert!(!compared.html.contains("id=\"sample-games\"") && !compared.html.contains("id=\"calibration\""));
}

#[test]
fn a_kind_of_step_has_the_same_colour_in_the_times_of_all_runs() {
    let folders = [(); 2].map(|()| tempfile::tempdir().expect("a folder"));
    let first = source("first", folders[0].path());
    let mut second = source("second", folders[1].path());
    second.steps[0] = step(0, "load_network", 0, 0, &[]);
    second.steps.truncate(3);
    let database = Database::new(vec![first, second], Vec::new(), Work::Exact);
    let report = report(&database, &[about("first", 1), about("second", 1)], &[]).expect("a report");
    let kinds = |name: &str| -> Vec<(String, Ink)> {
        let Marks::Stacks { parts, .. } = &chart(&report, name).marks else { panic!("{name} has no stacks") };
        parts.iter().map(|part| (part.name.clone(), part.ink)).collect()
    };
    let expected = |kinds: &[(&str, usize)]| -> Vec<(String, Ink)> {
        kinds.iter().map(|(name, index)| ((*name).to_owned(), Ink::Series(*index))).collect()
    };
    assert_eq!(kinds("time-0"), expected(&[("network", 0), ("self_play", 1), ("train", 2), ("arena", 3)]));
    assert_eq!(kinds("time-1"), expected(&[("self_play", 1), ("train", 2), ("load_network", 4)]));
}

#[test]
fn a_chart_has_its_data_for_the_pages_script() {
    let page = reported(&[("plain", 1)]).html;
    let figures = page.matches("<figure id=").count();
    assert_eq!(page.matches("<script type=\"application/json\" class=\"data\">").count(), figures);
    assert!(page.contains("uPlot") && page.contains("startCharts();") && !page.contains("import {"));
}

#[test]
fn names_and_parameters_are_escaped() {
    let hostile = "<script>alert('1')</script>\"&";
    let report = reported(&[(hostile, 1), ("second", 2)]);
    assert!(!report.html.contains("<script>alert") && !report.html.contains("</script><b>"));
    assert!(report.html.contains("&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;&quot;&amp;"));
    assert!(!report.html.contains("</pre><script>"));
    assert_eq!(
        series(chart(&report, "elo-net")).iter().map(|(_, points)| *points).collect::<Vec<_>>(),
        [3, 2, 1]
    );
}

#[test]
fn element_ids_are_unique() {
    let html = reported(&[("a", 1), ("b", 2)]).html;
    let mut names: Vec<&str> =
        html.split(" id=\"").skip(1).filter_map(|rest| rest.split_once('"')).map(|(name, _)| name).collect();
    let all = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), all, "{names:?}");
    let charts: BTreeSet<&str> = names.into_iter().collect();
    assert!(charts.contains("time-0") && charts.contains("time-1"));
}

/// The cells of a player's row in the table of ratings.
fn rating_cells(html: &str, player: &str) -> Vec<String> {
    let table = html.split(">Elo per hour</th>").nth(1).expect("the table of ratings");
    let row = table
        .split(&format!("<td>{player}</td>"))
        .nth(1)
        .expect("a row")
        .split("</tr>")
        .next()
        .expect("an end");
    row.split("</td>").filter_map(|cell| Some(cell.rsplit_once('>')?.1.to_owned())).collect()
}

#[test]
fn what_is_gained_over_the_anchor_is_divided_by_the_time_after_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let source = source("plain", folder.path());
    // Net 1 loses every fourth game, as often with White as with Black.
    store_match_scored(folder.path(), 0, 8, [id(1), id(0)], |game| {
        f64::from(u8::from(![0, 5].contains(&(game % 8))))
    });
    let html = drawn(source).html;
    let [anchor, stronger] = ["0000", "0001"].map(|player| rating_cells(&html, player));
    let per_hour = |cells: &[String]| cells[cells.len() - 2].clone();
    assert_eq!(per_hour(&anchor), "–");
    // Steps take a minute each; net 0 is made by the first, and net 1 by the third.
    let elo: f64 = stronger[1].parse().expect("Elo");
    let rate: f64 = per_hour(&stronger).parse().expect("Elo per hour");
    assert!(elo > 50.0 && (rate / elo - 30.0).abs() < 0.5, "{stronger:?}");
}

#[test]
fn games_ended_by_the_ply_cap_are_no_draws_of_an_iteration() {
    let folder = tempfile::tempdir().expect("a folder");
    let source = source("plain", folder.path());
    let games: Vec<GameRow> = (0..4)
        .map(|game| GameRow {
            reason: if game < 2 { Reason::Threefold.into() } else { Reason::PlyCap.into() },
            ..game_row(game)
        })
        .collect();
    let path = "games/iteration=0000/part-0a-00000.parquet";
    write_table(folder.path(), path, &games, &Provenance::new()).expect("valid rows");
    let html = drawn(source).html;
    let (_, tile) = html.split_once("draws in the last iteration (4 games)").expect("a tile");
    let tile: String = tile.chars().take(80).collect();
    assert!(tile.contains(">25 %<"), "{tile}");
}

#[test]
fn overfitting_is_judged_by_squared_errors() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut source = source("plain", folder.path());
    let judged = |source: &RunSource| {
        let html = drawn(source.clone()).html;
        let (_, found) = html.split_once("Overfitting").expect("the check");
        found.chars().take(400).collect::<String>()
    };
    // Cross-entropies do not differ by as much as AlphaGo's squared errors.
    let losses = [("validation_value_loss", 3.0), ("value_loss", 1.0)];
    source.steps[4] = step(4, "train", 2, 2, &losses);
    assert!(judged(&source).contains("no held-out games with a result"), "{}", judged(&source));
    source.steps[4] =
        step(4, "train", 2, 2, &[losses[0], ("value_loss", 2.9), ("validation_brier", 0.6), ("brier", 0.2)]);
    let found = judged(&source);
    assert!(found.contains("0.6 on held-out games and 0.2 in training, a ratio of 3;"), "{found}");
    // The value loss of a scalar head is a squared error.
    let scalar = Value::of([("kind", Value::Text("scalar".to_owned()))]);
    source.steps[0].params = Value::of([("value_head", scalar)]);
    source.steps[4] = step(4, "train", 2, 2, &losses);
    assert!(judged(&source).contains("a ratio of 3;"), "{}", judged(&source));
}

#[test]
fn only_budgets_of_nets_without_a_search_of_their_own_are_compared() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut source = source("plain", folder.path());
    let search = |simulations: i64| Value::of([("simulations", Value::Int(simulations))]);
    let own = |search: Value| Value::of([("alphabeta", Value::None), ("search", search)]);
    let params = |simulations, first: Value| {
        Value::of([("search", search(simulations)), ("first", first), ("second", own(Value::None))])
    };
    let is_noted = |source: &RunSource| drawn(source.clone()).html.contains("different search budgets");
    source.steps[3].params = params(4, own(Value::None));
    source.steps[5].params = params(800, own(Value::None));
    assert!(is_noted(&source));
    // The players of the second match have no net, or bring their search along.
    store_match_of(folder.path(), 1, 8, ["greedy".to_owned(), "random".to_owned()]);
    assert!(!is_noted(&source));
    store_match_of(folder.path(), 1, 8, [format!("{}@own", id(1)), "random".to_owned()]);
    source.steps[5].params = params(800, own(search(16)));
    assert!(!is_noted(&source));
}

/// Four complete trials, one of them without a value for a parameter, and a failed one with a text that no other has.
fn store_trials(folder: &Path) {
    let text = |text: &str| Value::Text(text.to_owned());
    let float = |values: [f64; 4]| values.map(Value::Float).into_iter().chain([Value::None]).collect();
    let columns = [
        ("trial", (0..5).map(Value::Int).collect()),
        ("state", [vec![text("complete"); 4], vec![text("failed")]].concat()),
        ("value", float([1.0, 2.0, 3.0, 4.0])),
        ("low", float([0.5, 1.5, 2.5, 3.5])),
        ("high", float([1.5, 2.5, 3.5, 4.5])),
        ("games", float([2.0; 4])),
        ("evaluations", float([10.0; 4])),
        ("param_rate", float([0.001, 0.01, 0.1, 1.0])),
        ("param_considered", vec![Value::Int(4), Value::None, Value::Int(8), Value::Int(16), text("all")]),
    ];
    let columns =
        columns.map(|(name, cells)| WideColumn { name: name.to_owned(), cells, if_empty: WideKind::Float });
    write_wide(folder, "trials.parquet", "trials", 1, &columns, &Provenance::new()).expect("writes");
}

/// The sweep `s` of a folder.
fn sweep_database(folder: &Path) -> Database {
    let (name, folder, trials) = ("s".to_owned(), folder.to_owned(), Provenance::new());
    Database::new(Vec::new(), vec![SweepSource { name, folder, trials, has_values: true }], Work::Exact)
}

#[test]
fn a_sweep_shows_trials_without_a_parameter_too() {
    let folder = tempfile::tempdir().expect("a folder");
    store_trials(folder.path());
    let database = sweep_database(folder.path());
    let sweep = ReportSweep {
        name: "s".to_owned(),
        objective: "elo".to_owned(),
        maximize: true,
        importances: Vec::new(),
        logarithmic: vec!["rate".to_owned()],
        failures: vec![(4, "all <b>is</b> lost".to_owned())],
    };
    let shares = [("rate", 0.7), ("considered", 0.3)].map(|(name, share)| (name.to_owned(), share));
    let important = ReportSweep { importances: shares.to_vec(), ..sweep.clone() };
    let important = report(&database, &[], &[important]).expect("a report");
    // A parameter without a number in some trials is on the horizontal axis, which has labels.
    let plane = chart(&important, "pair-0-1-0");
    assert_eq!((plane.x.labels.len(), plane.y.scale), (1, Scale::Logarithm));
    assert_eq!(series(plane).iter().map(|(_, points)| *points).collect::<Vec<_>>(), [1; 4]);
    assert!(!important.html.contains("from eight complete trials on"));
    let report = report(&database, &[], &[sweep]).expect("a report");
    assert!(report.html.contains("from eight complete trials on"));
    assert!(report.html.contains("<td>0004</td><td>all &lt;b&gt;is&lt;/b&gt; lost</td>"));
    let Marks::Series(history) = &chart(&report, "history-0").marks else { panic!("series") };
    let values = |index: usize| history[index].points.iter().map(|point| point.y).collect::<Vec<_>>();
    assert_eq!(values(0), [1.0, 2.0, 3.0, 4.0]);
    assert_eq!(values(1), [1.0, 1.0, 2.0, 2.0, 3.0, 3.0, 4.0]);
    let parallel = chart(&report, "parallel-0");
    let Marks::Parallel { axes, lines } = &parallel.marks else { panic!("lines") };
    assert_eq!(lines.len(), 4);
    let rows = parallel.table();
    assert_eq!(rows[0], ["trial", "best", "rate", "considered", "elo"]);
    // The page has the values of the lines, and where they are in both of its pictures.
    let (_, data) =
        report.html.split_once("<script type=\"application/json\" class=\"lines\">").expect("lines");
    let data: serde_json::Value =
        serde_json::from_str(data.split_once("</script>").expect("an end").0).expect("JSON");
    assert_eq!(data["axes"], serde_json::json!(["rate", "considered", "elo"]));
    let line = data["lines"].as_array().expect("a list").iter().find(|line| line["name"] == "0001");
    let line = line.expect("the trial");
    assert_eq!(
        (&line["values"][0], &line["values"][1]),
        (&serde_json::json!("0.01"), &serde_json::json!("not set"))
    );
    assert!((line["heights"][0].as_f64().expect("a height") - 1.0 / 3.0).abs() < 1e-6, "{line}");
    let pictures = data["pictures"].as_array().expect("a list");
    for picture in pictures {
        let across: Vec<f64> = picture["across"]
            .as_array()
            .expect("axes")
            .iter()
            .filter_map(serde_json::Value::as_f64)
            .collect();
        assert!(
            across.len() == 3
                && across.is_sorted()
                && across[2] < picture["width"].as_f64().expect("a width")
        );
        assert!(picture["top"].as_f64() < picture["bottom"].as_f64(), "{picture}");
    }
    assert_eq!(pictures.len(), 2);
    let without = rows.iter().find(|row| row[0] == "0001").expect("the trial");
    assert_eq!(without[..4], ["0001", "no", "0.01", "not set"]);
    let labels: Vec<&str> = axes[1].labels.iter().map(|(_, label)| label.as_str()).collect();
    assert_eq!((axes[0].scale, labels), (Scale::Logarithm, vec!["not set"]));
    assert_eq!(chart(&report, "slice-0-0").x.scale, Scale::Logarithm);
    assert!(report.html.contains("the run of each trial has a report of its own"));
    assert!(!report.html.contains("NaN"));
}

#[test]
fn trials_that_tie_are_all_among_the_best_and_small_values_are_shown() {
    let folder = tempfile::tempdir().expect("a folder");
    let states = ["complete", "complete", "complete", "stale", "paused", "failed", "pruned", "complete"];
    let columns = [
        ("trial", (0..8).map(Value::Int).collect()),
        ("state", states.map(|state| Value::Text(state.to_owned())).to_vec()),
        (
            "value",
            [0.075, 0.075, f64::midpoint(0.05, 0.1), 0.9, 0.8, 0.7, 0.6, 2e-5].map(Value::Float).to_vec(),
        ),
        ("low", vec![Value::None; 8]),
        ("high", vec![Value::None; 8]),
        ("games", vec![Value::None; 8]),
        ("evaluations", vec![Value::None; 8]),
        ("param_rate", (0..8).map(|trial| Value::Float(f64::from(trial))).collect()),
        ("param_width", (0..8).map(|trial| Value::Float(f64::from(trial % 3))).collect()),
    ];
    let columns =
        columns.map(|(name, cells)| WideColumn { name: name.to_owned(), cells, if_empty: WideKind::Float });
    write_wide(folder.path(), "trials.parquet", "trials", 1, &columns, &Provenance::new()).expect("writes");
    let database = sweep_database(folder.path());
    let sweep = ReportSweep {
        name: "s".to_owned(),
        objective: "elo".to_owned(),
        maximize: true,
        importances: ["rate", "width"].map(|name| (name.to_owned(), 0.5)).to_vec(),
        logarithmic: Vec::new(),
        failures: Vec::new(),
    };
    let report = report(&database, &[], &[sweep]).expect("a report");
    let Marks::Parallel { lines, .. } = &chart(&report, "parallel-0").marks else { panic!("lines") };
    assert_eq!(lines.iter().map(|line| line.best).collect::<Vec<_>>(), [true, true, true, false]);
    let quarters: Vec<usize> =
        series(chart(&report, "pair-0-0-1")).into_iter().map(|(_, points)| points).collect();
    assert_eq!(quarters, [1, 0, 0, 3]);
    let html = &report.html;
    assert!(html.contains("Its differences to 2 other trials are 0") && html.contains("2.0000e−5"), "{html}");
    assert!(html.contains("How far chance alone makes trials differ is not known."));
    let (_, board) = html.split_once("Leaderboard").expect("a leaderboard");
    let positions =
        ["0007", "0004", "0006", "0005", "0003"].map(|trial| board.find(&format!("<td>{trial}</td>")));
    assert!(positions.is_sorted() && positions[0].is_some(), "{positions:?}");
}
