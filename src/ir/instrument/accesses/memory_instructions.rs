//! Finds the instructions that read or write memory at a single address.

use kassay_model::native::table::Mode;

use super::inner_arrays;
use super::memory_orders;
use super::objects::Origin;
use super::sites::{Shape, Sites};
use crate::instrument::components::Within;
use crate::llvm::{Function, Inst, Opcode};

/// An access to be instrumented.
pub struct Access<'m> {
    pub inst: Inst<'m>,
    /// Position of the pointer operand.
    pub operand: u32,
    pub site: u32,
    pub origin: Origin,
    pub bytes: u64,
    pub align: u32,
    /// See [`Shape::lead`].
    pub lead: u32,
    pub mode: Mode,
    pub inner: Vec<inner_arrays::Index<'m>>,
}

/// Finds all loads, stores and atomics that need a check.
pub fn accesses<'m>(kernel: Function<'m>, sites: &mut Sites<'_, 'm>) -> Vec<Access<'m>> {
    let mut all = Vec::new();
    for inst in kernel.instructions() {
        let Some((operand, shape)) = shape(inst, sites) else { continue };
        let pointer = inst.operand(operand);
        if let Some((site, origin)) = sites.access(inst, pointer, shape, Some(shape.bytes)) {
            if let Some(order) = inst.failure_ordering() {
                sites.failed_exchange(memory_orders::ordering(sites.view, inst, order, true, false));
            }
            let Shape { bytes, align, lead, mode, .. } = shape;
            let inner = inner_arrays::indices(pointer);
            all.push(Access { inst, operand, site, origin, bytes, align, lead, mode, inner });
        }
    }
    all
}

/// Returns the position of an access's pointer operand and the properties of the access.
fn shape<'m>(inst: Inst<'m>, sites: &Sites<'_, 'm>) -> Option<(u32, Shape)> {
    let order = inst.ordering()?;
    let ordering = |loads, stores| memory_orders::ordering(sites.view, inst, order, loads, stores);
    let (operand, value, mode, ordering) = match inst.opcode() {
        Opcode::LLVMLoad if inst.is_atomic() => (0, inst.value(), Mode::AtomicRead, ordering(true, false)),
        Opcode::LLVMLoad => (0, inst.value(), Mode::Read, None),
        Opcode::LLVMStore if inst.is_atomic() => (1, inst.operand(0), Mode::Atomic, ordering(false, true)),
        Opcode::LLVMStore => (1, inst.operand(0), Mode::Write, None),
        Opcode::LLVMAtomicRMW | Opcode::LLVMAtomicCmpXchg => (0, inst.operand(1), Mode::Atomic, ordering(true, true)),
        _ => return None,
    };
    let bytes = sites.objects.stored_size(value.ty())?;
    let own = Within { align: inst.alignment()?.max(1), lead: 0 };
    let Within { align, lead } = Within::of(inst, sites.component_kind).unwrap_or(own);
    Some((operand, Shape { mode, bytes, align, lead, ordering }))
}
