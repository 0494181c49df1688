//! `run.rate`: ratings of players by matches of those pairs that teach most.
//!
//! Every match is a step, so a run that is killed goes on where it was, and plays the same pairs.

#![allow(clippy::needless_pass_by_value, reason = "the engine hands every argument over by value")]

use std::collections::BTreeMap;

use rhai::{Array, Dynamic, Engine, ImmutableString, Map, NativeCallContext};

use dc0_core::arena::rating::{Estimate, Standing, Standings};
use dc0_core::arena::{ArenaParams, PlayerParams};
use dc0_core::book::{Book, BookParams};
use dc0_core::params;
use dc0_core::params::{Param as _, Problem, Value};
use dc0_steps::StepError;
use dc0_steps::handles::{Network, Player};
use dc0_steps::host::CallParams;
use dc0_steps::kinds::{opening_book, unused_by};
use dc0_steps::step::{Argument, StepResult};

use super::session::RunHandle;
use super::{ownership, steps};
use crate::call::{Answer, Call};
use crate::dynamic::to_dynamic;

type Context<'a> = NativeCallContext<'a>;

params! {
    /// How players are rated; `players` and `anchors` are lists of players.
    pub struct RateParams {
        /// Games of each match; even, because every opening is played with both colours.
        games: u32 = 20, in 2..=100_000;
        /// The rating ends once the widest 95 % interval of a player is at most this wide, in Elo.
        width: f64 = 100.0, in 1.0..=10_000.0;
        /// The rating ends before it has more games than these.
        most_games: u32 = 1000, in 2..=10_000_000;
        /// The parameters of every match; `games` is that above.
        arena: ArenaParams = ArenaParams::default();
    }
    check |params| {
        let odd = (params.games % 2 == 1).then(|| {
            ("games", format!("must be even, because games come in pairs, got {}", params.games))
        });
        let few = (params.most_games < params.games).then(|| {
            ("most_games", format!("must be at least games = {}, got {}", params.games, params.most_games))
        });
        let early = params.arena.sprt.is_some().then(|| {
            let message = "ends matches when they look decided, so their scores are no fair estimates; leave it out";
            ("arena.sprt", message.to_owned())
        });
        odd.into_iter().chain(few).chain(early).collect()
    };
}

pub(super) fn register(engine: &mut Engine) {
    engine.register_fn("rate", rate);
}

fn rate(context: Context<'_>, run: RunHandle, mut map: Map) -> Answer<Map> {
    let call = Call::new("rate", &context);
    let mut players = players(&call, map.remove("players"))?;
    let anchors = anchors(&call, map.remove("anchors"))?;
    let sampling = steps::sampling_of(&map, "arena");
    let CallParams { params, given } = call.read::<RateParams>(&map, sampling)?;
    let arena = given.member("arena").cloned().unwrap_or_else(Value::group);
    let mut fixed = BTreeMap::new();
    for (index, (player, elo)) in anchors.into_iter().enumerate() {
        let name = player.name();
        match players.iter().find(|known| known.name() == name) {
            None => players.push(player),
            Some(known) if known.is_same(&player) => {}
            Some(_) => {
                let other =
                    format!("another player has the name {name}, too; give one of them a `name` of its own");
                return Err(call.misuse(format!("anchors[{index}]: {other}")));
            }
        }
        if fixed.insert(name.clone(), elo).is_some() {
            return Err(call.misuse(format!("anchors[{index}]: {name} is an anchor already; leave one out")));
        }
    }
    if players.len() < 2 {
        return Err(
            call.misuse(format!("players: expected at least two with the anchors, got {}", players.len()))
        );
    }
    // A pair may well leave a parameter without a use, if another one uses it.
    let nets: Vec<&PlayerParams> = players.iter().filter_map(Player::own).collect();
    let unused = unused_by(&nets, players.len(), &params.arena, &arena).into_iter();
    call.accept(
        unused.map(|problem| Problem { path: format!("arena.{}", problem.path), ..problem }).collect(),
    )?;
    let arguments: Vec<Argument> = players.iter().cloned().map(Argument::Player).collect();
    ownership::check_arguments(&call, &run, &arguments)?;
    let names: Vec<String> = players.iter().map(Player::name).collect();
    let is_planning = run.0.host.is_planning();
    let each = ArenaParams { games: params.games, ..params.arena.clone() };
    let mut deal = Deal::new(&params, call.run(opening_book(&each))?.as_ref());
    let (mut results, mut games, mut is_assumed) = (Vec::new(), 0, false);
    let standings = loop {
        let standings = Standings::new(&names, &results, &fixed).map_err(|cause| call.misuse(cause))?;
        if standings.widest().is_some_and(|widest| widest <= params.width) {
            break standings;
        }
        if games + params.games > params.most_games {
            if !is_planning {
                warn_of_width(
                    &standings,
                    &params,
                    &format!("after most_games = {} games", params.most_games),
                );
            }
            break standings;
        }
        let Some(pair) = next_pair(&standings, &params, names.len(), games, &deal, is_assumed) else {
            if !is_planning && deal.is_short() {
                warn_of_width(&standings, &params, "with no openings left that two players have not had,");
            }
            break standings;
        };
        let mut parameters = arena.clone();
        if let Value::Group(members) = &mut parameters {
            members.insert("games".to_owned(), Value::Int(params.games.into()));
            if let Some(openings) = deal.next(&params, pair) {
                members.insert("openings".to_owned(), openings.to_value());
            }
        }
        let pair = pair.map(|player| Argument::Player(players[player].clone()));
        if let StepResult::Match(verdict) = steps::play(&call, &run, pair, parameters)? {
            verdict.0.summary.note_reading("pentanomial", || call.reading("pentanomial"));
            is_assumed |= verdict.0.summary.is_assumed();
            results.extend(call.run(verdict.pairs().map_err(StepError::from))?);
        }
        games += params.games;
    };
    Ok(answer(&standings, games))
}

/// What each two players have had of the book of openings: players that always play the same would repeat their games in the next match,
/// which would count as new ones.
struct Deal {
    /// Pairs of games that two players have openings for; `None` without a book, or with one that may repeat.
    openings: Option<u32>,
    /// Pairs of games of one match.
    pairs: u32,
    /// Pairs of games that two players have played.
    taken: BTreeMap<[usize; 2], u32>,
}

impl Deal {
    fn new(params: &RateParams, book: Option<&Book>) -> Self {
        let once = params.arena.openings.as_ref().filter(|openings| !openings.repeat);
        let left = |(book, once): (&Book, &BookParams)| book.len() as u32 - once.skip.unwrap_or(0);
        Self { openings: book.zip(once).map(left), pairs: params.games / 2, taken: BTreeMap::new() }
    }

    fn taken(&self, pair: [usize; 2]) -> u32 {
        self.taken.get(&pair).copied().unwrap_or(0)
    }

    /// Whether two players have enough openings left for a match.
    fn is_enough(&self, pair: [usize; 2]) -> bool {
        self.openings.is_none_or(|openings| self.taken(pair) + self.pairs <= openings)
    }

    /// Whether some two players have not enough openings left.
    fn is_short(&self) -> bool {
        self.taken.keys().any(|pair| !self.is_enough(*pair))
    }

    /// The openings of the next match of two players; `None` without a book.
    fn next(&mut self, params: &RateParams, pair: [usize; 2]) -> Option<BookParams> {
        let openings = params.arena.openings.as_ref()?;
        let taken = self.taken.entry(pair).or_default();
        let skip = Some(openings.skip.unwrap_or(0) + *taken);
        *taken += self.pairs;
        Some(BookParams { skip, ..openings.clone() })
    }
}

/// Warns that the rating ends before the intervals are as narrow as asked for, and why.
fn warn_of_width(standings: &Standings, params: &RateParams, why: &str) {
    let widest = match standings.widest() {
        Some(widest) => format!("the widest 95 % interval still has {widest:.0} Elo"),
        None => "a player still has no rating".to_owned(),
    };
    log::warn!(
        "rate: {why} {widest}, instead of at most width = {}; more games narrow it, and those played so far count",
        params.width
    );
}

/// The players that meet next. A plan lists the pairs in turn once it only assumes results.
fn next_pair(
    standings: &Standings,
    params: &RateParams,
    players: usize,
    played: u32,
    deal: &Deal,
    is_assumed: bool,
) -> Option<[usize; 2]> {
    if !is_assumed {
        return standings.next_pair(params.games, &|pair| deal.is_enough(pair));
    }
    let pairs: Vec<[usize; 2]> =
        (0..players).flat_map(|first| (first + 1..players).map(move |second| [first, second])).collect();
    let turn = (played / params.games) as usize % pairs.len();
    pairs[turn..].iter().chain(&pairs[..turn]).find(|pair| deal.is_enough(**pair)).copied()
}

fn player(call: &Call<'_>, path: &str, value: &Dynamic) -> Answer<Player> {
    if let Some(network) = value.read_lock::<Network>() {
        return Ok(Player::of(network.clone()));
    }
    if let Some(player) = value.read_lock::<Player>() {
        return Ok(player.clone());
    }
    if let Some(name) = value.read_lock::<ImmutableString>() {
        return Player::named(&name).map_err(|cause| call.misuse(format!("{path}: {cause}")));
    }
    let kind = call.context().engine().map_type_name(value.type_name());
    Err(call.misuse(format!("{path}: expected a net, a player or a name, got {kind}")))
}

fn list(call: &Call<'_>, name: &str, value: Option<Dynamic>) -> Answer<Array> {
    let Some(value) = value else { return Ok(Array::new()) };
    let kind = call.context().engine().map_type_name(value.type_name()).to_owned();
    value.try_cast::<Array>().ok_or_else(|| call.misuse(format!("{name}: expected a list, got {kind}")))
}

fn players(call: &Call<'_>, value: Option<Dynamic>) -> Answer<Vec<Player>> {
    let given = list(call, "players", value)?;
    given.iter().enumerate().map(|(index, value)| player(call, &format!("players[{index}]"), value)).collect()
}

/// Players with their given ratings.
fn anchors(call: &Call<'_>, value: Option<Dynamic>) -> Answer<Vec<(Player, f64)>> {
    let given = list(call, "anchors", value)?;
    let anchor = |(index, value): (usize, &Dynamic)| {
        let path = format!("anchors[{index}]");
        let wrong = || call.misuse(format!("{path}: expected [player, elo]"));
        let pair = value.clone().try_cast::<Array>().filter(|pair| pair.len() == 2).ok_or_else(wrong)?;
        let elo =
            pair[1].as_float().or_else(|_| pair[1].as_int().map(|elo| elo as f64)).map_err(|_| wrong())?;
        Ok((player(call, &path, &pair[0])?, elo))
    };
    given.iter().enumerate().map(anchor).collect()
}

/// What the script gets: the players from the strongest, and the other figures of the fit.
fn answer(standings: &Standings, games: u32) -> Map {
    let number = |number: Option<f64>| number.map_or(Value::None, Value::Float);
    let row = |standing: &Standing| {
        let (tally, rating) = (&standing.tally, standing.rating.as_ref());
        let members = [
            ("player", Value::Text(standing.player.clone())),
            ("elo", number(rating.map(|rating| rating.elo))),
            ("elo_low", number(rating.map(|rating| rating.low))),
            ("elo_high", number(rating.map(|rating| rating.high))),
            ("games", Value::Int(tally.games().into())),
            ("wins", Value::Int(tally.wins.into())),
            ("draws", Value::Int(tally.draws.into())),
            ("losses", Value::Int(tally.losses.into())),
            ("score", number(tally.score())),
            ("is_anchor", Value::Bool(standing.is_anchor)),
        ];
        Value::of(members)
    };
    let mut players: Vec<&Standing> = standings.players.iter().collect();
    let elo = |standing: &Standing| standing.rating.as_ref().map_or(f64::MIN, |rating| rating.elo);
    players.sort_by(|one, other| elo(other).total_cmp(&elo(one)));
    let estimate = |estimate: Option<Estimate>| number(estimate.map(|estimate| estimate.value));
    let members = [
        ("players", Value::List(players.into_iter().map(row).collect())),
        ("games", Value::Int(games.into())),
        ("widest", number(standings.widest())),
        ("white_advantage", estimate(standings.white_advantage)),
        ("draw_rate", estimate(standings.draw_rate)),
    ];
    members.into_iter().map(|(name, value)| (name.into(), to_dynamic(&value))).collect()
}
