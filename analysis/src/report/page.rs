//! Renders a report as one self-contained HTML page, with styles, scripts and pictures inside.

use std::collections::BTreeSet;

use serde_json::Value as Json;

use super::section::{BuiltSection, Finding, Part, SampleGame, Section, Status, Table};
use crate::charts::{escape, figure};
use crate::source::Damage;
use crate::web::{BOARD, CHART_STYLE, COLOURS, THEME, UPLOT, charts_script, hidden_pieces};

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");
const GAMES: &str = include_str!("games.js");

/// Characters of a cell's text that stay on one line, as names of players do.
const LONGEST_NAME: usize = 24;

/// The page's HTML.
pub(super) fn page(title: &str, sections: &[BuiltSection<'_>], faults: &[Damage]) -> String {
    let (shown, left_out): (Vec<&BuiltSection<'_>>, Vec<&BuiltSection<'_>>) =
        sections.iter().partition(|section| section.parts.is_ok());
    let links: String = shown
        .iter()
        .map(|BuiltSection { section, .. }| {
            format!("<li><a href=\"#{}\">{}</a></li>", section.id, section.title)
        })
        .collect();
    let title = escape(title);
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; \
         script-src 'unsafe-inline'; img-src data:\">\n<link rel=\"icon\" href=\"data:,\">\n\
         <title>{title}</title>\n<style>\n{COLOURS}{STYLE}{CHART_STYLE}</style>\n<script>\n{THEME}</script>\n</head>\n<body>\n\
         <a class=\"skip\" href=\"#main\">Skip to the report</a>\n\
         <header><h1>{title}</h1><button type=\"button\" id=\"theme\" hidden>Dark</button></header>\n\
         <nav aria-label=\"Sections\"><ul>{links}</ul></nav>\n<main id=\"main\">\n{}{}{}</main>\n{}\
         <script>\n{SCRIPT}</script>\n{}{}</body>\n</html>\n",
        damage(faults),
        shown.iter().map(|section| html(section, faults)).collect::<String>(),
        not_shown(&left_out, faults),
        hidden_pieces(),
        if shown.iter().any(|section| section.charts().next().is_some()) {
            format!("<script>\n{UPLOT}</script>\n<script type=\"module\">\n{}</script>\n", charts_script())
        } else {
            String::new()
        },
        if has_games(&shown) {
            format!("<script type=\"module\">\n{BOARD}{GAMES}</script>\n")
        } else {
            String::new()
        },
    )
}

fn has_games(sections: &[&BuiltSection<'_>]) -> bool {
    let mut parts = sections.iter().filter_map(|section| section.parts.as_ref().ok()).flatten();
    parts.any(|part| matches!(part, Part::Games(_)))
}

/// What is missing or damaged, at the top of the page.
fn damage(faults: &[Damage]) -> String {
    if faults.is_empty() {
        return String::new();
    }
    let has_several_runs = faults.iter().any(|fault| fault.run != faults[0].run);
    let item = |fault: &Damage| {
        let run = if has_several_runs { format!("<b>{}</b>: ", escape(&fault.run)) } else { String::new() };
        format!("<li>{run}{}</li>", escape(&fault.message))
    };
    format!(
        "<section id=\"damage\" class=\"damage\" role=\"alert\"><h2>Missing or damaged data</h2>\
         <p class=\"about\">This report leaves out what could not be read. Sections that lack it say so.</p><ul>{}</ul></section>\n",
        faults.iter().map(item).collect::<String>()
    )
}

/// A note for a section that lacks some of its data.
fn incomplete(section: &Section, faults: &[Damage]) -> String {
    let lacks = |fault: &&Damage| fault.affects.iter().any(|data| section.reads.contains(data));
    let lacking: BTreeSet<&str> =
        faults.iter().filter(lacks).flat_map(|fault| &fault.affects).copied().collect();
    let lacking: Vec<&str> = lacking.into_iter().filter(|data| section.reads.contains(data)).collect();
    if lacking.is_empty() {
        return String::new();
    }
    format!(
        "<p class=\"incomplete\">Incomplete: some of {} is <a href=\"#damage\">missing or damaged</a>.</p>",
        lacking.join(", ")
    )
}

/// The list of sections without data, with the reasons; those with the same one share a line.
fn not_shown(sections: &[&BuiltSection<'_>], faults: &[Damage]) -> String {
    let mut lines: Vec<(String, Vec<&str>)> = Vec::new();
    for BuiltSection { section, parts } in sections {
        let Err(reason) = parts else { continue };
        let reason = format!("{}{}", escape(reason), incomplete(section, faults));
        match lines.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, titles)) => titles.push(section.title),
            None => lines.push((reason, vec![section.title])),
        }
    }
    let line =
        |(reason, titles): &(String, Vec<&str>)| format!("<li><b>{}</b>: {}</li>", titles.join(", "), reason);
    let lines: String = lines.iter().map(line).collect();
    let head = "<section id=\"left-out\"><h2>Not shown</h2><p class=\"about\">Sections without data.</p>";
    if lines.is_empty() { String::new() } else { format!("{head}<ul>{lines}</ul></section>\n") }
}

fn html(BuiltSection { section, parts }: &BuiltSection<'_>, faults: &[Damage]) -> String {
    let (id, title, about) = (section.id, section.title, escape(section.about));
    let mut inner = String::new();
    let mut in_grid = false;
    for part in parts.iter().flatten() {
        // Consecutive charts share a grid; one alone has its whole width.
        let is_chart = matches!(part, Part::Chart(_) | Part::Choice(..));
        if is_chart != in_grid {
            inner.push_str(if is_chart { "<div class=\"grid\">" } else { "</div>" });
            in_grid = is_chart;
        }
        inner.push_str(&part_html(part));
    }
    inner.push_str(if in_grid { "</div>" } else { "" });
    let lacks = incomplete(section, faults);
    format!("<section id=\"{id}\"><h2>{title}</h2><p class=\"about\">{about}</p>{lacks}{inner}</section>\n")
}

fn part_html(part: &Part) -> String {
    match part {
        Part::Heading(text) => format!("<h3 class=\"run\">{}</h3>", escape(text)),
        Part::Text(text) => format!("<p>{}</p>", escape(text)),
        Part::Tiles(tiles) => tiles_html(tiles),
        Part::Chart(chart) => figure(chart),
        Part::Choice(label, charts) => choice(label, charts),
        Part::Table(table) => table_html(table),
        Part::Findings(findings) => findings_html(findings),
        Part::Games(games) => viewer(games),
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

/// Charts of which the page's script shows one at a time.
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

fn table_html(table: &Table) -> String {
    let class = |column: usize| if column < table.text_columns { "" } else { " class=\"n\"" };
    let head: String = table
        .head
        .iter()
        .enumerate()
        .map(|(column, name)| format!("<th scope=\"col\"{}>{}</th>", class(column), escape(name)))
        .collect();
    let row = |(is_highlighted, cells): &(bool, Vec<String>)| {
        let cell = |(column, cell): (usize, &String)| {
            let is_long = column < table.text_columns && cell.chars().count() > LONGEST_NAME;
            let class = if is_long { " class=\"long\"" } else { class(column) };
            format!("<td{class}>{}</td>", escape(cell))
        };
        let cells: String = cells.iter().enumerate().map(cell).collect();
        format!("<tr{}>{cells}</tr>", if *is_highlighted { " class=\"out\"" } else { "" })
    };
    let (title, rows) = (escape(&table.title), table.rows.iter().map(row).collect::<String>());
    format!(
        "<div class=\"card\"><h3>{title}</h3><div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{title}\">\
         <table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div></div>"
    )
}

fn findings_html(findings: &[Finding]) -> String {
    let has_several_runs = findings.iter().any(|finding| finding.run != findings[0].run);
    let item = |finding: &Finding| {
        let (class, sign, label) = match finding.status {
            Status::Passed => ("passed", "✓", "ok"),
            Status::Warning => ("warning", "!", "warning"),
            Status::NoData => ("unknown", "?", "no data"),
        };
        let run = if has_several_runs { format!("{}: ", escape(&finding.run)) } else { String::new() };
        format!(
            "<li class=\"{class}\"><span class=\"sign\" aria-hidden=\"true\">{sign}</span><div><b>{run}{}</b> \
             <span class=\"label\">{label}</span><p>{}</p><p class=\"why\">{}</p></div></li>",
            finding.check,
            escape(&finding.found),
            escape(finding.why)
        )
    };
    // Warnings first: they matter most.
    let mut sorted: Vec<&Finding> = findings.iter().collect();
    sorted.sort_by_key(|finding| finding.status != Status::Warning);
    format!("<ul class=\"findings\">{}</ul>", sorted.into_iter().map(item).collect::<String>())
}

fn viewer(games: &[SampleGame]) -> String {
    let options: String = games
        .iter()
        .enumerate()
        .map(|(index, game)| format!("<option value=\"{index}\">{}</option>", escape(&game.title)))
        .collect();
    let data = Json::Array(games.iter().map(|game| game.data.clone()).collect()).to_string();
    // Data must not end the script element.
    let data = data.replace('<', "\\u003c");
    format!(
        "<script type=\"application/json\" id=\"games-data\">{data}</script>\n{}",
        include_str!("games.html").replace("{options}", &options)
    )
}
