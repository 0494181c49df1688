//! Experience and results as Parquet. Only this module names arrow and parquet.

mod records;

pub use crate::selfplay::{GameRow, PositionRow};
pub use records::MatchGameRow;
