//! Makes masks of numbers that are cut and widened again (`(uint)(ushort)x`): LLVM 22's SPIR-V backend makes the same
//! of them, but leaves the number as wide as it was where it is wider than the result.

use inkwell::module::Module;

use crate::llvm::{Inst, Opcode, View};

/// Rewrites all extensions by zeros of what a truncation gives.
pub fn mask(module: &Module<'_>) {
    let view = View::of(module);
    for wide in view.instructions().into_iter().filter(|inst| inst.is(Opcode::LLVMZExt)) {
        let Some(cut) = wide.operand(0).as_opcode(Opcode::LLVMTrunc) else { continue };
        let (from, to) = (cut.operand(0), wide.ty());
        let bits = |inst: Inst<'_>| inst.ty().scalar().bits();
        let (Some(kept), Some(all), Some(given)) = (bits(cut), bits(wide), from.ty().scalar().bits()) else { continue };
        let (true, true) = (kept < u64::from(u64::BITS), given <= u64::from(u64::BITS)) else { continue };
        let builder = view.builder();
        builder.before(wide);
        let mask = (1 << kept) - 1;
        // What is masked is the narrower one.
        let new = if given > all {
            let narrow = builder.trunc(from, to, "");
            builder.and(narrow, builder.splat(to.scalar().int(mask), to), "")
        } else {
            let masked = builder.and(from, builder.splat(from.ty().scalar().int(mask), from.ty()), "");
            if given == all { masked } else { builder.zext(masked, to, "") }
        };
        drop(builder);
        wide.replace_and_erase(new);
        if !cut.value().is_used() {
            cut.erase();
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::lower::rewriting::rewritten;

    #[test]
    fn what_is_cut_and_widened_is_masked() {
        let text = "define void @k(i64 %x, <4 x i32> %v, ptr %to) {
  %cut = trunc i64 %x to i16
  %wide = zext i16 %cut to i32
  store i32 %wide, ptr %to
  %same = zext i16 %cut to i64
  store i64 %same, ptr %to
  %bits = trunc <4 x i32> %v to <4 x i1>
  %widest = zext <4 x i1> %bits to <4 x i64>
  store <4 x i64> %widest, ptr %to
  ret void
}
";
        let after = rewritten(super::mask, text);
        for expected in [
            "trunc i64 %x to i32",
            "and i32 %1, 65535",
            "and i64 %x, 65535",
            "and <4 x i32> %v, splat (i32 1)",
            "zext <4 x i32>",
        ] {
            assert!(after.contains(expected), "{expected} is not in {after}");
        }
        assert!(!after.contains("i16"), "{after}");
    }
}
