//! Packs the arguments of `printf` into private memory, where the simulator reads them.

use llvm_sys::LLVMTypeKind;
use llvm_sys::core::*;
use llvm_sys::prelude::*;
use llvm_sys::target::{LLVMStoreSizeOfType, LLVMTargetDataRef};

use super::emit::Emitter;
use super::sites::Sites;
use super::values::{self, instructions};
use crate::kernel::ir::{Function, Inst};
use crate::lower::host::abi::hook;
use crate::lower::host::table::PrintArg;

/// A call of `printf`.
pub struct Print {
    inst: Inst,
    site: u32,
    /// The values after the format, with their offsets.
    values: Vec<(LLVMValueRef, u32)>,
    /// Size of the packed values.
    bytes: u32,
}

/// Finds all calls of `printf` and adds their sites.
pub fn find(kernel: Function, sites: &mut Sites<'_>) -> Vec<Print> {
    let mut all = Vec::new();
    for inst in instructions(kernel) {
        if !inst.callee().is_some_and(|name| name == "printf" || name.starts_with("_Z6printf")) {
            continue;
        }
        let operands = inst.operands();
        // The callee is the last operand.
        let Some((format, rest)) = operands.split_last().and_then(|(_, given)| given.split_first()) else { continue };
        let format = literal(sites.objects.layout(), *format);
        let mut print = Print { inst, site: 0, values: Vec::new(), bytes: 0 };
        let mut args = Vec::new();
        for value in rest {
            args.extend(pack(*value, &mut print));
        }
        print.site = sites.print(inst, format, args);
        all.push(print);
    }
    all
}

/// Assigns a value an offset after the previous ones.
fn pack(value: LLVMValueRef, print: &mut Print) -> Option<PrintArg> {
    // SAFETY: alive; each question is asked of the types that have an answer.
    unsafe {
        let ty = LLVMTypeOf(value);
        let (element, components) = match values::is_vector(ty) {
            true => (LLVMGetElementType(ty), LLVMGetVectorSize(ty)),
            false => (ty, 1),
        };
        let kind = LLVMGetTypeKind(element);
        let bytes = match kind {
            LLVMTypeKind::LLVMIntegerTypeKind => LLVMGetIntTypeWidth(element).div_ceil(8).next_power_of_two(),
            LLVMTypeKind::LLVMHalfTypeKind => 2,
            LLVMTypeKind::LLVMFloatTypeKind => 4,
            LLVMTypeKind::LLVMDoubleTypeKind | LLVMTypeKind::LLVMPointerTypeKind => 8,
            _ => return None,
        };
        let offset = print.bytes.next_multiple_of(bytes);
        print.bytes = offset + bytes * components;
        print.values.push((value, offset));
        Some(match kind {
            LLVMTypeKind::LLVMIntegerTypeKind => PrintArg::Integer { bytes, components, offset },
            LLVMTypeKind::LLVMPointerTypeKind => PrintArg::Pointer { offset },
            _ => PrintArg::Float { bytes, components, offset },
        })
    }
}

/// Returns the string constant that a pointer leads to, without the NUL.
fn literal(layout: LLVMTargetDataRef, pointer: LLVMValueRef) -> Option<Vec<u8>> {
    let (base, distance) = values::base_and_offset(layout, values::resolve(pointer));
    let from = usize::try_from(distance?).ok()?;
    // SAFETY: alive; the text is asked of constant strings only and read with its length.
    unsafe {
        if LLVMIsAGlobalVariable(base).is_null() || LLVMIsGlobalConstant(base) == 0 {
            return None;
        }
        let initial = LLVMGetInitializer(base);
        if initial.is_null() || LLVMIsAConstantDataArray(initial).is_null() || LLVMIsConstantString(initial) == 0 {
            let is_zero = !initial.is_null() && LLVMIsNull(initial) != 0;
            return is_zero.then(Vec::new);
        }
        let mut len = 0;
        let data = LLVMGetAsString(initial, &mut len);
        let text = std::slice::from_raw_parts(data.cast::<u8>(), len).get(from..)?;
        Some(text.iter().copied().take_while(|byte| *byte != 0).collect())
    }
}

/// Replaces the calls by their hook; their value becomes 0.
pub fn weave(e: &Emitter<'_, '_>, prints: &[Print]) {
    for print in prints {
        let inst = print.inst;
        let format = inst.operands()[0];
        // SAFETY: alive; every value fits where it is stored; the call has no uses left when it is erased.
        unsafe {
            let packed = match print.bytes {
                0 => LLVMConstNull(e.pointer),
                bytes => e.buffer(u64::from(bytes)),
            };
            e.before(inst);
            for (value, offset) in &print.values {
                store(e, *value, e.byte_offset(packed, u64::from(*offset)));
            }
            e.hook(hook::PRINT, e.void(), &[e.const_i32(print.site), e.flat(format), packed]);
            if LLVMGetTypeKind(LLVMTypeOf(inst.0)) != LLVMTypeKind::LLVMVoidTypeKind {
                LLVMReplaceAllUsesWith(inst.0, LLVMConstNull(LLVMTypeOf(inst.0)));
            }
            LLVMInstructionEraseFromParent(inst.0);
        }
    }
}

/// Stores the components of a value contiguously (vectors of three have no room for a fourth).
unsafe fn store(e: &Emitter<'_, '_>, value: LLVMValueRef, place: LLVMValueRef) {
    // SAFETY: alive; components are below their number.
    unsafe {
        let ty = LLVMTypeOf(value);
        let one = |value: LLVMValueRef, place: LLVMValueRef| {
            let value = match LLVMGetTypeKind(LLVMTypeOf(value)) {
                LLVMTypeKind::LLVMPointerTypeKind => e.flat(value),
                LLVMTypeKind::LLVMIntegerTypeKind => {
                    let bytes = LLVMGetIntTypeWidth(LLVMTypeOf(value)).div_ceil(8).next_power_of_two();
                    LLVMBuildZExt(e.builder, value, LLVMIntTypeInContext(e.context, bytes * 8), c"".as_ptr())
                }
                _ => value,
            };
            LLVMSetAlignment(LLVMBuildStore(e.builder, value, place), 1);
        };
        if !values::is_vector(ty) {
            return one(value, place);
        }
        let bytes = LLVMStoreSizeOfType(e.layout, LLVMGetElementType(ty));
        for i in 0..LLVMGetVectorSize(ty) {
            let component = LLVMBuildExtractElement(e.builder, value, e.const_i32(i), c"".as_ptr());
            one(component, e.byte_offset(place, u64::from(i) * bytes));
        }
    }
}
