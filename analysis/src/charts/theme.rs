//! Themes, and the colours, lines and markers of series.
//!
//! Series have the palette of Okabe and Ito (2008), whose colours are distinguishable with any colour vision; dark pages use lighter
//! ones. `web/colours.css` defines them as CSS variables.

use kuva::plot::LineStyle;
use kuva::plot::scatter::MarkerShape;

/// The colours that a chart is drawn in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Theme {
    /// CSS variables of the page's style sheet.
    Page,
    /// Fixed colours on white.
    Light,
}

/// The font size of all text.
pub(super) const TEXT_SIZE: u32 = 12;
/// The mean width of a character, as a share of the font size.
const CHARACTER_WIDTH: f64 = 0.6;

/// The approximate width of a text with this many characters.
pub(super) fn text_width(count: usize) -> f64 {
    CHARACTER_WIDTH * f64::from(TEXT_SIZE) * count as f64
}

/// The colour of a mark; for series also its dashes and marker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ink {
    /// A series, by its index.
    Series(usize),
    /// Wins of White.
    White,
    /// Draws.
    Draw,
    /// Wins of Black.
    Black,
    /// Text.
    Text,
    /// Axes and reference lines.
    Muted,
    /// Grid lines.
    Grid,
    /// The background.
    Background,
}

const SERIES: [&str; 8] =
    ["#0072b2", "#d55e00", "#009e73", "#b0568f", "#56b4e9", "#c78500", "#5a5f66", "#8a6d3b"];
const MARKERS: [MarkerShape; 6] = [
    MarkerShape::Circle,
    MarkerShape::Square,
    MarkerShape::Triangle,
    MarkerShape::Diamond,
    MarkerShape::TriangleDown,
    MarkerShape::Hexagon,
];
/// The same markers as SVG paths around (14, 6), for legends.
const OUTLINES: [&str; 6] = [
    "M10.5 6a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0 -7 0z",
    "M10.8 2.8h6.4v6.4h-6.4z",
    "M14 2l4 7.4h-8z",
    "M14 1.6l4.4 4.4-4.4 4.4-4.4-4.4z",
    "M14 10l4-7.4h-8z",
    "M14 2l3.6 2v4L14 10l-3.6-2V4z",
];
const DASHES: [&str; 6] = ["", "7 4", "2 3", "9 3 2 3", "12 3", "4 2"];

impl Ink {
    /// How many series have colours of their own.
    pub(crate) const SERIES: usize = SERIES.len();

    /// The colour as an SVG value.
    pub fn colour(self, theme: Theme) -> String {
        match theme {
            Theme::Page => format!("var({})", self.variable()),
            Theme::Light => self.on_white().to_owned(),
        }
    }

    /// The CSS variable with the colour.
    pub(super) fn variable(self) -> String {
        match self {
            Self::Series(number) => format!("--c{}", number % SERIES.len() + 1),
            Self::White => "--white".to_owned(),
            Self::Draw => "--draw".to_owned(),
            Self::Black => "--black".to_owned(),
            Self::Text => "--muted".to_owned(),
            Self::Muted => "--axis".to_owned(),
            Self::Grid => "--grid".to_owned(),
            Self::Background => "--paper".to_owned(),
        }
    }

    fn on_white(self) -> &'static str {
        match self {
            Self::Series(number) => SERIES[number % SERIES.len()],
            Self::White => "#e3c88f",
            Self::Draw => "#a3a9b1",
            Self::Black => "#3b3f46",
            Self::Text => "#4a4f57",
            Self::Muted => "#8a9099",
            Self::Grid => "#e7e9ec",
            Self::Background => "#ffffff",
        }
    }

    /// The line's dash pattern; empty for a solid line.
    pub fn dashes(self) -> &'static str {
        match self {
            Self::Series(number) => DASHES[number % DASHES.len()],
            _ => "",
        }
    }

    /// The marker as an SVG path around (14, 6).
    pub(super) fn outline(self) -> &'static str {
        if let Self::Series(number) = self { OUTLINES[number % OUTLINES.len()] } else { OUTLINES[0] }
    }

    pub(super) fn line(self) -> LineStyle {
        match self.dashes() {
            "" => LineStyle::Solid,
            dashes => LineStyle::Custom(dashes.to_owned()),
        }
    }

    pub(super) fn marker(self) -> MarkerShape {
        match self {
            Self::Series(number) => MARKERS[number % MARKERS.len()],
            _ => MarkerShape::Circle,
        }
    }
}
