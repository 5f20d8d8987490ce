//! Tests: values, files, launches, expectations, tolerances.
//!
//! Must never know: LLVM, devices.

pub mod launch;
