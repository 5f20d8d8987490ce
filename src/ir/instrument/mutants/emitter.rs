//! Provides a builder and block surgery for all weavers of mutants.

use std::cell::RefCell;
use std::collections::HashMap;

use super::edit::{AtomicChange, AtomicOperation, MemoryOrder};
use crate::llvm::{AtomicOrdering, AtomicRmwOperation, Block, Builder, Inst, Type, Value, View};

/// A builder and its module.
pub(super) struct Emitter<'m> {
    pub view: View<'m>,
    pub builder: Builder<'m>,
    /// Blocks that were split, each with the block that now holds its beginning. See [`Emitter::split`].
    heads: RefCell<HashMap<Block<'m>, Block<'m>>>,
}

impl<'m> Emitter<'m> {
    /// Creates a builder for the module.
    pub fn new(view: View<'m>) -> Emitter<'m> {
        Emitter { view, builder: view.builder(), heads: RefCell::default() }
    }

    /// The type `i32`.
    pub fn int(&self) -> Type<'m> {
        self.view.int_type(32)
    }

    /// The type `i1`.
    pub fn bool(&self) -> Type<'m> {
        self.view.types().bool()
    }

    /// An `i32` constant.
    pub fn number(&self, n: u32) -> Value<'m> {
        self.int().int(n.into())
    }

    /// Builds a `select`. A scalar condition is broadcast to the lanes of vectors: SPIR-V before 1.4 has no other form.
    pub fn select(&self, condition: Value<'m>, yes: Value<'m>, no: Value<'m>) -> Value<'m> {
        let is_scalar = condition.ty().lanes().is_none();
        let condition = if is_scalar { self.builder.splat(condition, yes.ty()) } else { condition };
        self.builder.select(condition, yes, no, "")
    }

    /// Inserts a block in front of `next` that jumps to `to`. Returns it with its terminator.
    pub fn passing(&self, next: Block<'m>, to: Block<'m>, name: &str) -> (Block<'m>, Inst<'m>) {
        let block = next.insert_before(name);
        self.at_end(block);
        (block, self.builder.br(to))
    }

    /// Positions the builder at the end of a block without a terminator, without a debug location.
    pub fn at_end(&self, block: Block<'m>) {
        self.builder.at_end(block);
        self.builder.set_location(None);
    }

    /// Ends a block without a terminator by a conditional branch.
    pub fn branch(&self, from: Block<'m>, condition: Value<'m>, yes: Block<'m>, no: Block<'m>) {
        self.at_end(from);
        self.builder.cond_br(condition, yes, no);
    }

    /// Moves the instructions before `inst` into a new block, which takes over the old block's incoming edges and has
    /// no terminator yet. The old block keeps `inst` and what follows, so that `phi`s in its successors stay valid.
    pub fn split(&self, inst: Inst<'m>) -> Block<'m> {
        let tail = inst.block();
        let head = Block::split_before(inst, "kassay.head");
        self.heads.borrow_mut().entry(tail).or_insert(head);
        head
    }

    /// Returns the block that now holds the beginning of a block of the unchanged form.
    pub fn head(&self, block: Block<'m>) -> Block<'m> {
        self.heads.borrow().get(&block).copied().unwrap_or(block)
    }

    /// Builds a `phi` at the start of `block`; `incoming` names every predecessor.
    pub fn phi(&self, block: Block<'m>, ty: Type<'m>, incoming: &[(Value<'m>, Block<'m>)]) -> Value<'m> {
        // In front of the block's debug records too: no record may precede a phi.
        self.builder.before_records(block.walk().next().unwrap_or_else(|| block.terminator()));
        self.builder.phi(ty, incoming, "").value()
    }
}

impl<'m> Emitter<'m> {
    /// Builds a copy of an atomic access or fence with these operands and a change, at the builder's position.
    pub fn changed_atomic(&self, inst: Inst<'m>, operands: &[Value<'m>], change: &AtomicChange) -> Inst<'m> {
        let copy = inst.copied();
        (0..).zip(operands).for_each(|(i, operand)| copy.set_operand(i, *operand));
        match change {
            AtomicChange::Operation(operation) => copy.set_rmw_operation(rmw_operation(*operation)),
            AtomicChange::Order { order, failure } => {
                copy.set_ordering(ordering(*order));
                failure.iter().for_each(|order| copy.set_failure_ordering(ordering(*order)));
            }
            AtomicChange::Scope(name) => copy.set_sync_scope(self.view.sync_scope(name)),
        }
        self.builder.insert(copy);
        copy
    }
}

fn ordering(order: MemoryOrder) -> AtomicOrdering {
    match order {
        MemoryOrder::Monotonic => AtomicOrdering::LLVMAtomicOrderingMonotonic,
        MemoryOrder::Acquire => AtomicOrdering::LLVMAtomicOrderingAcquire,
        MemoryOrder::Release => AtomicOrdering::LLVMAtomicOrderingRelease,
        MemoryOrder::AcquireRelease => AtomicOrdering::LLVMAtomicOrderingAcquireRelease,
        MemoryOrder::SequentiallyConsistent => AtomicOrdering::LLVMAtomicOrderingSequentiallyConsistent,
    }
}

fn rmw_operation(operation: AtomicOperation) -> AtomicRmwOperation {
    match operation {
        AtomicOperation::Add => AtomicRmwOperation::LLVMAtomicRMWBinOpAdd,
        AtomicOperation::Sub => AtomicRmwOperation::LLVMAtomicRMWBinOpSub,
        AtomicOperation::And => AtomicRmwOperation::LLVMAtomicRMWBinOpAnd,
        AtomicOperation::Or => AtomicRmwOperation::LLVMAtomicRMWBinOpOr,
        AtomicOperation::Min => AtomicRmwOperation::LLVMAtomicRMWBinOpMin,
        AtomicOperation::Max => AtomicRmwOperation::LLVMAtomicRMWBinOpMax,
        AtomicOperation::UMin => AtomicRmwOperation::LLVMAtomicRMWBinOpUMin,
        AtomicOperation::UMax => AtomicRmwOperation::LLVMAtomicRMWBinOpUMax,
    }
}

/// Width in bits of an integer or float (or of a vector's lane); 64 of other types.
pub(super) fn width(ty: Type<'_>) -> u32 {
    ty.scalar().bits().map_or(64, |bits| bits as u32)
}
