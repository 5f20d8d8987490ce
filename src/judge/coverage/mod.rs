//! Measures coverage: builds instrumented kernels, runs tests, and adds up which sites they cover (PENG
//! 4.2.1, LIU 5.2).
//!
//! `build` produces a kernel's code, plain and with probes, and `group_order` the same for orders of work-groups on
//! devices; `observed` produces code that also reports comparisons. `measure` runs the tests on an executor. `tally`, a
//! pure function, turns probe data into covered outcomes, which `summary` adds up and `mcdc` compares. `own_host` is
//! for launches that the user's own program makes; `def_use` follows definitions to their uses, on the simulator;
//! `changed_kernel` is for kernels whose text was changed; `merge` makes one result of several, `unite` one of several
//! variants of a kernel.
//!
//! Must never know: devices (it asks `exec`).

pub mod build;
pub mod changed_kernel;
pub mod def_use;
pub mod device_races;
pub mod group_order;
pub mod mcdc;
pub mod measure;
pub mod merge;
pub mod observed;
pub mod own_host;
pub mod summary;
pub mod tally;
pub mod unite;
