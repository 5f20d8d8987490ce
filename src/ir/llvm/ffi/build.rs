//! Declarations: building instructions.

use std::ffi::c_uint;

use llvm_sys::{LLVMIntPredicate, LLVMOpcode, LLVMRealPredicate};

use super::Text;
use crate::llvm::handles::{Block, BuilderHandle, ContextHandle, Inst, Type, Value};
use crate::llvm::narrow::{FirstClassType, LocationHandle, SizedType};

// Building. All of it needs a position and well-typed operands.
unsafe extern "C" {
    pub safe fn LLVMCreateBuilderInContext(context: ContextHandle<'_>) -> BuilderHandle<'_>;
    pub unsafe fn LLVMDisposeBuilder(builder: BuilderHandle<'_>);
    pub safe fn LLVMPositionBuilderAtEnd<'m>(builder: BuilderHandle<'m>, block: Block<'m>);
    pub unsafe fn LLVMPositionBuilderBefore<'m>(builder: BuilderHandle<'m>, inst: Inst<'m>);
    pub unsafe fn LLVMPositionBuilderBeforeInstrAndDbgRecords<'m>(builder: BuilderHandle<'m>, inst: Inst<'m>);
    pub unsafe fn LLVMSetCurrentDebugLocation2<'m>(builder: BuilderHandle<'m>, location: Option<LocationHandle<'m>>);
    pub unsafe fn LLVMInsertIntoBuilderWithName<'m>(builder: BuilderHandle<'m>, inst: Inst<'m>, name: Text<'_>);
    pub unsafe fn LLVMBuildBinOp<'m>(
        builder: BuilderHandle<'m>,
        op: LLVMOpcode,
        x: Value<'m>,
        y: Value<'m>,
        name: Text<'_>,
    ) -> Value<'m>;
    pub unsafe fn LLVMBuildCast<'m>(
        builder: BuilderHandle<'m>,
        op: LLVMOpcode,
        value: Value<'m>,
        ty: Type<'m>,
        name: Text<'_>,
    ) -> Value<'m>;
    pub unsafe fn LLVMBuildFNeg<'m>(builder: BuilderHandle<'m>, value: Value<'m>, name: Text<'_>) -> Value<'m>;
    pub unsafe fn LLVMBuildFreeze<'m>(builder: BuilderHandle<'m>, value: Value<'m>, name: Text<'_>) -> Value<'m>;
    pub unsafe fn LLVMBuildICmp<'m>(
        builder: BuilderHandle<'m>,
        how: LLVMIntPredicate,
        x: Value<'m>,
        y: Value<'m>,
        name: Text<'_>,
    ) -> Value<'m>;
    pub unsafe fn LLVMBuildFCmp<'m>(
        builder: BuilderHandle<'m>,
        how: LLVMRealPredicate,
        x: Value<'m>,
        y: Value<'m>,
        name: Text<'_>,
    ) -> Value<'m>;
    pub unsafe fn LLVMBuildSelect<'m>(
        builder: BuilderHandle<'m>,
        condition: Value<'m>,
        yes: Value<'m>,
        no: Value<'m>,
        name: Text<'_>,
    ) -> Value<'m>;
    pub unsafe fn LLVMBuildAlloca<'m>(builder: BuilderHandle<'m>, ty: SizedType<'m>, name: Text<'_>) -> Inst<'m>;
    pub unsafe fn LLVMBuildLoad2<'m>(
        builder: BuilderHandle<'m>,
        ty: Type<'m>,
        pointer: Value<'m>,
        name: Text<'_>,
    ) -> Inst<'m>;
    pub unsafe fn LLVMBuildStore<'m>(builder: BuilderHandle<'m>, value: Value<'m>, pointer: Value<'m>) -> Inst<'m>;
    pub unsafe fn LLVMBuildGEP2<'m>(
        builder: BuilderHandle<'m>,
        ty: Type<'m>,
        pointer: Value<'m>,
        indices: *mut Value<'m>,
        count: c_uint,
        name: Text<'_>,
    ) -> Value<'m>;
    pub unsafe fn LLVMBuildInBoundsGEP2<'m>(
        builder: BuilderHandle<'m>,
        ty: Type<'m>,
        pointer: Value<'m>,
        indices: *mut Value<'m>,
        count: c_uint,
        name: Text<'_>,
    ) -> Value<'m>;
    pub unsafe fn LLVMBuildCall2<'m>(
        builder: BuilderHandle<'m>,
        ty: Type<'m>,
        function: Value<'m>,
        args: *mut Value<'m>,
        count: c_uint,
        name: Text<'_>,
    ) -> Inst<'m>;
    pub unsafe fn LLVMBuildPhi<'m>(builder: BuilderHandle<'m>, ty: FirstClassType<'m>, name: Text<'_>) -> Inst<'m>;
    pub unsafe fn LLVMBuildBr<'m>(builder: BuilderHandle<'m>, to: Block<'m>) -> Inst<'m>;
    pub unsafe fn LLVMBuildCondBr<'m>(
        builder: BuilderHandle<'m>,
        condition: Value<'m>,
        yes: Block<'m>,
        no: Block<'m>,
    ) -> Inst<'m>;
    pub unsafe fn LLVMBuildRet<'m>(builder: BuilderHandle<'m>, value: Value<'m>) -> Inst<'m>;
    pub unsafe fn LLVMBuildRetVoid<'m>(builder: BuilderHandle<'m>) -> Inst<'m>;
    pub unsafe fn LLVMBuildUnreachable<'m>(builder: BuilderHandle<'m>) -> Inst<'m>;
    pub unsafe fn LLVMBuildInsertValue<'m>(
        builder: BuilderHandle<'m>,
        aggregate: Value<'m>,
        value: Value<'m>,
        index: c_uint,
        name: Text<'_>,
    ) -> Value<'m>;
    pub unsafe fn LLVMBuildExtractValue<'m>(
        builder: BuilderHandle<'m>,
        aggregate: Value<'m>,
        index: c_uint,
        name: Text<'_>,
    ) -> Value<'m>;
    pub unsafe fn LLVMBuildExtractElement<'m>(
        builder: BuilderHandle<'m>,
        vector: Value<'m>,
        index: Value<'m>,
        name: Text<'_>,
    ) -> Value<'m>;
    pub unsafe fn LLVMBuildInsertElement<'m>(
        builder: BuilderHandle<'m>,
        vector: Value<'m>,
        lane: Value<'m>,
        index: Value<'m>,
        name: Text<'_>,
    ) -> Value<'m>;
    pub unsafe fn LLVMBuildShuffleVector<'m>(
        builder: BuilderHandle<'m>,
        x: Value<'m>,
        y: Value<'m>,
        mask: Value<'m>,
        name: Text<'_>,
    ) -> Value<'m>;
    pub unsafe fn LLVMBuildMemCpy<'m>(
        builder: BuilderHandle<'m>,
        to: Value<'m>,
        to_align: c_uint,
        from: Value<'m>,
        from_align: c_uint,
        size: Value<'m>,
    ) -> Inst<'m>;
    pub unsafe fn LLVMBuildMemSet<'m>(
        builder: BuilderHandle<'m>,
        to: Value<'m>,
        byte: Value<'m>,
        size: Value<'m>,
        align: c_uint,
    ) -> Inst<'m>;
}
