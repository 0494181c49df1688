//! A chart as HTML: heading, caption, legend, the picture in two widths, and its numbers as a table.

use serde_json::Value as Json;

use super::chart::{Chart, Marks, ParallelLine, Reference, SeriesStyle};
use super::table::escape;
use super::theme::{Ink, Theme};

/// Picture sizes for desktop and phone screens.
const WIDE: (f64, f64) = (560.0, 300.0);
const NARROW: (f64, f64) = (340.0, 250.0);
/// The height of a horizontal bar with its gap.
const BAR_HEIGHT: f64 = 24.0;

/// A chart as an HTML figure.
pub fn figure(chart: &Chart) -> String {
    let picture = |(width, height): (f64, f64), class: &str| {
        let svg = chart.svg(Theme::Page, width, chart.height(height));
        format!("<div class=\"{class}\">{}</div>", fluid(&svg, width, chart.height(height)))
    };
    let (name, title, caption) = (&chart.name, escape(&chart.title), escape(&chart.caption));
    format!(
        "<figure id=\"{name}\" class=\"chart\" aria-labelledby=\"{name}-t\"><figcaption><h3 id=\"{name}-t\">{title}</h3>\
         <p>{caption}</p>{}</figcaption>\
         <div class=\"picture\" role=\"img\" aria-label=\"{title}. {caption} The numbers are in the table below.\">{}{}</div>{}{}</figure>",
        legend(chart),
        picture(WIDE, "wide"),
        picture(NARROW, "narrow"),
        data(chart),
        numbers(chart),
    )
}

/// The data with which the page's script draws the chart in place of the picture, or shows the values of its lines.
fn data(chart: &Chart) -> String {
    let sizes = [WIDE, NARROW].map(|(width, height)| (width, chart.height(height)));
    let script = |class: &str, data: Json| {
        // Names must not end the script element.
        let data = data.to_string().replace('<', "\\u003c");
        format!("<script type=\"application/json\" class=\"{class}\">{data}</script>")
    };
    let lines = || Some(script("lines", chart.lines(&sizes)?));
    chart.data(sizes[0]).map(|data| script("data", data)).or_else(lines).unwrap_or_default()
}

/// Makes the picture scale to its container.
fn fluid(svg: &str, width: f64, height: f64) -> String {
    let sized = format!("width=\"{width:.0}\" height=\"{height:.0}\"");
    let fluid = format!("viewBox=\"0 0 {width:.0} {height:.0}\" aria-hidden=\"true\" focusable=\"false\"");
    svg.replacen(&sized, &fluid, 1)
}

fn legend(chart: &Chart) -> String {
    let entry = |name: &str, sign: String| format!("<li>{sign}{}</li>", escape(name));
    let mut entries: Vec<String> = match &chart.marks {
        Marks::Series(series) if series.len() > 1 => {
            series.iter().map(|series| entry(&series.name, line(series.ink, series.style))).collect()
        }
        Marks::Stacks { parts, .. } => parts.iter().map(|part| entry(&part.name, square(part.ink))).collect(),
        Marks::Parallel { .. } => [true, false]
            .map(|best| {
                entry(
                    ParallelLine::name_of(best),
                    stroke(ParallelLine::ink_of(best), if best { 3.0 } else { 1.0 }),
                )
            })
            .to_vec(),
        _ => Vec::new(),
    };
    entries.extend(chart.references.iter().filter_map(|reference| match reference {
        Reference::Diagonal(label) => Some(entry(label, line(Ink::Muted, SeriesStyle::Line))),
        Reference::Level(..) => None,
    }));
    // The order of stacked parts identifies them for readers who cannot distinguish the colours.
    let order = if matches!(chart.marks, Marks::Stacks { .. }) && entries.len() > 1 {
        "<li>from bottom to top:</li>"
    } else {
        ""
    };
    if entries.is_empty() {
        String::new()
    } else {
        format!("<ul class=\"legend\">{order}{}</ul>", entries.concat())
    }
}

fn line(ink: Ink, style: SeriesStyle) -> String {
    let (colour, dashes) = (ink.colour(Theme::Page), if ink == Ink::Muted { "5 4" } else { ink.dashes() });
    let line =
        format!("<path d=\"M1 6h26\" stroke=\"{colour}\" stroke-width=\"2\" stroke-dasharray=\"{dashes}\"/>");
    let dot = format!("<path d=\"{}\" fill=\"{colour}\"/>", ink.outline());
    let marks = match style {
        SeriesStyle::Markers => dot,
        SeriesStyle::MarkedLine => format!("{line}{dot}"),
        SeriesStyle::Line => line,
    };
    format!("<svg width=\"28\" height=\"12\" aria-hidden=\"true\">{marks}</svg>")
}

fn stroke(ink: Ink, width: f64) -> String {
    let colour = ink.colour(Theme::Page);
    format!(
        "<svg width=\"28\" height=\"12\" aria-hidden=\"true\"><path d=\"M1 6h26\" stroke=\"{colour}\" stroke-width=\"{width}\"/></svg>"
    )
}

fn square(ink: Ink) -> String {
    let colour = ink.colour(Theme::Page);
    format!(
        "<svg width=\"12\" height=\"12\" aria-hidden=\"true\"><rect width=\"12\" height=\"12\" fill=\"{colour}\"/></svg>"
    )
}

fn numbers(chart: &Chart) -> String {
    let rows = chart.table();
    let Some((head, rows)) = rows.split_first() else { return String::new() };
    let cells = |tag: &str, row: &[String]| -> String {
        row.iter().map(|cell| format!("<{tag}>{}</{tag}>", escape(cell))).collect()
    };
    let body: String = rows.iter().map(|row| format!("<tr>{}</tr>", cells("td", row))).collect();
    format!(
        "<details class=\"numbers\"><summary>Numbers</summary><div class=\"scroll\" tabindex=\"0\"><table><thead><tr>{}</tr>\
         </thead><tbody>{body}</tbody></table></div></details>",
        cells("th", head)
    )
}

impl Chart {
    /// The height of a picture; that of a bar chart grows with its bars.
    fn height(&self, default: f64) -> f64 {
        match &self.marks {
            Marks::Bars(bars) => (70.0 + BAR_HEIGHT * bars.len() as f64).max(120.0),
            _ => default,
        }
    }
}
