#![doc = include_str!("README.md")]

pub mod cfg;
pub mod instrument;
pub mod kernel;
pub mod llvm;
pub mod lower;
