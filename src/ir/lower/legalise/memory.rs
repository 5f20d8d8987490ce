//! Loads and stores of what SPIR-V has no type for, as LLVM lays it out (LangRef, "Memory Access and Addressing
//! Operations"): an integer takes as many bytes as its bits need, lanes of vectors lie next to each other without
//! padding.

use super::int::{Int, WORD};
use super::types::{self, Leaf};
use super::values::{Part, Rewriting};
use crate::llvm::{Inst, Type, Value};

/// How memory is accessed.
#[derive(Debug, Clone, Copy)]
struct Place<'m> {
    pointer: Value<'m>,
    align: u64,
    is_volatile: bool,
}

impl<'m> Rewriting<'_, 'm> {
    /// Returns whether a load or store has to be rewritten.
    pub fn is_odd_access(&self, ty: Type<'m>) -> bool {
        !types::is_legal(ty) || ty.scalar().is_bool()
    }

    pub fn load(&mut self, inst: Inst<'m>) {
        if inst.is_atomic() {
            return self.refuse(inst.text());
        }
        let ty = inst.ty();
        let place = self.place(inst, inst.operand(0));
        let parts = match self.packed(ty) {
            // Lanes that do not begin at bytes.
            Some(leaves) => {
                let bits = leaves.iter().filter_map(|leaf| leaf.ty.int_width()).sum();
                let whole = self.load_int(place, 0, bits);
                let mut parts = Vec::new();
                for leaf in &leaves {
                    let width = leaf.ty.int_width().unwrap_or(1);
                    parts.push(Part::Int(self.ints().slice(&whole, leaf.offset as u32, width)));
                }
                parts
            }
            None => self.leaves(ty).into_iter().map(|leaf| self.load_leaf(place, leaf)).collect(),
        };
        self.set(inst, parts);
    }

    pub fn store(&mut self, inst: Inst<'m>) {
        if inst.is_atomic() {
            return self.refuse(inst.text());
        }
        let value = inst.operand(0);
        let ty = value.ty();
        let place = self.place(inst, inst.operand(1));
        let parts = self.parts(value);
        match self.packed(ty) {
            Some(_) => {
                let ints: Vec<Int<'m>> = parts.into_iter().filter_map(as_int).collect();
                let whole = self.ints().joined(&ints);
                self.store_int(place, 0, &whole);
            }
            None => {
                for (leaf, part) in self.leaves(ty).into_iter().zip(parts) {
                    match part {
                        Part::Int(int) => self.store_int(place, leaf.offset / 8, &int),
                        Part::Other(value) => self.store_piece(place, leaf.offset / 8, value),
                    }
                }
            }
        }
        self.dead.push(inst);
    }

    fn place(&self, inst: Inst<'m>, pointer: Value<'m>) -> Place<'m> {
        let align = u64::from(inst.alignment().unwrap_or(1).max(1));
        Place { pointer, align, is_volatile: inst.is_volatile() }
    }

    /// Returns the lanes of a vector that do not begin at bytes.
    fn packed(&mut self, ty: Type<'m>) -> Option<Vec<Leaf<'m>>> {
        let bits = ty.lanes().and_then(|_| ty.scalar().int_width())?;
        (bits % 8 != 0).then(|| self.leaves(ty))
    }

    fn load_leaf(&self, place: Place<'m>, leaf: Leaf<'m>) -> Part<'m> {
        match leaf.ty.int_width() {
            Some(bits) => Part::Int(self.load_int(place, leaf.offset / 8, bits)),
            None => Part::Other(self.load_piece(place, leaf.offset / 8, leaf.ty)),
        }
    }

    fn load_int(&self, place: Place<'m>, at: u64, bits: u32) -> Int<'m> {
        let mut parts = Vec::new();
        let mut bytes = 0;
        for size in pieces(bits) {
            let ty = self.types().int(8 * size);
            let piece = self.load_piece(place, at + bytes, ty);
            parts.push(Int { bits: 8 * size, words: vec![piece] });
            bytes += u64::from(size);
        }
        let whole = self.ints().joined(&parts);
        self.ints().resize(&whole, bits)
    }

    fn store_int(&self, place: Place<'m>, at: u64, int: &Int<'m>) {
        let whole = self.ints().resize(int, int.bits.next_multiple_of(8));
        let mut bytes = 0;
        for size in pieces(int.bits) {
            let piece = self.ints().slice(&whole, 8 * bytes, 8 * size);
            self.store_piece(place, at + u64::from(bytes), piece.words[0]);
            bytes += size;
        }
    }

    fn address(&self, place: Place<'m>, at: u64) -> Value<'m> {
        match at {
            0 => place.pointer,
            _ => self.builder.byte_offset(place.pointer, self.types().int(64).int(at), ""),
        }
    }

    fn load_piece(&self, place: Place<'m>, at: u64, ty: Type<'m>) -> Value<'m> {
        let load = self.builder.load(ty, self.address(place, at), "");
        set_access(load, place, at);
        load.value()
    }

    fn store_piece(&self, place: Place<'m>, at: u64, value: Value<'m>) {
        let store = self.builder.store(value, self.address(place, at));
        set_access(store, place, at);
    }

    /// Makes an `alloca` one of bytes.
    pub fn variable(&mut self, inst: Inst<'m>, ty: Type<'m>) {
        let count = inst.operand(0).as_u64();
        let bytes = self.layout.element_size(ty).zip(count).and_then(|(size, count)| size.checked_mul(count));
        let Some(bytes) = bytes else { return self.refuse(inst.text()) };
        let variable = self.builder.alloca(self.types().int(8).array(bytes.max(1)), &inst.value().name());
        variable.set_alignment(inst.alignment().unwrap_or(1).max(self.layout.alignment(ty)));
        if variable.ty() != inst.ty() {
            return self.refuse(inst.text());
        }
        inst.replace_uses(variable.value());
        self.dead.push(inst);
    }

    /// Makes a step through types that SPIR-V lacks one of bytes.
    pub fn step(&mut self, inst: Inst<'m>) {
        let Some(source) = inst.value().gep_source() else { return self.refuse(inst.text()) };
        let operands = inst.operands();
        let lanes = inst.ty().lanes().unwrap_or(1) as usize;
        let mut stepped = Vec::new();
        for lane in 0..lanes {
            let pointers = self.parts(operands[0]);
            let Some(Part::Other(pointer)) = pointers.get(lane.min(pointers.len() - 1)).cloned() else {
                return self.refuse(inst.text());
            };
            let mut offset = self.ints().constant(WORD, 0);
            let mut ty = source;
            for (n, index) in operands[1..].iter().enumerate() {
                let indices = self.parts(*index);
                let Some(Part::Int(index)) = indices.get(lane.min(indices.len() - 1)).cloned() else {
                    return self.refuse(inst.text());
                };
                let index = self.ints().resize_signed(&index, WORD);
                if n > 0 && ty.is_struct() {
                    let field = index.words[0].as_u64().unwrap_or(0) as u32;
                    let bytes = self.layout.field_offset(ty, field);
                    offset = self.ints().add(&offset, &self.ints().constant(WORD, bytes.into()));
                    ty = ty.fields()[field as usize];
                    continue;
                }
                if n > 0 {
                    let Some((element, _)) = ty.elements() else { return self.refuse(inst.text()) };
                    ty = element;
                }
                let Some(size) = self.layout.element_size(ty) else { return self.refuse(inst.text()) };
                let bytes = self.ints().mul(&index, &self.ints().constant(WORD, size.into()));
                offset = self.ints().add(&offset, &bytes);
            }
            stepped.push(Part::Other(self.builder.byte_offset(pointer, offset.words[0], "")));
        }
        self.set(inst, stepped);
    }
}

/// Returns the sizes in bytes of the accesses that an integer of so many bits is made of.
fn pieces(bits: u32) -> Vec<u32> {
    let mut left = bits.div_ceil(8);
    let mut all = Vec::new();
    for size in [8, 4, 2, 1] {
        while left >= size {
            all.push(size);
            left -= size;
        }
    }
    all
}

fn set_access<'m>(access: Inst<'m>, place: Place<'m>, at: u64) {
    let align = if at == 0 { place.align } else { place.align.min(1 << at.trailing_zeros().min(20)) };
    access.set_alignment(align as u32);
    if place.is_volatile {
        access.set_volatile(true);
    }
}

pub fn as_int(part: Part<'_>) -> Option<Int<'_>> {
    match part {
        Part::Int(int) => Some(int),
        Part::Other(_) => None,
    }
}
