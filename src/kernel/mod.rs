//! Loads a kernel as an LLVM module: compiles OpenCL C with clang, reads LLVM IR and SPIR-V, and derives the kernel's
//! interface and source positions.
//!
//! Must never know: devices, tests.

pub mod ast;
pub mod ast_cpp;
mod ast_records;
pub mod builtins;
mod bytes;
pub mod cache;
pub mod canonical;
mod clang;
pub mod compile;
mod compile_cache;
pub(crate) mod constant_switch;
pub mod constant_uses;
pub mod constructs;
pub mod cpp_names;
mod debug_types;
pub mod demangle;
pub mod external_tools;
pub mod floats;
pub mod folding;
pub mod forked;
pub mod id_vectors;
pub mod implicit;
pub mod inline_frames;
pub mod inlined;
pub mod interface;
mod ir_types;
pub mod kernel_files;
mod line_directives;
pub mod logical_operators;
#[cfg(fuzzing)]
mod many_reads;
pub mod module;
pub mod options;
pub mod parameters;
pub mod plain_atomics;
pub mod precision;
pub mod printf_format;
mod shared_functions;
pub mod signature;
pub mod source;
pub mod spirv;
pub mod statements;
pub mod sub_groups;
mod uses;
pub mod variants;
