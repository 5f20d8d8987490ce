//! What several test binaries share; each uses a part of it. Not a test.

#![allow(dead_code)]

pub mod coverage;
pub mod kernels;
pub mod outputs;
