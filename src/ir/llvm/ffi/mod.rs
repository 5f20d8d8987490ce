//! LLVM's C interface, declared with typed handles.
//!
//! llvm-sys links LLVM and declares the same functions on untyped pointers; here each parameter says what it has to be.
//! A function is `safe` if the call is defined for every live handle of the declared types (that it is of the right
//! opcode, kind or class, a handle of [`super::narrow`] says); `Option` marks pointers that may be null. What has
//! further preconditions (an index below a count, well-typed operands, one module or context) is `unsafe`, and the
//! modules beside this one check these preconditions before they call it.

use std::ffi::{CStr, c_char, c_int, c_uint};
use std::marker::PhantomData;
use std::ptr::NonNull;

use llvm_sys::LLVMOpaqueDbgRecord;
use llvm_sys::target::LLVMOpaqueTargetData;

mod build;
mod ir;
mod lists;
mod notes;
mod texts;

pub use build::*;
pub use ir::*;
pub use lists::*;
pub use notes::*;
pub use texts::*;

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

impl Text<'_> {
    /// Returns the text, lossily.
    pub fn owned(self) -> String {
        // SAFETY: what the type says.
        unsafe { CStr::from_ptr(self.0.as_ptr()) }.to_string_lossy().into_owned()
    }
}

/// LLVM's number of a calling convention.
#[repr(transparent)]
#[derive(Clone, Copy)]
pub struct CallConvention(c_uint);

impl CallConvention {
    /// # Panics
    /// If LLVM has no calling convention of that number.
    pub fn of(number: u32) -> CallConvention {
        const GREATEST: u32 = 1023;
        assert!(number <= GREATEST, "no calling convention has the number {number}");
        CallConvention(number)
    }
}

/// A module's data layout.
#[repr(transparent)]
#[derive(Debug, Clone, Copy)]
pub struct LayoutHandle<'m>(NonNull<LLVMOpaqueTargetData>, PhantomData<&'m ()>);

/// A debug record in front of an instruction.
#[repr(transparent)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct RecordHandle<'m>(NonNull<LLVMOpaqueDbgRecord>, PhantomData<&'m ()>);
