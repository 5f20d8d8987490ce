//! Inlines everything into the kernel without losing any instruction.
//!
//! LLVM's inliner simplifies what it copies: an unused load, or a division by the constant 0, would disappear before it
//! is checked. So loads are volatile and divisions are calls while it runs.

use std::ffi::CString;

use inkwell::module::Module;
use inkwell::targets::TargetMachine;
use llvm_sys::LLVMOpcode;
use llvm_sys::core::*;
use llvm_sys::prelude::*;

use super::prepare::run;
use crate::error::{Error, Result};
use crate::kernel::ir::{self, Block, Function, Inst};
use crate::kernel::{canonical, inlined};

/// Metadata of loads that are volatile only while the inliner runs.
const KEPT_LOAD: &str = "kassay.kept";
/// Prefix of the functions that replace divisions while the inliner runs.
const DIVISION: &str = "__kassay_division.";

const DIVISIONS: [LLVMOpcode; 4] =
    [LLVMOpcode::LLVMSDiv, LLVMOpcode::LLVMUDiv, LLVMOpcode::LLVMSRem, LLVMOpcode::LLVMURem];

/// Maximum number of instructions of a kernel once everything is inlined; compiling more takes minutes.
const MAX_INSTRUCTIONS: u64 = 1_000_000;

/// Refuses kernels that would become too large when everything is inlined.
///
/// # Errors
/// `Caller` if the kernel becomes too large.
pub fn refuse_large(module: &Module<'_>, entry: &str) -> Result<()> {
    // A recursive function is refused later.
    let size = inlined::size(module, entry).unwrap_or(0);
    if size <= MAX_INSTRUCTIONS {
        return Ok(());
    }
    Err(Error::caller(format!(
        "`{entry}` is too large for the simulator: {size} instructions with everything inlined, {MAX_INSTRUCTIONS} at most"
    ))
    .help("use an OpenCL device for this kernel, or a smaller variant of it"))
}

/// Inlines everything, so that the kernel is the only function with a body unless one is recursive.
///
/// # Errors
/// `Caller` if the kernel becomes too large; `Internal` if the pass fails.
pub fn everything(module: &Module<'_>, entry: &str, machine: &TargetMachine) -> Result<()> {
    refuse_large(module, entry)?;
    let kept = ir::metadata_kind(module, KEPT_LOAD);
    let helpers: Vec<Function> =
        ir::functions(module).into_iter().filter(|f| f.has_body() && f.name() != entry).collect();
    for f in helpers {
        canonical::add_attribute(f, "alwaysinline");
        // SAFETY: alive. Internal, so that nothing is left of it.
        unsafe { LLVMSetLinkage(f.0, llvm_sys::LLVMLinkage::LLVMInternalLinkage) };
        for inst in f.blocks().into_iter().flat_map(Block::instructions) {
            match inst.opcode() {
                LLVMOpcode::LLVMLoad => keep_load(module, inst, kept),
                opcode if DIVISIONS.contains(&opcode) => hide_division(module, inst),
                _ => {}
            }
        }
    }
    run(module, machine, "always-inline,globaldce")?;
    let divisions: Vec<Function> =
        ir::functions(module).into_iter().filter(|f| f.name().starts_with(DIVISION)).collect();
    for inst in ir::functions(module).into_iter().flat_map(Function::blocks).flat_map(Block::instructions) {
        // SAFETY: alive; volatility is asked of loads only.
        unsafe {
            if inst.opcode() == LLVMOpcode::LLVMLoad && !LLVMGetMetadata(inst.0, kept).is_null() {
                LLVMSetVolatile(inst.0, 0);
                LLVMSetMetadata(inst.0, kept, std::ptr::null_mut());
            }
        }
        reveal_division(inst);
    }
    for f in divisions {
        // SAFETY: alive; nothing uses it any more.
        unsafe { LLVMDeleteFunction(f.0) };
    }
    Ok(())
}

fn keep_load(module: &Module<'_>, load: Inst, kind: u32) {
    // SAFETY: alive and a load; the node belongs to the module's context.
    unsafe {
        let from_variable = !LLVMIsAAllocaInst(LLVMGetOperand(load.0, 0)).is_null();
        if LLVMGetVolatile(load.0) == 0 && !from_variable {
            let context = LLVMGetModuleContext(module.as_mut_ptr());
            LLVMSetVolatile(load.0, 1);
            let node = LLVMMDNodeInContext2(context, std::ptr::null_mut(), 0);
            LLVMSetMetadata(load.0, kind, LLVMMetadataAsValue(context, node));
        }
    }
}

/// Replaces a division by a call of a function without a body: one function per opcode, type and exactness.
fn hide_division(module: &Module<'_>, division: Inst) {
    let opcode = division.opcode();
    // SAFETY: alive and a division; it is used no more after its replacement.
    unsafe {
        let ty = LLVMTypeOf(division.0);
        let may_be_exact = matches!(opcode, LLVMOpcode::LLVMSDiv | LLVMOpcode::LLVMUDiv);
        let exact = may_be_exact && LLVMGetExact(division.0) != 0;
        let spelling = ir::take_message(LLVMPrintTypeToString(ty));
        let name = format!("{DIVISION}{}.{}.{spelling}", opcode as u32, u32::from(exact));
        let mut types = [ty, ty];
        let signature = LLVMFunctionType(ty, types.as_mut_ptr(), 2, 0);
        let callee = ir::function(module, &name).map_or_else(
            || {
                let name = CString::new(name.as_str()).unwrap_or_default();
                LLVMAddFunction(module.as_mut_ptr(), name.as_ptr(), signature)
            },
            |f| f.0,
        );
        let mut operands = [LLVMGetOperand(division.0, 0), LLVMGetOperand(division.0, 1)];
        replace_instruction(division, |builder| {
            LLVMBuildCall2(builder, signature, callee, operands.as_mut_ptr(), 2, c"".as_ptr())
        });
    }
}

fn reveal_division(call: Inst) {
    let Some(name) = call.callee() else { return };
    let Some(rest) = name.strip_prefix(DIVISION) else { return };
    let mut parts = rest.split('.');
    let opcode = parts.next().and_then(|number| number.parse::<u32>().ok());
    let Some(opcode) = DIVISIONS.into_iter().find(|known| Some(*known as u32) == opcode) else { return };
    let exact = parts.next() == Some("1");
    // SAFETY: alive and a call with two arguments; it is used no more after its replacement. The builder would fold constants, so the
    // instruction is built on a stand-in and gets its operands afterwards.
    unsafe {
        let operands = [LLVMGetOperand(call.0, 0), LLVMGetOperand(call.0, 1)];
        replace_instruction(call, |builder| {
            let stand_in = LLVMBuildFreeze(builder, operands[0], c"".as_ptr());
            let division = LLVMBuildBinOp(builder, opcode, stand_in, stand_in, c"".as_ptr());
            LLVMSetOperand(division, 0, operands[0]);
            LLVMSetOperand(division, 1, operands[1]);
            LLVMInstructionEraseFromParent(stand_in);
            if exact {
                LLVMSetExact(division, 1);
            }
            division
        });
    }
}

/// Replaces an instruction by a new one with its name and debug location.
///
/// # Safety
/// `old` must be alive; the instruction that `new` builds must be of its type.
unsafe fn replace_instruction(old: Inst, new: impl FnOnce(LLVMBuilderRef) -> LLVMValueRef) {
    // SAFETY: see above.
    unsafe {
        let builder = LLVMCreateBuilderInContext(LLVMGetTypeContext(LLVMTypeOf(old.0)));
        LLVMPositionBuilderBefore(builder, old.0);
        LLVMSetCurrentDebugLocation2(builder, llvm_sys::debuginfo::LLVMInstructionGetDebugLoc(old.0));
        let name = old.name();
        let new = new(builder);
        LLVMDisposeBuilder(builder);
        LLVMReplaceAllUsesWith(old.0, new);
        LLVMInstructionEraseFromParent(old.0);
        LLVMSetValueName2(new, name.as_ptr().cast(), name.len());
    }
}
