//! LLVM's functions that take or give texts as the first byte and a length.

use std::ffi::{c_char, c_uint};

use crate::llvm::handles::{ContextHandle, Function, NodeHandle, Value};
use crate::llvm::narrow::{Call, File, TextAttribute};
use crate::llvm::text::text;

/// Defines functions that return a text which LLVM owns and gives with its length; `None` where LLVM gives null.
macro_rules! given {
    ($($name:ident($of:ty), $length:ty: $symbol:ident;)*) => {$(
        #[doc = concat!("Returns the text of `", stringify!($symbol), "`.")]
        pub fn $name(of: $of) -> Option<String> {
            unsafe extern "C" {
                fn $symbol(of: $of, length: *mut $length) -> *const c_char;
            }
            let mut length = 0;
            // SAFETY: LLVM gives null, or readable bytes together with their number.
            unsafe { text($symbol(of, &mut length), usize::try_from(length).expect("a length")) }
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
    ($($name:ident$(<$life:lifetime>)?($($arg:ident: $of:ty),*), $length:ty $(, -> $result:ty)?: $symbol:ident;)*) => {$(
        #[doc = concat!("Calls `", stringify!($symbol), "` with a text.")]
        pub fn $name$(<$life>)?($($arg: $of,)* text: &str) $(-> $result)? {
            unsafe extern "C" {
                fn $symbol$(<$life>)?($($arg: $of,)* text: *const c_char, length: $length) $(-> $result)?;
            }
            let length = <$length>::try_from(text.len()).expect("a text of less than 4 GiB");
            // SAFETY: LLVM reads as many bytes as it is told, and keeps a copy if any.
            unsafe { $symbol($($arg,)* text.as_ptr().cast(), length) }
        }
    )*};
}

taken! {
    metadata_kind<'m>(context: ContextHandle<'m>), c_uint, -> c_uint: LLVMGetMDKindIDInContext;
    metadata_of_string<'m>(context: ContextHandle<'m>), usize, -> NodeHandle<'m>: LLVMMDStringInContext2;
    sync_scope<'m>(context: ContextHandle<'m>), usize, -> c_uint: LLVMGetSyncScopeID;
    attribute_kind(), usize, -> c_uint: LLVMGetEnumAttributeKindForName;
    set_value_name<'m>(value: Value<'m>), usize: LLVMSetValueName2;
    remove_text_attribute<'m>(function: Function<'m>, index: c_uint), c_uint: LLVMRemoveStringAttributeAtIndex;
    remove_call_text_attribute<'m>(call: Call<'m>, index: c_uint), c_uint: LLVMRemoveCallSiteStringAttribute;
}
