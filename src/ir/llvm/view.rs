//! The way into a module, and to the types of its context.

use std::ffi::CString;
use std::marker::PhantomData;
use std::ptr::NonNull;

use inkwell::module::Module;

use super::AddressSpace;
use super::builder::Builder;
use super::ffi;
use super::handles::{ContextHandle, Function, Global, Inst, ModuleHandle, Type, Value};
use super::memory::SyncScope;
use super::metadata::MetadataKind;
use super::text::name as c_name;
use super::types::{DataLayout, Types};

/// A module that is looked at and built in. What it gives lives as long as the borrow of the module.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct View<'m>(ModuleHandle<'m>);

impl<'m> View<'m> {
    /// Looks at a module.
    ///
    /// # Panics
    /// Never: inkwell's modules are not null.
    pub fn of(module: &'m Module<'_>) -> View<'m> {
        View(ModuleHandle(NonNull::new(module.as_mut_ptr()).expect("a module is not null"), PhantomData))
    }

    pub(super) fn of_handle(module: ModuleHandle<'m>) -> View<'m> {
        View(module)
    }

    /// Returns a copy of the module, to be changed.
    pub fn copied(self) -> Module<'m> {
        // SAFETY: LLVM copies into the module's own context, which lives as long as the borrow; the copy has
        // no other owner.
        unsafe { Module::new(llvm_sys::core::LLVMCloneModule(self.0.0.as_ptr())) }
    }

    /// Returns the types of the module's context.
    pub fn types(self) -> Types<'m> {
        Types::of_context(self.context())
    }

    pub(super) fn context(self) -> ContextHandle<'m> {
        ffi::LLVMGetModuleContext(self.0)
    }

    pub(super) fn handle(self) -> ModuleHandle<'m> {
        self.0
    }

    /// Returns a builder that stands nowhere yet.
    pub fn builder(self) -> Builder<'m> {
        Builder::new(self.0)
    }

    /// Returns all functions, declarations included, in order.
    pub fn functions(self) -> Vec<Function<'m>> {
        let next = |f: &Function<'m>| ffi::LLVMGetNextFunction(*f);
        std::iter::successors(ffi::LLVMGetFirstFunction(self.0), next).collect()
    }

    /// Returns the function of that name.
    pub fn function(self, name: &str) -> Option<Function<'m>> {
        ffi::LLVMGetNamedFunction(self.0, CString::new(name).ok()?.as_c_str().into())
    }

    /// Returns all instructions of all functions, in order.
    pub fn instructions(self) -> Vec<Inst<'m>> {
        self.functions().into_iter().flat_map(Function::instructions).collect()
    }

    /// Returns all global variables, declarations included, in order.
    pub fn globals(self) -> Vec<Global<'m>> {
        let next = |g: &Global<'m>| ffi::LLVMGetNextGlobal(*g);
        std::iter::successors(ffi::LLVMGetFirstGlobal(self.0), next).collect()
    }

    /// Returns the global variable of that name.
    pub fn global(self, name: &str) -> Option<Global<'m>> {
        ffi::LLVMGetNamedGlobal(self.0, CString::new(name).ok()?.as_c_str().into())
    }

    /// Declares a function. LLVM changes the name if another has it.
    ///
    /// # Panics
    /// Unless `ty` is a function type of this context.
    pub fn add_function(self, name: &str, ty: Type<'m>) -> Function<'m> {
        assert!(ty.signature().is_some(), "a function of type {}", ty.text());
        assert_eq!(ty.context(), self.context(), "{} is of another context", ty.text());
        // SAFETY: a function type of the module's context.
        unsafe { ffi::LLVMAddFunction(self.0, c_name(name).as_ref().into(), ty) }
    }

    /// Returns the function of that name, which is declared with that type if there is none.
    ///
    /// # Panics
    /// As [`View::add_function`].
    pub fn function_or_declared(self, name: &str, ty: Type<'m>) -> Function<'m> {
        self.function(name).unwrap_or_else(|| self.add_function(name, ty))
    }

    /// Declares a global variable. LLVM changes the name if another has it.
    ///
    /// # Panics
    /// Unless `ty` is a sized type of this context.
    pub fn add_global(self, name: &str, ty: Type<'m>, space: AddressSpace) -> Global<'m> {
        assert!(ty.is_sized(), "a variable of type {}", ty.text());
        assert_eq!(ty.context(), self.context(), "{} is of another context", ty.text());
        // SAFETY: a sized type of the module's context.
        unsafe { ffi::LLVMAddGlobalInAddressSpace(self.0, ty, c_name(name).as_ref().into(), space.number()) }
    }

    /// Returns the struct type of that name, such as `struct.params`, if the context has one with a body.
    pub fn named_struct(self, name: &str) -> Option<Type<'m>> {
        let ty = ffi::LLVMGetTypeByName2(self.context(), CString::new(name).ok()?.as_c_str().into())?;
        (!ty.is_opaque()).then_some(ty)
    }

    /// Returns the target extension type of that name without parameters, such as `spirv.Event`.
    pub fn target_type(self, name: &str) -> Type<'m> {
        let (types, numbers) = (std::ptr::null_mut(), std::ptr::null_mut());
        // SAFETY: there are no parameters.
        unsafe { ffi::LLVMTargetExtTypeInContext(self.context(), c_name(name).as_ref().into(), types, 0, numbers, 0) }
    }

    /// Returns the sizes and alignments of the module's target.
    pub fn layout(self) -> DataLayout<'m> {
        DataLayout(ffi::LLVMGetModuleDataLayout(self.0))
    }

    /// Returns the kind of metadata of that name, such as `llvm.loop`.
    pub fn metadata_kind(self, name: &str) -> MetadataKind {
        MetadataKind(ffi::metadata_kind(self.context(), name))
    }

    /// Returns what atomic instructions with that name for a scope synchronise with.
    pub fn sync_scope(self, name: &str) -> SyncScope {
        SyncScope(ffi::sync_scope(self.context(), name))
    }

    /// Returns the name of the intrinsic `base` (such as `llvm.fptosi.sat`) for the types over which it is overloaded.
    /// A function that is declared by it is the intrinsic.
    pub fn intrinsic_name(self, base: &str, types: &[Type<'m>]) -> String {
        types.iter().fold(base.to_owned(), |name, ty| format!("{name}.{}", ty.mangled()))
    }

    /// Takes all debug information away. Returns whether there was some.
    pub fn strip_debug_info(self) -> bool {
        ffi::LLVMStripModuleDebugInfo(self.0) != 0
    }

    /// See [`Types::int`].
    pub fn int_type(self, bits: u32) -> Type<'m> {
        self.types().int(bits)
    }

    /// See [`Types::pointer`].
    pub fn pointer_type(self, space: AddressSpace) -> Type<'m> {
        self.types().pointer(space)
    }

    /// See [`Types::void`].
    pub fn void_type(self) -> Type<'m> {
        self.types().void()
    }
}

impl<'m> Function<'m> {
    /// Returns the module that it is in.
    pub fn view(self) -> View<'m> {
        View(Value::from(self).module().expect("a function is in a module"))
    }
}
