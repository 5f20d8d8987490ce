//! Guards integer divisions against a zero divisor and against signed overflow: the divisor becomes 1 and the fault is
//! reported to the simulator.

use super::emit::Emitter;
use super::sites::Sites;
use crate::instrument::guard::guarded_instructions;
use crate::llvm::IntPredicate::{LLVMIntEQ, LLVMIntNE};
use crate::llvm::{Function, Inst};
use crate::lower::host::abi::hook;

/// A division to guard, with its site.
pub struct Division<'m> {
    inst: Inst<'m>,
    signed: bool,
    site: u32,
}

/// Finds all divisions whose divisor is not a harmless constant.
pub fn find<'m>(kernel: Function<'m>, sites: &mut Sites<'_, 'm>) -> Vec<Division<'m>> {
    let all = guarded_instructions::divisions(kernel).into_iter();
    all.map(|d| Division { inst: d.inst, signed: d.signed, site: sites.division(d.inst) }).collect()
}

/// Builds the guards in front of `divisions`.
pub fn weave<'m>(e: &Emitter<'m>, divisions: &[Division<'m>]) {
    let b = &e.builder;
    for division in divisions {
        let inst = division.inst;
        let (dividend, divisor) = (inst.operand(0), inst.operand(1));
        e.before(inst);
        let ty = divisor.ty();
        let mut bad = e.compare(LLVMIntEQ, divisor, ty.null());
        if division.signed {
            let minus = e.compare(LLVMIntEQ, divisor, ty.all_ones());
            let width = ty.scalar().int_width().expect("integers are divided");
            let least = ty.wide_int(1 << (width - 1).min(127));
            let lowest = e.compare(LLVMIntEQ, dividend, least);
            let both = b.and(minus, lowest, "");
            bad = b.or(bad, both, "");
        }
        inst.set_operand(1, b.select(bad, ty.int(1), divisor, ""));
        let any = match ty.lanes() {
            Some(lanes) => {
                let bits = e.view.int_type(lanes);
                let packed = b.bit_cast(bad, bits, "");
                e.compare(LLVMIntNE, packed, bits.null())
            }
            None => bad,
        };
        e.emit_if(inst, any, || {
            e.hook(hook::DIVISION, e.void(), &[e.const_i32(division.site)]);
        });
    }
}
