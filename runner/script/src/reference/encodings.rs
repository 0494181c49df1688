//! Every plane of every input encoding.

use std::fmt::Write as _;

use dc0_core::encoding::{Encoding, EncodingName, MissingHistory, Orientation, Plane, PlaneKind};

const HEAD: &str = "# Input encodings

Every plane of every encoding, as `dc0-run docs encodings` prints them from the tables in the code.
[Methods](../methods/encodings.md) says where they come from; `dc0-run encode` shows the planes of a position.

The planes are named for `orientation: \"side_to_move\"`, the default of every encoding: ranks are mirrored for Black.
With `absolute`, \"own\" is White's and \"the opponent's\" is Black's, and nothing is mirrored.
A plane is stored as one bit for each square, or as one number for all squares, divided as the table says.
Castling rights of Chess960 fill their planes like those of standard chess; which rook may castle is not shown.
";

/// The page.
pub(super) fn page() -> String {
    let mut page = HEAD.to_owned();
    for name in EncodingName::ALL {
        section(&mut page, name);
    }
    page.truncate(page.trim_end().len());
    page
}

fn section(page: &mut String, name: EncodingName) {
    let encoding = Encoding::new(name, Orientation::SideToMove);
    let counts = format!(
        "Version {}, `{}` in the original. {} planes: {} of bits, {} of numbers.",
        name.version(),
        name.source_orientation().name(),
        encoding.planes().len(),
        encoding.binary_count(),
        encoding.scalar_count()
    );
    let head = "| plane | shows | stored as |\n|---|---|---|";
    let table: String = encoding.planes().iter().enumerate().map(line).collect();
    write!(page, "\n## `{}`\n\n{counts} {}\n\n{head}\n{table}", name.name(), history(name))
        .expect("text takes everything");
}

fn history(name: EncodingName) -> String {
    if name.max_history() == 1 {
        return "It sees only the current position.".to_owned();
    }
    let missing = match name.missing_history() {
        MissingHistory::Zeros => "nothing",
        MissingHistory::FirstPosition => {
            "the first position again, with a pawn that may be captured en passant put back; before the initial position nothing"
        }
    };
    format!(
        "`history` may be 1 to {} and defaults to {}; the table has that many steps. Before the start of a game it sees {missing}.",
        name.max_history(),
        name.history()
    )
}

fn line((number, plane): (usize, &Plane)) -> String {
    let stored = match (plane.kind(), plane.divisor()) {
        (PlaneKind::Scalar, Some(divisor)) => format!("number / {divisor}"),
        _ => "bits".to_owned(),
    };
    format!("| {number} | {} | {stored} |\n", plane.describe(Orientation::SideToMove))
}
