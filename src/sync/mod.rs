//! Verdicts on synchronisation: from what the simulator saw to findings (`findings`, `divergence_cause`, `messages`), schedules and what differs
//! between them (`exec`'s `schedule_families`, `outcomes`, `scheduling`), the check of a kernel's inputs (`checking`, `solved_inputs`, `redundancy`,
//! `reproduction`; `budget` and `pool` share out time and threads), and what a clean run stands for (`amplification`).
//!
//! Must never know: how a run is done; it asks for launches and gets observations.

pub mod amplification;
pub mod budget;
pub mod checking;
pub mod divergence_cause;
pub mod findings;
mod information_flow;
pub mod inputs;
pub mod messages;
pub mod outcomes;
mod pool;
mod redundancy;
pub mod reproduction;
pub mod schedule_independence;
pub mod scheduling;
pub mod solved_inputs;

pub use crate::exec::simulator::schedule_families;
