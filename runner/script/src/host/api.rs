//! The functions of scripts, as the engine knows them.

#![allow(clippy::needless_pass_by_value, reason = "the engine hands every argument over by value")]

use std::sync::Arc;

use rhai::{Array, Dynamic, Engine, ImmutableString, Map, NativeCallContext};

use dc0_core::arena::ArenaParams;
use dc0_core::board::Game;
use dc0_core::params::{Params, Problem, Value, nearest};
use dc0_core::search::ANALYSIS_RULES;
use dc0_core::selfplay::SelfPlayParams;
use dc0_core::trainer::TrainParams;

use super::session::{RunHandle, Session};
use super::{costs, dimensions, forks, networks, outside, owners, sweeps, tables, words};
use crate::call::{Answer, Call};
use crate::convert::{Sampling, to_dynamic};
use crate::declare::declare;
use crate::wording::with_article;
use dc0_steps::handles::{Analysis, Fields, Games, Network, Opponent, ToSearch, Verdict, Window};
use dc0_steps::host::{Asked, OpenParams, WindowParams};

type Context<'a> = NativeCallContext<'a>;

/// Adds all functions and the types of their values.
pub fn register(engine: &mut Engine, session: &Arc<Session>) {
    register_fields::<RunHandle>(engine);
    register_fields::<Network>(engine);
    register_fields::<Games>(engine);
    register_fields::<Window>(engine);
    register_fields::<Verdict>(engine);
    register_fields::<Analysis>(engine);
    let own = Arc::clone(session);
    engine.register_fn("params", move |context: Context<'_>, map: Map| {
        declare(&own.declaration, &context, map)
    });
    let own = Arc::clone(session);
    engine.register_fn("open_run", move |context: Context<'_>, name: &str| {
        open_run(&context, &own, name, &Map::new())
    });
    let own = Arc::clone(session);
    let with_map = move |context: Context<'_>, name: &str, map: Map| open_run(&context, &own, name, &map);
    engine.register_fn("open_run", with_map);
    register_steps(engine);
    dimensions::register(engine);
    words::register(engine, session);
    forks::register(engine, session);
    tables::register(engine);
    sweeps::register(engine, session);
    outside::register(engine, session);
}

fn register_steps(engine: &mut Engine) {
    networks::register(engine);
    engine.register_fn("self_play", self_play);
    engine.register_fn("window", window);
    engine.register_fn("window", |context: Context<'_>, run: RunHandle| window(context, run, Map::new()));
    engine.register_fn("train", train);
    engine.register_fn("arena", arena_of_networks);
    engine.register_fn("arena", arena_of_words);
    engine.register_fn("search", search_positions);
    engine.register_fn("search", search_on);
    engine.register_fn("promote", promote);
    engine.register_fn("summary", summary);
}

/// Lets scripts read a value's fields by name, and print it.
pub(super) fn register_fields<T: Fields>(engine: &mut Engine) {
    engine.register_type_with_name::<T>(T::KIND);
    engine.register_indexer_get(|context: Context<'_>, value: &mut T, name: ImmutableString| {
        read_field(&context, value, &name)
    });
    let describe = |value: &mut T| {
        let fields = value.fields().into_iter().map(|(name, value)| format!("{name}: {value}"));
        format!("{} #{{ {} }}", T::KIND, fields.collect::<Vec<_>>().join(", "))
    };
    engine.register_fn(rhai::FUNC_TO_STRING, describe);
    engine.register_fn(rhai::FUNC_TO_DEBUG, describe);
}

/// What scripts read of a value by names: the value's kind, and each name with its value; none for plain data.
pub fn fields_of(value: &Dynamic) -> Option<(&'static str, Vec<(String, Value)>)> {
    fn of<T: Fields>(value: &Dynamic) -> Option<(&'static str, Vec<(String, Value)>)> {
        value.read_lock::<T>().map(|value| (T::KIND, value.fields()))
    }
    let of_nets = || of::<Network>(value).or_else(|| of::<Games>(value)).or_else(|| of::<Window>(value));
    let of_results =
        || of::<Verdict>(value).or_else(|| of::<Analysis>(value)).or_else(|| of::<sweeps::Swept>(value));
    of::<RunHandle>(value).or_else(of_nets).or_else(of_results)
}

fn read_field<T: Fields>(context: &Context<'_>, value: &T, name: &str) -> Answer<Dynamic> {
    let fields = value.fields();
    if let Some((_, value)) = fields.iter().find(|(known, _)| known == name) {
        return Ok(to_dynamic(value));
    }
    let known: Vec<&str> = fields.iter().map(|(known, _)| known.as_str()).collect();
    let hint = match nearest(name, known.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("there are {}", known.join(", ")),
    };
    Err(Call::new(T::KIND, context).misuse(format!("there is no `{name}` here; {hint}")))
}

/// Reads a map whose functions, if any, are sampled for as many counters as one of its own parameters says.
pub(super) fn asked<P: Params>(call: &Call<'_>, map: &Map, sampling: Sampling) -> Answer<Asked<P>> {
    let (params, given) = call.read(map, sampling)?;
    Ok(Asked { params, given })
}

fn open_run(context: &Context<'_>, session: &Session, name: &str, map: &Map) -> Answer<RunHandle> {
    let call = Call::new("open_run", context);
    session.openable(&call)?;
    let asked: Asked<OpenParams> = asked(&call, map, Sampling(0))?;
    let info = call.run(session.host.open(name, asked))?;
    Ok(session.keep(info))
}

fn self_play(context: Context<'_>, run: RunHandle, network: Network, map: Map) -> Answer<Games> {
    let call = Call::new("self_play", &context);
    owners::check(&call, &run, &[&network])?;
    let by_ply = Sampling::by(&map, "max_plies", SelfPlayParams::default().max_plies);
    let games = call.run(run.0.host.self_play(&network, asked(&call, &map, by_ply)?))?;
    run.0.spend(costs::of_games(&games, &network));
    run.0.progress().iterations.push(games.clone());
    run.0.note(|table| table.played(&games));
    Ok(games)
}

fn window(context: Context<'_>, run: RunHandle, map: Map) -> Answer<Window> {
    let call = Call::new("window", &context);
    let WindowParams { iterations } = asked::<WindowParams>(&call, &map, Sampling(0))?.params;
    let progress = run.0.progress();
    if progress.iterations.is_empty() {
        return Err(call.misuse("there are no games yet; call self_play before"));
    }
    let first = progress.iterations.len().saturating_sub(iterations as usize);
    Ok(Window(Arc::new(progress.iterations[first..].to_vec())))
}

fn train(context: Context<'_>, run: RunHandle, start: Network, window: Window, map: Map) -> Answer<Network> {
    let call = Call::new("train", &context);
    owners::check(&call, &run, &[&start, &window])?;
    let by_update = Sampling::by(&map, "updates", TrainParams::default().updates);
    let network = call.run(run.0.host.train(&start, &window, asked(&call, &map, by_update)?))?;
    run.0.spend(costs::of_training(&network));
    run.0.note(|table| table.trained(&network));
    run.0.made(&network);
    Ok(network)
}

fn arena_of_networks(
    context: Context<'_>,
    run: RunHandle,
    first: Network,
    second: Network,
    map: Map,
) -> Answer<Verdict> {
    arena(&Call::new("arena", &context), &run, &first, &Opponent::Network(second), &map)
}

fn arena_of_words(
    context: Context<'_>,
    run: RunHandle,
    first: Network,
    second: &str,
    map: Map,
) -> Answer<Verdict> {
    let call = Call::new("arena", &context);
    let known = || Opponent::WORDS.join("\" or \"");
    let unknown =
        || call.misuse(format!("there is no opponent \"{second}\"; give a network, \"{}\"", known()));
    let second = Opponent::from_word(second).ok_or_else(unknown)?;
    arena(&call, &run, &first, &second, &map)
}

fn arena(call: &Call<'_>, run: &RunHandle, first: &Network, second: &Opponent, map: &Map) -> Answer<Verdict> {
    owners::check(call, run, &[first, second])?;
    let by_ply = Sampling::by(map, "max_plies", ArenaParams::default().max_plies);
    let asked: Asked<ArenaParams> = asked(call, map, by_ply)?;
    let ArenaParams { opponent_search, opponent_precision, .. } = &asked.params;
    let of_a_net = [
        ("opponent_search", opponent_search.is_some()),
        ("opponent_precision", opponent_precision.is_some()),
    ];
    if !matches!(second, Opponent::Network(_))
        && let Some((name, _)) = of_a_net.iter().find(|(_, is_given)| *is_given)
    {
        return Err(call.misuse(format!("{name}: \"{}\" has no net; leave it out", second.name())));
    }
    let verdict = call.run(run.0.host.arena(first, second, asked))?;
    run.0.spend(costs::of_match(&verdict, first, second));
    run.0.note(|table| table.matched(&verdict));
    Ok(verdict)
}

fn search_positions(
    context: Context<'_>,
    run: RunHandle,
    network: Network,
    positions: Array,
    map: Map,
) -> Answer<Analysis> {
    let call = Call::new("search", &context);
    owners::check(&call, &run, &[&network])?;
    let (mut games, mut problems) = (Vec::new(), Vec::new());
    for (at, position) in positions.iter().enumerate() {
        match game_to_search(position, &context) {
            Ok(game) => games.push(game),
            Err(message) => problems.push(Problem { path: format!("positions[{at}]"), message }),
        }
    }
    if positions.is_empty() {
        let message = "is empty; give at least one position".to_owned();
        problems.push(Problem { path: "positions".to_owned(), message });
    }
    search(&call, &run, &network, (&ToSearch::Games(games), problems), &map)
}

/// A game that is not over, of a script's text; or what is wrong with it.
fn game_to_search(given: &Dynamic, context: &Context<'_>) -> Result<Game, String> {
    let Ok(text) = given.clone().into_immutable_string() else {
        let kind = with_article(context.engine().map_type_name(given.type_name()));
        return Err(format!("expected text, such as \"startpos moves e2e4\" or a FEN, got {kind}"));
    };
    let game = Game::from_text(&text).map_err(|error| error.to_string())?;
    match game.outcome(&ANALYSIS_RULES) {
        Some(outcome) => {
            let reason = outcome.reason.word();
            Err(format!("the game is over there ({reason}), so there is nothing to search"))
        }
        None => Ok(game),
    }
}

fn search_on(
    context: Context<'_>,
    run: RunHandle,
    network: Network,
    before: Analysis,
    map: Map,
) -> Answer<Analysis> {
    let call = Call::new("search", &context);
    owners::check(&call, &run, &[&network, &before])?;
    if !before.0.can_go_on {
        return Err(call.misuse(
            "these searches kept no whole trees, so none can go on; make them with `tree` and `untried` true",
        ));
    }
    search(&call, &run, &network, (&ToSearch::GoOn(before), Vec::new()), &map)
}

fn search(
    call: &Call<'_>,
    run: &RunHandle,
    network: &Network,
    (what, problems): (&ToSearch, Vec<Problem>),
    map: &Map,
) -> Answer<Analysis> {
    let (params, given) = call.read_beside(map, Sampling(0), problems)?;
    let analysis = call.run(run.0.host.search(network, what, Asked { params, given }))?;
    run.0.spend(costs::of_search(&analysis, network));
    Ok(analysis)
}

fn promote(context: Context<'_>, run: RunHandle, network: Network) -> Answer<Network> {
    let call = Call::new("promote", &context);
    owners::check(&call, &run, &[&network])?;
    call.run(run.0.promote(&network))?;
    Ok(network)
}

fn summary(context: Context<'_>, run: RunHandle) -> Answer<()> {
    let mut progress = run.0.progress();
    Call::new("summary", &context).run(run.0.host.summary(&progress.table))?;
    progress.is_shown = true;
    Ok(())
}
