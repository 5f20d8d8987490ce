//! Checks coverage: what the metrics count, and that probes do not change what kernels compute.

#[path = "../common/mod.rs"]
mod common;
mod counted;
mod def_use;
mod ended_runs;
mod hand_counts;
mod instrumented_outputs;
mod mcdc;
mod merging;
mod spirv;
