#![allow(
    unreachable_pub,
    reason = "the macros declare public items, and nothing outside this module can use them"
)]

use super::{Param, Params, Schedule, Value, read};
use crate::{param_enum, params};

param_enum! {
    /// A colour.
    pub enum Paint {
        /// Red.
        Red = "red",
        /// Blue.
        Blue = "blue",
    }
}

params! {
    /// Noise mixed into the root prior.
    pub struct Noise {
        /// Concentration.
        alpha: f64 = 0.3, in 0.001..=10.0;
        /// Share of noise.
        fraction: f64 = 0.25, in 0.0..=1.0;
    }
}

params! {
    /// An example with every kind of parameter.
    pub struct Example {
        /// Simulations for each move.
        simulations: u32 = 800, in 1..=1_000_000;
        /// Exploration constant.
        c_puct: f64 = 1.25, in 0.0..=10.0;
        /// Mixed into the root.
        noise: Noise = Noise::default();
        /// A choice.
        paint: Paint = Paint::Red;
        /// Numbers.
        sizes: Vec<u32> = vec![1, 2], in 1..=9;
        /// May be absent.
        cap: Option<u32> = None, in 1..=100;
        /// Changes with the ply.
        temperature: Schedule = Schedule::constant(1.0), in 0.0..=10.0;
        /// On or off.
        gate: bool = true;
        /// A name.
        name: String = "x".to_owned();
    }
    check |example| {
        if example.simulations < 10 && example.gate {
            vec![("gate", "needs at least 10 simulations".to_owned())]
        } else {
            vec![]
        }
    };
}

params! {
    /// A group with a shorthand.
    pub struct Coat {
        /// A choice.
        paint: Paint = Paint::Red;
        /// Coats of paint.
        layers: u32 = 1, in 1..=9;
    }
    shorthand paint;
}

params! {
    /// A group in which one field decides about another.
    pub struct Lamp {
        /// A choice.
        paint: Paint = Paint::Red;
        /// Only for red lamps.
        watts: u32 = 40, in 1..=99;
        /// For all lamps.
        height: u32 = 2, in 1..=9;
    }
    unused |lamp| {
        let reason = || ("watts", "is of red lamps; leave it out".to_owned());
        (lamp.paint != Paint::Red).then(reason).into_iter().collect()
    };
}

#[test]
fn fields_without_a_use_are_refused_and_no_part_of_the_value() {
    let other = Paint::NAMES.iter().find(|name| **name != "red").expect("two paints");
    let given = |json: &str| value(&json.replace("OTHER", other));
    let error = read::<Lamp>("lamp", &given(r#"{"paint": "OTHER", "watts": 40, "height": 12}"#)).unwrap_err();
    let expected = "lamp: 2 problems in its parameters\n  height: must lie in 1..=9, got 12\n  \
        watts: is of red lamps; leave it out";
    assert_eq!(error.to_string(), expected);
    let lamp = read::<Lamp>("lamp", &given(r#"{"paint": "OTHER"}"#)).expect("no problem");
    assert_eq!(lamp.to_value(), given(r#"{"paint": "OTHER", "height": 2}"#));
    assert_eq!(read::<Lamp>("lamp", &lamp.to_value()), Ok(lamp));
    assert_eq!(Lamp::default().to_value(), given(r#"{"paint": "red", "watts": 40, "height": 2}"#));
}

fn value(json: &str) -> Value {
    serde_json::from_str(json).expect("test JSON")
}

fn errors(json: &str) -> String {
    read::<Example>("search", &value(json)).expect_err("has problems").to_string()
}

#[test]
fn an_empty_group_is_the_default_and_defaults_lie_in_their_ranges() {
    assert_eq!(read::<Example>("x", &Value::group()), Ok(Example::default()));
    let written = Example::default().to_value();
    assert_eq!(read::<Example>("x", &written), Ok(Example::default()));
}

#[test]
fn whole_numbers_are_accepted_as_numbers() {
    assert_eq!(read::<Example>("x", &value(r#"{"c_puct": 2}"#)).unwrap().c_puct, 2.0);
}

#[test]
fn all_problems_are_reported_at_once_with_paths_and_hints() {
    let expected = "search: 5 problems in its parameters
  c_puc: unknown parameter; did you mean `c_puct`?
  simulations: must lie in 1..=1000000, got -3
  noise.alpha: expected a number, got \"x\" (text)
  noise.fraction: must lie in 0.0..=1.0, got 1.5
  paint: expected one of red, blue, got \"green\"";
    let given =
        r#"{"c_puc": 1, "simulations": -3, "noise": {"alpha": "x", "fraction": 1.5}, "paint": "green"}"#;
    assert_eq!(errors(given), expected);
}

#[test]
fn problems_name_the_wrong_item_of_lists_options_and_groups() {
    let expected = "search: 3 problems in its parameters
  noise: expected a group #{…}, got 1 (whole number)
  sizes[1]: must lie in 1..=9, got 10
  cap: must lie in 1..=100, got 0";
    assert_eq!(errors(r#"{"sizes": [1, 10], "cap": 0, "noise": 1}"#), expected);
    assert_eq!(read::<Example>("x", &value(r#"{"cap": null}"#)).unwrap().cap, None);
}

#[test]
fn fractions_are_not_whole_numbers_and_nan_is_rejected() {
    assert!(errors(r#"{"simulations": 1.5}"#).contains("expected a whole number, got 1.5 (number)"));
    let nan = Value::Group([("c_puct".to_owned(), Value::Float(f64::NAN))].into());
    assert!(read::<Example>("x", &nan).is_err());
}

#[test]
fn checks_across_fields_run_once_the_fields_are_valid() {
    assert!(errors(r#"{"simulations": 5}"#).contains("gate: needs at least 10 simulations"));
    assert!(read::<Example>("x", &value(r#"{"simulations": 5, "gate": false}"#)).is_ok());
}

#[test]
fn a_text_stands_for_a_group_with_a_shorthand() {
    let coat = |json| read::<Coat>("coat", &value(json));
    assert_eq!(coat(r#""blue""#), Ok(Coat { paint: Paint::Blue, layers: 1 }));
    assert_eq!(coat(r#"{"layers": 2}"#), Ok(Coat { paint: Paint::Red, layers: 2 }));
    let wrong = coat(r#""green""#).expect_err("no such paint").to_string();
    assert_eq!(wrong, "coat: 1 problem in its parameters\n  paint: expected one of red, blue, got \"green\"");
    assert!(errors(r#""red""#).contains("expected a group #{…}, got \"red\" (text)"));
}

#[test]
fn schedules_are_read_from_points() {
    let points =
        read::<Example>("x", &value(r#"{"temperature": [[0, 1.0], [2, 0.5]]}"#)).unwrap().temperature;
    assert_eq!(Some(&points), Schedule::from_samples(&[1.0, 1.0, 0.5, 0.5]).as_ref());
    assert_eq!((points.at(0), points.at(1), points.at(2), points.at(900)), (1.0, 1.0, 0.5, 0.5));
    assert!(
        errors(r#"{"temperature": [[0, 1], [1, 11]]}"#).contains("temperature[1]: must lie in 0.0..=10.0")
    );
    assert!(errors(r#"{"temperature": [[1, 0.5]]}"#).contains("rise from 0"));
    assert!(errors(r#"{"temperature": []}"#).contains("rise from 0"));
}

#[test]
fn every_form_of_a_schedule_has_its_value_at_each_counter() {
    let given = |json: &str| {
        let group = value(&format!("{{\"temperature\": {json}}}"));
        read::<Example>("x", &group).expect("no problem").temperature
    };
    let samples = |samples: &[f64]| Schedule::from_samples(samples).expect("samples");
    let counters = [0, 1, 2, 3, 7, u32::MAX];
    for (schedule, expected) in [
        (given("2"), [2.0; 6]),
        (given("[[0, 2]]"), [2.0; 6]),
        (given("[[0, 1], [2, 0.5], [7, 3]]"), [1.0, 1.0, 0.5, 0.5, 3.0, 3.0]),
        (given("[[0, 1], [2, 1], [3, 0]]"), [1.0, 1.0, 1.0, 0.0, 0.0, 0.0]),
        (Schedule::constant(0.25), [0.25; 6]),
        (samples(&[4.0]), [4.0; 6]),
        (samples(&[1.0, 0.75, 0.5, 0.25]), [1.0, 0.75, 0.5, 0.25, 0.25, 0.25]),
        (samples(&[1.0, 1.0, 0.5, 1.0]), [1.0, 1.0, 0.5, 1.0, 1.0, 1.0]),
    ] {
        let written = given(&schedule.to_value().canonical());
        for read in [&schedule, &written] {
            assert_eq!(counters.map(|counter| read.at(counter)), expected, "{schedule:?}");
        }
    }
}

#[test]
fn the_largest_value_of_a_schedule_is_one_that_it_reaches() {
    let schedule = Schedule::from_points(vec![(0, 1.0), (2, 0.5), (7, 3.0)]).expect("points");
    assert_eq!([0, 1, 7, 8].map(|end| schedule.max_below(end)), [1.0, 1.0, 1.0, 3.0]);
    assert_eq!(schedule.max(), 3.0);
}

/// Such a list would hold its first values for one ply each, and its last for the rest.
#[test]
fn a_schedule_is_no_list_of_numbers() {
    let expected = "expected a pair of a counter and the value from there on, such as [0, 0.5]";
    let found = errors(r#"{"temperature": [1, 0.5]}"#);
    for problem in ["temperature[0]: {}, got 1\n", "temperature[1]: {}, got 0.5"] {
        assert!(found.contains(&problem.replace("{}", expected)), "{found}");
    }
    assert!(errors(r#"{"temperature": [[-1, 0.5]]}"#).contains("temperature[0]: expected a pair"));
}

#[test]
fn the_reference_has_a_row_for_every_group_and_parameter() {
    let rows = Example::rows();
    let paths: Vec<&str> = rows.iter().map(|row| row.path.as_str()).collect();
    assert_eq!(
        paths,
        [
            "simulations",
            "c_puct",
            "noise",
            "noise.alpha",
            "noise.fraction",
            "paint",
            "sizes",
            "cap",
            "temperature",
            "gate",
            "name"
        ]
    );
    assert_eq!(rows[1].range.map(|range| range.to_string()).as_deref(), Some("0.0..=10.0"));
    assert_eq!((rows[2].default.as_str(), rows[3].doc.as_str()), ("", "Concentration."));
}
