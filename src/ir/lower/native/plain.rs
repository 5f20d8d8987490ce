//! Removes everything that allows an optimiser to assume that something does not happen: attributes that assert
//! values, progress or the absence of effects, flags that produce poison, metadata.
//!
//! The purpose of the simulator is to observe what a kernel does wrong. The result must not depend on how an optimiser
//! treats the error.

use crate::llvm::assumptions::Holder;
use crate::llvm::{Function, Inst, Opcode, View};

/// Removes all attributes from a function and its calls except those that describe how arguments are passed; the
/// calling convention becomes C's.
pub fn strip_function(f: Function<'_>) {
    if f.name().starts_with("llvm.") {
        return;
    }
    f.set_call_conv(0);
    f.clear_gc();
    Holder::Function(f).drop_all();
    for inst in f.instructions().into_iter().filter(|i| i.is_call()) {
        if inst.callee().is_some_and(|name| name.starts_with("llvm.")) {
            continue;
        }
        inst.set_call_conv(0);
        Holder::Call(inst).drop_all();
    }
}

/// Freezes the result of an instruction that is poison for some operands (conversion of a float that is out of range, a
/// shift by too much, an index beyond a vector's components), so that it is the same arbitrary value in all uses.
pub fn freeze_result<'m>(view: View<'m>, inst: Inst<'m>) {
    use Opcode::*;
    let is_variable = |i: u32| !inst.operand(i).is_constant();
    let may_be_poison = match inst.opcode() {
        LLVMFPToSI | LLVMFPToUI => true,
        LLVMShl | LLVMLShr | LLVMAShr | LLVMExtractElement => is_variable(1),
        LLVMInsertElement => is_variable(2),
        _ => false,
    };
    if !may_be_poison {
        return;
    }
    let builder = view.builder();
    builder.after(inst);
    let frozen = builder.freeze(inst, "").as_instruction().expect("a frozen value is an instruction");
    inst.replace_uses(frozen);
    frozen.set_operand(0, inst);
}

/// Removes flags that produce poison, and all metadata, from an instruction.
pub fn strip_instruction(inst: Inst<'_>) {
    inst.drop_poison_flags();
    if inst.is_call() {
        inst.set_tail_call(false);
    }
    inst.drop_metadata();
}
