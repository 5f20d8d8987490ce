//! Findings, schedules and reproductions, from observations made by hand to kernels that are run.

mod checking;
mod commands;
mod findings;
mod scheduling;
mod splits;
mod support;
mod writing;
