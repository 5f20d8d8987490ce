//! Locates the scalars of a type in memory; decodes, encodes and formats them.

use half::f16;
use kassay_model::interface::{Scalar, Struct, Type};

/// One scalar of a type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Leaf {
    /// Byte offset from the start of the value.
    pub offset: u64,
    /// Type of the scalar.
    pub scalar: Scalar,
    /// Such as `p.x`, `y[2]` or `s3` (a vector component); empty for a plain scalar.
    pub path: String,
}

/// Returns the scalars of a type in memory order, without padding. Unions and opaque parts, whose meaning only the
/// kernel knows, are listed byte by byte. Pointers to buffers are skipped.
pub fn leaves(ty: &Type) -> Vec<Leaf> {
    let mut out = Vec::new();
    collect(ty, 0, String::new(), false, &mut out);
    out
}

/// Like [`leaves`], but a union whose fields all have the same scalars at the same places, or some of these, has these
/// scalars: as have the unions that name the parts of a complex number, or the components of a vector, in several ways.
pub fn leaves_through_unions(ty: &Type) -> Vec<Leaf> {
    let mut out = Vec::new();
    collect(ty, 0, String::new(), true, &mut out);
    out
}

/// Returns the scalars of a union, each once, if its fields agree on them.
fn agreed(union: &Struct, offset: u64, path: &str) -> Option<Vec<Leaf>> {
    let mut fields: Vec<Vec<Leaf>> = Vec::new();
    for field in &union.fields {
        let mut leaves = Vec::new();
        let path = if path.is_empty() { field.name.clone() } else { format!("{path}.{}", field.name) };
        collect(&field.ty, offset + field.offset, path, true, &mut leaves);
        fields.push(leaves);
    }
    // Of those with the most, the first one gives the names.
    let most = fields.iter().map(Vec::len).max()?;
    let whole = fields.iter().find(|leaves| leaves.len() == most)?.clone();
    let has = |leaf: &Leaf| whole.iter().any(|known| (known.offset, known.scalar) == (leaf.offset, leaf.scalar));
    (most > 0 && fields.iter().flatten().all(has)).then_some(whole)
}

fn bytes(size: u64, offset: u64, path: &str, out: &mut Vec<Leaf>) {
    let byte = |i| Leaf { offset: offset + i, scalar: Scalar::U8, path: format!("{path}[byte {i}]") };
    out.extend((0..size).map(byte));
}

fn collect(ty: &Type, offset: u64, path: String, through_unions: bool, out: &mut Vec<Leaf>) {
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
                collect(element, offset + i * element.size(), format!("{path}[{i}]"), through_unions, out);
            }
        }
        Type::Pointer { .. } => {}
        Type::Struct(union) if union.is_union => match through_unions.then(|| agreed(union, offset, &path)).flatten() {
            Some(leaves) => out.extend(leaves),
            None => bytes(union.size, offset, &path, out),
        },
        Type::Opaque { size, .. } => bytes(*size, offset, &path, out),
        Type::Struct(s) => {
            for field in &s.fields {
                collect(&field.ty, offset + field.offset, join(&field.name), through_unions, out);
            }
        }
    }
}

/// Returns the scalar type if the type consists of nothing but scalars of that type, without padding, so that an array
/// of it is an array of scalars. Structs and unions are not considered.
pub fn dense_scalar(ty: &Type) -> Option<Scalar> {
    match ty {
        Type::Scalar(s) => Some(*s),
        Type::Vector(s, lanes) if *lanes != 3 => Some(*s),
        Type::Array(element, _) => dense_scalar(element),
        _ => None,
    }
}

/// A scalar's value. Integers keep all their bits.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Number {
    /// Of an integer type.
    Integer(i128),
    /// Of a floating-point type, as a double.
    Float(f64),
}

impl Number {
    /// Returns the nearest double.
    pub fn as_f64(self) -> f64 {
        match self {
            // Rounding does not matter: integers are converted for messages and error figures only.
            #[expect(clippy::cast_precision_loss, reason = "the nearest double is what is wanted")]
            Number::Integer(n) => n as f64,
            Number::Float(x) => x,
        }
    }
}

/// Returns the first `N` bytes, padded with zeros.
fn prefix<const N: usize>(bytes: &[u8]) -> [u8; N] {
    let mut out = [0; N];
    for (to, from) in out.iter_mut().zip(bytes) {
        *to = *from;
    }
    out
}

/// Decodes the little-endian scalar at the start of `bytes`.
pub fn decode(scalar: Scalar, bytes: &[u8]) -> Number {
    match scalar {
        Scalar::I8 => Number::Integer(i8::from_le_bytes(prefix(bytes)).into()),
        Scalar::U8 => Number::Integer(u8::from_le_bytes(prefix(bytes)).into()),
        Scalar::I16 => Number::Integer(i16::from_le_bytes(prefix(bytes)).into()),
        Scalar::U16 => Number::Integer(u16::from_le_bytes(prefix(bytes)).into()),
        Scalar::I32 => Number::Integer(i32::from_le_bytes(prefix(bytes)).into()),
        Scalar::U32 => Number::Integer(u32::from_le_bytes(prefix(bytes)).into()),
        Scalar::I64 => Number::Integer(i64::from_le_bytes(prefix(bytes)).into()),
        Scalar::U64 => Number::Integer(u64::from_le_bytes(prefix(bytes)).into()),
        Scalar::F16 => Number::Float(f16::from_le_bytes(prefix(bytes)).into()),
        Scalar::F32 => Number::Float(f32::from_le_bytes(prefix(bytes)).into()),
        Scalar::F64 => Number::Float(f64::from_le_bytes(prefix(bytes))),
    }
}

/// Returns the smallest and the largest value of an integer type; `None` for floats.
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

/// Appends an integer as little-endian bytes of the type; the caller has checked its range.
pub fn push_integer(scalar: Scalar, n: i128, out: &mut Vec<u8>) {
    let size = usize::try_from(scalar.size()).unwrap_or(8);
    out.extend_from_slice(&n.to_le_bytes()[..size]);
}

/// Appends a float, rounded to the nearest value of the type (ties to even). Returns false and appends nothing if the
/// value is finite but too large, or if the type is not a float.
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

/// Formats the scalar at the start of `bytes` with the fewest digits that distinguish it from its neighbours.
pub fn text(scalar: Scalar, bytes: &[u8]) -> String {
    match (scalar, decode(scalar, bytes)) {
        (_, Number::Integer(n)) => n.to_string(),
        (Scalar::F64, Number::Float(x)) => format!("{x:?}"),
        (Scalar::F16, Number::Float(_)) => half_text(f16::from_le_bytes(prefix(bytes))),
        _ => format!("{:?}", f32::from_le_bytes(prefix(bytes))),
    }
}

fn half_text(h: f16) -> String {
    (0..5)
        .filter_map(|digits| format!("{:.digits$e}", f32::from(h)).parse::<f32>().ok())
        .find(|x| f16::from_f32(*x) == h)
        .map_or_else(|| format!("{:?}", f32::from(h)), |x| format!("{x:?}"))
}
