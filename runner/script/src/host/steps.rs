//! The steps as functions of scripts: each kind's own declarations say how it is called.

use std::any::TypeId;

use rhai::{Array, Dynamic, Engine, ImmutableString, Map, NativeCallContext};

use dc0_core::params::Problem;
use dc0_steps::handles::{Analysis, Network, Window};
use dc0_steps::kinds::KINDS;
use dc0_steps::step::{Argument, ArgumentKind, Kind, StepResult};

use super::owners;
use super::session::RunHandle;
use crate::call::{Answer, Call};
use crate::convert::Sampling;
use crate::wording::with_article;

type Context<'a> = NativeCallContext<'a>;

/// Adds a function for each form of each kind.
pub(super) fn register(engine: &mut Engine) {
    for kind in KINDS {
        for form in kind.forms() {
            register_form(engine, *kind, form, true);
            if !kind.needs_map() {
                register_form(engine, *kind, form, false);
            }
        }
    }
}

fn register_form(engine: &mut Engine, kind: &'static dyn Kind, form: &'static [ArgumentKind], has_map: bool) {
    let map = has_map.then(TypeId::of::<Map>);
    let types: Vec<TypeId> =
        std::iter::once(TypeId::of::<RunHandle>()).chain(form.iter().map(type_of)).chain(map).collect();
    engine.register_raw_fn(kind.name(), types, move |context: Context<'_>, given: &mut [&mut Dynamic]| {
        let call = Call::new(kind.name(), &context);
        let run = given[0].read_lock::<RunHandle>().expect("the engine checks types").clone();
        let arguments =
            form.iter().zip(given.iter().skip(1)).map(|(kind, value)| argument(*kind, value, &context));
        let arguments = arguments.collect();
        let map = if has_map { cast::<Map>(given[form.len() + 1]) } else { Map::new() };
        step(&call, kind, &run, arguments, &map)
    });
}

fn type_of(kind: &ArgumentKind) -> TypeId {
    match kind {
        ArgumentKind::Network => TypeId::of::<Network>(),
        ArgumentKind::Window => TypeId::of::<Window>(),
        ArgumentKind::Analysis => TypeId::of::<Analysis>(),
        ArgumentKind::Text => TypeId::of::<ImmutableString>(),
        ArgumentKind::Texts => TypeId::of::<Array>(),
    }
}

fn argument(kind: ArgumentKind, value: &Dynamic, context: &Context<'_>) -> Argument {
    match kind {
        ArgumentKind::Network => Argument::Network(cast(value)),
        ArgumentKind::Window => Argument::Window(cast(value)),
        ArgumentKind::Analysis => Argument::Analysis(cast(value)),
        ArgumentKind::Text => Argument::Text(cast::<ImmutableString>(value).into()),
        ArgumentKind::Texts => {
            let kind = |item: &Dynamic| with_article(context.engine().map_type_name(item.type_name()));
            let text = |item: &Dynamic| item.clone().into_string().map_err(|_| kind(item));
            Argument::Texts(cast::<Array>(value).iter().map(text).collect())
        }
    }
}

/// A value of the type that the engine has chosen the function by.
fn cast<T: Clone + Send + Sync + 'static>(value: &Dynamic) -> T {
    value.clone().try_cast().expect("the engine checks types")
}

fn step(
    call: &Call<'_>,
    kind: &'static dyn Kind,
    run: &RunHandle,
    arguments: Vec<Argument>,
    map: &Map,
) -> Answer<Dynamic> {
    owners::check_arguments(call, run, &arguments)?;
    let mut problems: Vec<Problem> = Vec::new();
    let unread = kind.arguments(arguments, &mut problems).map_err(|cause| call.misuse(cause))?;
    let sampling = kind.schedules().map_or(Sampling(0), |(name, usual)| Sampling::by(map, name, usual));
    let (step, _) =
        call.read_beside(map, sampling, problems, |name, given| unread.params(name, given.clone()))?;
    if let Some(cause) = step.refuse() {
        return Err(call.misuse(cause));
    }
    let result = call.run(run.0.host.step(&*step))?;
    run.0.spend(step.spent(result.summary()));
    run.0.record(&result);
    Ok(match result {
        StepResult::Network(network) => Dynamic::from(network),
        StepResult::Games(games) => Dynamic::from(games),
        StepResult::Match(verdict) => Dynamic::from(verdict),
        StepResult::Analysis(analysis) => Dynamic::from(analysis),
    })
}
