//! Texts to and from LLVM.

use std::borrow::Cow;
use std::ffi::{CStr, CString, c_char};

/// Returns LLVM's text of so many bytes, lossily.
///
/// # Safety
/// `data` is null or leads to `length` readable bytes.
pub(super) unsafe fn text(data: *const c_char, length: usize) -> String {
    if data.is_null() {
        return String::new();
    }
    // SAFETY: as the caller promises.
    String::from_utf8_lossy(unsafe { std::slice::from_raw_parts(data.cast::<u8>(), length) }).into_owned()
}

/// Returns an LLVM message and frees it.
///
/// # Safety
/// `message` is null or a string that LLVM allocated for its caller.
pub(super) unsafe fn take_message(message: *mut c_char) -> String {
    if message.is_null() {
        return String::new();
    }
    // SAFETY: as the caller promises; the text is copied before it is freed.
    unsafe {
        let owned = CStr::from_ptr(message).to_string_lossy().into_owned();
        llvm_sys::core::LLVMDisposeMessage(message);
        owned
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
