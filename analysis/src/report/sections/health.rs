//! Checks for common problems of runs, with thresholds and their sources.

use dc0_core::params::Value;

use super::reuse::{KATAGO, ratios, trainings, trains_on_others};
use crate::charts::{self, short, with_noun};
use crate::error::AnalysisError;
use crate::report::context::Context;
use crate::report::curve::quantile;
use crate::report::diversity::Diversity;
use crate::report::inputs::ReportRun;
use crate::report::outcomes::OutcomeCount;
use crate::report::section::{Finding, Part, Section, Status};
use crate::report::steps::Step;

/// The share of draws that counts as draw death.
const DRAWS: f64 = 0.95;
const CAPPED: f64 = 0.5;
const ENTROPY: f64 = 0.1;
const CALIBRATION: f64 = 0.15;
/// The results of fewer games differ from the best of values by chance. Chosen.
const CALIBRATED_GAMES: usize = 100;
/// Squared error on held-out games divided by that in training; `AlphaGo`'s first value net, which overfitted, had 0.37 / 0.19.
const OVERFITTING: f64 = 0.37 / 0.19;
const DISTINCT: f64 = 0.5;
const WHITE_SCORE: [f64; 2] = [0.35, 0.65];
const GRADIENT: f64 = 10.0;
const REJECTED: usize = 3;

/// A check's status, and what it found.
type Outcome = (Status, String);

/// A check: its name, why it matters, and the check itself.
type Check = (&'static str, &'static str, fn(&Context<'_>, &ReportRun) -> Outcome);

const CHECKS: [Check; 9] = [
    (
        "Draw death",
        "When nearly all games are drawn, the value has nothing to learn from, and runs rarely recover: alpha-zero-chess went from \
         70 % to 100 % drawn in 13 iterations and never came back (value_head_collapse_paper.md). The threshold is that of \
         experiments/lib/guards.rhai; as there, games ended by the ply cap count, which teach no more.",
        draws,
    ),
    (
        "Games cut short",
        "The result of a game ended by the ply cap says little about who was better. Threshold chosen.",
        capped,
    ),
    (
        "Policy collapse",
        "When searches always settle on a single move, all games are alike. Threshold chosen, in nats.",
        entropy,
    ),
    (
        "Overfitting",
        "A game has many positions and only one result. AlphaGo's first value net had a squared error of 0.37 on new \
         games and 0.19 on its own, which its authors called memorising (Silver et al. 2016, Methods). Cross-entropies have no such ratio: \
         their least is the entropy of the targets.",
        overfitting,
    ),
    (
        "Value calibration",
        "A miscalibrated value misleads the search. Expected calibration error of the stored values (Guo et al. 2017), on a scale of −1 to \
         1; threshold chosen.",
        calibration,
    ),
    (
        "Replay reuse",
        "New positions are those that no earlier training of the run read; where only those with a policy target are trained on, \
         only they count. KataGo trains on at most about 4 samples for each (its -max-train-bucket-per-new-data), AlphaZero on less \
         than one. There is no consensus, so this is only a hint.",
        reuse,
    ),
    ("Repeated positions", "Repeated positions teach nothing new. Threshold chosen.", diversity),
    (
        "Lopsided results",
        "White scores about 0.55 in strong play; a lopsided score suggests a sign error or a mirrored board. Thresholds chosen.",
        sides,
    ),
    (
        "No progress",
        "When several candidates in a row are rejected, the learning rate, the window or the gate may be wrong. Threshold chosen.",
        rejections,
    ),
];

pub(super) fn findings(context: &Context<'_>, run: &ReportRun) -> Vec<Finding> {
    let finding = |(name, why, check): &Check| {
        let (status, found) = check(context, run);
        Finding { run: run.name.clone(), status, check: name, found, why }
    };
    CHECKS.iter().chain([&GRADIENTS]).map(finding).collect()
}

const GRADIENTS: Check = (
    "Gradients",
    "A gradient norm that explodes ends learning (Pascanu et al. 2013). Threshold chosen.",
    gradients,
);

pub(super) const SECTION: Section = Section {
    id: "health",
    title: "Health",
    about: "Checks for common problems. Passing all of them does not prove that a run is healthy.",
    reads: &["games", "generations", "matches", "positions", "record", "steps"],
    no_data: |_| "no run was given; the trials of a sweep are not checked individually",
    parts,
};

fn parts(context: &Context<'_>) -> Result<Vec<Part>, AnalysisError> {
    let findings: Vec<Finding> = context.runs.iter().flat_map(|run| findings(context, run)).collect();
    let parts = if findings.is_empty() { Vec::new() } else { vec![Part::Findings(findings)] };
    Ok(parts)
}

fn judged(passed: bool, found: String) -> Outcome {
    (if passed { Status::Passed } else { Status::Warning }, found)
}

fn no_data(reason: &str) -> Outcome {
    (Status::NoData, reason.to_owned())
}

/// A share whose sign does not begin a line.
fn percent(share: f64) -> String {
    charts::percent(share, 1).replace(' ', "\u{a0}")
}

/// The mean weight of the games of a run's last iteration, after a text that names these games and the verb that follows it.
fn share(
    context: &Context<'_>,
    run: &ReportRun,
    weight: impl Fn(&OutcomeCount) -> f64,
) -> Option<(String, &'static str, f64)> {
    let last = context.last_iteration(run)?;
    let is_own = |outcome: &&OutcomeCount| outcome.run == run.name && outcome.iteration == last;
    let outcomes = || context.outcomes.iter().filter(is_own);
    let games: f64 = outcomes().map(|outcome| outcome.games).sum();
    let share = outcomes().map(|outcome| weight(outcome) * outcome.games).sum::<f64>() / games;
    let (name, were) =
        if games == 1.0 { ("only game".to_owned(), "was") } else { (with_noun(games, "game"), "were") };
    (games > 0.0).then(|| (format!("the {name} of iteration {last}"), were, share))
}

fn draws(context: &Context<'_>, run: &ReportRun) -> Outcome {
    // A game ended by the ply cap is stored as a draw.
    let share = |fits: &dyn Fn(&OutcomeCount) -> bool| {
        share(context, run, |outcome| f64::from(u8::from(fits(outcome))))
    };
    let (undecided, capped) = (share(&|outcome| outcome.result == 0), share(&is_capped));
    let Some(((last, were, undecided), (_, _, capped))) = undecided.zip(capped) else {
        return no_data("no games");
    };
    let (cut, together) = match capped {
        0.0 => (String::new(), ""),
        _ => (format!(", {} ended by the ply cap", percent(capped)), " together"),
    };
    let drawn = percent(undecided - capped);
    judged(
        undecided <= DRAWS,
        format!("{drawn} of {last} {were} drawn{cut}; warning above {}{together}", percent(DRAWS)),
    )
}

fn is_capped(outcome: &OutcomeCount) -> bool {
    outcome.reason == "ply_cap"
}

fn capped(context: &Context<'_>, run: &ReportRun) -> Outcome {
    let Some((last, were, capped)) = share(context, run, |outcome| f64::from(u8::from(is_capped(outcome))))
    else {
        return no_data("no games");
    };
    let found = format!(
        "{} of {last} {were} ended by the ply cap; warning above {}",
        percent(capped),
        percent(CAPPED)
    );
    judged(capped <= CAPPED, found)
}

fn last<'a>(context: &'a Context<'_>, run: &'a ReportRun, kind: &str) -> Option<&'a Step> {
    context.steps.iter().rfind(|step| step.run == run.name && step.kind == kind)
}

fn entropy(context: &Context<'_>, run: &ReportRun) -> Outcome {
    let has_targets = |step: &&Step| step.params.member("policy_targets") != Some(&Value::Bool(false));
    // Alpha-beta finds one move, whose target is all of it.
    let is_alpha_beta = |step: &&Step| {
        let kind = step.params.member("search").and_then(|search| search.member("kind"));
        kind == Some(&Value::Text("alphabeta".to_owned()))
    };
    let mut self_play = context.steps.iter().filter(|step| step.run == run.name && step.kind == "self_play");
    let latest = self_play.rfind(has_targets);
    if latest.as_ref().is_some_and(is_alpha_beta) {
        return no_data("the latest games are those of alpha-beta");
    }
    let Some(entropy) = latest.and_then(|step| step.figure("mean_entropy")) else {
        return no_data("no games with policy targets");
    };
    judged(
        entropy >= ENTROPY,
        format!("mean entropy of the latest policy targets {}; warning below {ENTROPY}", short(entropy)),
    )
}

fn overfitting(context: &Context<'_>, run: &ReportRun) -> Outcome {
    let Some(step) = last(context, run, "train") else { return no_data("no training") };
    let kind = |step: &Step| step.params.member("value_head").and_then(|head| head.member("kind")).cloned();
    let is_scalar =
        |step: &Step| step.run == run.name && kind(step) == Some(Value::Text("scalar".to_owned()));
    let both = |name: &str| step.figure(&format!("validation_{name}")).zip(step.figure(name));
    // The value loss of a scalar head is a squared error, too.
    let errors = both("brier").or_else(|| both("value_loss").filter(|_| context.steps.iter().any(is_scalar)));
    let Some((held_out, training)) = errors.filter(|(_, training)| *training > 0.0) else {
        return no_data("no held-out games with a result");
    };
    let found = format!(
        "squared error of values {} on held-out games and {} in training, a ratio of {}; warning above {}",
        short(held_out),
        short(training),
        short(held_out / training),
        short(OVERFITTING)
    );
    judged(held_out / training <= OVERFITTING, found)
}

fn calibration(context: &Context<'_>, run: &ReportRun) -> Outcome {
    let calibration = context.calibrations.iter().find(|calibration| calibration.run == run.name);
    let last = context.last_iteration(run).unwrap_or(u32::MAX);
    match calibration.and_then(|calibration| calibration.net_error(last)) {
        Some((last, error, games)) => judged_calibration(last, error, games),
        None => no_data("no searched games with a result"),
    }
}

fn judged_calibration(iteration: u32, error: f64, games: usize) -> Outcome {
    let games_text = with_noun(games as f64, "game");
    let found = format!("error {} in {games_text} of iteration {iteration}", short(error));
    if games < CALIBRATED_GAMES {
        return (Status::NoData, format!("{found}; judged from {CALIBRATED_GAMES} games on"));
    }
    judged(error <= CALIBRATION, format!("{found}; warning above {CALIBRATION}"))
}

fn reuse(context: &Context<'_>, run: &ReportRun) -> Outcome {
    if trains_on_others(context, run) {
        return no_data("the run trained on games of datasets or other runs, too");
    }
    let mut samples: Vec<f64> = ratios(context, run).into_iter().map(|(_, samples)| samples).collect();
    if samples.is_empty() {
        let is_trained = trainings(context, run).next().is_some();
        return no_data(if is_trained { "no training had new positions" } else { "no training" });
    }
    samples.sort_by(f64::total_cmp);
    let median = quantile(&samples, 0.5);
    let trainings = with_noun(samples.len() as f64, "training");
    let found = format!(
        "{} per new position in the median of {trainings}; warning above {KATAGO}",
        with_noun(median, "sample")
    );
    judged(median <= KATAGO, found)
}

fn diversity(context: &Context<'_>, run: &ReportRun) -> Outcome {
    let iteration = context.last_iteration(run);
    let is_last =
        |diversity: &&Diversity| diversity.run == run.name && Some(diversity.iteration) == iteration;
    let last = context.diversities.iter().find(is_last).filter(|last| last.positions.is_finite());
    let Some(last) = last else { return no_data("no positions of the last iteration") };
    let found = format!(
        "{} of the positions of iteration {} are distinct; warning below {}",
        percent(last.positions),
        last.iteration,
        percent(DISTINCT)
    );
    judged(last.positions >= DISTINCT, found)
}

fn sides(context: &Context<'_>, run: &ReportRun) -> Outcome {
    let Some((last, _, score)) = share(context, run, |outcome| 0.5 * (f64::from(outcome.result) + 1.0))
    else {
        return no_data("no games");
    };
    let [low, high] = WHITE_SCORE;
    let found = format!("White scores {score:.3} in {last}; warning outside {low} to {high}");
    judged((low..=high).contains(&score), found)
}

fn rejections(context: &Context<'_>, run: &ReportRun) -> Outcome {
    let Some(standing) = context.standings.iter().find(|standing| standing.run == run.name) else {
        return no_data("no matches");
    };
    if !run.is_gated() {
        return no_data("no net is promoted: this run has no gate");
    }
    let nets: Vec<_> = standing.players.iter().filter(|player| player.net.is_some()).collect();
    if nets.is_empty() {
        return no_data("no net has played a match");
    }
    let rejected = nets.iter().rev().take_while(|player| player.generation.is_none()).count();
    judged(
        rejected < REJECTED,
        format!("candidates rejected since the last promotion: {rejected}; warning from {REJECTED}"),
    )
}

fn gradients(context: &Context<'_>, run: &ReportRun) -> Outcome {
    let steps = context.steps.iter().filter(|step| step.run == run.name && step.kind == "train");
    judged_gradients(steps.filter_map(|step| step.figure("gradient_norm")).collect())
}

/// Judges the last norm by those before it.
fn judged_gradients(mut norms: Vec<f64>) -> Outcome {
    let Some(latest) = norms.pop() else { return no_data("no training") };
    if norms.is_empty() {
        return no_data("only one training");
    }
    norms.sort_by(f64::total_cmp);
    let median = quantile(&norms, 0.5);
    judged(
        latest <= GRADIENT * median,
        format!(
            "norm {} at the end of the latest training, {} in the median of {} before it; warning above {GRADIENT} times the median",
            short(latest),
            short(median),
            with_noun(norms.len() as f64, "training")
        ),
    )
}

#[cfg(test)]
mod tests {
    use dc0_core::params::Value;

    use super::{Status, capped, draws, judged_calibration, judged_gradients};
    use crate::database::Database;
    use crate::report::context::Context;
    use crate::report::inputs::ReportRun;
    use crate::report::outcomes::OutcomeCount;
    use crate::session::Work;

    #[test]
    fn a_single_game_is_named_as_one_and_a_game_cut_short_is_not_called_drawn() {
        let database = Database::new(Vec::new(), Vec::new(), Work::Exact);
        let run = ReportRun {
            name: "x".to_owned(),
            params: Value::None,
            environment: Vec::new(),
            script: String::new(),
            promotes: false,
            generations: Vec::new(),
            unfinished: Vec::new(),
        };
        let found = |games: f64, reason: &str| {
            let (run_name, reason) = (run.name.clone(), reason.to_owned());
            let outcome = OutcomeCount { run: run_name, iteration: 3, result: 0, reason, games };
            let context = Context {
                database: &database,
                runs: std::slice::from_ref(&run),
                sweeps: &[],
                steps: Vec::new(),
                outcomes: vec![outcome],
                pairs: Vec::new(),
                standings: Vec::new(),
                calibrations: Vec::new(),
                diversities: Vec::new(),
                reuses: Vec::new(),
                iterations: Vec::new(),
            };
            [draws, capped].map(|check| check(&context, &run).1.replace('\u{a0}', " "))
        };
        let [drawn, cut] = found(1.0, "threefold");
        assert!(drawn.starts_with("100.0 % of the only game of iteration 3 was drawn; "), "{drawn}");
        assert!(cut.starts_with("0.0 % of the only game of iteration 3 was ended by the ply cap; "), "{cut}");
        let [drawn, cut] = found(2.0, "ply_cap");
        let expected = "0.0 % of the 2 games of iteration 3 were drawn, 100.0 % ended by the ply cap; warning above 95.0 % together";
        assert_eq!(drawn, expected);
        assert!(
            cut.starts_with("100.0 % of the 2 games of iteration 3 were ended by the ply cap; "),
            "{cut}"
        );
    }

    #[test]
    fn a_gradient_norm_is_judged_by_the_trainings_before_it() {
        let found = |norms: &[f64]| judged_gradients(norms.to_vec());
        assert!(matches!(found(&[]).0, Status::NoData) && matches!(found(&[9.0]).0, Status::NoData));
        let (status, text) = found(&[2.0, 21.0]);
        assert!(matches!(status, Status::Warning), "{text}");
        assert!(
            text.contains("21 at the end of the latest training, 2 in the median of 1 training before it")
        );
        assert!(matches!(found(&[2.0, 20.0]).0, Status::Passed));
        assert!(matches!(found(&[5.0, 1.0, 2.0, 20.0]).0, Status::Passed));
    }

    #[test]
    fn calibration_is_judged_from_enough_games_on() {
        let found =
            [(0.4, 99), (0.4, 100), (0.15, 100)].map(|(error, games)| judged_calibration(3, error, games));
        let [few, bad, good] = &found;
        assert!(matches!(few.0, Status::NoData), "{few:?}");
        assert_eq!(few.1, "error 0.4 in 99 games of iteration 3; judged from 100 games on");
        assert!(matches!(bad.0, Status::Warning), "{bad:?}");
        assert!(matches!(good.0, Status::Passed), "{good:?}");
    }
}
