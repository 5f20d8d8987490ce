//! Declarations: modules, types, values and what they hold.

use std::ffi::{c_char, c_int, c_uint};

use llvm_sys::{
    LLVMAtomicOrdering, LLVMAtomicRMWBinOp, LLVMIntPredicate, LLVMLinkage, LLVMOpcode, LLVMRealPredicate, LLVMTypeKind,
    LLVMVisibility,
};

use super::{Bool, LayoutHandle, Text};
use crate::llvm::handles::{Block, ContextHandle, Function, Global, Inst, ModuleHandle, NodeHandle, Type, Use, Value};

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
    pub safe fn LLVMSetGC(function: Function<'_>, name: Option<Text<'_>>);
    pub safe fn LLVMGetIntrinsicID(function: Function<'_>) -> c_uint;
    pub safe fn LLVMGetSubprogram(function: Function<'_>) -> Option<NodeHandle<'_>>;
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
    /// The block is in a function.
    pub unsafe fn LLVMGetNextBasicBlock(block: Block<'_>) -> Option<Block<'_>>;
    pub safe fn LLVMGetFirstInstruction(block: Block<'_>) -> Option<Inst<'_>>;
    pub safe fn LLVMGetBasicBlockTerminator(block: Block<'_>) -> Option<Inst<'_>>;
    pub safe fn LLVMGetBasicBlockParent(block: Block<'_>) -> Option<Function<'_>>;
    pub unsafe fn LLVMValueAsBasicBlock(value: Value<'_>) -> Block<'_>;
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
    pub safe fn LLVMIsATerminatorInst(inst: Inst<'_>) -> Option<Inst<'_>>;
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
