//! Checks findings, schedules and reproductions, on observations made by hand and on kernels that are run.

mod amplification;
mod check_budget;
mod check_fixtures;
mod checking;
mod commands;
#[path = "../common/mod.rs"]
mod common;
mod findings;
mod scheduling;
mod splits;
mod support;
mod writing;
