//! Which parameters of training go together.

use super::problems;

#[test]
fn frozen_batch_norm_has_no_momentum() {
    let found = problems(r#"{"batch_norm": "frozen", "batch_norm_momentum": 0.1}"#);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].path, "batch_norm_momentum");
    assert!(problems(r#"{"batch_norm": "frozen"}"#).is_empty());
    assert!(problems(r#"{"batch_norm": "batch", "batch_norm_momentum": 0.2}"#).is_empty());
}

/// The carried state of an optimiser has made some updates, and an exponential average counts them.
#[test]
fn only_an_average_that_surely_makes_no_step_is_refused() {
    let average = |average: &str, state: &str| {
        let optimizer = format!("{{\"state\": \"{state}\"}}");
        problems(&format!("{{\"updates\": 100, \"average\": {average}, \"optimizer\": {optimizer}}}"))
    };
    assert!(average(r#"{"every": 150}"#, "carried").is_empty());
    for (text, state, ending) in [
        (r#"{"every": 150}"#, "fresh", "the first multiple of `every`, and updates = 100"),
        (
            r#"{"kind": "swa", "start": 100}"#,
            "carried",
            "the first multiple of `every` after `start`, and updates = 100",
        ),
    ] {
        let found = average(text, state);
        assert!(found.len() == 1 && found[0].path == "average", "{found:?}");
        assert!(found[0].message.ends_with(ending), "{}", found[0].message);
    }
}
