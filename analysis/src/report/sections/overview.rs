//! Each run in words and a few figures.

use super::health::findings;
use super::speed::duration;
use crate::charts::short;
use crate::error::AnalysisError;
use crate::report::context::Context;
use crate::report::inputs::ReportRun;
use crate::report::matches::Player;
use crate::report::section::{Part, Section, State};

pub(super) const SECTION: Section = Section {
    id: "overview",
    title: "Overview",
    about: "What was done, what came of it, and what to look at.",
    without: |_| "no run was named; the trials of the sweep are below",
    parts,
};

fn parts(context: &Context<'_>) -> Result<Vec<Part>, AnalysisError> {
    let mut parts = Vec::new();
    for run in context.runs {
        if context.runs.len() > 1 {
            parts.push(Part::Heading(run.name.clone()));
        }
        parts.push(Part::Text(verdict(context, run)));
        let tiles = tiles(context, run);
        parts.extend((!tiles.is_empty()).then_some(Part::Tiles(tiles)));
    }
    Ok(parts)
}

/// What a run has done, by kind of step.
struct Done {
    seconds: f64,
    games: f64,
    positions: f64,
    trainings: usize,
    matches: usize,
}

fn done(context: &Context<'_>, run: &ReportRun) -> Done {
    let own = || context.steps.iter().filter(|step| step.run == run.name);
    let kind = |kind: &'static str| own().filter(move |step| step.kind == kind);
    let sum = |name: &'static str| kind("self_play").filter_map(|step| step.figure(name)).sum();
    Done {
        seconds: own().filter_map(|step| step.seconds).sum(),
        games: sum("games"),
        positions: sum("positions"),
        trainings: kind("train").count(),
        matches: kind("arena").count(),
    }
}

fn verdict(context: &Context<'_>, run: &ReportRun) -> String {
    let all = done(context, run);
    let mut words = Vec::new();
    words.push(format!(
        "{} played {} games with {} positions, trained {} and held {} in {} of work.",
        run.name,
        short(all.games),
        short(all.positions),
        counted(all.trainings, "net", "nets"),
        counted(all.matches, "match", "matches"),
        duration(all.seconds)
    ));
    words.extend(strength(context, run));
    words.push(health(context, run));
    for unfinished in &run.unfinished {
        words.push(format!("Unfinished: {unfinished}."));
    }
    words.join(" ")
}

fn counted(count: usize, one: &str, more: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { more })
}

/// The last net that has a rating; where nets are promoted, the last one that was.
fn newest<'a>(context: &'a Context<'_>, run: &ReportRun) -> Option<&'a Player> {
    let standing = context.standings.iter().find(|standing| standing.run == run.name)?;
    let rated = standing.players.iter().filter(|player| player.rating.is_some() && player.net.is_some());
    rated.filter(|player| player.generation.is_some() || !run.is_gated()).max_by_key(|player| player.net)
}

fn strength(context: &Context<'_>, run: &ReportRun) -> Option<String> {
    let standing = context.standings.iter().find(|standing| standing.run == run.name)?;
    let player = newest(context, run)?;
    let rating = player.rating?;
    let anchor = standing.anchor_name();
    let text = format!(
        "Its newest {}net, {}, is rated {:+.0} Elo over net {anchor} (95 % interval {:+.0} to {:+.0})",
        if run.is_gated() { "promoted " } else { "" },
        player.name(),
        rating.elo,
        rating.low,
        rating.high
    );
    let outcome = if rating.low > 0.0 {
        ": it has become stronger."
    } else if rating.high < 0.0 {
        ": it has become weaker."
    } else {
        ": whether it has become stronger is not settled."
    };
    Some(format!("{}{outcome}", text.replace('-', "−")))
}

fn health(context: &Context<'_>, run: &ReportRun) -> String {
    let findings = findings(context, run);
    let warnings: Vec<String> =
        findings.iter().filter(|f| f.state == State::Warning).map(|f| f.what.to_lowercase()).collect();
    let looked_at = findings.iter().filter(|f| f.state != State::Unknown).count();
    if warnings.is_empty() {
        format!("None of {looked_at} health checks warns.")
    } else {
        format!("{} of {looked_at} health checks warn: {}.", warnings.len(), warnings.join(", "))
    }
}

fn tiles(context: &Context<'_>, run: &ReportRun) -> Vec<(String, String)> {
    let all = done(context, run);
    let tile = |name: &str, value: String| (name.to_owned(), value);
    let mut tiles = Vec::new();
    let standing = context.standings.iter().find(|standing| standing.run == run.name);
    let rating = newest(context, run).and_then(|player| player.rating);
    if let Some((standing, rating)) = standing.zip(rating) {
        tiles.push(tile(
            &format!("Elo over net {}", standing.anchor_name()),
            format!("{:+.0}", rating.elo).replace('-', "−"),
        ));
    }
    let own = context.ends.iter().filter(|ended| ended.run == run.name);
    let last = context.last_iteration(run);
    let drawn = |drawn: bool| {
        let games =
            own.clone().filter(|ended| Some(ended.iteration) == last && (!drawn || ended.result == 0));
        games.map(|ended| ended.games).sum::<f64>()
    };
    tiles.push(tile("games of self-play", short(all.games)));
    tiles.push(tile("positions", short(all.positions)));
    if drawn(false) > 0.0 {
        let share = format!("{:.0} %", 100.0 * drawn(true) / drawn(false));
        tiles.push(tile(&format!("drawn, of {} games of the last iteration", short(drawn(false))), share));
    }
    tiles.push(tile("time of all steps", duration(all.seconds)));
    if run.is_gated() {
        tiles.push(tile("generations", run.generations.len().saturating_sub(1).to_string()));
    }
    tiles
}
