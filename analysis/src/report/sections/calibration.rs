//! Whether values keep their word: reliability diagrams, and the calibration error over iterations.

use crate::charts::{Axis, Chart, Ink, Joined, Marks, Point, Reference, Series, short};
use crate::error::AnalysisError;
use crate::report::calibration::{BINS, Bin, Trust, VALUES, error};
use crate::report::context::Context;
use crate::report::inputs::ReportRun;
use crate::report::section::{Part, Section};
use crate::report::steps::member;

pub(super) const SECTION: Section = Section {
    id: "calibration",
    title: "Value calibration",
    about: "Of positions given the same value, what did their games give? Games that the ply cap ended are left out: they \
        have no result worth the name.",
    without: |_| "no position of a game that ended by the rules is stored",
    parts,
};

fn parts(context: &Context<'_>) -> Result<Vec<Part>, AnalysisError> {
    let mut parts: Vec<Part> =
        context.trusts.iter().map(|trust| Part::Chart(Box::new(diagram(context, trust)))).collect();
    if !parts.is_empty() {
        parts.push(Part::Chart(Box::new(errors(context))));
        parts.extend(discounts(context).map(Part::Text));
    }
    Ok(parts)
}

fn diagram(context: &Context<'_>, trust: &Trust) -> Chart {
    let at = context.number(&trust.run);
    let finished = context.last_iteration(&context.runs[at]).unwrap_or(u32::MAX);
    let all = &trust.values[1];
    let last = all.range(..=finished).next_back().or_else(|| all.iter().next()).map_or(0, |(last, _)| *last);
    let series = |(number, (_, name)): (usize, &(&str, &str))| {
        let bins = trust.values[number].get(&last).map(Vec::as_slice).unwrap_or_default();
        let point = |bin: &Bin| Point { x: bin.value, y: bin.result, interval: bin.interval };
        let error = error(bins).map_or_else(String::new, |error| format!(" (error {})", short(error)));
        let joined = Joined::Marked;
        Series {
            name: format!("{name}{error}"),
            ink: Ink::Series(number),
            joined,
            points: bins.iter().map(point).collect(),
        }
    };
    let axis = |label: &str| Axis { from: Some(-1.0), to: Some(1.0), ..Axis::plain(label) };
    let of = if context.runs.len() > 1 { format!(" of {}", trust.run) } else { String::new() };
    Chart {
        name: format!("calibration-{at}"),
        title: format!("Reliability{of}, iteration {last}"),
        about: "The mean result of positions against the value they were given; intervals treat a game as one observation."
            .to_owned(),
        x: axis("value given"),
        y: axis("mean result"),
        marks: Marks::Series(VALUES.iter().enumerate().map(series).collect()),
        references: vec![Reference::Diagonal("as promised".to_owned())],
    }
}

fn errors(context: &Context<'_>) -> Chart {
    let many = context.trusts.len() > 1;
    let mut series = Vec::new();
    for trust in &context.trusts {
        let at = context.number(&trust.run);
        for (number, (_, name)) in VALUES.iter().enumerate() {
            let point =
                |(iteration, bins): (&u32, &Vec<Bin>)| Some(Point::new(f64::from(*iteration), error(bins)?));
            series.push(Series {
                name: if many { format!("{}, {name}", trust.run) } else { (*name).to_owned() },
                ink: Ink::Series(if many { at } else { number }),
                joined: if number == 0 { Joined::Marked } else { Joined::Line },
                points: trust.values[number].iter().filter_map(point).collect(),
            });
        }
    }
    Chart {
        name: "calibration-error".to_owned(),
        title: "Calibration error".to_owned(),
        about: format!(
            "Mean distance of value and result in {BINS} bins, weighted by positions (Guo et al. 2017); values lie in [−1, 1]."
        ),
        x: Axis::whole("iteration"),
        y: Axis::plain("expected calibration error").from_zero(),
        marks: Marks::Series(series),
        references: Vec::new(),
    }
}

/// A word on nets that are taught less than results.
fn discounts(context: &Context<'_>) -> Option<String> {
    let is_discounted = |run: &&ReportRun| {
        context.steps.iter().any(|step| {
            let discount = member(&step.params, "discount").and_then(dc0_core::params::Value::as_f64);
            step.run == run.name && step.kind == "train" && discount.is_some_and(|discount| discount < 1.0)
        })
    };
    let names: Vec<&str> = context.runs.iter().filter(is_discounted).map(|run| run.name.as_str()).collect();
    (!names.is_empty()).then(|| {
        format!(
            "Nets of {} are taught discounted results (discount below 1), so values nearer to 0 than results are what they were \
             asked for.",
            names.join(", ")
        )
    })
}
