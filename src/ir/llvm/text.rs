//! Texts to and from LLVM.

use std::borrow::Cow;
use std::ffi::{CStr, CString, c_char};
use std::ptr::NonNull;

/// Returns LLVM's text of so many bytes, lossily; `None` for null.
///
/// # Safety
/// `data` is null or leads to `length` readable bytes.
pub(super) unsafe fn text(data: *const c_char, length: usize) -> Option<String> {
    if data.is_null() {
        return None;
    }
    // SAFETY: as the caller promises.
    Some(String::from_utf8_lossy(unsafe { std::slice::from_raw_parts(data.cast::<u8>(), length) }).into_owned())
}

/// A text that LLVM allocated for its caller.
#[repr(transparent)]
pub(super) struct Message(NonNull<c_char>);

impl Message {
    /// Returns the text.
    pub fn text(self) -> String {
        // SAFETY: a text that ends with NUL, and lives until this is dropped.
        unsafe { CStr::from_ptr(self.0.as_ptr()) }.to_string_lossy().into_owned()
    }
}

impl Drop for Message {
    fn drop(&mut self) {
        // SAFETY: allocated for this owner alone, and freed once.
        unsafe { llvm_sys::core::LLVMDisposeMessage(self.0.as_ptr()) }
    }
}

/// Returns a name for LLVM; nothing is allocated for the empty one.
///
/// # Panics
/// If the name contains a NUL.
pub(super) fn name(name: &str) -> Cow<'static, CStr> {
    match name {
        "" => Cow::Borrowed(c""),
        _ => Cow::Owned(CString::new(name).expect("a name without NUL")),
    }
}
