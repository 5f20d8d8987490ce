//! Constants: what values say of themselves, and how types make them.

use super::TypeKind;
use super::ffi;
use super::handles::{Type, Value};
use super::narrow::*;

impl<'m> Value<'m> {
    /// Whether it is a constant; globals and functions are too.
    pub fn is_constant(self) -> bool {
        ffi::LLVMIsAConstant(self).is_some()
    }

    /// Whether it is a constant integer (not a vector of them).
    pub fn is_constant_int(self) -> bool {
        ffi::LLVMIsAConstantInt(self).is_some()
    }

    /// Whether it is a constant float (not a vector of them).
    pub fn is_constant_float(self) -> bool {
        ffi::LLVMIsAConstantFP(self).is_some()
    }

    /// Whether it is a constant expression, such as a cast of a global's address.
    pub fn is_constant_expression(self) -> bool {
        ffi::LLVMIsAConstantExpr(self).is_some()
    }

    /// Whether it is a constant vector of any form: of constants, of plain numbers, or of zeros.
    pub fn is_constant_vector(self) -> bool {
        self.ty().is_vector()
            && (ffi::LLVMIsAConstantVector(self).is_some()
                || ffi::LLVMIsAConstantDataVector(self).is_some()
                || ffi::LLVMIsAConstantAggregateZero(self).is_some())
    }

    /// Whether it is a constant of zeros: `zeroinitializer` of a struct, array or vector.
    pub fn is_zero_aggregate(self) -> bool {
        ffi::LLVMIsAConstantAggregateZero(self).is_some()
    }

    /// Whether it is a constant array of plain numbers.
    pub fn is_constant_data_array(self) -> bool {
        ffi::LLVMIsAConstantDataArray(self).is_some()
    }

    /// Whether it is `undef` or `poison`.
    pub fn is_undef(self) -> bool {
        ffi::LLVMIsUndef(self) != 0
    }

    /// Whether it is `poison`.
    pub fn is_poison(self) -> bool {
        ffi::LLVMIsPoison(self) != 0
    }

    /// Whether it is a constant whose bits are all zero.
    pub fn is_null(self) -> bool {
        ffi::LLVMIsNull(self) != 0
    }

    /// Whether it is the constant `null` of a pointer type.
    pub fn is_null_pointer(self) -> bool {
        ffi::LLVMIsAConstantPointerNull(self).is_some()
    }

    /// Returns a constant integer of at most 64 bits, its bits extended by zeros.
    pub fn as_u64(self) -> Option<u64> {
        SmallInt::of(self).map(|int| ffi::LLVMConstIntGetZExtValue(int))
    }

    /// Returns a constant integer of at most 64 bits, its bits extended by its sign.
    pub fn as_i64(self) -> Option<i64> {
        SmallInt::of(self).map(|int| ffi::LLVMConstIntGetSExtValue(int))
    }

    /// Returns the value of a constant `i1`.
    pub fn as_bool(self) -> Option<bool> {
        self.as_u64().filter(|_| self.ty().is_bool()).map(|n| n != 0)
    }

    /// Returns a constant float (not a vector of them), rounded to a double, and whether rounding lost something.
    pub fn as_f64(self) -> Option<(f64, bool)> {
        let mut loses = 0;
        let value = ffi::LLVMConstRealGetDouble(FloatConstant::of(self)?, &mut loses);
        Some((value, loses != 0))
    }

    /// Returns an element of a constant vector, array or struct.
    pub fn element(self, index: u32) -> Option<Value<'m>> {
        ffi::LLVMGetAggregateElement(Aggregate::of(self)?, index)
    }

    /// Returns the bytes of a constant array of plain bytes.
    pub fn bytes(self) -> Option<Vec<u8>> {
        // SAFETY: LLVM asks constants whether they are strings, and gives the bytes of one together with their number.
        unsafe {
            if !self.is_constant_data_array() || ffi::LLVMIsConstantString(self) == 0 {
                return None;
            }
            let mut length = 0;
            let data = ffi::LLVMGetAsString(self, &mut length);
            Some(std::slice::from_raw_parts(data.cast::<u8>(), length).to_vec())
        }
    }

    /// Returns a constant's bits as an integer of as many bits; `None` if the constant is none of numbers, or LLVM does
    /// not fold it.
    pub fn bits(self) -> Option<Value<'m>> {
        let width = self.ty().bits().filter(|_| self.is_constant() && !self.ty().scalar().is_pointer())?;
        let ty = self.ty().types().int(u32::try_from(width).ok()?);
        // SAFETY: a constant of numbers, and an integer type of the same size.
        Some(unsafe { ffi::LLVMConstBitCast(self, ty) }).filter(|bits| bits.is_constant_int())
    }

    /// Returns a constant vector of these lanes.
    ///
    /// # Panics
    /// Unless all are constants of one type, and there is one.
    pub fn vector(lanes: &[Value<'m>]) -> Value<'m> {
        let ty = lanes.first().expect("a vector has a lane").ty();
        let fits = |lane: &Value<'m>| lane.is_constant() && lane.ty() == ty;
        assert!(lanes.iter().all(fits) && ty.can_be_lane(), "no constant vector of {}", ty.text());
        let mut lanes = lanes.to_vec();
        // SAFETY: constants of one type that can be lanes, as many as said.
        unsafe { ffi::LLVMConstVector(lanes.as_mut_ptr(), lanes.len() as u32) }
    }
}

impl<'m> Type<'m> {
    /// Returns the constant of an integer type, cut to its width; of a vector of integers, in every lane.
    ///
    /// # Panics
    /// Unless it is an integer or a vector of integers.
    pub fn int(self, n: u64) -> Value<'m> {
        self.wide_int(u128::from(n))
    }

    /// Returns the constant of an integer type, its sign extended or bits cut to the width; of a vector, in every lane.
    ///
    /// # Panics
    /// Unless it is an integer or a vector of integers.
    pub fn signed_int(self, n: i64) -> Value<'m> {
        self.wide_int(i128::from(n).cast_unsigned())
    }

    /// Returns the constant of an integer type, extended by zeros beyond 128 bits or cut; of a vector, in every lane.
    ///
    /// # Panics
    /// Unless it is an integer or a vector of integers.
    pub fn wide_int(self, n: u128) -> Value<'m> {
        let scalar = IntType::of(self.scalar()).unwrap_or_else(|| panic!("{} has no integers", self.text()));
        let words = [n as u64, (n >> 64) as u64];
        // SAFETY: two words.
        let constant = unsafe { ffi::LLVMConstIntOfArbitraryPrecision(scalar, 2, words.as_ptr()) };
        constant.constant_in_lanes_of(self)
    }

    /// Returns the constant of a floating-point type, rounded to it; of a vector, in every lane.
    ///
    /// # Panics
    /// Unless it is a floating-point type or a vector of one.
    pub fn float(self, n: f64) -> Value<'m> {
        let scalar = FloatType::of(self.scalar()).unwrap_or_else(|| panic!("{} has no floats", self.text()));
        ffi::LLVMConstReal(scalar, n).constant_in_lanes_of(self)
    }

    /// Returns the constant whose bits are all zero.
    ///
    /// # Panics
    /// If the type has none, such as `void` or an image.
    pub fn null(self) -> Value<'m> {
        ffi::LLVMConstNull(ZeroType::of(self).unwrap_or_else(|| panic!("{} has no zero", self.text())))
    }

    /// Whether it has a constant whose bits are all zero. Of target extension types, SPIR-V's of events, queues and the
    /// like have one, images have none.
    pub fn has_zero(self) -> bool {
        const IMAGES: [&str; 2] = ["spirv.Image", "spirv.SignedImage"];
        let is_target = self.kind() == TypeKind::LLVMTargetExtTypeKind;
        let has = |name: String| name.starts_with("spirv.") && !IMAGES.contains(&&*name);
        let has_zero = !is_target || self.target_extension().is_some_and(|(name, _)| has(name));
        has_zero && self.is_first_class() && self.is_sized()
    }

    /// Returns the integer whose bits are all one; of a vector, in every lane.
    ///
    /// # Panics
    /// Unless it is an integer or a vector of integers.
    pub fn all_ones(self) -> Value<'m> {
        ffi::LLVMConstAllOnes(IntsType::of(self).unwrap_or_else(|| panic!("{} has no integers", self.text())))
    }

    /// Returns `undef`.
    ///
    /// # Panics
    /// If the type has no values.
    pub fn undef(self) -> Value<'m> {
        ffi::LLVMGetUndef(self.first_class())
    }

    /// Returns `poison`.
    ///
    /// # Panics
    /// If the type has no values.
    pub fn poison(self) -> Value<'m> {
        ffi::LLVMGetPoison(self.first_class())
    }
}

impl<'m> Value<'m> {
    /// Returns a constant in as many lanes as `like` has; itself, if `like` is no vector.
    ///
    /// # Panics
    /// If it is no constant that can be a lane, and lanes are wanted.
    pub fn constant_in_lanes_of(self, like: Type<'m>) -> Value<'m> {
        like.lanes().map_or(self, |lanes| Value::vector(&vec![self; lanes as usize]))
    }
}
