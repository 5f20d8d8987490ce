//! Provides the early exit of the kernel, for work-items that are ended while they wait or spin.

use std::mem::offset_of;

use kassay_model::native::abi::{ItemContext, placeholder};

use super::emit::Emitter;
use crate::llvm::IntPredicate::LLVMIntNE;
use crate::llvm::{Block, Inst, View};

/// The start of the early exit, which is always the first instruction of a block: [`placeholder::LEAVE`].
pub struct Exit<'m>(Inst<'m>);

/// Gives the first placeholder a block of its own and removes the others.
pub fn find(view: View<'_>) -> Option<Exit<'_>> {
    let placeholder = view.function(placeholder::LEAVE)?;
    let mut calls = placeholder.value().user_instructions().into_iter();
    let exit = calls.next()?;
    for other in calls {
        other.erase();
    }
    let head = Block::split_before(exit, "");
    let builder = view.builder();
    builder.at_end(head);
    builder.br(exit.block()).set_debug_location(exit.debug_location());
    Some(Exit(exit))
}

impl<'m> Exit<'m> {
    /// Makes items that are to leave do so before `at`.
    pub fn leave_before(&self, e: &Emitter<'m>, at: Inst<'m>) {
        let head = Block::split_before(at, "");
        e.at_end(head, at);
        self.branch(e, at.block());
    }

    /// Makes items that are to leave do so at the builder's position, the end of a block; building continues in the
    /// block that the other items reach.
    pub fn leave_at_end(&self, e: &Emitter<'m>) {
        let current = e.builder.block();
        let on = e.kernel.append_block("");
        on.move_after(current);
        self.branch(e, on);
        e.builder.at_end(on);
    }

    fn branch(&self, e: &Emitter<'m>, on: Block<'m>) {
        let leaves = e.load(e.long, e.byte_offset(e.item, offset_of!(ItemContext, leaves) as u64));
        let leaves = e.compare(LLVMIntNE, leaves, e.const_i64(0));
        e.builder.cond_br(leaves, self.0.block(), on);
    }

    /// Removes the placeholder. To be called when everything is built and no builder is left.
    pub fn finish(self) {
        self.0.erase();
    }
}
