//! Code for this host, run without the simulator: every work-item is a thread, hooks do the least they can.

mod errors;
mod families;
mod ids;
mod math;
mod support;
mod testdata;
