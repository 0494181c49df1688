//! `choice([…])`, `int(…)`, `uniform(…)`, `log_uniform(…)`: dimensions of a sweep's space, as plain maps that the sweep checks.
//! `number(…)`, `whole(…)`, `choice(default, […])`, `flag(…)`, `text(…)`: parameters of a script, which also serve as dimensions.

#![allow(clippy::needless_pass_by_value, reason = "the engine hands every argument over by value")]

use rhai::{Array, Dynamic, Engine, Map, NativeCallContext};

use crate::location::ScriptLocation;
use crate::order;
use crate::parameter::{Kind, Parameter};

type Context<'a> = NativeCallContext<'a>;

pub(super) fn register(engine: &mut Engine) {
    engine.register_fn("choice", |values: Array| dimension("choice", [("values", values.into())]));
    engine.register_fn("int", |low: Dynamic, high: Dynamic| dimension("int", [("low", low), ("high", high)]));
    engine.register_fn("int", |low: Dynamic, high: Dynamic, step: Dynamic| {
        dimension("int", [("low", low), ("high", high), ("step", step)])
    });
    for kind in ["uniform", "log_uniform"] {
        engine.register_fn(kind, move |low: Dynamic, high: Dynamic| {
            dimension(kind, [("low", low), ("high", high)])
        });
    }
    engine.register_fn("points", |dimension: Map, count: Dynamic| with(dimension, "points", count));
    engine.register_fn("when", |dimension: Map, condition: Map| with(dimension, "when", condition.into()));
    engine.register_type_with_name::<Parameter>("Parameter");
    order::refuse::<Parameter>(engine, "");
    engine.register_fn("points", |parameter: Parameter, count: Dynamic| {
        with(parameter.dimension(), "points", count)
    });
    engine.register_fn("when", |parameter: Parameter, condition: Map| {
        with(parameter.dimension(), "when", condition.into())
    });
    for (name, kind) in [("number", Kind::Number), ("whole", Kind::Whole)] {
        register_range(engine, name, kind);
    }
    engine.register_fn("choice", |context: Context<'_>, default: Dynamic, values: Dynamic| {
        parameter(&context, Kind::Choice, default, [("values", values)], Dynamic::UNIT)
    });
    engine.register_fn("choice", |context: Context<'_>, default: Dynamic, values: Dynamic, doc: Dynamic| {
        parameter(&context, Kind::Choice, default, [("values", values)], doc)
    });
    for (name, kind) in [("flag", Kind::Flag), ("text", Kind::Text)] {
        engine.register_fn(name, move |context: Context<'_>, default: Dynamic| {
            parameter(&context, kind, default, [], Dynamic::UNIT)
        });
        engine.register_fn(name, move |context: Context<'_>, default: Dynamic, doc: Dynamic| {
            parameter(&context, kind, default, [], doc)
        });
    }
}

/// Registers a parameter with a range, with and without a doc text.
fn register_range(engine: &mut Engine, name: &str, kind: Kind) {
    engine.register_fn(name, move |context: Context<'_>, default: Dynamic, low: Dynamic, high: Dynamic| {
        parameter(&context, kind, default, [("low", low), ("high", high)], Dynamic::UNIT)
    });
    let with_doc =
        move |context: Context<'_>, default: Dynamic, low: Dynamic, high: Dynamic, doc: Dynamic| {
            parameter(&context, kind, default, [("low", low), ("high", high)], doc)
        };
    engine.register_fn(name, with_doc);
}

fn parameter<const N: usize>(
    context: &Context<'_>,
    kind: Kind,
    default: Dynamic,
    limits: [(&str, Dynamic); N],
    doc: Dynamic,
) -> Parameter {
    let location = ScriptLocation::new(context.call_source().unwrap_or_default(), context.call_position());
    Parameter::new(kind, default, limits, doc, location)
}

fn with(mut dimension: Map, name: &str, member: Dynamic) -> Map {
    dimension.insert(name.into(), member);
    dimension
}

fn dimension<const N: usize>(kind: &str, members: [(&str, Dynamic); N]) -> Map {
    let kind = [("kind", Dynamic::from(kind.to_owned()))];
    kind.into_iter().chain(members).map(|(name, value)| (name.into(), value)).collect()
}
