//! How well values predict results: reliability diagrams, and the calibration error over iterations.

use crate::charts::{Axis, Chart, Ink, Marks, Point, Reference, Series, SeriesStyle, short};
use crate::error::AnalysisError;
use crate::report::calibration::{BINS, Bin, Calibration, VALUES, error};
use crate::report::context::Context;
use crate::report::inputs::ReportRun;
use crate::report::section::{Part, Section};

pub(super) const SECTION: Section = Section {
    id: "calibration",
    title: "Value calibration",
    about: "How well values predict results. Positions are grouped by value, and each group's mean value is compared with its mean \
        result. Games ended by the ply cap are left out: their result is not a real one. So are positions of \
        imported games of PGN that no search of two simulations or more evaluated.",
    reads: &["games", "positions", "steps"],
    no_data: |_| "no searched positions are stored, other than those of games ended by the ply cap",
    parts,
};

fn parts(context: &Context<'_>) -> Result<Vec<Part>, AnalysisError> {
    let diagrams = context.calibrations.iter().map(|calibration| diagram(context, calibration));
    let mut parts: Vec<Part> = diagrams.map(|chart| Part::Chart(Box::new(chart))).collect();
    if !parts.is_empty() {
        parts.push(Part::Chart(Box::new(errors(context))));
        parts.extend(discounts(context).map(Part::Text));
    }
    Ok(parts)
}

fn diagram(context: &Context<'_>, calibration: &Calibration) -> Chart {
    let run = context.run_index(&calibration.run);
    let finished = context.last_iteration(&context.runs[run]).unwrap_or(u32::MAX);
    let all = &calibration.values[1];
    let last = all.range(..=finished).next_back().or_else(|| all.iter().next()).map_or(0, |(last, _)| *last);
    let series = |(number, (_, name)): (usize, &(&str, &str))| {
        let bins = calibration.values[number].get(&last).map(Vec::as_slice).unwrap_or_default();
        let point = |bin: &Bin| Point { x: bin.value, y: bin.result, interval: bin.interval };
        let error = error(bins).map_or_else(String::new, |error| format!(" (error {})", short(error)));
        Series {
            name: format!("{name}{error}"),
            ink: Ink::Series(number),
            style: SeriesStyle::MarkedLine,
            points: bins.iter().map(point).collect(),
        }
    };
    let axis = |label: &str| Axis { from: Some(-1.0), to: Some(1.0), ..Axis::plain(label) };
    let of_run = if context.runs.len() > 1 { format!(" of {}", calibration.run) } else { String::new() };
    Chart {
        name: format!("calibration-{run}"),
        title: format!("Reliability diagram{of_run}, iteration {last}"),
        caption:
            "Mean result of positions against their mean value. Intervals treat each game as one observation."
                .to_owned(),
        x: axis("mean value"),
        y: axis("mean result"),
        marks: Marks::Series(VALUES.iter().enumerate().map(series).collect()),
        references: vec![Reference::Diagonal("perfect calibration".to_owned())],
    }
}

fn errors(context: &Context<'_>) -> Chart {
    let many = context.calibrations.len() > 1;
    let mut series = Vec::new();
    for calibration in &context.calibrations {
        let run = context.run_index(&calibration.run);
        for (number, (_, name)) in VALUES.iter().enumerate() {
            let point =
                |(iteration, bins): (&u32, &Vec<Bin>)| Some(Point::new(f64::from(*iteration), error(bins)?));
            series.push(Series {
                name: if many { format!("{}, {name}", calibration.run) } else { (*name).to_owned() },
                ink: Ink::Series(if many { run } else { number }),
                style: if number == 0 { SeriesStyle::MarkedLine } else { SeriesStyle::Line },
                points: calibration.values[number].iter().filter_map(point).collect(),
            });
        }
    }
    Chart {
        name: "calibration-error".to_owned(),
        title: "Calibration error".to_owned(),
        caption: format!(
            "Mean distance between value and result over {BINS} bins, weighted by positions (Guo et al. 2017); values lie in [−1, 1]."
        ),
        x: Axis::integer("iteration"),
        y: Axis::plain("expected calibration error").from_zero(),
        marks: Marks::Series(series),
        references: Vec::new(),
    }
}

/// A note on nets that are trained on discounted results.
fn discounts(context: &Context<'_>) -> Option<String> {
    let is_discounted = |run: &&ReportRun| {
        context.steps.iter().any(|step| {
            let discount = step.params.figure("discount");
            step.run == run.name && step.kind == "train" && discount.is_some_and(|discount| discount < 1.0)
        })
    };
    let names: Vec<&str> = context.runs.iter().filter(is_discounted).map(|run| run.name.as_str()).collect();
    (!names.is_empty()).then(|| {
        format!(
            "Nets of {} are trained on discounted results (discount below 1), so their values are expected to be closer to 0 \
             than results.",
            names.join(", ")
        )
    })
}
