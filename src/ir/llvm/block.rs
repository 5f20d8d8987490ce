//! Basic blocks, and how they are split.

use super::Opcode;
use super::builder::Builder;
use super::ffi;
use super::handles::{Block, Function, Inst};
use super::text::name as c_name;

impl<'m> Block<'m> {
    /// Returns the label; empty if the block has none.
    pub fn label(self) -> String {
        self.value().name()
    }

    /// # Panics
    /// If the block is in no function, which cannot be.
    pub fn function(self) -> Function<'m> {
        ffi::LLVMGetBasicBlockParent(self).expect("a block is in a function")
    }

    /// Returns the block after it in its function.
    pub fn next(self) -> Option<Block<'m>> {
        ffi::LLVMGetNextBasicBlock(self)
    }

    /// Returns the first instruction; `None` if the block is empty.
    pub fn first_instruction(self) -> Option<Inst<'m>> {
        ffi::LLVMGetFirstInstruction(self)
    }

    /// Returns the instructions, in order.
    pub fn instructions(self) -> Vec<Inst<'m>> {
        self.walk().collect()
    }

    /// Returns the same, each found when it is asked for: for callers that need the first of them. If one is removed
    /// before the next is found, the walk ends.
    pub fn walk(self) -> impl Iterator<Item = Inst<'m>> {
        std::iter::successors(self.first_instruction(), |inst| inst.next())
    }

    /// Returns the terminator; `None` if the block has none (yet).
    pub fn try_terminator(self) -> Option<Inst<'m>> {
        ffi::LLVMGetBasicBlockTerminator(self)
    }

    /// Returns the terminator.
    ///
    /// # Panics
    /// If the block has none (yet).
    pub fn terminator(self) -> Inst<'m> {
        self.try_terminator().unwrap_or_else(|| panic!("a block has no terminator: {}", self.text()))
    }

    /// Returns the first instruction that is no phi.
    ///
    /// # Panics
    /// If there is none (yet).
    pub fn first_insertion_point(self) -> Inst<'m> {
        self.walk().find(|i| !i.is(Opcode::LLVMPHI)).unwrap_or_else(|| self.terminator())
    }

    /// Returns the phis at the start.
    pub fn phis(self) -> Vec<Inst<'m>> {
        self.walk().take_while(|i| i.is(Opcode::LLVMPHI)).collect()
    }

    /// Adds an empty block in front of this one.
    pub fn insert_before(self, name: &str) -> Block<'m> {
        ffi::LLVMInsertBasicBlockInContext(self.function().context(), self, c_name(name).as_ref().into())
    }

    /// Moves the block after another one of its module.
    ///
    /// # Panics
    /// If they are in different modules.
    pub fn move_after(self, position: Block<'m>) {
        assert_eq!(self.value().module(), position.value().module(), "a block of another module");
        // SAFETY: both blocks are in functions of one module.
        unsafe { ffi::LLVMMoveBasicBlockAfter(self, position) }
    }

    /// Moves what stands before `inst` in its block into a new block in front, to which all that led to the block now
    /// leads. The old block keeps `inst` and what follows, so phis after it stay right; the new one, which is
    /// returned, has no terminator yet. What is moved keeps names and debug locations.
    pub fn split_before(inst: Inst<'m>, name: &str) -> Block<'m> {
        let tail = inst.block();
        let head = tail.insert_before(name);
        let moved: Vec<Inst<'m>> = tail.walk().take_while(|i| *i != inst).collect();
        let terminator = tail.terminator();
        assert!(!moved.contains(&terminator), "{} stands after a terminator", inst.text());
        let builder = Builder::of_block(head);
        // While the block has no terminator, replacing it leaves alone what its successors' phis say of it. Its
        // position among what follows is the terminator's, which is inserted again last.
        terminator.remove();
        // SAFETY: two blocks of one function; users of blocks are terminators.
        unsafe { ffi::LLVMReplaceAllUsesWith(tail.into(), head.into()) };
        builder.at_end(head);
        for inst in moved {
            inst.remove();
            builder.insert(inst);
        }
        builder.at_end(tail);
        builder.insert(terminator);
        head
    }

    /// Puts a block on a way of a terminator; it leads where the way led, with the terminator's debug location, and the
    /// phis there know it. Returns its terminator.
    ///
    /// # Panics
    /// If the terminator has no such successor.
    pub fn split_way(terminator: Inst<'m>, way: u32, name: &str) -> Inst<'m> {
        let successor = terminator.successors().get(way as usize).copied();
        let to = successor.unwrap_or_else(|| panic!("{} has no successor {way}", terminator.text()));
        let between = to.insert_before(name);
        let builder = Builder::of_block(between);
        builder.at_end(between);
        let jump = builder.br(to);
        jump.set_debug_location(terminator.debug_location());
        terminator.set_successor(way, between);
        to.redirect_phis(terminator.block(), between);
        jump
    }

    /// Rebuilds the phis so that the first entry of each that came from `old` comes from `new`. They lose their names
    /// and keep their debug locations.
    pub fn redirect_phis(self, old: Block<'m>, new: Block<'m>) {
        let builder = Builder::of_block(self);
        for phi in self.phis() {
            builder.before_records(phi);
            let rebuilt = builder.phi(phi.ty(), &[], "");
            rebuilt.set_debug_location(phi.debug_location());
            let mut entries = phi.incoming();
            if let Some((_, from)) = entries.iter_mut().find(|(_, from)| *from == old) {
                *from = new;
            }
            rebuilt.add_incoming(&entries);
            phi.replace_and_erase(rebuilt);
        }
    }

    /// Deletes the block with its instructions.
    ///
    /// # Safety
    /// Nothing outside it uses it or its instructions, and no copy of their handles, nor a builder in it, is used
    /// afterwards.
    pub unsafe fn delete(self) {
        // SAFETY: as the caller promises.
        unsafe { ffi::LLVMDeleteBasicBlock(self) }
    }
}
