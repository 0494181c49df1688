//! dc0's own SQL functions. Each is declared once.

use crate::chess::{self, fen};
use crate::duckdb::{Compute, Function};

/// A function as users see it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FunctionInfo {
    /// Its call, such as `san(fen, move)`.
    pub form: &'static str,
    /// Its return type.
    pub gives: &'static str,
    /// What it returns, in a few words.
    pub meaning: &'static str,
}

static FUNCTIONS: [Function; 10] = [
    Function {
        form: "material(fen)",
        compute: Compute::FenInt(fen::material),
        meaning: "White's material minus Black's, in pawns: pawn 1, knight and bishop 3, rook 5, queen 9",
    },
    Function {
        form: "phase(fen)",
        compute: Compute::FenFloat(fen::phase),
        meaning: "game phase, from 1 (all pieces; above 1 with more after promotions) to 0 (kings and pawns only): a queen counts 4, a rook 2, a \
            knight or bishop 1, of 24",
    },
    Function {
        form: "piece_count(fen)",
        compute: Compute::FenInt(fen::piece_count),
        meaning: "number of pieces on the board, kings and pawns included",
    },
    Function {
        form: "side(fen)",
        compute: Compute::FenText(fen::side),
        meaning: "the side to move: `white` or `black`",
    },
    Function {
        form: "board(fen)",
        compute: Compute::FenText(fen::board),
        meaning: "the board in eight lines, White at the bottom",
    },
    Function {
        form: "uci(move) or uci(moves)",
        compute: Compute::MovesText(chess::uci),
        meaning: "a packed move in UCI notation, such as `e7e8q`; a list of moves with spaces between them",
    },
    Function {
        form: "san(fen, move)",
        compute: Compute::FenMoveText(chess::san),
        meaning: "a packed move in algebraic notation, such as `Nf3` or `exd8=Q+`; empty if it is not legal",
    },
    Function {
        form: "opening(moves)",
        compute: Compute::MovesText(chess::opening),
        meaning: "the opening's name, by the last named position of these moves from the initial position; empty if there is none",
    },
    Function {
        form: "eco(moves)",
        compute: Compute::MovesText(chess::eco),
        meaning: "the opening's ECO code, such as `B20`",
    },
    Function {
        form: "policy_entropy(list)",
        compute: Compute::ListFloat(entropy),
        meaning: "entropy in nats of the list, normalised to sum to 1; 0 for an empty list",
    },
];

/// All functions, in the order in which they are listed.
pub fn functions() -> Vec<FunctionInfo> {
    let info = |function: &Function| FunctionInfo {
        form: function.form,
        gives: function.compute.gives(),
        meaning: function.meaning,
    };
    FUNCTIONS.iter().map(info).collect()
}

pub(crate) fn all() -> &'static [Function] {
    &FUNCTIONS
}

/// −Σ p·ln p, where p is a weight as a share of the sum.
fn entropy(weights: &[f64]) -> f64 {
    let sum: f64 = weights.iter().sum();
    let shares = weights.iter().filter(|weight| **weight > 0.0).map(|weight| weight / sum);
    // Adding 0 turns −0 into 0.
    -shares.map(|share| share * share.ln()).sum::<f64>() + 0.0
}

#[cfg(test)]
mod tests {
    use super::entropy;

    #[test]
    fn entropy_is_that_of_the_shares() {
        assert_eq!(entropy(&[5.0]), 0.0);
        assert!((entropy(&[1.0, 1.0, 0.0]) - 2.0_f64.ln()).abs() < 1e-12);
        assert_eq!(entropy(&[]), 0.0);
    }
}
