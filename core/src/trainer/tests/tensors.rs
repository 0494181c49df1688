//! Tensors for other programs, read back.

use std::collections::BTreeMap;
use std::fs;

use safetensors::SafeTensors;

use super::{encoding, rows, uci};
use crate::board::{Adjudication, Ending, Reason};
use crate::trainer::{TensorCounts, TensorFile, TensorForm};

/// `wdl` and `plies_left` of the positions of a game of two plies with this result.
fn targets(result: i8, reason: Ending) -> (Vec<f32>, Vec<i32>) {
    let (mut game, positions) = rows(0, &uci("e2e4 e7e5"), result);
    game.reason = reason;
    let mut counts = TensorCounts::default();
    counts.add(&positions);
    let (encoding, form) = (encoding(), TensorForm::default());
    let path = tempfile::NamedTempFile::new().expect("a file").into_temp_path();
    let mut file = fs::File::create(&path).expect("a file");
    let mut tensors =
        TensorFile::new(&mut file, &encoding, form, counts, &BTreeMap::new()).expect("a header");
    tensors.add(0, &[game], &positions).expect("sound rows");
    tensors.finish().expect("all rows");
    let bytes = fs::read(&path).expect("reads");
    let stored = SafeTensors::deserialize(&bytes).expect("safetensors");
    let words = |name: &str| stored.tensor(name).expect("a tensor").data().as_chunks().0.to_vec();
    let wdl = words("wdl").into_iter().map(f32::from_le_bytes).collect();
    (wdl, words("plies_left").into_iter().map(i32::from_le_bytes).collect())
}

#[test]
fn a_game_that_the_ply_cap_ended_has_no_result() {
    let (win, draw, loss, none) = ([1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [0.0; 3]);
    let (mate, fifty): (Ending, Ending) = (Reason::Checkmate.into(), Reason::FiftyMoves.into());
    assert_eq!(targets(1, mate), ([win, loss].concat(), vec![2, 1]));
    assert_eq!(targets(0, fifty), ([draw, draw].concat(), vec![2, 1]));
    assert_eq!(
        targets(-1, Ending::Adjudicated(Adjudication::Resignation)),
        ([loss, win].concat(), vec![-1; 2])
    );
    assert_eq!(targets(0, Reason::PlyCap.into()), ([none, none].concat(), vec![-1; 2]));
}
