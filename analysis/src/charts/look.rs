//! Colours, lines and markers.
//!
//! The colours of series are those of Okabe and Ito (2008), which people with any colour vision tell apart; in the dark they
//! are lighter. Their names, as CSS knows them, stand in `report/page.css`.

use kuva::plot::LineStyle;
use kuva::plot::scatter::MarkerShape;

/// Where a chart is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Look {
    /// In a page whose style sheet says what the colours are.
    Page,
    /// Alone, on white.
    Light,
}

/// The size of all text.
pub(super) const TEXT_SIZE: u32 = 12;
/// How wide a letter is on the whole, as a share of the size of text.
const LETTER: f64 = 0.6;

/// How wide so many letters are.
pub(super) fn letters(count: usize) -> f64 {
    LETTER * f64::from(TEXT_SIZE) * count as f64
}

/// What colour something has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ink {
    /// The colour, line and marker of a series, by its number.
    Series(usize),
    /// What White gains.
    White,
    /// What nobody gains.
    Draw,
    /// What Black gains.
    Black,
    /// Text and the lines of axes.
    Text,
    /// Lines that are only there to compare with.
    Muted,
    /// The lines behind everything.
    Grid,
    /// What lies behind everything.
    Paper,
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
/// The same around (14, 6), as paths of legends.
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
    /// The colour, as SVG writes it.
    pub fn colour(self, look: Look) -> String {
        match look {
            Look::Page => format!("var(--{})", self.name()),
            Look::Light => self.on_white().to_owned(),
        }
    }

    fn name(self) -> String {
        match self {
            Self::Series(number) => format!("c{}", number % SERIES.len() + 1),
            Self::White => "white".to_owned(),
            Self::Draw => "draw".to_owned(),
            Self::Black => "black".to_owned(),
            Self::Text => "muted".to_owned(),
            Self::Muted => "axis".to_owned(),
            Self::Grid => "grid".to_owned(),
            Self::Paper => "paper".to_owned(),
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
            Self::Paper => "#ffffff",
        }
    }

    /// The dashes of a line, empty for an unbroken one.
    pub fn dashes(self) -> &'static str {
        match self {
            Self::Series(number) => DASHES[number % DASHES.len()],
            _ => "",
        }
    }

    /// The marker as a path around (14, 6).
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
