//! The commands of the program, in the order of `--help`.

mod bench;
mod docs;
mod doctor;
mod encode;
mod export;
mod import;
mod inspect;
mod matches;
mod openings;
mod players;
mod puzzles;
mod rate;
mod sql;
mod sweep_array;

use dc0_process::command::{Entry, entry};

/// Every command. A new one is a type that implements [`dc0_process::command::Command`] and a line here.
pub(crate) const COMMANDS: &[Entry] = &[
    entry::<doctor::DoctorArgs>(),
    entry::<docs::DocsArgs>(),
    entry::<inspect::InspectArgs>(),
    entry::<encode::EncodeArgs>(),
    entry::<bench::BenchArgs>(),
    entry::<export::ExportArgs>(),
    entry::<import::ImportArgs>(),
    entry::<openings::OpeningsArgs>(),
    entry::<dc0_engine::uci::UciArgs>(),
    entry::<dc0_engine::analysis::AnalysisArgs>(),
    entry::<dc0_web::report::ReportArgs>(),
    entry::<matches::MatchArgs>(),
    entry::<rate::RateArgs>(),
    entry::<puzzles::PuzzlesArgs>(),
    entry::<dc0_engine::play::PlayArgs>(),
    entry::<dc0_lsp::LspArgs>(),
    entry::<dc0_compare::diff::DiffArgs>(),
    entry::<dc0_compare::reproduce::ReproduceArgs>(),
    entry::<dc0_compare::replay::ReplayArgs>(),
    entry::<dc0_compare::verify::VerifyArgs>(),
    entry::<dc0_engine::explain::ExplainArgs>(),
    entry::<dc0_web::serve::ServeArgs>(),
    entry::<sql::SqlArgs>(),
    entry::<sweep_array::SweepSlurmArgs>(),
    entry::<sweep_array::SweepHqArgs>(),
    entry::<sweep_array::SweepTrialArgs>(),
    entry::<dc0_fleet::WorkerArgs>(),
    entry::<dc0_fleet::FleetArgs>(),
];
