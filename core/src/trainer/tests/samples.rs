//! Targets worked by hand, and contradictory data.

use std::collections::BTreeSet;
use std::slice::from_ref;

use super::{added, all_trained, encoding, new_samples, random_games, rows, rows_from, samples, uci};
use crate::board::{Game, Position, Reason, Side};
use crate::encoding::{Encoding, EncodingName, Orientation};
use crate::network::Wdl;
use crate::rng::Seed;
use crate::store::{GameRow, PositionRow};
use crate::trainer::samples::{Fault, Part, SampleError, Samples, value_targets};
use crate::trainer::{CappedGames, PolicyTarget, TrainParams, TrainedPositions};

const FOOLS_MATE: &str = "f2f3 e7e5 g2g4 d8h4";
const SCHOLARS_MATE: &str = "e2e4 e7e5 f1c4 b8c6 d1h5 g8f6 h5f7";

fn wdls(text: &str, result: i8, params: &TrainParams) -> Vec<[f32; 3]> {
    let (game, positions) = rows(0, &uci(text), result);
    let samples = samples(&[game], &positions, params);
    let wdl = |index| samples.training_row(index).wdl;
    (0..samples.training_count()).map(wdl).map(|Wdl { win, draw, loss }| [win, draw, loss]).collect()
}

fn error(game: &GameRow, positions: &[PositionRow]) -> SampleError {
    let (name, games) = ("iteration=0002/part-00001", from_ref(game));
    let part = Part { name, source: 0, weight: 1.0, games, positions };
    let params = TrainParams { search_value_weight: 0.5, ..all_trained() };
    new_samples(&params).add(part).expect_err("contradicts itself")
}

#[test]
fn results_are_seen_from_the_side_to_move() {
    let (win, loss) = ([1.0, 0.0, 0.0], [0.0, 0.0, 1.0]);
    assert_eq!(wdls(SCHOLARS_MATE, 1, &all_trained()), [win, loss, win, loss, win, loss, win]);
    assert_eq!(wdls(FOOLS_MATE, -1, &all_trained()), [loss, win, loss, win]);
}

#[test]
fn a_drawn_game_is_a_draw_for_both_sides() {
    assert_eq!(wdls("e2e4 e7e5", 0, &all_trained()), [[0.0, 1.0, 0.0]; 2]);
}

#[test]
fn a_discount_turns_a_late_win_into_a_likely_draw() {
    // Four plies are left at the start and one before the mate: 0.9⁴ = 0.6561, 0.9³ = 0.729, 0.9² = 0.81, 0.9.
    let params = TrainParams { discount: 0.9, ..all_trained() };
    let expected = [[0.0, 0.3439, 0.6561], [0.729, 0.271, 0.0], [0.0, 0.19, 0.81], [0.9, 0.1, 0.0]];
    for (found, expected) in wdls(FOOLS_MATE, -1, &params).iter().zip(expected) {
        for (found, expected) in found.iter().zip(expected) {
            assert!((found - expected).abs() < 1e-6, "{found} is not {expected}");
        }
    }
}

#[test]
fn games_ended_by_the_ply_cap_weigh_less_but_drawn_ones_do_not() {
    let params = TrainParams { ply_cap_value_weight: 0.25, capped_games: CappedGames::Draw, ..all_trained() };
    let (mut game, positions) = rows(0, &uci("e2e4 e7e5"), 0);
    let first = |game: &GameRow| {
        let Wdl { win, draw, loss } =
            samples(std::slice::from_ref(game), &positions, &params).training_row(0).wdl;
        [win, draw, loss]
    };
    game.reason = Reason::Threefold.into();
    assert_eq!(first(&game), [0.0, 1.0, 0.0]);
    game.reason = Reason::PlyCap.into();
    assert_eq!(first(&game), [0.0, 0.25, 0.0]);
}

#[test]
fn the_search_value_mixes_with_the_result() {
    // q = 0.25 and d = 0.5 are win 3/8, draw 1/2, loss 1/8; half of that and half of a loss.
    let params = TrainParams { search_value_weight: 0.5, ..all_trained() };
    assert_eq!(wdls(FOOLS_MATE, -1, &params)[0], [0.1875, 0.25, 0.5625]);
}

/// The value targets of a game whose searches found these values for White, without draws.
fn targets_with_searches(
    text: &str,
    (result, reason): (i8, Reason),
    white_values: &[f32],
    params: &TrainParams,
) -> Vec<f32> {
    let (mut game, mut positions) = rows(0, &uci(text), result);
    game.reason = reason.into();
    for (row, value) in positions.iter_mut().zip(white_values) {
        (row.root_q, row.root_d) = (if row.ply % 2 == 0 { *value } else { -value }, 0.0);
    }
    let values = value_targets(&game, &positions, params).expect("sound rows");
    values.iter().map(|value| value.wdl.value()).collect()
}

#[track_caller]
fn close(found: &[f32], expected: &[f32]) {
    let is_close = |(found, expected): (&f32, &f32)| (found - expected).abs() < 1e-6;
    assert_eq!(found.len(), expected.len());
    assert!(found.iter().zip(expected).all(is_close), "{found:?} is not {expected:?}");
}

#[test]
fn a_game_cut_off_by_the_ply_cap_has_the_value_of_its_last_search() {
    // White stands at 0.5 in the end, so Black's targets are -0.5; a draw by the rules stays one.
    let (text, values) = ("e2e4 e7e5 g1f3 b8c6", [0.1, -0.3, 0.2, 0.5]);
    let capped = targets_with_searches(text, (0, Reason::PlyCap), &values, &all_trained());
    close(&capped, &[0.5, -0.5, 0.5, -0.5]);
    let drawn = targets_with_searches(text, (0, Reason::Threefold), &values, &all_trained());
    close(&drawn, &[0.0; 4]);
    let params = TrainParams { discount: 0.9, ..all_trained() };
    let discounted = targets_with_searches(text, (0, Reason::PlyCap), &values, &params);
    close(&discounted, &[0.5 * 0.729, -0.5 * 0.81, 0.5 * 0.9, -0.5]);
}

#[test]
fn a_proven_search_is_believed_in_a_game_that_was_cut_off() {
    // White's first search proves the win that its later ones, with fewer simulations, no longer see.
    let (text, values) = ("e2e4 e7e5 g1f3 b8c6", [1.0, -0.3, 0.2, 0.5]);
    let params = TrainParams { search_value_weight: 0.5, ..all_trained() };
    let capped = targets_with_searches(text, (0, Reason::PlyCap), &values, &params);
    close(&capped, &[0.75, -0.1, 0.35, -0.5]);
    // A game that White wins is as sure, and its discount counts the plies that the win took.
    let params = TrainParams { search_value_weight: 1.0, discount: 0.9, ..all_trained() };
    let won = targets_with_searches(SCHOLARS_MATE, (1, Reason::Checkmate), &[1.0; 7], &params);
    close(&won[..1], &[0.9_f32.powi(7)]);
}

#[test]
fn a_horizon_averages_later_searches_with_falling_weights() {
    // A horizon of 2 plies halves the weight from ply to ply; White wins after the last search.
    let params = TrainParams { search_value_weight: 1.0, search_value_horizon: 2.0, ..all_trained() };
    let found = targets_with_searches(
        SCHOLARS_MATE,
        (1, Reason::Checkmate),
        &[0.0, 0.0, 0.0, 0.0, 0.0, 0.2, 0.6],
        &params,
    );
    // From the end: (0.6 + 1) / 2 = 0.8, (0.2 + 0.8) / 2 = 0.5, then halved; Black sees the negative.
    close(&found, &[0.015_625, -0.031_25, 0.0625, -0.125, 0.25, -0.5, 0.8]);
    let params = TrainParams { search_value_horizon: 1.0, ..params };
    let own = targets_with_searches(SCHOLARS_MATE, (1, Reason::Checkmate), &[0.1; 7], &params);
    close(&own, &[0.1, -0.1, 0.1, -0.1, 0.1, -0.1, 0.1]);
}

#[test]
fn a_proven_win_is_discounted_like_the_result() {
    let params = TrainParams { search_value_weight: 0.5, discount: 0.9, ..all_trained() };
    let found = targets_with_searches("e2e4 e7e5 g2g3", (1, Reason::Checkmate), &[0.0, 0.0, 1.0], &params);
    // One ply before the end: 0.9 for both parts, not a mixture of 0.9 and 1.
    close(&found[2..], &[0.9]);
}

#[test]
fn surprising_positions_are_trained_on_more_often() {
    let (games, mut positions) = random_games(60, 40);
    for row in &mut positions {
        row.policy_surprise = if row.ply % 4 == 0 { 1.0 } else { 0.0 };
    }
    let params = TrainParams { surprise_weight: 0.5, ..all_trained() };
    let samples = samples(&games, &positions, &params);
    let all = positions.len() as f64;
    assert!((samples.training_count() as f64 / all - 1.0).abs() < 0.05, "{}", samples.training_count());
    // A quarter of the positions has half of the weight, and its share of the other half.
    let digest = |params: &TrainParams| super::samples(&games, &positions, params).digest();
    assert_ne!(digest(&params), digest(&all_trained()));
    let mut copies = vec![0usize; positions.len()];
    for index in 0..samples.training_count() {
        copies[samples.row_number(index)] += 1;
    }
    let surprising: usize =
        copies.iter().zip(&positions).filter(|(_, row)| row.ply % 4 == 0).map(|(n, _)| n).sum();
    assert!((surprising as f64 / all - 0.625).abs() < 0.03, "{surprising} of {all}");
}

/// How often each position is in the samples of games with a weight.
fn copies(games: &[GameRow], positions: &[PositionRow], weight: f64, params: &TrainParams) -> Vec<usize> {
    let samples = added(new_samples(params), weight, games, positions);
    // Positions that are not trained on have no row.
    let has_row = |row: &&PositionRow| row.full || params.positions == TrainedPositions::All;
    let mut copies = vec![0; positions.iter().filter(has_row).count()];
    (0..samples.training_count()).for_each(|index| copies[samples.row_number(index)] += 1);
    copies
}

#[test]
fn games_with_a_weight_are_trained_on_as_often_as_it_says() {
    let (games, positions) = random_games(60, 40);
    let count = |weight| copies(&games, &positions, weight, &all_trained());
    assert_eq!(count(1.0), vec![1; positions.len()]);
    assert_eq!(count(3.0), vec![3; positions.len()]);
    assert_eq!(count(0.0), vec![0; positions.len()]);
    let some = count(2.25);
    assert!(some.iter().all(|copies| [2, 3].contains(copies)));
    let mean = some.iter().sum::<usize>() as f64 / positions.len() as f64;
    assert!((mean - 2.25).abs() < 0.05, "{mean}");
}

/// `games * 0.5 + games * 0.5` takes each half by itself: of many positions about a quarter twice, a half once and a quarter not.
#[test]
fn games_of_two_sources_are_drawn_from_each_by_itself() {
    let (games, positions) = random_games(60, 40);
    let mut samples = new_samples(&all_trained());
    for source in [0, 1] {
        let (name, weight) = ("iteration=0000/part-00000", 0.5);
        let part = Part { name, source, weight, games: &games, positions: &positions };
        samples.add(part).expect("sound rows");
    }
    let mut copies = vec![0; positions.len()];
    (0..samples.training_count()).for_each(|index| copies[samples.row_number(index) % positions.len()] += 1);
    let shares = [0, 1, 2].map(|count| {
        copies.iter().filter(|copies| **copies == count).count() as f64 / positions.len() as f64
    });
    for (share, expected) in shares.into_iter().zip([0.25, 0.5, 0.25]) {
        assert!((share - expected).abs() < 0.04, "{shares:?}");
    }
}

#[test]
fn games_without_a_sample_are_not_counted_as_trained_on() {
    let (games, mut positions) = random_games(10, 12);
    positions.iter_mut().filter(|row| row.game < 3).for_each(|row| row.full = false);
    let counted = samples(&games, &positions, &all_trained()).games();
    assert_eq!((counted.training, counted.validation, counted.unused), (7, 0, 3));
    let none = TrainParams { phase_weights: vec![1.0, 1.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0], ..all_trained() };
    assert_eq!(samples(&games, &positions, &none).games().unused, 10, "short games keep their pieces");
}

#[test]
fn positions_are_trained_on_by_their_pieces() {
    let (games, positions) = random_games(20, 120);
    let weights = vec![2.0, 2.0, 2.0, 0.0, 0.5, 1.0, 1.0, 3.0];
    let params = TrainParams { phase_weights: weights.clone(), ..all_trained() };
    let copies = copies(&games, &positions, 1.0, &params);
    let mut means = vec![Vec::new(); 8];
    for (copies, row) in copies.iter().zip(&positions) {
        let board = Position::from_fen(&row.fen).expect("a stored position");
        means[(board.piece_count() as usize - 1) / 4].push(*copies as f64);
    }
    for (phase, copies) in means.iter().enumerate().filter(|(_, copies)| copies.len() > 50) {
        let mean = copies.iter().sum::<f64>() / copies.len() as f64;
        assert!((mean - weights[phase]).abs() < 0.15, "phase {phase}: {mean}");
    }
    assert!(means[7].len() > 50 && means[4].len() > 50 && means[3].len() > 50, "random games lose pieces");
}

#[test]
fn of_each_game_only_so_many_positions_are_trained_on() {
    let (games, mut positions) = random_games(60, 40);
    positions.iter_mut().step_by(2).for_each(|row| row.full = false);
    let capped =
        |most, trained| TrainParams { positions_per_game: Some(most), positions: trained, ..all_trained() };
    for trained in [TrainedPositions::Full, TrainedPositions::All] {
        let count = |most| copies(&games, &positions, 1.0, &capped(most, trained)).into_iter().sum::<usize>();
        assert_eq!(count(5), 300, "five of each game");
        let all = if trained == TrainedPositions::All { positions.len() } else { positions.len() / 2 };
        assert_eq!(count(1000), all);
    }
    // Plies are chosen from the whole game.
    let chosen = copies(&games, &positions, 1.0, &capped(5, TrainedPositions::All));
    let mean = |rows: &mut dyn Iterator<Item = &PositionRow>| {
        let plies: Vec<f64> = rows.map(|row| f64::from(row.ply)).collect();
        plies.iter().sum::<f64>() / plies.len() as f64
    };
    let of_chosen = mean(&mut positions.iter().zip(&chosen).filter(|(_, n)| **n > 0).map(|(row, _)| row));
    assert!((of_chosen - mean(&mut positions.iter())).abs() < 2.0, "{of_chosen}");
}

#[test]
fn positions_with_the_same_input_become_one_with_the_mean_of_their_targets() {
    let (won, mut positions) = rows(0, &uci("e2e4 e7e5"), 1);
    let (drawn, others) = rows(1, &uci("e2e4 c7c5"), 0);
    positions.extend(others);
    let moves = |text: &str| uci(text).iter().map(|mv| mv.packed()).collect::<Vec<_>>();
    for (row, target) in [(0, vec![100, 0]), (2, vec![50, 50])] {
        (positions[row].moves, positions[row].target) = (moves("e2e4 d2d4"), target);
    }
    let games = [won, drawn];
    let build = |deduplicate, weight| {
        let params = TrainParams { deduplicate, ..all_trained() };
        added(new_samples(&params), weight, &games, &positions).finish()
    };
    assert_eq!(build(false, 1.0).training_count(), 4);
    // The first two positions of both games are the same.
    let samples = build(true, 1.0);
    assert_eq!(samples.training_count(), 2);
    let first = samples.training_row(0);
    assert_eq!(first.wdl, Wdl { win: 0.5, draw: 0.5, loss: 0.0 });
    let mut shares: Vec<f32> = first.shares.iter().copied().filter(|share| *share > 0.0).collect();
    shares.sort_by(f32::total_cmp);
    assert_eq!(shares, [0.25, 0.75]);
    assert_eq!(build(true, 2.0).training_count(), 4, "as often as each of them was");
    assert_ne!(build(true, 1.0).digest(), build(false, 1.0).digest());
}

#[test]
fn merged_positions_are_the_same_for_both_colours_and_take_targets_from_any_search() {
    // White to move, and the same board turned with Black to move: `dc0-20` shows both alike.
    let (first, mut positions) = rows(0, &uci("e2e4 e7e5 g1f3"), 1);
    let (second, others) = rows(1, &uci("e2e3 e7e5 e3e4 g8f6"), 0);
    positions.extend(others);
    let set =
        |row: &mut PositionRow, mv: &str| (row.moves, row.target) = (vec![uci(mv)[0].packed()], vec![9]);
    set(&mut positions[2], "g1f3");
    set(&mut positions[6], "g8h6");
    // The initial position was searched fast in the first game.
    positions[0].full = false;
    let games = [first, second];
    let params = TrainParams { deduplicate: true, positions: TrainedPositions::All, ..all_trained() };
    let samples = added(new_samples(&params), 3.0, &games[..1], &positions[..3]);
    let samples = added(samples, 1.0, &games[1..], &positions[3..]);
    assert!(!samples.were_made_with(&params), "they are not finished");
    let samples = samples.finish();
    assert!(samples.were_made_with(&params));
    let distinct: BTreeSet<usize> =
        (0..samples.training_count()).map(|index| samples.row_number(index)).collect();
    assert_eq!(distinct.into_iter().collect::<Vec<_>>(), [1, 2, 3, 4, 5]);
    let of_row = |row| {
        let index = (0..samples.training_count()).find(|index| samples.row_number(*index) == row);
        samples.training_row(index.expect("a sample"))
    };
    // Three of four copies are won for the side to move; the fourth was drawn.
    let merged = of_row(2);
    assert_eq!(merged.wdl, Wdl { win: 0.75, draw: 0.25, loss: 0.0 });
    for (share, text, side) in [(0.75, "g1f3", Side::White), (0.25, "g8h6", Side::Black)] {
        let index = encoding().policy_index(uci(text)[0], side);
        let slot = merged.legal.iter().position(|legal| *legal == index).expect("a legal move");
        assert_eq!(merged.shares[slot], share, "{text}");
    }
    // The initial position keeps the target of the full search, with the mean value.
    let initial = of_row(3);
    assert_eq!((initial.legal.len(), initial.wdl), (20, Wdl { win: 0.75, draw: 0.25, loss: 0.0 }));
}

#[test]
fn another_seed_takes_other_copies() {
    let (games, positions) = random_games(20, 40);
    let build = |run| {
        let samples = new_samples(&all_trained()).with_seed(Seed { run, step: 0 });
        added(samples, 0.5, &games, &positions).finish().digest()
    };
    assert_eq!(build(1), build(1));
    assert_ne!(build(1), build(2));
}

#[test]
fn games_of_files_without_surprises_are_trained_on_evenly() {
    let (games, mut positions) = random_games(4, 20);
    for row in &mut positions {
        row.policy_surprise = f32::NAN;
    }
    let params = TrainParams { surprise_weight: 0.5, ..all_trained() };
    assert_eq!(samples(&games, &positions, &params).training_count(), positions.len());
}

#[test]
fn the_policy_target_covers_all_legal_moves() {
    let (game, mut positions) = rows(0, &uci("e2e4"), 0);
    let held = uci("d2d4 e2e4");
    positions[0].moves = held.iter().map(|mv| mv.packed()).collect();
    positions[0].target = vec![100, 300];
    let samples = samples(&[game], &positions, &all_trained());
    let sample = samples.training_row(0);
    assert_eq!(sample.legal.len(), 20);
    let start = Game::initial();
    for (index, share) in sample.legal.iter().zip(sample.shares) {
        let mv = encoding().move_at(*index, start.position()).expect("a move");
        let expected = if mv == held[0] {
            0.25
        } else if mv == held[1] {
            0.75
        } else {
            0.0
        };
        assert_eq!(*share, expected, "{mv}");
    }
}

#[test]
fn the_policy_learns_visits_or_a_softer_target() {
    let (game, mut positions) = rows(0, &uci("e2e4"), 0);
    let row = &mut positions[0];
    row.moves = uci("d2d4 e2e4").iter().map(|mv| mv.packed()).collect();
    (row.visits, row.target) = (vec![30, 10], vec![100, 900]);
    let shares = |positions: &[PositionRow], params: TrainParams| -> Vec<f32> {
        let samples = samples(from_ref(&game), positions, &params);
        samples.training_row(0).shares.iter().copied().filter(|share| *share > 0.0).collect()
    };
    let visits = || TrainParams { policy_target: PolicyTarget::Visits, ..all_trained() };
    let soft = || TrainParams { policy_temperature: 2.0, ..all_trained() };
    let sorted = |mut shares: Vec<f32>| {
        shares.sort_by(f32::total_cmp);
        shares
    };
    assert_eq!(sorted(shares(&positions, all_trained())), [0.1, 0.9]);
    assert_eq!(sorted(shares(&positions, visits())), [0.25, 0.75]);
    assert_eq!(sorted(shares(&positions, soft())), [0.25, 0.75], "the roots of 1 : 9 are 1 : 3");
    positions[0].visits = vec![0, 0];
    assert_eq!(sorted(shares(&positions, visits())), [0.1, 0.9], "proven without a visit");
}

#[test]
fn a_fast_search_gives_a_value_target_and_no_policy_target() {
    let (game, mut positions) = rows(0, &uci(FOOLS_MATE), -1);
    positions[1].full = false;
    positions[1].target.clear();
    positions[1].moves.clear();
    let counted = |params: &TrainParams| samples(from_ref(&game), &positions, params).training_count();
    assert_eq!(counted(&all_trained()), 3, "only full searches are trained on by default");
    let params = TrainParams { positions: TrainedPositions::All, ..all_trained() };
    let samples = samples(from_ref(&game), &positions, &params);
    let moves: Vec<usize> = (0..4).map(|index| samples.training_row(index).legal.len()).collect();
    assert_eq!(moves, [20, 0, 19, 30]);
    assert_eq!(samples.training_row(1).wdl, Wdl::WIN);
}

#[test]
fn replaying_restores_repetitions() {
    let (game, positions) = rows(0, &uci("g1f3 g8f6 f3g1 f6g8 e2e4"), 0);
    let samples = samples(&[game], &positions, &all_trained());
    let repeated = |index: usize| samples.training_row(index).binary[12];
    assert_eq!([0, 1, 2, 3, 4].map(repeated), [0, 0, 0, 0, u64::MAX]);
    let mut lone = (Vec::new(), Vec::new());
    let position = Position::from_fen(&positions[4].fen).expect("a FEN");
    encoding().encode(&Game::from_position(position), &mut lone.0, &mut lone.1);
    assert_eq!(lone.0[12], 0);
}

#[test]
fn samples_of_every_encoding_have_the_history_of_the_game() {
    // The double step before the second start is part of what lc0-112 sees.
    for (start, moves) in [
        ("startpos", "e2e4 e7e5 g1f3 b8c6 f3g1 c6b8 g1f3 b8c6 f3g1 c6b8 d2d4"),
        ("4k3/8/8/8/3Pp3/8/8/4K3 b - d3 0 1", "e4d3 e1d2 e8d7"),
    ] {
        let mut game = Game::from_text(start).expect("a start");
        let (row, positions) = rows_from(game.clone(), 0, &uci(moves), 0);
        for name in EncodingName::ALL {
            let encoding = Encoding::new(name, Orientation::SideToMove);
            let samples = Samples::new(encoding.clone(), &all_trained()).expect("no tablebases");
            let samples = added(samples, 1.0, from_ref(&row), &positions);
            game.take_back_to(0);
            for (ply, played) in uci(moves).into_iter().enumerate() {
                let (mut binary, mut scalars) = (Vec::new(), Vec::new());
                encoding.encode(&game, &mut binary, &mut scalars);
                let sample = samples.training_row(ply);
                assert_eq!((sample.binary, sample.scalars), (&*binary, &*scalars), "{name:?} {ply}");
                game.play_unchecked(played);
            }
        }
    }
}

#[test]
fn samples_with_another_history_have_another_digest() {
    let (games, positions) = random_games(2, 20);
    let digest = |history| {
        let encoding = Encoding::try_new(EncodingName::Leela, Orientation::SideToMove, Some(history));
        let samples = Samples::new(encoding.expect("short"), &all_trained()).expect("no tablebases");
        added(samples, 1.0, &games, &positions).digest()
    };
    assert_eq!(digest(3), digest(3));
    assert_ne!(digest(3), digest(4));
}

#[test]
fn a_fen_that_differs_from_the_replay_is_an_error_that_shows_both() {
    let (game, mut positions) = rows(5, &uci(FOOLS_MATE), -1);
    let right = positions[2].fen.clone();
    positions[2].fen = positions[1].fen.clone();
    let expected = format!(
        "iteration=0002/part-00001, game 5, ply 2: the fen should be {right}, found {}; \
         the data is damaged, play or import it again",
        positions[1].fen
    );
    assert_eq!(error(&game, &positions).to_string(), expected);
}

#[test]
fn every_other_contradiction_is_an_error_too() {
    type Defect = fn(&mut GameRow, &mut Vec<PositionRow>);
    let defects: [(Defect, &str); 9] = [
        (|_, rows| rows[1].result = -1, "result"),
        (|_, rows| rows[1].legal = 5, "legal"),
        (|_, rows| rows[1].played = rows[0].played, "played"),
        (|_, rows| rows[1].target.truncate(1), "length"),
        (|_, rows| rows[1].target.fill(0), "policy target"),
        (|_, rows| rows[1].moves[0] = 0, "not legal"),
        (|_, rows| rows[1].root_q = 0.75, "root_q"),
        (|game, _| game.moves[1] = game.moves[0], "not legal"),
        (|_, rows| rows.swap(1, 2), "ascending"),
    ];
    for (damage, phrase) in defects {
        let (mut game, mut positions) = rows(5, &uci(FOOLS_MATE), -1);
        damage(&mut game, &mut positions);
        let text = error(&game, &positions).to_string();
        assert!(text.contains(phrase), "{phrase}: {text}");
    }
}

#[test]
fn a_position_without_its_game_is_an_error() {
    let (game, mut positions) = rows(5, &uci(FOOLS_MATE), -1);
    positions[3].game = 6;
    assert!(matches!(error(&game, &positions).fault, Fault::Order));
    positions[3].game = 4;
    assert!(matches!(error(&game, &positions).fault, Fault::Order));
}

#[test]
fn samples_depend_neither_on_threads_nor_on_how_games_are_split_into_calls() {
    let (games, positions) = random_games(12, 30);
    let params = TrainParams { validation_fraction: 0.3, ..TrainParams::default() };
    let with_threads = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
        pool.install(|| samples(&games, &positions, &params))
    };
    let one = with_threads(1);
    assert_eq!(one, with_threads(3));
    let cut = positions.partition_point(|row| row.game < 5);
    let split = samples(&games[..5], &positions[..cut], &params);
    let split = added(split, 1.0, &games[5..], &positions[cut..]);
    assert_eq!(one, split);
    assert_eq!(one.digest(), split.digest());
}

#[test]
fn the_digest_changes_with_any_sample_and_with_the_split() {
    let (games, positions) = random_games(8, 10);
    let base = samples(&games, &positions, &all_trained()).digest();
    let mut other = positions.clone();
    other[7].target[0] += 1;
    assert_ne!(base, samples(&games, &other, &all_trained()).digest());
    let split = TrainParams { validation_fraction: 0.5, ..TrainParams::default() };
    assert_ne!(base, samples(&games, &positions, &split).digest());
}

#[test]
fn whole_games_are_held_out_and_stay_so_when_the_window_slides() {
    let (games, positions) = random_games(600, 8);
    let half = positions.partition_point(|row| row.game < 300);
    let params = TrainParams { validation_fraction: 0.2, ..TrainParams::default() };
    let part = |name, games, positions| Part { name, source: 0, weight: 1.0, games, positions };
    let first = part("a", &games[..300], &positions[..half]);
    let second = part("b", &games[300..], &positions[half..]);
    let build = |parts: &[Part<'_>]| {
        let mut samples = new_samples(&params);
        for part in parts {
            samples.add(*part).expect("sound rows");
        }
        samples
    };
    let (a, b, ab) = (build(&[first]), build(&[second]), build(&[first, second]));
    let held_out = |samples: &Samples| samples.games().validation;
    assert!((40..80).contains(&held_out(&a)), "{} of 300", held_out(&a));
    assert_eq!(held_out(&a) + held_out(&b), held_out(&ab));
    assert_eq!(ab.validation_count(), 8 * held_out(&ab) as usize);
    assert_eq!(ab.validation_count() + ab.training_count(), 4800);
}

#[test]
fn copies_of_a_game_are_held_out_with_it() {
    let (games, positions) = random_games(300, 8);
    let params = TrainParams { validation_fraction: 0.2, ..TrainParams::default() };
    let split = |games: &[GameRow], positions: &[PositionRow], name| {
        let mut samples = new_samples(&params);
        samples.add(Part { name, source: 0, weight: 1.0, games, positions }).expect("sound rows");
        (samples.games().training, samples.games().validation, samples.validation_count())
    };
    // As a later step stores it: in another part, under another number, with another value.
    let mut held_out = 0;
    for (index, game) in games.iter().enumerate() {
        let rows: Vec<PositionRow> = positions.iter().filter(|row| row.game == game.game).cloned().collect();
        let copy = GameRow { game: game.game + 7000, ..game.clone() };
        let copied = |row: &PositionRow| PositionRow { game: copy.game, root_q: 0.0, ..row.clone() };
        let found = split(from_ref(game), &rows, "a");
        let copies: Vec<PositionRow> = rows.iter().map(copied).collect();
        assert_eq!(found, split(from_ref(&copy), &copies, "b"), "game {index}");
        held_out += found.1;
    }
    assert!((40..80).contains(&held_out), "{held_out} of 300");
}

#[test]
fn a_sample_takes_about_four_hundred_bytes() {
    let (games, positions) = random_games(10, 80);
    let samples = samples(&games, &positions, &all_trained());
    let each = samples.bytes() / samples.training_count();
    assert!(each < 420, "{each} bytes");
}

#[test]
fn quiet_positions_are_without_checks_captures_and_promotions() {
    // Captures of a pawn, en passant and with a promotion; a check that is answered by a capture, and one by a quiet move.
    let moves = "e2e4 d7d5 e4d5 c7c5 d5c6 a7a6 c6b7 a6a5 b7a8q a5a4 d1h5 g7g6 h5e5 h7h6 e5e7 d8e7 f1e2 h6h5";
    let (game, mut positions) = rows(0, &uci(moves), 0);
    positions[0].full = false;
    let params = TrainParams { positions: TrainedPositions::Quiet, ..all_trained() };
    let samples = self::samples(std::slice::from_ref(&game), &positions, &params);
    let plies: Vec<u16> =
        (0..samples.training_count()).filter_map(|index| samples.training_row(index).plies_left).collect();
    let left = |ply: u16| positions.len() as u16 - ply;
    let quiet = [0, 1, 3, 5, 7, 9, 10, 11, 12, 13, 17];
    assert_eq!(plies, quiet.map(left));
    // The others can train the policy alone.
    let params = TrainParams { quiet_values: true, positions: TrainedPositions::All, ..all_trained() };
    let samples = self::samples(&[game], &positions, &params);
    let weights: Vec<f32> = (0..samples.training_count())
        .map(|index| {
            let wdl = samples.training_row(index).wdl;
            wdl.win + wdl.draw + wdl.loss
        })
        .collect();
    let expected: Vec<f32> =
        (0..positions.len() as u16).map(|ply| f32::from(u8::from(quiet.contains(&ply)))).collect();
    assert_eq!(weights, expected);
}
