//! Mates that the search must find with an evaluator that only counts pieces.

use super::*;
use crate::board::{Epd, read_epd};
use crate::network::fake::Material;

/// The positions of `tests/data/mates.epd` with their distances in moves.
fn mates() -> Vec<(Game, u32)> {
    let epds =
        read_epd("mates.epd", include_bytes!("../../../../tests/data/mates.epd")).expect("an EPD file");
    let mate = |(_, epd): (usize, Epd)| Some((Game::from_position(epd.position.clone()), epd.mate_in()?));
    epds.into_iter().filter_map(mate).collect()
}

fn after(position: &Position, mv: Move) -> Position {
    let mut after = position.clone();
    after.play_unchecked(mv, position.key());
    after
}

/// Whether the side to move mates within `moves`, by trying all of them.
fn wins_within(position: &Position, moves: u32) -> bool {
    let legal = position.legal_moves();
    match moves {
        0 => false,
        1 => position.mate_in_one(&legal).is_some(),
        _ => legal.into_iter().any(|mv| loses_within(&after(position, mv), moves - 1)),
    }
}

/// Whether the side to move is mated, or will be within `moves` moves of its opponent whatever it plays.
fn loses_within(position: &Position, moves: u32) -> bool {
    let legal = position.legal_moves();
    if legal.is_empty() {
        return position.is_check();
    }
    moves > 0 && legal.into_iter().all(|mv| wins_within(&after(position, mv), moves))
}

/// Whether the search proved the win, or plays a move of the shortest mate.
fn found(search: &Search, moves: u32) -> bool {
    let played = search.choose(&ChoiceParams::default(), 0.0, &mut stream(0));
    let is_shortest = || loses_within(&after(search.game().position(), played), moves - 1);
    search.proof() == Some(Proof::Win) || is_shortest()
}

/// Searches every mate in N with the N-th budget.
fn find_all(budgets: &[u32], params: &SearchParams) {
    for (game, moves) in mates().into_iter().filter(|(_, moves)| *moves as usize <= budgets.len()) {
        let simulations = budgets[moves as usize - 1];
        let params = SearchParams { simulations, ..params.clone() };
        let search = searched(&game, &params, &mut Material::new(encoding()));
        let fen = game.position().fen();
        assert!(found(&search, moves), "mate in {moves} of {fen} with {params:?}");
    }
}

/// Simulations for mates in 1, 2, 3 and 4: at least twice as many as the hardest position needs.
const WITH_SOLVER: [u32; 4] = [100, 12_800, 25_600, 1_000];
const WITHOUT_SOLVER: [u32; 2] = [200, 25_600];
const WITH_MATE_IN_ONE: [u32; 4] = [1, 200, 6_400, 1_000];
const WITH_GUMBEL_ROOT: [u32; 3] = [100, 25_600, 25_600];

/// All moves have the same prior, so the search has to be wide.
fn wide() -> SearchParams {
    SearchParams { c_puct: 3.0, ..SearchParams::default() }
}

#[test]
fn the_mate_distances_are_exact() {
    let mates = mates();
    let count = |distance| mates.iter().filter(|(_, moves)| *moves == distance).count();
    assert!([1, 2, 3].into_iter().all(|moves| count(moves) >= 6) && count(4) >= 3);
    for (game, moves) in &mates {
        let position = game.position();
        assert!(wins_within(position, *moves), "{} is longer", position.fen());
        assert!(!wins_within(position, moves - 1), "{} is shorter", position.fen());
    }
}

#[test]
fn the_solver_finds_mates() {
    find_all(&WITH_SOLVER, &wide());
}

#[test]
fn short_mates_are_found_without_the_solver() {
    find_all(&WITHOUT_SOLVER, &SearchParams { solver: false, ..wide() });
}

#[test]
fn mate_in_one_search_finds_mates_sooner() {
    find_all(&WITH_MATE_IN_ONE, &SearchParams { mate_in_one: true, ..wide() });
}

#[test]
fn a_gumbel_root_that_considers_every_move_finds_mates() {
    let root = RootParams { rule: RootRule::Gumbel, considered: 218, ..RootParams::default() };
    find_all(&WITH_GUMBEL_ROOT, &SearchParams { root, ..wide() });
}
