//! A sweep as an Optuna study.

use std::collections::BTreeMap;

use dc0_core::params::Value;
use dc0_process::console::Console;
use dc0_process::format::counted;

use super::args::ExportOptunaArgs;
use super::{ExportError, write_text};
use dc0_runs::FolderKind;
use dc0_runs::sweep::board::{Board, Row};
use dc0_runs::sweep::events::Measured;
use dc0_runs::sweep::folder::SweepFolder;
use dc0_runs::sweep::observation::Observation;
use dc0_runs::sweep::optuna::{Study, Trial, journal};
use dc0_runs::sweep::trials::Trials;

/// Writes the journal, and returns lines that report what it holds.
pub(super) fn write(args: &ExportOptunaArgs, console: &Console) -> Result<Vec<String>, ExportError> {
    let (folder, _) = super::found(&args.sweep, &[FolderKind::Sweep], "sweep")?;
    let (params, trials) = SweepFolder::read(&folder)?;
    let board = Board::new(&params, &trials);
    let study = Study {
        name: &params.name,
        direction: params.direction,
        space: &params.space,
        attributes: [("objective".to_owned(), Value::Text(params.objective.clone()))].into(),
        trials: board.by_number().into_iter().map(|row| trial(row, &trials)).collect(),
    };
    write_text(&args.out, console, |out| Ok(out.write_all(journal(&study).as_bytes())?))?;
    let (file, trials) = (args.out.display(), counted(study.trials.len(), "trial"));
    Ok(vec![format!("wrote    {file}: study {}, {trials}", params.name)])
}

fn trial(row: &Row, trials: &Trials) -> Trial {
    let value = row.result.map(|result| result.value);
    let (number, point, state) = (row.trial, row.point.clone(), row.state);
    Trial {
        observation: Observation { number, point, state, value, at: row.at.unwrap_or(0) },
        reports: trials.get(row.trial).map(|trial| trial.reports().pooled()).unwrap_or_default(),
        interval: row.result.and_then(Measured::interval),
        attributes: attributes(row),
    }
}

fn attributes(row: &Row) -> BTreeMap<String, Value> {
    let numbers = [
        ("replicates", f64::from(row.replicates)),
        ("evaluations", row.spent.evaluations),
        ("flops", row.spent.flops),
        ("seconds", row.spent.seconds),
    ];
    let numbers = numbers.into_iter().map(|(name, number)| (name.to_owned(), Value::Float(number)));
    let reason = row.because.iter().map(|reason| ("because".to_owned(), Value::Text(reason.clone())));
    numbers.chain(reason).collect()
}
