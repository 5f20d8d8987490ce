//! Global variables.

use super::ffi;
use super::handles::{Global, Value};

impl<'m> Global<'m> {
    /// Whether it never changes.
    pub fn is_constant(self) -> bool {
        ffi::LLVMIsGlobalConstant(self) != 0
    }

    /// Whether a host may give it other contents before the program runs.
    pub fn is_externally_initialized(self) -> bool {
        ffi::LLVMIsExternallyInitialized(self) != 0
    }

    /// Returns the initial value; `None` for a declaration.
    pub fn initializer(self) -> Option<Value<'m>> {
        ffi::LLVMGetInitializer(self)
    }

    /// See [`Value::set_alignment`].
    pub fn set_alignment(self, bytes: u32) {
        self.value().set_alignment(bytes);
    }

    /// Says whether it never changes.
    pub fn set_constant(self, is_constant: bool) {
        ffi::LLVMSetGlobalConstant(self, is_constant.into());
    }

    /// # Panics
    /// If the initial value is no constant of its type and module.
    pub fn set_initializer(self, value: Value<'m>) {
        let module = self.value().module().expect("a global is in a module");
        assert!(
            value.is_constant() && value.ty() == self.value_type(),
            "{} cannot begin as {}",
            self.name(),
            value.text()
        );
        assert!(value.fits(module), "{} is of another module", value.text());
        // SAFETY: a constant of the variable's type and module.
        unsafe { ffi::LLVMSetInitializer(self, value) }
    }

    /// Deletes the variable.
    ///
    /// # Safety
    /// Nothing uses it, and no copy of its handle is used afterwards.
    pub unsafe fn delete(self) {
        // SAFETY: as the caller promises.
        unsafe { ffi::LLVMDeleteGlobal(self) }
    }
}
