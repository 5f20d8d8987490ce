//! Checks findings, schedules, reproductions and amplification, on observations made by hand and on kernels that are
//! run; and `kassay check` on the kernels of `testdata/check` and `testdata/faults`.

mod amplification;
mod check_budget;
mod checking;
mod commands;
#[path = "../common/mod.rs"]
mod common;
mod device_races;
mod fault_variants;
mod findings;
mod lengths;
mod proofs;
mod proved;
mod repairs;
mod scheduling;
mod splits;
mod subtle;
mod support;
mod writing;
