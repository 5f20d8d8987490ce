//! Checks the memory intrinsics of LLVM: `memcpy`, `memmove`, `memset`.

use llvm_sys::LLVMIntPredicate::{LLVMIntEQ, LLVMIntULT};
use llvm_sys::LLVMOpcode;
use llvm_sys::core::*;
use llvm_sys::prelude::*;

use super::check::{Length, PointerCheck, checked};
use super::emit::Emitter;
use super::objects::{Objects, Origin};
use super::sites::{Shape, Sites};
use super::values::{self, instructions};
use crate::kernel::ir::{Function, Inst};
use crate::lower::host::table::Mode;

/// Maximum of a dynamic length after a pointer was replaced: the sink for skipped accesses has at least this
/// many bytes ([`crate::lower::host::abi::GroupContext::sink`]).
const SINK_BYTES: u64 = 4096;

/// One memory operand of a transfer.
struct Side {
    operand: u32,
    site: u32,
    origin: Origin,
    align: u32,
    writes: bool,
}

/// A call of a memory intrinsic with at least one operand to check.
pub struct Transfer {
    inst: Inst,
    /// `None`: known at run time only.
    bytes: Option<u64>,
    sides: Vec<Side>,
}

/// Finds the memory intrinsics that need a check and adds their sites.
pub fn find(kernel: Function, sites: &mut Sites<'_>) -> Vec<Transfer> {
    let mut all = Vec::new();
    for inst in instructions(kernel).into_iter().filter(|i| i.opcode() == LLVMOpcode::LLVMCall) {
        let Some(callee) = inst.callee() else { continue };
        let Some(fills) = ["llvm.memcpy.", "llvm.memmove.", "llvm.memset."].iter().position(|p| callee.starts_with(p))
        else {
            continue;
        };
        let operands = inst.operands();
        let bytes = values::constant(operands[2]);
        let both = [(1, Mode::Read), (0, Mode::Write)];
        let mut sides = Vec::new();
        for (operand, mode) in both.into_iter().skip(usize::from(fills == 2)).filter(|_| bytes != Some(0)) {
            let align = align(inst, operand);
            let shape = Shape { mode, bytes: bytes.unwrap_or(u64::from(align)), align, ordering: None };
            if let Some((site, origin)) = sites.access(inst, operands[operand as usize], shape, bytes) {
                sides.push(Side { operand, site, origin, align, writes: mode == Mode::Write });
            }
        }
        if !sides.is_empty() {
            all.push(Transfer { inst, bytes, sides });
        }
    }
    all
}

/// Alignment that the call's attributes give for a pointer.
fn align(call: Inst, operand: u32) -> u32 {
    let name = "align";
    // SAFETY: alive and a call; its arguments count from 1.
    unsafe {
        let kind = LLVMGetEnumAttributeKindForName(name.as_ptr().cast(), name.len());
        let attribute = LLVMGetCallSiteEnumAttribute(call.0, operand + 1, kind);
        match attribute.is_null() {
            true => 1,
            false => LLVMGetEnumAttributeValue(attribute).clamp(1, 1 << 16) as u32,
        }
    }
}

/// Replaces the pointers of `transfers` by checked ones and limits their length if one is the sink.
pub fn weave(e: &Emitter<'_, '_>, objects: &Objects, transfers: &[Transfer]) {
    for transfer in transfers {
        // SAFETY: alive; operands are two pointers (or one, and a byte), and the length.
        unsafe {
            let inst = transfer.inst;
            let length_operand = LLVMGetOperand(inst.0, 2);
            e.before(inst);
            let length = match transfer.bytes {
                Some(bytes) => Length::Fixed(bytes),
                None => Length::Dynamic(LLVMBuildIntCast2(e.builder, length_operand, e.long, 0, c"".as_ptr())),
            };
            let mut replaced: Option<LLVMValueRef> = None;
            for side in &transfer.sides {
                let old = LLVMGetOperand(inst.0, side.operand);
                let check = PointerCheck {
                    site: side.site,
                    origin: &side.origin,
                    length,
                    align: side.align,
                    writes: side.writes,
                    expected: None,
                };
                let new = checked(e, objects, inst, old, &check);
                LLVMSetOperand(inst.0, side.operand, new);
                if matches!(length, Length::Dynamic(_)) {
                    e.before(inst);
                    let same = e.compare(LLVMIntEQ, e.address(old), e.address(new));
                    replaced = Some(match replaced {
                        Some(others) => LLVMBuildAnd(e.builder, others, same, c"".as_ptr()),
                        None => same,
                    });
                }
            }
            if let Some(same) = replaced {
                e.before(inst);
                let most = LLVMConstInt(LLVMTypeOf(length_operand), SINK_BYTES, 0);
                let small = e.compare(LLVMIntULT, length_operand, most);
                let least = LLVMBuildSelect(e.builder, small, length_operand, most, c"".as_ptr());
                let length = LLVMBuildSelect(e.builder, same, length_operand, least, c"".as_ptr());
                LLVMSetOperand(inst.0, 2, length);
            }
        }
    }
}
