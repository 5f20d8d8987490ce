#![doc = include_str!("README.md")]
#![forbid(unsafe_code)]

pub mod adequacy;
pub mod associations;
pub mod correlation;
pub mod csv;
pub mod goals;
pub mod kill_matrix;
pub mod mutant_sets;
pub mod study;
pub mod sub_suites;
pub mod total;
pub mod within_sizes;
