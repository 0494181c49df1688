//! One position, evaluated by a net and searched.

use dc0_core::board::{Game, Move, Side};
use dc0_core::event::Observer;
use dc0_core::network::checkpoint::Checkpoint;
use dc0_core::network::{Batch, Evaluations, Evaluator, EvaluatorError, NetworkSpec, Wdl};
use dc0_core::search::{
    ANALYSIS_RULES, Engine, Line, Requirement, RootMove, RootScore, Search, Target, search_in_lockstep, unmet,
};

use super::error::ExplainError;
use super::params::ExplainParams;
use crate::score::{Calibrated, ScoreFit};

/// The evaluation and the search of one position.
pub struct Study {
    pub(super) params: ExplainParams,
    /// The net's name.
    pub(super) name: String,
    pub(super) spec: NetworkSpec,
    fit: ScoreFit,
    pub(super) net: NetOutput,
    /// The finished search.
    pub(super) search: Search,
    /// Every legal move, the best first.
    pub(super) moves: Vec<Searched>,
}

/// The net that evaluates.
pub struct StudiedNet<'a> {
    /// Its name.
    pub name: String,
    /// Its architecture.
    pub spec: &'a NetworkSpec,
    /// How its values become scores.
    pub fit: ScoreFit,
}

impl<'a> StudiedNet<'a> {
    /// A net under a name.
    pub fn new(net: &'a Checkpoint, name: String) -> Self {
        Self { name, spec: &net.spec, fit: ScoreFit::of_net(net) }
    }
}

/// The net's evaluation of the position, for the side to move.
pub(super) struct NetOutput {
    pub(super) wdl: Wdl,
    /// Plies left in the game, if the net has a moves-left head.
    pub(super) moves_left: Option<f32>,
    /// Every legal move with its probability, the likeliest first.
    pub(super) moves: Vec<(Move, f32)>,
}

/// A root move after the search.
pub(super) struct Searched {
    pub(super) edge: RootMove,
    /// Its share of the policy target.
    pub(super) target: f64,
    /// Its PUCT score; `None` where the root has another rule.
    pub(super) score: Option<RootScore>,
    /// Its value as people read it; `None` where the move has no line of its own.
    pub(super) shown: Option<Calibrated>,
    /// The move's principal variation.
    pub(super) line: Vec<Move>,
}

impl Study {
    /// Evaluates the position, then searches it. Nothing is random.
    pub fn new(
        game: Game,
        studied: &StudiedNet<'_>,
        mut params: ExplainParams,
        evaluator: &mut dyn Evaluator,
        observer: &dyn Observer,
    ) -> Result<Self, ExplainError> {
        if let Some(Requirement { member, lacks }) = unmet(&params.search, studied.spec) {
            return Err(ExplainError::Unmet { member, lacks });
        }
        if params.steps > 0 {
            params.search.engine = Engine::Reference;
        }
        let mut search = Search::new(game, ANALYSIS_RULES, params.search.clone())?;
        let net = NetOutput::evaluate(search.game(), evaluator)?;
        search.record_simulations(params.steps as usize);
        let mut searches = [search];
        search_in_lockstep(&mut searches, evaluator, &mut |_| Ok::<_, ExplainError>(observer.check()?))?;
        let [search] = searches;
        let moves = searched(&search, studied.fit);
        let StudiedNet { name, spec, fit } = studied;
        Ok(Self { params, name: name.clone(), spec: (*spec).clone(), fit: *fit, net, search, moves })
    }

    pub(super) fn game(&self) -> &Game {
        self.search.game()
    }

    /// The side whose values are shown.
    pub(super) fn side(&self) -> Side {
        self.game().position().side_to_move()
    }

    /// The net's evaluation as people read it.
    pub(super) fn net_score(&self) -> Calibrated {
        self.fit.of_value(self.net.wdl.value().into(), self.net.wdl.draw.into())
    }

    /// The search's result as people read it.
    pub(super) fn search_score(&self) -> Calibrated {
        self.fit.of_root(&self.search, &self.search.lines(1))
    }

    /// The moves that lists show.
    pub(super) fn shown(&self) -> &[Searched] {
        &self.moves[..self.moves.len().min(self.params.top as usize)]
    }

    /// Whether moves left count in any PUCT score.
    pub(super) fn counts_moves_left(&self) -> bool {
        self.moves.iter().any(|searched| searched.score.is_some_and(|score| score.plies != 0.0))
    }

    /// The net's prior of a move.
    pub(super) fn net_prior(&self, mv: Move) -> f32 {
        self.net.moves.iter().find(|(legal, _)| *legal == mv).map_or(0.0, |(_, prior)| *prior)
    }
}

impl NetOutput {
    fn evaluate(game: &Game, evaluator: &mut dyn Evaluator) -> Result<Self, EvaluatorError> {
        let (mut batch, mut answers) = (Batch::default(), Evaluations::default());
        batch.push(evaluator.encoding(), game);
        evaluator.evaluate(&batch, &mut answers)?;
        let legal = game.position().legal_moves();
        let mut moves: Vec<(Move, f32)> = legal.into_iter().zip(answers.policy).collect();
        moves.sort_by(|a, b| b.1.total_cmp(&a.1));
        Ok(Self { wdl: answers.wdl[0], moves_left: answers.moves_left.first().copied(), moves })
    }
}

/// Every legal move with its results: those with a line first, in the order of the lines, then the others by prior.
fn searched(search: &Search, fit: ScoreFit) -> Vec<Searched> {
    let (lines, targets, scores) =
        (search.lines(usize::MAX), search.policy_target(), search.root_scores().unwrap_or_default());
    let rank = |mv: Move| lines.iter().position(|line: &Line| line.first.played == mv);
    let searched = |edge: RootMove| Searched {
        edge,
        target: target(&targets, edge.played),
        score: scores.iter().find(|score| score.played == edge.played).copied(),
        shown: rank(edge.played).map(|index| fit.of_line(search, &lines[index])),
        line: rank(edge.played).map_or(vec![edge.played], |index| lines[index].moves.clone()),
    };
    let mut moves: Vec<Searched> = search.root_moves().map(searched).collect();
    moves.sort_by(|a, b| {
        let key = |searched: &Searched| rank(searched.edge.played).unwrap_or(usize::MAX);
        key(a).cmp(&key(b)).then(b.edge.prior.total_cmp(&a.edge.prior))
    });
    moves
}

fn target(targets: &[Target], mv: Move) -> f64 {
    targets.iter().find(|target| target.played == mv).map_or(0.0, |target| target.share)
}
