//! Parts of vectors: what an access to one of them keeps of the access to the vector.

use kassay_model::native::abi::mark;

use crate::llvm::{Inst, MetadataKind, Node, Opcode, Operand, Value, View};

/// Where a component lies in a vector whose address has to be a multiple of its alignment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Within {
    /// The alignment of the vector in bytes.
    pub align: u32,
    /// Bytes from the vector's first to the component's.
    pub lead: u32,
}

impl Within {
    /// Returns the vector that a narrowed access belongs to.
    pub fn of(inst: Inst<'_>, kind: MetadataKind) -> Option<Within> {
        let node = inst.metadata(kind)?;
        let number = |at: usize| node.operand(at).number().and_then(|n| u32::try_from(n).ok());
        Some(Within { align: number(0)?, lead: number(1)? })
    }

    /// The alignment of the component itself.
    fn of_component(self) -> u32 {
        if self.lead == 0 { self.align } else { self.align.min(1 << self.lead.trailing_zeros()) }
    }
}

/// Gives an access that was made of `whole` what there is to know of that.
pub fn describe<'m>(view: View<'m>, part: Inst<'m>, whole: Inst<'m>, lead: u64) {
    let within = Within { align: whole.alignment().unwrap_or(0).max(1), lead: lead as u32 };
    part.set_alignment(within.of_component());
    part.set_debug_location(whole.debug_location());
    for kind in [mark::BUILTIN, mark::TRUSTED].map(|name| view.metadata_kind(name)) {
        if let Some(node) = whole.metadata(kind) {
            part.set_metadata(kind, Some(node));
        }
    }
    if lead > 0 && within.align > within.of_component() {
        let int = view.int_type(32);
        let operands = [within.align, within.lead].map(|n| Operand::Value(int.int(n.into())));
        part.set_metadata(view.metadata_kind(mark::COMPONENT), Some(Node::new(int, &operands)));
    }
}

/// Returns whether the components of a vector lie one after the other, each in bytes of its own.
pub fn has_components<'m>(view: View<'m>, vector: Value<'m>) -> bool {
    let (ty, layout) = (vector.ty(), view.layout());
    let element = || layout.store_size(ty.scalar());
    // Odd integers follow each other bit by bit, and have gaps where they stand alone.
    let is_odd = ty.scalar().int_width().is_some_and(|bits| bits < 8 || !bits.is_power_of_two());
    !is_odd && ty.lanes().is_some_and(|lanes| layout.store_size(ty) == element() * u64::from(lanes))
}

/// Returns whether a pointer is computed directly from a variable of one work-item, whose bytes nothing watches.
pub fn is_own<'m>(mut pointer: Value<'m>) -> bool {
    loop {
        match (pointer.opcode(), pointer.operand(0)) {
            (Some(Opcode::LLVMAlloca), _) => return true,
            (Some(Opcode::LLVMGetElementPtr | Opcode::LLVMBitCast | Opcode::LLVMAddrSpaceCast), Some(base)) => {
                pointer = base;
            }
            _ => return false,
        }
    }
}
