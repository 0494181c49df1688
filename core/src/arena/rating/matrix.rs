//! The linear algebra that a fit of a few hundred players needs.

pub(super) type Matrix = Vec<Vec<f64>>;

pub(super) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

pub(super) fn product(a: &Matrix, b: &Matrix) -> Matrix {
    let column = |index: usize| b.iter().map(|row| row[index]).collect::<Vec<f64>>();
    let columns: Vec<Vec<f64>> = (0..b.len()).map(column).collect();
    a.iter().map(|row| columns.iter().map(|column| dot(row, column)).collect()).collect()
}

/// The inverse of a symmetric positive definite matrix by Gauss–Jordan elimination. The information matrix is one, because all
/// players of the fit are connected to the anchor.
pub(super) fn inverse(matrix: &Matrix) -> Matrix {
    let size = matrix.len();
    let mut left = matrix.clone();
    let mut right: Matrix =
        (0..size).map(|row| (0..size).map(|column| f64::from(u8::from(column == row))).collect()).collect();
    for pivot in 0..size {
        let best = (pivot..size)
            .max_by(|a, b| left[*a][pivot].abs().total_cmp(&left[*b][pivot].abs()))
            .unwrap_or(pivot);
        left.swap(pivot, best);
        right.swap(pivot, best);
        let scale = 1.0 / left[pivot][pivot].abs().max(f64::MIN_POSITIVE).copysign(left[pivot][pivot]);
        for half in [&mut left, &mut right] {
            half[pivot].iter_mut().for_each(|cell| *cell *= scale);
        }
        for row in (0..size).filter(|row| *row != pivot) {
            let factor = left[row][pivot];
            for half in [&mut left, &mut right] {
                let pivot_row = half[pivot].clone();
                half[row].iter_mut().zip(pivot_row).for_each(|(cell, pivot)| *cell -= factor * pivot);
            }
        }
    }
    right
}
