//! Runs code for this host without the simulator: every work-item is a thread, and hooks do as little as possible.

mod errors;
mod families;
mod ids;
mod math;
mod support;
mod testdata;
