//! A position with colours exchanged is searched like the original, and so is its mirror image if evaluations are averaged.

use super::*;
use crate::board::image::{flipped_fen, flipped_game, flipped_move, image_of_fen, image_of_move};
use crate::encoding::{Plane, PlaneKind, PolicyIndex};

/// Evaluates positions from the view of the side to move: pieces, repetitions, castling rights and en passant, but neither its
/// colour nor the clocks.
struct Oriented {
    hashed: Hashed,
    /// Indices of the planes used, among the binary ones.
    planes: Vec<usize>,
}

impl Oriented {
    fn new() -> Self {
        let encoding = encoding();
        let binary = encoding.planes().iter().filter(|plane| plane.kind() == PlaneKind::Binary);
        let used = binary.enumerate().filter(|(_, plane)| **plane != Plane::WhiteToMove);
        Self { planes: used.map(|(index, _)| index).collect(), hashed: Hashed::new(encoding, 6) }
    }

    fn key(&self, planes: &[u64]) -> u64 {
        // FNV-1a's step (Fowler, Noll & Vo), rotated so that upper bits reach lower ones.
        let step =
            |hash: u64, index: &usize| (hash ^ planes[*index]).wrapping_mul(0x100_0000_01b3).rotate_left(29);
        self.planes.iter().fold(0xcbf2_9ce4_8422_2325, step)
    }
}

impl Evaluator for Oriented {
    fn encoding(&self) -> &Encoding {
        self.hashed.encoding()
    }

    /// Sorts the legal moves: their order differs between the colours, and with it the rounding of the sum.
    fn evaluate(&mut self, batch: &Batch, out: &mut Evaluations) -> Result<(), EvaluatorError> {
        let mut sorted = batch.clone();
        let width = self.encoding().binary_count();
        sorted.keys = batch.binary.chunks_exact(width).map(|planes| self.key(planes)).collect();
        for row in 0..batch.len() {
            sorted.legal[batch.legal_range(row)].sort_unstable();
        }
        self.hashed.evaluate(&sorted, out)?;
        let policy = out.policy.clone();
        for row in 0..batch.len() {
            let range = batch.legal_range(row);
            for at in range.clone() {
                let index =
                    sorted.legal[range.clone()].binary_search(&batch.legal[at]).expect("the same moves");
                out.policy[at] = policy[range.start + index];
            }
        }
        Ok(())
    }
}

#[test]
fn flipping_twice_gives_the_position_back() {
    for game in sample(100) {
        let fen = game.position().fen();
        let (once, position) = (flipped_game(&game), from_fen(&flipped_fen(&fen)));
        assert_eq!(once.position().fen().split(' ').next(), position.position().fen().split(' ').next());
        assert_eq!(flipped_game(&once).position().fen(), fen);
        assert_ne!(once.position().side_to_move(), game.position().side_to_move());
    }
}

#[test]
fn flipped_positions_have_flipped_results() {
    let mut sides = [0, 0];
    for game in sample(150) {
        let flipped = flipped_game(&game);
        sides[usize::from(game.position().side_to_move() == Side::White)] += 1;
        for params in kinds(60) {
            let original = searched(&game, &params, &mut Oriented::new());
            let other = searched(&flipped, &params, &mut Oriented::new());
            let flipped_back = |mv: RootMove| RootMove { played: flipped_move(mv.played), ..mv };
            let (found, expected): (Vec<RootMove>, Vec<RootMove>) =
                (other.root_moves().map(flipped_back).collect(), original.root_moves().collect());
            assert_eq!(found, expected, "{}, {params:?}", game.position().fen());
            assert_eq!(other.root_value(), original.root_value());
            assert_eq!(other.proof(), original.proof());
        }
    }
    assert!(sides.iter().all(|count| *count > 40), "both sides are to move often");
}

/// Games without castling rights, each with its mirror image.
fn games_with_images() -> Vec<(Game, Game)> {
    let fens = [
        "6k1/5ppp/8/8/8/8/5PPP/3R2K1 w - - 0 1",
        "r2qr1k1/pp3ppp/2n2n2/3p1b2/3P1B2/2N2N2/PP3PPP/R2QR1K1 w - - 3 14",
        "8/PPPP4/8/2k1K3/8/8/pppp4/8 b - - 0 1",
        "4k3/8/8/2pP4/8/8/1p4P1/R3K3 w - c6 0 30",
    ];
    let mut games = Vec::new();
    for (fen, number) in fens.iter().flat_map(|fen| (0..8).map(move |number| (fen, number))) {
        let mut stream = Seed { run: 12, step: 0 }.stream(number, Purpose::Opening);
        let (mut game, mut image) = (from_fen(fen), from_fen(&image_of_fen(fen)));
        for _ in 0..number {
            let legal = game.position().legal_moves();
            if legal.is_empty() {
                break;
            }
            let played = legal[stream.random_range(0..legal.len())];
            game.play_unchecked(played);
            image.play_unchecked(image_of_move(played));
        }
        if game.outcome(&RULES).is_none() {
            games.push((game, image));
        }
    }
    games
}

#[test]
fn averaged_evaluations_are_the_same_for_a_position_and_its_mirror_image() {
    let once = SearchParams { average_mirror: true, ..simulations(1) };
    let mut differ = 0;
    for (game, image) in games_with_images() {
        let priors = |game: &Game, params: &SearchParams, of: fn(Move) -> Move| {
            let search = searched(game, params, &mut Oriented::new());
            let mut priors: Vec<(Move, u32)> =
                search.root_moves().map(|mv| (of(mv.played), mv.prior.to_bits())).collect();
            priors.sort_unstable();
            (priors, search.root_value())
        };
        assert_eq!(priors(&game, &once, |mv| mv), priors(&image, &once, image_of_move));
        let alone = simulations(1);
        differ += usize::from(priors(&game, &alone, |mv| mv) != priors(&image, &alone, image_of_move));
    }
    assert!(differ > 20, "without averaging the evaluator distinguishes images: {differ}");
}

#[test]
fn an_averaged_evaluation_is_the_mean_of_the_two() {
    for (game, image) in games_with_images() {
        let evaluated = |game: &Game| {
            let (mut batch, mut evaluations) = (Batch::default(), Evaluations::default());
            batch.push(&encoding(), game);
            Oriented::new().evaluate(&batch, &mut evaluations).expect("fakes do not fail");
            let policy: HashMap<PolicyIndex, f32> =
                batch.legal.iter().copied().zip(evaluations.policy.iter().copied()).collect();
            (evaluations.wdl[0], policy)
        };
        let ((own, own_policy), (other, other_policy)) = (evaluated(&game), evaluated(&image));
        let once = SearchParams { average_mirror: true, ..simulations(1) };
        let search = searched(&game, &once, &mut Oriented::new());
        let expected = f64::midpoint(own.value().into(), other.value().into());
        assert!((search.root_value().value - expected).abs() < 1e-6);
        let side = game.position().side_to_move();
        for mv in search.root_moves() {
            let index = |mv| encoding().policy_index(mv, side);
            let expected =
                f32::midpoint(own_policy[&index(mv.played)], other_policy[&index(image_of_move(mv.played))]);
            assert!((mv.prior - expected).abs() < 1e-6, "{}", mv.played);
        }
    }
}

#[test]
fn leaves_of_one_batch_are_averaged_each_with_its_own_image() {
    let params = SearchParams { average_mirror: true, leaf_batch: 8, ..simulations(60) };
    let mut compared = 0;
    for (game, _) in games_with_images() {
        let search = searched(&game, &params, &mut Oriented::new());
        for mv in search.root_moves().filter(|mv| mv.visits == 1 && mv.proof.is_none()) {
            let mut below = game.clone();
            below.play_unchecked(mv.played);
            let once = SearchParams { average_mirror: true, ..simulations(1) };
            let alone = searched(&below, &once, &mut Oriented::new());
            let value = mv.value.expect("visited");
            assert!((value + alone.root_value().value).abs() < 1e-6, "{} {value}", mv.played);
            compared += 1;
        }
    }
    assert!(compared > 20, "{compared}");
}

#[test]
fn mirror_images_have_mirrored_searches_if_evaluations_are_averaged() {
    for (game, image) in games_with_images() {
        for params in kinds(60) {
            let params = SearchParams { average_mirror: true, ..params };
            let original = searched(&game, &params, &mut Oriented::new());
            let other = searched(&image, &params, &mut Oriented::new());
            let back = |mv: RootMove| RootMove { played: image_of_move(mv.played), ..mv };
            let key = |mv: &RootMove| mv.played;
            let (mut found, mut expected): (Vec<RootMove>, Vec<RootMove>) =
                (other.root_moves().map(back).collect(), original.root_moves().collect());
            found.sort_by_key(key);
            expected.sort_by_key(key);
            assert_eq!(found, expected, "{}, {params:?}", game.position().fen());
            assert_eq!(other.root_value(), original.root_value());
            assert_eq!(other.proof(), original.proof());
        }
    }
}

#[test]
fn positions_with_castling_rights_are_evaluated_once_and_others_twice() {
    let rows = |fen: &str| {
        let params = SearchParams { average_mirror: true, ..simulations(1) };
        let (mut search, mut batch) = (new_search(from_fen(fen), params), Batch::default());
        search.gather(&mut Oriented::new(), &mut batch).expect("no tablebase is damaged");
        (search.pending.len(), batch.len())
    };
    for rights in ["KQkq", "K", "Q", "k", "q", "Kq"] {
        assert_eq!(rows(&format!("r3k2r/8/8/8/8/8/8/R3K2R w {rights} - 0 1")), (1, 1), "{rights}");
    }
    assert_eq!(rows("r3k2r/8/8/8/8/8/8/R3K2R w - - 0 1"), (1, 2));
}
