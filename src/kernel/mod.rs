//! Getting a module: clang, IR and SPIR-V in; the kernel's interface; source positions.
//!
//! Must never know: devices, tests.

pub mod ast;
mod ast_json;
pub mod compile;
pub mod interface;
mod line_directives;
pub mod options;
mod spirv_words;
mod tools;
