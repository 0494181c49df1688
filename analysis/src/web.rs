//! What the pages of this program share: the men, a script that draws positions, light and dark.

/// The men as SVG groups `pc-p` to `pc-k`, each in a square of 45.
pub const MEN: &str = include_str!("web/men.svg");

/// A JavaScript module that draws positions with these men.
pub const BOARD: &str = include_str!("web/board.js");

/// A script for the head of a page: light or dark, as the reader has chosen.
pub const THEME: &str = include_str!("web/theme.js");

/// The men in an element of a page that takes no room where its class `store` is out of the flow, for others to use.
pub fn hidden_men() -> String {
    format!(
        "<svg width=\"0\" height=\"0\" class=\"store\" aria-hidden=\"true\" focusable=\"false\"><defs>\n{MEN}</defs></svg>\n"
    )
}
