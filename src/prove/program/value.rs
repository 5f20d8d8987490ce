//! Values of interpreted kernels: the lanes of a scalar or a vector, and their bytes in memory.

use std::rc::Rc;

use super::arithmetic::width;
use super::{Kind, Shape, masked};

/// A scalar, or one lane of a vector: its bits, and whatever else an interpreter knows of it.
pub trait Lane: Copy {
    /// Returns the lane of which only the bits are known.
    fn new(bits: u64) -> Self;

    /// Returns the bits.
    fn bits(self) -> u64;

    /// Returns the value that stands for a result which the interpreter does not determine.
    fn undetermined(shape: Shape) -> Value<Self>;
}

/// Bits alone; what is not determined is unknown.
impl Lane for u64 {
    fn new(bits: u64) -> u64 {
        bits
    }

    fn bits(self) -> u64 {
        self
    }

    fn undetermined(_: Shape) -> Value<u64> {
        Value::Unknown
    }
}

/// A scalar or a vector; unknown if the interpreter cannot determine it.
#[derive(Debug, Clone, PartialEq)]
pub enum Value<L> {
    /// A scalar.
    One(L),
    /// The lanes of a vector.
    Many(Rc<[L]>),
    /// It cannot be determined.
    Unknown,
}

impl<L: Lane> Value<L> {
    /// Returns a scalar of which only the bits are known.
    pub fn known(bits: u64) -> Value<L> {
        Value::One(L::new(bits))
    }

    /// Returns the lanes: one of a scalar, none if unknown.
    pub fn lanes(&self) -> &[L] {
        match self {
            Value::One(lane) => std::slice::from_ref(lane),
            Value::Many(lanes) => lanes,
            Value::Unknown => &[],
        }
    }

    /// Returns the bits of a scalar, or of a vector's first lane.
    pub fn bits(&self) -> Option<u64> {
        self.lanes().first().map(|lane| lane.bits())
    }

    /// Builds a value of this shape; missing lanes are 0.
    pub fn of(mut lanes: Vec<L>, shape: Shape) -> Value<L> {
        lanes.resize(shape.lanes.max(1) as usize, L::new(0));
        if shape.lanes == 0 { Value::One(lanes[0]) } else { Value::Many(lanes.into()) }
    }

    /// Same as [`Value::of`], from bits.
    pub fn of_bits(bits: impl IntoIterator<Item = u64>, shape: Shape) -> Value<L> {
        let mut bits = bits.into_iter();
        match shape.lanes {
            0 => Value::known(bits.next().unwrap_or(0)),
            _ => Value::of(bits.map(L::new).collect(), shape),
        }
    }

    /// Returns the value that bytes in memory represent; undetermined without bytes.
    pub fn from_bytes(bytes: &[u8], shape: Shape) -> Value<L> {
        let size = shape.lane_bytes().max(1) as usize;
        match bytes {
            [] => L::undetermined(shape),
            _ => Value::of_bits(bytes.chunks(size).map(|chunk| lane_from_bytes(chunk, shape.kind)), shape),
        }
    }

    /// Returns the representation of a value of this shape in memory; missing lanes are 0.
    pub fn to_bytes(&self, shape: Shape) -> Vec<u8> {
        let mut bytes = vec![0; shape.bytes() as usize];
        self.write_bytes(shape, &mut bytes);
        bytes
    }

    /// Writes the representation of a value of this shape to memory of [`Shape::bytes`]; missing lanes are 0.
    pub fn write_bytes(&self, shape: Shape, memory: &mut [u8]) {
        let size = shape.lane_bytes() as usize;
        let kept = size.min(8);
        memory.fill(0);
        for (to, lane) in memory.chunks_mut(size.max(1)).zip(self.lanes()) {
            to[..kept].copy_from_slice(&lane.bits().to_le_bytes()[..kept]);
        }
    }

    /// Applies a function to the bits of each lane.
    pub fn map(&self, f: impl Fn(u64) -> u64) -> Value<L> {
        let f = |lane: &L| L::new(f(lane.bits()));
        match self {
            Value::One(lane) => Value::One(f(lane)),
            Value::Many(lanes) => Value::Many(lanes.iter().map(f).collect()),
            Value::Unknown => Value::Unknown,
        }
    }

    /// Combines the bits of two values lane by lane; a scalar is combined with every lane.
    pub fn zip(&self, other: &Value<L>, mut f: impl FnMut(u64, u64) -> u64) -> Value<L> {
        let mut f = |a: &L, b: &L| L::new(f(a.bits(), b.bits()));
        match (self, other) {
            (Value::One(a), Value::One(b)) => Value::One(f(a, b)),
            (Value::Many(a), Value::Many(b)) => Value::Many(a.iter().zip(b.iter()).map(|(a, b)| f(a, b)).collect()),
            (Value::Many(a), Value::One(b)) => Value::Many(a.iter().map(|a| f(a, b)).collect()),
            (Value::One(a), Value::Many(b)) => Value::Many(b.iter().map(|b| f(a, b)).collect()),
            (Value::Unknown, _) | (_, Value::Unknown) => Value::Unknown,
        }
    }
}

/// Returns the bits of one lane from little-endian bytes in memory.
pub fn lane_from_bytes(bytes: &[u8], kind: Kind) -> u64 {
    let mut word = [0; 8];
    let size = bytes.len().min(8);
    word[..size].copy_from_slice(&bytes[..size]);
    masked(u64::from_le_bytes(word), width(kind))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(kind: Kind, lanes: u32) -> Shape {
        Shape { kind, lanes }
    }

    #[test]
    fn values_survive_memory() {
        for (lanes, of) in [(&[0x1234u64][..], shape(Kind::Int(16), 0)), (&[1, 2, 3], shape(Kind::Int(32), 3))] {
            let value: Value<u64> = Value::of_bits(lanes.iter().copied(), of);
            assert_eq!(Value::from_bytes(&value.to_bytes(of), of), value);
        }
        // Padding after a vector of three is no lane.
        let padded = Value::<u64>::from_bytes(&[1, 0, 2, 0, 3, 0, 4, 0], shape(Kind::Int(16), 3));
        assert_eq!(padded, Value::Many([1, 2, 3].into()));
        assert_eq!(Value::<u64>::Unknown.to_bytes(shape(Kind::Int(32), 2)), [0; 8]);
        assert_eq!(Value::<u64>::from_bytes(&[], shape(Kind::Int(32), 0)), Value::Unknown);
        // Beyond 64 bits, only the low ones are kept.
        assert_eq!(Value::<u64>::known(7).to_bytes(shape(Kind::Int(128), 0)).len(), 16);
    }

    #[test]
    fn a_scalar_is_combined_with_every_lane() {
        let lanes = Value::Many([1, 2].into());
        let sum = |a: &Value<u64>, b: &Value<u64>| a.zip(b, |a, b| a + b);
        assert_eq!(sum(&lanes, &Value::known(10)), Value::Many([11, 12].into()));
        assert_eq!(sum(&lanes, &lanes), Value::Many([2, 4].into()));
        assert_eq!(sum(&lanes, &Value::Unknown), Value::Unknown);
    }
}
