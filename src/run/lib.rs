#![doc = include_str!("README.md")]

pub mod exec;
pub mod host;
