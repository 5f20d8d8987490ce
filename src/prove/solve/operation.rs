//! Represents the operations of expressions and the types of their operands.

/// The type of a term. Pointers are bit vectors; floats are IEEE 754 numbers of a width.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Sort {
    /// A bit vector of that width, up to 64.
    Bits(u32),
    /// A float of 16, 32 or 64 bits.
    Float(u32),
    /// Anything else; a value is equal only to itself.
    Other,
}

/// The direction in which a float is rounded to an integer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Rounding {
    /// To the nearest, ties to even.
    Even,
    /// To the nearest, ties away from 0.
    Away,
    /// Towards positive infinity.
    Up,
    /// Towards negative infinity.
    Down,
    /// Towards 0.
    Zero,
}

/// An operation on terms, named as in SMT-LIB or LLVM IR.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names are those of SMT-LIB and LLVM IR")]
pub enum Operation {
    Add,
    Sub,
    Mul,
    /// Division by 0 follows SMT-LIB: the quotient is all ones (signed: 1 or -1), the remainder is the dividend.
    UDiv,
    SDiv,
    URem,
    SRem,
    And,
    Or,
    Xor,
    /// Shifting by the width or more leaves only zeros or copies of the sign.
    Shl,
    LShr,
    AShr,
    ZExt,
    SExt,
    Trunc,
    Eq,
    Ult,
    Ule,
    Slt,
    Sle,
    /// Ordered comparisons of floats: false if an operand is NaN.
    FEq,
    FLt,
    FLe,
    /// Whether a float is NaN.
    IsNan,
    FNeg,
    FAbs,
    /// Float arithmetic rounds to the nearest, ties to even.
    FAdd,
    FSub,
    FMul,
    FDiv,
    /// The remainder with the sign of the dividend, as C's `fmod`.
    FRem,
    FSqrt,
    /// The product of the first two arguments plus the third, rounded once.
    FFma,
    /// Rounds to an integral value, which stays a float.
    FRound(Rounding),
    /// Converts to a float of another width.
    FToF,
    /// Truncates towards 0; out-of-range values saturate, NaN becomes 0.
    FToSI,
    FToUI,
    SIToF,
    UIToF,
    /// The float that has these bits.
    FromBits,
    /// The bits of a float; for NaN, those of some NaN.
    ToBits,
    /// Arguments: high part, low part.
    Concat,
    /// As many bits as the result has, starting at this one.
    Extract(u32),
    /// Arguments: condition, value if true, value if false.
    Select,
}

/// A mask of the low `width` bits.
pub(super) fn mask(width: u32) -> u64 {
    if width >= 64 { u64::MAX } else { (1 << width) - 1 }
}
