//! Where the scalars of a type lie in memory, and how they are written as text.

use half::f16;

use crate::kernel::interface::{Scalar, Struct, Type};

/// One scalar of a type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Leaf {
    /// In bytes from the start of the value.
    pub offset: u64,
    pub scalar: Scalar,
    /// Such as `p.x`, `y[2]` or `s3` (a vector's lane); empty for a scalar itself.
    pub path: String,
}

/// The scalars of a type in the order of memory: padding is in none of them. Unions and opaque parts, whose meaning only
/// the kernel knows, are bytes. Pointers to buffers are no scalars.
pub fn leaves(ty: &Type) -> Vec<Leaf> {
    let mut out = Vec::new();
    collect(ty, 0, String::new(), &mut out);
    out
}

fn collect(ty: &Type, offset: u64, path: String, out: &mut Vec<Leaf>) {
    let join = |name: &str| if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
    match ty {
        Type::Scalar(scalar) => out.push(Leaf { offset, scalar: *scalar, path }),
        Type::Vector(scalar, lanes) => {
            for lane in 0..u64::from(*lanes) {
                out.push(Leaf {
                    offset: offset + lane * scalar.size(),
                    scalar: *scalar,
                    path: join(&format!("s{lane:x}")),
                });
            }
        }
        Type::Array(element, len) => {
            for i in 0..*len {
                collect(element, offset + i * element.size(), format!("{path}[{i}]"), out);
            }
        }
        Type::Pointer { .. } => {}
        Type::Struct(Struct { is_union: true, size, .. }) | Type::Opaque { size, .. } => {
            for i in 0..*size {
                out.push(Leaf { offset: offset + i, scalar: Scalar::U8, path: format!("{path}[byte {i}]") });
            }
        }
        Type::Struct(s) => {
            for field in &s.fields {
                collect(&field.ty, offset + field.offset, join(&field.name), out);
            }
        }
    }
}

/// Whether every byte of the type belongs to a scalar of the same size, so that arrays of it are arrays of scalars.
pub fn is_dense(ty: &Type) -> Option<Scalar> {
    match ty {
        Type::Scalar(s) => Some(*s),
        Type::Vector(s, lanes) if *lanes != 3 => Some(*s),
        Type::Array(element, _) => is_dense(element),
        _ => None,
    }
}

/// A scalar's value. Integers keep all their bits.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Number {
    Integer(i128),
    Float(f64),
}

impl Number {
    pub fn as_f64(self) -> f64 {
        match self {
            // Only used for messages and errors of measure, where rounding does not matter.
            #[expect(clippy::cast_precision_loss, reason = "the nearest double is what is wanted")]
            Number::Integer(n) => n as f64,
            Number::Float(x) => x,
        }
    }
}

fn first<const N: usize>(bytes: &[u8]) -> [u8; N] {
    let mut out = [0; N];
    for (to, from) in out.iter_mut().zip(bytes) {
        *to = *from;
    }
    out
}

/// The scalar at the start of `bytes` (little endian).
pub fn decode(scalar: Scalar, bytes: &[u8]) -> Number {
    match scalar {
        Scalar::I8 => Number::Integer(i8::from_le_bytes(first(bytes)).into()),
        Scalar::U8 => Number::Integer(u8::from_le_bytes(first(bytes)).into()),
        Scalar::I16 => Number::Integer(i16::from_le_bytes(first(bytes)).into()),
        Scalar::U16 => Number::Integer(u16::from_le_bytes(first(bytes)).into()),
        Scalar::I32 => Number::Integer(i32::from_le_bytes(first(bytes)).into()),
        Scalar::U32 => Number::Integer(u32::from_le_bytes(first(bytes)).into()),
        Scalar::I64 => Number::Integer(i64::from_le_bytes(first(bytes)).into()),
        Scalar::U64 => Number::Integer(u64::from_le_bytes(first(bytes)).into()),
        Scalar::F16 => Number::Float(f16::from_le_bytes(first(bytes)).into()),
        Scalar::F32 => Number::Float(f32::from_le_bytes(first(bytes)).into()),
        Scalar::F64 => Number::Float(f64::from_le_bytes(first(bytes))),
    }
}

/// The least and greatest value of an integer type; `None` for floats.
pub fn range(scalar: Scalar) -> Option<(i128, i128)> {
    match scalar {
        Scalar::I8 => Some((i8::MIN.into(), i8::MAX.into())),
        Scalar::U8 => Some((0, u8::MAX.into())),
        Scalar::I16 => Some((i16::MIN.into(), i16::MAX.into())),
        Scalar::U16 => Some((0, u16::MAX.into())),
        Scalar::I32 => Some((i32::MIN.into(), i32::MAX.into())),
        Scalar::U32 => Some((0, u32::MAX.into())),
        Scalar::I64 => Some((i64::MIN.into(), i64::MAX.into())),
        Scalar::U64 => Some((0, u64::MAX.into())),
        Scalar::F16 | Scalar::F32 | Scalar::F64 => None,
    }
}

/// Appends an integer's low bytes, as many as the type has; the caller has checked the range.
pub fn push_integer(scalar: Scalar, n: i128, out: &mut Vec<u8>) {
    let size = usize::try_from(scalar.size()).unwrap_or(8);
    out.extend_from_slice(&n.to_le_bytes()[..size]);
}

/// Appends a float, rounded to the nearest value of the type (ties to even). False, and nothing appended, if it is
/// finite but too large, or the type is no float.
#[must_use]
pub fn push_float(scalar: Scalar, x: f64, out: &mut Vec<u8>) -> bool {
    #[expect(clippy::cast_possible_truncation, reason = "rounding is the purpose")]
    let narrow = x as f32;
    match scalar {
        Scalar::F16 => {
            let h = f16::from_f64(x);
            if h.is_infinite() && x.is_finite() {
                return false;
            }
            out.extend_from_slice(&h.to_le_bytes());
        }
        Scalar::F32 => {
            if narrow.is_infinite() && x.is_finite() {
                return false;
            }
            out.extend_from_slice(&narrow.to_le_bytes());
        }
        Scalar::F64 => out.extend_from_slice(&x.to_le_bytes()),
        _ => return false,
    }
    true
}

/// The scalar at the start of `bytes`, in as few digits as tell it from its neighbours.
pub fn text(scalar: Scalar, bytes: &[u8]) -> String {
    match (scalar, decode(scalar, bytes)) {
        (_, Number::Integer(n)) => n.to_string(),
        (Scalar::F64, Number::Float(x)) => format!("{x:?}"),
        (Scalar::F16, Number::Float(_)) => text_of_half(f16::from_le_bytes(first(bytes))),
        _ => format!("{:?}", f32::from_le_bytes(first(bytes))),
    }
}

fn text_of_half(h: f16) -> String {
    (0..5)
        .filter_map(|digits| format!("{:.digits$e}", f32::from(h)).parse::<f32>().ok())
        .find(|x| f16::from_f32(*x) == h)
        .map_or_else(|| format!("{:?}", f32::from(h)), |x| format!("{x:?}"))
}
