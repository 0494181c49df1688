//! Converts script values into plain values. Functions become tables of samples.

use rhai::{Array, Dynamic, EvalAltResult, FnPtr, Map, NativeCallContext};

use dc0_core::params::{Problem, Value};

use super::dynamic::scalar;
use super::limits::SampleBudget;
use super::messages::with_article;
use super::parameter::Parameter;

/// How many times a function in a map is sampled: for the counters 0 to n − 1.
#[derive(Debug, Clone, Copy)]
pub struct Sampling(pub u32);

impl Sampling {
    /// The count is itself a parameter of the map: what the script gives, else `default`.
    ///
    /// The script's value is checked with the other parameters; here anything unusable counts as `default`.
    pub fn by(map: &Map, name: &str, default: u32) -> Self {
        let given = map.get(name).and_then(|value| value.as_int().ok());
        let count = given.and_then(|count| u32::try_from(count).ok()).filter(|count| *count > 0);
        Self(count.unwrap_or(default))
    }
}

/// Most samples of a function, which take a quarter of a minute.
const MAX_SAMPLES: u32 = 10_000_000;

/// A script's value as plain data. Values that are not data are added to `problems`; only a function that fails is an error.
pub fn to_value(
    given: &Dynamic,
    path: &str,
    sampling: Sampling,
    context: &NativeCallContext<'_>,
    problems: &mut Vec<Problem>,
) -> Result<Value, Box<EvalAltResult>> {
    if let Some(items) = given.read_lock::<Array>() {
        let item = |(index, item)| to_value(item, &format!("{path}[{index}]"), sampling, context, problems);
        return items.iter().enumerate().map(item).collect::<Result<_, _>>().map(Value::List);
    }
    if let Some(map) = given.read_lock::<Map>() {
        let mut member = |(name, member): (&_, &_)| {
            let path = if path.is_empty() { format!("{name}") } else { format!("{path}.{name}") };
            Ok((format!("{name}"), to_value(member, &path, sampling, context, problems)?))
        };
        return map.iter().map(&mut member).collect::<Result<_, _>>().map(Value::Group);
    }
    if let Some(parameter) = given.read_lock::<Parameter>() {
        return to_value(&parameter.dimension().into(), path, sampling, context, problems);
    }
    if let Some(function) = given.read_lock::<FnPtr>() {
        return sample(&function, path, sampling, context, problems);
    }
    Ok(scalar(given).unwrap_or_else(|| {
        let kind = with_article(context.engine().map_type_name(given.type_name()));
        problems.push(Problem { path: path.to_owned(), message: format!("expected plain data, got {kind}") });
        Value::None
    }))
}

/// A function's values for `0..count` as a schedule reads them: a pair of counter and value wherever the value changes. Most
/// schedules have two or three pairs.
fn sample(
    function: &FnPtr,
    path: &str,
    Sampling(count): Sampling,
    context: &NativeCallContext<'_>,
    problems: &mut Vec<Problem>,
) -> Result<Value, Box<EvalAltResult>> {
    if count == 0 {
        let message = "expected plain data, got a function".to_owned();
        problems.push(Problem { path: path.to_owned(), message });
        return Ok(Value::None);
    }
    if count > MAX_SAMPLES {
        let message = format!(
            "a function is called for each of the {count} counters, of which {MAX_SAMPLES} are allowed; give a list of counters and \
             values, such as [[0, 0.01], [{}, 0.001]]",
            count / 2
        );
        problems.push(Problem { path: path.to_owned(), message });
        return Ok(Value::Float(0.0));
    }
    let budget = context.tag().and_then(|tag| tag.clone().try_cast::<SampleBudget>());
    let (mut points, mut last) = (Vec::new(), None);
    for counter in 0..i64::from(count) {
        if budget.as_ref().is_some_and(|budget| !budget.take()) {
            return Err(EvalAltResult::ErrorTooManyOperations(context.call_position()).into());
        }
        let problem = match function.call_within_context::<Dynamic>(context, (counter,)) {
            Ok(sample) => {
                if let Some(number) = scalar(&sample).as_ref().and_then(Value::as_f64) {
                    if last != Some(number) {
                        points.push(Value::List(vec![Value::Int(counter), Value::Float(number)]));
                    }
                    last = Some(number);
                    continue;
                }
                let kind = with_article(context.engine().map_type_name(sample.type_name()));
                format!("the function returns {kind} for {counter}; expected a number")
            }
            Err(error) if has_wrong_arity(function, &error) => {
                "the function must take one whole number, as in |ply| 1.0".to_owned()
            }
            Err(error) => return Err(error),
        };
        problems.push(Problem { path: path.to_owned(), message: problem });
        return Ok(Value::Float(0.0));
    }
    Ok(Value::List(points))
}

/// Whether a call failed because the function does not take exactly one argument.
fn has_wrong_arity(function: &FnPtr, error: &EvalAltResult) -> bool {
    let is_signature = |signature: &str| signature.split(" (").next() == Some(function.fn_name());
    matches!(error, EvalAltResult::ErrorFunctionNotFound(signature, _) if is_signature(signature))
}
