//! Contains the instrumentation passes. Each rewrites IR and defines the layout of its part of the probe buffer.
//!
//! A pass inserts calls of functions in `runtime-cl`, whose behaviour is defined there, in OpenCL C. Every pass expects
//! the unchanged canonical form that its sites were read from, and leaves a module that verifies.
//!
//! - `coverage`: `plan`, `weave`, `recorders`; `implication` says which probes are needed, `decision_paths` by which
//!   path a decision was evaluated, for `coverage` and `marks`.
//! - `def_use`: pairs of definitions and uses, and what reports them.
//! - `mutants`: edits as data; `schemata`, `single`, `infection`, `privatise`, `variant`. `guard`: fuel, bounds,
//!   divisions.
//! - `ids`: virtual NDRanges; `ids::joint` is for joint launches. `access` tells which arguments a woven kernel writes.
//! - `device_races`: shadow memory on devices. `accesses`: the simulator's hooks. `comparisons`: what they compare.
//!   `components`: which bytes of a vector an access names, for both.
//! - `lowering`: from a module to the code of any target.
//!
//! `tests/golden/` shows what they make of small kernels.
//!
//! Must never know: how code is run.

pub mod access;
pub mod accesses;
pub mod comparisons;
pub mod components;
pub mod coverage;
mod decision_paths;
pub mod def_use;
pub mod device_races;
mod entry;
pub mod guard;
pub mod ids;
pub mod implication;
pub mod layout;
pub mod lowering;
pub mod marks;
pub mod mutants;
pub mod native;
mod runtime;
