//! What an instruction's result is to the encoder.

use crate::program::{Kind, Shape};
use crate::solve::integers::{Fact, Integers, Polynomial, Range};
use crate::symbolic::race_freedom::accesses::Base;

/// Where a pointer may point, and when.
#[derive(Debug, Clone)]
pub struct Place {
    pub when: Fact,
    pub base: Base,
    /// In bytes from the beginning of the object.
    pub offset: Polynomial,
}

/// A value.
#[derive(Debug, Clone)]
pub enum Value {
    Number(Polynomial),
    Bit(Fact),
    /// One of these places.
    Pointer(Vec<Place>),
    /// Of a vector.
    Lanes(Vec<Value>),
    /// Floats, and what is not told.
    Opaque,
}

impl Value {
    /// The pointer to the beginning of an object, plus `offset` bytes.
    pub fn at(base: Base, offset: i64) -> Value {
        Value::Pointer(vec![Place { when: Fact::True, base, offset: Polynomial::constant(i128::from(offset)) }])
    }

    /// A pointer of which nothing is known.
    pub fn anywhere() -> Value {
        Value::at(Base::UNKNOWN, 0)
    }

    /// The number, if it is one.
    pub fn number(&self) -> Option<&Polynomial> {
        match self {
            Value::Number(number) => Some(number),
            _ => None,
        }
    }

    /// The condition, if it is one.
    pub fn bit(&self) -> Option<&Fact> {
        match self {
            Value::Bit(bit) => Some(bit),
            _ => None,
        }
    }

    /// A lane; a scalar is every lane of itself.
    pub fn lane(&self, lane: usize) -> Value {
        match self {
            Value::Lanes(lanes) => lanes.get(lane).cloned().unwrap_or(Value::Opaque),
            scalar => scalar.clone(),
        }
    }

    /// Any value of a shape, the same for the same name.
    pub fn unknown(integers: &mut Integers, shape: Shape, name: &str) -> Value {
        let one = |integers: &mut Integers, name: &str| match shape.kind {
            Kind::Int(1) => Value::Bit(integers.bit(name)),
            Kind::Int(bits @ 2..=64) => Value::Number(integers.symbol(name, Range::signed(bits))),
            Kind::Pointer => Value::anywhere(),
            _ => Value::Opaque,
        };
        match shape.lanes {
            0 => one(integers, name),
            lanes => Value::Lanes((0..lanes).map(|i| one(integers, &format!("{name}.{i}"))).collect()),
        }
    }

    /// A constant of a shape.
    pub fn constant(bits: &[u64], shape: Shape) -> Value {
        let one = |bits: u64| match shape.kind {
            Kind::Int(1) => Value::Bit(Fact::of(bits & 1 == 1)),
            Kind::Int(width @ 2..=64) => {
                Value::Number(Polynomial::constant(i128::from(crate::program::signed(bits, width))))
            }
            Kind::Pointer if bits == 0 => Value::at(Base::Null, 0),
            Kind::Pointer => Value::anywhere(),
            _ => Value::Opaque,
        };
        match shape.lanes {
            0 => one(bits.first().copied().unwrap_or(0)),
            lanes => Value::Lanes((0..lanes as usize).map(|i| one(bits.get(i).copied().unwrap_or(0))).collect()),
        }
    }
}
