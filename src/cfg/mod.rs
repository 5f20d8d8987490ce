//! The CFG of a kernel (petgraph): decisions and their conditions, loops, barriers, dominance, control dependence; sites and
//! their ids.
//!
//! Everything here is plain data read from the canonical form: a block is its position in its function, an instruction its
//! position in its block, so passes find them again in the module that was read, as long as they have not changed it.
//!
//! Must never know: what a probe is.

pub mod case_ranges;
pub mod decisions;
pub mod dominance;
pub mod dot;
pub mod folded;
pub mod graph;
pub mod lines;
pub mod loops;
pub mod points_to;
pub mod schedule_dependence;
pub mod short_circuits;
pub mod sites;
pub mod statements;
pub mod taint;
pub mod uniformity;
