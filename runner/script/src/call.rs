//! One call of a host function by a script: its location, its parameters and its errors.

use rhai::{Dynamic, EvalAltResult, Map, NativeCallContext};

use dc0_core::params::{ParamErrors, Params, Problem, Problems, Value, read};

use super::convert::{Sampling, to_value};
use super::failure::Failure;
use super::location::ScriptLocation;
use dc0_process::exit::Exit;
use dc0_process::fault::Fault;
use dc0_steps::host::CallParams;
use dc0_steps::trace::Reading;

/// The result of a host function.
pub type Answer<T> = Result<T, Box<EvalAltResult>>;

/// A call of a host function.
pub struct Call<'a> {
    context: &'a NativeCallContext<'a>,
    function: &'static str,
}

impl<'a> Call<'a> {
    /// `function` is the function's name in error messages.
    pub fn new(function: &'static str, context: &'a NativeCallContext<'a>) -> Self {
        Self { context, function }
    }

    /// Where the script makes the call.
    pub fn location(&self) -> ScriptLocation {
        ScriptLocation::new(self.context.call_source().unwrap_or_default(), self.context.call_position())
    }

    /// The call as the reading of a figure.
    pub(crate) fn reading(&self, figure: &str) -> Reading {
        let ScriptLocation { source, point } = self.location();
        Reading { figure: figure.to_owned(), source, point }
    }

    /// The engine's call, for functions given as arguments.
    pub fn context(&self) -> &NativeCallContext<'a> {
        self.context
    }

    /// An error at this call.
    pub fn fail(&self, fault: &impl Fault) -> Box<EvalAltResult> {
        Failure::from(fault).into_rhai(self.location())
    }

    /// An error in how the function is used.
    pub fn misuse(&self, message: impl std::fmt::Display) -> Box<EvalAltResult> {
        Failure::new(Exit::BadInput, format!("{}: {message}", self.function)).into_rhai(self.location())
    }

    /// Runs something that can fail with a [`Fault`].
    pub fn run<T, F: Fault>(&self, result: Result<T, F>) -> Answer<T> {
        result.map_err(|fault| self.fail(&fault))
    }

    /// Reads a script's map as parameters: functions in it are sampled, and all problems are reported at once.
    pub fn read<T: Params>(&self, map: &Map, sampling: Sampling) -> Answer<CallParams<T>> {
        self.read_with(map, sampling, Vec::new(), |name, value| read::<T>(name, value))
    }

    /// As [`read`](Self::read), with another reader; `problems` of other arguments are reported with those of the map.
    pub fn read_with<T>(
        &self,
        map: &Map,
        sampling: Sampling,
        mut problems: Vec<Problem>,
        read: impl FnOnce(&str, &Value) -> Result<T, ParamErrors>,
    ) -> Answer<CallParams<T>> {
        let value = to_value(&Dynamic::from(map.clone()), "", sampling, self.context, &mut problems)?;
        match read(self.function, &value) {
            Ok(params) if problems.is_empty() => Ok(CallParams { params, given: value }),
            Ok(_) => Err(self.fail(&errors(self.function, problems))),
            Err(more) => {
                let is_new = |problem: &Problem| !problems.iter().any(|known| known.path == problem.path);
                let more: Vec<Problem> = more.problems.into_iter().filter(is_new).collect();
                problems.extend(more.into_iter().map(|problem| with_function(map, problem)));
                Err(self.fail(&errors(self.function, problems)))
            }
        }
    }

    /// An error if there are problems with parameters that were read.
    pub(crate) fn accept(&self, problems: Vec<Problem>) -> Answer<()> {
        if problems.is_empty() { Ok(()) } else { Err(self.fail(&errors(self.function, problems))) }
    }
}

/// A parameter given as a function is read as its samples; a problem of one names the function, not the samples.
fn with_function(map: &Map, problem: Problem) -> Problem {
    let mut member = None;
    for name in problem.path.split('.') {
        let group = member.as_ref().map_or(Some(map.clone()), |member: &Dynamic| member.clone().try_cast());
        member = group.and_then(|group: Map| group.get(name).cloned());
    }
    let is_function = member.is_some_and(|member| member.is_fnptr());
    match problem.message.split_once(", got [[") {
        Some((expected, _)) if is_function => {
            Problem { message: format!("{expected}, got a function"), ..problem }
        }
        _ => problem,
    }
}

fn errors(function: &str, all: Vec<Problem>) -> ParamErrors {
    let mut problems = Problems::default();
    for problem in all {
        problems.add(&problem.path, problem.message);
    }
    problems.into_errors(function)
}
