//! Types: their kinds, parts, layouts and constants.

use std::num::NonZero;

use llvm_sys::LLVMTypeKind as TypeKind;

use super::AddressSpace;
use super::ffi::{self, LayoutHandle, Text};
use super::handles::Value;
use super::handles::{ContextHandle, Type};
use super::narrow::*;

/// A module's data layout: sizes, offsets and alignments of types, in bytes.
#[derive(Debug, Clone, Copy)]
pub struct DataLayout<'m>(pub(super) LayoutHandle<'m>);

/// The types of a context.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Types<'m>(ContextHandle<'m>);

impl<'m> Type<'m> {
    pub(super) fn context(self) -> ContextHandle<'m> {
        ffi::LLVMGetTypeContext(self)
    }

    /// Returns how LLVM writes the type, a number, a pointer or a vector of them, in the name of an intrinsic that is
    /// overloaded over it.
    ///
    /// # Panics
    /// For other types.
    pub fn mangled(self) -> String {
        let scalar = self.scalar();
        let name = match (scalar.kind(), scalar.address_space(), scalar.bits()) {
            (TypeKind::LLVMPointerTypeKind, Some(space), _) => format!("p{space}"),
            (TypeKind::LLVMIntegerTypeKind, _, Some(bits)) => format!("i{bits}"),
            (TypeKind::LLVMBFloatTypeKind, ..) => "bf16".to_owned(),
            (
                TypeKind::LLVMHalfTypeKind | TypeKind::LLVMFloatTypeKind | TypeKind::LLVMDoubleTypeKind,
                _,
                Some(bits),
            ) => {
                format!("f{bits}")
            }
            _ => panic!("no intrinsic is overloaded over {}", self.text()),
        };
        self.lanes().map_or(name.clone(), |lanes| format!("v{lanes}{name}"))
    }

    /// Returns the other types of its context.
    pub fn types(self) -> Types<'m> {
        Types::of_context(self.context())
    }

    /// Returns the kind.
    pub fn kind(self) -> TypeKind {
        ffi::LLVMGetTypeKind(self)
    }

    /// Whether it is an integer (not a vector of them).
    pub fn is_integer(self) -> bool {
        self.kind() == TypeKind::LLVMIntegerTypeKind
    }

    /// Whether it is a pointer (not a vector of them).
    pub fn is_pointer(self) -> bool {
        self.kind() == TypeKind::LLVMPointerTypeKind
    }

    /// Whether it is a vector.
    pub fn is_vector(self) -> bool {
        self.kind() == TypeKind::LLVMVectorTypeKind
    }

    /// Whether it is an array.
    pub fn is_array(self) -> bool {
        self.kind() == TypeKind::LLVMArrayTypeKind
    }

    /// Whether it is a struct.
    pub fn is_struct(self) -> bool {
        self.kind() == TypeKind::LLVMStructTypeKind
    }

    /// Whether it is `void`.
    pub fn is_void(self) -> bool {
        self.kind() == TypeKind::LLVMVoidTypeKind
    }

    /// Whether it is `half`, `float` or `double`.
    pub fn is_float(self) -> bool {
        use TypeKind::{LLVMDoubleTypeKind, LLVMFloatTypeKind, LLVMHalfTypeKind};
        matches!(self.kind(), LLVMHalfTypeKind | LLVMFloatTypeKind | LLVMDoubleTypeKind)
    }

    /// Whether it is a floating-point type of any size.
    pub fn is_floating_point(self) -> bool {
        use TypeKind::{LLVMBFloatTypeKind, LLVMFP128TypeKind, LLVMPPC_FP128TypeKind, LLVMX86_FP80TypeKind};
        self.is_float()
            || matches!(
                self.kind(),
                LLVMBFloatTypeKind | LLVMFP128TypeKind | LLVMPPC_FP128TypeKind | LLVMX86_FP80TypeKind
            )
    }

    /// Whether values of the type are computed, passed and kept: neither `void` nor functions, blocks, metadata, opaque
    /// structs.
    pub fn is_first_class(self) -> bool {
        use TypeKind::{
            LLVMFunctionTypeKind, LLVMLabelTypeKind, LLVMMetadataTypeKind, LLVMTokenTypeKind, LLVMVoidTypeKind,
        };
        let others =
            [LLVMFunctionTypeKind, LLVMLabelTypeKind, LLVMMetadataTypeKind, LLVMTokenTypeKind, LLVMVoidTypeKind];
        !others.contains(&self.kind()) && !self.is_opaque()
    }

    /// Whether there are vectors of it.
    pub fn can_be_lane(self) -> bool {
        self.is_integer() || self.is_floating_point() || self.is_pointer()
    }

    /// Bits of an integer or a floating-point type, or of a vector of one.
    pub fn bits(self) -> Option<u64> {
        use TypeKind::*;
        let scalar = self.scalar();
        let bits = match scalar.kind() {
            LLVMIntegerTypeKind => scalar.int_width()?,
            LLVMHalfTypeKind | LLVMBFloatTypeKind => 16,
            LLVMFloatTypeKind => 32,
            LLVMDoubleTypeKind => 64,
            LLVMX86_FP80TypeKind => 80,
            LLVMFP128TypeKind | LLVMPPC_FP128TypeKind => 128,
            _ => return None,
        };
        Some(u64::from(bits) * u64::from(self.lanes().unwrap_or(1)))
    }

    /// Where the indices of a `getelementptr` lead that steps through this type: the type there.
    pub(super) fn stepped(self, indices: &[Value<'m>]) -> Option<Type<'m>> {
        let is_index = |index: &Value<'m>| index.ty().scalar().is_integer();
        if !indices.iter().all(is_index) {
            return None;
        }
        indices.iter().skip(1).try_fold(self, |at, index| {
            if !at.is_struct() {
                return Some(at.elements()?.0);
            }
            let field = index.as_u64().filter(|_| index.ty().int_width() == Some(32))?;
            at.fields().get(usize::try_from(field).ok()?).copied()
        })
    }

    /// Whether it is `i1` (not a vector of them).
    pub fn is_bool(self) -> bool {
        self.int_width() == Some(1)
    }

    /// Bits of an integer type.
    pub fn int_width(self) -> Option<u32> {
        IntType::of(self).map(|ty| ffi::LLVMGetIntTypeWidth(ty))
    }

    /// The address space of a pointer type; of a vector of pointers, that of its lanes.
    pub fn address_space(self) -> Option<u32> {
        PointerType::of(self.scalar()).map(|ty| ffi::LLVMGetPointerAddressSpace(ty))
    }

    /// The address space of a pointer type or of a vector of pointers, if it is one of OpenCL's.
    pub fn space(self) -> Option<AddressSpace> {
        AddressSpace::of_number(self.address_space()?)
    }

    /// Element type and number of a vector or array.
    pub fn elements(self) -> Option<(Type<'m>, u64)> {
        let element = ffi::LLVMGetElementType(SequenceType::of(self)?);
        let count = match ArrayType::of(self) {
            Some(array) => ffi::LLVMGetArrayLength2(array),
            None => self.lanes()?.into(),
        };
        Some((element, count))
    }

    /// The number of lanes of a vector.
    pub fn lanes(self) -> Option<u32> {
        VectorType::of(self).map(|ty| ffi::LLVMGetVectorSize(ty))
    }

    /// The type of a vector's lanes; any other type itself.
    pub fn scalar(self) -> Type<'m> {
        if self.is_vector() { self.elements().map_or(self, |(element, _)| element) } else { self }
    }

    /// This type in as many lanes as `like` has; itself, if `like` is no vector.
    pub fn shaped_like(self, like: Type<'m>) -> Type<'m> {
        like.lanes().map_or(self, |lanes| self.vector(lanes))
    }

    /// Field types of a struct, in order; empty for other types.
    pub fn fields(self) -> Vec<Type<'m>> {
        let Some(ty) = StructType::of(self) else { return Vec::new() };
        (0..).map_while(|i| ffi::field(ty, i)).collect()
    }

    /// The name of a struct type, such as `struct.params`; empty for literal structs and other types.
    pub fn struct_name(self) -> String {
        StructType::of(self).and_then(|ty| ffi::LLVMGetStructName(ty)).map(Text::owned).unwrap_or_default()
    }

    /// Whether it is a struct without a body.
    pub fn is_opaque(self) -> bool {
        StructType::of(self).is_some_and(|ty| ffi::LLVMIsOpaqueStruct(ty) != 0)
    }

    /// Whether values of it have a size: not functions, `void` and opaque structs.
    pub fn is_sized(self) -> bool {
        ffi::LLVMTypeIsSized(self) != 0
    }

    /// # Panics
    /// If the type has no size.
    pub(super) fn sized(self) -> SizedType<'m> {
        SizedType::of(self).unwrap_or_else(|| panic!("{} has no size", self.text()))
    }

    /// # Panics
    /// If the type has no values.
    pub(super) fn first_class(self) -> FirstClassType<'m> {
        FirstClassType::of(self).unwrap_or_else(|| panic!("{} has no values", self.text()))
    }

    /// Result and parameter types of a function type, and whether more arguments may follow.
    pub fn signature(self) -> Option<(Type<'m>, Vec<Type<'m>>, bool)> {
        let ty = FunctionType::of(self)?;
        Some((ffi::LLVMGetReturnType(ty), ffi::parameter_types(ty), ffi::LLVMIsFunctionVarArg(ty) != 0))
    }

    /// Name and integer parameters of a target extension type (images, samplers, events).
    pub fn target_extension(self) -> Option<(String, Vec<u32>)> {
        let ty = TargetType::of(self)?;
        let numbers = (0..).map_while(|i| ffi::target_number(ty, i)).collect();
        Some((ffi::LLVMGetTargetExtTypeName(ty).owned(), numbers))
    }

    /// LLVM's spelling of the type.
    pub fn text(self) -> String {
        ffi::LLVMPrintTypeToString(self).text()
    }

    /// A vector of `lanes` of this type.
    ///
    /// # Panics
    /// Unless the type is an integer, a float or a pointer, and there is a lane.
    pub fn vector(self, lanes: u32) -> Type<'m> {
        let lane = LaneType::of(self).unwrap_or_else(|| panic!("no vectors of {}", self.text()));
        ffi::LLVMVectorType(lane, NonZero::new(lanes).expect("a vector has a lane"))
    }

    /// An array of `count` elements of this type.
    ///
    /// # Panics
    /// If the type has no size.
    pub fn array(self, count: u64) -> Type<'m> {
        ffi::LLVMArrayType2(self.sized(), count)
    }

    /// The type of functions that return this type.
    ///
    /// # Panics
    /// If the result or a parameter cannot be one.
    pub fn function(self, params: &[Type<'m>], is_variadic: bool) -> Type<'m> {
        use TypeKind::{LLVMFunctionTypeKind, LLVMLabelTypeKind, LLVMMetadataTypeKind, LLVMVoidTypeKind};
        let is_result = !matches!(self.kind(), LLVMFunctionTypeKind | LLVMLabelTypeKind | LLVMMetadataTypeKind);
        let is_param = |ty: &Type<'_>| !matches!(ty.kind(), LLVMFunctionTypeKind | LLVMVoidTypeKind);
        assert!(is_result && params.iter().all(is_param), "no such function type: {params:?} to {}", self.text());
        let mut params = params.to_vec();
        // SAFETY: as many parameter types as are said; all may stand in a function type.
        unsafe { ffi::LLVMFunctionType(self, params.as_mut_ptr(), params.len() as u32, is_variadic.into()) }
    }
}

impl<'m> DataLayout<'m> {
    /// Bytes of a pointer in address space 0.
    pub fn pointer_bytes(self) -> u32 {
        ffi::LLVMPointerSize(self.0)
    }

    /// Bytes from one element of an array to the next.
    ///
    /// # Panics
    /// If the type has no size, as in all that follow.
    pub fn abi_size(self, ty: Type<'m>) -> u64 {
        ffi::LLVMABISizeOfType(self.0, ty.sized())
    }

    /// Bytes that a store of the type writes.
    pub fn store_size(self, ty: Type<'m>) -> u64 {
        ffi::LLVMStoreSizeOfType(self.0, ty.sized())
    }

    /// Bytes to which the ABI aligns the type.
    pub fn alignment(self, ty: Type<'m>) -> u32 {
        ffi::LLVMABIAlignmentOfType(self.0, ty.sized())
    }

    /// Bytes from a struct's start to a field.
    ///
    /// # Panics
    /// Also unless the type is a struct with such a field.
    pub fn field_offset(self, ty: Type<'m>, field: u32) -> u64 {
        let has_field = |found: &StructType<'m>| ffi::field(*found, field).is_some() && ty.is_sized();
        let found = StructType::of(ty).filter(has_field);
        let found = found.unwrap_or_else(|| panic!("{} has no field {field}", ty.text()));
        // SAFETY: a sized struct with that field.
        unsafe { ffi::LLVMOffsetOfElement(self.0, found, field) }
    }

    /// Returns the bytes from one element of an array to the next; `None` for types that memory cannot hold.
    pub fn element_size(self, ty: Type<'m>) -> Option<u64> {
        match ty.kind() {
            TypeKind::LLVMTargetExtTypeKind => None,
            TypeKind::LLVMArrayTypeKind => self.element_size(ty.elements()?.0).map(|_| self.abi_size(ty)),
            _ => ty.is_sized().then(|| self.abi_size(ty)),
        }
    }

    /// Returns the bytes that a `getelementptr` (an instruction or a constant) steps; `None` unless all of its indices
    /// are constants.
    pub fn constant_offset(self, gep: Value<'m>) -> Option<i64> {
        self.offset(gep, |_| false)
    }

    /// Returns where in an element of `size` bytes a `getelementptr` leads from the start of one, if its variable
    /// indices step by whole elements only.
    pub fn offset_in_element(self, gep: Value<'m>, size: u64) -> Option<u64> {
        let offset = self.offset(gep, |step| size > 0 && step.is_multiple_of(size))?;
        offset.checked_rem_euclid(i64::try_from(size).ok()?)?.try_into().ok()
    }

    /// The bytes that a `getelementptr` steps by its constant indices; `None` if it has a variable one whose step
    /// `is_left_out` does not take.
    fn offset(self, gep: Value<'m>, is_left_out: impl Fn(u64) -> bool) -> Option<i64> {
        let mut ty = gep.gep_source()?;
        let mut offset = 0i64;
        for (i, index) in gep.operands().into_iter().skip(1).enumerate() {
            if i > 0 && ty.is_struct() {
                let field = u32::try_from(index.as_i64()?).ok()?;
                offset = offset.checked_add(i64::try_from(self.field_offset(ty, field)).ok()?)?;
                ty = ty.fields()[field as usize];
                continue;
            }
            if i > 0 {
                ty = ty.elements()?.0;
            }
            let size = self.element_size(ty)?;
            match index.as_i64() {
                Some(number) => offset = offset.checked_add(number.checked_mul(i64::try_from(size).ok()?)?)?,
                None if is_left_out(size) => {}
                None => return None,
            }
        }
        Some(offset)
    }
}

impl<'m> Types<'m> {
    pub(super) fn of_context(context: ContextHandle<'m>) -> Types<'m> {
        Types(context)
    }

    /// Returns the integer type of so many bits.
    ///
    /// # Panics
    /// If LLVM has none.
    pub fn int(self, bits: u32) -> Type<'m> {
        assert!((1..=1 << 23).contains(&bits), "no integer has {bits} bits");
        ffi::LLVMIntTypeInContext(self.0, bits)
    }

    /// Returns a constant array of these bytes and a NUL.
    pub fn text(self, bytes: &[u8]) -> Value<'m> {
        // SAFETY: as many bytes as said, which LLVM copies.
        unsafe { ffi::LLVMConstStringInContext2(self.0, bytes.as_ptr().cast(), bytes.len(), 0) }
    }

    /// Returns `i1`.
    pub fn bool(self) -> Type<'m> {
        self.int(1)
    }

    /// Returns `half`.
    pub fn half(self) -> Type<'m> {
        ffi::LLVMHalfTypeInContext(self.0)
    }

    /// Returns `float`.
    pub fn float(self) -> Type<'m> {
        ffi::LLVMFloatTypeInContext(self.0)
    }

    /// Returns `double`.
    pub fn double(self) -> Type<'m> {
        ffi::LLVMDoubleTypeInContext(self.0)
    }

    /// Returns `void`.
    pub fn void(self) -> Type<'m> {
        ffi::LLVMVoidTypeInContext(self.0)
    }

    /// Returns the type of pointers in the address space.
    pub fn pointer(self, space: AddressSpace) -> Type<'m> {
        self.pointer_numbered(space.number())
    }

    /// Returns the type of pointers in the address space of that number, which need be none of OpenCL's.
    ///
    /// # Panics
    /// If LLVM has no such address space.
    pub fn pointer_numbered(self, space: u32) -> Type<'m> {
        assert!(space < 1 << 24, "no address space has the number {space}");
        ffi::LLVMPointerTypeInContext(self.0, space)
    }
}
