//! Explanations of a fake net, whose answers are the same on every machine.

use dc0_core::board::Game;
use dc0_core::encoding::{EncodingName, Orientation};
use dc0_core::event::Silent;
use dc0_core::network::fake::Hashed;
use dc0_core::network::{MovesLeftHeadSpec, NetworkSpec, ValueCalibration};
use dc0_core::params::Value;
use dc0_core::search::{MovesLeftParams, RootParams, RootRule, SearchParams};

use super::params::ExplainParams;
use super::study::{StudiedNet, Study};
use super::{page, picture, position, text, value};
use crate::score::ScoreFit;
use dc0_process::format::counted;
use dc0_process::style::{PLAIN, TermStyle};

/// A fit that changes every score.
const FIT: ScoreFit =
    ScoreFit { values: ValueCalibration { factor: 1.0, value: 0.65, draw: 2.3 }, scale: 1170.0 };

fn study(position: &str, params: ExplainParams) -> Study {
    let game = super::position(position).expect("a game that goes on");
    let encoding = dc0_core::encoding::Encoding::new(EncodingName::Dc0, Orientation::SideToMove);
    let mut evaluator = Hashed::new(encoding, 5).with_moves_left();
    let moves_left_head = params.search.moves_left.is_some().then(MovesLeftHeadSpec::default);
    let spec = NetworkSpec { moves_left_head, ..NetworkSpec::default() };
    let net = StudiedNet { name: "made up".to_owned(), spec: &spec, fit: FIT };
    Study::new(game, &net, params, &mut evaluator, &Silent).expect("fakes do not fail")
}

fn small(simulations: u32) -> ExplainParams {
    let search = SearchParams { simulations, ..SearchParams::default() };
    ExplainParams { search, depth: 3, top: 4, ..ExplainParams::default() }
}

const MATE: &str = "6k1/5ppp/8/8/8/8/5PPP/3R2K1 w - - 0 1";

/// The page of a fake net, checked in; `DC0_UPDATE=1` rewrites it.
#[test]
fn the_page_equals_the_golden_file() {
    let shown = text::page(&study(MATE, small(60)), PLAIN);
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/src/explain/golden.txt");
    if std::env::var_os("DC0_UPDATE").is_some() {
        std::fs::write(file, format!("{shown}\n")).expect("writes");
    }
    let expected = std::fs::read_to_string(file).expect("is checked in");
    assert_eq!(format!("{shown}\n"), expected);
    assert!(shown.is_ascii() && shown.lines().all(|line| line.len() < 100), "{shown}");
}

#[test]
fn moves_left_have_a_column_where_they_count() {
    let moves_left = MovesLeftParams { threshold: 0.0, constant_factor: 1.0, ..MovesLeftParams::default() };
    let search = SearchParams { moves_left: Some(moves_left), ..small(200).search };
    let counting = study("startpos", ExplainParams { search, ..small(1) });
    let plain = study("startpos", small(200));
    for (study, title) in [(&counting, "       U       M  Q + U + M"), (&plain, "       U   Q + U")] {
        let shown = text::page(study, PLAIN);
        assert!(shown.contains(title), "{shown}");
    }
    assert!(page::page(&counting).contains("<th class=\"n\">M<th class=\"n\">Q + U + M"));
    let value = value::value(&counting);
    let Some(Value::List(moves)) = value.member("search").and_then(|search| search.member("moves")) else {
        panic!("no moves")
    };
    for mv in moves {
        let [q, u, plies, score] = ["q", "u", "plies", "score"].map(|name| mv.figure(name));
        if let (Some(q), Some(u), Some(plies), Some(score)) = (q, u, plies, score) {
            assert!((q + u + plies - score).abs() < 1e-9, "{mv:?}");
        }
    }
}

#[test]
fn every_option_gives_a_page_and_a_picture() {
    let unicode = TermStyle { is_unicode: true, is_coloured: false };
    let gumbel = RootParams { rule: RootRule::Gumbel, ..RootParams::default() };
    for position in ["startpos", "startpos moves e2e4", MATE, "8/8/8/8/8/3k4/4p3/4K3 w - - 96 90"] {
        for params in [
            small(1),
            small(2),
            ExplainParams { steps: 5, ..small(30) },
            ExplainParams { top: 218, depth: 40, share: 0.0, ..small(200) },
            ExplainParams { search: SearchParams { graph: true, ..small(200).search }, ..small(1) },
            ExplainParams { search: SearchParams { root: gumbel.clone(), ..small(50).search }, ..small(1) },
        ] {
            let study = study(position, params);
            let shown = text::page(&study, unicode);
            assert!(shown.lines().all(|line| line.chars().count() < 130), "{shown}");
            let after = counted(study.search.visits() as usize, "simulation");
            assert!(shown.contains(&format!("after {after}")));
            is_well_formed(&picture::standalone(&study));
            assert!(page::page(&study).contains("</html>"));
        }
    }
}

/// Checks that the SVG is well-formed XML and that every `use` has its definition.
fn is_well_formed(svg: &str) {
    let document = roxmltree::Document::parse(svg).unwrap_or_else(|error| panic!("{error}\n{svg}"));
    assert_eq!(document.root_element().tag_name().name(), "svg");
    let ids: Vec<&str> = document.descendants().filter_map(|node| node.attribute("id")).collect();
    for node in document.descendants().filter(|node| node.has_tag_name(("http://www.w3.org/2000/svg", "use")))
    {
        let target = node.attribute("href").expect("a `use` has a reference");
        assert!(ids.contains(&target.trim_start_matches('#')), "{target}");
    }
    assert!(!svg.contains("NaN") && !svg.contains("inf"));
}

#[test]
fn good_and_bad_moves_differ_in_shape() {
    let svg = picture::standalone(&study("startpos", small(200)));
    // A label hides the edges behind it, and says "1 visit".
    let labels = svg.matches("<tspan class=\"name\">").count();
    assert_eq!(svg.matches("<rect class=\"paper\"").count(), labels + 1);
    let all = picture::standalone(&study("startpos", ExplainParams { share: 0.0, ..small(60) }));
    assert!(all.contains(">1 visit, P ") && !all.contains(">1 visits"));
    assert!(svg.contains("<circle class=\"good") && svg.contains("<rect class=\"bad"));
}

#[test]
fn the_value_holds_the_results_of_the_search() {
    let study = study("startpos moves e2e4", ExplainParams { steps: 3, ..small(40) });
    let value = value(&study);
    let search = value.member("search").expect("a group");
    assert_eq!(search.member("simulations"), Some(&Value::Int(40)));
    assert_eq!(search.member("value"), Some(&Value::Float(study.search.root_value().value)));
    // What the engine would show of the same search.
    let shown = FIT.of_root(&study.search, &study.search.lines(1));
    let score = search.member("in_games").expect("a group");
    assert_eq!(score.member("cp"), Some(&Value::Int(shown.centipawns)));
    assert_eq!(score.member("win"), Some(&Value::Float(shown.wdl()[0])));
    let first = |group: &Value| match group.member("moves") {
        Some(Value::List(moves)) => moves[0].clone(),
        _ => panic!("no moves"),
    };
    let line = FIT.of_line(&study.search, &study.search.lines(1)[0]);
    let best = first(search);
    assert_eq!(
        best.member("in_games").and_then(|score| score.member("cp")),
        Some(&Value::Int(line.centipawns))
    );
    assert_eq!(value.member("side"), Some(&Value::Text("Black".to_owned())));
    let Some(Value::List(steps)) = value.member("steps") else { panic!("steps are a list") };
    assert_eq!(steps.len(), 3);
    let Some(Value::List(tree)) = value.member("tree") else { panic!("a tree is a list") };
    let visits = |row: &Value| row.figure("visits").expect("a number");
    assert!(!tree.is_empty() && tree.iter().all(|row| visits(row) >= 1.0));
}

#[test]
fn an_explanation_is_reproducible() {
    let once = || text::page(&study("startpos", small(100)), PLAIN);
    assert_eq!(once(), once());
}

#[test]
fn bad_positions_are_rejected_with_the_reason() {
    let refused = |text: &str| position(text).expect_err(text).to_string();
    assert!(refused("x").contains("is not a FEN"));
    assert!(refused("startpos moves e2e5").contains("\"e2e5\", is not legal"));
    let over = refused("7k/5Q2/6K1/8/8/8/8/8 b - - 0 1");
    assert!(over.ends_with("(stalemate), so there is nothing to search"), "{over}");
    assert!(refused("nowhere:1:2@3").contains("nowhere is not the folder of a run"));
    assert!(refused("nowhere:x:2@3").contains("the iteration is \"x\", not a number"));
    assert!(refused("a@3").contains("too few parts"));
    assert_eq!(
        Game::from_text("startpos").expect("a game").ply(),
        position("startpos").expect("a game").ply()
    );
}
