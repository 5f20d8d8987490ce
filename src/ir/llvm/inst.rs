//! Instructions: what all of them have, and the flags by which results may be poison.

use super::Opcode;
use super::builder::Builder;
use super::context::bury;
use super::erased::assert_not_erased;
use super::ffi;
use super::handles::{Block, Function, Inst, Value};
use super::narrow::*;
use super::{IntPredicate, RealPredicate};

impl<'m> Inst<'m> {
    /// Returns the opcode.
    pub fn opcode(self) -> Opcode {
        ffi::LLVMGetInstructionOpcode(self)
    }

    /// Whether it has that opcode.
    pub fn is(self, opcode: Opcode) -> bool {
        self.opcode() == opcode
    }

    /// Returns the block, unless the instruction was removed from it.
    pub fn try_block(self) -> Option<Block<'m>> {
        ffi::LLVMGetInstructionParent(self)
    }

    /// Returns the block.
    ///
    /// # Panics
    /// If the instruction was removed from it.
    pub fn block(self) -> Block<'m> {
        self.try_block().unwrap_or_else(|| panic!("{} is in no block", self.text()))
    }

    /// Returns the function.
    ///
    /// # Panics
    /// If the instruction is in no block.
    pub fn function(self) -> Function<'m> {
        self.block().function()
    }

    /// Returns the instruction after it in its block.
    pub fn next(self) -> Option<Inst<'m>> {
        self.try_block()?;
        // SAFETY: the instruction is in a block.
        unsafe { ffi::LLVMGetNextInstruction(self) }
    }

    /// Returns those after it in its block, each found when it is asked for.
    pub fn following(self) -> impl Iterator<Item = Inst<'m>> {
        std::iter::successors(self.next(), |inst| inst.next())
    }

    /// Whether it ends a block.
    pub fn is_terminator(self) -> bool {
        ffi::LLVMIsATerminatorInst(self).is_some()
    }

    /// See [`Value::operands`].
    pub fn operands(self) -> Vec<Value<'m>> {
        self.value().operands()
    }

    /// See [`Value::operand_count`].
    pub fn operand_count(self) -> u32 {
        self.value().operand_count()
    }

    /// Returns the operand at a position.
    ///
    /// # Panics
    /// If the instruction has not that many.
    pub fn operand(self, index: u32) -> Value<'m> {
        self.value().operand(index).unwrap_or_else(|| panic!("{} has no operand {index}", self.text()))
    }

    /// Returns the operands that are themselves instructions.
    pub fn operand_instructions(self) -> Vec<Inst<'m>> {
        self.operands().into_iter().filter_map(Value::as_instruction).collect()
    }

    /// Changes an operand.
    ///
    /// # Panics
    /// If there is none at that position, if the types differ, if the new one is of another module, or if a case of a
    /// `switch` would not be a constant any more.
    pub fn set_operand(self, index: u32, value: impl Into<Value<'m>>) {
        let value = value.into();
        let old = self.operand(index);
        let is_case = self.is(Opcode::LLVMSwitch) && old.is_constant_int() && index > 0;
        self.change_operand(index, value, old.ty() == value.ty() && (!is_case || value.is_constant_int()));
    }

    /// Changes an operand, if `fits` says that the instruction can have this one.
    fn change_operand(self, index: u32, value: Value<'m>, fits: bool) {
        assert!(fits, "{} cannot be operand {index} of {}", value.text(), self.text());
        assert!(index < self.operand_count(), "{} has no operand {index}", self.text());
        self.assert_same_module(value);
        // SAFETY: the operand exists, and the new one fits and is of the same module.
        unsafe { ffi::LLVMSetOperand(self.into(), index, value) }
    }

    /// See [`Value::replace_uses`].
    pub fn replace_uses(self, new: impl Into<Value<'m>>) {
        self.value().replace_uses(new);
    }

    /// Removes the instruction from its block. It stays usable, and can be inserted again ([`Builder::insert`]).
    pub fn remove(self) {
        if self.try_block().is_some() {
            // SAFETY: the instruction is in a block. Builders notice that it is gone.
            unsafe { ffi::LLVMInstructionRemoveFromParent(self) }
        }
    }

    /// Returns a copy, which is in no block and has no name.
    pub fn copied(self) -> Inst<'m> {
        ffi::LLVMInstructionClone(self)
    }

    /// Moves the instruction in front of another one, with its name and debug location, and in front of that one's
    /// debug records.
    pub fn move_before(self, next: Inst<'m>) {
        if self == next {
            return;
        }
        let location = self.debug_location();
        self.remove();
        let builder = Builder::of_block(next.block());
        builder.before_records(next);
        builder.insert(self);
        self.set_debug_location(location);
    }

    /// Erases the instruction. Copies of the handle are of one in no block, whose operands are gone.
    ///
    /// # Panics
    /// If it is used, or in no block, or if its context is not a [`Context`](super::Context).
    pub fn erase(self) {
        assert!(!self.is_used(), "{} is erased although it is used", self.text());
        self.block();
        if self.ty().is_first_class() {
            // No operand names it, but debug records may.
            self.replace_uses(self.ty().poison());
        }
        self.remove();
        bury(self);
    }

    /// Makes everything use `new`, and erases the instruction.
    ///
    /// # Panics
    /// As [`Value::replace_uses`] and [`Inst::erase`].
    pub fn replace_and_erase(self, new: impl Into<Value<'m>>) {
        self.replace_uses(new);
        self.erase()
    }

    /// Returns the predicate of an `icmp`.
    pub fn int_predicate(self) -> Option<IntPredicate> {
        IntCompare::of(self).map(|compare| ffi::LLVMGetICmpPredicate(compare))
    }

    /// Returns the predicate of an `fcmp`.
    pub fn real_predicate(self) -> Option<RealPredicate> {
        FloatCompare::of(self).map(|compare| ffi::LLVMGetFCmpPredicate(compare))
    }

    /// Whether signed overflow of it is poison.
    pub fn has_no_signed_wrap(self) -> bool {
        Wrapping::of(self).is_some_and(|inst| ffi::LLVMGetNSW(inst) != 0)
    }

    /// Says whether signed overflow and unsigned overflow of it are poison.
    ///
    /// # Panics
    /// If its opcode does not know such flags.
    pub fn set_no_wrap(self, signed: bool, unsigned: bool) {
        let inst = Wrapping::of(self).unwrap_or_else(|| panic!("{} cannot overflow", self.text()));
        ffi::LLVMSetNSW(inst, signed.into());
        ffi::LLVMSetNUW(inst, unsigned.into());
    }

    /// Whether a remainder of it is poison.
    pub fn is_exact(self) -> bool {
        Exact::of(self).is_some_and(|inst| ffi::LLVMGetExact(inst) != 0)
    }

    /// Says whether a remainder of it is poison.
    ///
    /// # Panics
    /// If its opcode does not know such a flag.
    pub fn set_exact(self, exact: bool) {
        let inst = Exact::of(self).unwrap_or_else(|| panic!("{} cannot be exact", self.text()));
        ffi::LLVMSetExact(inst, exact.into());
    }

    /// Says whether a `getelementptr` stays in bounds.
    ///
    /// # Panics
    /// If it is none.
    pub fn set_in_bounds(self, is_in_bounds: bool) {
        let gep = GepInst::of(self).unwrap_or_else(|| panic!("{} steps nowhere", self.text()));
        ffi::LLVMSetIsInBounds(gep, is_in_bounds.into());
    }

    /// Returns LLVM's words for the flags by which a result of integers or addresses may be poison.
    pub fn flag_words(self) -> Vec<&'static str> {
        let flags = [
            ("nuw", Wrapping::of(self).is_some_and(|inst| ffi::LLVMGetNUW(inst) != 0)),
            ("nsw", self.has_no_signed_wrap()),
            ("exact", self.is_exact()),
            ("disjoint", Disjoint::of(self).is_some_and(|inst| ffi::LLVMGetIsDisjoint(inst) != 0)),
            ("nneg", NonNegative::of(self).is_some_and(|inst| ffi::LLVMGetNNeg(inst) != 0)),
            ("samesign", IntCompare::of(self).is_some_and(|inst| ffi::LLVMGetICmpSameSign(inst) != 0)),
            ("inbounds", self.value().is_in_bounds()),
        ];
        flags.into_iter().filter(|(_, is_set)| *is_set).map(|(word, _)| word).collect()
    }

    /// Takes away the flags by which a result may be poison.
    pub fn drop_poison_flags(self) {
        if Wrapping::of(self).is_some() {
            self.set_no_wrap(false, false);
        }
        Exact::of(self).into_iter().for_each(|inst| ffi::LLVMSetExact(inst, 0));
        Disjoint::of(self).into_iter().for_each(|inst| ffi::LLVMSetIsDisjoint(inst, 0));
        NonNegative::of(self).into_iter().for_each(|inst| ffi::LLVMSetNNeg(inst, 0));
        IntCompare::of(self).into_iter().for_each(|inst| ffi::LLVMSetICmpSameSign(inst, 0));
        GepInst::of(self).into_iter().for_each(|inst| ffi::LLVMGEPSetNoWrapFlags(inst, 0));
        FastMath::of(self).into_iter().for_each(|inst| ffi::LLVMSetFastMathFlags(inst, 0));
    }

    /// Returns the liberties that may be taken with floats, by LLVM's bits; none for what computes none.
    pub fn float_flags(self) -> u32 {
        FastMath::of(self).map_or(0, |inst| ffi::LLVMGetFastMathFlags(inst))
    }

    /// Takes away the liberties with floats that are not among these.
    pub fn keep_float_flags(self, kept: u32) {
        FastMath::of(self).into_iter().for_each(|inst| ffi::LLVMSetFastMathFlags(inst, self.float_flags() & kept));
    }

    /// Changes the pointer of a `load`, a `store` or a `ptrtoint`, also to one in another address space.
    ///
    /// # Panics
    /// If it is none of these, if the new one is no pointer (in as many lanes as the old one), or if it is of another
    /// module.
    pub fn set_pointer(self, pointer: impl Into<Value<'m>>) {
        let pointer = pointer.into();
        let index = match self.opcode() {
            Opcode::LLVMLoad | Opcode::LLVMPtrToInt => 0,
            Opcode::LLVMStore => 1,
            _ => panic!("{} has no pointer that could change", self.text()),
        };
        let is_pointer = pointer.ty().scalar().is_pointer() && pointer.ty().lanes() == self.operand(index).ty().lanes();
        self.change_operand(index, pointer, is_pointer);
    }

    /// Changes what an `icmp` compares, also to values of another type.
    ///
    /// # Panics
    /// If it is none, if the values are not of one type that it compares, in as many lanes as the old ones, or if they
    /// are of another module.
    pub fn set_compared(self, x: impl Into<Value<'m>>, y: impl Into<Value<'m>>) {
        let (x, y) = (x.into(), y.into());
        assert!(self.is(Opcode::LLVMICmp), "{} compares no integers", self.text());
        let scalar = x.ty().scalar();
        let is_compared = x.ty() == y.ty() && (scalar.is_integer() || scalar.is_pointer());
        let is_shaped = x.ty().lanes() == self.ty().lanes();
        // When both are changed they have one type, in the result's lanes.
        self.change_operand(0, x, is_compared && is_shaped);
        self.change_operand(1, y, is_compared && is_shaped);
    }

    pub(super) fn assert_same_module(self, value: Value<'m>) {
        if let Some(module) = self.value().module() {
            assert!(value.fits(module), "{} is of another module", value.text());
        }
        assert_not_erased(self);
    }
}
