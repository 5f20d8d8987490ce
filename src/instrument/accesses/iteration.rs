//! Hashes the iteration counts of the loops around a barrier into one number.

use std::collections::HashMap;

use llvm_sys::core::*;
use llvm_sys::prelude::*;

use super::emit::Emitter;
use crate::kernel::ir::Inst;

/// An odd constant that spreads numbers over all bits (2^64 divided by the golden ratio).
const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;

/// Counter variables, by the instruction that they are read for; outermost loop first.
#[derive(Default)]
pub struct Counters {
    pub by_inst: HashMap<Inst, Vec<LLVMValueRef>>,
}

impl Counters {
    /// Builds the number for `inst` at the builder's position.
    pub fn iteration(&self, e: &Emitter<'_, '_>, inst: Inst) -> LLVMValueRef {
        let mut number = e.const_i64(0);
        for counter in self.by_inst.get(&inst).into_iter().flatten() {
            // SAFETY: alive; all are `i64`.
            unsafe {
                let count = e.load(e.long, *counter);
                let spread = LLVMBuildMul(e.builder, number, e.const_i64(SPREAD), c"".as_ptr());
                number = LLVMBuildAdd(e.builder, spread, count, c"".as_ptr());
            }
        }
        number
    }
}

/// Builds an increment of a counter at the builder's position.
pub fn increment(e: &Emitter<'_, '_>, counter: LLVMValueRef) {
    // SAFETY: alive; the variable holds an `i64`.
    unsafe {
        let next = LLVMBuildAdd(e.builder, e.load(e.long, counter), e.const_i64(1), c"".as_ptr());
        LLVMBuildStore(e.builder, next, counter);
    }
}
