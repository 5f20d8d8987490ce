//! Launches for kernels without a suite: what arguments are for, what launches look like, and what the simulator says of them.

mod collisions;
mod evolution;
mod grown;
mod launched;
mod roles;
mod simulated;
mod support;
