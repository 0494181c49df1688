//! Several charts in one SVG.

use super::chart::Chart;
use super::table::escape;
use super::theme::{Ink, Theme};

/// The height of the heading above each chart.
const HEADING_HEIGHT: f64 = 34.0;
const HEADING_SIZE: u32 = 20;

/// Charts on white in a grid of `columns`, each under its title, as one SVG.
pub fn sheet(charts: &[Chart], columns: usize, (width, height): (f64, f64)) -> String {
    let columns = columns.max(1);
    let rows = charts.len().div_ceil(columns);
    let (background, text) = (Ink::Background.colour(Theme::Light), Ink::Text.colour(Theme::Light));
    let panel = |(index, chart): (usize, &Chart)| {
        let (column, row) = (index % columns, index / columns);
        let (x, y) = (column as f64 * width, row as f64 * (height + HEADING_HEIGHT));
        let (middle, baseline) = (width / 2.0, 0.75 * HEADING_HEIGHT);
        let (title, picture) = (escape(&chart.title), chart.svg(Theme::Light, width, height));
        format!(
            "<g transform=\"translate({x},{y})\"><text x=\"{middle}\" y=\"{baseline}\" text-anchor=\"middle\" \
             font-size=\"{HEADING_SIZE}\" fill=\"{text}\">{title}</text>\
             <g transform=\"translate(0,{HEADING_HEIGHT})\">{picture}</g></g>\n"
        )
    };
    let panels: String = charts.iter().enumerate().map(panel).collect();
    let (width, height) = (width * columns as f64, (height + HEADING_HEIGHT) * rows as f64);
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" font-family=\"system-ui, DejaVu Sans, sans-serif\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"{background}\"/>\n{panels}</svg>\n"
    )
}
