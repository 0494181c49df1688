//! The planes of each table, worked out by hand.

use super::{ORIENTATIONS, encode, from_fen, from_text};
use crate::encoding::{Encoding, EncodingName, Orientation};

/// Black to move; White can still castle kingside, Black queenside; the pawn on e4 can capture on d3.
const FEN: &str = "r3k3/8/8/8/3Pp3/8/8/4K2R b Kq d3 0 42";
const ALL: u64 = u64::MAX;

/// The binary and scalar planes of [`FEN`] in both orientations, absolute first, for a table that has both.
fn encoded(name: EncodingName) -> [(Vec<u64>, Vec<f32>); 2] {
    let game = from_fen(FEN);
    ORIENTATIONS.map(|orientation| encode(&Encoding::new(name, orientation), &game))
}

/// The piece planes of [`FEN`]: pawn, knight, bishop, rook, queen and king of White, then of Black.
const PIECES: [u64; 12] = [1 << 27, 0, 0, 1 << 7, 0, 1 << 4, 1 << 28, 0, 0, 1 << 56, 0, 1 << 60];
/// The same of Black, then of White, with the ranks mirrored: Black's pawn on e4 is seen on e5.
const MIRRORED: [u64; 12] = [1 << 36, 0, 0, 1, 0, 1 << 4, 1 << 35, 0, 0, 1 << 63, 0, 1 << 60];

#[test]
fn worked_planes_of_dc0_20() {
    let encoding = Encoding::new(EncodingName::Dc0, Orientation::SideToMove);
    let (binary, scalars) = encode(&encoding, &from_fen(FEN));
    assert_eq!(binary[..12], MIRRORED);
    assert_eq!(binary[12..14], [0, 0], "no repetition");
    assert_eq!(binary[14..18], [0, ALL, ALL, 0], "own q, the opponent's K");
    assert_eq!(binary[18..], [1 << (19 ^ 56)], "d3 is seen on d6");
    assert_eq!(scalars, [0.0], "plies without progress");
}

#[test]
fn worked_planes_of_dc0_22() {
    let [absolute, oriented] = encoded(EncodingName::DummyChess);
    assert_eq!(absolute.0[..12], PIECES);
    assert_eq!(absolute.0[12..15], [0, 0, 0], "no repetition, Black to move");
    assert_eq!(absolute.0[15..19], [ALL, 0, 0, ALL], "castling K, Q, k, q");
    assert_eq!(absolute.0[19..], [1 << 19], "d3");
    assert_eq!(absolute.1, [0.42, 0.0]);
    assert_eq!(oriented.0[..12], MIRRORED);
    assert_eq!(oriented.0[15..19], [0, ALL, ALL, 0], "own q, the opponent's K");
    assert_eq!(oriented.0[19..], [1 << (19 ^ 56)], "d3 is seen on d6");
    assert_eq!(oriented.1, [0.42, 0.0]);
}

#[test]
fn worked_planes_of_dlchess_22() {
    let [absolute, oriented] = encoded(EncodingName::Dlchess);
    assert_eq!(absolute.0[..12], PIECES);
    assert_eq!(absolute.0[12..16], [0, 0, ALL, ALL], "no repetition, Black to move, ones");
    assert_eq!(absolute.0[16..20], [ALL, 0, 0, ALL], "castling K, Q, k, q");
    assert_eq!(absolute.0[20..], [1 << 19], "d3");
    assert_eq!(absolute.1, [0.0]);
    assert_eq!(oriented.0[..12], MIRRORED);
    assert_eq!(oriented.0[16..20], [0, ALL, ALL, 0], "own q, the opponent's K");
    assert_eq!(oriented.0[20..], [1 << (19 ^ 56)], "d3 is seen on d6");
}

#[test]
fn worked_planes_of_az_119() {
    let [absolute, oriented] = encoded(EncodingName::AlphaZero);
    for ((binary, scalars), pieces, rights) in
        [(absolute, PIECES, [ALL, 0, 0, ALL]), (oriented, MIRRORED, [0, ALL, ALL, 0])]
    {
        assert_eq!(binary[..12], pieces);
        assert_eq!(binary[12..112], [0; 100], "no repetition, no history");
        assert_eq!(binary[112], ALL, "Black to move");
        assert_eq!(binary[113..], rights, "castling king side, queen side, of both sides");
        assert_eq!(scalars, [0.42, 0.0], "number of the move, plies without progress");
    }
}

#[test]
fn worked_planes_of_lc0_112() {
    let [absolute, oriented] = encoded(EncodingName::Leela);
    for ((binary, scalars), pieces, rights) in
        [(absolute, PIECES, [0, ALL, ALL, 0]), (oriented, MIRRORED, [ALL, 0, 0, ALL])]
    {
        assert_eq!(binary[..12], pieces);
        assert_eq!(binary[12], 0, "no repetition");
        assert_eq!(binary[104..108], rights, "castling queen side, king side, of both sides");
        assert_eq!(binary[108..], [ALL, 0, ALL], "Black to move, zeros, ones");
        assert_eq!(scalars, [0.0]);
    }
}

#[test]
fn scalars_have_the_divisors_of_their_sources() {
    let game = from_fen("4k3/8/8/8/8/8/8/R3K3 w - - 49 200");
    let scalars = |name| encode(&Encoding::new(name, Orientation::SideToMove), &game).1;
    assert_eq!(scalars(EncodingName::Dc0), [0.49]);
    assert_eq!(scalars(EncodingName::DummyChess), [2.0, 0.49]);
    assert_eq!(scalars(EncodingName::Dlchess), [0.49]);
    assert_eq!(scalars(EncodingName::AlphaZero), [2.0, 0.49]);
    assert_eq!(scalars(EncodingName::Leela), [49.0 / 99.0]);
}

#[test]
fn the_en_passant_square_is_set_only_if_a_capture_is_legal() {
    for name in [EncodingName::Dc0, EncodingName::DummyChess, EncodingName::Dlchess] {
        for orientation in name.orientations() {
            let encoding = Encoding::new(name, *orientation);
            // First no black pawn stands beside e4; then one does, but capturing would put its king in check.
            for text in ["startpos moves e2e4", "8/8/8/8/k2p3Q/8/4P3/4K3 w - - 0 1 moves e2e4"] {
                let (binary, _) = encode(&encoding, &from_text(text));
                assert_eq!(binary[binary.len() - 1], 0, "{text}");
            }
        }
    }
}
