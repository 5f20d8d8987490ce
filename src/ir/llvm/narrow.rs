//! Handles of what is known to be of a kind, for LLVM's functions that are defined for that kind alone.
//!
//! Each is made here and nowhere else, by the check that it stands for. Nothing in this room changes what was checked:
//! an instruction keeps its opcode, a type its kind, metadata its class.

use super::Opcode::*;
use super::ffi::{self, RecordHandle};
use super::handles::{AttributeHandle, Function, Global, Inst, NodeHandle, Type, Value};
use super::{MetadataClass, TypeKind};

/// Defines a handle that holds another one for which a check succeeds.
macro_rules! narrow {
    ($($(#[$doc:meta])* $name:ident of $wide:ident if |$value:ident| $check:expr;)*) => {$(
        $(#[$doc])*
        #[repr(transparent)]
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub struct $name<'m>($wide<'m>);

        impl<'m> $name<'m> {
            /// Returns the handle, if it is such a one.
            pub fn of($value: $wide<'m>) -> Option<$name<'m>> {
                if $check { Some($name($value)) } else { None }
            }
        }

        impl<'m> From<$name<'m>> for $wide<'m> {
            fn from(narrow: $name<'m>) -> $wide<'m> {
                narrow.0
            }
        }
    )*};
}

narrow! {
    /// What has operands: an instruction, a constant, a global.
    User of Value if |value| ffi::LLVMIsAUser(value).is_some();
    /// A parameter of a function.
    Parameter of Value if |value| ffi::LLVMIsAArgument(value).is_some();
    /// A function, a global variable or an alias.
    GlobalValue of Value if |value| ffi::LLVMIsAGlobalValue(value).is_some();
    /// A block as a value.
    BlockValue of Value if |value| ffi::LLVMValueIsBasicBlock(value) != 0;
    /// A constant vector, array or struct.
    Aggregate of Value if |value| value.is_constant() && is_aggregate(value.ty());
    /// A constant that an operator computes from others.
    ConstantExpression of Value if |value| ffi::LLVMIsAConstantExpr(value).is_some();
    /// A constant integer of at most 64 bits.
    SmallInt of Value if |value| value.is_constant_int() && value.ty().int_width().is_some_and(|width| width <= 64);
    /// A constant float (not a vector of them).
    FloatConstant of Value if |value| ffi::LLVMIsAConstantFP(value).is_some();
    /// A `getelementptr`, as an instruction or as a constant.
    Gep of Value if |value| value.opcode() == Some(LLVMGetElementPtr);
    /// A global, variable or access.
    Aligned of Value if |value| match value.as_instruction() {
        Some(inst) => inst.is(LLVMAlloca) || Access::of(inst).is_some(),
        None => value.as_function().is_some() || value.as_global().is_some(),
    };
    /// An `i1`.
    Condition of Value if |value| value.ty().is_bool();
    /// A metadata node as a value, or metadata that stands for a value.
    NodeValue of Value if |value| value.is_metadata() && ffi::LLVMIsAMDNode(value).is_some();
}

narrow! {
    /// A `call`.
    Call of Inst if |inst| inst.is(LLVMCall);
    /// A `phi`.
    Phi of Inst if |inst| inst.is(LLVMPHI);
    /// A `switch`.
    Switch of Inst if |inst| inst.is(LLVMSwitch);
    /// What ends a block.
    Terminator of Inst if |inst| ffi::LLVMIsATerminatorInst(inst).is_some();
    /// A `br`.
    Branch of Inst if |inst| inst.is(LLVMBr);
    /// A `br` with a condition.
    ConditionalBranch of Inst if |inst| Branch::of(inst).is_some_and(|branch| ffi::LLVMIsConditional(branch) != 0);
    /// An `alloca`.
    Alloca of Inst if |inst| inst.is(LLVMAlloca);
    /// A load, store or atomic instruction.
    Access of Inst if |inst| matches!(inst.opcode(), LLVMLoad | LLVMStore | LLVMAtomicRMW | LLVMAtomicCmpXchg);
    /// What has one ordering (or none, if it is not atomic).
    Ordered of Inst if |inst| matches!(inst.opcode(), LLVMLoad | LLVMStore | LLVMFence | LLVMAtomicRMW);
    /// A `cmpxchg`.
    CompareExchange of Inst if |inst| inst.is(LLVMAtomicCmpXchg);
    /// An `atomicrmw`.
    ReadModifyWrite of Inst if |inst| inst.is(LLVMAtomicRMW);
    /// An atomic access or a fence.
    Atomic of Inst if |inst| inst.is_atomic();
    /// An `icmp`.
    IntCompare of Inst if |inst| inst.is(LLVMICmp);
    /// An `fcmp`.
    FloatCompare of Inst if |inst| inst.is(LLVMFCmp);
    /// A `shufflevector`.
    Shuffle of Inst if |inst| inst.is(LLVMShuffleVector);
    /// An `extractvalue` or `insertvalue`.
    Indexed of Inst if |inst| matches!(inst.opcode(), LLVMExtractValue | LLVMInsertValue);
    /// A `getelementptr` that is an instruction.
    GepInst of Inst if |inst| inst.is(LLVMGetElementPtr);
    /// What says whether overflow is poison.
    Wrapping of Inst if |inst| matches!(inst.opcode(), LLVMAdd | LLVMSub | LLVMMul | LLVMShl | LLVMTrunc);
    /// What says whether a remainder is poison.
    Exact of Inst if |inst| matches!(inst.opcode(), LLVMSDiv | LLVMUDiv | LLVMLShr | LLVMAShr);
    /// What says whether operands have no bit in common.
    Disjoint of Inst if |inst| inst.is(LLVMOr);
    /// What says whether the operand is negative.
    NonNegative of Inst if |inst| matches!(inst.opcode(), LLVMZExt | LLVMUIToFP);
    /// What says which liberties may be taken with floats.
    FastMath of Inst if |inst| ffi::LLVMCanValueUseFastMathFlags(inst.into()) != 0;
}

narrow! {
    /// An integer type.
    IntType of Type if |ty| ty.is_integer();
    /// An integer, or a vector of integers.
    IntsType of Type if |ty| ty.scalar().is_integer();
    /// A floating-point type.
    FloatType of Type if |ty| ty.is_floating_point();
    /// A pointer type.
    PointerType of Type if |ty| ty.is_pointer();
    /// A vector of a fixed number of lanes.
    VectorType of Type if |ty| ty.is_vector();
    /// An array type.
    ArrayType of Type if |ty| ty.is_array();
    /// A vector or an array.
    SequenceType of Type if |ty| ty.is_vector() || ty.is_array();
    /// A struct type.
    StructType of Type if |ty| ty.is_struct();
    /// A function type.
    FunctionType of Type if |ty| ty.kind() == TypeKind::LLVMFunctionTypeKind;
    /// A target extension type.
    TargetType of Type if |ty| ty.kind() == TypeKind::LLVMTargetExtTypeKind;
    /// A type of which memory can hold values.
    SizedType of Type if |ty| ty.is_sized();
    /// A type of which there are vectors.
    LaneType of Type if |ty| ty.can_be_lane();
    /// A type with values.
    FirstClassType of Type if |ty| ty.is_first_class();
    /// A type with a constant whose bits are all zero.
    ZeroType of Type if |ty| ty.has_zero();
}

narrow! {
    /// A debug location.
    LocationHandle of NodeHandle if |node| is_of(node, [MetadataClass::LLVMDILocationMetadataKind]);
    /// A function or a block of one.
    LocalScope of NodeHandle if |node| is_of(node, [
        MetadataClass::LLVMDISubprogramMetadataKind,
        MetadataClass::LLVMDILexicalBlockMetadataKind,
        MetadataClass::LLVMDILexicalBlockFileMetadataKind,
    ]);
    /// A file. LLVM takes whatever stands where a block has its file, and does not verify it.
    File of NodeHandle if |node| is_of(node, [MetadataClass::LLVMDIFileMetadataKind]);
    /// What has a file in debug information.
    Scope of NodeHandle if |node| is_of(node, [
        MetadataClass::LLVMDIFileMetadataKind,
        MetadataClass::LLVMDISubprogramMetadataKind,
        MetadataClass::LLVMDILexicalBlockMetadataKind,
        MetadataClass::LLVMDILexicalBlockFileMetadataKind,
        MetadataClass::LLVMDICompileUnitMetadataKind,
        MetadataClass::LLVMDINamespaceMetadataKind,
        MetadataClass::LLVMDIModuleMetadataKind,
        MetadataClass::LLVMDICompositeTypeMetadataKind,
        MetadataClass::LLVMDIBasicTypeMetadataKind,
        MetadataClass::LLVMDIDerivedTypeMetadataKind,
        MetadataClass::LLVMDISubroutineTypeMetadataKind,
    ]);
    /// What debug information attaches to a global variable.
    GlobalExpression of NodeHandle if |node| {
        is_of(node, [MetadataClass::LLVMDIGlobalVariableExpressionMetadataKind])
    };
    /// A debug record that declares a variable.
    Declaration of RecordHandle if |record| {
        ffi::LLVMDbgRecordGetKind(record) == llvm_sys::LLVMDbgRecordKind::LLVMDbgRecordDeclare as u32
    };
}

narrow! {
    /// An attribute of text, such as `"no-trapping-math"="true"`.
    TextAttribute of AttributeHandle if |attribute| ffi::LLVMIsStringAttribute(attribute) != 0;
    /// One whose kind has a name in LLVM, such as `nounwind`.
    KnownAttribute of AttributeHandle if |attribute| ffi::LLVMIsStringAttribute(attribute) == 0;
    /// One that holds a type, such as `byval`.
    TypeAttribute of AttributeHandle if |attribute| ffi::LLVMIsTypeAttribute(attribute) != 0;
    /// One that holds a number, such as `align`, or only is there.
    NumberAttribute of AttributeHandle if |attribute| ffi::LLVMIsEnumAttribute(attribute) != 0;
}

impl<'m> From<Function<'m>> for GlobalValue<'m> {
    fn from(function: Function<'m>) -> GlobalValue<'m> {
        GlobalValue(function.into())
    }
}

impl<'m> From<Global<'m>> for GlobalValue<'m> {
    fn from(global: Global<'m>) -> GlobalValue<'m> {
        GlobalValue(global.into())
    }
}

fn is_aggregate(ty: Type<'_>) -> bool {
    ty.is_vector() || ty.is_array() || ty.is_struct()
}

/// Whether a node is of one of these classes.
fn is_of<const N: usize>(node: NodeHandle<'_>, classes: [MetadataClass; N]) -> bool {
    let class = ffi::LLVMGetMetadataKind(node);
    classes.into_iter().any(|known| class == known as u32)
}
