//! What values are made of, while functions are rewritten: the parts that stand for a value that SPIR-V has no type
//! for.

use std::collections::HashMap;

use super::int::{Int, Ints, WORD, held_in, words};
use super::types::{self, Leaf};
use crate::llvm::{Builder, DataLayout, Inst, Type, Types, Value};

/// A scalar of a value.
#[derive(Debug, Clone)]
pub enum Part<'m> {
    Int(Int<'m>),
    /// A float, a pointer, or what is opaque.
    Other(Value<'m>),
}

impl<'m> Part<'m> {
    /// The values that hold it.
    pub fn held(&self) -> Vec<Value<'m>> {
        match self {
            Part::Int(int) => int.words.clone(),
            Part::Other(value) => vec![*value],
        }
    }
}

/// The rewriting of a function.
pub struct Rewriting<'a, 'm> {
    pub builder: &'a Builder<'m>,
    pub layout: DataLayout<'m>,
    /// The parts of values that are rewritten.
    pub parts: HashMap<Value<'m>, Vec<Part<'m>>>,
    /// The instructions that nothing needs any more.
    pub dead: Vec<Inst<'m>>,
    /// What cannot be rewritten, for a message.
    pub refused: Option<String>,
}

impl<'a, 'm> Rewriting<'a, 'm> {
    pub fn ints(&self) -> Ints<'a, 'm> {
        Ints(self.builder)
    }

    pub fn types(&self) -> Types<'m> {
        self.builder.types()
    }

    /// Notes that something cannot be rewritten.
    pub fn refuse(&mut self, what: impl Into<String>) {
        self.refused.get_or_insert_with(|| what.into());
    }

    pub fn leaves(&mut self, ty: Type<'m>) -> Vec<Leaf<'m>> {
        types::leaves(ty, self.layout).unwrap_or_else(|| {
            self.refuse(format!("a value of the type {}", ty.text()));
            Vec::new()
        })
    }

    /// Returns the parts of a value.
    pub fn parts(&mut self, value: Value<'m>) -> Vec<Part<'m>> {
        if let Some(known) = self.parts.get(&value) {
            return known.clone();
        }
        let ty = value.ty();
        if value.is_undef() || value.is_poison() || value.is_null() {
            return self.leaves(ty).into_iter().map(|leaf| self.zero(leaf.ty)).collect();
        }
        if let Some(bits) = ty.int_width() {
            return vec![self.scalar_int(value, bits)];
        }
        if let Some(lanes) = ty.lanes() {
            let known = types::is_legal(ty) || value.is_constant();
            if !known {
                self.refuse(format!("a vector of {lanes} lanes that comes from elsewhere: {}", value.text()));
                return self.leaves(ty).into_iter().map(|leaf| self.zero(leaf.ty)).collect();
            }
            return (0..lanes)
                .flat_map(|lane| {
                    let element = value.element(lane).filter(|_| value.is_constant());
                    let element = element.unwrap_or_else(|| self.builder.lane(value, lane));
                    self.parts(element)
                })
                .collect();
        }
        if ty.is_struct() {
            let fields = 0..ty.fields().len() as u32;
            return fields
                .flat_map(|field| {
                    let element = value.element(field).filter(|_| value.is_constant());
                    let element = element.unwrap_or_else(|| self.builder.extract_field(value, field, ""));
                    self.parts(element)
                })
                .collect();
        }
        if let Some((_, count)) = ty.elements() {
            let elements: Option<Vec<Value<'m>>> = (0..count as u32).map(|n| value.element(n)).collect();
            return match elements.filter(|_| value.is_constant()) {
                Some(elements) => elements.into_iter().flat_map(|element| self.parts(element)).collect(),
                None => {
                    self.refuse(format!("an array that comes from elsewhere: {}", value.text()));
                    self.leaves(ty).into_iter().map(|leaf| self.zero(leaf.ty)).collect()
                }
            };
        }
        vec![Part::Other(value)]
    }

    fn scalar_int(&mut self, value: Value<'m>, bits: u32) -> Part<'m> {
        if types::is_legal(value.ty()) {
            return Part::Int(Int { bits, words: vec![value] });
        }
        if !value.is_constant_int() {
            self.refuse(format!("an integer of {bits} bits that comes from elsewhere: {}", value.text()));
            return self.zero(value.ty());
        }
        let ty = self.types().int(held_in(bits));
        if let Some(number) = value.as_u64() {
            return Part::Int(Int { bits, words: vec![ty.int(number)] });
        }
        // LLVM folds this.
        let b = self.builder;
        let word = |n: usize| {
            let shifted = b.lshr(value, value.ty().int(u64::from(WORD) * n as u64), "");
            b.int_cast(shifted, ty, false, "")
        };
        Part::Int(Int { bits, words: (0..words(bits)).map(word).collect() })
    }

    fn zero(&self, ty: Type<'m>) -> Part<'m> {
        match ty.int_width() {
            Some(bits) => Part::Int(self.ints().constant(bits, 0)),
            None if ty.has_zero() => Part::Other(ty.null()),
            None => Part::Other(ty.poison()),
        }
    }

    /// Returns the only part of a scalar.
    pub fn part(&mut self, value: Value<'m>) -> Part<'m> {
        let mut parts = self.parts(value);
        match parts.len() {
            1 => parts.remove(0),
            _ => {
                self.refuse(value.text());
                self.zero(self.types().int(32))
            }
        }
    }

    /// Returns a scalar as an integer.
    pub fn int(&mut self, value: Value<'m>) -> Int<'m> {
        match self.part(value) {
            Part::Int(int) => int,
            Part::Other(other) => {
                self.refuse(other.text());
                self.ints().constant(32, 0)
            }
        }
    }

    /// Takes over the parts that an instruction computes.
    pub fn set(&mut self, inst: Inst<'m>, parts: Vec<Part<'m>>) {
        let ty = inst.ty();
        if !ty.is_void() && types::is_legal(ty) {
            let value = self.joined(&parts, ty);
            inst.replace_uses(value);
        } else {
            self.parts.insert(inst.value(), parts);
        }
        self.dead.push(inst);
    }

    /// Makes a value of its parts, where the builder stands. The type is one that SPIR-V has, or a struct of these.
    pub fn joined(&mut self, parts: &[Part<'m>], ty: Type<'m>) -> Value<'m> {
        let held: Vec<Value<'m>> = parts.iter().flat_map(Part::held).collect();
        if let Some(lanes) = ty.lanes() {
            let start = ty.poison();
            return held.into_iter().zip(0..lanes).fold(start, |vector, (lane, at)| {
                self.builder.insert_element(vector, lane, self.types().int(32).int(at.into()), "")
            });
        }
        if ty.is_struct() {
            let mut rest = parts;
            let mut whole = ty.poison();
            for (field, of) in ty.fields().into_iter().enumerate() {
                let count = self.leaves(of).len();
                let Some((own, others)) = rest.split_at_checked(count) else { break };
                let joined = self.joined(own, of);
                if joined.ty() != of {
                    self.refuse(format!("a value of the type {}", ty.text()));
                    return ty.poison();
                }
                whole = self.builder.insert_field(whole, field as u32, joined, "");
                rest = others;
            }
            return whole;
        }
        match held[..] {
            [value] if value.ty() == ty => value,
            _ => {
                self.refuse(format!("a value of the type {}", ty.text()));
                ty.poison()
            }
        }
    }
}
