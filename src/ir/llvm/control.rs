//! Control flow: branches, switches, phis, calls.

use super::attributes::{AttributeIndex, Attributes};
use super::erased::assert_not_erased;
use super::ffi::{self, CallConvention};
use super::handles::{Block, Function, Inst, Type, Value};
use super::narrow::{Call, Condition, ConditionalBranch, Phi, Switch, Terminator};

impl<'m> Inst<'m> {
    /// Returns the successor blocks of a terminator, in order; none for other instructions.
    pub fn successors(self) -> Vec<Block<'m>> {
        let Some(terminator) = Terminator::of(self) else { return Vec::new() };
        (0..).map_while(|i| ffi::successor(terminator, i)).collect()
    }

    /// Changes where a terminator leads. The phis of both blocks are left alone ([`Block::redirect_phis`]).
    ///
    /// # Panics
    /// If there is no such successor, or the block is in another function.
    pub fn set_successor(self, index: u32, block: Block<'m>) {
        let has_successor = |terminator: &Terminator<'m>| ffi::successor(*terminator, index).is_some();
        let terminator = Terminator::of(self).filter(has_successor);
        let terminator = terminator.unwrap_or_else(|| panic!("{} has no successor {index}", self.text()));
        if let Some(own) = self.try_block() {
            assert_eq!(own.function(), block.function(), "a successor in another function");
        }
        assert_not_erased(self);
        // SAFETY: the successor exists.
        unsafe { ffi::LLVMSetSuccessor(terminator, index, block) }
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
        ConditionalBranch::of(self).map(|branch| ffi::LLVMGetCondition(branch))
    }

    /// Returns the condition of a conditional `br`, unless that is a constant.
    pub fn branch_condition(self) -> Option<Value<'m>> {
        self.condition().filter(|condition| !condition.is_constant())
    }

    /// # Panics
    /// Unless it is a conditional `br`, and the condition an `i1` of the same module.
    pub fn set_condition(self, condition: Value<'m>) {
        let branch = ConditionalBranch::of(self).unwrap_or_else(|| panic!("{} has no condition", self.text()));
        let bit = Condition::of(condition).unwrap_or_else(|| panic!("{} is no condition", condition.text()));
        self.assert_same_module(condition);
        // SAFETY: an `i1` of the same module.
        unsafe { ffi::LLVMSetCondition(branch, bit) }
    }

    /// Returns the cases of a `switch`, each with the block it leads to, in order; none for other instructions. The
    /// default is the first of [`Inst::successors`], the value that is switched on operand 0.
    pub fn switch_cases(self) -> Vec<(Value<'m>, Block<'m>)> {
        let Some(switch) = Switch::of(self) else { return Vec::new() };
        let ways = self.successors().into_iter().enumerate().skip(1);
        // SAFETY: successors after the first, which have cases.
        ways.map(|(i, block)| (unsafe { ffi::LLVMGetSwitchCaseValue(switch, i as u32) }, block)).collect()
    }

    /// Has a `switch` choose by another value, with other numbers for its cases, in order.
    ///
    /// # Panics
    /// Unless it is one, the numbers are constants of the value's type, and there are as many as cases.
    pub fn set_switch(self, value: Value<'m>, cases: &[Value<'m>]) {
        let switch = Switch::of(self).unwrap_or_else(|| panic!("{} is no switch", self.text()));
        let fits = |case: &Value<'m>| case.is_constant_int() && case.ty() == value.ty();
        let is_whole = cases.len() + 1 == self.successors().len() && cases.iter().all(fits);
        assert!(is_whole && value.ty().is_integer(), "{} cannot choose by {}", self.text(), value.text());
        self.assert_same_module(value);
        // SAFETY: an integer of the same module, and constants of its type for all successors but the first.
        unsafe {
            ffi::LLVMSetOperand(self.into(), 0, value);
            (1..).zip(cases).for_each(|(way, case)| ffi::LLVMSetSwitchCaseValue(switch, way, *case));
        }
    }

    /// Returns what a `phi` takes from each predecessor, in order; nothing for other instructions, and for one in no
    /// block, whose predecessors may be gone.
    pub fn incoming(self) -> Vec<(Value<'m>, Block<'m>)> {
        let Some(phi) = Phi::of(self).filter(|_| self.try_block().is_some()) else { return Vec::new() };
        (0..).map_while(|i| Some((ffi::incoming_value(phi, i)?, ffi::incoming_block(phi, i)?))).collect()
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
        let phi = Phi::of(self).unwrap_or_else(|| panic!("{} is no phi", self.text()));
        let (mut values, mut blocks): (Vec<_>, Vec<_>) = entries.iter().copied().unzip();
        for value in &values {
            assert_eq!(value.ty(), self.ty(), "{} cannot come into {}", value.text(), self.text());
            self.assert_same_module(*value);
        }
        if let Some(own) = self.try_block() {
            assert!(blocks.iter().all(|b| b.function() == own.function()), "a phi's predecessor in another function");
        }
        // SAFETY: as many blocks as values, values of the phi's type and module.
        unsafe { ffi::LLVMAddIncoming(phi, values.as_mut_ptr(), blocks.as_mut_ptr(), values.len() as u32) }
    }

    /// Whether it is a `call`.
    pub fn is_call(self) -> bool {
        Call::of(self).is_some()
    }

    /// Returns what a call calls: a function, inline assembly, a pointer.
    pub fn called_value(self) -> Option<Value<'m>> {
        Call::of(self).map(|call| ffi::LLVMGetCalledValue(call))
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
        Call::of(self).map(|call| ffi::LLVMGetCalledFunctionType(call))
    }

    /// Returns the arguments of a call; none for other instructions.
    pub fn args(self) -> Vec<Value<'m>> {
        (0..self.arg_count()).map(|i| self.operand(i)).collect()
    }

    /// Returns the number of arguments of a call; 0 for other instructions.
    pub fn arg_count(self) -> u32 {
        Call::of(self).map_or(0, |call| ffi::LLVMGetNumArgOperands(call))
    }

    /// Returns how many bundles of further operands a call has.
    pub fn operand_bundle_count(self) -> u32 {
        Call::of(self).map_or(0, |call| ffi::LLVMGetNumOperandBundles(call))
    }

    /// Returns LLVM's number of a call's calling convention.
    pub fn call_conv(self) -> Option<u32> {
        Call::of(self).map(|call| ffi::LLVMGetInstructionCallConv(call))
    }

    /// # Panics
    /// Unless it is a call, or if LLVM has no calling convention of that number.
    pub fn set_call_conv(self, convention: u32) {
        ffi::LLVMSetInstructionCallConv(self.call(), CallConvention::of(convention));
    }

    /// # Panics
    /// Unless it is a call.
    pub fn set_tail_call(self, is_tail: bool) {
        ffi::LLVMSetTailCall(self.call(), is_tail.into());
    }

    /// Returns the attributes of a call, of its result or of an argument.
    ///
    /// # Panics
    /// Unless it is a call.
    pub fn attributes(self, index: AttributeIndex) -> Attributes<'m> {
        Attributes::of_call(self.call(), index)
    }

    fn call(self) -> Call<'m> {
        Call::of(self).unwrap_or_else(|| panic!("{} calls nothing", self.text()))
    }
}
