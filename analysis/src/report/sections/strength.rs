//! How strong the nets are: one joint rating, by net and by cumulative cost.

use dc0_core::params::Value;
use dc0_core::store::MatchGameRow;

use crate::charts::{Axis, Chart, Ink, Marks, Point, Reference, Series, SeriesStyle, short};
use crate::error::AnalysisError;
use crate::report::context::Context;
use crate::report::inputs::ReportRun;
use crate::report::matches::{Player, Standing};
use crate::report::section::{Part, Section, Table};
use crate::report::steps::{Spent, Step};

/// The x axis of a chart of ratings: its name, its label and a player's value.
type XAxis = (&'static str, &'static str, fn(&Player) -> Option<f64>);

const NET: XAxis = ("net", "net", |player| player.net.map(f64::from));
const X_AXES: [XAxis; 6] = [
    ("generation", "generation", |player| player.generation.map(f64::from)),
    ("time", "hours of all steps", |player| Some(player.spent.seconds / 3600.0)),
    ("CPU time", "CPU hours of all steps", |player| player.spent.cpu_seconds.map(|seconds| seconds / 3600.0)),
    ("games", "self-play games", |player| Some(player.spent.games)),
    ("positions", "self-play positions", |player| Some(player.spent.positions)),
    ("evaluations", "self-play evaluations", |player| Some(player.spent.evaluations)),
];

pub(super) const SECTION: Section = Section {
    id: "strength",
    title: "Strength",
    about: "Elo of every player relative to the first net that played a match, or to the mean of the rated players if no net did, from \
        one joint fit to all matches of the run, with 95 % intervals.",
    reads: &["costs", "generations", "journal", "matches", "record", "steps"],
    no_data: |_| "no match has been played",
    parts,
};

fn parts(context: &Context<'_>) -> Result<Vec<Part>, AnalysisError> {
    let mut parts = Vec::new();
    if !context.standings.is_empty() {
        // Runs without a gate have no generations to compare.
        let is_gated = context.runs.iter().all(ReportRun::is_gated);
        let axes = [if is_gated { &X_AXES[0] } else { &NET }].into_iter().chain(&X_AXES[1..]);
        let charts = axes.map(|axis| (axis.0.to_owned(), elo(context, axis)));
        let charts: Vec<(String, Chart)> = charts.filter(|(_, chart)| !chart.is_empty()).collect();
        if !charts.is_empty() {
            parts.push(Part::Choice("Elo by".to_owned(), charts));
        }
        parts.extend(context.standings.iter().map(|standing| Part::Table(table(context, standing))));
        parts.extend(
            context.standings.iter().filter_map(|standing| fitted(context, standing)).map(Part::Text),
        );
        parts.push(Part::Folded("How ratings are computed".to_owned(), METHOD.to_owned()));
        parts.extend(budgets(context).map(Part::Text));
    }
    Ok(parts)
}

const METHOD: &str = "Players are rated jointly by the model of Bradley and Terry (1952) with White's advantage A: the expected score of \
i with White against j is 1 / (1 + 10^((Rj − Ri − A) / 400)), a draw being half a point. Draws follow from the expected score and the \
draw rate of equal players (Davidson 1970). The ratings maximise the likelihood of the points of all games of the run at once, since \
averages along a chain of matches inflate. Every player gets half a drawn game, spread over its opponents as its games are, and so do \
they (the virtual draws of BayesElo, Coulom 2008), so that a match won outright gives a finite rating; the draw \
rate has one virtual game of equal players, drawn by half. Intervals are those of the \
difference to the anchor, the run's first net that played a match, or to the mean of the rated players if no net did. They use the \
sandwich covariance (White 1982) with the two games of an opening as one cluster, corrected for what the fit has taken up of each \
cluster (Mancl and DeRouen 2001), and Student's \
quantile. Each run has its own anchor, so ratings of different runs can be compared only as far as the anchors are alike. Ratings from \
self-play say little about strength against other opponents; players without a net, such as greedy, are external references.";

/// White's advantage and the draw rate, which are fitted with the ratings.
fn fitted(context: &Context<'_>, standing: &Standing) -> Option<String> {
    let white = standing.white_advantage?;
    let of = if context.runs.len() > 1 { format!(" of {}", standing.run) } else { String::new() };
    let white = format!("{:+.0} Elo ({})", white.value, signed(white.low, white.high)).replace('-', "−");
    let draws = standing.draw_rate.map_or_else(
        || "how often equal players draw is not determined".to_owned(),
        |draws| {
            let [draw, low, high] =
                [draws.value, draws.low, draws.high].map(|share| format!("{:.0}\u{a0}%", 100.0 * share));
            format!("equal players draw {draw} of their games ({low} to {high}), those ended by the ply cap included")
        },
    );
    Some(format!("In the matches{of}, White's advantage is {white}, and {draws}."))
}

fn elo(context: &Context<'_>, (id, label, x): &XAxis) -> Chart {
    let many = context.runs.len() > 1;
    let mut series = Vec::new();
    for standing in &context.standings {
        let run = context.run_index(&standing.run);
        let is_gated = context.runs[run].is_gated();
        let points = |promoted: bool| {
            let is_own = move |player: &&Player| player.generation.is_some() == promoted || !is_gated;
            let players = standing.players.iter().filter(is_own);
            let mut points: Vec<Point> = players.filter_map(|player| point(player, x(player)?)).collect();
            points.sort_by(|a, b| a.x.total_cmp(&b.x));
            points
        };
        let named = |what: &str| if many { format!("{}, {what}", standing.run) } else { what.to_owned() };
        let (line, markers) = (Ink::Series(run), Ink::Series(if many { run } else { 1 }));
        let name = named(if is_gated { "promoted" } else { "nets" });
        series.push(Series { name, ink: line, style: SeriesStyle::MarkedLine, points: points(true) });
        if is_gated {
            let name = named("not promoted");
            series.push(Series { name, ink: markers, style: SeriesStyle::Markers, points: points(false) });
        }
    }
    series.retain(|series| !series.points.is_empty());
    Chart {
        name: format!("elo-{}", id.replace(' ', "-").to_lowercase()),
        title: format!("Elo by {label}"),
        caption: "Error bars are 95 % intervals of the difference to the anchor, which is at 0.".to_owned(),
        x: if ["net", "generation"].contains(id) { Axis::integer(*label) } else { Axis::plain(*label) },
        y: Axis::plain(format!("Elo over {}", anchor(context))),
        marks: Marks::Series(series),
        references: if many { Vec::new() } else { reference_players(context) },
    }
}

/// The anchor, or the anchors, of the ratings.
fn anchor(context: &Context<'_>) -> String {
    let mut names: Vec<String> =
        context.standings.iter().filter_map(|standing| standing.anchor.clone()).collect();
    let count = names.len();
    names.dedup();
    match &names[..] {
        [one] if count == 1 => format!("net {one}"),
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

/// The ratings of players without a net.
fn reference_players(context: &Context<'_>) -> Vec<Reference> {
    let players = context.standings.iter().flat_map(|standing| &standing.players);
    let level = |player: &Player| Some(Reference::Level(player.rating?.elo, player.name.clone()));
    players.filter(|player| player.net.is_none()).filter_map(level).collect()
}

/// The columns of the table; the last one is shown if nets ran on a device other than the CPU.
const HEAD: [&str; 14] = [
    "player",
    "generation",
    "Elo",
    "95 % interval",
    "match games",
    "wins, draws, losses",
    "score",
    "time of all steps",
    "self-play games",
    "self-play positions",
    "self-play evaluations",
    "Elo per hour",
    "Elo per CPU-hour",
    "Elo per device-hour",
];

fn table(context: &Context<'_>, standing: &Standing) -> Table {
    let dash = || "–".to_owned();
    let has_device = standing.players.iter().any(|player| player.spent.device_seconds > 0.0);
    let columns = if has_device { HEAD.len() } else { HEAD.len() - 1 };
    let anchor = standing.players.iter().find(|player| standing.anchor.as_ref() == Some(&player.name));
    let row = |player: &Player| {
        let rating = player.rating.map_or_else(
            || "not connected by matches".to_owned(),
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
        let if_net = |cell: String| if player.net.is_some() { cell } else { dash() };
        // What was gained over the anchor, by what was spent after it.
        let gained = |seconds: fn(&Spent) -> Option<f64>| {
            let hours = (seconds(&player.spent)? - seconds(&anchor?.spent)?) / 3600.0;
            player.rating.filter(|_| hours > 0.0).map(|rating| short(rating.elo / hours))
        };
        let by_time = gained(|spent| Some(spent.seconds));
        let by_cpu = gained(|spent| spent.cpu_seconds);
        let by_device = gained(|spent| Some(spent.device_seconds));
        let mut cells = vec![
            player.name.clone(),
            player.generation.map_or_else(dash, |generation| generation.to_string()),
            rating,
            interval,
            short(f64::from(player.tally.games())),
            format!("+{} ={} −{}", player.tally.wins, player.tally.draws, player.tally.losses),
            player.tally.score().map_or_else(dash, |score| format!("{score:.3}")),
            if_net(super::speed::duration(player.spent.seconds)),
            if_net(short(player.spent.games)),
            if_net(short(player.spent.positions)),
            if_net(short(player.spent.evaluations)),
            if_net(by_time.unwrap_or_else(dash)),
            if_net(by_cpu.unwrap_or_else(dash)),
            if_net(by_device.unwrap_or_else(dash)),
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
        text_columns: 1,
    }
}

fn signed(low: f64, high: f64) -> String {
    format!("{low:+.0} to {high:+.0}").replace('-', "−")
}

/// Whether a match's own search is that of a player: a net that brings neither a search nor alpha-beta.
fn uses_its_search(context: &Context<'_>, step: &Step) -> bool {
    let pair = context.pairs.iter().find(|pair| pair.run == step.run && Some(pair.number) == step.number);
    let brings = |role: &str, what: &str| {
        let own = step.params.member(role).and_then(|own| own.member(what));
        own.is_some_and(|own| *own != Value::None)
    };
    let uses = |role: &str, player: &str| {
        MatchGameRow::net_of(player).is_some() && !brings(role, "search") && !brings(role, "alphabeta")
    };
    pair.is_some_and(|pair| uses("first", &pair.result.first) || uses("second", &pair.result.second))
}

/// A note on matches with different search budgets: a rating treats a net as one player, whatever its search.
fn budgets(context: &Context<'_>) -> Option<String> {
    let simulations = |step: &Step| step.params.member("search")?.figure("simulations");
    let budgets = |run: &ReportRun| {
        let arenas = context.steps.iter().filter(|step| step.run == run.name && step.kind == "arena");
        let arenas = arenas.filter(|step| uses_its_search(context, step));
        let mut all: Vec<f64> = arenas.filter_map(simulations).collect();
        all.sort_by(f64::total_cmp);
        all.dedup();
        let texts: Vec<String> = all.iter().map(|simulations| short(*simulations)).collect();
        (all.len() > 1).then(|| format!("{} ({} simulations)", run.name, texts.join(", ")))
    };
    let mixed: Vec<String> = context.runs.iter().filter_map(budgets).collect();
    (!mixed.is_empty()).then(|| {
        format!("Matches used different search budgets: {}. The rating nevertheless treats each net as one player.", mixed.join("; "))
    })
}
