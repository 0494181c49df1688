//! Chess functions over columns. Those of a single value, in the submodules, take and return plain text and numbers.

mod book;
mod fen;

use dc0_core::board::{Move, Position};
use polars::prelude::{Column, DataType, PolarsResult};
use polars::series::amortized_iter::AmortSeries;

/// Applies a function to the FEN of each row; the result is empty for rows without one.
fn map_fen<T>(columns: &[Column], function: fn(&str) -> Option<T>) -> PolarsResult<Vec<Option<T>>> {
    Ok(columns[0].str()?.iter().map(|fen| fen.and_then(function)).collect())
}

pub(crate) fn material(columns: &[Column]) -> PolarsResult<Column> {
    Ok(Column::new(columns[0].name().clone(), map_fen(columns, fen::material)?))
}

pub(crate) fn phase(columns: &[Column]) -> PolarsResult<Column> {
    Ok(Column::new(columns[0].name().clone(), map_fen(columns, fen::phase)?))
}

pub(crate) fn piece_count(columns: &[Column]) -> PolarsResult<Column> {
    Ok(Column::new(columns[0].name().clone(), map_fen(columns, fen::piece_count)?))
}

pub(crate) fn side(columns: &[Column]) -> PolarsResult<Column> {
    Ok(Column::new(columns[0].name().clone(), map_fen(columns, fen::side)?))
}

pub(crate) fn board(columns: &[Column]) -> PolarsResult<Column> {
    Ok(Column::new(columns[0].name().clone(), map_fen(columns, fen::board)?))
}

pub(crate) fn uci(columns: &[Column]) -> PolarsResult<Column> {
    let text = |moves: &[Move]| Some(moves.iter().map(ToString::to_string).collect::<Vec<_>>().join(" "));
    map_moves(&columns[0], text)
}

pub(crate) fn opening(columns: &[Column]) -> PolarsResult<Column> {
    map_moves(&columns[0], |moves| book::find(moves).map(|opening| opening.name.to_owned()))
}

pub(crate) fn eco(columns: &[Column]) -> PolarsResult<Column> {
    map_moves(&columns[0], |moves| book::find(moves).map(|opening| opening.eco.to_owned()))
}

pub(crate) fn san(columns: &[Column]) -> PolarsResult<Column> {
    let moves = columns[1].cast(&DataType::UInt16)?;
    let rows = columns[0].str()?.iter().zip(moves.u16()?.iter());
    let san = rows.map(|(fen, packed)| {
        let (position, mv) = (Position::from_fen(fen?).ok()?, Move::from_packed(packed?)?);
        position.is_legal(mv).then(|| position.san(mv))
    });
    Ok(Column::new(columns[0].name().clone(), san.collect::<Vec<Option<String>>>()))
}

/// Applies a function to the moves of each row, a single move or a list; the result is empty if a value is not a packed move.
fn map_moves(column: &Column, text: fn(&[Move]) -> Option<String>) -> PolarsResult<Column> {
    let unpacked = |packed: &[u16]| {
        packed.iter().map(|packed| Move::from_packed(*packed)).collect::<Option<Vec<Move>>>()
    };
    let texts: Vec<Option<String>> = if let DataType::List(_) = column.dtype() {
        let lists = column.cast(&DataType::List(Box::new(DataType::UInt16)))?;
        let row = |list: AmortSeries| -> PolarsResult<Option<String>> {
            let packed: Vec<u16> = list.as_ref().u16()?.iter().flatten().collect();
            Ok(unpacked(&packed).and_then(|moves| text(&moves)))
        };
        let rows = lists.list()?.amortized_iter().map(|list| list.map_or(Ok(None), row));
        rows.collect::<PolarsResult<_>>()?
    } else {
        let packed = column.cast(&DataType::UInt16)?;
        packed.u16()?.iter().map(|packed| unpacked(&[packed?]).and_then(|moves| text(&moves))).collect()
    };
    Ok(Column::new(column.name().clone(), texts))
}
