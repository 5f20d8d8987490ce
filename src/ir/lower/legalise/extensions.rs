//! Spells out extensions by zeros of what was just cut or extended by its sign.
//!
//! LLVM 22's SPIR-V backend joins the two casts to a mask and forgets to change the width: the operands of its
//! `OpBitwiseAnd` are of different types, or, of vectors, it ends.

use std::collections::HashSet;

use crate::llvm::{Inst, Opcode, View};

/// Rewrites all of these in a module.
pub fn rewrite(view: View<'_>) {
    let builder = view.builder();
    let mut casts: HashSet<Inst<'_>> = HashSet::new();
    for extension in view.instructions().into_iter().filter(|inst| inst.is(Opcode::LLVMZExt)) {
        let middle = extension.operand(0);
        let is_cast = |inst: &Inst<'_>| matches!(inst.opcode(), Opcode::LLVMTrunc | Opcode::LLVMSExt);
        let Some(cast) = middle.as_instruction().filter(is_cast) else { continue };
        let Some(bits) = middle.ty().scalar().int_width().filter(|bits| (2..64).contains(bits)) else { continue };
        builder.before(extension);
        let (given, ty) = (cast.operand(0), extension.ty());
        let whole = builder.int_cast(given, ty, cast.is(Opcode::LLVMSExt), "");
        let masked = builder.and(whole, ty.int((1 << bits) - 1), &extension.value().name());
        extension.replace_uses(masked);
        casts.extend([extension, cast]);
    }
    drop(builder);
    // Extensions first, which use what they extend.
    let mut unused: Vec<Inst<'_>> = casts.into_iter().collect();
    unused.sort_by_key(|inst| !inst.is(Opcode::LLVMZExt));
    for inst in unused {
        if !inst.is_used() {
            inst.erase();
        }
    }
}
