//! One position, looked at by a net and by a search.

use dc0_core::board::{Game, Move, Side};
use dc0_core::event::Observer;
use dc0_core::network::{Batch, Evaluations, Evaluator, EvaluatorError, NetworkSpec, Wdl};
use dc0_core::search::{
    ANALYSIS_RULES, Engine, Line, RootScore, Search, Target, Visited, search_in_lockstep,
};

use super::error::ExplainError;
use super::params::ExplainParams;

/// Everything that was found.
pub struct Study {
    pub(super) params: ExplainParams,
    /// The net's name.
    pub(super) name: String,
    pub(super) spec: NetworkSpec,
    pub(super) net: Opinion,
    /// The finished search.
    pub(super) search: Search,
    /// Every legal move, the best first.
    pub(super) moves: Vec<Searched>,
}

/// What the net says of the position by itself, for the side to move.
pub(super) struct Opinion {
    pub(super) wdl: Wdl,
    /// Plies left in the game, where the net says so.
    pub(super) moves_left: Option<f32>,
    /// Every legal move with its probability, the likeliest first.
    pub(super) moves: Vec<(Move, f32)>,
}

/// What the search says of a move.
pub(super) struct Searched {
    pub(super) seen: Visited,
    /// Its share of the policy target.
    pub(super) target: f64,
    /// How PUCT sees it; nothing where the root has another rule.
    pub(super) score: Option<RootScore>,
    /// The move and what is expected to follow.
    pub(super) line: Vec<Move>,
}

impl Study {
    /// Asks the net, then searches. Nothing is drawn by chance.
    pub fn new(
        game: Game,
        (name, spec): (String, &NetworkSpec),
        mut params: ExplainParams,
        (evaluator, observer): (&mut dyn Evaluator, &dyn Observer),
    ) -> Result<Self, ExplainError> {
        if params.steps > 0 {
            params.search.engine = Engine::Reference;
        }
        let mut search = Search::new(game, ANALYSIS_RULES, params.search.clone())?;
        let net = Opinion::of(search.game(), evaluator)?;
        search.watch(params.steps as usize);
        let mut searches = [search];
        search_in_lockstep(&mut searches, evaluator, &mut |_| Ok::<_, ExplainError>(observer.check()?))?;
        let [search] = searches;
        let moves = searched(&search);
        Ok(Self { params, name, spec: spec.clone(), net, search, moves })
    }

    pub(super) fn game(&self) -> &Game {
        self.search.game()
    }

    /// Whose values are shown.
    pub(super) fn side(&self) -> Side {
        self.game().position().side_to_move()
    }

    /// The moves that lists show.
    pub(super) fn shown(&self) -> &[Searched] {
        &self.moves[..self.moves.len().min(self.params.top as usize)]
    }

    /// Whether plies left count in PUCT's sum.
    pub(super) fn counts_plies(&self) -> bool {
        self.moves.iter().any(|of| of.score.is_some_and(|score| score.plies != 0.0))
    }

    /// The net's priors of a move, as the search takes them.
    pub(super) fn net_prior(&self, played: Move) -> f32 {
        self.net.moves.iter().find(|(of, _)| *of == played).map_or(0.0, |(_, prior)| *prior)
    }
}

impl Opinion {
    fn of(game: &Game, evaluator: &mut dyn Evaluator) -> Result<Self, EvaluatorError> {
        let (mut batch, mut answers) = (Batch::default(), Evaluations::default());
        batch.push(evaluator.encoding(), game);
        evaluator.evaluate(&batch, &mut answers)?;
        let legal = game.position().legal_moves();
        let mut moves: Vec<(Move, f32)> = legal.into_iter().zip(answers.policy).collect();
        moves.sort_by(|a, b| b.1.total_cmp(&a.1));
        Ok(Self { wdl: answers.wdl[0], moves_left: answers.moves_left.first().copied(), moves })
    }
}

/// Every legal move with what is known of it: those with a line first, in its order, then the others by their priors.
fn searched(search: &Search) -> Vec<Searched> {
    let (lines, targets, scores) =
        (search.lines(usize::MAX), search.policy_target(), search.root_scores().unwrap_or_default());
    let place = |played: Move| lines.iter().position(|line: &Line| line.first.played == played);
    let searched = |seen: Visited| Searched {
        seen,
        target: target(&targets, seen.played),
        score: scores.iter().find(|score| score.played == seen.played).copied(),
        line: place(seen.played).map_or(vec![seen.played], |at| lines[at].moves.clone()),
    };
    let mut moves: Vec<Searched> = search.root_moves().map(searched).collect();
    moves.sort_by(|a, b| {
        let key = |of: &Searched| place(of.seen.played).unwrap_or(usize::MAX);
        key(a).cmp(&key(b)).then(b.seen.prior.total_cmp(&a.seen.prior))
    });
    moves
}

fn target(targets: &[Target], played: Move) -> f64 {
    targets.iter().find(|target| target.played == played).map_or(0.0, |target| target.share)
}
