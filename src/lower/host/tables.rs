//! Tables and variables of builtins, read where they are.
//!
//! libclc reads tables before it knows whether it needs what is there; on a GPU an index out of range then does no harm. Here such
//! an access goes to the first element instead.

use inkwell::module::Module;
use llvm_sys::core::*;
use llvm_sys::prelude::*;
use llvm_sys::target::{LLVMABISizeOfType, LLVMGetModuleDataLayout, LLVMStoreSizeOfType};
use llvm_sys::{LLVMIntPredicate, LLVMOpcode};

use crate::kernel::ir::{self, Block, Function, Inst};

/// Confines every access of `f` to a global or local variable whose address is computed.
pub fn confine(module: &Module<'_>, f: Function) {
    for inst in f.blocks().into_iter().flat_map(Block::instructions) {
        let (position, accessed) = match inst.opcode() {
            // SAFETY: alive.
            LLVMOpcode::LLVMLoad => (0, unsafe { LLVMTypeOf(inst.0) }),
            // SAFETY: alive; a store's first operand is what it stores.
            LLVMOpcode::LLVMStore => (1, unsafe { LLVMTypeOf(LLVMGetOperand(inst.0, 0)) }),
            _ => continue,
        };
        let pointer = inst.operands()[position];
        let Some((variable, ty)) = computed(pointer) else { continue };
        // SAFETY: the layout belongs to the module; types are alive and sized.
        let (has, needs) = unsafe {
            let layout = LLVMGetModuleDataLayout(module.as_mut_ptr());
            (LLVMABISizeOfType(layout, ty), LLVMStoreSizeOfType(layout, accessed))
        };
        // SAFETY: the instruction is alive, and its pointer is used there.
        unsafe { guard(inst, position as u32, pointer, variable, has.saturating_sub(needs)) };
    }
}

/// The variable that a pointer is computed from, if it is an instruction that steps from one; with the variable's type.
fn computed(pointer: LLVMValueRef) -> Option<(LLVMValueRef, LLVMTypeRef)> {
    let mut inst = ir::as_instruction(pointer)?;
    let mut steps = false;
    loop {
        match inst.opcode() {
            LLVMOpcode::LLVMGetElementPtr => steps = true,
            LLVMOpcode::LLVMAddrSpaceCast => {}
            // SAFETY: alive and an allocation.
            LLVMOpcode::LLVMAlloca => return steps.then(|| (inst.0, unsafe { LLVMGetAllocatedType(inst.0) })),
            _ => return None,
        }
        let base = inst.operands()[0];
        // SAFETY: alive; a global variable has a type.
        if unsafe { !LLVMIsAGlobalVariable(base).is_null() } {
            return steps.then(|| (base, unsafe { LLVMGlobalGetValueType(base) }));
        }
        inst = ir::as_instruction(base)?;
    }
}

/// Lets `inst` access the variable's beginning if the pointer is further than `last` bytes behind it.
///
/// # Safety
/// `inst` must be alive and have the pointer at that position.
unsafe fn guard(inst: Inst, position: u32, pointer: LLVMValueRef, variable: LLVMValueRef, last: u64) {
    // SAFETY: see above; what is built stands before the instruction.
    unsafe {
        let ty = LLVMTypeOf(pointer);
        let context = LLVMGetTypeContext(ty);
        let builder = LLVMCreateBuilderInContext(context);
        LLVMPositionBuilderBefore(builder, inst.0);
        let word = LLVMInt64TypeInContext(context);
        let begin = LLVMBuildPtrToInt(builder, variable, word, c"".as_ptr());
        let here = LLVMBuildPtrToInt(builder, pointer, word, c"".as_ptr());
        let offset = LLVMBuildSub(builder, here, begin, c"".as_ptr());
        let limit = LLVMConstInt(word, last, 0);
        let within = LLVMBuildICmp(builder, LLVMIntPredicate::LLVMIntULE, offset, limit, c"".as_ptr());
        let first = if LLVMTypeOf(variable) == ty {
            variable
        } else {
            LLVMBuildAddrSpaceCast(builder, variable, ty, c"".as_ptr())
        };
        let confined = LLVMBuildSelect(builder, within, pointer, first, c"".as_ptr());
        LLVMSetOperand(inst.0, position, confined);
        LLVMDisposeBuilder(builder);
    }
}
