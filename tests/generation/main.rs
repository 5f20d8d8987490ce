//! Checks launches for kernels without a suite: argument roles, the launches themselves, and what the simulator finds
//! in them.

mod collisions;
mod evolution;
mod grown;
mod launched;
mod roles;
mod simulated;
mod support;
