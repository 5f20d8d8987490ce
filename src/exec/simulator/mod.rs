//! The simulator: runs kernels on this host, one work-item at a time in an exact order, and checks every access.

pub mod observation;
pub mod shadow;
