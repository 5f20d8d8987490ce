#![doc = include_str!("README.md")]
#![forbid(unsafe_code)]

pub mod report;
pub mod result;
