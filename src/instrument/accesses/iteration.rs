//! How often the loops around a barrier went round, as one number.

use std::collections::HashMap;

use llvm_sys::core::*;
use llvm_sys::prelude::*;

use super::emit::Emitter;
use crate::kernel::ir::Inst;

/// An odd constant that spreads numbers over all bits (2^64 divided by the golden ratio).
const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;

/// Variables that count, and which of them count for an instruction, outermost loop first.
#[derive(Default)]
pub struct Counters {
    pub of: HashMap<Inst, Vec<LLVMValueRef>>,
}

impl Counters {
    /// The number for `inst`, computed where the builder stands.
    pub fn iteration(&self, e: &Emitter<'_, '_>, inst: Inst) -> LLVMValueRef {
        let mut number = e.wide(0);
        for counter in self.of.get(&inst).into_iter().flatten() {
            // SAFETY: alive; all are `i64`.
            unsafe {
                let count = e.load(e.long, *counter);
                let spread = LLVMBuildMul(e.builder, number, e.wide(SPREAD), c"".as_ptr());
                number = LLVMBuildAdd(e.builder, spread, count, c"".as_ptr());
            }
        }
        number
    }
}

/// Adds one to a counter where the builder stands.
pub fn count(e: &Emitter<'_, '_>, counter: LLVMValueRef) {
    // SAFETY: alive; the variable holds an `i64`.
    unsafe {
        let next = LLVMBuildAdd(e.builder, e.load(e.long, counter), e.wide(1), c"".as_ptr());
        LLVMBuildStore(e.builder, next, counter);
    }
}
