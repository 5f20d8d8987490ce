//! Coverage: which sites, what observation covers them, totals (PENG 4.2.1, LIU 5.2).
//!
//! `build` makes the code of a kernel, plain and with probes, `group_order` the same for orders of work-groups on devices; `measure` runs the tests on an executor; `tally` turns probe
//! data into covered outcomes, a pure function; `summary` adds them up.
//!
//! Must never know: devices (it asks `exec`).

pub mod build;
pub mod group_order;
pub mod measure;
pub mod summary;
pub mod tally;
