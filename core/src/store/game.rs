//! A stored game, replayed: its positions, its search results, and the game as text and PGN.

use super::{GameRow, HeaderRow, MatchGameRow, PositionRow, Scores};
use crate::board::{
    Ending, Game, GameResult, GameTextError, Move, PgnRoster, PgnWriter, Position, numbered_moves,
};
use crate::search::Target;

/// The PGN tag of the reason for a game's end, a name as in the table `games`.
pub(crate) const REASON_TAG: &str = "DC0Reason";

/// The PGN tag of the plies at the start that no player or search chose.
pub(crate) const OPENING_PLIES_TAG: &str = "DC0OpeningPlies";

/// A game read from a table and replayed from its start.
#[derive(Debug, Clone)]
pub struct StoredGame {
    /// Its number within its step.
    pub number: u32,
    /// The white player's name in the table.
    pub white: String,
    /// The black player's name.
    pub black: String,
    /// The game with all its moves.
    pub game: Game,
    /// Plies of the opening, which no player chose.
    pub opening_plies: usize,
    /// Who won.
    pub result: GameResult,
    /// Why it ended.
    pub reason: Ending,
    /// What happened in a game of a match that a player lost by a fault; otherwise empty.
    pub detail: String,
    /// The search result of each ply, one for each move; `None` for random plies, in matches and in games of PGN.
    pub searches: Vec<Option<PositionRow>>,
    /// What the players of a match found in each ply, one for each move; `None` where nothing is known, and in self-play.
    pub found: Vec<Option<Found>>,
    /// What was said about it, if it was imported.
    pub header: Option<HeaderRow>,
}

/// What a player of a match found before its move.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Found {
    /// Its evaluation in centipawns from its own side; see [`MatchGameRow::scores`].
    pub score: Option<f32>,
    /// The depth that a program reported.
    pub depth: Option<u16>,
    /// Seconds that it took, where they are stored.
    pub seconds: Option<f32>,
}

/// One position of a stored game; the last one has no move.
#[derive(Debug, Clone, Copy)]
pub struct StoredPly<'a> {
    /// The number of moves played before it.
    pub ply: usize,
    /// The position.
    pub position: &'a Position,
    /// The move that led to it.
    pub last: Option<Move>,
    /// The move played in it.
    pub played: Option<Move>,
    /// Its search result.
    pub search: Option<&'a PositionRow>,
}

impl StoredGame {
    /// A game of self-play; positions of other games are ignored.
    pub fn of_self_play(row: &GameRow, positions: &[PositionRow]) -> Result<Self, GameTextError> {
        let game = Game::from_packed(&row.start_fen, &row.moves)?;
        let mut searches = vec![None; game.ply()];
        for position in positions.iter().filter(|position| position.game == row.game) {
            if let Some(search) = searches.get_mut(usize::from(position.ply)) {
                *search = Some(position.clone());
            }
        }
        let player = if row.network.is_empty() { "?" } else { &row.network };
        Ok(Self {
            number: row.game,
            white: player.to_owned(),
            black: player.to_owned(),
            game,
            opening_plies: row.opening_plies.into(),
            result: row.result,
            reason: row.reason,
            detail: String::new(),
            found: vec![None; searches.len()],
            searches,
            header: None,
        })
    }

    /// An imported game with its positions. In games of PGN, which nobody searched, what PGN says takes the part of the searches.
    pub fn of_import(
        row: &GameRow,
        header: HeaderRow,
        positions: &[PositionRow],
    ) -> Result<Self, GameTextError> {
        let mut game = Self::of_self_play(row, positions)?;
        for search in &mut game.searches {
            search.take_if(|row| row.simulations <= 1);
        }
        let named = |name: &str| if name.is_empty() { "?".to_owned() } else { name.to_owned() };
        let (white, black) = (named(&header.white), named(&header.black));
        Ok(Self { white, black, header: Some(header), ..game })
    }

    /// A game of a match.
    pub fn of_match(row: &MatchGameRow) -> Result<Self, GameTextError> {
        let game = Game::from_packed(&row.start_fen, &row.moves)?;
        let (white, black) =
            if row.first_is_white { (&row.first, &row.second) } else { (&row.second, &row.first) };
        Ok(Self {
            number: row.game,
            white: white.clone(),
            black: black.clone(),
            searches: vec![None; game.ply()],
            found: found(row),
            game,
            opening_plies: row.opening_plies.into(),
            result: row.result,
            reason: row.reason,
            detail: row.detail.clone(),
            header: None,
        })
    }

    /// Every position from the start to the end; one more than there are moves.
    pub fn plies(&self) -> impl Iterator<Item = StoredPly<'_>> {
        let moves = self.game.moves();
        self.game.positions().enumerate().map(move |(ply, position)| StoredPly {
            ply,
            position,
            last: ply.checked_sub(1).map(|before| moves[before]),
            played: moves.get(ply).copied(),
            search: self.searches.get(ply).and_then(Option::as_ref),
        })
    }

    /// The moves in SAN with their numbers: `1. e4 e5 2. Nf3`.
    pub fn movetext(&self) -> String {
        numbered_moves(self.game.start(), self.game.moves()).join(" ")
    }

    /// The game as PGN. A comment after each searched move gives the values of the search and the net, for the side that moved; in
    /// an imported game comments and tags are those that it came with, as far as they are stored.
    pub fn pgn(&self, event: &str) -> String {
        let round = if self.header.is_some() { "?".to_owned() } else { self.number.to_string() };
        let roster = PgnRoster {
            event: event.to_owned(),
            date: None,
            round,
            white: self.white.clone(),
            black: self.black.clone(),
            result: Some(self.result),
        };
        let mut pgn = PgnWriter::new(&roster, self.game.start());
        pgn.tag("PlyCount", &self.game.ply().to_string());
        pgn.tag("Termination", self.reason.termination());
        pgn.tag(REASON_TAG, self.reason.name());
        if !self.detail.is_empty() {
            pgn.tag("DC0Detail", &self.detail);
        }
        pgn.tag(OPENING_PLIES_TAG, &self.opening_plies.to_string());
        for (name, value) in self.header.as_ref().map(tags).unwrap_or_default() {
            if !value.is_empty() {
                pgn.tag(name, &value);
            }
        }
        for StoredPly { ply, position, played, search, .. } in self.plies() {
            let Some(played) = played else { break };
            let of_search = search.map(|row| format!("q={:+.2} net={:+.2}", row.root_q, row.net_q));
            let of_player = || self.found[ply].and_then(Found::text);
            let of_header = || self.header.as_ref().and_then(|header| header.note(ply).text());
            let comment = of_search.or_else(of_player).or_else(of_header);
            pgn.play(position, played, comment.as_deref());
        }
        pgn.finish()
    }
}

impl StoredPly<'_> {
    /// The moves of its search, as every view of the game orders them: the most visited first, of equally visited ones the one with the
    /// larger share of the policy target, then the one whose packed number is smaller. Moves of damaged rows that are not legal are left
    /// out; empty without a search.
    pub fn targets(&self) -> Vec<Target> {
        let Some(row) = self.search else { return Vec::new() };
        let all: u64 = row.target.iter().map(|share| u64::from(*share)).sum();
        let legal = self.position.legal_moves();
        let target = |(packed, (visits, share)): (&u16, (&u32, &u16))| {
            let played = Move::from_packed(*packed).filter(|mv| legal.contains(mv))?;
            Some(Target { played, visits: *visits, share: f64::from(*share) / all.max(1) as f64 })
        };
        let both = row.visits.iter().zip(&row.target);
        let mut targets: Vec<Target> = row.moves.iter().zip(both).filter_map(target).collect();
        let by_rank = |a: &Target, b: &Target| {
            let by_visits = b.visits.cmp(&a.visits).then(b.share.total_cmp(&a.share));
            by_visits.then(a.played.packed().cmp(&b.played.packed()))
        };
        targets.sort_by(by_rank);
        targets
    }
}

impl Found {
    /// As cutechess and fastchess write it: `+0.35/12 0.52s`, with `M5` for a mate in five moves; `None` if nothing is known.
    pub fn text(self) -> Option<String> {
        let score = self.score.map(|score| {
            let sign = if score < 0.0 { '-' } else { '+' };
            match Scores::mate_in(score) {
                Some(moves) => format!("{sign}M{moves:.0}"),
                // Adding 0 makes a level score +0.00 instead of -0.00.
                None => format!("{:+.2}", score.round() / 100.0 + 0.0),
            }
        });
        let score = match (score, self.depth) {
            (Some(score), Some(depth)) => Some(format!("{score}/{depth}")),
            (score, _) => score,
        };
        let seconds = self.seconds.map(|seconds| format!("{seconds:.3}s"));
        let parts: Vec<String> = score.into_iter().chain(seconds).collect();
        (!parts.is_empty()).then(|| parts.join(" "))
    }
}

/// The tags of an imported game; those that are not known are empty.
fn tags(header: &HeaderRow) -> [(&'static str, String); 10] {
    let elo = |elo: u16| if elo == 0 { String::new() } else { elo.to_string() };
    // dc0's own word for the end has a tag of its own.
    let termination =
        if Ending::from_name(&header.termination).is_some() { "" } else { header.termination.as_str() };
    [
        ("Event", header.event.clone()),
        ("Site", header.site.clone()),
        ("Date", header.date.clone()),
        ("Round", header.round.clone()),
        ("WhiteElo", elo(header.white_elo)),
        ("BlackElo", elo(header.black_elo)),
        ("ECO", header.eco.clone()),
        ("TimeControl", header.time_control.clone()),
        ("Termination", termination.to_owned()),
        ("DC0Source", format!("{}, game {}", header.source, header.number)),
    ]
}

fn found(row: &MatchGameRow) -> Vec<Option<Found>> {
    let of_ply = |ply: usize| {
        let score = row.scores.0.get(ply).copied().filter(|score| !score.is_nan());
        let depth = row.depths.get(ply).copied().filter(|depth| *depth > 0);
        let seconds = row.seconds.get(ply).copied().filter(|_| ply >= usize::from(row.opening_plies));
        let found = Found { score, depth, seconds };
        (score.is_some() || depth.is_some() || seconds.is_some()).then_some(found)
    };
    (0..row.moves.len()).map(of_ply).collect()
}
