//! Loads a kernel as an LLVM module: compiles OpenCL C with clang, reads LLVM IR and SPIR-V, and derives the kernel's
//! interface and source positions.
//!
//! OpenCL C comes from `compile`, by a child that runs clang (`clang`); what it made is kept by `compile_cache`. Its
//! syntax tree is `ast`, from the records that `ast_records` decodes; `ast_cpp` brings that of C++ for OpenCL into the
//! same shape, and `cpp_names` gives its functions the names that they have in the source. SPIR-V comes from `spirv`.
//! What producers did to short-circuits and ids is undone by `logical_operators` and `id_vectors`, what translators did
//! to atomics and barriers by `plain_atomics`; `cuda` brings CUDA into the form of OpenCL C. `canonical` makes the
//! canonical form; `implicit` makes parameters of pointers in structs and of variables of the program. `uses` guesses
//! types that a module does not record.
//!
//! Must never know: devices, tests.

pub mod ast;
pub mod ast_cpp;
mod ast_records;
pub mod builtins;
mod bytes;
pub mod canonical;
mod clang;
pub mod compile;
mod compile_cache;
pub mod constant_switch;
pub mod constant_uses;
pub mod constructs;
pub mod copied_members;
pub mod cpp_names;
pub mod cuda;
mod debug_types;
pub mod floats;
pub mod folding;
pub mod id_vectors;
pub mod implicit;
pub mod inline_frames;
pub mod inlined;
mod ir_types;
mod line_directives;
pub mod logical_operators;
#[cfg(fuzzing)]
mod many_reads;
pub mod module;
pub mod parameters;
pub mod plain_atomics;
pub mod precision;
mod refusal;
mod shared_functions;
pub mod signature;
pub mod source;
pub mod spirv;
pub mod statements;
pub mod sub_groups;
mod uses;
pub mod variants;
