//! Casts from and to what SPIR-V has no type for.

use super::int::{Int, WORD, held_in};
use super::memory::as_int;
use super::types::Leaf;
use super::values::{Part, Rewriting};
use crate::llvm::{Inst, Opcode, RealPredicate, Type, Value};

pub fn is_cast(opcode: Opcode) -> bool {
    use Opcode::*;
    matches!(
        opcode,
        LLVMTrunc
            | LLVMZExt
            | LLVMSExt
            | LLVMFPToUI
            | LLVMFPToSI
            | LLVMUIToFP
            | LLVMSIToFP
            | LLVMFPTrunc
            | LLVMFPExt
            | LLVMPtrToInt
            | LLVMIntToPtr
            | LLVMBitCast
            | LLVMAddrSpaceCast
    )
}

impl<'m> Rewriting<'_, 'm> {
    pub fn cast(&mut self, inst: Inst<'m>) {
        use Opcode::*;
        let given = self.parts(inst.operand(0));
        let leaves = self.leaves(inst.ty());
        if inst.is(LLVMBitCast) {
            return match self.bits_of(&given) {
                Some(bits) => {
                    let parts = self.of_bits(&bits, &leaves);
                    self.set(inst, parts);
                }
                None => self.refuse(inst.text()),
            };
        }
        let mut parts = Vec::new();
        for (part, leaf) in given.into_iter().zip(leaves) {
            let to = leaf.ty;
            let bits = to.int_width().unwrap_or(0);
            parts.push(match (inst.opcode(), part) {
                (LLVMTrunc | LLVMZExt, Part::Int(int)) => Part::Int(self.ints().resize(&int, bits)),
                (LLVMSExt, Part::Int(int)) => Part::Int(self.ints().resize_signed(&int, bits)),
                (LLVMUIToFP, Part::Int(int)) => Part::Other(self.to_float(&int, to)),
                (LLVMSIToFP, Part::Int(int)) => Part::Other(self.to_float_signed(&int, to)),
                (LLVMFPToUI, Part::Other(float)) => Part::Int(self.of_float(float, bits)),
                (LLVMFPToSI, Part::Other(float)) => Part::Int(self.of_float_signed(float, bits)),
                (LLVMFPTrunc | LLVMFPExt | LLVMAddrSpaceCast, Part::Other(value)) => {
                    Part::Other(self.builder.cast(inst.opcode(), value, to, ""))
                }
                (LLVMPtrToInt, Part::Other(pointer)) => {
                    let address = self.builder.ptr_to_int(pointer, self.types().int(WORD), "");
                    Part::Int(self.ints().resize(&Int { bits: WORD, words: vec![address] }, bits))
                }
                (LLVMIntToPtr, Part::Int(int)) => {
                    let address = self.ints().resize(&int, WORD).words[0];
                    Part::Other(self.builder.int_to_ptr(address, to, ""))
                }
                _ => return self.refuse(inst.text()),
            });
        }
        self.set(inst, parts);
    }

    /// Puts the bits of all parts into an integer; `None` if some are of a pointer.
    fn bits_of(&self, parts: &[Part<'m>]) -> Option<Int<'m>> {
        let bits = parts.iter().map(|part| match part {
            Part::Int(int) => Some(int.clone()),
            Part::Other(value) if value.ty().is_float() => {
                let bits = value.ty().bits()? as u32;
                Some(Int { bits, words: vec![self.builder.bit_cast(*value, self.types().int(bits), "")] })
            }
            Part::Other(_) => None,
        });
        Some(self.ints().joined(&bits.collect::<Option<Vec<Int<'m>>>>()?))
    }

    fn of_bits(&mut self, bits: &Int<'m>, leaves: &[Leaf<'m>]) -> Vec<Part<'m>> {
        let mut parts = Vec::new();
        for leaf in leaves {
            let Some(width) = leaf.ty.bits() else {
                self.refuse(format!("bits as {}", leaf.ty.text()));
                return Vec::new();
            };
            let own = self.ints().slice(bits, leaf.offset as u32, width as u32);
            parts.push(match leaf.ty.int_width() {
                Some(_) => Part::Int(own),
                None => Part::Other(self.builder.bit_cast(own.words[0], leaf.ty, "")),
            });
        }
        parts
    }

    /// Rounds an unsigned integer to the nearest float, to even.
    fn to_float(&self, int: &Int<'m>, to: Type<'m>) -> Value<'m> {
        let (b, ints) = (self.builder, self.ints());
        if int.words.len() == 1 {
            return b.ui_to_fp(int.words[0], to, "");
        }
        // The 64 bits from the highest that is set, the lowest of which says whether anything is below: it is beyond
        // what a float holds, so that rounding them rounds the whole.
        let zeros = ints.leading_zeros(int);
        let up = ints.shl(int, &zeros);
        let top = ints.slice(&up, int.bits - WORD, WORD).words[0];
        let below = ints.resize(&up, int.bits - WORD);
        let is_exact = ints.is_equal(&below, &ints.constant(below.bits, 0));
        let rest = b.select(is_exact, top.ty().null(), top.ty().int(1), "");
        // Computed in doubles or floats, both of which have that range but for half.
        let wide = if to == self.types().half() { self.types().float() } else { to };
        let float = b.ui_to_fp(b.or(top, rest, ""), wide, "");
        let shift = b.sub(top.ty().int(u64::from(int.bits - WORD)), ints.resize(&zeros, WORD).words[0], "");
        let scaled = b.fmul(float, self.power_of_two(shift, wide), "");
        let is_zero = ints.is_equal(int, &ints.constant(int.bits, 0));
        let result = b.select(is_zero, wide.float(0.0), scaled, "");
        b.fp_cast(result, to, "")
    }

    /// Returns a power of two; beyond what a float holds, infinity.
    fn power_of_two(&self, exponent: Value<'m>, ty: Type<'m>) -> Value<'m> {
        let b = self.builder;
        let (bias, fraction, bits) = if ty.bits() == Some(64) { (1023, 52, 64) } else { (127, 23, 32) };
        let biased = b.add(exponent, exponent.ty().int(bias), "");
        let most = biased.ty().int(2 * bias + 1);
        let is_more = b.icmp(crate::llvm::IntPredicate::LLVMIntSGT, biased, most, "");
        let biased = b.select(is_more, most, biased, "");
        let shifted = b.shl(biased, biased.ty().int(fraction), "");
        b.bit_cast(b.int_cast(shifted, self.types().int(bits), false, ""), ty, "")
    }

    fn to_float_signed(&self, int: &Int<'m>, to: Type<'m>) -> Value<'m> {
        let (b, ints) = (self.builder, self.ints());
        if int.bits == 1 {
            return b.select(int.words[0], to.float(-1.0), to.float(0.0), "");
        }
        if int.words.len() == 1 {
            return b.si_to_fp(ints.resize_signed(int, held_in(int.bits)).words[0], to, "");
        }
        let is_negative = ints.is_negative(int);
        let magnitude = ints.select(is_negative, &ints.neg(int), int);
        let float = self.to_float(&magnitude, to);
        b.select(is_negative, b.fneg(float, ""), float, "")
    }

    /// Cuts a float to an unsigned integer, which it fits in.
    fn of_float(&self, float: Value<'m>, bits: u32) -> Int<'m> {
        let (b, ints) = (self.builder, self.ints());
        if bits <= WORD {
            let held = held_in(bits).max(8);
            let cut = b.fp_to_ui(float, self.types().int(held), "");
            return ints.resize(&Int { bits: held, words: vec![cut] }, bits);
        }
        // Word by word from the highest: what is above a word is subtracted exactly.
        let double = self.types().double();
        let mut rest = b.fp_cast(float, double, "");
        let mut words = Vec::new();
        for at in (0..super::int::words(bits) as i32).rev() {
            let unit = double.float(2f64.powi(at * WORD as i32));
            let word = b.fp_to_ui(b.fdiv(rest, unit, ""), self.types().int(WORD), "");
            rest = b.fsub(rest, b.fmul(b.ui_to_fp(word, double, ""), unit, ""), "");
            words.insert(0, word);
        }
        ints.resize(&Int { bits: words.len() as u32 * WORD, words }, bits)
    }

    fn of_float_signed(&self, float: Value<'m>, bits: u32) -> Int<'m> {
        let (b, ints) = (self.builder, self.ints());
        if bits <= WORD {
            let held = held_in(bits).max(8);
            let cut = b.fp_to_si(float, self.types().int(held), "");
            return ints.resize(&Int { bits: held, words: vec![cut] }, bits);
        }
        let is_negative = b.fcmp(RealPredicate::LLVMRealOLT, float, float.ty().float(0.0), "");
        let magnitude = b.select(is_negative, b.fneg(float, ""), float, "");
        let cut = self.of_float(magnitude, bits);
        ints.select(is_negative, &ints.neg(&cut), &cut)
    }

    /// Cuts a float to an integer; beyond its range, to the nearest there is, and NaN to zero.
    pub fn of_float_saturated(&self, float: Value<'m>, bits: u32, signed: bool) -> Int<'m> {
        let (b, ints) = (self.builder, self.ints());
        let ty = float.ty();
        let (least, most) = match signed {
            true => (ints.not(&ints.greatest_signed(bits)), ints.greatest_signed(bits)),
            false => (ints.constant(bits, 0), ints.ones(bits)),
        };
        let limit = 2f64.powi(bits as i32 - i32::from(signed));
        let is_small = b.fcmp(RealPredicate::LLVMRealOLE, float, ty.float(if signed { -limit } else { 0.0 }), "");
        let is_large = b.fcmp(RealPredicate::LLVMRealOGE, float, ty.float(limit), "");
        let is_number = b.fcmp(RealPredicate::LLVMRealORD, float, float, "");
        // What is cut fits in any case.
        let fits = b.and(is_number, b.not(b.or(is_small, is_large, ""), ""), "");
        let cut = b.select(fits, float, ty.float(0.0), "");
        let cut = if signed { self.of_float_signed(cut, bits) } else { self.of_float(cut, bits) };
        let cut = ints.select(is_small, &least, &cut);
        ints.select(is_large, &most, &cut)
    }

    /// Returns the integers that a value consists of.
    pub fn all_ints(&mut self, value: Value<'m>) -> Option<Vec<Int<'m>>> {
        self.parts(value).into_iter().map(as_int).collect()
    }
}
