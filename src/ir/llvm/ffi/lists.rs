//! LLVM's functions that give one of many by its index, or many at once.

use std::ffi::{c_int, c_uint};

use super::*;
use crate::llvm::handles::{AttributeHandle, Block, Function, Type, Value};
use crate::llvm::narrow::{Call, FunctionType, NodeValue, Phi, Shuffle, StructType, TargetType, Terminator};

/// Defines functions that return the one at a position; `None` beyond the last one.
macro_rules! indexed {
    ($($name:ident($of:ty) -> $item:ty: $count:ident, $symbol:ident;)*) => {$(
        #[doc = concat!("Returns what `", stringify!($symbol), "` gives for an index.")]
        pub fn $name<'m>(of: $of, index: c_uint) -> Option<$item> {
            unsafe extern "C" {
                fn $symbol<'m>(of: $of, index: c_uint) -> $item;
            }
            // SAFETY: the index is below the count.
            (index < $count(of)).then(|| unsafe { $symbol(of, index) })
        }
    )*};
}

indexed! {
    field(StructType<'m>) -> Type<'m>: LLVMCountStructElementTypes, LLVMStructGetTypeAtIndex;
    target_number(TargetType<'m>) -> c_uint: LLVMGetTargetExtTypeNumIntParams, LLVMGetTargetExtTypeIntParam;
    parameter(Function<'m>) -> Value<'m>: LLVMCountParams, LLVMGetParam;
    successor(Terminator<'m>) -> Block<'m>: LLVMGetNumSuccessors, LLVMGetSuccessor;
    incoming_value(Phi<'m>) -> Value<'m>: LLVMCountIncoming, LLVMGetIncomingValue;
    incoming_block(Phi<'m>) -> Block<'m>: LLVMCountIncoming, LLVMGetIncomingBlock;
    mask_lane(Shuffle<'m>) -> c_int: LLVMGetNumMaskElements, LLVMGetMaskValue;
}

/// Defines functions that return all.
macro_rules! filled {
    ($($name:ident($of:ty $(, $index:ident)?) -> $item:ty: $count:ident, $symbol:ident;)*) => {$(
        #[doc = concat!("Returns all that `", stringify!($symbol), "` gives.")]
        pub fn $name<'m>(of: $of $(, $index: c_uint)?) -> Vec<$item> {
            unsafe extern "C" {
                fn $symbol<'m>(of: $of $(, $index: c_uint)?, into: *mut $item);
            }
            let count = $count(of $(, $index)?) as usize;
            let mut all = Vec::with_capacity(count);
            // SAFETY: there is room for as many as there are, and then that length.
            unsafe {
                $symbol(of $(, $index)?, all.as_mut_ptr());
                all.set_len(count);
            }
            all
        }
    )*};
}

filled! {
    parameter_types(FunctionType<'m>) -> Type<'m>: LLVMCountParamTypes, LLVMGetParamTypes;
    node_operands(NodeValue<'m>) -> Option<Value<'m>>: LLVMGetMDNodeNumOperands, LLVMGetMDNodeOperands;
    function_attributes(Function<'m>, index) -> AttributeHandle<'m>:
        LLVMGetAttributeCountAtIndex, LLVMGetAttributesAtIndex;
    call_attributes(Call<'m>, index) -> AttributeHandle<'m>: LLVMGetCallSiteAttributeCount, LLVMGetCallSiteAttributes;
}
