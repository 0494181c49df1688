//! The comparison as one JSON object, for programs.

use serde_json::{Map, Value as Json, json};

use dc0_runs::differences::{Difference, differences};

use super::CompareError;
use super::loaded::Loaded;
use super::reasons::Reason;
use super::results::{costs, results};
use super::steps::{Comparison, Pair, Side, Sides};
use super::text::{environment_of, first_different_row};

/// Everything in the text output.
pub(super) fn page(sides: &Sides<'_>, pairs: &[Pair<'_>]) -> Result<Json, CompareError> {
    let (first, second) = (&sides.first.snapshot, &sides.second.snapshot);
    Ok(json!({
        "first": run(sides.first),
        "second": run(sides.second),
        "same": pairs.iter().all(Pair::is_same),
        "same_script": first.script.text == second.script.text && first.modules == second.modules,
        "parameters": differing(&differences(&first.params, &second.params)),
        "environment": differing(&differences(&environment_of(sides.first), &environment_of(sides.second))),
        "parts_at": pairs.iter().position(|pair| !pair.is_same()),
        "steps": steps(sides, pairs)?,
        "results": results(sides, pairs),
        "costs": costs(sides),
    }))
}

/// Every pair of steps.
pub fn steps(sides: &Sides<'_>, pairs: &[Pair<'_>]) -> Result<Vec<Json>, CompareError> {
    pairs.iter().map(|pair| step(sides, pair)).collect()
}

fn run(run: &Loaded) -> Json {
    json!({
        "folder": run.folder.root().display().to_string(),
        "script": run.snapshot.script.file,
        "script_blake3": run.snapshot.script.blake3,
        "seed": run.record.seed,
        "editions": run.snapshot.versions,
    })
}

fn differing(found: &[Difference]) -> Json {
    let pair = |found: &Difference| (found.name.clone(), json!([found.first, found.second]));
    Json::Object(found.iter().map(pair).collect::<Map<String, Json>>())
}

/// A pair of steps; `status` is one identifier.
fn step(sides: &Sides<'_>, pair: &Pair<'_>) -> Result<Json, CompareError> {
    let (status, files, reasons) = match &pair.comparison {
        Comparison::Same => ("same", Vec::new(), Vec::new()),
        Comparison::DifferentBytes { files } => ("other_bytes", files.clone(), Vec::new()),
        Comparison::DifferentStep { reasons } => {
            ("other_step", Vec::new(), reasons.iter().map(reason).collect())
        }
        Comparison::OnlyIn(Side::First) => ("only_first", Vec::new(), Vec::new()),
        Comparison::OnlyIn(Side::Second) => ("only_second", Vec::new(), Vec::new()),
    };
    let identity = |step: Option<&super::Step>| step.map(|step| step.manifest.step.clone());
    Ok(json!({
        "name": pair.any().name(),
        "kind": pair.any().manifest.kind,
        "status": status,
        "identities": [identity(pair.first), identity(pair.second)],
        "files": files,
        "first_difference": first_different_row(sides, pair)?,
        "reasons": reasons,
    }))
}

fn reason(reason: &Reason) -> Json {
    let text = reason.to_string();
    let is_cause = reason.is_cause();
    match reason {
        Reason::Parameter(parameter) => json!({
            "text": text, "is_cause": is_cause, "parameter": parameter.name,
            "first": parameter.first, "second": parameter.second,
        }),
        _ => json!({ "text": text, "is_cause": is_cause }),
    }
}
