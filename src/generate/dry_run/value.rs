//! Values of the dry run.

use std::rc::Rc;

use crate::program::arithmetic::width;
use crate::program::{Shape, masked};

/// The bits of a scalar or of each lane of a vector; unknown if the dry run cannot determine them.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    Bits(u64),
    Lanes(Rc<[u64]>),
    Unknown,
}

impl Value {
    /// Returns the bits of a scalar, or of a vector's first lane.
    pub fn bits(&self) -> Option<u64> {
        match self {
            Value::Bits(bits) => Some(*bits),
            Value::Lanes(lanes) => lanes.first().copied(),
            Value::Unknown => None,
        }
    }

    /// Returns all lanes: one of a scalar, none if unknown.
    pub fn lanes(&self) -> &[u64] {
        match self {
            Value::Bits(bits) => std::slice::from_ref(bits),
            Value::Lanes(lanes) => lanes,
            Value::Unknown => &[],
        }
    }

    /// Returns a value of this shape from its lanes.
    pub fn from_lanes(lanes: Vec<u64>, shape: Shape) -> Value {
        if shape.lanes == 0 {
            lanes.first().map_or(Value::Unknown, |b| Value::Bits(*b))
        } else {
            Value::Lanes(lanes.into())
        }
    }

    /// Applies a function to each lane.
    pub fn map(&self, f: impl Fn(u64) -> u64) -> Value {
        match self {
            Value::Bits(bits) => Value::Bits(f(*bits)),
            Value::Lanes(lanes) => Value::Lanes(lanes.iter().map(|l| f(*l)).collect()),
            Value::Unknown => Value::Unknown,
        }
    }
}

/// Combines two values lane by lane; a scalar is combined with every lane. If `f` returns `None`, the result
/// is unknown.
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

/// Returns the representation of a value in memory.
pub fn to_bytes(value: &Value, shape: Shape) -> Vec<u8> {
    let size = shape.lane_bytes() as usize;
    let lanes = value.lanes();
    (0..shape.lanes.max(1) as usize)
        .flat_map(|i| lanes.get(i).copied().unwrap_or(0).to_le_bytes().into_iter().take(size))
        .collect()
}

/// Returns the value that bytes in memory represent.
pub fn from_bytes(bytes: &[u8], shape: Shape) -> Value {
    let size = shape.lane_bytes().max(1) as usize;
    let lane = |chunk: &[u8]| {
        let mut word = [0; 8];
        word[..chunk.len().min(8)].copy_from_slice(&chunk[..chunk.len().min(8)]);
        masked(u64::from_le_bytes(word), width(shape.kind))
    };
    Value::from_lanes(bytes.chunks(size).map(lane).collect(), shape)
}
