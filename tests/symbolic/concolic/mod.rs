//! Checks concolic execution: launches that reach what all zeros do not, confirmed by the interpreter and by
//! the simulator.

mod fixtures;
mod hard_cases;
mod repaired;
mod support;
