//! A small, sound layer over LLVM's C interface: everything that kassay asks of IR beyond what inkwell offers.
//!
//! Handles ([`Value`], [`Function`], [`Inst`], [`Block`], [`Type`], …) are copyable and bound to the borrow of the
//! inkwell module they come from, so none outlives its module. [`View::of`] is the way in; [`Builder`] inserts
//! instructions; [`passes::run`] runs LLVM's passes. Everything that safe code can reach is defined: preconditions that
//! types cannot express are checked (an accessor of the wrong instruction gives `None`, an ill-typed call of the
//! builder panics), and what would leave other copies of a handle dangling, such as deleting a function, is an
//! `unsafe fn` (an erased instruction is kept by its [`Context`]).
//!
//! ```
//! use kassay_ir::llvm::{Context, View};
//!
//! let context = Context::create();
//! let module = context.create_module("m");
//! let view = View::of(&module);
//! let int = view.int_type(32);
//! let function = view.add_function("twice", int.function(&[int], false));
//! let builder = view.builder();
//! builder.at_end(function.append_block("entry"));
//! let argument = function.params()[0];
//! builder.ret(Some(builder.add(argument, argument, "")));
//! assert!(module.verify().is_ok());
//! ```
//!
//! A handle cannot outlive its module:
//!
//! ```compile_fail
//! # use kassay_ir::llvm::{Context, View};
//! let context = Context::create();
//! let functions = {
//!     let module = context.create_module("m");
//!     View::of(&module).functions()
//! };
//! println!("{}", functions.len());
//! ```
//!
//! Must never know: kernels, sites, devices.

mod arithmetic;
pub mod assumptions;
mod attributes;
mod block;
mod builder;
mod constants;
mod context;
mod control;
mod debug;
mod erased;
mod ffi;
mod function;
mod global;
mod handles;
mod inlining;
mod inst;
mod link;
mod memory;
mod metadata;
mod narrow;
pub mod passes;
#[cfg(test)]
mod tests;
mod text;
mod types;
mod value;
mod view;

pub use attributes::{Attribute, AttributeIndex, AttributeKind, Attributes};
pub use builder::{Builder, Position};
pub use context::Context;
pub use debug::{DebugLocation, LAST_COLUMN, Location};
pub use function::{SPIR_FUNC, SPIR_KERNEL};
pub use handles::{Block, Function, Global, Inst, Type, Value};
pub use link::{link, link_beside, read_lazily};
pub use memory::SyncScope;
pub use metadata::{MetadataKind, Node, Operand};
pub use types::{DataLayout, Types};
pub use view::View;

pub use kassay_model::address_space::AddressSpace;
pub use llvm_sys::LLVMAtomicOrdering as AtomicOrdering;
pub use llvm_sys::LLVMAtomicRMWBinOp as AtomicRmwOperation;
pub use llvm_sys::LLVMIntPredicate as IntPredicate;
pub use llvm_sys::LLVMLinkage as Linkage;
pub use llvm_sys::LLVMOpcode as Opcode;
pub use llvm_sys::LLVMRealPredicate as RealPredicate;
pub use llvm_sys::LLVMTypeKind as TypeKind;
pub use llvm_sys::debuginfo::LLVMMetadataKind as MetadataClass;
