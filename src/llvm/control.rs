//! Control flow: branches, switches, phis, calls.

use super::Opcode;
use super::attributes::{AttributeIndex, Attributes};
use super::ffi;
use super::handles::{Block, Function, Inst, Type, Value};

impl<'m> Inst<'m> {
    /// Returns the successor blocks of a terminator, in order; none for other instructions.
    pub fn successors(self) -> Vec<Block<'m>> {
        // SAFETY: indices below the number of successors.
        (0..self.successor_count()).map(|i| unsafe { ffi::LLVMGetSuccessor(self, i) }).collect()
    }

    /// Changes where a terminator leads. The phis of both blocks are left alone ([`Block::redirect_phis`]).
    ///
    /// # Panics
    /// If there is no such successor, or the block is in another function.
    pub fn set_successor(self, index: u32, block: Block<'m>) {
        assert!(index < self.successor_count(), "{} has no successor {index}", self.text());
        if let Some(own) = self.try_block() {
            assert_eq!(own.function(), block.function(), "a successor in another function");
        }
        // SAFETY: the successor exists.
        unsafe { ffi::LLVMSetSuccessor(self, index, block) }
    }

    /// Makes every way of a terminator that leads to `old` lead to `new`.
    ///
    /// # Panics
    /// If `new` is in another function.
    pub fn redirect(self, old: Block<'m>, new: Block<'m>) {
        for (i, successor) in self.successors().into_iter().enumerate() {
            if successor == old {
                self.set_successor(i as u32, new);
            }
        }
    }

    /// Returns the condition of a conditional `br`.
    pub fn condition(self) -> Option<Value<'m>> {
        // SAFETY: only a conditional `br` is asked for its condition.
        unsafe { (self.is(Opcode::LLVMBr) && ffi::LLVMIsConditional(self) != 0).then(|| ffi::LLVMGetCondition(self)) }
    }

    /// Returns the condition of a conditional `br`, unless that is a constant.
    pub fn branch_condition(self) -> Option<Value<'m>> {
        self.condition().filter(|condition| !condition.is_constant())
    }

    /// # Panics
    /// Unless it is a conditional `br`, and the condition an `i1` of the same module.
    pub fn set_condition(self, condition: Value<'m>) {
        assert!(self.condition().is_some(), "{} has no condition", self.text());
        assert!(condition.ty().is_bool(), "{} is no condition", condition.text());
        if let Some(module) = self.value().module() {
            assert!(condition.fits(module), "{} is of another module", condition.text());
        }
        // SAFETY: a conditional `br` and an `i1`.
        unsafe { ffi::LLVMSetCondition(self, condition) }
    }

    /// Returns the cases of a `switch`, each with the block it leads to, in order; none for other instructions. The default is the first
    /// of [`Inst::successors`], the value that is switched on operand 0.
    pub fn switch_cases(self) -> Vec<(Value<'m>, Block<'m>)> {
        if !self.is(Opcode::LLVMSwitch) {
            return Vec::new();
        }
        let ways = self.successors().into_iter().enumerate().skip(1);
        // SAFETY: a `switch`, and successors behind the first, which have cases.
        ways.map(|(i, block)| (unsafe { ffi::LLVMGetSwitchCaseValue(self, i as u32) }, block)).collect()
    }

    /// Returns what a `phi` takes from each predecessor, in order; nothing for other instructions.
    pub fn incoming(self) -> Vec<(Value<'m>, Block<'m>)> {
        if !self.is(Opcode::LLVMPHI) {
            return Vec::new();
        }
        // SAFETY: a `phi`, and indices below the number of its entries.
        unsafe {
            let count = ffi::LLVMCountIncoming(self);
            (0..count).map(|i| (ffi::LLVMGetIncomingValue(self, i), ffi::LLVMGetIncomingBlock(self, i))).collect()
        }
    }

    /// Returns what a `phi` takes from a block.
    pub fn incoming_from(self, from: Block<'m>) -> Option<Value<'m>> {
        self.incoming().into_iter().find(|(_, block)| *block == from).map(|(value, _)| value)
    }

    /// Adds entries to a `phi`.
    ///
    /// # Panics
    /// Unless it is one, and the values have its type and are of the same module.
    pub fn add_incoming(self, entries: &[(Value<'m>, Block<'m>)]) {
        assert!(self.is(Opcode::LLVMPHI), "{} is no phi", self.text());
        let (mut values, mut blocks): (Vec<_>, Vec<_>) = entries.iter().copied().unzip();
        for value in &values {
            assert_eq!(value.ty(), self.ty(), "{} cannot come into {}", value.text(), self.text());
            if let Some(module) = self.value().module() {
                assert!(value.fits(module), "{} is of another module", value.text());
            }
        }
        if let Some(own) = self.try_block() {
            assert!(blocks.iter().all(|b| b.function() == own.function()), "a phi's predecessor in another function");
        }
        // SAFETY: a `phi`, as many blocks as values, values of its type.
        unsafe { ffi::LLVMAddIncoming(self, values.as_mut_ptr(), blocks.as_mut_ptr(), values.len() as u32) }
    }

    /// Whether it is a `call`.
    pub fn is_call(self) -> bool {
        self.is(Opcode::LLVMCall)
    }

    /// Returns what a call calls: a function, inline assembly, a pointer.
    pub fn called_value(self) -> Option<Value<'m>> {
        // SAFETY: only a call is asked.
        self.is_call().then(|| unsafe { ffi::LLVMGetCalledValue(self) })
    }

    /// Returns the function that a call calls directly.
    pub fn called_function(self) -> Option<Function<'m>> {
        self.called_value()?.as_function()
    }

    /// Returns the name of the function that a call calls directly.
    pub fn callee(self) -> Option<String> {
        self.called_function().map(Function::name)
    }

    /// Returns the function type by which a call calls.
    pub fn called_type(self) -> Option<Type<'m>> {
        // SAFETY: only a call is asked.
        self.is_call().then(|| unsafe { ffi::LLVMGetCalledFunctionType(self) })
    }

    /// Returns the arguments of a call; none for other instructions.
    pub fn args(self) -> Vec<Value<'m>> {
        (0..self.arg_count()).map(|i| self.operand(i)).collect()
    }

    /// Returns the number of arguments of a call; 0 for other instructions.
    pub fn arg_count(self) -> u32 {
        // SAFETY: only a call is asked.
        if self.is_call() { unsafe { ffi::LLVMGetNumArgOperands(self) } } else { 0 }
    }

    /// Returns how many bundles of further operands a call has.
    pub fn operand_bundle_count(self) -> u32 {
        // SAFETY: only a call is asked.
        if self.is_call() { unsafe { ffi::LLVMGetNumOperandBundles(self) } } else { 0 }
    }

    /// Returns LLVM's number of a call's calling convention.
    pub fn call_conv(self) -> Option<u32> {
        // SAFETY: only a call is asked.
        self.is_call().then(|| unsafe { ffi::LLVMGetInstructionCallConv(self) })
    }

    /// # Panics
    /// Unless it is a call, or if LLVM has no calling convention of that number.
    pub fn set_call_conv(self, convention: u32) {
        assert!(self.is_call(), "{} calls nothing", self.text());
        assert!(convention <= 1023, "no calling convention has the number {convention}");
        // SAFETY: a call.
        unsafe { ffi::LLVMSetInstructionCallConv(self, convention) }
    }

    /// # Panics
    /// Unless it is a call.
    pub fn set_tail_call(self, is_tail: bool) {
        assert!(self.is_call(), "{} calls nothing", self.text());
        // SAFETY: a call.
        unsafe { ffi::LLVMSetTailCall(self, is_tail.into()) }
    }

    /// Returns the attributes of a call, of its result or of an argument.
    ///
    /// # Panics
    /// Unless it is a call.
    pub fn attributes(self, index: AttributeIndex) -> Attributes<'m> {
        assert!(self.is_call(), "{} calls nothing", self.text());
        Attributes::of_call(self, index)
    }

    fn successor_count(self) -> u32 {
        // SAFETY: only a terminator is asked.
        if self.is_terminator() { unsafe { ffi::LLVMGetNumSuccessors(self) } } else { 0 }
    }
}
