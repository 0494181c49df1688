//! What all pages of the program share: the pieces, a script that draws positions, stored games as the boards read them, and the light
//! and dark themes.

pub mod games;

/// The pieces as SVG groups `pc-p` to `pc-k`, each in a square of 45 units.
pub const PIECE_SYMBOLS: &str = include_str!("web/pieces.svg");

/// A JavaScript module that draws positions with these pieces.
pub const BOARD: &str = include_str!("web/board.js");

/// A script for a page's head that applies the reader's choice of light or dark.
pub const THEME: &str = include_str!("web/theme.js");

/// The pieces in an invisible element for `use` elements to refer to. The page's style must take its class `store` out of the flow.
pub fn hidden_pieces() -> String {
    format!(
        "<svg width=\"0\" height=\"0\" class=\"store\" aria-hidden=\"true\" focusable=\"false\"><defs>\n{PIECE_SYMBOLS}</defs></svg>\n"
    )
}

/// The charting library uPlot 1.6.32 as published in npm, with its licence (MIT): a script that defines the global `uPlot`.
pub const UPLOT: &str = concat!(
    include_str!("web/chart/language.js"),
    "/*\n",
    include_str!("web/uplot/LICENSE"),
    "*/\n",
    include_str!("web/uplot/uPlot.iife.min.js")
);

/// The styles of uPlot, and of the charts that [`charts_script`] draws.
pub const CHART_STYLE: &str =
    concat!(include_str!("web/uplot/uPlot.min.css"), "\n", include_str!("web/chart/chart.css"));

/// The modules that draw charts, each after those that it imports.
const CHART_MODULES: [&str; 6] = [
    include_str!("web/chart/format.js"),
    include_str!("web/chart/ranges.js"),
    include_str!("web/chart/paint.js"),
    include_str!("web/chart/tooltip.js"),
    include_str!("web/chart/chart.js"),
    include_str!("web/chart/parallel.js"),
];

/// One JavaScript module that draws the charts of a page with [`UPLOT`].
pub fn charts_script() -> String {
    // Within one module nothing is imported.
    let lines = CHART_MODULES.iter().flat_map(|module| module.lines());
    let lines: Vec<&str> = lines.filter(|line| !line.starts_with("import ")).collect();
    format!("{}\nstartCharts();\nstartParallel();\n", lines.join("\n"))
}

/// The colours of all pages, light and dark, as CSS variables.
pub const COLOURS: &str = include_str!("web/colours.css");
