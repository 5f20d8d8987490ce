//! What libclc takes for granted of GPUs.
//!
//! It reads tables before it knows whether it needs what is there; an index out of range does no harm there. Here such an access goes to
//! the first element instead. And it converts floats to integers beyond the range of these, and counts on the greatest integer.

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

/// Lets conversions of floats to integers give the nearest integer that there is.
pub fn saturate(module: &Module<'_>, f: Function) {
    for inst in f.blocks().into_iter().flat_map(Block::instructions) {
        let name = match inst.opcode() {
            LLVMOpcode::LLVMFPToSI => "llvm.fptosi.sat",
            LLVMOpcode::LLVMFPToUI => "llvm.fptoui.sat",
            _ => continue,
        };
        // SAFETY: alive and a conversion, which is used no more after its replacement; the intrinsic has those two types.
        unsafe {
            let mut value = LLVMGetOperand(inst.0, 0);
            let mut types = [LLVMTypeOf(inst.0), LLVMTypeOf(value)];
            let id = LLVMLookupIntrinsicID(name.as_ptr().cast(), name.len());
            let callee = LLVMGetIntrinsicDeclaration(module.as_mut_ptr(), id, types.as_mut_ptr(), 2);
            let context = LLVMGetModuleContext(module.as_mut_ptr());
            let ty = LLVMIntrinsicGetType(context, id, types.as_mut_ptr(), 2);
            let builder = LLVMCreateBuilderInContext(context);
            LLVMPositionBuilderBefore(builder, inst.0);
            let saturated = LLVMBuildCall2(builder, ty, callee, &mut value, 1, c"".as_ptr());
            LLVMDisposeBuilder(builder);
            LLVMReplaceAllUsesWith(inst.0, saturated);
            LLVMInstructionEraseFromParent(inst.0);
        }
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
