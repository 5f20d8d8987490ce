//! Checks findings, schedules and reproductions, on observations made by hand and on kernels that are run.

mod checking;
mod commands;
mod findings;
mod scheduling;
mod splits;
mod support;
mod writing;
