//! Builds a kernel's control-flow graph (petgraph) and derives from it decisions and their conditions, loops, barriers,
//! dominance, control dependence, and sites with their ids.
//!
//! Everything here is plain data read from the canonical form. A block is its position in its function and an
//! instruction its position in its block, so that passes can find them again in the same module, as long as it has
//! not been changed.
//!
//! Must never know: what a probe is.

pub mod case_ranges;
pub mod compound_decisions;
pub mod condition_graph;
pub mod dataflow;
pub mod decisions;
pub mod dominance;
pub mod dot;
pub mod folded;
pub mod graph;
pub mod indices;
pub mod interprocedural;
pub mod lines;
pub mod loops;
pub mod natural_loops;
pub mod origin;
pub mod points_to;
pub mod repeatable;
mod rotated_loops;
pub mod schedule_dependence;
pub mod short_circuits;
pub mod sites;
pub mod statements;
pub mod stored_floats;
pub mod taint;
pub mod uniformity;
