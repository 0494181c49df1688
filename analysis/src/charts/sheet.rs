//! Several charts as one picture, for those that belong together and stand alone.

use super::chart::Chart;
use super::look::{Ink, Look};
use super::table::escape;

/// Room for the heading above each chart.
const HEADING: f64 = 34.0;
const HEADING_SIZE: u32 = 20;

/// Charts on white, in rows of so many, each of a size and under its title, as one SVG.
pub fn sheet(charts: &[Chart], in_row: usize, (width, height): (f64, f64)) -> String {
    let in_row = in_row.max(1);
    let rows = charts.len().div_ceil(in_row);
    let (paper, text) = (Ink::Paper.colour(Look::Light), Ink::Text.colour(Look::Light));
    let panel = |(at, chart): (usize, &Chart)| {
        let (x, y) = ((at % in_row) as f64 * width, (at / in_row) as f64 * (height + HEADING));
        let (middle, line) = (width / 2.0, 0.75 * HEADING);
        let (title, picture) = (escape(&chart.title), chart.svg(Look::Light, width, height));
        format!(
            "<g transform=\"translate({x},{y})\"><text x=\"{middle}\" y=\"{line}\" text-anchor=\"middle\" \
             font-size=\"{HEADING_SIZE}\" fill=\"{text}\">{title}</text>\
             <g transform=\"translate(0,{HEADING})\">{picture}</g></g>\n"
        )
    };
    let panels: String = charts.iter().enumerate().map(panel).collect();
    let (width, height) = (width * in_row as f64, (height + HEADING) * rows as f64);
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" font-family=\"system-ui, DejaVu Sans, sans-serif\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"{paper}\"/>\n{panels}</svg>\n"
    )
}
