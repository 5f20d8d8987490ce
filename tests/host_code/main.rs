//! Code for this host, run without the simulator: every work-item is a thread, hooks do the least they can.

mod families;
mod ids;
mod support;
mod testdata;
