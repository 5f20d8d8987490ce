//! Checks the OpenCL executor against a real device: every kind of argument, and everything a kernel can do wrong.

mod arguments;
mod choice;
mod faults;
mod images;
mod lost_devices;
mod spare_worker;
mod support;
mod sweeps;
