//! Narrows writes to vector components (`v.x = 1`), which clang compiles to a read and a write of the complete vector.
//! Each component is a memory location of its own (OpenCL 3.0, "memory location" in 3.3.4), so only the components
//! written may conflict.

use std::collections::{HashMap, VecDeque};

use llvm_sys::LLVMOpcode;
use llvm_sys::core::*;
use llvm_sys::debuginfo::{LLVMInstructionGetDebugLoc, LLVMInstructionSetDebugLoc};
use llvm_sys::prelude::*;
use llvm_sys::target::{LLVMStoreSizeOfType, LLVMTargetDataRef};

use super::memory_orders::is_atomic;
use super::values::is_vector;
use crate::kernel::ir::{Function, Inst, as_instruction, users};

/// A store of a vector that was loaded from the same address, with some components replaced.
struct Merge {
    store: Inst,
    /// Instructions to erase, each before the ones it uses.
    dead: Vec<Inst>,
    /// The replaced components.
    parts: Vec<Part>,
}

enum Part {
    Scalar(LLVMValueRef, LLVMValueRef),
    /// Component, source vector, component of the source vector.
    Component(u32, LLVMValueRef, u32),
}

/// Makes such stores write only the components that they replace.
pub fn separate(layout: LLVMTargetDataRef, kernel: Function) {
    for block in kernel.blocks() {
        let mut unused = UnusedReads::default();
        for inst in block.instructions() {
            match inst.opcode() {
                LLVMOpcode::LLVMLoad => unused.note(inst),
                LLVMOpcode::LLVMStore => match find(inst) {
                    Some(merge) => rewrite(layout, &merge),
                    None => unused.drop_before(inst),
                },
                _ => {}
            }
        }
    }
}

/// Unused reads of complete vectors in a block, by pointer and debug location.
#[derive(Default)]
struct UnusedReads(HashMap<(LLVMValueRef, LLVMMetadataRef), VecDeque<Inst>>);

impl UnusedReads {
    fn note(&mut self, load: Inst) {
        // SAFETY: alive and a load.
        unsafe {
            if LLVMGetFirstUse(load.0).is_null() && LLVMGetVolatile(load.0) == 0 && is_vector(LLVMTypeOf(load.0)) {
                let key = (LLVMGetOperand(load.0, 0), LLVMInstructionGetDebugLoc(load.0));
                self.0.entry(key).or_default().push_back(load);
            }
        }
    }

    /// Erases the unused read of the complete vector before a write of all its components (`v.xyzw = w`).
    fn drop_before(&mut self, store: Inst) {
        // SAFETY: alive and a store; nothing uses the read, which is noted once.
        unsafe {
            let key = (LLVMGetOperand(store.0, 1), LLVMInstructionGetDebugLoc(store.0));
            if let Some(load) = self.0.get_mut(&key).and_then(VecDeque::pop_front) {
                LLVMInstructionEraseFromParent(load.0);
            }
        }
    }
}

fn find(store: Inst) -> Option<Merge> {
    // SAFETY: alive; each question is asked of the opcodes that have an answer.
    unsafe {
        if LLVMGetVolatile(store.0) != 0 || is_atomic(store.0) {
            return None;
        }
        let mut dead = Vec::new();
        let mut only = |value: LLVMValueRef| {
            let inst = as_instruction(value).filter(|i| users(i.0).len() == 1 && i.block() == store.block())?;
            dead.push(inst);
            Some(inst)
        };
        // Vectors of three components are read and written as vectors of four.
        let mut merge = only(LLVMGetOperand(store.0, 0))?;
        if is_identity(merge) {
            merge = only(LLVMGetOperand(merge.0, 0))?;
        }
        let parts = parts(merge)?;
        let mut load = only(LLVMGetOperand(merge.0, 0))?;
        if is_identity(load) {
            load = only(LLVMGetOperand(load.0, 0))?;
        }
        let is_same = load.opcode() == LLVMOpcode::LLVMLoad
            && LLVMGetVolatile(load.0) == 0
            && !is_atomic(load.0)
            && LLVMGetOperand(load.0, 0) == LLVMGetOperand(store.0, 1)
            && LLVMTypeOf(load.0) == LLVMTypeOf(LLVMGetOperand(store.0, 0));
        let mut between = load.following().take_while(|i| *i != store);
        let keeps_memory = |i: Inst| {
            use LLVMOpcode::*;
            !matches!(i.opcode(), LLVMStore | LLVMCall | LLVMAtomicRMW | LLVMAtomicCmpXchg | LLVMFence)
        };
        (is_same && between.all(keeps_memory)).then_some(Merge { store, dead, parts })
    }
}

/// Returns whether a shuffle leaves all components in place.
unsafe fn is_identity(inst: Inst) -> bool {
    // SAFETY: alive; the mask is asked of shuffles only.
    unsafe {
        let undefined = LLVMGetUndefMaskElem();
        inst.opcode() == LLVMOpcode::LLVMShuffleVector
            && (0..LLVMGetNumMaskElements(inst.0)).all(|i| {
                let from = LLVMGetMaskValue(inst.0, i);
                from == i as i32 || from == undefined
            })
    }
}

/// Returns the components that an instruction replaces in its first operand.
unsafe fn parts(merge: Inst) -> Option<Vec<Part>> {
    // SAFETY: alive; operands and masks are those of the opcode.
    unsafe {
        match merge.opcode() {
            LLVMOpcode::LLVMInsertElement => {
                Some(vec![Part::Scalar(LLVMGetOperand(merge.0, 2), LLVMGetOperand(merge.0, 1))])
            }
            LLVMOpcode::LLVMShuffleVector => {
                let lanes = LLVMGetVectorSize(LLVMTypeOf(LLVMGetOperand(merge.0, 0)));
                if LLVMGetNumMaskElements(merge.0) != lanes {
                    return None;
                }
                let mut all = Vec::new();
                for lane in 0..lanes {
                    let from = u32::try_from(LLVMGetMaskValue(merge.0, lane)).ok()?;
                    if from >= lanes {
                        all.push(Part::Component(lane, LLVMGetOperand(merge.0, 1), from - lanes));
                    } else if from != lane {
                        return None;
                    }
                }
                Some(all)
            }
            _ => None,
        }
    }
}

fn rewrite(layout: LLVMTargetDataRef, merge: &Merge) {
    let store = merge.store;
    // SAFETY: alive; what goes has no other uses than by what went before it. The builder is disposed of.
    unsafe {
        let vector = LLVMTypeOf(LLVMGetOperand(store.0, 0));
        let context = LLVMGetTypeContext(vector);
        let (element, int) = (LLVMGetElementType(vector), LLVMInt32TypeInContext(context));
        let (pointer, align) = (LLVMGetOperand(store.0, 1), LLVMGetAlignment(store.0));
        let align = u64::from(align).min(LLVMStoreSizeOfType(layout, element)).max(1) as u32;
        let builder = LLVMCreateBuilderInContext(context);
        LLVMPositionBuilderBefore(builder, store.0);
        LLVMSetCurrentDebugLocation2(builder, LLVMInstructionGetDebugLoc(store.0));
        for part in &merge.parts {
            let (mut index, value) = match part {
                Part::Scalar(index, value) => (*index, *value),
                Part::Component(lane, vector, from) => {
                    let from = LLVMConstInt(int, u64::from(*from), 0);
                    let value = LLVMBuildExtractElement(builder, *vector, from, c"".as_ptr());
                    (LLVMConstInt(int, u64::from(*lane), 0), value)
                }
            };
            let place = LLVMBuildGEP2(builder, element, pointer, &mut index, 1, c"".as_ptr());
            let new = LLVMBuildStore(builder, value, place);
            LLVMSetAlignment(new, align);
            LLVMInstructionSetDebugLoc(new, LLVMInstructionGetDebugLoc(store.0));
        }
        LLVMDisposeBuilder(builder);
        LLVMInstructionEraseFromParent(store.0);
        for inst in &merge.dead {
            LLVMInstructionEraseFromParent(inst.0);
        }
    }
}
