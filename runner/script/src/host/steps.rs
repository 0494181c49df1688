//! The steps as functions of scripts, registered from the declarations of each kind.

use std::any::TypeId;

use rhai::{
    Array, Dynamic, Engine, FuncRegistration, ImmutableString, Map, Module, NativeCallContext, RhaiFunc,
    Shared,
};

use dc0_core::params::{Problem, Value};
use dc0_steps::handles::{Analysis, Games, Network, Player, Window};
use dc0_steps::kinds::{Arena, KINDS, SelfPlay};
use dc0_steps::step::{Argument, ArgumentKind, Call as StepCall, Kind, KindOf, StepResult};

use super::session::RunHandle;
use super::{coming, ownership};
use crate::call::{Answer, Call};
use crate::convert::Sampling;
use crate::messages::with_article;

type Context<'a> = NativeCallContext<'a>;

/// What a call does with a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    /// The script goes on once it is done.
    Do,
    /// It is done while the script goes on.
    Start,
}

/// The function that plays while the script goes on.
const START: &str = "start_self_play";

/// Registers a function for each form of each kind.
pub(super) fn register(engine: &mut Engine) {
    let mut functions = Module::new();
    let steps = KINDS.iter().map(|kind| (*kind, kind.name(), Mode::Do));
    let started: (&'static dyn Kind, _, _) = (&KindOf::<SelfPlay>::ENTRY, START, Mode::Start);
    for (kind, name, mode) in steps.chain([started]) {
        for types in kind.forms().iter().flat_map(|form| overloads(form)) {
            add_form(engine, &mut functions, kind, name, mode, &types, true);
            if !kind.needs_map() {
                add_form(engine, &mut functions, kind, name, mode, &types, false);
            }
        }
    }
    engine.register_global_module(Shared::new(functions));
}

/// The type of an argument: its id, by which the engine chooses an overload, and its name for definitions.
type ArgumentType = (TypeId, &'static str);

/// The lists of types that a form takes: one for each combination of those of its arguments.
fn overloads(form: &[ArgumentKind]) -> Vec<Vec<ArgumentKind>> {
    let mut lists = vec![Vec::new()];
    for kind in form {
        let kinds: &[ArgumentKind] = match kind {
            ArgumentKind::Player => &[ArgumentKind::Network, ArgumentKind::Player, ArgumentKind::Text],
            ArgumentKind::Window => &[ArgumentKind::Window, ArgumentKind::Games],
            other => std::slice::from_ref(other),
        };
        let extended = |list: Vec<ArgumentKind>| {
            kinds.iter().map(move |kind| list.iter().copied().chain([*kind]).collect())
        };
        lists = lists.into_iter().flat_map(extended).collect();
    }
    lists
}

fn add_form(
    engine: &Engine,
    functions: &mut Module,
    kind: &'static dyn Kind,
    name: &'static str,
    mode: Mode,
    form: &[ArgumentKind],
    has_map: bool,
) {
    let map = has_map.then(argument_type::<Map>);
    let types: Vec<ArgumentType> =
        std::iter::once(argument_type::<RunHandle>()).chain(form.iter().map(type_for)).chain(map).collect();
    let form = form.to_vec();
    let function = move |context: Option<Context<'_>>, given: &mut [&mut Dynamic]| {
        let context = context.expect("the function is registered as one that takes the context");
        let call = Call::new(name, &context);
        let run = cast::<RunHandle>(given[0]);
        let arguments = form.iter().zip(given.iter().skip(1));
        let arguments = arguments.map(|(kind, value)| argument(*kind, value, &run, &context)).collect();
        let map = if has_map { cast::<Map>(given[form.len() + 1]) } else { Map::new() };
        step(&call, kind, mode, &run, arguments, &map)
    };
    let named = types.iter().map(|(_, name)| format!("_: {}", engine.map_type_name(name)));
    FuncRegistration::new(name).in_global_namespace().with_params_info(named).set_into_module_raw(
        functions,
        types.iter().map(|(id, _)| *id).collect::<Vec<_>>(),
        RhaiFunc::Method { func: Shared::new(function), has_context: true, is_pure: true, is_volatile: true },
    );
}

fn argument_type<T: 'static>() -> ArgumentType {
    (TypeId::of::<T>(), std::any::type_name::<T>())
}

fn type_for(kind: &ArgumentKind) -> ArgumentType {
    match kind {
        ArgumentKind::Network => argument_type::<Network>(),
        ArgumentKind::Window => argument_type::<Window>(),
        ArgumentKind::Games => argument_type::<Games>(),
        ArgumentKind::Analysis => argument_type::<Analysis>(),
        ArgumentKind::Player => argument_type::<Player>(),
        ArgumentKind::StoredNetwork | ArgumentKind::Text => argument_type::<ImmutableString>(),
        ArgumentKind::Texts => argument_type::<Array>(),
    }
}

fn argument(kind: ArgumentKind, value: &Dynamic, run: &RunHandle, context: &Context<'_>) -> Argument {
    match kind {
        ArgumentKind::Network => Argument::Network(cast(value)),
        ArgumentKind::Window => Argument::Window(cast(value)),
        ArgumentKind::Games => Argument::Window(cast::<Games>(value).into()),
        ArgumentKind::Analysis => Argument::Analysis(cast(value)),
        ArgumentKind::Player => Argument::Player(cast(value)),
        ArgumentKind::StoredNetwork => Argument::StoredNetwork {
            runs: run.0.host.runs().to_owned(),
            name: cast::<ImmutableString>(value).into(),
        },
        ArgumentKind::Text => Argument::Text(cast::<ImmutableString>(value).into()),
        ArgumentKind::Texts => {
            let kind = |item: &Dynamic| with_article(context.engine().map_type_name(item.type_name()));
            let text = |item: &Dynamic| item.clone().into_string().map_err(|_| kind(item));
            Argument::Texts(cast::<Array>(value).iter().map(text).collect())
        }
    }
}

/// The value as the type by which the engine chose this overload.
fn cast<T: Clone + Send + Sync + 'static>(value: &Dynamic) -> T {
    value.clone().try_cast().expect("the engine checks types")
}

/// How often functions in the map of a match are sampled, if that map is a member of another.
pub(super) fn sampling_of(map: &Map, member: &str) -> Sampling {
    let arena = map.get(member).and_then(|arena| arena.clone().try_cast::<Map>()).unwrap_or_default();
    <KindOf<Arena> as Kind>::schedules(&KindOf::<Arena>::ENTRY)
        .map_or(Sampling(0), |(name, default)| Sampling::by(&arena, name, default))
}

/// Plays a match with parameters that were read before.
pub(super) fn play(
    call: &Call<'_>,
    run: &RunHandle,
    players: [Argument; 2],
    parameters: Value,
) -> Answer<StepResult> {
    let arena = &KindOf::<Arena>::ENTRY;
    let read = arena.arguments(players.into(), &mut Vec::new()).map_err(|cause| call.misuse(cause))?;
    let step = call.run(read("rate", parameters))?;
    done(call, run, &*step)
}

/// Does a step.
fn done(call: &Call<'_>, run: &RunHandle, step: &dyn StepCall) -> Answer<StepResult> {
    check(call, run, step)?;
    let result = call.run(run.0.host.step(step))?;
    run.0.add_spent(step.spent(result.summary()));
    run.0.record(&result);
    Ok(result)
}

/// An error if a step cannot be done here, whatever the run has.
fn check(call: &Call<'_>, run: &RunHandle, step: &dyn StepCall) -> Answer<()> {
    coming::check(call, run, step)?;
    step.conflict().map_or(Ok(()), |cause| Err(call.misuse(cause)))
}

fn step(
    call: &Call<'_>,
    kind: &'static dyn Kind,
    mode: Mode,
    run: &RunHandle,
    arguments: Vec<Argument>,
    map: &Map,
) -> Answer<Dynamic> {
    if kind.copies_networks() {
        ownership::check_copied(call, run, &arguments)?;
    } else {
        ownership::check_arguments(call, run, &arguments)?;
    }
    let mut problems: Vec<Problem> = Vec::new();
    let read = kind.arguments(arguments, &mut problems).map_err(|cause| call.misuse(cause))?;
    let sampling = kind.schedules().map_or(Sampling(0), |(name, default)| Sampling::by(map, name, default));
    let read = |name: &str, given: &Value| read(name, given.clone());
    let step = call.read_with(map, sampling, problems, read)?.params;
    call.accept(step.unused())?;
    if mode == Mode::Start {
        check(call, run, &*step)?;
        return Ok(Dynamic::from(coming::start(call, run, step.into())?));
    }
    Ok(match done(call, run, &*step)? {
        StepResult::Network(network) => Dynamic::from(network),
        StepResult::Games(games) => Dynamic::from(games),
        StepResult::Match(result) => Dynamic::from(result),
        StepResult::Analysis(analysis) => Dynamic::from(analysis),
        StepResult::Puzzles(solved) => Dynamic::from(solved),
        StepResult::Validation(validation) => Dynamic::from(validation),
    })
}
