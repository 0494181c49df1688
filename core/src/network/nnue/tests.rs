//! Integers against floats, and the properties that searches rely on.

use std::sync::Arc;

use rand::RngExt;

use super::accumulator::{Accumulated, FirstLayer};
use super::pieces::{Pieces, of_position, turned};
use super::{Instructions, NnueError, NnueEvaluator, NnueLine, NnueNet};
use crate::board::thinned::chess960_games;
use crate::board::{Game, Rules, Side};
use crate::effort::cases;
use crate::network::king_buckets::king_squares;
use crate::network::samples::{
    all_kinds, batch_of, encoding, evaluate, image_of, random_game, spec_of, trained_weights,
};
use crate::network::{Batch, Evaluations, NetworkSpec, Tower, Weights, initial_weights};
use crate::rng::{Purpose, Seed};

const RULES: Rules = Rules { max_plies: 512 };

fn nnues() -> impl Iterator<Item = NetworkSpec> {
    all_kinds().into_iter().filter(|spec| spec.tower.kind == Tower::Nnue)
}

fn net(spec: &NetworkSpec) -> Arc<NnueNet> {
    Arc::new(NnueNet::new(spec, &trained_weights(spec)).expect("in range"))
}

/// Every number of the evaluations, to the bit.
fn bits(evaluations: &Evaluations) -> Vec<u32> {
    let wdl = evaluations.wdl.iter().flat_map(|wdl| [wdl.win, wdl.draw, wdl.loss]);
    let numbers = evaluations.policy.iter().copied().chain(wdl).chain(evaluations.moves_left.iter().copied());
    numbers.map(f32::to_bits).collect()
}

fn one(game: &Game) -> Batch {
    let mut batch = Batch::default();
    batch.push(&encoding(), game);
    batch
}

#[test]
fn every_set_of_instructions_gives_the_same_bits() {
    for spec in nnues() {
        let net = net(&spec);
        let batch = batch_of(0..60);
        let of = |instructions| {
            bits(&evaluate(&mut NnueEvaluator::with_instructions(Arc::clone(&net), instructions), &batch))
        };
        let sets = Instructions::available();
        assert!(sets.contains(&Instructions::fastest()));
        for instructions in sets {
            assert_eq!(of(instructions), of(Instructions::Baseline), "{instructions:?}");
        }
    }
}

#[test]
fn a_rows_evaluation_does_not_depend_on_what_came_before_or_beside_it() {
    for spec in nnues() {
        let net = net(&spec);
        let mut used = NnueEvaluator::new(Arc::clone(&net));
        for first in [0, 17, 3, 40] {
            let numbers = first..first + 20;
            let together = evaluate(&mut used, &batch_of(numbers.clone()));
            let alone: Vec<Evaluations> = numbers
                .map(|number| evaluate(&mut NnueEvaluator::new(Arc::clone(&net)), &one(&random_game(number))))
                .collect();
            let policies: Vec<f32> = alone.iter().flat_map(|alone| alone.policy.iter().copied()).collect();
            assert_eq!(together.policy, policies);
            assert!(together.wdl.iter().zip(&alone).all(|(wdl, alone)| *wdl == alone.wdl[0]));
        }
    }
}

/// The pieces as a list of (plane, square), by looking at each square of the board.
fn pieces_of(game: &Game) -> Pieces {
    let mut batch = Batch::default();
    batch.push(&encoding(), game);
    *batch.binary.first_chunk().expect("twelve planes")
}

/// A first layer of each kind: by its inputs, and by what the kings' squares decide.
fn first_layers() -> Vec<FirstLayer> {
    let mut layers: Vec<FirstLayer> = Vec::new();
    for net in nnues().map(|spec| net(&spec)) {
        for layer in [Some(&net.first), net.policy_first.as_ref()].into_iter().flatten() {
            if layers.iter().all(|known| (known.inputs, known.kings) != (layer.inputs, layer.kings)) {
                layers.push(layer.clone());
            }
        }
    }
    layers
}

/// Positions one after the other, whose sums are updated and added up from nothing.
struct Updates {
    layer: FirstLayer,
    sums: Accumulated,
    /// The kings' squares of the last position, the white king's first.
    kings: [usize; 2],
    /// How often a king went to other weights, or across the middle.
    other_weights: u32,
}

impl Updates {
    fn new(layer: FirstLayer) -> Self {
        Self { sums: layer.empty(), layer, kings: [0; 2], other_weights: 0 }
    }

    fn check(&mut self, game: &Game) {
        let pieces = pieces_of(game);
        self.layer.update(&mut self.sums, &pieces);
        let mut fresh = self.layer.empty();
        self.layer.update(&mut fresh, &pieces);
        assert_eq!(self.sums, fresh, "{}", game.position().fen());
        let mut squares = king_squares(&pieces);
        if game.position().side_to_move() == Side::Black {
            squares.swap(0, 1);
        }
        if let Some(kings) = &self.layer.kings {
            let is_other = |side: &usize| !kings.are_alike(self.kings[*side], squares[*side]);
            self.other_weights += [0, 1].iter().filter(|side| is_other(side)).count() as u32;
        }
        self.kings = squares;
    }
}

#[test]
fn updated_sums_equal_fresh_ones_over_a_million_moves_made_and_taken_back() {
    for layer in first_layers() {
        let moves = if layer.kings.is_none() { 1_000_000 } else { 300_000 };
        check_updates(layer, cases(moves));
    }
}

fn check_updates(layer: FirstLayer, moves: u32) {
    let mut stream = Seed { run: 1, step: 2 }.stream(0, Purpose::Opening);
    let (mut game, mut updates) = (Game::initial(), Updates::new(layer));
    for _ in 0..moves {
        let moves = game.position().legal_moves();
        let ends = moves.is_empty() || game.outcome(&RULES).is_some();
        if ends || game.ply() > 0 && stream.random_bool(0.3) {
            // Several at once, as a search comes back from a line.
            let back = stream.random_range(1..=4.min(game.ply()));
            game.take_back_to(game.ply() - back);
        } else {
            game.play_unchecked(moves[stream.random_range(0..moves.len())]);
        }
        updates.check(&game);
    }
    assert!(
        updates.layer.kings.is_none() || updates.other_weights > moves / 100,
        "{}",
        updates.other_weights
    );
}

#[test]
fn castling_in_chess960_updates_sums_to_fresh_ones() {
    for layer in first_layers() {
        let (mut updates, mut castled) = (Updates::new(layer), 0);
        for played in chess960_games(600) {
            let mut game = Game::from_position(played.start().clone());
            for mv in played.moves() {
                castled += u32::from(game.position().castling(*mv).is_some());
                game.play_unchecked(*mv);
                updates.check(&game);
            }
        }
        assert!(castled > 50, "{castled}");
    }
}

#[test]
fn a_mirrored_net_gives_mirror_images_the_same_values_and_policies() {
    let mut batch = batch_of(0..200);
    for game in chess960_games(200) {
        batch.push(&encoding(), &game);
    }
    let image = image_of(&batch);
    for spec in nnues() {
        let [own, image] =
            [&batch, &image].map(|batch| bits(&evaluate(&mut NnueEvaluator::new(net(&spec)), batch)));
        assert_eq!(own == image, spec.tower.mirrored, "{spec:?}");
    }
}

#[test]
fn values_along_a_line_are_those_of_batches() {
    for spec in nnues() {
        let net = net(&spec);
        let mut line = NnueLine::new(Arc::clone(&net));
        for (number, game) in (0..80).map(random_game).chain(chess960_games(80)).enumerate() {
            let batch = one(&game);
            let pieces: &Pieces = batch.binary.first_chunk().expect("twelve planes");
            assert_eq!(of_position(game.position()), *pieces);
            let expected = evaluate(&mut NnueEvaluator::new(Arc::clone(&net)), &batch).wdl[0];
            assert_eq!(line.evaluate(number % 7, game.position()), expected);
        }
    }
}

#[test]
fn a_turned_position_is_the_same_from_the_other_side() {
    for game in (0..50).map(random_game) {
        let pieces = pieces_of(&game);
        assert_eq!(turned(&turned(&pieces)), pieces);
        // The second plane of six kinds begins with the opponent's pawns, which it sees coming from the other side.
        assert_eq!(turned(&pieces)[0], pieces[6].swap_bytes());
    }
}

#[test]
fn only_nnues_with_weights_in_range_become_integers() {
    let other = spec_of(1, 16);
    let refused = NnueNet::new(&other, &trained_weights(&other));
    assert!(matches!(refused, Err(NnueError::Kind { kind: Tower::SeResnet })));
    let spec = nnues().next().expect("an nnue");
    let changed = |change: fn(&mut Weights)| {
        let mut weights = initial_weights(&spec, Seed { run: 1, step: 1 });
        change(&mut weights);
        NnueNet::new(&spec, &weights)
    };
    assert!(changed(|_| ()).is_ok());
    let far = changed(|weights| {
        weights.get_mut("stem.weight").expect("the first layer").data[768 * 5 + 3] = -130.0;
    });
    assert!(matches!(far, Err(NnueError::Range { output: 5, .. })));
    let lacking = changed(|weights| drop(weights.remove("stem.bias")));
    assert!(matches!(lacking, Err(NnueError::Tensors(_))));
}

#[cfg(feature = "torch")]
mod against_floats {
    use std::path::Path;
    use std::sync::Arc;

    use super::{Evaluations, NnueEvaluator, NnueNet, batch_of, evaluate, net, nnues, trained_weights};
    use crate::network::checkpoint::Checkpoint;
    use crate::network::torch::tests::reference;

    /// The largest differences of probabilities and of values.
    fn differences(near: &Evaluations, exact: &Evaluations) -> [f32; 2] {
        let policy = near.policy.iter().zip(&exact.policy).map(|(near, exact)| (near - exact).abs());
        let value = near.wdl.iter().zip(&exact.wdl).map(|(near, exact)| (near.value() - exact.value()).abs());
        [policy.fold(0.0, f32::max), value.fold(0.0, f32::max)]
    }

    #[test]
    fn the_net_in_the_program_is_close_to_its_floats() {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../datasets/networks/az_nnue.safetensors");
        let Checkpoint { spec, weights, .. } = Checkpoint::load(&file).expect("a net").checkpoint;
        let batch = batch_of(0..3000);
        let exact = reference(&spec, &weights, &batch);
        let net = Arc::new(NnueNet::new(&spec, &weights).expect("in range"));
        let [policy, value] = differences(&evaluate(&mut NnueEvaluator::new(net), &batch), &exact);
        assert!(policy < 0.05 && value < 0.05, "policy {policy}, value {value}");
    }

    /// The bounds are what rounding costs nets whose weights are as large as those of trained ones, with some room.
    #[test]
    fn integers_are_close_to_floats() {
        for spec in nnues() {
            let weights = trained_weights(&spec);
            let batch = batch_of(0..200);
            let exact = reference(&spec, &weights, &batch);
            let near = evaluate(&mut NnueEvaluator::new(net(&spec)), &batch);
            let [policy, value] = differences(&near, &exact);
            assert!(policy < 0.03 && value < 0.03, "{spec:?}: policy {policy}, value {value}");
            assert_eq!(near.moves_left.len(), exact.moves_left.len());
            let plies =
                near.moves_left.iter().zip(&exact.moves_left).map(|(near, exact)| (near - exact).abs());
            assert!(plies.fold(0.0, f32::max) < 1.0);
            let largest = exact.policy.iter().fold(0.0, |largest: f32, share| largest.max(*share));
            assert!(largest > 0.1, "a uniform policy tests little");
        }
    }
}
