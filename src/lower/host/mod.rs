//! Lowering for this host: what the simulator runs.

pub mod abi;
pub mod table;
