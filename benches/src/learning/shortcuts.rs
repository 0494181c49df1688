//! Shortcuts: inputs that the result does not depend on, and how far the value moves with them.

use std::error::Error;

use dc0_core::encoding::{Orientation, Plane, PlaneKind};
use dc0_core::network::Batch;

use super::study::{Evaluated, Row, Study, correlation, root_mean_square};

pub(super) fn measure(study: &mut Study) -> Result<Vec<Row>, Box<dyn Error>> {
    let plain = study.evaluate(&|position, encoding, batch| batch.push(encoding, &position.game))?;
    let number = changed(study, &[Plane::FullmoveNumber], &|batch, index, plane| {
        batch.scalars[index] = 1.0 / f32::from(plane.divisor().unwrap_or(1));
    })?;
    // Seen from White's side, the colour decides whose value is asked for.
    let is_oriented = study.encoding().orientation() == Orientation::SideToMove;
    let colours: &[Plane] = if is_oriented { &[Plane::WhiteToMove, Plane::BlackToMove] } else { &[] };
    let colour = changed(study, colours, &|batch, index, _| batch.binary[index] ^= u64::MAX)?;
    let results: Vec<f64> = study.positions.iter().map(|position| position.row.result.into()).collect();
    let with_result = |evaluated: &Vec<Evaluated>| {
        correlation(evaluated.iter().map(|one| one.value).zip(results.iter().copied()))
    };
    let moved = |changed: &Vec<Evaluated>| {
        root_mean_square(plain.iter().zip(changed).map(|(one, other)| one.value - other.value))
    };
    let row = |what, value| Row { what, value, positions: plain.len() };
    Ok(vec![
        row(
            "move number set to 1: value less the original's, root mean square",
            number.as_ref().and_then(moved),
        ),
        row(
            "colour plane changed: value less the original's, root mean square",
            colour.as_ref().and_then(moved),
        ),
        row("correlation with the result: value", with_result(&plain)),
        row("correlation with the result: move number set to 1", number.as_ref().and_then(with_result)),
        row("correlation with the result: colour plane changed", colour.as_ref().and_then(with_result)),
    ])
}

/// The evaluations with a change of the first of these planes that the encoding has, whose index in the batch `change` gets; `None`
/// if it has none of them.
fn changed(
    study: &mut Study,
    planes: &[Plane],
    change: &dyn Fn(&mut Batch, usize, Plane),
) -> Result<Option<Vec<Evaluated>>, Box<dyn Error>> {
    let Some(plane) = study.encoding().planes().iter().copied().find(|plane| planes.contains(plane)) else {
        return Ok(None);
    };
    let evaluated = study.evaluate(&|position, encoding, batch| {
        let start = match plane.kind() {
            PlaneKind::Binary => batch.binary.len(),
            PlaneKind::Scalar => batch.scalars.len(),
        };
        batch.push(encoding, &position.game);
        let mut same_kind = encoding.planes().iter().filter(|other| other.kind() == plane.kind());
        let index = same_kind.position(|other| *other == plane).expect("a plane of the encoding");
        change(batch, start + index, plane);
    })?;
    Ok(Some(evaluated))
}
