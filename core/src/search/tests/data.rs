//! The tree as rows, searches rebuilt from rows, and lines.

use super::*;
use crate::search::rows::TreeRow;

fn some_searches() -> Vec<(Game, SearchParams, Search)> {
    let shapes = [
        SearchParams::default(),
        SearchParams { draw_score: 0.3, mate_in_one: true, two_fold_draws: true, ..SearchParams::default() },
        SearchParams { solver: false, ..SearchParams::default() },
        SearchParams { graph: true, draw_score: 0.3, ..SearchParams::default() },
        with_moves_left(SearchParams::default()),
        with_moves_left(SearchParams { graph: true, ..SearchParams::default() }),
    ];
    let games = bench::positions();
    let pairs = games.iter().flat_map(|game| shapes.iter().map(move |shape| (game, shape)));
    // Full of repetitions, which are leaves of a search with two-fold draws.
    let locked = from_fen("4k3/8/p1p1p1p1/P1P1P1P1/8/8/8/4K3 w - - 0 1");
    pairs
        .chain([(&locked, &shapes[1])])
        .map(|(game, shape)| {
            let params = SearchParams { simulations: 300, ..shape.clone() };
            let search = searched(game, &params, &mut Hashed::new(encoding(), 2).with_moves_left());
            (game.clone(), params, search)
        })
        .collect()
}

#[test]
fn nodes_that_no_edge_leads_to_any_more_have_no_rows() {
    // Full of repetitions: edges of a graph come to lead to other nodes.
    let game = from_fen("4k3/8/p1p1p1p1/P1P1P1P1/8/8/8/4K3 w - - 0 1");
    let params = SearchParams { graph: true, ..simulations(4000) };
    let search = searched(&game, &params, &mut Hashed::new(encoding(), 2));
    let rows = search.rows(0, true);
    let reached = |row: &&TreeRow| row.node != TreeRow::NO_NODE;
    let mut nodes: Vec<u32> = rows.iter().filter(reached).map(|row| row.node).collect();
    nodes.sort_unstable();
    nodes.dedup();
    assert!(nodes.len() < search.tree.nodes.len(), "every node is reached");
    assert!(nodes.iter().copied().eq(0..nodes.len() as u32));
    new_search(game, params).restore(&rows).expect("rows of a search fit").check_invariants();
}

#[test]
fn rows_match_the_root_and_add_up() {
    for (game, _, search) in some_searches() {
        let rows = search.rows(7, true);
        assert!(
            rows.iter().all(|row| row.search == 7)
                && rows.iter().zip(0..).all(|(row, number)| row.row == number)
        );
        let root = &rows[0];
        assert_eq!((root.visits, root.depth, root.node), (search.visits(), 0, 0));
        let moves: Vec<&TreeRow> = rows[1..].iter().filter(|row| row.parent == 0).collect();
        assert_eq!(moves.len(), game.position().legal_moves().len());
        for (row, mv) in moves.iter().zip(search.root_moves()) {
            assert_eq!((row.played, row.visits, row.prior), (mv.played.packed(), mv.visits, mv.prior));
            if let Some(value) = mv.value {
                assert!((f64::from(row.q) - value).abs() < 1e-6, "{row:?} {value}");
            }
        }
        for row in rows.iter().filter(|row| row.node != TreeRow::NO_NODE) {
            assert!((row.win + row.draw + row.loss - 1.0).abs() < 1e-5, "{row:?}");
            assert!(
                [row.win, row.draw, row.loss].iter().all(|share| (-1e-5..=1.00001).contains(share)),
                "{row:?}"
            );
        }
        let PositionValue { value, draw } = search.root_value();
        assert!(
            (f64::from(root.win - root.loss) - value).abs() < 1e-5
                && (f64::from(root.draw) - draw).abs() < 1e-5
        );
        let visited = search.rows(7, false);
        assert!(visited.iter().all(|row| row.node != TreeRow::NO_NODE) && visited.len() < rows.len());
    }
}

/// Whether rows are equal, up to rounding of the own evaluation in a graph.
fn alike(a: &TreeRow, b: &TreeRow) -> bool {
    let own = |row: &TreeRow| (row.net_q, row.net_d);
    let close = |a: (f32, f32), b: (f32, f32)| (a.0 - b.0).abs() < 1e-6 && (a.1 - b.1).abs() < 1e-6;
    let without = |row: &TreeRow| TreeRow { net_q: 0.0, net_d: 0.0, ..row.clone() };
    without(a) == without(b) && close(own(a), own(b))
}

#[test]
fn a_search_rebuilt_from_rows_continues_like_the_original() {
    for (game, params, search) in some_searches() {
        let rows = search.rows(0, true);
        let restored = new_search(game.clone(), params.clone()).restore(&rows).expect("rows of a search fit");
        restored.check_invariants();
        assert!(restored.rows(0, true).iter().zip(&rows).all(|(a, b)| alike(a, b)), "{params:?}");
        let mut kept = search;
        kept.reset_root();
        let mut both = [kept, restored];
        for search in &mut both {
            run(search, &mut Hashed::new(encoding(), 2).with_moves_left());
        }
        assert_eq!(visits(&both[0]), visits(&both[1]), "{}", game.position().fen());
        let [squares, others] = both
            .map(|search| search.rows(0, true).into_iter().map(|row| row.square_sum).collect::<Vec<f32>>());
        let close = |(a, b): (&f32, &f32)| (a - b).abs() <= 1e-4 * a.abs().max(1.0);
        assert!(squares.iter().zip(&others).all(close), "{params:?}");
    }
}

/// A change of the rows of a search before they are restored.
type Change<'a> = &'a dyn Fn(&mut Vec<TreeRow>);

#[test]
fn rows_that_do_not_fit_the_game_are_rejected() {
    let game = Game::initial();
    let search = searched(&game, &simulations(50), &mut Hashed::new(encoding(), 2));
    let rows = search.rows(3, true);
    let error = |change: Change<'_>| {
        let mut rows = rows.clone();
        change(&mut rows);
        new_search(game.clone(), simulations(50)).restore(&rows).expect_err("is rejected").to_string()
    };
    let cases: [(Change<'_>, &str); 9] = [
        (&|rows| drop(rows.remove(0)), "is not the root"),
        (&|rows| rows[0].depth = 1, "is not the root"),
        (&|rows| drop(rows.remove(1)), "no row leads to 1"),
        (&|rows| drop(rows.remove(20)), "not the 20 legal ones"),
        (&|rows| rows[1].played = 0xffff, "is not a packed move"),
        (&|rows| rows[1].visits += 1, "visits, its moves"),
        (&|rows| rows[2].node = 4000, "no row leads to"),
        (&|rows| rows[1].proof = "maybe".to_owned(), "\"maybe\", which is not known"),
        (&|rows| rows.retain(|row| row.node != TreeRow::NO_NODE), "rows must include untried moves"),
    ];
    for (change, expected) in cases {
        let text = error(change);
        assert!(text.starts_with("row ") && text.contains("search 3") && text.contains(expected), "{text}");
    }
    let other = from_fen("4k3/8/8/8/8/8/4P3/4K3 w - - 0 1");
    let text = new_search(other, simulations(50)).restore(&rows).expect_err("is rejected").to_string();
    assert!(text.contains("must be the one that was searched"), "{text}");
}

#[test]
fn trees_of_searches_that_share_nodes_or_prove_nothing_are_rejected_by_others() {
    let rejected = |game: &Game, of: SearchParams, by: SearchParams| {
        let rows = searched(game, &of, &mut Hashed::new(encoding(), 2)).rows(0, true);
        new_search(game.clone(), by).restore(&rows).expect_err("is rejected").to_string()
    };
    let shares = SearchParams { graph: true, ..simulations(2000) };
    let text = rejected(&Game::initial(), shares, simulations(10));
    assert!(text.contains("only `graph` searches share nodes"), "{text}");
    let mate = from_fen("6k1/5ppp/8/8/8/8/5PPP/3R2K1 w - - 0 1");
    let proves_nothing = SearchParams { solver: false, mate_in_one: false, c_puct: 8.0, ..simulations(500) };
    let text = rejected(&mate, proves_nothing, simulations(10));
    assert!(text.contains("go on with `solver` false"), "{text}");
}

/// In a graph, a node whose child another path has proven is itself proven on its next visit only.
#[test]
fn a_restored_graph_proves_what_it_had_not_proven_yet() {
    let game = from_fen("6k1/5ppp/8/8/8/8/5PPP/3R2K1 w - - 0 1");
    let params = SearchParams { graph: true, mate_in_one: false, ..simulations(500) };
    let mut evaluator = Hashed::new(encoding(), 2);
    let search = searched(&game, &params, &mut evaluator);
    assert_eq!(search.proof(), Some(Proof::Win));
    let mut rows = search.rows(0, true);
    rows[0].proof = "none".to_owned();
    let mut restored = new_search(game, params).restore(&rows).expect("rows of a search fit");
    assert_eq!(restored.proof(), None);
    run(&mut restored, &mut evaluator);
    assert_eq!(restored.proof(), Some(Proof::Win));
}

#[test]
fn lines_are_legal_and_start_with_the_move_played() {
    for (game, _, search) in some_searches() {
        let lines = search.lines(3);
        let played = search.choose(&ChoiceParams::default(), 0.0, &mut stream(0));
        assert_eq!(lines[0].first.played, played);
        assert_eq!(search.principal_variation(), lines[0].moves);
        assert!(lines.windows(2).skip(1).all(|pair| pair[0].first.visits >= pair[1].first.visits));
        for line in lines {
            let mut game = game.clone();
            for mv in line.moves {
                assert!(game.position().is_legal(mv));
                game.play_unchecked(mv);
            }
        }
    }
}

#[test]
fn the_first_line_follows_a_proven_mate_to_its_end() {
    let params = SearchParams { mate_in_one: false, ..simulations(20_000) };
    let search =
        searched(&from_fen("kbK5/pp6/1P6/8/8/8/8/R7 w - - 0 1"), &params, &mut Uniform::new(encoding()));
    let line: Vec<String> = search.lines(5)[0].moves.iter().map(ToString::to_string).collect();
    assert_eq!((line.len(), line[0].as_str()), (3, "a1a6"));
}
