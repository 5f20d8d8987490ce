//! Gathers the variables of the entry block.

use crate::llvm::{Function, Inst, Opcode};

/// Moves the variables of the entry block to its beginning. The block is split later, and an `alloca` outside the entry
/// block is not part of the fixed frame.
pub fn gather_variables(kernel: Function<'_>) {
    let is_variable = |i: &Inst<'_>| i.is(Opcode::LLVMAlloca) && i.operand(0).is_constant_int();
    let all = kernel.entry().instructions();
    let Some(first) = all.iter().find(|i| !is_variable(i)).copied() else { return };
    // The number of elements is a constant, so nothing that stands before them is needed.
    for variable in all.into_iter().skip_while(|i| *i != first).filter(is_variable) {
        variable.move_before(first);
    }
}
