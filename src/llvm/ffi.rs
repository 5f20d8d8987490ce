//! LLVM's C interface, declared with typed handles.
//!
//! llvm-sys links LLVM and declares the same functions on untyped pointers; here each parameter says what it has to be. A function is
//! `safe` if the call is defined for every live handle of the declared types; `Option` marks pointers that may be null. What has further
//! preconditions (an opcode, an index below a count, a kind of type, well-typed operands) is `unsafe`, and the modules beside this one
//! check these preconditions before they call it.

use std::ffi::{CStr, c_char, c_int, c_uint};
use std::marker::PhantomData;

use llvm_sys::target::LLVMOpaqueTargetData;
use llvm_sys::{
    LLVMAtomicOrdering, LLVMAtomicRMWBinOp, LLVMDbgRecordKind, LLVMIntPredicate, LLVMLinkage, LLVMMetadataKind,
    LLVMOpaqueDbgRecord, LLVMOpaqueValueMetadataEntry, LLVMOpcode, LLVMRealPredicate, LLVMTypeKind, LLVMVisibility,
};

use super::handles::{
    AttributeHandle, Block, BuilderHandle, ContextHandle, Function, Global, Inst, ModuleHandle, Node, Type, Use, Value,
};

/// LLVM's boolean: 0 is false.
pub type Bool = c_int;

/// A NUL-terminated string that outlives the call.
#[repr(transparent)]
#[derive(Clone, Copy)]
pub struct Text<'a>(*const c_char, PhantomData<&'a CStr>);

impl<'a> From<&'a CStr> for Text<'a> {
    fn from(text: &'a CStr) -> Text<'a> {
        Text(text.as_ptr(), PhantomData)
    }
}

/// A module's data layout.
#[repr(transparent)]
#[derive(Debug, Clone, Copy)]
pub struct LayoutHandle<'m>(std::ptr::NonNull<LLVMOpaqueTargetData>, PhantomData<&'m ()>);

/// A debug record in front of an instruction.
#[repr(transparent)]
#[derive(Clone, Copy)]
pub struct RecordHandle<'m>(std::ptr::NonNull<LLVMOpaqueDbgRecord>, PhantomData<&'m ()>);

// Modules and contexts.
unsafe extern "C" {
    pub safe fn LLVMGetModuleContext<'m>(module: ModuleHandle<'m>) -> ContextHandle<'m>;
    pub safe fn LLVMGetModuleDataLayout<'m>(module: ModuleHandle<'m>) -> LayoutHandle<'m>;
    pub safe fn LLVMGetFirstFunction<'m>(module: ModuleHandle<'m>) -> Option<Function<'m>>;
    pub safe fn LLVMGetNextFunction<'m>(function: Function<'m>) -> Option<Function<'m>>;
    pub safe fn LLVMGetNamedFunction<'m>(module: ModuleHandle<'m>, name: Text<'_>) -> Option<Function<'m>>;
    pub safe fn LLVMGetFirstGlobal<'m>(module: ModuleHandle<'m>) -> Option<Global<'m>>;
    pub safe fn LLVMGetNextGlobal<'m>(global: Global<'m>) -> Option<Global<'m>>;
    pub safe fn LLVMGetNamedGlobal<'m>(module: ModuleHandle<'m>, name: Text<'_>) -> Option<Global<'m>>;
    pub unsafe fn LLVMAddFunction<'m>(module: ModuleHandle<'m>, name: Text<'_>, ty: Type<'m>) -> Function<'m>;
    pub unsafe fn LLVMAddGlobalInAddressSpace<'m>(
        module: ModuleHandle<'m>,
        ty: Type<'m>,
        name: Text<'_>,
        space: c_uint,
    ) -> Global<'m>;
    pub safe fn LLVMStripModuleDebugInfo(module: ModuleHandle<'_>) -> Bool;
    pub safe fn LLVMSetTarget(module: ModuleHandle<'_>, triple: Text<'_>);
    pub unsafe fn LLVMSetDataLayout(module: ModuleHandle<'_>, layout: Text<'_>);
    pub unsafe fn LLVMGetMDKindIDInContext(context: ContextHandle<'_>, name: *const c_char, len: c_uint) -> c_uint;
    pub unsafe fn LLVMGetSyncScopeID(context: ContextHandle<'_>, name: *const c_char, len: usize) -> c_uint;
    pub safe fn LLVMGetTypeByName2<'m>(context: ContextHandle<'m>, name: Text<'_>) -> Option<Type<'m>>;
    pub unsafe fn LLVMLookupIntrinsicID(name: *const c_char, len: usize) -> c_uint;
    pub unsafe fn LLVMGetIntrinsicDeclaration<'m>(
        module: ModuleHandle<'m>,
        id: c_uint,
        types: *mut Type<'m>,
        count: usize,
    ) -> Option<Function<'m>>;
}

// Types and layouts.
unsafe extern "C" {
    pub safe fn LLVMIntTypeInContext(context: ContextHandle<'_>, bits: c_uint) -> Type<'_>;
    pub safe fn LLVMHalfTypeInContext(context: ContextHandle<'_>) -> Type<'_>;
    pub safe fn LLVMFloatTypeInContext(context: ContextHandle<'_>) -> Type<'_>;
    pub safe fn LLVMDoubleTypeInContext(context: ContextHandle<'_>) -> Type<'_>;
    pub safe fn LLVMVoidTypeInContext(context: ContextHandle<'_>) -> Type<'_>;
    pub safe fn LLVMPointerTypeInContext(context: ContextHandle<'_>, space: c_uint) -> Type<'_>;
    pub unsafe fn LLVMFunctionType<'m>(
        result: Type<'m>,
        params: *mut Type<'m>,
        count: c_uint,
        is_variadic: Bool,
    ) -> Type<'m>;
    pub unsafe fn LLVMVectorType(element: Type<'_>, count: c_uint) -> Type<'_>;
    pub unsafe fn LLVMArrayType2(element: Type<'_>, count: u64) -> Type<'_>;
    pub safe fn LLVMGetTypeKind(ty: Type<'_>) -> LLVMTypeKind;
    pub safe fn LLVMGetTypeContext(ty: Type<'_>) -> ContextHandle<'_>;
    pub safe fn LLVMTypeIsSized(ty: Type<'_>) -> Bool;
    pub safe fn LLVMPrintTypeToString(ty: Type<'_>) -> *mut c_char;
    pub unsafe fn LLVMGetIntTypeWidth(ty: Type<'_>) -> c_uint;
    pub unsafe fn LLVMGetPointerAddressSpace(ty: Type<'_>) -> c_uint;
    pub unsafe fn LLVMGetElementType(ty: Type<'_>) -> Type<'_>;
    pub unsafe fn LLVMGetVectorSize(ty: Type<'_>) -> c_uint;
    pub unsafe fn LLVMGetArrayLength2(ty: Type<'_>) -> u64;
    pub unsafe fn LLVMIsOpaqueStruct(ty: Type<'_>) -> Bool;
    pub unsafe fn LLVMCountStructElementTypes(ty: Type<'_>) -> c_uint;
    pub unsafe fn LLVMStructGetTypeAtIndex(ty: Type<'_>, index: c_uint) -> Type<'_>;
    pub unsafe fn LLVMGetStructName(ty: Type<'_>) -> *const c_char;
    pub unsafe fn LLVMGetReturnType(ty: Type<'_>) -> Type<'_>;
    pub unsafe fn LLVMCountParamTypes(ty: Type<'_>) -> c_uint;
    pub unsafe fn LLVMGetParamTypes<'m>(ty: Type<'m>, into: *mut Type<'m>);
    pub unsafe fn LLVMIsFunctionVarArg(ty: Type<'_>) -> Bool;
    pub unsafe fn LLVMGetTargetExtTypeName(ty: Type<'_>) -> *const c_char;
    pub unsafe fn LLVMGetTargetExtTypeNumIntParams(ty: Type<'_>) -> c_uint;
    pub unsafe fn LLVMGetTargetExtTypeIntParam(ty: Type<'_>, index: c_uint) -> c_uint;
    pub safe fn LLVMPointerSize(layout: LayoutHandle<'_>) -> c_uint;
    pub unsafe fn LLVMABISizeOfType(layout: LayoutHandle<'_>, ty: Type<'_>) -> u64;
    pub unsafe fn LLVMStoreSizeOfType(layout: LayoutHandle<'_>, ty: Type<'_>) -> u64;
    pub unsafe fn LLVMABIAlignmentOfType(layout: LayoutHandle<'_>, ty: Type<'_>) -> c_uint;
    pub unsafe fn LLVMOffsetOfElement(layout: LayoutHandle<'_>, ty: Type<'_>, index: c_uint) -> u64;
}

// Values. `LLVMIsA…` gives its argument if it is one.
unsafe extern "C" {
    pub safe fn LLVMTypeOf(value: Value<'_>) -> Type<'_>;
    pub unsafe fn LLVMGetValueName2(value: Value<'_>, len: *mut usize) -> *const c_char;
    pub unsafe fn LLVMSetValueName2(value: Value<'_>, name: *const c_char, len: usize);
    pub safe fn LLVMPrintValueToString(value: Value<'_>) -> *mut c_char;
    pub safe fn LLVMGetFirstUse(value: Value<'_>) -> Option<Use<'_>>;
    pub safe fn LLVMGetNextUse(usage: Use<'_>) -> Option<Use<'_>>;
    pub safe fn LLVMGetUser(usage: Use<'_>) -> Value<'_>;
    pub unsafe fn LLVMReplaceAllUsesWith<'m>(old: Value<'m>, new: Value<'m>);
    pub safe fn LLVMIsAInstruction(value: Value<'_>) -> Option<Inst<'_>>;
    pub safe fn LLVMIsAFunction(value: Value<'_>) -> Option<Function<'_>>;
    pub safe fn LLVMIsAGlobalVariable(value: Value<'_>) -> Option<Global<'_>>;
    pub safe fn LLVMIsAGlobalValue(value: Value<'_>) -> Option<Value<'_>>;
    pub safe fn LLVMIsAArgument(value: Value<'_>) -> Option<Value<'_>>;
    pub safe fn LLVMIsAInlineAsm(value: Value<'_>) -> Option<Value<'_>>;
    pub safe fn LLVMIsAUser(value: Value<'_>) -> Option<Value<'_>>;
    pub safe fn LLVMIsAMDNode(value: Value<'_>) -> Option<Value<'_>>;
    pub safe fn LLVMIsAConstant(value: Value<'_>) -> Option<Value<'_>>;
    pub safe fn LLVMIsAConstantInt(value: Value<'_>) -> Option<Value<'_>>;
    pub safe fn LLVMIsAConstantFP(value: Value<'_>) -> Option<Value<'_>>;
    pub safe fn LLVMIsAConstantExpr(value: Value<'_>) -> Option<Value<'_>>;
    pub safe fn LLVMIsAConstantPointerNull(value: Value<'_>) -> Option<Value<'_>>;
    pub safe fn LLVMIsAConstantVector(value: Value<'_>) -> Option<Value<'_>>;
    pub safe fn LLVMIsAConstantDataVector(value: Value<'_>) -> Option<Value<'_>>;
    pub safe fn LLVMIsAConstantDataArray(value: Value<'_>) -> Option<Value<'_>>;
    pub safe fn LLVMIsAConstantAggregateZero(value: Value<'_>) -> Option<Value<'_>>;
    pub safe fn LLVMIsUndef(value: Value<'_>) -> Bool;
    pub safe fn LLVMIsPoison(value: Value<'_>) -> Bool;
    pub safe fn LLVMIsNull(value: Value<'_>) -> Bool;
    pub safe fn LLVMValueIsBasicBlock(value: Value<'_>) -> Bool;
    pub unsafe fn LLVMGetNumOperands(user: Value<'_>) -> c_int;
    pub unsafe fn LLVMGetOperand(user: Value<'_>, index: c_uint) -> Option<Value<'_>>;
    pub unsafe fn LLVMSetOperand<'m>(user: Value<'m>, index: c_uint, value: Value<'m>);
    pub unsafe fn LLVMGetParamParent(argument: Value<'_>) -> Function<'_>;
}

// Constants.
unsafe extern "C" {
    pub unsafe fn LLVMConstInt(ty: Type<'_>, value: u64, is_signed: Bool) -> Value<'_>;
    pub unsafe fn LLVMConstIntOfArbitraryPrecision(ty: Type<'_>, count: c_uint, words: *const u64) -> Value<'_>;
    pub unsafe fn LLVMConstReal(ty: Type<'_>, value: f64) -> Value<'_>;
    pub unsafe fn LLVMConstNull(ty: Type<'_>) -> Value<'_>;
    pub unsafe fn LLVMConstAllOnes(ty: Type<'_>) -> Value<'_>;
    pub unsafe fn LLVMGetUndef(ty: Type<'_>) -> Value<'_>;
    pub unsafe fn LLVMGetPoison(ty: Type<'_>) -> Value<'_>;
    pub unsafe fn LLVMConstVector<'m>(lanes: *mut Value<'m>, count: c_uint) -> Value<'m>;
    pub unsafe fn LLVMConstBitCast<'m>(constant: Value<'m>, ty: Type<'m>) -> Value<'m>;
    pub unsafe fn LLVMConstIntGetZExtValue(constant: Value<'_>) -> u64;
    pub unsafe fn LLVMConstIntGetSExtValue(constant: Value<'_>) -> i64;
    pub unsafe fn LLVMConstRealGetDouble(constant: Value<'_>, loses_information: *mut Bool) -> f64;
    pub unsafe fn LLVMGetConstOpcode(constant: Value<'_>) -> LLVMOpcode;
    pub unsafe fn LLVMGetAggregateElement(constant: Value<'_>, index: c_uint) -> Option<Value<'_>>;
    pub unsafe fn LLVMIsConstantString(constant: Value<'_>) -> Bool;
    pub unsafe fn LLVMGetAsString(constant: Value<'_>, len: *mut usize) -> *const c_char;
}

// Globals and functions.
unsafe extern "C" {
    pub unsafe fn LLVMGlobalGetValueType(global: Value<'_>) -> Type<'_>;
    pub unsafe fn LLVMGetGlobalParent(global: Value<'_>) -> ModuleHandle<'_>;
    pub unsafe fn LLVMIsDeclaration(global: Value<'_>) -> Bool;
    pub unsafe fn LLVMGetLinkage(global: Value<'_>) -> LLVMLinkage;
    pub unsafe fn LLVMSetLinkage(global: Value<'_>, linkage: LLVMLinkage);
    pub unsafe fn LLVMSetVisibility(global: Value<'_>, visibility: LLVMVisibility);
    pub safe fn LLVMGetInitializer(global: Global<'_>) -> Option<Value<'_>>;
    pub unsafe fn LLVMSetInitializer<'m>(global: Global<'m>, value: Value<'m>);
    pub safe fn LLVMIsGlobalConstant(global: Global<'_>) -> Bool;
    pub unsafe fn LLVMDeleteGlobal(global: Global<'_>);
    pub unsafe fn LLVMDeleteFunction(function: Function<'_>);
    pub safe fn LLVMCountParams(function: Function<'_>) -> c_uint;
    pub unsafe fn LLVMGetParam(function: Function<'_>, index: c_uint) -> Value<'_>;
    pub safe fn LLVMGetFunctionCallConv(function: Function<'_>) -> c_uint;
    pub safe fn LLVMSetFunctionCallConv(function: Function<'_>, convention: c_uint);
    pub unsafe fn LLVMSetGC(function: Function<'_>, name: *const c_char);
    pub safe fn LLVMGetIntrinsicID(function: Function<'_>) -> c_uint;
    pub safe fn LLVMGetSubprogram(function: Function<'_>) -> Option<Node<'_>>;
    pub safe fn LLVMCountBasicBlocks(function: Function<'_>) -> c_uint;
    pub safe fn LLVMGetFirstBasicBlock(function: Function<'_>) -> Option<Block<'_>>;
    pub safe fn LLVMAppendBasicBlockInContext<'m>(
        context: ContextHandle<'m>,
        function: Function<'m>,
        name: Text<'_>,
    ) -> Block<'m>;
    pub unsafe fn LLVMAppendExistingBasicBlock<'m>(function: Function<'m>, block: Block<'m>);
}

// Blocks.
unsafe extern "C" {
    pub safe fn LLVMGetNextBasicBlock(block: Block<'_>) -> Option<Block<'_>>;
    pub safe fn LLVMGetFirstInstruction(block: Block<'_>) -> Option<Inst<'_>>;
    pub safe fn LLVMGetBasicBlockTerminator(block: Block<'_>) -> Option<Inst<'_>>;
    pub safe fn LLVMGetBasicBlockParent(block: Block<'_>) -> Option<Function<'_>>;
    pub safe fn LLVMBasicBlockAsValue(block: Block<'_>) -> Value<'_>;
    pub unsafe fn LLVMInsertBasicBlockInContext<'m>(
        context: ContextHandle<'m>,
        next: Block<'m>,
        name: Text<'_>,
    ) -> Block<'m>;
    pub unsafe fn LLVMMoveBasicBlockAfter<'m>(block: Block<'m>, position: Block<'m>);
    pub unsafe fn LLVMRemoveBasicBlockFromParent(block: Block<'_>);
    pub unsafe fn LLVMDeleteBasicBlock(block: Block<'_>);
}

// Instructions.
unsafe extern "C" {
    pub safe fn LLVMGetInstructionOpcode(inst: Inst<'_>) -> LLVMOpcode;
    pub safe fn LLVMGetInstructionParent(inst: Inst<'_>) -> Option<Block<'_>>;
    pub unsafe fn LLVMGetNextInstruction(inst: Inst<'_>) -> Option<Inst<'_>>;
    pub unsafe fn LLVMInstructionRemoveFromParent(inst: Inst<'_>);
    pub unsafe fn LLVMInstructionEraseFromParent(inst: Inst<'_>);
    pub unsafe fn LLVMGetNumSuccessors(inst: Inst<'_>) -> c_uint;
    pub unsafe fn LLVMGetSuccessor(inst: Inst<'_>, index: c_uint) -> Block<'_>;
    pub unsafe fn LLVMSetSuccessor<'m>(inst: Inst<'m>, index: c_uint, block: Block<'m>);
    pub unsafe fn LLVMIsConditional(branch: Inst<'_>) -> Bool;
    pub unsafe fn LLVMGetCondition(branch: Inst<'_>) -> Value<'_>;
    pub unsafe fn LLVMSetCondition<'m>(branch: Inst<'m>, condition: Value<'m>);
    pub unsafe fn LLVMGetSwitchCaseValue(switch: Inst<'_>, successor: c_uint) -> Value<'_>;
    pub unsafe fn LLVMGetICmpPredicate(inst: Inst<'_>) -> LLVMIntPredicate;
    pub unsafe fn LLVMGetFCmpPredicate(inst: Inst<'_>) -> LLVMRealPredicate;
    pub unsafe fn LLVMCountIncoming(phi: Inst<'_>) -> c_uint;
    pub unsafe fn LLVMGetIncomingValue(phi: Inst<'_>, index: c_uint) -> Value<'_>;
    pub unsafe fn LLVMGetIncomingBlock(phi: Inst<'_>, index: c_uint) -> Block<'_>;
    pub unsafe fn LLVMAddIncoming<'m>(phi: Inst<'m>, values: *mut Value<'m>, blocks: *mut Block<'m>, count: c_uint);
    pub unsafe fn LLVMGetAllocatedType(alloca: Inst<'_>) -> Type<'_>;
    pub unsafe fn LLVMGetAlignment(value: Value<'_>) -> c_uint;
    pub unsafe fn LLVMSetAlignment(value: Value<'_>, bytes: c_uint);
    pub unsafe fn LLVMGetVolatile(inst: Inst<'_>) -> Bool;
    pub unsafe fn LLVMSetVolatile(inst: Inst<'_>, is_volatile: Bool);
    pub unsafe fn LLVMGetOrdering(inst: Inst<'_>) -> LLVMAtomicOrdering;
    pub unsafe fn LLVMGetCmpXchgSuccessOrdering(inst: Inst<'_>) -> LLVMAtomicOrdering;
    pub unsafe fn LLVMGetCmpXchgFailureOrdering(inst: Inst<'_>) -> LLVMAtomicOrdering;
    pub unsafe fn LLVMGetAtomicRMWBinOp(inst: Inst<'_>) -> LLVMAtomicRMWBinOp;
    pub unsafe fn LLVMGetAtomicSyncScopeID(inst: Inst<'_>) -> c_uint;
    pub unsafe fn LLVMGetGEPSourceElementType(gep: Value<'_>) -> Type<'_>;
    pub unsafe fn LLVMIsInBounds(gep: Value<'_>) -> Bool;
    pub unsafe fn LLVMSetIsInBounds(gep: Inst<'_>, is_in_bounds: Bool);
    pub unsafe fn LLVMGEPSetNoWrapFlags(gep: Inst<'_>, flags: c_uint);
    pub unsafe fn LLVMGetNumIndices(inst: Inst<'_>) -> c_uint;
    pub unsafe fn LLVMGetIndices(inst: Inst<'_>) -> *const c_uint;
    pub unsafe fn LLVMGetNumMaskElements(shuffle: Inst<'_>) -> c_uint;
    pub unsafe fn LLVMGetMaskValue(shuffle: Inst<'_>, index: c_uint) -> c_int;
    pub safe fn LLVMGetUndefMaskElem() -> c_int;
    pub unsafe fn LLVMGetCalledValue(call: Inst<'_>) -> Value<'_>;
    pub unsafe fn LLVMGetCalledFunctionType(call: Inst<'_>) -> Type<'_>;
    pub unsafe fn LLVMGetNumArgOperands(call: Inst<'_>) -> c_uint;
    pub unsafe fn LLVMGetNumOperandBundles(call: Inst<'_>) -> c_uint;
    pub unsafe fn LLVMGetInstructionCallConv(call: Inst<'_>) -> c_uint;
    pub unsafe fn LLVMSetInstructionCallConv(call: Inst<'_>, convention: c_uint);
    pub unsafe fn LLVMSetTailCall(call: Inst<'_>, is_tail: Bool);
    pub unsafe fn LLVMGetNSW(inst: Inst<'_>) -> Bool;
    pub unsafe fn LLVMSetNSW(inst: Inst<'_>, has: Bool);
    pub unsafe fn LLVMSetNUW(inst: Inst<'_>, has: Bool);
    pub unsafe fn LLVMGetExact(inst: Inst<'_>) -> Bool;
    pub unsafe fn LLVMSetExact(inst: Inst<'_>, is: Bool);
    pub unsafe fn LLVMSetIsDisjoint(inst: Inst<'_>, is: Bool);
    pub unsafe fn LLVMSetNNeg(inst: Inst<'_>, is: Bool);
    pub unsafe fn LLVMSetICmpSameSign(inst: Inst<'_>, is: Bool);
    pub safe fn LLVMCanValueUseFastMathFlags(value: Value<'_>) -> Bool;
    pub unsafe fn LLVMSetFastMathFlags(inst: Inst<'_>, flags: c_uint);
}

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
    pub unsafe fn LLVMGetStringAttributeAtIndex<'m>(
        function: Function<'m>,
        index: c_uint,
        key: *const c_char,
        len: c_uint,
    ) -> Option<AttributeHandle<'m>>;
    pub safe fn LLVMGetAttributeCountAtIndex(function: Function<'_>, index: c_uint) -> c_uint;
    pub unsafe fn LLVMGetAttributesAtIndex<'m>(function: Function<'m>, index: c_uint, into: *mut AttributeHandle<'m>);
    pub safe fn LLVMAddAttributeAtIndex<'m>(function: Function<'m>, index: c_uint, attribute: AttributeHandle<'m>);
    pub safe fn LLVMRemoveEnumAttributeAtIndex(function: Function<'_>, index: c_uint, kind: c_uint);
    pub unsafe fn LLVMRemoveStringAttributeAtIndex(function: Function<'_>, index: c_uint, key: *const c_char, len: c_uint);
    pub unsafe fn LLVMGetCallSiteAttributeCount(call: Inst<'_>, index: c_uint) -> c_uint;
    pub unsafe fn LLVMGetCallSiteAttributes<'m>(call: Inst<'m>, index: c_uint, into: *mut AttributeHandle<'m>);
    pub unsafe fn LLVMGetCallSiteEnumAttribute(call: Inst<'_>, index: c_uint, kind: c_uint)
    -> Option<AttributeHandle<'_>>;
    pub unsafe fn LLVMAddCallSiteAttribute<'m>(call: Inst<'m>, index: c_uint, attribute: AttributeHandle<'m>);
    pub unsafe fn LLVMRemoveCallSiteEnumAttribute(call: Inst<'_>, index: c_uint, kind: c_uint);
    pub unsafe fn LLVMRemoveCallSiteStringAttribute(call: Inst<'_>, index: c_uint, key: *const c_char, len: c_uint);
}

// Metadata and debug information.
unsafe extern "C" {
    pub safe fn LLVMGetMetadataKind(node: Node<'_>) -> LLVMMetadataKind;
    pub safe fn LLVMMetadataAsValue<'m>(context: ContextHandle<'m>, node: Node<'m>) -> Value<'m>;
    pub unsafe fn LLVMValueAsMetadata(value: Value<'_>) -> Node<'_>;
    pub unsafe fn LLVMMDNodeInContext2<'m>(
        context: ContextHandle<'m>,
        operands: *mut Option<Node<'m>>,
        count: usize,
    ) -> Node<'m>;
    pub unsafe fn LLVMMDStringInContext2(context: ContextHandle<'_>, text: *const c_char, len: usize) -> Node<'_>;
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
    pub unsafe fn LLVMGlobalSetMetadata<'m>(global: Value<'m>, kind: c_uint, node: Node<'m>);
    pub unsafe fn LLVMGlobalClearMetadata(global: Value<'_>);
    pub unsafe fn LLVMValueMetadataEntriesGetKind(entries: *mut LLVMOpaqueValueMetadataEntry, index: c_uint) -> c_uint;
    pub unsafe fn LLVMValueMetadataEntriesGetMetadata<'m>(
        entries: *mut LLVMOpaqueValueMetadataEntry,
        index: c_uint,
    ) -> Node<'m>;
    pub unsafe fn LLVMDisposeValueMetadataEntries(entries: *mut LLVMOpaqueValueMetadataEntry);
    pub safe fn LLVMInstructionGetDebugLoc(inst: Inst<'_>) -> Option<Node<'_>>;
    pub unsafe fn LLVMInstructionSetDebugLoc<'m>(inst: Inst<'m>, location: Option<Node<'m>>);
    pub unsafe fn LLVMDILocationGetLine(location: Node<'_>) -> c_uint;
    pub unsafe fn LLVMDILocationGetColumn(location: Node<'_>) -> c_uint;
    pub unsafe fn LLVMDILocationGetScope(location: Node<'_>) -> Option<Node<'_>>;
    pub unsafe fn LLVMDILocationGetInlinedAt(location: Node<'_>) -> Option<Node<'_>>;
    pub unsafe fn LLVMDIScopeGetFile(scope: Node<'_>) -> Option<Node<'_>>;
    pub unsafe fn LLVMDIFileGetFilename(file: Node<'_>, len: *mut c_uint) -> *const c_char;
    pub unsafe fn LLVMDIFileGetDirectory(file: Node<'_>, len: *mut c_uint) -> *const c_char;
    pub unsafe fn LLVMDIVariableGetFile(variable: Node<'_>) -> Option<Node<'_>>;
    pub unsafe fn LLVMDIVariableGetLine(variable: Node<'_>) -> c_uint;
    pub unsafe fn LLVMDIGlobalVariableExpressionGetVariable(expression: Node<'_>) -> Option<Node<'_>>;
    pub unsafe fn LLVMDIBuilderCreateDebugLocation<'m>(
        context: ContextHandle<'m>,
        line: c_uint,
        column: c_uint,
        scope: Node<'m>,
        inlined_at: Option<Node<'m>>,
    ) -> Node<'m>;
    pub safe fn LLVMGetFirstDbgRecord(inst: Inst<'_>) -> Option<RecordHandle<'_>>;
    pub safe fn LLVMGetNextDbgRecord(record: RecordHandle<'_>) -> Option<RecordHandle<'_>>;
    pub safe fn LLVMDbgRecordGetKind(record: RecordHandle<'_>) -> LLVMDbgRecordKind;
    pub unsafe fn LLVMDbgVariableRecordGetValue(record: RecordHandle<'_>, index: c_uint) -> Option<Value<'_>>;
    pub unsafe fn LLVMDbgVariableRecordGetVariable(record: RecordHandle<'_>) -> Node<'_>;
}

// Building. All of it needs a position and well-typed operands.
unsafe extern "C" {
    pub safe fn LLVMCreateBuilderInContext(context: ContextHandle<'_>) -> BuilderHandle<'_>;
    pub unsafe fn LLVMDisposeBuilder(builder: BuilderHandle<'_>);
    pub safe fn LLVMPositionBuilderAtEnd<'m>(builder: BuilderHandle<'m>, block: Block<'m>);
    pub unsafe fn LLVMPositionBuilderBefore<'m>(builder: BuilderHandle<'m>, inst: Inst<'m>);
    pub unsafe fn LLVMPositionBuilderBeforeInstrAndDbgRecords<'m>(builder: BuilderHandle<'m>, inst: Inst<'m>);
    pub safe fn LLVMGetInsertBlock(builder: BuilderHandle<'_>) -> Option<Block<'_>>;
    pub unsafe fn LLVMSetCurrentDebugLocation2<'m>(builder: BuilderHandle<'m>, location: Option<Node<'m>>);
    pub unsafe fn LLVMInsertIntoBuilder<'m>(builder: BuilderHandle<'m>, inst: Inst<'m>);
    pub unsafe fn LLVMBuildBinOp<'m>(b: BuilderHandle<'m>, op: LLVMOpcode, x: Value<'m>, y: Value<'m>, name: Text<'_>) -> Value<'m>;
    pub unsafe fn LLVMBuildCast<'m>(b: BuilderHandle<'m>, op: LLVMOpcode, value: Value<'m>, ty: Type<'m>, name: Text<'_>) -> Value<'m>;
    pub unsafe fn LLVMBuildIntCast2<'m>(b: BuilderHandle<'m>, value: Value<'m>, ty: Type<'m>, is_signed: Bool, name: Text<'_>) -> Value<'m>;
    pub unsafe fn LLVMBuildFPCast<'m>(b: BuilderHandle<'m>, value: Value<'m>, ty: Type<'m>, name: Text<'_>) -> Value<'m>;
    pub unsafe fn LLVMBuildPointerCast<'m>(b: BuilderHandle<'m>, value: Value<'m>, ty: Type<'m>, name: Text<'_>) -> Value<'m>;
    pub unsafe fn LLVMBuildFNeg<'m>(b: BuilderHandle<'m>, value: Value<'m>, name: Text<'_>) -> Value<'m>;
    pub unsafe fn LLVMBuildFreeze<'m>(b: BuilderHandle<'m>, value: Value<'m>, name: Text<'_>) -> Value<'m>;
    pub unsafe fn LLVMBuildICmp<'m>(b: BuilderHandle<'m>, how: LLVMIntPredicate, x: Value<'m>, y: Value<'m>, name: Text<'_>) -> Value<'m>;
    pub unsafe fn LLVMBuildFCmp<'m>(b: BuilderHandle<'m>, how: LLVMRealPredicate, x: Value<'m>, y: Value<'m>, name: Text<'_>) -> Value<'m>;
    pub unsafe fn LLVMBuildSelect<'m>(b: BuilderHandle<'m>, condition: Value<'m>, yes: Value<'m>, no: Value<'m>, name: Text<'_>) -> Value<'m>;
    pub unsafe fn LLVMBuildAlloca<'m>(b: BuilderHandle<'m>, ty: Type<'m>, name: Text<'_>) -> Value<'m>;
    pub unsafe fn LLVMBuildLoad2<'m>(b: BuilderHandle<'m>, ty: Type<'m>, pointer: Value<'m>, name: Text<'_>) -> Value<'m>;
    pub unsafe fn LLVMBuildStore<'m>(b: BuilderHandle<'m>, value: Value<'m>, pointer: Value<'m>) -> Inst<'m>;
    pub unsafe fn LLVMBuildGEP2<'m>(b: BuilderHandle<'m>, ty: Type<'m>, pointer: Value<'m>, indices: *mut Value<'m>, count: c_uint, name: Text<'_>) -> Value<'m>;
    pub unsafe fn LLVMBuildInBoundsGEP2<'m>(b: BuilderHandle<'m>, ty: Type<'m>, pointer: Value<'m>, indices: *mut Value<'m>, count: c_uint, name: Text<'_>) -> Value<'m>;
    pub unsafe fn LLVMBuildCall2<'m>(b: BuilderHandle<'m>, ty: Type<'m>, function: Value<'m>, args: *mut Value<'m>, count: c_uint, name: Text<'_>) -> Inst<'m>;
    pub unsafe fn LLVMBuildPhi<'m>(b: BuilderHandle<'m>, ty: Type<'m>, name: Text<'_>) -> Inst<'m>;
    pub unsafe fn LLVMBuildBr<'m>(b: BuilderHandle<'m>, to: Block<'m>) -> Inst<'m>;
    pub unsafe fn LLVMBuildCondBr<'m>(b: BuilderHandle<'m>, condition: Value<'m>, yes: Block<'m>, no: Block<'m>) -> Inst<'m>;
    pub unsafe fn LLVMBuildRet<'m>(b: BuilderHandle<'m>, value: Value<'m>) -> Inst<'m>;
    pub unsafe fn LLVMBuildRetVoid<'m>(b: BuilderHandle<'m>) -> Inst<'m>;
    pub unsafe fn LLVMBuildExtractElement<'m>(b: BuilderHandle<'m>, vector: Value<'m>, index: Value<'m>, name: Text<'_>) -> Value<'m>;
    pub unsafe fn LLVMBuildInsertElement<'m>(b: BuilderHandle<'m>, vector: Value<'m>, lane: Value<'m>, index: Value<'m>, name: Text<'_>) -> Value<'m>;
    pub unsafe fn LLVMBuildShuffleVector<'m>(b: BuilderHandle<'m>, x: Value<'m>, y: Value<'m>, mask: Value<'m>, name: Text<'_>) -> Value<'m>;
    pub unsafe fn LLVMBuildMemCpy<'m>(b: BuilderHandle<'m>, to: Value<'m>, to_align: c_uint, from: Value<'m>, from_align: c_uint, size: Value<'m>) -> Inst<'m>;
    pub unsafe fn LLVMBuildMemSet<'m>(b: BuilderHandle<'m>, to: Value<'m>, byte: Value<'m>, size: Value<'m>, align: c_uint) -> Inst<'m>;
}
