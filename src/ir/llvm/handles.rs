//! The handles: pointers to what LLVM owns, bound to the borrow of its module.

use std::marker::PhantomData;
use std::ptr::NonNull;

use llvm_sys::{
    LLVMBasicBlock, LLVMBuilder, LLVMContext, LLVMModule, LLVMOpaqueAttributeRef, LLVMOpaqueMetadata, LLVMType,
    LLVMUse, LLVMValue,
};

/// Defines a handle. It has the representation of LLVM's pointer, and its `Option` that of one that may be null, so
/// both can stand in the declarations of [`super::ffi`].
macro_rules! handle {
    ($(#[$doc:meta])* $name:ident of $pointee:ty) => {
        $(#[$doc])*
        #[repr(transparent)]
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name<'m>(pub(super) NonNull<$pointee>, pub(super) PhantomData<&'m ()>);
    };
}

handle! {
    /// Anything that has a type and can be an operand: constants, globals, parameters, instructions, blocks.
    Value of LLVMValue
}
handle! {
    /// A function, declared or defined.
    Function of LLVMValue
}
handle! {
    /// A global variable.
    Global of LLVMValue
}
handle! {
    /// An instruction. One that was removed from its block stays usable until it is inserted again.
    Inst of LLVMValue
}
handle! {
    /// A basic block.
    Block of LLVMBasicBlock
}
handle! {
    /// A type.
    Type of LLVMType
}
handle! {
    /// A node of debug information or other metadata.
    NodeHandle of LLVMOpaqueMetadata
}
handle! {
    /// A variable of the source, in debug information.
    Variable of LLVMOpaqueMetadata
}
handle! {
    /// An attribute of a function, a call or a parameter.
    AttributeHandle of LLVMOpaqueAttributeRef
}
handle! {
    /// A module.
    ModuleHandle of LLVMModule
}
handle! {
    /// A context.
    ContextHandle of LLVMContext
}
handle! {
    /// A builder that is owned elsewhere.
    BuilderHandle of LLVMBuilder
}
handle! {
    /// One use of a value by a user.
    Use of LLVMUse
}

impl<'m> From<Function<'m>> for Value<'m> {
    fn from(function: Function<'m>) -> Value<'m> {
        Value(function.0, PhantomData)
    }
}

impl<'m> From<Global<'m>> for Value<'m> {
    fn from(global: Global<'m>) -> Value<'m> {
        Value(global.0, PhantomData)
    }
}

impl<'m> From<Inst<'m>> for Value<'m> {
    fn from(inst: Inst<'m>) -> Value<'m> {
        Value(inst.0, PhantomData)
    }
}
