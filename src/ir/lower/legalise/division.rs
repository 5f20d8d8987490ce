//! Divisions of integers of more than 64 bits, which become loops: one bit of the quotient after the other.

use super::int::{Int, words};
use super::values::{Part, Rewriting};
use crate::llvm::{Block, Inst, Opcode, Value};

impl<'m> Rewriting<'_, 'm> {
    pub fn divide(&mut self, inst: Inst<'m>) {
        let (Some(x), Some(y)) = (self.all_ints(inst.operand(0)), self.all_ints(inst.operand(1))) else {
            return self.refuse(inst.text());
        };
        let signed = matches!(inst.opcode(), Opcode::LLVMSDiv | Opcode::LLVMSRem);
        let remainder = matches!(inst.opcode(), Opcode::LLVMURem | Opcode::LLVMSRem);
        let mut parts = Vec::new();
        for (x, y) in x.iter().zip(&y) {
            parts.push(Part::Int(match x.words.len() {
                1 => self.ints().divide_word(x, y, signed, remainder),
                _ if signed => self.divide_signed(inst, x, y, remainder),
                _ => self.divide_wide(inst, x, y, remainder),
            }));
        }
        self.set(inst, parts);
    }

    fn divide_signed(&self, inst: Inst<'m>, x: &Int<'m>, y: &Int<'m>, remainder: bool) -> Int<'m> {
        let ints = self.ints();
        let (x_sign, y_sign) = (ints.is_negative(x), ints.is_negative(y));
        let x_size = ints.select(x_sign, &ints.neg(x), x);
        let y_size = ints.select(y_sign, &ints.neg(y), y);
        let result = self.divide_wide(inst, &x_size, &y_size, remainder);
        // A remainder has the sign of what is divided.
        let sign = if remainder { x_sign } else { self.builder.xor(x_sign, y_sign, "") };
        let ints = self.ints();
        ints.select(sign, &ints.neg(&result), &result)
    }

    /// Divides unsigned integers in front of an instruction, whose block is split for it. The builder stands in front
    /// of it again.
    pub fn divide_wide(&self, inst: Inst<'m>, x: &Int<'m>, y: &Int<'m>, remainder: bool) -> Int<'m> {
        let (b, ints) = (self.builder, self.ints());
        let bits = x.bits;
        let tail = inst.block();
        let head = Block::split_before(inst, "");
        let around = tail.insert_before("");
        b.at_end(head);
        b.br(around);
        b.at_end(around);
        let int = self.types().int(32);
        let phi = |first: Value<'m>| b.phi(first.ty(), &[(first, head)], "");
        let count = phi(int.int(bits.into()));
        let quotients: Vec<Inst<'m>> = x.words.iter().map(|word| phi(*word)).collect();
        let zero = ints.constant(bits, 0);
        let rests: Vec<Inst<'m>> = zero.words.iter().map(|word| phi(*word)).collect();
        let of = |phis: &[Inst<'m>]| Int { bits, words: phis.iter().map(|phi| phi.value()).collect() };
        let (quotient, rest) = (of(&quotients), of(&rests));
        let one = ints.constant(32, 1);
        // What the shift of the rest loses is the sign of what is left over: then it is more than the divisor.
        let lost = ints.is_negative(&rest);
        let next = ints.resize_bit(ints.is_negative(&quotient), bits);
        let rest = ints.or(&ints.shl(&rest, &one), &next);
        let fits = b.or(lost, b.not(ints.is_less(&rest, y), ""), "");
        let rest = ints.select(fits, &ints.sub(&rest, y), &rest);
        let quotient = ints.or(&ints.shl(&quotient, &one), &ints.resize_bit(fits, bits));
        let left = b.sub(count, int.int(1), "");
        let is_done = b.icmp(crate::llvm::IntPredicate::LLVMIntEQ, left, int.null(), "");
        b.cond_br(is_done, tail, around);
        count.add_incoming(&[(left, around)]);
        let feed = |phis: &[Inst<'m>], int: &Int<'m>| {
            debug_assert_eq!(phis.len(), words(int.bits));
            phis.iter().zip(&int.words).for_each(|(phi, word)| phi.add_incoming(&[(*word, around)]));
        };
        feed(&quotients, &quotient);
        feed(&rests, &rest);
        b.before(inst);
        if remainder { rest } else { quotient }
    }
}
