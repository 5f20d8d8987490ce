//! Building: arithmetic, casts, vectors.

use super::Opcode;
use super::builder::Builder;
use super::ffi;
use super::handles::{Type, Value};
use super::text::name as c_name;

/// Implements a method of the builder for each binary operator.
macro_rules! binary {
    ($($name:ident $opcode:ident)*) => {$(
        #[doc = concat!("Builds a `", stringify!($name), "` of two values of the same type.")]
        pub fn $name(&self, x: impl Into<Value<'m>>, y: impl Into<Value<'m>>, name: &str) -> Value<'m> {
            self.binary(Opcode::$opcode, x, y, name)
        }
    )*};
}

/// Implements a method of the builder for each cast.
macro_rules! cast {
    ($($name:ident $opcode:ident)*) => {$(
        #[doc = concat!("Builds a `", stringify!($name), "` of a value to `ty`.")]
        pub fn $name(&self, value: impl Into<Value<'m>>, ty: Type<'m>, name: &str) -> Value<'m> {
            self.cast(Opcode::$opcode, value, ty, name)
        }
    )*};
}

impl<'m> Builder<'m> {
    binary! {
        add LLVMAdd
        sub LLVMSub
        mul LLVMMul
        udiv LLVMUDiv
        sdiv LLVMSDiv
        urem LLVMURem
        srem LLVMSRem
        shl LLVMShl
        lshr LLVMLShr
        ashr LLVMAShr
        and LLVMAnd
        or LLVMOr
        xor LLVMXor
        fadd LLVMFAdd
        fsub LLVMFSub
        fmul LLVMFMul
        fdiv LLVMFDiv
        frem LLVMFRem
    }

    /// Builds a binary operator.
    ///
    /// # Panics
    /// If the opcode is none, or the operands are not of one type that it takes.
    pub fn binary(&self, opcode: Opcode, x: impl Into<Value<'m>>, y: impl Into<Value<'m>>, name: &str) -> Value<'m> {
        use Opcode::*;
        let (x, y) = (x.into(), y.into());
        assert_eq!(x.ty(), y.ty(), "{} and {} differ in their types", x.text(), y.text());
        self.assert_operand(x);
        self.assert_operand(y);
        let scalar = x.ty().scalar();
        let takes = match opcode {
            LLVMAdd | LLVMSub | LLVMMul | LLVMUDiv | LLVMSDiv | LLVMURem | LLVMSRem | LLVMShl | LLVMLShr | LLVMAShr
            | LLVMAnd | LLVMOr | LLVMXor => scalar.is_integer(),
            LLVMFAdd | LLVMFSub | LLVMFMul | LLVMFDiv | LLVMFRem => scalar.is_floating_point(),
            _ => false,
        };
        assert!(takes, "{opcode:?} of {}", x.text());
        // SAFETY: two operands of one type, which the operator takes; the builder stands somewhere.
        unsafe { ffi::LLVMBuildBinOp(self.here(), opcode, x, y, c_name(name).as_ref().into()) }
    }

    /// Inverts all bits.
    pub fn not(&self, value: impl Into<Value<'m>>, name: &str) -> Value<'m> {
        let value = value.into();
        self.xor(value, value.ty().all_ones(), name)
    }

    /// Negates an integer.
    pub fn neg(&self, value: impl Into<Value<'m>>, name: &str) -> Value<'m> {
        let value = value.into();
        self.sub(value.ty().null(), value, name)
    }

    /// Negates a float.
    pub fn fneg(&self, value: impl Into<Value<'m>>, name: &str) -> Value<'m> {
        let value = value.into();
        self.assert_operand(value);
        assert!(value.ty().scalar().is_floating_point(), "{} is no float", value.text());
        // SAFETY: a float; the builder stands somewhere.
        unsafe { ffi::LLVMBuildFNeg(self.here(), value, c_name(name).as_ref().into()) }
    }

    cast! {
        trunc LLVMTrunc
        zext LLVMZExt
        sext LLVMSExt
        fp_trunc LLVMFPTrunc
        fp_ext LLVMFPExt
        fp_to_ui LLVMFPToUI
        fp_to_si LLVMFPToSI
        ui_to_fp LLVMUIToFP
        si_to_fp LLVMSIToFP
        ptr_to_int LLVMPtrToInt
        int_to_ptr LLVMIntToPtr
        bit_cast LLVMBitCast
        address_space_cast LLVMAddrSpaceCast
    }

    /// Builds a cast; the value itself, if it is of that type already.
    ///
    /// # Panics
    /// If the opcode is no cast, or none between these types.
    pub fn cast(&self, opcode: Opcode, value: impl Into<Value<'m>>, ty: Type<'m>, name: &str) -> Value<'m> {
        let value = value.into();
        if value.ty() == ty {
            return value;
        }
        self.assert_operand(value);
        self.assert_type(ty);
        assert!(is_cast(opcode, value.ty(), ty), "{opcode:?} of {} to {}", value.text(), ty.text());
        // SAFETY: a cast between these types; the builder stands somewhere.
        unsafe { ffi::LLVMBuildCast(self.here(), opcode, value, ty, c_name(name).as_ref().into()) }
    }

    /// Cuts or extends an integer.
    pub fn int_cast(&self, value: impl Into<Value<'m>>, ty: Type<'m>, is_signed: bool, name: &str) -> Value<'m> {
        let value = value.into();
        let opcode = match (value.ty().scalar().int_width(), ty.scalar().int_width()) {
            (Some(from), Some(to)) if from > to => Opcode::LLVMTrunc,
            _ if is_signed => Opcode::LLVMSExt,
            _ => Opcode::LLVMZExt,
        };
        self.cast(opcode, value, ty, name)
    }

    /// Rounds or extends a float.
    pub fn fp_cast(&self, value: impl Into<Value<'m>>, ty: Type<'m>, name: &str) -> Value<'m> {
        let value = value.into();
        let narrows = value.ty().scalar().bits() > ty.scalar().bits();
        self.cast(if narrows { Opcode::LLVMFPTrunc } else { Opcode::LLVMFPExt }, value, ty, name)
    }

    /// Casts a pointer to a pointer (in another address space) or to an integer.
    pub fn pointer_cast(&self, value: impl Into<Value<'m>>, ty: Type<'m>, name: &str) -> Value<'m> {
        let to_int = ty.scalar().is_integer();
        self.cast(if to_int { Opcode::LLVMPtrToInt } else { Opcode::LLVMAddrSpaceCast }, value, ty, name)
    }

    /// Extends an integer by zeros, or takes the bits of something of the same size.
    pub fn zext_or_bit_cast(&self, value: impl Into<Value<'m>>, ty: Type<'m>, name: &str) -> Value<'m> {
        let value = value.into();
        let same = value.ty().scalar().bits() == ty.scalar().bits();
        self.cast(if same { Opcode::LLVMBitCast } else { Opcode::LLVMZExt }, value, ty, name)
    }

    /// Takes a field out of a struct.
    ///
    /// # Panics
    /// Also if the value is no struct with such a field.
    pub fn extract_field(&self, value: impl Into<Value<'m>>, field: u32, name: &str) -> Value<'m> {
        let value = value.into();
        self.assert_operand(value);
        assert!((field as usize) < value.ty().fields().len(), "{} has no field {field}", value.text());
        // SAFETY: a struct with such a field; the builder stands somewhere.
        unsafe { ffi::LLVMBuildExtractValue(self.here(), value, field, c_name(name).as_ref().into()) }
    }

    /// Puts a value into a field of a struct.
    ///
    /// # Panics
    /// Also if the first value is no struct with such a field, or the other one is of another type than that field.
    pub fn insert_field(
        &self,
        value: impl Into<Value<'m>>,
        field: u32,
        new: impl Into<Value<'m>>,
        name: &str,
    ) -> Value<'m> {
        let (value, new) = (value.into(), new.into());
        self.assert_operand(value);
        self.assert_operand(new);
        let held = value.ty().fields().get(field as usize).copied();
        assert_eq!(held, Some(new.ty()), "{} cannot be field {field} of {}", new.text(), value.text());
        // SAFETY: a struct with a field of the value's type; the builder stands somewhere.
        unsafe { ffi::LLVMBuildInsertValue(self.here(), value, new, field, c_name(name).as_ref().into()) }
    }

    /// Takes a lane out of a vector.
    pub fn extract_element(&self, vector: impl Into<Value<'m>>, index: impl Into<Value<'m>>, name: &str) -> Value<'m> {
        let (vector, index) = (vector.into(), index.into());
        self.assert_lane(vector, index);
        // SAFETY: a vector and an integer; the builder stands somewhere.
        unsafe { ffi::LLVMBuildExtractElement(self.here(), vector, index, c_name(name).as_ref().into()) }
    }

    /// Takes the lane at a position out of a vector.
    pub fn lane(&self, vector: impl Into<Value<'m>>, index: u32) -> Value<'m> {
        self.extract_element(vector, self.types().int(32).int(index.into()), "")
    }

    /// Returns whether any lane of a boolean vector is true; a scalar is returned unchanged.
    pub fn any(&self, value: Value<'m>) -> Value<'m> {
        let Some(lanes) = value.ty().lanes() else { return value };
        (1..lanes).fold(self.lane(value, 0), |any, lane| self.or(any, self.lane(value, lane), ""))
    }

    /// Puts a value into a lane of a vector.
    pub fn insert_element(
        &self,
        vector: impl Into<Value<'m>>,
        lane: impl Into<Value<'m>>,
        index: impl Into<Value<'m>>,
        name: &str,
    ) -> Value<'m> {
        let (vector, lane, index) = (vector.into(), lane.into(), index.into());
        self.assert_lane(vector, index);
        self.assert_operand(lane);
        assert_eq!(vector.ty().scalar(), lane.ty(), "{} is no lane of {}", lane.text(), vector.text());
        // SAFETY: a vector, a lane of it, and an integer; the builder stands somewhere.
        unsafe { ffi::LLVMBuildInsertElement(self.here(), vector, lane, index, c_name(name).as_ref().into()) }
    }

    /// Makes a vector of lanes of two others, counted through both; `None` is a lane with any value.
    pub fn shuffle(
        &self,
        x: impl Into<Value<'m>>,
        y: impl Into<Value<'m>>,
        mask: &[Option<u32>],
        name: &str,
    ) -> Value<'m> {
        let (x, y) = (x.into(), y.into());
        assert_eq!(x.ty(), y.ty(), "{} and {} differ in their types", x.text(), y.text());
        self.assert_operand(x);
        self.assert_operand(y);
        let lanes = x.ty().lanes().unwrap_or_else(|| panic!("{} is no vector", x.text()));
        assert!(mask.iter().flatten().all(|lane| *lane < 2 * lanes), "a mask beyond {lanes} lanes: {mask:?}");
        let int = self.types().int(32);
        let mask: Vec<Value<'m>> = mask.iter().map(|l| l.map_or(int.poison(), |l| int.int(l.into()))).collect();
        let mask = Value::vector(&mask);
        // SAFETY: two vectors of one type, and a mask of lanes that they have; the builder stands somewhere.
        unsafe { ffi::LLVMBuildShuffleVector(self.here(), x, y, mask, c_name(name).as_ref().into()) }
    }

    /// Returns `value` in every lane of a vector like `like`; `value` itself if that is no vector.
    pub fn splat(&self, value: impl Into<Value<'m>>, like: Type<'m>) -> Value<'m> {
        let value = value.into();
        let Some(lanes) = like.lanes() else { return value };
        if value.is_constant() {
            return value.constant_in_lanes_of(like);
        }
        let undefined = value.ty().vector(lanes).poison();
        let first = self.insert_element(undefined, value, self.types().int(32).int(0), "");
        self.shuffle(first, undefined, &vec![Some(0); lanes as usize], "")
    }

    fn assert_lane(&self, vector: Value<'m>, index: Value<'m>) {
        assert!(vector.ty().is_vector(), "{} is no vector", vector.text());
        assert!(index.ty().is_integer(), "{} is no index", index.text());
        self.assert_operand(vector);
        self.assert_operand(index);
    }
}

/// Whether a cast of this opcode leads from one type to the other, which is a different one.
fn is_cast(opcode: Opcode, from: Type<'_>, to: Type<'_>) -> bool {
    use Opcode::*;
    let (x, y) = (from.scalar(), to.scalar());
    if opcode == LLVMBitCast {
        // Pointers keep their type, so only their address spaces could differ.
        let is_plain = |ty: Type<'_>| ty.is_integer() || ty.is_floating_point();
        return is_plain(x) && is_plain(y) && from.bits() == to.bits();
    }
    let narrower = x.bits() > y.bits();
    let wider = x.bits() < y.bits();
    let fits = match opcode {
        LLVMTrunc => x.is_integer() && y.is_integer() && narrower,
        LLVMZExt | LLVMSExt => x.is_integer() && y.is_integer() && wider,
        LLVMFPTrunc => x.is_floating_point() && y.is_floating_point() && narrower,
        LLVMFPExt => x.is_floating_point() && y.is_floating_point() && wider,
        LLVMFPToUI | LLVMFPToSI => x.is_floating_point() && y.is_integer(),
        LLVMUIToFP | LLVMSIToFP => x.is_integer() && y.is_floating_point(),
        LLVMPtrToInt => x.is_pointer() && y.is_integer(),
        LLVMIntToPtr => x.is_integer() && y.is_pointer(),
        LLVMAddrSpaceCast => x.is_pointer() && y.is_pointer(),
        _ => false,
    };
    fits && from.lanes() == to.lanes()
}
