//! Getting a module: clang, IR and SPIR-V in; the kernel's interface; source positions.
//!
//! Must never know: devices, tests.

pub mod ast;
mod ast_json;
pub mod canonical;
pub mod compile;
pub mod interface;
pub mod ir;
mod line_directives;
pub mod options;
pub mod source;
mod spirv_words;
mod tools;
