//! Values: what is known of any of them, and what they are.

use std::collections::HashSet;

use super::ffi;
use super::handles::{Block, Function, Global, Inst, ModuleHandle, Type, Value};
use super::narrow::*;
use super::{Opcode, TypeKind};

impl<'m> From<Block<'m>> for Value<'m> {
    fn from(block: Block<'m>) -> Value<'m> {
        ffi::LLVMBasicBlockAsValue(block)
    }
}

/// Implements what every value has on handles that are more than one.
macro_rules! as_value {
    ($($handle:ident)*) => {$(
        impl<'m> $handle<'m> {
            /// Returns it as a value.
            pub fn value(self) -> Value<'m> {
                self.into()
            }

            /// Returns the name; empty if there is none.
            pub fn name(self) -> String {
                self.value().name()
            }

            /// Names it. LLVM adds a number if another of that name exists.
            pub fn set_name(self, name: &str) {
                self.value().set_name(name);
            }

            /// See [`Value::ty`].
            pub fn ty(self) -> Type<'m> {
                self.value().ty()
            }

            /// See [`Value::users`].
            pub fn users(self) -> Vec<Value<'m>> {
                self.value().users()
            }

            /// See [`Value::is_used`].
            pub fn is_used(self) -> bool {
                self.value().is_used()
            }

            /// Returns LLVM's text of it.
            pub fn text(self) -> String {
                self.value().text()
            }
        }

        impl<'m> PartialEq<Value<'m>> for $handle<'m> {
            fn eq(&self, other: &Value<'m>) -> bool {
                self.value() == *other
            }
        }

        impl<'m> PartialEq<$handle<'m>> for Value<'m> {
            fn eq(&self, other: &$handle<'m>) -> bool {
                *self == other.value()
            }
        }
    )*};
}

as_value! { Function Global Inst Block }

impl<'m> Value<'m> {
    /// Returns the type.
    pub fn ty(self) -> Type<'m> {
        ffi::LLVMTypeOf(self)
    }

    /// Returns the name; empty if there is none.
    pub fn name(self) -> String {
        ffi::value_name(self).unwrap_or_default()
    }

    /// Names it; the empty name takes the name away. LLVM adds a number if another of that name exists. Constants that
    /// are no globals have no names.
    ///
    /// # Panics
    /// If it has no result that could be named.
    pub fn set_name(self, name: &str) {
        assert!(name.is_empty() || !self.ty().is_void(), "a name for {}, which has no result", self.text());
        ffi::set_value_name(self, name);
    }

    /// Returns LLVM's text of it.
    pub fn text(self) -> String {
        ffi::LLVMPrintValueToString(self).text()
    }

    /// Returns the users, once for each use, in LLVM's order.
    pub fn uses(self) -> Vec<Value<'m>> {
        let chain = std::iter::successors(ffi::LLVMGetFirstUse(self), |usage| ffi::LLVMGetNextUse(*usage));
        chain.map(|usage| ffi::LLVMGetUser(usage)).collect()
    }

    /// Returns the users, instructions and constants, each once, in LLVM's order.
    pub fn users(self) -> Vec<Value<'m>> {
        let mut seen = HashSet::new();
        let mut all = self.uses();
        all.retain(|user| seen.insert(*user));
        all
    }

    /// Returns the users that are instructions, each once, in LLVM's order.
    pub fn user_instructions(self) -> Vec<Inst<'m>> {
        self.users().into_iter().filter_map(Value::as_instruction).collect()
    }

    /// Whether anything uses it.
    pub fn is_used(self) -> bool {
        ffi::LLVMGetFirstUse(self).is_some()
    }

    /// Returns the instruction, if it is one.
    pub fn as_instruction(self) -> Option<Inst<'m>> {
        ffi::LLVMIsAInstruction(self)
    }

    /// Returns the instruction, if it is one of that opcode.
    pub fn as_opcode(self, opcode: Opcode) -> Option<Inst<'m>> {
        self.as_instruction().filter(|inst| inst.opcode() == opcode)
    }

    /// Returns the function, if it is one.
    pub fn as_function(self) -> Option<Function<'m>> {
        ffi::LLVMIsAFunction(self)
    }

    /// Returns the global variable, if it is one.
    pub fn as_global(self) -> Option<Global<'m>> {
        ffi::LLVMIsAGlobalVariable(self)
    }

    /// Returns the block, if it is one.
    pub fn as_block(self) -> Option<Block<'m>> {
        BlockValue::of(self).map(|block| ffi::LLVMValueAsBasicBlock(block))
    }

    /// Whether it is a block.
    pub fn is_block(self) -> bool {
        ffi::LLVMValueIsBasicBlock(self) != 0
    }

    /// Whether it is a parameter of a function.
    pub fn is_parameter(self) -> bool {
        ffi::LLVMIsAArgument(self).is_some()
    }

    /// Whether it is a function, a global variable or an alias.
    pub fn is_global(self) -> bool {
        ffi::LLVMIsAGlobalValue(self).is_some()
    }

    /// Whether it is inline assembly.
    pub fn is_inline_asm(self) -> bool {
        ffi::LLVMIsAInlineAsm(self).is_some()
    }

    /// Returns the function of an instruction, a parameter or a block.
    pub fn function(self) -> Option<Function<'m>> {
        if let Some(inst) = self.as_instruction() {
            return inst.try_block().and_then(|block| ffi::LLVMGetBasicBlockParent(block));
        }
        if let Some(block) = self.as_block() {
            return ffi::LLVMGetBasicBlockParent(block);
        }
        Parameter::of(self).map(|parameter| ffi::LLVMGetParamParent(parameter))
    }

    /// Returns the opcode of an instruction or of a constant expression.
    pub fn opcode(self) -> Option<Opcode> {
        match self.as_instruction() {
            Some(inst) => Some(inst.opcode()),
            None => ConstantExpression::of(self).map(|constant| ffi::LLVMGetConstOpcode(constant)),
        }
    }

    /// Returns the operands of an instruction, a constant or a global; nothing for other values.
    pub fn operands(self) -> Vec<Value<'m>> {
        User::of(self).into_iter().flat_map(|user| (0..user.count()).filter_map(move |i| user.operand(i))).collect()
    }

    /// Returns the number of operands; 0 if it is no user of values.
    pub fn operand_count(self) -> u32 {
        User::of(self).map_or(0, User::count)
    }

    /// Returns the operand at a position, if there is one.
    pub fn operand(self, index: u32) -> Option<Value<'m>> {
        User::of(self)?.operand(index)
    }

    /// Returns the type through which a `getelementptr` (an instruction or a constant) steps.
    pub fn gep_source(self) -> Option<Type<'m>> {
        Gep::of(self).map(|gep| ffi::LLVMGetGEPSourceElementType(gep))
    }

    /// Whether it is a `getelementptr` that says that it stays in bounds.
    pub fn is_in_bounds(self) -> bool {
        Gep::of(self).is_some_and(|gep| ffi::LLVMIsInBounds(gep) != 0)
    }

    /// Makes all that uses it use `new`.
    ///
    /// # Panics
    /// If the types differ, or if it is a constant or a global ([`Value::replace_constant`]).
    pub fn replace_uses(self, new: impl Into<Value<'m>>) {
        let new = new.into();
        assert!(!self.is_constant(), "the uses of the constant {} are to be replaced", self.text());
        self.assert_replaceable(new);
        // SAFETY: one type, two values of one module; users are instructions.
        unsafe { ffi::LLVMReplaceAllUsesWith(self, new) }
    }

    /// Makes all that uses a global or constant use `new`.
    ///
    /// # Panics
    /// If the types differ or `new` is no constant.
    ///
    /// # Safety
    /// Constants that are made of it give way to others: no copy of their handles is used afterwards.
    pub unsafe fn replace_constant(self, new: impl Into<Value<'m>>) {
        let new = new.into();
        assert!(self.is_constant() && new.is_constant(), "{} becomes {}, no constant", self.text(), new.text());
        self.assert_replaceable(new);
        // SAFETY: one type, two constants of one module.
        unsafe { ffi::LLVMReplaceAllUsesWith(self, new) }
    }

    fn assert_replaceable(self, new: Value<'m>) {
        assert!(self != new, "{} is to replace itself", self.text());
        assert_eq!(self.ty(), new.ty(), "{} cannot stand for {}", new.text(), self.text());
        if let Some(module) = self.module() {
            assert!(new.fits(module), "{} is of another module", new.text());
        }
    }

    /// Makes `users` use `new` where they use this, in the operands of instructions.
    ///
    /// # Panics
    /// If the types differ, or if a user is no instruction (constants do not change).
    pub fn replace_in(self, users: &[Value<'m>], new: impl Into<Value<'m>>) {
        let new = new.into();
        for user in users {
            let inst = user.as_instruction().unwrap_or_else(|| panic!("{} is no instruction", user.text()));
            for (i, operand) in inst.operands().into_iter().enumerate() {
                if operand == self {
                    inst.set_operand(i as u32, new);
                }
            }
        }
    }

    /// Returns the module in which it lives, if it is in one: constants that are no globals are not.
    pub(super) fn module(self) -> Option<ModuleHandle<'m>> {
        let global = match GlobalValue::of(self) {
            Some(global) => global,
            None => self.function()?.into(),
        };
        Some(ffi::LLVMGetGlobalParent(global))
    }

    /// Whether an instruction of `module` may have it as an operand: all globals in it are of that module, and the
    /// context is the same.
    pub(super) fn fits(self, module: ModuleHandle<'m>) -> bool {
        if self.ty().context() != ffi::LLVMGetModuleContext(module) {
            return false;
        }
        match self.module() {
            Some(own) => own == module,
            // A constant expression or aggregate may name globals. Removed instructions know no module, metadata holds
            // on to none.
            None => !self.is_constant() || self.operands().into_iter().all(|part| part.fits(module)),
        }
    }

    /// Whether it can be an operand of an arithmetic instruction, a `select` or a `phi`.
    pub(super) fn is_first_class(self) -> bool {
        self.ty().is_first_class()
    }

    /// Whether it is a metadata node or string as a value.
    pub fn is_metadata(self) -> bool {
        self.ty().kind() == TypeKind::LLVMMetadataTypeKind
    }
}

impl<'m> User<'m> {
    fn count(self) -> u32 {
        ffi::LLVMGetNumOperands(self).max(0).cast_unsigned()
    }

    fn operand(self, index: u32) -> Option<Value<'m>> {
        // SAFETY: the index is below the number of operands.
        (index < self.count()).then(|| unsafe { ffi::LLVMGetOperand(self, index) })?
    }
}
