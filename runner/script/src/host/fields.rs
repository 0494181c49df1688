//! Values with named fields.

use rhai::{Dynamic, Engine, ImmutableString, NativeCallContext};

use dc0_core::params::nearest;
use dc0_steps::handles::Fields;

use crate::call::{Answer, Call};
use crate::dynamic::to_dynamic;
use crate::order;

type Context<'a> = NativeCallContext<'a>;

/// Lets scripts read a value's fields by name, and print it.
pub(super) fn register_fields<T: Fields>(engine: &mut Engine) {
    engine.register_type_with_name::<T>(T::KIND);
    order::refuse::<T>(engine, order::FIELDS_HINT);
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

fn read_field<T: Fields>(context: &Context<'_>, value: &T, name: &str) -> Answer<Dynamic> {
    let fields = value.fields();
    if let Some((_, value_of_field)) = fields.iter().find(|(known, _)| known == name) {
        let call = Call::new(T::KIND, context);
        if let Some(summary) = value.summary() {
            summary.note_reading(name, || call.reading(name));
        }
        return Ok(to_dynamic(value_of_field));
    }
    let known: Vec<&str> = fields.iter().map(|(known, _)| known.as_str()).collect();
    let hint = match nearest(name, known.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("there are {}", known.join(", ")),
    };
    Err(Call::new(T::KIND, context).misuse(format!("there is no `{name}` here; {hint}")))
}
