//! How strong the nets are: one joint rating against what was spent, and every match alone.

use crate::charts::{Axis, Chart, Ink, Joined, Marks, Point, Reference, Series, short};
use crate::error::AnalysisError;
use crate::report::context::Context;
use crate::report::inputs::ReportRun;
use crate::report::matches::{Player, Standing};
use crate::report::section::{Part, Section, Table};
use crate::report::steps::Step;

/// What a rating is drawn against.
type Over = (&'static str, &'static str, fn(&Player) -> Option<f64>);

const NET: Over = ("net", "net", |player| player.net.map(f64::from));
const OVER: [Over; 6] = [
    ("generation", "generation", |player| player.generation.map(f64::from)),
    ("time", "hours of work", |player| Some(player.spent.seconds / 3600.0)),
    ("CPU time", "hours of processors", |player| player.spent.cpu_seconds.map(|seconds| seconds / 3600.0)),
    ("games", "games of self-play", |player| Some(player.spent.games)),
    ("positions", "positions of self-play", |player| Some(player.spent.positions)),
    ("evaluations", "evaluations of self-play", |player| Some(player.spent.evaluations)),
];

pub(super) const SECTION: Section = Section {
    id: "strength",
    title: "Strength",
    about: "Elo of every net over the first one that played a match, from one joint fit to all matches of the run, with 95 % \
        intervals.",
    without: |_| "no match of nets is stored",
    parts,
};

fn parts(context: &Context<'_>) -> Result<Vec<Part>, AnalysisError> {
    let mut parts = Vec::new();
    if !context.standings.is_empty() {
        // Generations say nothing of runs whose nets are not promoted.
        let is_gated = context.runs.iter().all(ReportRun::is_gated);
        let over = [if is_gated { &OVER[0] } else { &NET }].into_iter().chain(&OVER[1..]);
        let charts = over.map(|over| (over.0.to_owned(), elo(context, over)));
        let charts: Vec<(String, Chart)> = charts.filter(|(_, chart)| !chart.is_empty()).collect();
        parts.push(Part::Choice("Elo against".to_owned(), charts));
        parts.extend(context.standings.iter().map(|standing| Part::Table(table(context, standing))));
        parts.push(Part::Folded("How the rating is made".to_owned(), METHOD.to_owned()));
        parts.extend(budgets(context).map(Part::Text));
    }
    Ok(parts)
}

const METHOD: &str = "Players are rated together by the model of Bradley and Terry (1952): the expected score of i against j is \
1 / (1 + 10^((Rj − Ri) / 400)), a draw being half a point. The ratings maximise the likelihood of all games of the run at once, \
since averages along a chain of matches inflate. Every two players that met are given one drawn game more, as BayesElo \
(Coulom 2008) does, so that a match won outright has a finite rating. Intervals are those of the difference to the run's first \
net that played a match: the sandwich covariance (White 1982) with the two games of an opening as one cluster, whose scatter \
is taken G / (G − 1) times for the G pairs of two players, and is that of the model at the least where pairs show none. \
Ratings of different runs are each relative to such a net of their own and can be compared only as far as those are alike. \
Self-play ratings say little of \
strength against others; players that are no nets, such as greedy, are the anchors outside.";

fn elo(context: &Context<'_>, (id, label, over): &Over) -> Chart {
    let many = context.runs.len() > 1;
    let mut series = Vec::new();
    for standing in &context.standings {
        let at = context.number(&standing.run);
        let is_gated = context.runs[at].is_gated();
        let points = |promoted: bool| {
            let is_own = move |player: &&Player| player.generation.is_some() == promoted || !is_gated;
            let own = standing.players.iter().filter(is_own);
            let mut points: Vec<Point> = own.filter_map(|player| point(player, over(player)?)).collect();
            points.sort_by(|a, b| a.x.total_cmp(&b.x));
            points
        };
        let named = |what: &str| if many { format!("{}, {what}", standing.run) } else { what.to_owned() };
        let (line, lone) = (Ink::Series(at), Ink::Series(if many { at } else { 1 }));
        let name = named(if is_gated { "promoted" } else { "nets" });
        series.push(Series { name, ink: line, joined: Joined::Marked, points: points(true) });
        if is_gated {
            let name = named("not promoted");
            series.push(Series { name, ink: lone, joined: Joined::No, points: points(false) });
        }
    }
    series.retain(|series| !series.points.is_empty());
    Chart {
        name: format!("elo-{}", id.replace(' ', "-").to_lowercase()),
        title: format!("Elo over {label}"),
        about: "Bars are 95 % intervals of the difference to the net that has 0.".to_owned(),
        x: if ["net", "generation"].contains(id) { Axis::whole(*label) } else { Axis::plain(*label) },
        y: Axis::plain(format!("Elo over {}", anchor(context))),
        marks: Marks::Series(series),
        references: if many { Vec::new() } else { outside(context) },
    }
}

/// The net, or the nets, that ratings are relative to.
fn anchor(context: &Context<'_>) -> String {
    let mut names: Vec<String> = context.standings.iter().map(Standing::anchor_name).collect();
    names.dedup();
    match &names[..] {
        [one] if context.standings.len() == 1 => format!("net {one}"),
        [one] => format!("each run's net {one}"),
        _ => "each run's first rated net".to_owned(),
    }
}

fn point(player: &Player, x: f64) -> Option<Point> {
    player.net?;
    let rating = player.rating?;
    let interval = (rating.high > rating.low).then_some((rating.low, rating.high));
    Some(Point { x, y: rating.elo, interval })
}

/// Players that are no nets.
fn outside(context: &Context<'_>) -> Vec<Reference> {
    let players = context.standings.iter().flat_map(|standing| &standing.players);
    let level = |player: &Player| Some(Reference::Level(player.rating?.elo, player.name()));
    players.filter(|player| player.net.is_none()).filter_map(level).collect()
}

/// The columns of the table; the last is there for nets that were on a device.
const HEAD: [&str; 12] = [
    "player",
    "generation",
    "Elo",
    "95 % interval",
    "match games",
    "time",
    "games",
    "positions",
    "evaluations",
    "Elo per hour",
    "Elo per CPU-hour",
    "Elo per device-hour",
];

fn table(context: &Context<'_>, standing: &Standing) -> Table {
    let dash = || "–".to_owned();
    let has_device = standing.players.iter().any(|player| player.spent.device_seconds > 0.0);
    let columns = if has_device { HEAD.len() } else { HEAD.len() - 1 };
    let row = |player: &Player| {
        let rating = player.rating.map_or_else(
            || "not joined by matches".to_owned(),
            |rating| {
                if rating.elo == 0.0 {
                    "0".to_owned()
                } else {
                    format!("{:+.0}", rating.elo).replace('-', "−")
                }
            },
        );
        let interval = player.rating.filter(|rating| rating.high > rating.low);
        let interval = interval.map_or_else(dash, |rating| signed(rating.low, rating.high));
        let of_net = |cell: String| if player.net.is_some() { cell } else { dash() };
        let hours = player.spent.seconds / 3600.0;
        let per_hour = player.rating.filter(|_| hours > 0.0).map(|rating| short(rating.elo / hours));
        let per_cpu_hour = player.rating.zip(player.spent.cpu_seconds.filter(|seconds| *seconds > 0.0));
        let per_device_hour = player.rating.filter(|_| player.spent.device_seconds > 0.0);
        let per_device_hour =
            per_device_hour.map(|rating| short(rating.elo / (player.spent.device_seconds / 3600.0)));
        let per_cpu_hour = per_cpu_hour.map(|(rating, seconds)| short(rating.elo / (seconds / 3600.0)));
        let mut cells = vec![
            player.name(),
            player.generation.map_or_else(dash, |generation| generation.to_string()),
            rating,
            interval,
            short(player.rating.map_or(0.0, |rating| rating.games)),
            of_net(super::speed::duration(player.spent.seconds)),
            of_net(short(player.spent.games)),
            of_net(short(player.spent.positions)),
            of_net(short(player.spent.evaluations)),
            of_net(per_hour.unwrap_or_else(dash)),
            of_net(per_cpu_hour.unwrap_or_else(dash)),
            of_net(per_device_hour.unwrap_or_else(dash)),
        ];
        cells.truncate(columns);
        (false, cells)
    };
    let title =
        if context.runs.len() > 1 { format!("Ratings of {}", standing.run) } else { "Ratings".to_owned() };
    Table {
        title,
        head: HEAD[..columns].iter().map(|name| (*name).to_owned()).collect(),
        rows: standing.players.iter().map(row).collect(),
        words: 1,
    }
}

fn signed(low: f64, high: f64) -> String {
    format!("{low:+.0} to {high:+.0}").replace('-', "−")
}

/// A word on matches whose players searched differently: a rating takes a net for one player whatever its search.
fn budgets(context: &Context<'_>) -> Option<String> {
    let simulations = |step: &Step| {
        let search = crate::report::steps::member(&step.params, "search")?;
        crate::report::steps::member(search, "simulations")?.as_f64()
    };
    let of = |run: &ReportRun| {
        let arenas = context.steps.iter().filter(|step| step.run == run.name && step.kind == "arena");
        let mut all: Vec<f64> = arenas.filter_map(simulations).collect();
        all.sort_by(f64::total_cmp);
        all.dedup();
        let words: Vec<String> = all.iter().map(|simulations| short(*simulations)).collect();
        (all.len() > 1).then(|| format!("{} ({} simulations)", run.name, words.join(", ")))
    };
    let mixed: Vec<String> = context.runs.iter().filter_map(of).collect();
    (!mixed.is_empty()).then(|| {
        format!("Matches were not all played with the same search: {}. The rating takes a net for one player all the same.", mixed.join("; "))
    })
}
