#![doc = include_str!("README.md")]

pub mod program;
pub mod solve;
pub mod symbolic;
