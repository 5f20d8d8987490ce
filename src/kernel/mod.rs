//! Getting a module: clang, IR and SPIR-V in; the kernel's interface; source positions.
//!
//! Must never know: devices, tests.

pub mod canonical;
pub mod interface;
pub mod ir;
pub mod source;
