//! Builds a kernel's control-flow graph (petgraph) and derives from it decisions and their conditions, loops, barriers,
//! dominance, control dependence, and sites with their ids.
//!
//! Everything here is plain data read from the canonical form. A block is its position in its function and an
//! instruction its position in its block, so that passes can find them again in the same module, as long as it has
//! not been changed.
//!
//! *Sites*: `decisions` and `short_circuits`, those of several conditions with the paths by which they are evaluated
//! (`compound_decisions`, `condition_graph`), the loops of the source (`loops`), the guards of rotated ones
//! (`rotated_loops`) and the natural loops of any graph (`natural_loops`), `statements`, `lines`; `sites` puts them
//! together, and `origin` says what a module without a syntax tree comes from.
//!
//! *Flow*: `dataflow` is the worklist fixpoint, `interprocedural` the one over LLVM's functions and calls. `points_to`
//! and `taint` follow information, `uniformity` finds branches that work-items of a group may take differently,
//! `schedule_dependence` what values from atomics and races reach, `repeatable` whether a launch can run on copies of
//! its memory, `stored_floats` which floats `void *` points to.
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
