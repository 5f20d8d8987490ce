//! Guards integer divisions against a zero divisor and against signed overflow: the divisor becomes 1 and the fault is
//! reported to the simulator.

use llvm_sys::LLVMIntPredicate::{LLVMIntEQ, LLVMIntNE};
use llvm_sys::core::*;
use llvm_sys::prelude::*;

use super::emit::Emitter;
use super::sites::Sites;
use super::values::is_vector;
use crate::instrument::guard::guarded_instructions;
use crate::kernel::ir::{Function, Inst};
use crate::lower::host::abi::hook;

/// A division to guard, with its site.
pub struct Division {
    inst: Inst,
    signed: bool,
    site: u32,
}

/// Finds all divisions whose divisor is not a harmless constant.
pub fn find(kernel: Function, sites: &mut Sites<'_>) -> Vec<Division> {
    let all = guarded_instructions::divisions(kernel).into_iter();
    all.map(|d| Division { inst: d.inst, signed: d.signed, site: sites.division(d.inst) }).collect()
}

/// Builds the guards in front of `divisions`.
pub fn weave(e: &Emitter<'_, '_>, divisions: &[Division]) {
    for division in divisions {
        let inst = division.inst;
        let operands = inst.operands();
        e.before(inst);
        // SAFETY: alive; constants are of the operands' type.
        unsafe {
            let b = e.builder;
            let ty = LLVMTypeOf(operands[1]);
            let lanes = if is_vector(ty) { LLVMGetVectorSize(ty) } else { 1 };
            let element = if is_vector(ty) { LLVMGetElementType(ty) } else { ty };
            let all = |one: LLVMValueRef| match is_vector(ty) {
                true => LLVMConstVector(vec![one; lanes as usize].as_mut_ptr(), lanes),
                false => one,
            };
            let mut bad = e.compare(LLVMIntEQ, operands[1], LLVMConstNull(ty));
            if division.signed {
                let minus = e.compare(LLVMIntEQ, operands[1], LLVMConstAllOnes(ty));
                let lowest = e.compare(LLVMIntEQ, operands[0], all(least(element)));
                let both = LLVMBuildAnd(b, minus, lowest, c"".as_ptr());
                bad = LLVMBuildOr(b, bad, both, c"".as_ptr());
            }
            let one = all(LLVMConstInt(element, 1, 0));
            LLVMSetOperand(inst.0, 1, LLVMBuildSelect(b, bad, one, operands[1], c"".as_ptr()));
            let any = match is_vector(ty) {
                true => {
                    let bits = LLVMIntTypeInContext(e.context, lanes);
                    let packed = LLVMBuildBitCast(b, bad, bits, c"".as_ptr());
                    e.compare(LLVMIntNE, packed, LLVMConstNull(bits))
                }
                false => bad,
            };
            e.emit_if(inst, any, || {
                e.hook(hook::DIVISION, e.void(), &[e.const_i32(division.site)]);
            });
        }
    }
}

/// Returns the smallest value of a signed integer type.
unsafe fn least(ty: LLVMTypeRef) -> LLVMValueRef {
    // SAFETY: alive; two words hold up to 128 bits.
    unsafe {
        let bits = 1u128 << (LLVMGetIntTypeWidth(ty) - 1).min(127);
        LLVMConstIntOfArbitraryPrecision(ty, 2, [bits as u64, (bits >> 64) as u64].as_ptr())
    }
}
