//! Finds the instructions that read or write memory at a single address.

use llvm_sys::LLVMOpcode;
use llvm_sys::core::*;

use super::inner_arrays;
use super::memory_orders;
use super::objects::Origin;
use super::sites::{Shape, Sites};
use super::values::instructions;
use crate::kernel::ir::{Function, Inst};
use crate::lower::host::table::Mode;

/// An access to be instrumented.
pub struct Access {
    pub inst: Inst,
    /// Position of the pointer operand.
    pub operand: u32,
    pub site: u32,
    pub origin: Origin,
    pub bytes: u64,
    pub align: u32,
    pub mode: Mode,
    pub inner: Vec<inner_arrays::Index>,
}

/// Finds all loads, stores and atomics that need a check.
pub fn accesses(kernel: Function, sites: &mut Sites<'_>) -> Vec<Access> {
    let mut all = Vec::new();
    for inst in instructions(kernel) {
        let Some((operand, shape)) = shape(inst, sites) else { continue };
        // SAFETY: alive; the operand is the instruction's pointer.
        let pointer = unsafe { LLVMGetOperand(inst.0, operand) };
        if let Some((site, origin)) = sites.access(inst, pointer, shape, Some(shape.bytes)) {
            if inst.opcode() == LLVMOpcode::LLVMAtomicCmpXchg {
                // SAFETY: alive and a compare-exchange.
                let order = unsafe { LLVMGetCmpXchgFailureOrdering(inst.0) };
                sites.failed_exchange(memory_orders::ordering(inst, order, true, false));
            }
            let Shape { bytes, align, mode, .. } = shape;
            let inner = inner_arrays::indices(pointer);
            all.push(Access { inst, operand, site, origin, bytes, align, mode, inner });
        }
    }
    all
}

/// Returns the position of an access's pointer operand and the properties of the access.
fn shape(inst: Inst, sites: &Sites<'_>) -> Option<(u32, Shape)> {
    // SAFETY: alive; each question is asked of the instructions that have an answer.
    unsafe {
        let (operand, value, mode, ordering) = match inst.opcode() {
            LLVMOpcode::LLVMLoad if memory_orders::is_atomic(inst.0) => {
                let ordering = memory_orders::ordering(inst, LLVMGetOrdering(inst.0), true, false);
                (0, inst.0, Mode::AtomicRead, ordering)
            }
            LLVMOpcode::LLVMLoad => (0, inst.0, Mode::Read, None),
            LLVMOpcode::LLVMStore if memory_orders::is_atomic(inst.0) => {
                let ordering = memory_orders::ordering(inst, LLVMGetOrdering(inst.0), false, true);
                (1, LLVMGetOperand(inst.0, 0), Mode::Atomic, ordering)
            }
            LLVMOpcode::LLVMStore => (1, LLVMGetOperand(inst.0, 0), Mode::Write, None),
            LLVMOpcode::LLVMAtomicRMW => {
                let ordering = memory_orders::ordering(inst, LLVMGetOrdering(inst.0), true, true);
                (0, LLVMGetOperand(inst.0, 1), Mode::Atomic, ordering)
            }
            LLVMOpcode::LLVMAtomicCmpXchg => {
                let ordering = memory_orders::ordering(inst, LLVMGetCmpXchgSuccessOrdering(inst.0), true, true);
                (0, LLVMGetOperand(inst.0, 1), Mode::Atomic, ordering)
            }
            _ => return None,
        };
        let bytes = sites.objects.stored_size(LLVMTypeOf(value))?;
        Some((operand, Shape { mode, bytes, align: LLVMGetAlignment(inst.0).max(1), ordering }))
    }
}
