//! Verdicts on synchronisation: from what the simulator saw to findings (`findings`, `splits`, `words`), schedules and what differs
//! between them (`exec`'s `families`, `outcomes`, `scheduling`), the check of a kernel's inputs (`checking`, `confirming`, `redundancy`,
//! `reproduction`; `budget` and `pool` share out time and threads), and what a clean run stands for (`amplification`).
//!
//! Must never know: how a run is done; it asks for launches and gets observations.

pub mod amplification;
pub mod budget;
pub mod checking;
pub mod confirming;
pub mod findings;
mod flow;
pub mod holding;
pub mod inputs;
pub mod outcomes;
mod pool;
mod redundancy;
pub mod reproduction;
pub mod scheduling;
pub mod splits;
pub mod words;

pub use crate::exec::simulator::families;
