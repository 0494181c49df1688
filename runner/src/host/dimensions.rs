//! `choice([…])`, `int(…)`, `uniform(…)`, `log_uniform(…)`: dimensions of a sweep's space as plain maps, which the sweep judges.

#![allow(clippy::needless_pass_by_value, reason = "the engine hands every argument over by value")]

use rhai::{Array, Dynamic, Engine, Map};

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
    engine.register_fn("points", |mut dimension: Map, count: Dynamic| {
        dimension.insert("points".into(), count);
        dimension
    });
    engine.register_fn("when", |mut dimension: Map, condition: Map| {
        dimension.insert("when".into(), condition.into());
        dimension
    });
}

fn dimension<const N: usize>(kind: &str, members: [(&str, Dynamic); N]) -> Map {
    let kind = [("kind", Dynamic::from(kind.to_owned()))];
    kind.into_iter().chain(members).map(|(name, value)| (name.into(), value)).collect()
}
