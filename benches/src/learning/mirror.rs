//! Mirror images: a net that knew the rules would say the same of a position without castling rights and its image.

use std::error::Error;

use super::study::{Row, StoredPosition, Study, correlation, mean, root_mean_square};

pub(super) fn measure(study: &mut Study) -> Result<Vec<Row>, Box<dyn Error>> {
    let evaluated = study.evaluate(&|position, encoding, batch| {
        if may_castle(position) {
            return;
        }
        batch.push(encoding, &position.game);
        assert!(batch.push_mirror(encoding), "no side may castle");
    })?;
    let pairs = evaluated.as_chunks::<2>().0;
    let results: Vec<f64> = study
        .positions
        .iter()
        .filter(|position| !may_castle(position))
        .map(|position| position.row.result.into())
        .collect();
    let row = |what, value| Row { what, value, positions: pairs.len() };
    let with_result = |value: fn(f64, f64) -> f64| {
        let values = pairs.iter().map(move |[own, image]| value(own.value, image.value));
        correlation(values.zip(results.iter().copied()))
    };
    let variation = |one: &[f32], other: &[f32]| {
        let difference = one.iter().zip(other).map(|(one, other)| f64::from((one - other).abs()));
        0.5 * difference.sum::<f64>()
    };
    Ok(vec![
        row(
            "value less the image's, root mean square",
            root_mean_square(pairs.iter().map(|[own, image]| own.value - image.value)),
        ),
        row(
            "best move the same, share",
            mean(pairs.iter().map(|[own, image]| f64::from(u8::from(own.best() == image.best())))),
        ),
        row(
            "total variation between the policies, mean",
            mean(pairs.iter().map(|[own, image]| variation(&own.policy, &image.policy))),
        ),
        row("correlation with the result: value", with_result(|own, _| own)),
        row("correlation with the result: the image's value", with_result(|_, image| image)),
        row("correlation with the result: their mean", with_result(f64::midpoint)),
    ])
}

fn may_castle(position: &StoredPosition) -> bool {
    position.row.fen.split(' ').nth(2) != Some("-")
}
