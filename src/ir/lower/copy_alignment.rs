//! Gives the two sides of a copy of memory one alignment, that of the lesser one: OpCopyMemorySized has one for both
//! before version 1.4 of SPIR-V, and LLVM 22's backend takes the destination's, which the source need not have.

use inkwell::module::Module;

use crate::llvm::{AttributeIndex, View};

/// Lowers the greater alignment of all copies of the module.
pub fn unify(module: &Module<'_>) {
    for call in View::of(module).instructions() {
        let is_copy = |name: String| name.starts_with("llvm.memcpy.") || name.starts_with("llvm.memmove.");
        if !call.callee().is_some_and(is_copy) {
            continue;
        }
        let sides = [0, 1].map(|side| call.attributes(AttributeIndex::Parameter(side)));
        let of = |side: usize| sides[side].get("align").and_then(|align| align.number()).unwrap_or(1);
        let least = of(0).min(of(1));
        for side in sides {
            side.remove("align");
            side.add_number("align", least);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::rewriting::rewritten;
    use super::*;

    #[test]
    fn both_sides_have_the_lesser_alignment() {
        let text = rewritten(
            unify,
            "declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
            define void @k(ptr %a, ptr %b) {
                call void @llvm.memcpy.p0.p0.i64(ptr align 8 %a, ptr align 4 %b, i64 20, i1 false)
                call void @llvm.memcpy.p0.p0.i64(ptr align 8 %a, ptr %b, i64 20, i1 false)
                ret void
            }",
        );
        assert!(text.contains("(ptr align 4 %a, ptr align 4 %b,"), "{text}");
        assert!(text.contains("(ptr align 1 %a, ptr align 1 %b,"), "{text}");
    }
}
