//! Declarations: what is noted about code: attributes, metadata, debug information.

use std::ffi::{c_char, c_uint};

use llvm_sys::LLVMOpaqueValueMetadataEntry;

use super::{Bool, RecordHandle};
use crate::llvm::handles::{AttributeHandle, ContextHandle, Function, Inst, NodeHandle, Type, Value};

// Attributes. Indices: 0 the result, 1 the first parameter, `u32::MAX` the function.
unsafe extern "C" {
    pub unsafe fn LLVMGetEnumAttributeKindForName(name: *const c_char, len: usize) -> c_uint;
    pub unsafe fn LLVMCreateEnumAttribute(context: ContextHandle<'_>, kind: c_uint, value: u64) -> AttributeHandle<'_>;
    pub unsafe fn LLVMCreateStringAttribute<'m>(
        context: ContextHandle<'m>,
        key: *const c_char,
        key_len: c_uint,
        value: *const c_char,
        value_len: c_uint,
    ) -> AttributeHandle<'m>;
    pub safe fn LLVMIsStringAttribute(attribute: AttributeHandle<'_>) -> Bool;
    pub safe fn LLVMIsTypeAttribute(attribute: AttributeHandle<'_>) -> Bool;
    pub safe fn LLVMIsEnumAttribute(attribute: AttributeHandle<'_>) -> Bool;
    pub unsafe fn LLVMGetEnumAttributeKind(attribute: AttributeHandle<'_>) -> c_uint;
    pub unsafe fn LLVMGetEnumAttributeValue(attribute: AttributeHandle<'_>) -> u64;
    pub unsafe fn LLVMGetTypeAttributeValue(attribute: AttributeHandle<'_>) -> Type<'_>;
    pub unsafe fn LLVMGetStringAttributeKind(attribute: AttributeHandle<'_>, len: *mut c_uint) -> *const c_char;
    pub unsafe fn LLVMGetStringAttributeValue(attribute: AttributeHandle<'_>, len: *mut c_uint) -> *const c_char;
    pub unsafe fn LLVMGetEnumAttributeAtIndex(
        function: Function<'_>,
        index: c_uint,
        kind: c_uint,
    ) -> Option<AttributeHandle<'_>>;
    pub safe fn LLVMGetAttributeCountAtIndex(function: Function<'_>, index: c_uint) -> c_uint;
    pub unsafe fn LLVMGetAttributesAtIndex<'m>(function: Function<'m>, index: c_uint, into: *mut AttributeHandle<'m>);
    pub safe fn LLVMAddAttributeAtIndex<'m>(function: Function<'m>, index: c_uint, attribute: AttributeHandle<'m>);
    pub safe fn LLVMRemoveEnumAttributeAtIndex(function: Function<'_>, index: c_uint, kind: c_uint);
    pub unsafe fn LLVMRemoveStringAttributeAtIndex(
        function: Function<'_>,
        index: c_uint,
        key: *const c_char,
        len: c_uint,
    );
    pub unsafe fn LLVMGetCallSiteAttributeCount(call: Inst<'_>, index: c_uint) -> c_uint;
    pub unsafe fn LLVMGetCallSiteAttributes<'m>(call: Inst<'m>, index: c_uint, into: *mut AttributeHandle<'m>);
    pub unsafe fn LLVMGetCallSiteEnumAttribute(
        call: Inst<'_>,
        index: c_uint,
        kind: c_uint,
    ) -> Option<AttributeHandle<'_>>;
    pub unsafe fn LLVMAddCallSiteAttribute<'m>(call: Inst<'m>, index: c_uint, attribute: AttributeHandle<'m>);
    pub unsafe fn LLVMRemoveCallSiteEnumAttribute(call: Inst<'_>, index: c_uint, kind: c_uint);
    pub unsafe fn LLVMRemoveCallSiteStringAttribute(call: Inst<'_>, index: c_uint, key: *const c_char, len: c_uint);
}

// Metadata and debug information.
unsafe extern "C" {
    /// A number of `LLVMMetadataKind`, of which LLVM may know more than llvm-sys.
    pub safe fn LLVMGetMetadataKind(node: NodeHandle<'_>) -> c_uint;
    pub safe fn LLVMMetadataAsValue<'m>(context: ContextHandle<'m>, node: NodeHandle<'m>) -> Value<'m>;
    /// For nodes and strings as values what they are; for other values a node that stands for them.
    pub safe fn LLVMValueAsMetadata(value: Value<'_>) -> NodeHandle<'_>;
    pub unsafe fn LLVMMDNodeInContext2<'m>(
        context: ContextHandle<'m>,
        operands: *mut Option<NodeHandle<'m>>,
        count: usize,
    ) -> NodeHandle<'m>;
    pub unsafe fn LLVMMDStringInContext2(context: ContextHandle<'_>, text: *const c_char, len: usize)
    -> NodeHandle<'_>;
    pub unsafe fn LLVMGetMDNodeNumOperands(node: Value<'_>) -> c_uint;
    pub unsafe fn LLVMGetMDNodeOperands<'m>(node: Value<'m>, into: *mut Option<Value<'m>>);
    pub unsafe fn LLVMGetMDString(value: Value<'_>, len: *mut c_uint) -> *const c_char;
    pub safe fn LLVMGetMetadata(inst: Inst<'_>, kind: c_uint) -> Option<Value<'_>>;
    pub unsafe fn LLVMSetMetadata<'m>(inst: Inst<'m>, kind: c_uint, node: Option<Value<'m>>);
    pub unsafe fn LLVMInstructionGetAllMetadataOtherThanDebugLoc(
        inst: Inst<'_>,
        count: *mut usize,
    ) -> *mut LLVMOpaqueValueMetadataEntry;
    pub unsafe fn LLVMGlobalCopyAllMetadata(global: Value<'_>, count: *mut usize) -> *mut LLVMOpaqueValueMetadataEntry;
    pub unsafe fn LLVMGlobalSetMetadata<'m>(global: Value<'m>, kind: c_uint, node: NodeHandle<'m>);
    pub unsafe fn LLVMGlobalClearMetadata(global: Value<'_>);
    pub unsafe fn LLVMValueMetadataEntriesGetKind(entries: *mut LLVMOpaqueValueMetadataEntry, index: c_uint) -> c_uint;
    pub unsafe fn LLVMValueMetadataEntriesGetMetadata<'m>(
        entries: *mut LLVMOpaqueValueMetadataEntry,
        index: c_uint,
    ) -> NodeHandle<'m>;
    pub unsafe fn LLVMDisposeValueMetadataEntries(entries: *mut LLVMOpaqueValueMetadataEntry);
    pub safe fn LLVMInstructionGetDebugLoc(inst: Inst<'_>) -> Option<NodeHandle<'_>>;
    pub unsafe fn LLVMInstructionSetDebugLoc<'m>(inst: Inst<'m>, location: Option<NodeHandle<'m>>);
    pub unsafe fn LLVMDILocationGetLine(location: NodeHandle<'_>) -> c_uint;
    pub unsafe fn LLVMDILocationGetColumn(location: NodeHandle<'_>) -> c_uint;
    pub unsafe fn LLVMDILocationGetScope(location: NodeHandle<'_>) -> Option<NodeHandle<'_>>;
    pub unsafe fn LLVMDILocationGetInlinedAt(location: NodeHandle<'_>) -> Option<NodeHandle<'_>>;
    pub unsafe fn LLVMDIScopeGetFile(scope: NodeHandle<'_>) -> Option<NodeHandle<'_>>;
    pub unsafe fn LLVMDIFileGetFilename(file: NodeHandle<'_>, len: *mut c_uint) -> *const c_char;
    pub unsafe fn LLVMDIFileGetDirectory(file: NodeHandle<'_>, len: *mut c_uint) -> *const c_char;
    pub unsafe fn LLVMDIVariableGetFile(variable: NodeHandle<'_>) -> Option<NodeHandle<'_>>;
    pub unsafe fn LLVMDIVariableGetLine(variable: NodeHandle<'_>) -> c_uint;
    pub unsafe fn LLVMDIGlobalVariableExpressionGetVariable(expression: NodeHandle<'_>) -> Option<NodeHandle<'_>>;
    pub unsafe fn LLVMDIBuilderCreateDebugLocation<'m>(
        context: ContextHandle<'m>,
        line: c_uint,
        column: c_uint,
        scope: NodeHandle<'m>,
        inlined_at: Option<NodeHandle<'m>>,
    ) -> NodeHandle<'m>;
    pub safe fn LLVMGetFirstDbgRecord(inst: Inst<'_>) -> Option<RecordHandle<'_>>;
    pub safe fn LLVMGetNextDbgRecord(record: RecordHandle<'_>) -> Option<RecordHandle<'_>>;
    /// A number of `LLVMDbgRecordKind`, of which LLVM may know more than llvm-sys.
    pub safe fn LLVMDbgRecordGetKind(record: RecordHandle<'_>) -> c_uint;
    pub unsafe fn LLVMDbgVariableRecordGetValue(record: RecordHandle<'_>, index: c_uint) -> Option<Value<'_>>;
    pub unsafe fn LLVMDbgVariableRecordGetVariable(record: RecordHandle<'_>) -> NodeHandle<'_>;
}
