#![doc = include_str!("README.md")]

pub mod coverage;
pub mod generate;
pub mod mutation;
pub mod sync;
