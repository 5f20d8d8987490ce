//! Verdicts on synchronisation. From the simulator's observations to findings: `findings`, `divergence_cause`,
//! `messages`; names of what races come from: `causes`, `race_facts`, `lockstep`. Schedules and the differences between
//! them: `exec`'s `schedule_families`, `outcomes`, `scheduling`. The check of a kernel's inputs: `exploration`,
//! `checking`, `solved_inputs`, `redundancy`, `reproduction`; its first pass on a device: `device_pass`,
//! `device_findings`, `confirmation`; `budget` and `pool` divide time and threads; `join` joins the checks of tests
//! with different values of specialisation constants. What a clean run stands for: `amplification`; what holds of
//! launches that are not run: `proofs`. What launches have to keep to so that nothing is found: `conditions`.
//! `messages`. Schedules and the differences between them: `exec`'s `schedule_families`, `outcomes`, `scheduling`. The
//! check of a kernel's inputs: `exploration`, `checking`, `solved_inputs`, `redundancy`, `reproduction`; its first pass
//! on a device: `device_pass`, `device_findings`, `confirmation`; `budget` and `pool` divide time and threads; `join`
//! joins the checks of tests with different values of specialisation constants. What a clean run stands for:
//! `amplification`; what holds of launches that are not run: `proofs`. What launches have to keep to so that nothing
//! is found: `conditions`. Changes of the kernel that mend what was found: `repair`.
//!
//! Must never know: how a launch is run; it asks for launches and receives observations.

pub mod amplification;
pub mod budget;
mod causes;
mod check_options;
pub mod checking;
pub mod conditions;
mod confirmation;
mod device_findings;
pub mod device_pass;
pub mod divergence_cause;
mod exploration;
pub mod findings;
mod information_flow;
pub mod inputs;
pub mod join;
pub mod lengths;
mod lockstep;
pub mod messages;
pub mod outcomes;
pub mod pool;
pub mod proofs;
mod race_facts;
mod redundancy;
pub mod repair;
pub mod replay;
pub mod reproduction;
pub mod schedule_independence;
pub mod scheduling;
pub mod solved_inputs;

pub use kassay_run::exec::simulator::schedule_families;
