//! Values of the dry run, and what instructions without memory make of them.

use std::rc::Rc;

use half::f16;
use llvm_sys::{LLVMIntPredicate, LLVMOpcode, LLVMRealPredicate};

use super::super::program::{Kind, Shape, masked, signed};
use super::super::read::float_bits;

/// The bits of a scalar or of each lane of a vector; unknown where the dry run cannot tell.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    Bits(u64),
    Lanes(Rc<[u64]>),
    Unknown,
}

impl Value {
    pub fn bits(&self) -> Option<u64> {
        match self {
            Value::Bits(bits) => Some(*bits),
            Value::Lanes(lanes) => lanes.first().copied(),
            Value::Unknown => None,
        }
    }

    /// All lanes; one for a scalar, none if unknown.
    pub fn lanes(&self) -> &[u64] {
        match self {
            Value::Bits(bits) => std::slice::from_ref(bits),
            Value::Lanes(lanes) => lanes,
            Value::Unknown => &[],
        }
    }

    pub fn from_lanes(lanes: Vec<u64>, shape: Shape) -> Value {
        if shape.lanes == 0 {
            lanes.first().map_or(Value::Unknown, |b| Value::Bits(*b))
        } else {
            Value::Lanes(lanes.into())
        }
    }

    pub fn map(&self, f: impl Fn(u64) -> u64) -> Value {
        match self {
            Value::Bits(bits) => Value::Bits(f(*bits)),
            Value::Lanes(lanes) => Value::Lanes(lanes.iter().map(|l| f(*l)).collect()),
            Value::Unknown => Value::Unknown,
        }
    }
}

/// Lane by lane; a scalar goes with every lane. `None` from `f` makes the whole unknown.
pub fn zip(a: &Value, b: &Value, mut f: impl FnMut(u64, u64) -> Option<u64>) -> Value {
    let found = match (a, b) {
        (Value::Bits(a), Value::Bits(b)) => f(*a, *b).map(Value::Bits),
        (Value::Lanes(a), Value::Lanes(b)) => {
            a.iter().zip(b.iter()).map(|(a, b)| f(*a, *b)).collect::<Option<Rc<[u64]>>>().map(Value::Lanes)
        }
        (Value::Lanes(a), Value::Bits(b)) => {
            a.iter().map(|a| f(*a, *b)).collect::<Option<Rc<[u64]>>>().map(Value::Lanes)
        }
        (Value::Bits(a), Value::Lanes(b)) => {
            b.iter().map(|b| f(*a, *b)).collect::<Option<Rc<[u64]>>>().map(Value::Lanes)
        }
        _ => None,
    };
    found.unwrap_or(Value::Unknown)
}

/// A float of that width as a number.
pub fn float(bits: u64, width: u32) -> f64 {
    match width {
        16 => f16::from_bits(bits as u16).into(),
        32 => f32::from_bits(bits as u32).into(),
        _ => f64::from_bits(bits),
    }
}

/// The width of a scalar's bits.
pub fn width(kind: Kind) -> u32 {
    match kind {
        Kind::Int(width) | Kind::Float(width) => width,
        _ => 64,
    }
}

/// Integer and float arithmetic; `Err` for a division that has no result.
pub fn binary(opcode: LLVMOpcode, kind: Kind, a: u64, b: u64) -> Result<u64, ()> {
    use LLVMOpcode::*;
    let width = width(kind);
    if matches!(kind, Kind::Float(_)) {
        let (x, y) = (float(a, width), float(b, width));
        let z = match opcode {
            LLVMFAdd => x + y,
            LLVMFSub => x - y,
            LLVMFMul => x * y,
            LLVMFDiv => x / y,
            _ => x % y,
        };
        return Ok(float_bits(z, width));
    }
    let (x, y) = (signed(a, width), signed(b, width));
    let shift = (b % u64::from(width.max(1))) as u32;
    let result = match opcode {
        LLVMAdd => a.wrapping_add(b),
        LLVMSub => a.wrapping_sub(b),
        LLVMMul => a.wrapping_mul(b),
        LLVMUDiv => a.checked_div(b).ok_or(())?,
        LLVMURem => a.checked_rem(b).ok_or(())?,
        LLVMSDiv if y == 0 => return Err(()),
        LLVMSRem if y == 0 => return Err(()),
        LLVMSDiv => x.wrapping_div(y).cast_unsigned(),
        LLVMSRem => x.wrapping_rem(y).cast_unsigned(),
        LLVMShl => a << shift,
        LLVMLShr => a >> shift,
        LLVMAShr => (x >> shift).cast_unsigned(),
        LLVMAnd => a & b,
        LLVMOr => a | b,
        _ => a ^ b,
    };
    Ok(masked(result, width))
}

pub fn compare(predicate: LLVMIntPredicate, width: u32, a: u64, b: u64) -> bool {
    use LLVMIntPredicate::*;
    let (x, y) = (signed(a, width), signed(b, width));
    match predicate {
        LLVMIntEQ => a == b,
        LLVMIntNE => a != b,
        LLVMIntUGT => a > b,
        LLVMIntUGE => a >= b,
        LLVMIntULT => a < b,
        LLVMIntULE => a <= b,
        LLVMIntSGT => x > y,
        LLVMIntSGE => x >= y,
        LLVMIntSLT => x < y,
        LLVMIntSLE => x <= y,
    }
}

pub fn compare_floats(predicate: LLVMRealPredicate, width: u32, a: u64, b: u64) -> bool {
    use LLVMRealPredicate::*;
    let (x, y) = (float(a, width), float(b, width));
    let unordered = x.is_nan() || y.is_nan();
    match predicate {
        LLVMRealPredicateFalse => false,
        LLVMRealOEQ => x == y,
        LLVMRealOGT => x > y,
        LLVMRealOGE => x >= y,
        LLVMRealOLT => x < y,
        LLVMRealOLE => x <= y,
        LLVMRealONE => x != y && !unordered,
        LLVMRealORD => !unordered,
        LLVMRealUNO => unordered,
        LLVMRealUEQ => x == y || unordered,
        LLVMRealUGT => x > y || unordered,
        LLVMRealUGE => x >= y || unordered,
        LLVMRealULT => x < y || unordered,
        LLVMRealULE => x <= y || unordered,
        LLVMRealUNE => x != y,
        LLVMRealPredicateTrue => true,
    }
}

/// A conversion of one lane; `None` for those that change the number of lanes.
pub fn cast(opcode: LLVMOpcode, from: Kind, to: Kind, bits: u64) -> u64 {
    use LLVMOpcode::*;
    let (before, after) = (width(from), width(to));
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "conversions saturate")]
    #[expect(clippy::cast_precision_loss, reason = "conversions round")]
    match opcode {
        LLVMTrunc => masked(bits, after),
        LLVMSExt => masked(signed(bits, before).cast_unsigned(), after),
        LLVMFPToUI => masked(float(bits, before) as u64, after),
        LLVMFPToSI => masked((float(bits, before) as i64).cast_unsigned(), after),
        LLVMUIToFP => float_bits(bits as f64, after),
        LLVMSIToFP => float_bits(signed(bits, before) as f64, after),
        LLVMFPTrunc | LLVMFPExt => float_bits(float(bits, before), after),
        _ => bits,
    }
}

/// The bytes of a value in memory.
pub fn to_bytes(value: &Value, shape: Shape) -> Vec<u8> {
    let size = shape.lane_bytes() as usize;
    let lanes = value.lanes();
    (0..shape.lanes.max(1) as usize)
        .flat_map(|i| lanes.get(i).copied().unwrap_or(0).to_le_bytes().into_iter().take(size))
        .collect()
}

/// The value that bytes in memory are.
pub fn from_bytes(bytes: &[u8], shape: Shape) -> Value {
    let size = shape.lane_bytes().max(1) as usize;
    let lane = |chunk: &[u8]| {
        let mut word = [0; 8];
        word[..chunk.len().min(8)].copy_from_slice(&chunk[..chunk.len().min(8)]);
        masked(u64::from_le_bytes(word), width(shape.kind))
    };
    Value::from_lanes(bytes.chunks(size).map(lane).collect(), shape)
}
