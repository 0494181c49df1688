//! The sections of a report. A section is a file here and a line in [`SECTIONS`].

mod calibration;
mod diversity;
mod games;
mod health;
mod learning;
mod matches;
mod overview;
mod parameters;
mod puzzles;
mod reuse;
mod sample_games;
mod speed;
mod strength;
mod sweeps;
mod validations;

use super::section::Section;

/// All sections, in order.
pub(super) const SECTIONS: &[Section] = &[
    overview::SECTION,
    strength::SECTION,
    health::SECTION,
    matches::SECTION,
    puzzles::SECTION,
    sample_games::SECTION,
    learning::SECTION,
    validations::SECTION,
    calibration::SECTION,
    games::SECTION,
    diversity::SECTION,
    speed::SECTION,
    reuse::SECTION,
    sweeps::SECTION,
    parameters::SECTION,
];

/// The sections of a comparison: those that need neither games nor positions.
pub(super) const COMPARED: &[Section] =
    &[strength::SECTION, learning::SECTION, matches::SECTION, speed::SECTION, parameters::SECTION];
