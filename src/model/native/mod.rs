//! Code for this host: what its compiler and the simulator that runs it agree on.

pub mod abi;
pub mod runtime_support;
pub mod table;
