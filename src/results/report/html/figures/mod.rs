//! Figures as SVG. Each has a title and says in words what it shows; the numbers are in a table beside it.

mod chart;
mod matrix;
mod subsumption;

pub(super) use chart::{Series, bars, lines, sparkline};
pub(super) use matrix::{Cells, heat_map, kill_matrix};
pub(super) use subsumption::subsumption;
