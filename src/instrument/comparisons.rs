//! Reports the operands of comparisons: before every comparison and `switch`, a call passes them to the simulator, so
//! that an input search can compute the branch distance of decisions that have only gone one way.
//!
//! A comparison is identified by its number in the canonical form; each case of a `switch` counts as one.

use inkwell::module::Module;
use llvm_sys::LLVMIntPredicate::{self, *};
use llvm_sys::LLVMOpcode;
use llvm_sys::LLVMRealPredicate::{self, *};
use llvm_sys::LLVMTypeKind;
use llvm_sys::core::*;
use llvm_sys::debuginfo::*;
use llvm_sys::prelude::*;

use crate::error::Result;
use crate::kernel::canonical;
use crate::kernel::ir::{self, Inst};
use crate::lower::host::abi::{comparison, placeholder};

/// Maximum number of cases reported per `switch`; one with more is considered a table, and only its first
/// cases are reported.
const MAX_CASES: u32 = 64;
/// Maximum number of vector components reported per comparison.
const MAX_COMPONENTS: u32 = 16;

/// Comparisons of a module in canonical form, found before anything is woven into it.
pub struct Comparisons(Vec<Comparison>);

struct Comparison {
    inst: Inst,
    kind: u32,
    swapped: bool,
    /// For a `switch`: the value of the case.
    case: Option<LLVMValueRef>,
}

impl Comparisons {
    /// Finds all comparisons in functions with a body, in the module's order.
    pub fn find(module: &Module<'_>) -> Comparisons {
        let mut all = Vec::new();
        for function in ir::functions(module) {
            for inst in function.blocks().into_iter().flat_map(ir::Block::instructions) {
                all.extend(comparisons_of(inst));
            }
        }
        Comparisons(all)
    }

    /// Number of comparisons; they are numbered from 0.
    pub fn count(&self) -> u32 {
        self.0.len() as u32
    }

    /// Inserts the calls into the module. Other passes may have run since [`find`](Comparisons::find) if they left the
    /// comparisons themselves in place.
    ///
    /// # Errors
    /// `Internal` if the woven module does not verify.
    pub fn weave(&self, module: &Module<'_>) -> Result<()> {
        // SAFETY: the module and its context are alive; so are the instructions, of which the builder's place is always one; the
        // builder is disposed of.
        unsafe {
            let context = LLVMGetModuleContext(module.as_mut_ptr());
            let builder = LLVMCreateBuilderInContext(context);
            let (int, long) = (LLVMInt32TypeInContext(context), LLVMInt64TypeInContext(context));
            let mut types = [int, int, long, long];
            let ty = LLVMFunctionType(LLVMVoidTypeInContext(context), types.as_mut_ptr(), 4, 0);
            let name = std::ffi::CString::new(placeholder::COMPARISON).unwrap_or_default();
            let callee = LLVMAddFunction(module.as_mut_ptr(), name.as_ptr(), ty);
            for (number, comparison) in (0u64..).zip(&self.0) {
                LLVMPositionBuilderBefore(builder, comparison.inst.0);
                LLVMSetCurrentDebugLocation2(builder, location(context, comparison.inst));
                let (mut a, mut b) = (
                    LLVMGetOperand(comparison.inst.0, 0),
                    comparison.case.unwrap_or_else(|| LLVMGetOperand(comparison.inst.0, 1)),
                );
                if comparison.swapped {
                    std::mem::swap(&mut a, &mut b);
                }
                let lanes = lanes(LLVMTypeOf(a));
                for lane in 0..lanes.unwrap_or(1).min(MAX_COMPONENTS) {
                    let bits = |value: LLVMValueRef| {
                        let value = match lanes {
                            Some(_) => {
                                let lane = LLVMConstInt(int, u64::from(lane), 0);
                                LLVMBuildExtractElement(builder, value, lane, c"".as_ptr())
                            }
                            None => value,
                        };
                        let width = comparison.kind >> comparison::WIDTH;
                        let integer = LLVMIntTypeInContext(context, width);
                        let value = LLVMBuildBitCast(builder, value, integer, c"".as_ptr());
                        LLVMBuildIntCast2(builder, value, long, 0, c"".as_ptr())
                    };
                    let kind = LLVMConstInt(int, u64::from(comparison.kind), 0);
                    let mut arguments = [LLVMConstInt(int, number, 0), kind, bits(a), bits(b)];
                    LLVMBuildCall2(builder, ty, callee, arguments.as_mut_ptr(), 4, c"".as_ptr());
                }
            }
            LLVMDisposeBuilder(builder);
        }
        canonical::verify(module, "weaving comparisons")
    }
}

/// Returns the debug location of an instruction; if it has none, line 0 of its function, or null
/// without debug information.
unsafe fn location(context: LLVMContextRef, inst: Inst) -> LLVMMetadataRef {
    // SAFETY: alive.
    unsafe {
        let own = LLVMInstructionGetDebugLoc(inst.0);
        if !own.is_null() {
            return own;
        }
        let function = LLVMGetBasicBlockParent(LLVMGetInstructionParent(inst.0));
        let scope = LLVMGetSubprogram(function);
        if scope.is_null() {
            return std::ptr::null_mut();
        }
        LLVMDIBuilderCreateDebugLocation(context, 0, 0, scope, std::ptr::null_mut())
    }
}

fn comparisons_of(inst: Inst) -> Vec<Comparison> {
    // SAFETY: alive; each question is asked of the instructions that have an answer.
    unsafe {
        match inst.opcode() {
            LLVMOpcode::LLVMICmp => {
                let (relation, swapped) = integers(LLVMGetICmpPredicate(inst.0));
                width(LLVMTypeOf(LLVMGetOperand(inst.0, 0)), LLVMTypeKind::LLVMIntegerTypeKind)
                    // Comparisons of `i1` only test the result of another one.
                    .filter(|width| *width > 1)
                    .map(|width| Comparison { inst, kind: relation | width << comparison::WIDTH, swapped, case: None })
                    .into_iter()
                    .collect()
            }
            LLVMOpcode::LLVMFCmp => {
                let Some((relation, swapped)) = floats(LLVMGetFCmpPredicate(inst.0)) else { return Vec::new() };
                let ty = LLVMTypeOf(LLVMGetOperand(inst.0, 0));
                let kinds =
                    [LLVMTypeKind::LLVMHalfTypeKind, LLVMTypeKind::LLVMFloatTypeKind, LLVMTypeKind::LLVMDoubleTypeKind];
                let width = kinds.into_iter().find_map(|kind| width(ty, kind));
                let kind = |width| relation | comparison::FLOAT | width << comparison::WIDTH;
                width.map(|width| Comparison { inst, kind: kind(width), swapped, case: None }).into_iter().collect()
            }
            LLVMOpcode::LLVMSwitch => {
                let ty = LLVMTypeOf(LLVMGetOperand(inst.0, 0));
                let Some(width) = width(ty, LLVMTypeKind::LLVMIntegerTypeKind) else { return Vec::new() };
                let kind = comparison::EQUAL | width << comparison::WIDTH;
                let cases = (1..LLVMGetNumSuccessors(inst.0)).take(MAX_CASES as usize);
                cases
                    .map(|i| Comparison { inst, kind, swapped: false, case: Some(LLVMGetSwitchCaseValue(inst.0, i)) })
                    .collect()
            }
            _ => Vec::new(),
        }
    }
}

fn lanes(ty: LLVMTypeRef) -> Option<u32> {
    // SAFETY: alive; asked of vectors only.
    unsafe { (LLVMGetTypeKind(ty) == LLVMTypeKind::LLVMVectorTypeKind).then(|| LLVMGetVectorSize(ty)) }
}

/// Returns the width in bits of a scalar of this kind, or of a vector's components; `None` above 64.
fn width(ty: LLVMTypeRef, kind: LLVMTypeKind) -> Option<u32> {
    // SAFETY: alive; asked of types that have an answer.
    unsafe {
        let element = if lanes(ty).is_some() { LLVMGetElementType(ty) } else { ty };
        if LLVMGetTypeKind(element) != kind {
            return None;
        }
        let width = match kind {
            LLVMTypeKind::LLVMHalfTypeKind => 16,
            LLVMTypeKind::LLVMFloatTypeKind => 32,
            LLVMTypeKind::LLVMDoubleTypeKind => 64,
            _ => LLVMGetIntTypeWidth(element),
        };
        (width <= 64).then_some(width)
    }
}

/// Returns the relation, and whether the operands are to be swapped.
fn integers(predicate: LLVMIntPredicate) -> (u32, bool) {
    use comparison::{EQUAL, LESS, NOT_LESS, SIGNED, UNEQUAL};
    match predicate {
        LLVMIntEQ => (EQUAL, false),
        LLVMIntNE => (UNEQUAL, false),
        LLVMIntULT => (LESS, false),
        LLVMIntUGT => (LESS, true),
        LLVMIntUGE => (NOT_LESS, false),
        LLVMIntULE => (NOT_LESS, true),
        LLVMIntSLT => (LESS | SIGNED, false),
        LLVMIntSGT => (LESS | SIGNED, true),
        LLVMIntSGE => (NOT_LESS | SIGNED, false),
        LLVMIntSLE => (NOT_LESS | SIGNED, true),
    }
}

/// As [`integers`]; `None` for predicates that only test for NaN. Ordered and unordered predicates
/// are not distinguished.
fn floats(predicate: LLVMRealPredicate) -> Option<(u32, bool)> {
    use comparison::{EQUAL, LESS, NOT_LESS, UNEQUAL};
    Some(match predicate {
        LLVMRealOEQ | LLVMRealUEQ => (EQUAL, false),
        LLVMRealONE | LLVMRealUNE => (UNEQUAL, false),
        LLVMRealOLT | LLVMRealULT => (LESS, false),
        LLVMRealOGT | LLVMRealUGT => (LESS, true),
        LLVMRealOGE | LLVMRealUGE => (NOT_LESS, false),
        LLVMRealOLE | LLVMRealULE => (NOT_LESS, true),
        LLVMRealORD | LLVMRealUNO | LLVMRealPredicateTrue | LLVMRealPredicateFalse => return None,
    })
}
