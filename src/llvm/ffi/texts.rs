//! LLVM's functions that take or give texts as the first byte and a length.

use std::ffi::{c_char, c_uint};

use crate::llvm::handles::{ContextHandle, File, Function, NodeHandle, Value};
use crate::llvm::narrow::{Call, TextAttribute};
use crate::llvm::text::text;

/// Defines functions that return a text which LLVM owns and gives with its length; `None` where LLVM gives null.
macro_rules! given {
    ($($name:ident($of:ty), $length:ty: $symbol:ident;)*) => {$(
        pub fn $name(of: $of) -> Option<String> {
            unsafe extern "C" {
                fn $symbol(of: $of, length: *mut $length) -> *const c_char;
            }
            let mut length = 0;
            // SAFETY: LLVM gives null, or readable bytes together with their number.
            unsafe { text($symbol(of, &mut length), length as usize) }
        }
    )*};
}

given! {
    value_name(Value<'_>), usize: LLVMGetValueName2;
    metadata_string(Value<'_>), c_uint: LLVMGetMDString;
    attribute_key(TextAttribute<'_>), c_uint: LLVMGetStringAttributeKind;
    attribute_text(TextAttribute<'_>), c_uint: LLVMGetStringAttributeValue;
    file_name(File<'_>), c_uint: LLVMDIFileGetFilename;
    file_directory(File<'_>), c_uint: LLVMDIFileGetDirectory;
}

/// Defines functions that give LLVM a text as their last argument, of which it reads as many bytes as it is told.
macro_rules! taken {
    ($($name:ident($($arg:ident: $of:ty),*), $length:ty $(, -> $result:ty)?: $symbol:ident;)*) => {$(
        pub fn $name<'m>($($arg: $of,)* text: &str) $(-> $result)? {
            unsafe extern "C" {
                fn $symbol<'m>($($arg: $of,)* text: *const c_char, length: $length) $(-> $result)?;
            }
            // SAFETY: LLVM reads as many bytes as it is told, and keeps a copy if any.
            unsafe { $symbol($($arg,)* text.as_ptr().cast(), text.len() as $length) }
        }
    )*};
}

taken! {
    metadata_kind(context: ContextHandle<'m>), c_uint, -> c_uint: LLVMGetMDKindIDInContext;
    metadata_of_string(context: ContextHandle<'m>), usize, -> NodeHandle<'m>: LLVMMDStringInContext2;
    sync_scope(context: ContextHandle<'m>), usize, -> c_uint: LLVMGetSyncScopeID;
    intrinsic_id(), usize, -> c_uint: LLVMLookupIntrinsicID;
    attribute_kind(), usize, -> c_uint: LLVMGetEnumAttributeKindForName;
    set_value_name(value: Value<'m>), usize: LLVMSetValueName2;
    remove_text_attribute(function: Function<'m>, index: c_uint), c_uint: LLVMRemoveStringAttributeAtIndex;
    remove_call_text_attribute(call: Call<'m>, index: c_uint), c_uint: LLVMRemoveCallSiteStringAttribute;
}
