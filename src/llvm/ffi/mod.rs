//! LLVM's C interface, declared with typed handles.
//!
//! llvm-sys links LLVM and declares the same functions on untyped pointers; here each parameter says what it has to be. A function is
//! `safe` if the call is defined for every live handle of the declared types; `Option` marks pointers that may be null. What has further
//! preconditions (an opcode, an index below a count, a kind of type, well-typed operands) is `unsafe`, and the modules beside this one
//! check these preconditions before they call it.

use std::ffi::{CStr, c_char, c_int};
use std::marker::PhantomData;
use std::ptr::NonNull;

use llvm_sys::LLVMOpaqueDbgRecord;
use llvm_sys::target::LLVMOpaqueTargetData;

mod build;
mod ir;
mod notes;

pub use build::*;
pub use ir::*;
pub use notes::*;

/// LLVM's boolean: 0 is false.
pub type Bool = c_int;

/// A NUL-terminated string that outlives the call.
#[repr(transparent)]
#[derive(Clone, Copy)]
pub struct Text<'a>(NonNull<c_char>, PhantomData<&'a CStr>);

impl<'a> From<&'a CStr> for Text<'a> {
    fn from(text: &'a CStr) -> Text<'a> {
        Text(NonNull::from(text).cast(), PhantomData)
    }
}

/// A module's data layout.
#[repr(transparent)]
#[derive(Debug, Clone, Copy)]
pub struct LayoutHandle<'m>(NonNull<LLVMOpaqueTargetData>, PhantomData<&'m ()>);

/// A debug record in front of an instruction.
#[repr(transparent)]
#[derive(Clone, Copy)]
pub struct RecordHandle<'m>(NonNull<LLVMOpaqueDbgRecord>, PhantomData<&'m ()>);
