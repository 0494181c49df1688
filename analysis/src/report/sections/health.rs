//! What is commonly wrong with runs, looked for one by one, with thresholds and their sources.

use dc0_core::params::Value;

use super::reuse::{KATAGO, ratios};
use crate::charts::short;
use crate::error::AnalysisError;
use crate::report::context::Context;
use crate::report::game_ends::Ended;
use crate::report::inputs::ReportRun;
use crate::report::section::{Finding, Part, Section, State};
use crate::report::steps::{Step, member};
use crate::report::variety::Variety;

/// Share of draws that is one's death.
const DRAWS: f64 = 0.95;
const CAPPED: f64 = 0.5;
const ENTROPY: f64 = 0.1;
const CALIBRATION: f64 = 0.15;
/// Held-out value loss over that of training: `AlphaGo`'s first value net, which knew its games by heart, had 0.37 over 0.19.
const BY_HEART: f64 = 0.37 / 0.19;
const DIFFERENT: f64 = 0.5;
const WHITE: [f64; 2] = [0.35, 0.65];
const GRADIENT: f64 = 10.0;
const REJECTED: usize = 3;

type Verdict = (State, String);

/// What is looked at: its name, why it matters, and how it is told.
type Check = (&'static str, &'static str, fn(&Context<'_>, &ReportRun) -> Verdict);

const CHECKS: [Check; 9] = [
    (
        "Draw death",
        "When nearly all games are drawn, results teach the value nothing, and runs seldom recover: alpha-zero-chess went from \
         70 % to 100 % drawn in 13 iterations and never came back (value_head_collapse_paper.md). The threshold is that of \
         experiments/lib/guards.rhai.",
        draws,
    ),
    (
        "Games cut short",
        "Games that the ply cap ends say little of who was better. Chosen threshold.",
        capped,
    ),
    (
        "Policy collapse",
        "When searches agree on one move everywhere, games are all the same. Chosen threshold, in nats.",
        entropy,
    ),
    (
        "Learned by heart",
        "A game has many positions and one result. AlphaGo's value net had a loss of 0.37 on other games and 0.19 on its own, \
         and its authors called it memorising (Silver et al. 2016, Methods).",
        by_heart,
    ),
    (
        "Value calibration",
        "A value that does not keep its word misleads the search. Expected calibration error of the net (Guo et al. 2017); chosen \
         threshold on a scale of −1 to 1.",
        calibration,
    ),
    (
        "Replay reuse",
        "KataGo trains on a position about 4 times at most (its -max-train-bucket-per-new-data); AlphaZero saw one less than once. \
         There is no consensus, so this is a hint.",
        reuse,
    ),
    ("Same games", "Positions that repeat teach nothing new. Chosen threshold.", variety),
    (
        "One side wins",
        "White scores about 0.55 in strong play; a lopsided score hints at a wrong sign or a mirrored board. Chosen thresholds.",
        sides,
    ),
    (
        "No progress",
        "Several candidates in a row that were not promoted: a learning rate, a window or a gate that does not fit. Chosen.",
        rejections,
    ),
];

pub(super) fn findings(context: &Context<'_>, run: &ReportRun) -> Vec<Finding> {
    let finding = |(what, why, check): &Check| {
        let (state, found) = check(context, run);
        Finding { run: run.name.clone(), state, what, found, why }
    };
    CHECKS.iter().chain([&GRADIENTS]).map(finding).collect()
}

const GRADIENTS: Check = (
    "Gradients",
    "A norm far above the usual one, or one that is no number, ends learning (Pascanu et al. 2013). Chosen threshold.",
    gradients,
);

pub(super) const SECTION: Section = Section {
    id: "health",
    title: "Health",
    about: "What commonly goes wrong, looked for one by one. A sign that nothing was found is no proof that all is well.",
    without: |_| "no run was named; the trials of a sweep are not looked at one by one",
    parts,
};

fn parts(context: &Context<'_>) -> Result<Vec<Part>, AnalysisError> {
    let findings: Vec<Finding> = context.runs.iter().flat_map(|run| findings(context, run)).collect();
    let parts = if findings.is_empty() { Vec::new() } else { vec![Part::Findings(findings)] };
    Ok(parts)
}

fn judged(is_sound: bool, found: String) -> Verdict {
    (if is_sound { State::Sound } else { State::Warning }, found)
}

fn unknown(reason: &str) -> Verdict {
    (State::Unknown, reason.to_owned())
}

fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

/// The share of a run's last iteration's games that are so, with words that name these games.
fn share(context: &Context<'_>, run: &ReportRun, is: impl Fn(&Ended) -> f64) -> Option<(String, f64)> {
    let last = context.last_iteration(run)?;
    let own = || context.ends.iter().filter(|ended| ended.run == run.name && ended.iteration == last);
    let games: f64 = own().map(|ended| ended.games).sum();
    let share = own().map(|ended| is(ended) * ended.games).sum::<f64>() / games;
    (games > 0.0).then(|| (format!("the {} games of iteration {last}", short(games)), share))
}

fn draws(context: &Context<'_>, run: &ReportRun) -> Verdict {
    let Some((last, drawn)) = share(context, run, |ended| f64::from(u8::from(ended.result == 0))) else {
        return unknown("no games");
    };
    judged(drawn <= DRAWS, format!("{} of {last} drawn; warned above {}", percent(drawn), percent(DRAWS)))
}

fn capped(context: &Context<'_>, run: &ReportRun) -> Verdict {
    let Some((last, capped)) = share(context, run, |ended| f64::from(u8::from(ended.reason == "ply_cap")))
    else {
        return unknown("no games");
    };
    let found =
        format!("{} of {last} ended by the ply cap; warned above {}", percent(capped), percent(CAPPED));
    judged(capped <= CAPPED, found)
}

fn last<'a>(context: &'a Context<'_>, run: &'a ReportRun, kind: &str) -> Option<&'a Step> {
    context.steps.iter().rfind(|step| step.run == run.name && step.kind == kind)
}

fn entropy(context: &Context<'_>, run: &ReportRun) -> Verdict {
    let teaches = |step: &&Step| member(&step.params, "policy_targets") != Some(&Value::Bool(false));
    let mut played = context.steps.iter().filter(|step| step.run == run.name && step.kind == "self_play");
    let Some(entropy) = played.rfind(teaches).and_then(|step| step.figure("mean_entropy")) else {
        return unknown("no games that teach a policy");
    };
    judged(
        entropy >= ENTROPY,
        format!("mean entropy of the last targets {}; warned below {ENTROPY}", short(entropy)),
    )
}

fn by_heart(context: &Context<'_>, run: &ReportRun) -> Verdict {
    let Some(step) = last(context, run, "train") else { return unknown("no training") };
    let losses = step.figure("validation_value_loss").zip(step.figure("value_loss"));
    let Some((held_out, own)) = losses.filter(|(_, own)| *own > 0.0) else {
        return unknown("no games were held out");
    };
    let found = format!(
        "value loss {} on games held out, {} in training: {} times; warned above {}",
        short(held_out),
        short(own),
        short(held_out / own),
        short(BY_HEART)
    );
    judged(held_out / own <= BY_HEART, found)
}

fn calibration(context: &Context<'_>, run: &ReportRun) -> Verdict {
    let trust = context.trusts.iter().find(|trust| trust.run == run.name);
    let last = context.last_iteration(run).unwrap_or(u32::MAX);
    let Some((last, error)) = trust.and_then(|trust| trust.error_of_net(last)) else {
        return unknown("no game ended by the rules");
    };
    judged(
        error <= CALIBRATION,
        format!("error {} in iteration {last}; warned above {CALIBRATION}", short(error)),
    )
}

fn reuse(context: &Context<'_>, run: &ReportRun) -> Verdict {
    let Some((_, ratio)) = ratios(context, run).last().copied() else { return unknown("no training") };
    judged(
        ratio <= KATAGO,
        format!("{} samples for each position played; warned above {KATAGO}", short(ratio)),
    )
}

fn variety(context: &Context<'_>, run: &ReportRun) -> Verdict {
    let iteration = context.last_iteration(run);
    let is_last = |variety: &&Variety| variety.run == run.name && Some(variety.iteration) == iteration;
    let last = context.varieties.iter().find(is_last).filter(|variety| variety.positions.is_finite());
    let Some(last) = last else { return unknown("no positions of the last iteration") };
    let found = format!(
        "{} of the positions of iteration {} are different; warned below {}",
        percent(last.positions),
        last.iteration,
        percent(DIFFERENT)
    );
    judged(last.positions >= DIFFERENT, found)
}

fn sides(context: &Context<'_>, run: &ReportRun) -> Verdict {
    let Some((last, score)) = share(context, run, |ended| 0.5 * (f64::from(ended.result) + 1.0)) else {
        return unknown("no games");
    };
    let found = format!("White scores {score:.3} in {last}; warned outside {} to {}", WHITE[0], WHITE[1]);
    judged((WHITE[0]..=WHITE[1]).contains(&score), found)
}

fn rejections(context: &Context<'_>, run: &ReportRun) -> Verdict {
    let Some(standing) = context.standings.iter().find(|standing| standing.run == run.name) else {
        return unknown("no match");
    };
    if !run.is_gated() {
        return unknown("no net is promoted: this run has no gate");
    }
    let nets: Vec<_> = standing.players.iter().filter(|player| player.net.is_some()).collect();
    let rejected = nets.iter().rev().take_while(|player| player.generation.is_none()).count();
    judged(
        rejected < REJECTED,
        format!("candidates turned down since the last promotion: {rejected}; warned from {REJECTED}"),
    )
}

fn gradients(context: &Context<'_>, run: &ReportRun) -> Verdict {
    let steps = context.steps.iter().filter(|step| step.run == run.name && step.kind == "train");
    let mut norms: Vec<f64> = steps.filter_map(|step| step.figure("gradient_norm")).collect();
    let Some(newest) = norms.last().copied() else { return unknown("no training") };
    norms.sort_by(f64::total_cmp);
    let usual = crate::report::curve::quantile(&norms, 0.5);
    let is_sound = newest.is_finite() && newest <= GRADIENT * usual;
    judged(
        is_sound,
        format!("last norm {}, median {}; warned above {GRADIENT} times", short(newest), short(usual)),
    )
}
