//! Declarations: modules, types, values and what they hold.

use std::ffi::{c_char, c_int, c_uint, c_void};
use std::num::NonZero;

use llvm_sys::prelude::LLVMDiagnosticInfoRef;
use llvm_sys::{
    LLVMAtomicOrdering, LLVMAtomicRMWBinOp, LLVMDiagnosticHandler, LLVMDiagnosticSeverity, LLVMIntPredicate,
    LLVMLinkage, LLVMOpcode, LLVMRealPredicate, LLVMTypeKind, LLVMVisibility,
};

use super::{Bool, CallConvention, LayoutHandle, Text};
use crate::llvm::handles::{Block, ContextHandle, Function, Global, Inst, ModuleHandle, NodeHandle, Type, Use, Value};
use crate::llvm::narrow::*;
use crate::llvm::text::Message;

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
    pub safe fn LLVMGetTypeByName2<'m>(context: ContextHandle<'m>, name: Text<'_>) -> Option<Type<'m>>;
    /// Takes `other` over, whatever becomes of it.
    pub unsafe fn LLVMLinkModules2(module: ModuleHandle<'_>, other: ModuleHandle<'_>) -> Bool;
    pub unsafe fn LLVMContextSetDiagnosticHandler(
        context: ContextHandle<'_>,
        handler: LLVMDiagnosticHandler,
        state: *mut c_void,
    );
    pub unsafe fn LLVMGetDiagInfoSeverity(info: LLVMDiagnosticInfoRef) -> LLVMDiagnosticSeverity;
    pub unsafe fn LLVMGetDiagInfoDescription(info: LLVMDiagnosticInfoRef) -> Message;
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
    pub safe fn LLVMVectorType(element: LaneType<'_>, count: NonZero<c_uint>) -> Type<'_>;
    pub safe fn LLVMArrayType2(element: SizedType<'_>, count: u64) -> Type<'_>;
    pub safe fn LLVMGetTypeKind(ty: Type<'_>) -> LLVMTypeKind;
    pub safe fn LLVMGetTypeContext(ty: Type<'_>) -> ContextHandle<'_>;
    pub safe fn LLVMTypeIsSized(ty: Type<'_>) -> Bool;
    pub safe fn LLVMPrintTypeToString(ty: Type<'_>) -> Message;
    pub safe fn LLVMGetIntTypeWidth(ty: IntType<'_>) -> c_uint;
    pub safe fn LLVMGetPointerAddressSpace(ty: PointerType<'_>) -> c_uint;
    pub safe fn LLVMGetElementType(ty: SequenceType<'_>) -> Type<'_>;
    pub safe fn LLVMGetVectorSize(ty: VectorType<'_>) -> c_uint;
    pub safe fn LLVMGetArrayLength2(ty: ArrayType<'_>) -> u64;
    pub safe fn LLVMIsOpaqueStruct(ty: StructType<'_>) -> Bool;
    pub safe fn LLVMCountStructElementTypes(ty: StructType<'_>) -> c_uint;
    pub safe fn LLVMGetStructName(ty: StructType<'_>) -> Option<Text<'_>>;
    pub safe fn LLVMGetReturnType(ty: FunctionType<'_>) -> Type<'_>;
    pub safe fn LLVMCountParamTypes(ty: FunctionType<'_>) -> c_uint;
    pub safe fn LLVMIsFunctionVarArg(ty: FunctionType<'_>) -> Bool;
    pub unsafe fn LLVMTargetExtTypeInContext<'m>(
        context: ContextHandle<'m>,
        name: Text<'_>,
        types: *mut Type<'m>,
        type_count: c_uint,
        numbers: *mut c_uint,
        number_count: c_uint,
    ) -> Type<'m>;
    pub safe fn LLVMGetTargetExtTypeName(ty: TargetType<'_>) -> Text<'_>;
    pub safe fn LLVMGetTargetExtTypeNumIntParams(ty: TargetType<'_>) -> c_uint;
    pub safe fn LLVMPointerSize(layout: LayoutHandle<'_>) -> c_uint;
    pub safe fn LLVMABISizeOfType(layout: LayoutHandle<'_>, ty: SizedType<'_>) -> u64;
    pub safe fn LLVMStoreSizeOfType(layout: LayoutHandle<'_>, ty: SizedType<'_>) -> u64;
    pub safe fn LLVMABIAlignmentOfType(layout: LayoutHandle<'_>, ty: SizedType<'_>) -> c_uint;
    pub unsafe fn LLVMOffsetOfElement(layout: LayoutHandle<'_>, ty: StructType<'_>, index: c_uint) -> u64;
}

// Values. `LLVMIsA…` gives its argument if it is one.
unsafe extern "C" {
    pub safe fn LLVMTypeOf(value: Value<'_>) -> Type<'_>;
    pub safe fn LLVMPrintValueToString(value: Value<'_>) -> Message;
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
    pub safe fn LLVMGetNumOperands(user: User<'_>) -> c_int;
    pub unsafe fn LLVMGetOperand(user: User<'_>, index: c_uint) -> Option<Value<'_>>;
    pub unsafe fn LLVMSetOperand<'m>(user: Value<'m>, index: c_uint, value: Value<'m>);
    pub safe fn LLVMGetParamParent(parameter: Parameter<'_>) -> Function<'_>;
}

// Constants.
unsafe extern "C" {
    pub unsafe fn LLVMConstIntOfArbitraryPrecision(ty: IntType<'_>, count: c_uint, words: *const u64) -> Value<'_>;
    pub safe fn LLVMConstReal(ty: FloatType<'_>, value: f64) -> Value<'_>;
    pub safe fn LLVMConstNull(ty: ZeroType<'_>) -> Value<'_>;
    pub safe fn LLVMConstAllOnes(ty: IntsType<'_>) -> Value<'_>;
    pub safe fn LLVMGetUndef(ty: FirstClassType<'_>) -> Value<'_>;
    pub safe fn LLVMGetPoison(ty: FirstClassType<'_>) -> Value<'_>;
    pub unsafe fn LLVMConstVector<'m>(lanes: *mut Value<'m>, count: c_uint) -> Value<'m>;
    pub unsafe fn LLVMConstStringInContext2<'m>(
        context: ContextHandle<'m>,
        text: *const c_char,
        len: usize,
        has_no_nul: Bool,
    ) -> Value<'m>;
    pub unsafe fn LLVMConstBitCast<'m>(constant: Value<'m>, ty: Type<'m>) -> Value<'m>;
    pub safe fn LLVMConstIntGetZExtValue(constant: SmallInt<'_>) -> u64;
    pub safe fn LLVMConstIntGetSExtValue(constant: SmallInt<'_>) -> i64;
    pub safe fn LLVMConstRealGetDouble(constant: FloatConstant<'_>, loses_information: &mut Bool) -> f64;
    pub safe fn LLVMGetConstOpcode(constant: ConstantExpression<'_>) -> LLVMOpcode;
    pub safe fn LLVMGetAggregateElement(constant: Aggregate<'_>, index: c_uint) -> Option<Value<'_>>;
    pub unsafe fn LLVMIsConstantString(constant: Value<'_>) -> Bool;
    pub unsafe fn LLVMGetAsString(constant: Value<'_>, len: *mut usize) -> *const c_char;
}

// Globals and functions.
unsafe extern "C" {
    pub safe fn LLVMGlobalGetValueType(global: GlobalValue<'_>) -> Type<'_>;
    pub safe fn LLVMGetGlobalParent(global: GlobalValue<'_>) -> ModuleHandle<'_>;
    pub safe fn LLVMIsDeclaration(global: GlobalValue<'_>) -> Bool;
    pub safe fn LLVMGetLinkage(global: GlobalValue<'_>) -> LLVMLinkage;
    pub safe fn LLVMSetLinkage(global: GlobalValue<'_>, linkage: LLVMLinkage);
    pub safe fn LLVMSetVisibility(global: GlobalValue<'_>, visibility: LLVMVisibility);
    pub safe fn LLVMGetInitializer(global: Global<'_>) -> Option<Value<'_>>;
    pub unsafe fn LLVMSetInitializer<'m>(global: Global<'m>, value: Value<'m>);
    pub safe fn LLVMIsGlobalConstant(global: Global<'_>) -> Bool;
    pub safe fn LLVMIsExternallyInitialized(global: Global<'_>) -> Bool;
    pub safe fn LLVMSetGlobalConstant(global: Global<'_>, is_constant: Bool);
    pub unsafe fn LLVMDeleteGlobal(global: Global<'_>);
    pub unsafe fn LLVMDeleteFunction(function: Function<'_>);
    pub safe fn LLVMCountParams(function: Function<'_>) -> c_uint;
    pub safe fn LLVMGetFunctionCallConv(function: Function<'_>) -> c_uint;
    pub safe fn LLVMSetFunctionCallConv(function: Function<'_>, convention: CallConvention);
    pub safe fn LLVMSetGC(function: Function<'_>, name: Option<Text<'_>>);
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

// Blocks. Each is in a function: only `Function::take_block` has one outside, between two calls.
unsafe extern "C" {
    pub safe fn LLVMGetNextBasicBlock(block: Block<'_>) -> Option<Block<'_>>;
    pub safe fn LLVMGetFirstInstruction(block: Block<'_>) -> Option<Inst<'_>>;
    pub safe fn LLVMGetBasicBlockTerminator(block: Block<'_>) -> Option<Inst<'_>>;
    pub safe fn LLVMGetBasicBlockParent(block: Block<'_>) -> Option<Function<'_>>;
    pub safe fn LLVMValueAsBasicBlock(value: BlockValue<'_>) -> Block<'_>;
    pub safe fn LLVMBasicBlockAsValue(block: Block<'_>) -> Value<'_>;
    pub safe fn LLVMInsertBasicBlockInContext<'m>(
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
    pub safe fn LLVMGetNumSuccessors(terminator: Terminator<'_>) -> c_uint;
    pub unsafe fn LLVMSetSuccessor<'m>(terminator: Terminator<'m>, index: c_uint, block: Block<'m>);
    pub safe fn LLVMIsConditional(branch: Branch<'_>) -> Bool;
    pub safe fn LLVMGetCondition(branch: ConditionalBranch<'_>) -> Value<'_>;
    pub unsafe fn LLVMSetCondition<'m>(branch: ConditionalBranch<'m>, condition: Condition<'m>);
    pub unsafe fn LLVMGetSwitchCaseValue(switch: Switch<'_>, successor: c_uint) -> Value<'_>;
    pub unsafe fn LLVMSetSwitchCaseValue<'m>(switch: Switch<'m>, successor: c_uint, value: Value<'m>);
    pub safe fn LLVMGetICmpPredicate(compare: IntCompare<'_>) -> LLVMIntPredicate;
    pub safe fn LLVMGetFCmpPredicate(compare: FloatCompare<'_>) -> LLVMRealPredicate;
    pub safe fn LLVMCountIncoming(phi: Phi<'_>) -> c_uint;
    pub unsafe fn LLVMAddIncoming<'m>(phi: Phi<'m>, values: *mut Value<'m>, blocks: *mut Block<'m>, count: c_uint);
    pub safe fn LLVMGetAllocatedType(alloca: Alloca<'_>) -> Type<'_>;
    pub safe fn LLVMGetAlignment(value: Aligned<'_>) -> c_uint;
    pub unsafe fn LLVMSetAlignment(value: Aligned<'_>, bytes: c_uint);
    pub safe fn LLVMGetVolatile(access: Access<'_>) -> Bool;
    pub safe fn LLVMSetVolatile(access: Access<'_>, is_volatile: Bool);
    pub safe fn LLVMGetOrdering(inst: Ordered<'_>) -> LLVMAtomicOrdering;
    pub safe fn LLVMGetCmpXchgSuccessOrdering(inst: CompareExchange<'_>) -> LLVMAtomicOrdering;
    pub safe fn LLVMGetCmpXchgFailureOrdering(inst: CompareExchange<'_>) -> LLVMAtomicOrdering;
    pub safe fn LLVMGetAtomicRMWBinOp(inst: ReadModifyWrite<'_>) -> LLVMAtomicRMWBinOp;
    pub safe fn LLVMGetAtomicSyncScopeID(inst: Atomic<'_>) -> c_uint;
    pub unsafe fn LLVMSetOrdering(inst: Ordered<'_>, ordering: LLVMAtomicOrdering);
    pub unsafe fn LLVMSetCmpXchgSuccessOrdering(inst: CompareExchange<'_>, ordering: LLVMAtomicOrdering);
    pub unsafe fn LLVMSetCmpXchgFailureOrdering(inst: CompareExchange<'_>, ordering: LLVMAtomicOrdering);
    pub unsafe fn LLVMSetAtomicRMWBinOp(inst: ReadModifyWrite<'_>, operation: LLVMAtomicRMWBinOp);
    pub safe fn LLVMSetAtomicSyncScopeID(inst: Atomic<'_>, scope: c_uint);
    pub safe fn LLVMInstructionClone<'m>(inst: Inst<'m>) -> Inst<'m>;
    pub safe fn LLVMGetGEPSourceElementType(gep: Gep<'_>) -> Type<'_>;
    pub safe fn LLVMIsInBounds(gep: Gep<'_>) -> Bool;
    pub safe fn LLVMSetIsInBounds(gep: GepInst<'_>, is_in_bounds: Bool);
    pub safe fn LLVMGEPSetNoWrapFlags(gep: GepInst<'_>, flags: c_uint);
    pub safe fn LLVMGetNumIndices(inst: Indexed<'_>) -> c_uint;
    pub safe fn LLVMGetIndices(inst: Indexed<'_>) -> *const c_uint;
    pub safe fn LLVMGetNumMaskElements(shuffle: Shuffle<'_>) -> c_uint;
    pub safe fn LLVMGetCalledValue(call: Call<'_>) -> Value<'_>;
    pub safe fn LLVMGetCalledFunctionType(call: Call<'_>) -> Type<'_>;
    pub safe fn LLVMGetNumArgOperands(call: Call<'_>) -> c_uint;
    pub safe fn LLVMGetNumOperandBundles(call: Call<'_>) -> c_uint;
    pub safe fn LLVMGetInstructionCallConv(call: Call<'_>) -> c_uint;
    pub safe fn LLVMSetInstructionCallConv(call: Call<'_>, convention: CallConvention);
    pub safe fn LLVMSetTailCall(call: Call<'_>, is_tail: Bool);
    pub safe fn LLVMGetNSW(inst: Wrapping<'_>) -> Bool;
    pub safe fn LLVMSetNSW(inst: Wrapping<'_>, has: Bool);
    pub safe fn LLVMGetNUW(inst: Wrapping<'_>) -> Bool;
    pub safe fn LLVMSetNUW(inst: Wrapping<'_>, has: Bool);
    pub safe fn LLVMGetExact(inst: Exact<'_>) -> Bool;
    pub safe fn LLVMSetExact(inst: Exact<'_>, is: Bool);
    pub safe fn LLVMGetIsDisjoint(inst: Disjoint<'_>) -> Bool;
    pub safe fn LLVMSetIsDisjoint(inst: Disjoint<'_>, is: Bool);
    pub safe fn LLVMGetNNeg(inst: NonNegative<'_>) -> Bool;
    pub safe fn LLVMSetNNeg(inst: NonNegative<'_>, is: Bool);
    pub safe fn LLVMGetICmpSameSign(inst: IntCompare<'_>) -> Bool;
    pub safe fn LLVMSetICmpSameSign(inst: IntCompare<'_>, is: Bool);
    pub safe fn LLVMCanValueUseFastMathFlags(value: Value<'_>) -> Bool;
    pub safe fn LLVMGetFastMathFlags(inst: FastMath<'_>) -> c_uint;
    pub safe fn LLVMSetFastMathFlags(inst: FastMath<'_>, flags: c_uint);
}
