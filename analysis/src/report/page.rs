//! A report as one HTML page that needs nothing else: style, script and pictures are inside.

use serde_json::Value as Json;

use super::section::{Filled, Finding, Part, SampleGame, State, Table};
use crate::charts::{escape, figure};
use crate::web::{BOARD, THEME, hidden_men};

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");
const GAMES: &str = include_str!("games.js");

/// The page's text.
pub(super) fn page(title: &str, sections: &[Filled<'_>]) -> String {
    let (shown, left_out): (Vec<&Filled<'_>>, Vec<&Filled<'_>>) =
        sections.iter().partition(|section| section.parts.is_ok());
    let links: String = shown
        .iter()
        .map(|Filled { section, .. }| format!("<li><a href=\"#{}\">{}</a></li>", section.id, section.title))
        .collect();
    let title = escape(title);
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; \
         script-src 'unsafe-inline'; img-src data:\">\n<link rel=\"icon\" href=\"data:,\">\n\
         <title>{title}</title>\n<style>\n{STYLE}</style>\n<script>\n{THEME}</script>\n</head>\n<body>\n\
         <a class=\"skip\" href=\"#main\">Skip to the report</a>\n\
         <header><h1>{title}</h1><button type=\"button\" id=\"theme\" hidden>Dark</button></header>\n\
         <nav aria-label=\"Sections\"><ul>{links}</ul></nav>\n<main id=\"main\">\n{}{}</main>\n{}\
         <script>\n{SCRIPT}</script>\n{}</body>\n</html>\n",
        shown.iter().map(|section| html(section)).collect::<String>(),
        without(&left_out),
        hidden_men(),
        if has_games(&shown) {
            format!("<script type=\"module\">\n{BOARD}{GAMES}</script>\n")
        } else {
            String::new()
        },
    )
}

fn has_games(sections: &[&Filled<'_>]) -> bool {
    let mut parts = sections.iter().filter_map(|section| section.parts.as_ref().ok()).flatten();
    parts.any(|part| matches!(part, Part::Games(_)))
}

/// What the report does not show, and why.
fn without(sections: &[&Filled<'_>]) -> String {
    let line = |Filled { section, parts }: &&Filled<'_>| match parts {
        Err(reason) => format!("<li><b>{}</b>: {}</li>", section.title, escape(reason)),
        Ok(_) => String::new(),
    };
    let lines: String = sections.iter().map(line).collect();
    let head = "<section id=\"left-out\"><h2>Not shown</h2><p class=\"about\">What there is no data for.</p>";
    if lines.is_empty() { String::new() } else { format!("{head}<ul>{lines}</ul></section>\n") }
}

fn html(Filled { section, parts }: &Filled<'_>) -> String {
    let (id, title, about) = (section.id, section.title, escape(section.about));
    let mut inner = String::new();
    let mut in_grid = false;
    for part in parts.iter().flatten() {
        // Charts that follow each other stand side by side.
        let is_chart = matches!(part, Part::Chart(_));
        if is_chart != in_grid {
            inner.push_str(if is_chart { "<div class=\"grid\">" } else { "</div>" });
            in_grid = is_chart;
        }
        inner.push_str(&of_part(part));
    }
    inner.push_str(if in_grid { "</div>" } else { "" });
    format!("<section id=\"{id}\"><h2>{title}</h2><p class=\"about\">{about}</p>{inner}</section>\n")
}

fn of_part(part: &Part) -> String {
    match part {
        Part::Heading(text) => format!("<h3 class=\"run\">{}</h3>", escape(text)),
        Part::Text(text) => format!("<p>{}</p>", escape(text)),
        Part::Tiles(tiles) => tiles_html(tiles),
        Part::Chart(chart) => figure(chart),
        Part::Choice(label, charts) => choice(label, charts),
        Part::Table(of) => table(of),
        Part::Findings(findings) => findings_html(findings),
        Part::Games(games) => board(games),
        Part::Folded(title, text) => {
            format!(
                "<details class=\"folded\"><summary>{}</summary><pre>{}</pre></details>",
                escape(title),
                escape(text)
            )
        }
    }
}

fn tiles_html(tiles: &[(String, String)]) -> String {
    let tile = |(name, value): &(String, String)| {
        format!("<div><dt>{}</dt><dd>{}</dd></div>", escape(name), escape(value))
    };
    format!("<dl class=\"tiles\">{}</dl>", tiles.iter().map(tile).collect::<String>())
}

/// All charts, of which the page's script shows one at a time.
fn choice(label: &str, charts: &[(String, crate::charts::Chart)]) -> String {
    let button = |(name, chart): &(String, crate::charts::Chart)| {
        format!("<button type=\"button\" data-shows=\"{}\">{}</button>", chart.name, escape(name))
    };
    format!(
        "<div class=\"choice\"><div class=\"buttons\" role=\"group\" aria-label=\"{0}\" hidden><span>{0}</span>{1}</div>{2}</div>",
        escape(label),
        charts.iter().map(button).collect::<String>(),
        charts.iter().map(|(_, chart)| figure(chart)).collect::<String>(),
    )
}

fn table(of: &Table) -> String {
    let class = |at: usize| if at < of.words { "" } else { " class=\"n\"" };
    let head: String = of
        .head
        .iter()
        .enumerate()
        .map(|(at, name)| format!("<th scope=\"col\"{}>{}</th>", class(at), escape(name)))
        .collect();
    let row = |(stands_out, cells): &(bool, Vec<String>)| {
        let cell = |(at, cell): (usize, &String)| format!("<td{}>{}</td>", class(at), escape(cell));
        let cells: String = cells.iter().enumerate().map(cell).collect();
        format!("<tr{}>{cells}</tr>", if *stands_out { " class=\"out\"" } else { "" })
    };
    let (title, rows) = (escape(&of.title), of.rows.iter().map(row).collect::<String>());
    format!(
        "<div class=\"card\"><h3>{title}</h3><div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{title}\">\
         <table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div></div>"
    )
}

fn findings_html(findings: &[Finding]) -> String {
    let is_of_many = findings.iter().any(|finding| finding.run != findings[0].run);
    let item = |finding: &Finding| {
        let (class, sign, word) = match finding.state {
            State::Sound => ("sound", "✓", "sound"),
            State::Warning => ("warning", "!", "warning"),
            State::Unknown => ("unknown", "?", "no data"),
        };
        let run = if is_of_many { format!("{}: ", escape(&finding.run)) } else { String::new() };
        format!(
            "<li class=\"{class}\"><span class=\"sign\" aria-hidden=\"true\">{sign}</span><div><b>{run}{}</b> \
             <span class=\"word\">{word}</span><p>{}</p><p class=\"why\">{}</p></div></li>",
            finding.what,
            escape(&finding.found),
            escape(finding.why)
        )
    };
    // Warnings first: they are what people came for.
    let mut sorted: Vec<&Finding> = findings.iter().collect();
    sorted.sort_by_key(|finding| finding.state != State::Warning);
    format!("<ul class=\"findings\">{}</ul>", sorted.into_iter().map(item).collect::<String>())
}

fn board(games: &[SampleGame]) -> String {
    let options: String = games
        .iter()
        .enumerate()
        .map(|(at, game)| format!("<option value=\"{at}\">{}</option>", escape(&game.title)))
        .collect();
    let data = Json::Array(games.iter().map(|game| game.data.clone()).collect()).to_string();
    // Nothing in the data may end the script.
    let data = data.replace('<', "\\u003c");
    format!(
        "<script type=\"application/json\" id=\"games-data\">{data}</script>\n{}",
        include_str!("games.html").replace("{options}", &options)
    )
}
