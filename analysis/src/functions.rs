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

const INFOS: [FunctionInfo; 10] = [
    FunctionInfo {
        form: "material(fen)",
        gives: "i64",
        meaning: "White's material minus Black's, in pawns: pawn 1, knight and bishop 3, rook 5, queen 9",
    },
    FunctionInfo {
        form: "phase(fen)",
        gives: "f64",
        meaning: "game phase, from 1 (all pieces; above 1 with more after promotions) to 0 (kings and pawns only): a queen counts 4, a rook 2, a \
            knight or bishop 1, of 24",
    },
    FunctionInfo {
        form: "piece_count(fen)",
        gives: "i64",
        meaning: "number of pieces on the board, kings and pawns included",
    },
    FunctionInfo { form: "side(fen)", gives: "text", meaning: "the side to move: `white` or `black`" },
    FunctionInfo {
        form: "board(fen)",
        gives: "text",
        meaning: "the board in eight lines, White at the bottom",
    },
    FunctionInfo {
        form: "uci(move) or uci(moves)",
        gives: "text",
        meaning: "a packed move in UCI notation, such as `e7e8q`; a list of moves with spaces between them",
    },
    FunctionInfo {
        form: "san(fen, move)",
        gives: "text",
        meaning: "a packed move in algebraic notation, such as `Nf3` or `exd8=Q+`; empty if it is not legal",
    },
    FunctionInfo {
        form: "opening(moves)",
        gives: "text",
        meaning: "the opening's name, by the last named position of these moves from the initial position; empty if there is none",
    },
    FunctionInfo { form: "eco(moves)", gives: "text", meaning: "the opening's ECO code, such as `B20`" },
    FunctionInfo {
        form: "policy_entropy(list)",
        gives: "f64",
        meaning: "entropy in nats of the list, normalised to sum to 1; 0 for an empty list",
    },
];

static FUNCTIONS: [Function; 10] = [
    Function { name: "material", compute: Compute::FenInt(fen::material) },
    Function { name: "phase", compute: Compute::FenFloat(fen::phase) },
    Function { name: "piece_count", compute: Compute::FenInt(fen::piece_count) },
    Function { name: "side", compute: Compute::FenText(fen::side) },
    Function { name: "board", compute: Compute::FenText(fen::board) },
    Function { name: "uci", compute: Compute::MovesText(chess::uci) },
    Function { name: "san", compute: Compute::FenMoveText(chess::san) },
    Function { name: "opening", compute: Compute::MovesText(chess::opening) },
    Function { name: "eco", compute: Compute::MovesText(chess::eco) },
    Function { name: "policy_entropy", compute: Compute::ListFloat(entropy) },
];

/// All functions, in the order in which they are listed.
pub fn functions() -> Vec<FunctionInfo> {
    INFOS.to_vec()
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
    use super::{FUNCTIONS, INFOS, entropy};

    #[test]
    fn entropy_is_that_of_the_shares() {
        assert_eq!(entropy(&[5.0]), 0.0);
        assert!((entropy(&[1.0, 1.0, 0.0]) - 2.0_f64.ln()).abs() < 1e-12);
        assert_eq!(entropy(&[]), 0.0);
    }

    #[test]
    fn every_function_is_described() {
        for (function, info) in FUNCTIONS.iter().zip(INFOS) {
            assert!(info.form.starts_with(&format!("{}(", function.name)));
        }
    }
}
