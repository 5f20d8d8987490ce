//! Functions.

use super::Linkage;
use super::attributes::{AttributeIndex, Attributes};
use super::debug::Location;
use super::ffi::{self, CallConvention};
use super::handles::{Block, ContextHandle, Function, Global, Inst, Type, Value};
use super::metadata::Node;
use super::text::name as c_name;

/// LLVM's number of the calling convention of OpenCL's functions, `spir_func`.
pub const SPIR_FUNC: u32 = 75;
/// LLVM's number of the calling convention of OpenCL's kernels, `spir_kernel`.
pub const SPIR_KERNEL: u32 = 76;

/// Implements what functions and global variables share.
macro_rules! global_value {
    ($($handle:ident)*) => {$(
        impl<'m> $handle<'m> {
            /// Whether only its type is known here. A function of a module that is read lazily has a body.
            pub fn is_declaration(self) -> bool {
                ffi::LLVMIsDeclaration(self.into()) != 0
            }

            /// Returns the linkage.
            pub fn linkage(self) -> Linkage {
                ffi::LLVMGetLinkage(self.into())
            }

            /// Sets the linkage.
            pub fn set_linkage(self, linkage: Linkage) {
                ffi::LLVMSetLinkage(self.into(), linkage);
            }

            /// Makes it internal, with default visibility.
            pub fn make_internal(self) {
                self.set_linkage(Linkage::LLVMInternalLinkage);
                ffi::LLVMSetVisibility(self.into(), llvm_sys::LLVMVisibility::LLVMDefaultVisibility);
            }

            /// Returns the type of what it names: a function type, or a variable's.
            pub fn value_type(self) -> Type<'m> {
                ffi::LLVMGlobalGetValueType(self.into())
            }
        }
    )*};
}

global_value! { Function Global }

impl<'m> Function<'m> {
    pub(super) fn context(self) -> ContextHandle<'m> {
        self.ty().context()
    }

    /// Whether blocks of it are here. See also [`Function::is_declaration`].
    pub fn has_body(self) -> bool {
        ffi::LLVMCountBasicBlocks(self) > 0
    }

    /// Returns the blocks, in the function's order; none for a declaration.
    pub fn blocks(self) -> Vec<Block<'m>> {
        std::iter::successors(ffi::LLVMGetFirstBasicBlock(self), |block| block.next()).collect()
    }

    /// Returns the entry block.
    ///
    /// # Panics
    /// If the function has no body.
    pub fn entry(self) -> Block<'m> {
        ffi::LLVMGetFirstBasicBlock(self).unwrap_or_else(|| panic!("`{}` has no body", self.name()))
    }

    /// Returns all instructions, block by block.
    pub fn instructions(self) -> Vec<Inst<'m>> {
        self.blocks().into_iter().flat_map(Block::walk).collect()
    }

    /// Returns the instructions of each block: for callers that look for many by their numbers.
    pub fn instructions_by_block(self) -> Vec<Vec<Inst<'m>>> {
        self.blocks().into_iter().map(Block::instructions).collect()
    }

    /// Returns the number of parameters.
    pub fn param_count(self) -> u32 {
        ffi::LLVMCountParams(self)
    }

    /// Returns the parameter at a position, from 0.
    pub fn param(self, index: u32) -> Option<Value<'m>> {
        ffi::parameter(self, index)
    }

    /// Returns the parameters, in order.
    pub fn params(self) -> Vec<Value<'m>> {
        (0..).map_while(|i| self.param(i)).collect()
    }

    /// Returns the last parameter; `None` if there is none.
    pub fn last_param(self) -> Option<Value<'m>> {
        self.param(self.param_count().checked_sub(1)?)
    }

    /// Returns the type of what it returns.
    pub fn return_type(self) -> Type<'m> {
        self.value_type().signature().expect("a function's type is a function type").0
    }

    /// Returns LLVM's number of the calling convention.
    pub fn call_conv(self) -> u32 {
        ffi::LLVMGetFunctionCallConv(self)
    }

    /// # Panics
    /// If LLVM has no calling convention of that number.
    pub fn set_call_conv(self, convention: u32) {
        ffi::LLVMSetFunctionCallConv(self, CallConvention::of(convention));
    }

    /// Takes the name of the garbage collector away.
    pub fn clear_gc(self) {
        ffi::LLVMSetGC(self, None);
    }

    /// Returns the attributes of the function itself, of its result or of a parameter.
    pub fn attributes(self, index: AttributeIndex) -> Attributes<'m> {
        Attributes::of_function(self, index)
    }

    /// Whether it takes the parameter at a position by value, as a pointer to a copy.
    pub fn is_by_value(self, position: u32) -> bool {
        self.attributes(AttributeIndex::Parameter(position)).has("byval")
    }

    /// Returns the type of what it takes by value at a position, as a pointer to a copy.
    pub fn by_value_type(self, position: u32) -> Option<Type<'m>> {
        self.attributes(AttributeIndex::Parameter(position)).get("byval")?.type_value()
    }

    /// Returns the debug information of the function.
    pub fn subprogram(self) -> Option<Node<'m>> {
        Some(Node::known(ffi::LLVMGetSubprogram(self)?, self.context()))
    }

    /// Returns the location of code that no line of the source stands for; `None` without debug information.
    pub fn line_zero(self) -> Option<Location<'m>> {
        Some(Location::new(self.subprogram()?, 0, 0))
    }

    /// Adds an empty block at the end.
    pub fn append_block(self, name: &str) -> Block<'m> {
        ffi::LLVMAppendBasicBlockInContext(self.context(), self, c_name(name).as_ref().into())
    }

    /// Moves a block here from another function of the module, to the end.
    ///
    /// # Panics
    /// If the functions are of different modules.
    pub fn take_block(self, block: Block<'m>) {
        assert_eq!(self.value().module(), block.value().module(), "a block of another module");
        // SAFETY: the block is in a function, and is put into this one at once.
        unsafe {
            ffi::LLVMRemoveBasicBlockFromParent(block);
            ffi::LLVMAppendExistingBasicBlock(self, block);
        }
    }

    /// Turns it into a declaration.
    ///
    /// # Safety
    /// Handles of its instructions and blocks must not be used any more.
    pub unsafe fn delete_body(self) {
        let blocks = self.blocks();
        for inst in blocks.iter().flat_map(|block| block.instructions()) {
            if !inst.ty().is_void() {
                inst.replace_uses(inst.ty().poison());
            }
            inst.erase();
        }
        for block in blocks {
            // SAFETY: the terminators that led to the block are erased, each block is visited once, and no handle is
            // left.
            unsafe { block.delete() };
        }
    }

    /// Deletes the function.
    ///
    /// # Safety
    /// Nothing uses it, and no copy of its handle, or of one of its blocks, instructions or parameters, is used
    /// afterwards.
    pub unsafe fn delete(self) {
        // SAFETY: as the caller promises.
        unsafe { ffi::LLVMDeleteFunction(self) }
    }
}
