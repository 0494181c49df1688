//! What all pages of the program share: the pieces, a script that draws positions, and the light and dark themes.

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
