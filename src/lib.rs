//! kassay tests GPU kernels and assesses their tests at the level of LLVM IR.
//!
//! `ARCHITECTURE.md` describes the rooms (modules) and which of them may import which; `tests/architecture`
//! enforces these rules.

pub mod cfg;
pub mod cli;
pub mod coverage;
pub mod error;
pub mod exec;
pub mod generate;
pub mod hash;
pub mod instrument;
pub mod kernel;
pub mod llvm;
pub mod lower;
pub mod mutation;
pub mod program;
pub mod report;
pub mod result;
pub mod solve;
pub mod suite;
pub mod symbolic;
pub mod sync;
