//! Removes assumptions of libclc that only hold on GPUs.
//!
//! libclc reads tables before it knows whether it needs the value, since an index out of range does no harm on a GPU;
//! here, such an access goes to the first element instead. It also converts floats that are out of an integer type's
//! range and relies on getting the largest integer.

use inkwell::module::Module;
use llvm_sys::core::*;
use llvm_sys::prelude::*;
use llvm_sys::target::{LLVMABISizeOfType, LLVMGetModuleDataLayout, LLVMStoreSizeOfType};
use llvm_sys::{LLVMIntPredicate, LLVMOpcode};

use crate::kernel::ir::{self, Block, Function, Inst};

/// Confines every access of `f` to a variable, program-scope or local to the function, whose address is computed.
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
        let Some((variable, ty)) = indexed_variable(pointer) else { continue };
        // SAFETY: the layout belongs to the module; types are alive and sized.
        let (has, needs) = unsafe {
            let layout = LLVMGetModuleDataLayout(module.as_mut_ptr());
            (LLVMABISizeOfType(layout, ty), LLVMStoreSizeOfType(layout, accessed))
        };
        // SAFETY: the instruction is alive, and its pointer is used there.
        unsafe { guard(inst, position as u32, pointer, variable, has.saturating_sub(needs)) };
    }
}

/// Makes conversions of floats to integers saturate.
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

/// Returns the variable that a pointer is computed from by address arithmetic, with the variable's type.
fn indexed_variable(pointer: LLVMValueRef) -> Option<(LLVMValueRef, LLVMTypeRef)> {
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

/// Makes `inst` access the variable's first element if the pointer is more than `last` bytes behind its beginning.
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
