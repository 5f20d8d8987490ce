//! What several test binaries share; each uses a part of it. Not a test.

#![allow(dead_code)]

pub mod bench;
pub mod coverage;
pub mod devices;
pub mod kernels;
pub mod launches;
pub mod outputs;
pub mod program;
pub mod stored;
pub mod testdata;
pub mod threads;

pub type TestResult<T = ()> = Result<T, Box<dyn std::error::Error>>;
