//! Declarations: what is noted about code: attributes, metadata, debug information.

use std::ffi::{c_char, c_uint};

use llvm_sys::LLVMOpaqueValueMetadataEntry;

use super::{Bool, RecordHandle};
use crate::llvm::attributes::AttributeKind;
use crate::llvm::handles::{AttributeHandle, ContextHandle, Function, Inst, NodeHandle, Type, Value, Variable};
use crate::llvm::narrow::*;

// Attributes. Indices: 0 the result, 1 the first parameter, `u32::MAX` the function.
unsafe extern "C" {
    pub unsafe fn LLVMCreateEnumAttribute(
        context: ContextHandle<'_>,
        kind: AttributeKind,
        value: u64,
    ) -> AttributeHandle<'_>;
    pub unsafe fn LLVMCreateConstantRangeAttribute(
        context: ContextHandle<'_>,
        kind: AttributeKind,
        bits: c_uint,
        lower: *const u64,
        upper: *const u64,
    ) -> AttributeHandle<'_>;
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
    pub safe fn LLVMGetLastEnumAttributeKind() -> AttributeKind;
    pub safe fn LLVMGetEnumAttributeKind(attribute: KnownAttribute<'_>) -> AttributeKind;
    pub safe fn LLVMGetEnumAttributeValue(attribute: NumberAttribute<'_>) -> u64;
    pub safe fn LLVMGetTypeAttributeValue(attribute: TypeAttribute<'_>) -> Type<'_>;
    pub safe fn LLVMGetEnumAttributeAtIndex(
        function: Function<'_>,
        index: c_uint,
        kind: AttributeKind,
    ) -> Option<AttributeHandle<'_>>;
    pub safe fn LLVMGetAttributeCountAtIndex(function: Function<'_>, index: c_uint) -> c_uint;
    pub safe fn LLVMAddAttributeAtIndex<'m>(function: Function<'m>, index: c_uint, attribute: AttributeHandle<'m>);
    pub safe fn LLVMRemoveEnumAttributeAtIndex(function: Function<'_>, index: c_uint, kind: AttributeKind);
    pub safe fn LLVMGetCallSiteAttributeCount(call: Call<'_>, index: c_uint) -> c_uint;
    pub safe fn LLVMGetCallSiteEnumAttribute(
        call: Call<'_>,
        index: c_uint,
        kind: AttributeKind,
    ) -> Option<AttributeHandle<'_>>;
    pub safe fn LLVMAddCallSiteAttribute<'m>(call: Call<'m>, index: c_uint, attribute: AttributeHandle<'m>);
    pub safe fn LLVMRemoveCallSiteEnumAttribute(call: Call<'_>, index: c_uint, kind: AttributeKind);
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
    pub safe fn LLVMGetMDNodeNumOperands(node: NodeValue<'_>) -> c_uint;
    pub safe fn LLVMGetMetadata(inst: Inst<'_>, kind: c_uint) -> Option<Value<'_>>;
    pub unsafe fn LLVMSetMetadata<'m>(inst: Inst<'m>, kind: c_uint, node: Option<Value<'m>>);
    pub safe fn LLVMInstructionGetAllMetadataOtherThanDebugLoc(
        inst: Inst<'_>,
        count: &mut usize,
    ) -> *mut LLVMOpaqueValueMetadataEntry;
    pub safe fn LLVMGlobalCopyAllMetadata(
        global: GlobalValue<'_>,
        count: &mut usize,
    ) -> *mut LLVMOpaqueValueMetadataEntry;
    pub unsafe fn LLVMGlobalSetMetadata<'m>(global: GlobalValue<'m>, kind: c_uint, node: NodeHandle<'m>);
    pub safe fn LLVMGlobalClearMetadata(global: GlobalValue<'_>);
    pub unsafe fn LLVMValueMetadataEntriesGetKind(entries: *mut LLVMOpaqueValueMetadataEntry, index: c_uint) -> c_uint;
    pub unsafe fn LLVMValueMetadataEntriesGetMetadata<'m>(
        entries: *mut LLVMOpaqueValueMetadataEntry,
        index: c_uint,
    ) -> NodeHandle<'m>;
    pub unsafe fn LLVMDisposeValueMetadataEntries(entries: *mut LLVMOpaqueValueMetadataEntry);
    pub safe fn LLVMInstructionGetDebugLoc(inst: Inst<'_>) -> Option<LocationHandle<'_>>;
    pub unsafe fn LLVMInstructionSetDebugLoc<'m>(inst: Inst<'m>, location: Option<LocationHandle<'m>>);
    pub safe fn LLVMDILocationGetLine(location: LocationHandle<'_>) -> c_uint;
    pub safe fn LLVMDILocationGetColumn(location: LocationHandle<'_>) -> c_uint;
    pub safe fn LLVMDILocationGetScope(location: LocationHandle<'_>) -> Option<NodeHandle<'_>>;
    pub safe fn LLVMDILocationGetInlinedAt(location: LocationHandle<'_>) -> Option<LocationHandle<'_>>;
    pub safe fn LLVMDIScopeGetFile(scope: Scope<'_>) -> Option<NodeHandle<'_>>;
    pub safe fn LLVMDIVariableGetFile(variable: Variable<'_>) -> Option<NodeHandle<'_>>;
    pub safe fn LLVMDIVariableGetLine(variable: Variable<'_>) -> c_uint;
    pub safe fn LLVMDIGlobalVariableExpressionGetVariable(expression: GlobalExpression<'_>) -> Option<Variable<'_>>;
    pub unsafe fn LLVMDIBuilderCreateDebugLocation<'m>(
        context: ContextHandle<'m>,
        line: c_uint,
        column: c_uint,
        scope: LocalScope<'m>,
        inlined_at: Option<LocationHandle<'m>>,
    ) -> LocationHandle<'m>;
    pub safe fn LLVMGetFirstDbgRecord(inst: Inst<'_>) -> Option<RecordHandle<'_>>;
    pub safe fn LLVMGetNextDbgRecord(record: RecordHandle<'_>) -> Option<RecordHandle<'_>>;
    /// A number of `LLVMDbgRecordKind`, of which LLVM may know more than llvm-sys.
    pub safe fn LLVMDbgRecordGetKind(record: RecordHandle<'_>) -> c_uint;
    pub unsafe fn LLVMDbgVariableRecordGetValue(declaration: Declaration<'_>, index: c_uint) -> Option<Value<'_>>;
    pub safe fn LLVMDbgVariableRecordGetVariable(declaration: Declaration<'_>) -> NodeHandle<'_>;
}
