//! Handles as keys.

use std::ffi::c_void;

/// A handle as a key. It is never looked into.
pub type Handle = usize;

/// A handle as a key.
pub fn key(handle: *const c_void) -> Handle {
    handle as Handle
}
