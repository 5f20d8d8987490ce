//! Guards integer divisions against a zero divisor and against signed overflow: the divisor becomes 1, and a
//! fault is recorded.
//!
//! Until the guards are woven, no pass may see a divisor that is zero on some path: it could assume that the path is
//! never taken, or that the result is arbitrary.

use inkwell::module::Module;
use llvm_sys::LLVMIntPredicate::LLVMIntEQ;
use llvm_sys::LLVMTypeKind;
use llvm_sys::core::*;
use llvm_sys::prelude::*;

use super::emit::Emitter;
use super::guarded_instructions::{self, Division};
use crate::error::Result;
use crate::kernel::ir;

/// Prefix of the functions that hide divisors, one for each type.
const HIDDEN: &str = "__kassay_divisor.";

/// Hides the divisors of all divisions that are to be guarded behind calls of functions without a definition.
pub fn hide(module: &Module<'_>) {
    let functions = ir::functions(module).into_iter().filter(|f| f.has_body());
    let divisions: Vec<Division> = functions.flat_map(guarded_instructions::divisions).collect();
    // SAFETY: the module is alive; each function takes and returns the divisor's type. The builder is disposed of.
    unsafe {
        let raw = module.as_mut_ptr();
        let builder = LLVMCreateBuilderInContext(LLVMGetModuleContext(raw));
        for division in divisions {
            let inst = division.inst;
            let mut divisor = inst.operands()[1];
            let mut ty = LLVMTypeOf(divisor);
            let name = format!("{HIDDEN}{}", ir::take_message(LLVMPrintTypeToString(ty)));
            let of = LLVMFunctionType(ty, &mut ty, 1, 0);
            let hider = ir::function(module, &name)
                .map_or_else(|| LLVMAddFunction(raw, format!("{name}\0").as_ptr().cast(), of), |known| known.0);
            LLVMPositionBuilderBefore(builder, inst.0);
            LLVMSetOperand(inst.0, 1, LLVMBuildCall2(builder, of, hider, &mut divisor, 1, c"".as_ptr()));
        }
        LLVMDisposeBuilder(builder);
    }
}

/// Undoes [`hide`].
pub fn reveal(module: &Module<'_>) {
    for hider in ir::functions(module).into_iter().filter(|f| f.name().starts_with(HIDDEN)) {
        // SAFETY: alive; only calls use the function. A call is erased once nothing uses it.
        unsafe {
            let mut next = LLVMGetFirstUse(hider.0);
            while !next.is_null() {
                let call = LLVMGetUser(next);
                LLVMReplaceAllUsesWith(call, LLVMGetOperand(call, 0));
                LLVMInstructionEraseFromParent(call);
                next = LLVMGetFirstUse(hider.0);
            }
            LLVMDeleteFunction(hider.0);
        }
    }
}

/// Guards one division; `code` is the fault that is recorded.
pub fn guard(emitter: &Emitter<'_, '_>, division: &Division, code: u32) -> Result<()> {
    let fault_if = emitter.runtime("__kassay_fault_if")?;
    let inst = division.inst;
    let operands = inst.operands();
    let (dividend, divisor) = (operands[0], operands[1]);
    emitter.before(inst.0);
    // SAFETY: alive; constants are of the operands' type, lanes below their count.
    unsafe {
        let b = emitter.builder;
        let ty = LLVMTypeOf(divisor);
        let is_vector = LLVMGetTypeKind(ty) == LLVMTypeKind::LLVMVectorTypeKind;
        let lanes = if is_vector { LLVMGetVectorSize(ty) } else { 1 };
        let element = if is_vector { LLVMGetElementType(ty) } else { ty };
        let constant = |one: LLVMValueRef| match is_vector {
            true => LLVMConstVector(vec![one; lanes as usize].as_mut_ptr(), lanes),
            false => one,
        };
        let mut bad = LLVMBuildICmp(b, LLVMIntEQ, divisor, LLVMConstNull(ty), c"".as_ptr());
        if division.signed {
            let width = LLVMGetIntTypeWidth(element);
            let least = least_value(element, width);
            let minus = LLVMBuildICmp(b, LLVMIntEQ, divisor, LLVMConstAllOnes(ty), c"".as_ptr());
            let lowest = LLVMBuildICmp(b, LLVMIntEQ, dividend, constant(least), c"".as_ptr());
            let both = LLVMBuildAnd(b, minus, lowest, c"".as_ptr());
            bad = LLVMBuildOr(b, bad, both, c"".as_ptr());
        }
        let mut any = bad;
        if is_vector {
            let lane = |i: u32| LLVMBuildExtractElement(b, bad, emitter.const_i32(i), c"".as_ptr());
            any = lane(0);
            for i in 1..lanes {
                any = LLVMBuildOr(b, any, lane(i), c"".as_ptr());
            }
        }
        let safe = LLVMBuildSelect(b, bad, constant(LLVMConstInt(element, 1, 0)), divisor, c"".as_ptr());
        let any = emitter.bool_to_int(any);
        emitter.call(fault_if, &mut [emitter.fault, any, emitter.const_i32(code)]);
        LLVMSetOperand(inst.0, 1, safe);
    }
    Ok(())
}

/// Returns the smallest value of a signed integer type of this width in bits.
unsafe fn least_value(element: LLVMTypeRef, width: u32) -> LLVMValueRef {
    // SAFETY: alive; two words hold up to 128 bits.
    unsafe {
        let bits = 1u128 << (width - 1).min(127);
        LLVMConstIntOfArbitraryPrecision(element, 2, [bits as u64, (bits >> 64) as u64].as_ptr())
    }
}
