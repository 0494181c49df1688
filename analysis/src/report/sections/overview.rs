//! A summary of each run, with key figures.

use super::health::findings;
use super::speed::duration;
use crate::charts::{percent, short, with_noun};
use crate::error::AnalysisError;
use crate::report::context::Context;
use crate::report::inputs::ReportRun;
use crate::report::matches::Player;
use crate::report::section::{Part, Section, Status};
use crate::report::steps::Step;

pub(super) const SECTION: Section = Section {
    id: "overview",
    title: "Overview",
    about: "What each run did, what it achieved, and what needs attention.",
    reads: &["generations", "games", "journal", "matches", "positions", "record", "steps"],
    no_data: |_| "no run was given; for the trials of the sweep see below",
    parts,
};

fn parts(context: &Context<'_>) -> Result<Vec<Part>, AnalysisError> {
    let mut parts = Vec::new();
    for run in context.runs {
        if context.runs.len() > 1 {
            parts.push(Part::Heading(run.name.clone()));
        }
        parts.push(Part::Text(summary(context, run)));
        let tiles = tiles(context, run);
        parts.extend((!tiles.is_empty()).then_some(Part::Tiles(tiles)));
    }
    Ok(parts)
}

/// The totals of a run's steps.
struct Totals {
    seconds: f64,
    games: f64,
    positions: f64,
    /// Games and positions from outside.
    imported: [f64; 2],
    trainings: usize,
    matches: usize,
}

fn totals(context: &Context<'_>, run: &ReportRun) -> Totals {
    let steps = || context.steps.iter().filter(|step| step.run == run.name);
    let kind = |kind: &'static str| steps().filter(move |step| step.kind == kind);
    let sum =
        |of: &'static str, name: &'static str| -> f64 { kind(of).filter_map(|step| step.figure(name)).sum() };
    let imports = || steps().filter(|step| step.is_import());
    let imported = |name: &str| -> f64 { imports().filter_map(|step| step.figure(name)).sum() };
    Totals {
        seconds: steps().filter_map(Step::waited).sum(),
        games: sum("self_play", "games"),
        positions: sum("self_play", "positions"),
        imported: [imported("games"), imported("positions")],
        trainings: kind("train").count(),
        matches: kind("arena").count(),
    }
}

fn summary(context: &Context<'_>, run: &ReportRun) -> String {
    let totals = totals(context, run);
    let mut sentences = Vec::new();
    sentences.push(format!(
        "{} played {} with {}, trained {} and ran {} in {}.",
        run.name,
        with_noun(totals.games, "game"),
        with_noun(totals.positions, "position"),
        counted(totals.trainings, "net", "nets"),
        counted(totals.matches, "match", "matches"),
        duration(totals.seconds)
    ));
    if let [games, positions] = totals.imported
        && games > 0.0
    {
        sentences.push(format!(
            "It imported {} with {}.",
            with_noun(games, "game"),
            with_noun(positions, "position")
        ));
    }
    sentences.extend(strength(context, run));
    sentences.push(health(context, run));
    for unfinished in &run.unfinished {
        sentences.push(format!("Unfinished: {unfinished}."));
    }
    sentences.join(" ")
}

fn counted(count: usize, singular: &str, plural: &str) -> String {
    format!("{count} {}", if count == 1 { singular } else { plural })
}

/// The latest net with a rating, if it is not the one that others are compared with; in a run with a gate, the latest promoted one.
fn newest<'a>(context: &'a Context<'_>, run: &ReportRun) -> Option<&'a Player> {
    let standing = context.standings.iter().find(|standing| standing.run == run.name)?;
    let rated = standing.players.iter().filter(|player| player.rating.is_some() && player.net.is_some());
    let latest =
        rated.filter(|player| player.generation.is_some() || !run.is_gated()).max_by_key(|player| player.net);
    latest.filter(|player| standing.anchor.as_ref() != Some(&player.name))
}

fn strength(context: &Context<'_>, run: &ReportRun) -> Option<String> {
    let standing = context.standings.iter().find(|standing| standing.run == run.name)?;
    let player = newest(context, run)?;
    let rating = player.rating?;
    let anchor = standing.anchor.as_ref()?;
    let text = format!(
        "Its newest {}net, {}, is rated {:+.0} Elo over net {anchor} (95 % interval {:+.0} to {:+.0})",
        if run.is_gated() { "promoted " } else { "" },
        player.name,
        rating.elo,
        rating.low,
        rating.high
    );
    let outcome = if rating.low > 0.0 {
        ": it has gained strength."
    } else if rating.high < 0.0 {
        ": it has lost strength."
    } else {
        ": whether it has gained strength is uncertain."
    };
    Some(format!("{}{outcome}", text.replace('-', "−")))
}

fn health(context: &Context<'_>, run: &ReportRun) -> String {
    let findings = findings(context, run);
    let warnings: Vec<String> =
        findings.iter().filter(|f| f.status == Status::Warning).map(|f| f.check.to_lowercase()).collect();
    let checked = findings.iter().filter(|f| f.status != Status::NoData).count();
    if checked == 0 {
        "There is nothing yet for the health checks to look at.".to_owned()
    } else if warnings.is_empty() {
        format!("None of the {checked} health checks raised a warning.")
    } else {
        format!("Warnings from {} of {checked} health checks: {}.", warnings.len(), warnings.join(", "))
    }
}

fn tiles(context: &Context<'_>, run: &ReportRun) -> Vec<(String, String)> {
    let totals = totals(context, run);
    let tile = |name: &str, value: String| (name.to_owned(), value);
    let mut tiles = Vec::new();
    let standing = context.standings.iter().find(|standing| standing.run == run.name);
    let anchor = standing.and_then(|standing| standing.anchor.as_ref());
    let rating = newest(context, run).and_then(|player| player.rating);
    if let Some((anchor, rating)) = anchor.zip(rating) {
        tiles.push(tile(&format!("Elo over net {anchor}"), format!("{:+.0}", rating.elo).replace('-', "−")));
    }
    let iteration = context.last_iteration(run);
    let last = context.outcomes.iter();
    let last = last.filter(|outcome| outcome.run == run.name && Some(outcome.iteration) == iteration);
    let games: f64 = last.clone().map(|outcome| outcome.games).sum();
    // A game ended by the ply cap is stored as a draw.
    let drawn = last.filter(|outcome| outcome.result == 0 && outcome.reason != "ply_cap");
    let draws: f64 = drawn.map(|outcome| outcome.games).sum();
    tiles.push(tile("games", short(totals.games)));
    tiles.push(tile("positions", short(totals.positions)));
    if games > 0.0 {
        let share = percent(draws / games, 0);
        tiles.push(tile(&format!("draws in the last iteration ({})", with_noun(games, "game")), share));
    }
    tiles.push(tile("time of all steps", duration(totals.seconds)));
    if run.is_gated() {
        tiles.push(tile("generations", run.generations.len().saturating_sub(1).to_string()));
    }
    tiles
}
