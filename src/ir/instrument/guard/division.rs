//! Guards integer divisions against a zero divisor and against signed overflow: the divisor becomes 1, and a
//! fault is recorded.
//!
//! Until the guards are woven, no pass may see a divisor that is zero on some path: it could assume that the path is
//! never taken, or that the result is arbitrary. Nor may it see the dividend: it could conclude from a zero that the
//! quotient is zero, whatever the divisor.

use inkwell::module::Module;
use kassay_base::error::Result;

use super::emit::Emitter;
use super::guarded_instructions::{self, Division};
use crate::llvm::{Builder, IntPredicate, Value, View};

/// Prefix of the functions that hide operands of divisions, one for each type.
const HIDDEN: &str = "__kassay_divisor.";

/// Hides the operands of all divisions that are to be guarded: they become calls of functions without a definition.
pub fn hide(module: &Module<'_>) {
    let view = View::of(module);
    let functions = view.functions().into_iter().filter(|f| f.has_body());
    let divisions: Vec<Division> = functions.flat_map(guarded_instructions::divisions).collect();
    let builder = view.builder();
    for Division { inst, .. } in divisions {
        for (index, operand) in [(0, inst.operand(0)), (1, inst.operand(1))] {
            let ty = operand.ty();
            let hider = view.function_or_declared(&format!("{HIDDEN}{}", ty.text()), ty.function(&[ty], false));
            builder.before(inst);
            inst.set_operand(index, builder.call(hider, &[operand], ""));
        }
    }
}

/// Undoes [`hide`].
pub fn reveal(module: &Module<'_>) {
    for hider in View::of(module).functions().into_iter().filter(|f| f.name().starts_with(HIDDEN)) {
        for call in hider.value().user_instructions() {
            call.replace_and_erase(call.operand(0));
        }
        // SAFETY: its calls are gone, it has no body, and its handle is not used again.
        unsafe { hider.delete() };
    }
}

/// Builds whether a division is undefined, for each lane: the divisor is 0, or the least number is divided by -1.
pub fn is_undefined<'m>(b: &Builder<'m>, division: &Division<'m>) -> Value<'m> {
    let (dividend, divisor) = (division.inst.operand(0), division.inst.operand(1));
    let ty = divisor.ty();
    let is_zero = b.icmp(IntPredicate::LLVMIntEQ, divisor, ty.null(), "");
    if !division.signed {
        return is_zero;
    }
    let bits = ty.scalar().int_width().expect("integers are divided");
    let least = ty.wide_int(1 << (bits - 1).min(127));
    let minus = b.icmp(IntPredicate::LLVMIntEQ, divisor, ty.all_ones(), "");
    let lowest = b.icmp(IntPredicate::LLVMIntEQ, dividend, least, "");
    let overflows = b.and(minus, lowest, "");
    b.or(is_zero, overflows, "")
}

/// Guards one division; `code` is the fault that is recorded.
pub fn guard<'m>(emitter: &Emitter<'m>, division: &Division<'m>, code: u32) -> Result<()> {
    let fault_if = emitter.runtime("__kassay_fault_if")?;
    let inst = division.inst;
    let divisor = inst.operand(1);
    let b = &emitter.builder;
    b.before(inst);
    let bad = is_undefined(b, division);
    let any = b.any(bad);
    let safe = b.select(bad, divisor.ty().int(1), divisor, "");
    let any = emitter.bool_to_int(any);
    emitter.call(fault_if, &[emitter.fault.value(), any, emitter.const_i32(code)]);
    inst.set_operand(1, safe);
    Ok(())
}
