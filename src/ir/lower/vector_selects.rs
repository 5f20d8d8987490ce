//! Gives selects between vectors a condition in each lane: before version 1.4, SPIR-V's OpSelect chooses between
//! vectors lane by lane only.

use inkwell::module::Module;

use crate::llvm::{Inst, Opcode, View};

/// Rewrites all selects between vectors whose condition is a single one.
pub fn widen(module: &Module<'_>) {
    let view = View::of(module);
    let selects = view.instructions().into_iter().filter(|inst| inst.is(Opcode::LLVMSelect) && chooses_whole(*inst));
    let selects: Vec<Inst<'_>> = selects.collect();
    for select in selects {
        let builder = view.builder();
        builder.before(select);
        let condition = builder.splat(select.operand(0), select.value().ty());
        let new = builder.select(condition, select.operand(1), select.operand(2), "");
        drop(builder);
        select.replace_and_erase(new);
    }
}

fn chooses_whole(select: Inst<'_>) -> bool {
    select.value().ty().lanes().is_some() && select.operand(0).ty().lanes().is_none()
}
