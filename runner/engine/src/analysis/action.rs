//! Actions: lines that ask for something other than a search.

use dc0_core::params;
use dc0_core::params::{ParamErrors, Value, nearest, read};

use super::refusal::Refusal;

params! {
    /// The members of the action `terminate`.
    pub struct TerminateParams {
        /// The id of the query whose searches are to end.
        terminate_id: Option<String> = None;
        /// Only those of these turns; () for all.
        turns: Option<Vec<u32>> = None;
    }
    check |params| {
        let missing = ("terminate_id", "expected the id of a query, got nothing".to_owned());
        if params.terminate_id.is_none() { vec![missing] } else { Vec::new() }
    };
}

params! {
    /// Actions without members.
    pub struct NoParams {}
}

/// An action.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Action {
    /// Say what answers.
    QueryVersion,
    /// End the searches of a query.
    Terminate {
        /// The query.
        id: String,
        /// The turns; `None` for all.
        turns: Option<Vec<u32>>,
    },
    /// End all searches.
    TerminateAll,
    /// Forget cached evaluations.
    ClearCache,
}

const NAMES: [&str; 4] = ["query_version", "terminate", "terminate_all", "clear_cache"];

impl Action {
    /// Reads an action by its name and its members.
    pub(super) fn read(id: &str, name: &Value, members: &Value) -> Result<Self, Refusal> {
        let of_params = |errors| Refusal::of_params(id, errors);
        let Value::Text(name) = name else {
            let problem = format!("expected one of {}, got {name} ({})", NAMES.join(", "), name.kind());
            return Err(Refusal::of_field(Some(id), "action", problem));
        };
        match name.as_str() {
            "query_version" => none(members).map(|()| Self::QueryVersion).map_err(of_params),
            "terminate" => {
                let TerminateParams { terminate_id, turns } =
                    read(name, members).map_err(|errors| Refusal::of_params(id, errors))?;
                Ok(Self::Terminate { id: terminate_id.unwrap_or_default(), turns })
            }
            "terminate_all" => none(members).map(|()| Self::TerminateAll).map_err(of_params),
            "clear_cache" => none(members).map(|()| Self::ClearCache).map_err(of_params),
            other => {
                let hint = match nearest(other, NAMES) {
                    Some(near) => format!("did you mean \"{near}\"?"),
                    None => format!("known are {}", NAMES.join(", ")),
                };
                Err(Refusal::of_field(Some(id), "action", format!("unknown action \"{other}\"; {hint}")))
            }
        }
    }

    /// Its name.
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::QueryVersion => "query_version",
            Self::Terminate { .. } => "terminate",
            Self::TerminateAll => "terminate_all",
            Self::ClearCache => "clear_cache",
        }
    }
}

fn none(members: &Value) -> Result<(), ParamErrors> {
    read::<NoParams>("action", members).map(|_| ())
}
