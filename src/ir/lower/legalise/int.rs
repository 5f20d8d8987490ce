//! Arithmetic on integers of any width, as code on integers of 8, 16, 32 or 64 bits.
//!
//! An integer of up to 64 bits is held in the next of these widths, a wider one in words of 64 bits, the lowest first.
//! What is beyond its width is always zero.

use crate::llvm::{Builder, IntPredicate, Type, Value};

/// Bits of a word of wide integers.
pub const WORD: u32 = 64;

/// An integer as it is held.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Int<'m> {
    pub bits: u32,
    pub words: Vec<Value<'m>>,
}

/// Returns the width in which each word of an integer is held; 1 for an `i1`.
pub fn held_in(bits: u32) -> u32 {
    match bits {
        0..=1 => 1,
        2..=8 => 8,
        9..=16 => 16,
        17..=32 => 32,
        _ => WORD,
    }
}

/// Returns the number of words of an integer.
pub fn words(bits: u32) -> usize {
    bits.div_ceil(WORD).max(1) as usize
}

/// A code generator for such integers, where the builder stands.
#[derive(Clone, Copy)]
pub struct Ints<'a, 'm>(pub &'a Builder<'m>);

impl<'m> Ints<'_, 'm> {
    /// Returns the type that holds a word of an integer of so many bits.
    pub fn held(self, bits: u32) -> Type<'m> {
        self.0.types().int(held_in(bits))
    }

    /// Returns a constant, cut to its width.
    pub fn constant(self, bits: u32, value: u128) -> Int<'m> {
        let cut = if bits >= u128::BITS { value } else { value & ((1 << bits) - 1) };
        let word = |at: usize| if at < 2 { (cut >> (at as u32 * WORD)) as u64 } else { 0 };
        Int { bits, words: (0..words(bits)).map(|at| self.held(bits).int(word(at))).collect() }
    }

    /// Returns the constant with all bits set.
    pub fn ones(self, bits: u32) -> Int<'m> {
        let all = Int { bits, words: vec![self.held(bits).all_ones(); words(bits)] };
        self.cut(all)
    }

    /// Returns the constant with nothing but the highest bit set.
    fn sign(self, bits: u32) -> Int<'m> {
        let mut sign = self.constant(bits, 0);
        let last = sign.words.len() - 1;
        sign.words[last] = self.held(bits).int(1 << ((bits - 1) % WORD));
        sign
    }

    /// Returns the greatest signed integer.
    pub fn greatest_signed(self, bits: u32) -> Int<'m> {
        self.not(&self.sign(bits))
    }

    /// Returns an `i1` as an integer of so many bits, 0 or 1.
    pub fn resize_bit(self, bit: Value<'m>, bits: u32) -> Int<'m> {
        self.resize(&Int { bits: 1, words: vec![bit] }, bits)
    }

    /// Clears what is beyond an integer's width.
    fn cut(self, mut x: Int<'m>) -> Int<'m> {
        let used = x.bits - (words(x.bits) as u32 - 1) * WORD;
        if used < held_in(x.bits) {
            let last = x.words.len() - 1;
            x.words[last] = self.0.and(x.words[last], self.held(x.bits).int((1 << used) - 1), "");
        }
        x
    }

    /// Cuts an integer, or extends it by zeros.
    pub fn resize(self, x: &Int<'m>, bits: u32) -> Int<'m> {
        if bits == x.bits {
            return x.clone();
        }
        let (from, to) = (held_in(x.bits), held_in(bits));
        let mut held: Vec<Value<'m>> = x.words.iter().take(words(bits)).copied().collect();
        if from != to {
            held[0] = match to {
                // Of an `i1`, one bit counts.
                1 => {
                    let low = self.0.and(held[0], held[0].ty().int(1), "");
                    self.0.icmp(IntPredicate::LLVMIntNE, low, low.ty().null(), "")
                }
                _ => self.0.int_cast(held[0], self.held(bits), false, ""),
            };
        }
        held.resize(words(bits), self.held(bits).null());
        let resized = Int { bits, words: held };
        if bits < x.bits && to != 1 { self.cut(resized) } else { resized }
    }

    /// Cuts an integer, or extends it by its sign.
    pub fn resize_signed(self, x: &Int<'m>, bits: u32) -> Int<'m> {
        if bits <= x.bits {
            return self.resize(x, bits);
        }
        if x.bits == 1 {
            return self.select(x.words[0], &self.ones(bits), &self.constant(bits, 0));
        }
        let sign = self.resize(&self.sign(x.bits), bits);
        let wide = self.resize(x, bits);
        self.sub(&self.xor(&wide, &sign), &sign)
    }

    /// Computes an operation of `i1`s with eight bits, because SPIR-V has no arithmetic on booleans.
    fn in_eight_bits(self, x: &Int<'m>, y: &Int<'m>, compute: impl Fn(&Int<'m>, &Int<'m>) -> Int<'m>) -> Int<'m> {
        self.resize(&compute(&self.resize(x, 8), &self.resize(y, 8)), 1)
    }

    fn each(self, x: &Int<'m>, y: &Int<'m>, compute: impl Fn(Value<'m>, Value<'m>) -> Value<'m>) -> Int<'m> {
        let words = x.words.iter().zip(&y.words).map(|(x, y)| compute(*x, *y)).collect();
        Int { bits: x.bits, words }
    }

    pub fn and(self, x: &Int<'m>, y: &Int<'m>) -> Int<'m> {
        self.each(x, y, |x, y| self.0.and(x, y, ""))
    }

    pub fn or(self, x: &Int<'m>, y: &Int<'m>) -> Int<'m> {
        self.each(x, y, |x, y| self.0.or(x, y, ""))
    }

    pub fn xor(self, x: &Int<'m>, y: &Int<'m>) -> Int<'m> {
        self.each(x, y, |x, y| self.0.xor(x, y, ""))
    }

    pub fn not(self, x: &Int<'m>) -> Int<'m> {
        self.xor(x, &self.ones(x.bits))
    }

    pub fn neg(self, x: &Int<'m>) -> Int<'m> {
        self.sub(&self.constant(x.bits, 0), x)
    }

    pub fn add(self, x: &Int<'m>, y: &Int<'m>) -> Int<'m> {
        if x.bits == 1 {
            return self.xor(x, y);
        }
        let mut sum = Vec::new();
        let mut carry: Option<Value<'m>> = None;
        for (x, y) in x.words.iter().zip(&y.words) {
            let (word, over) = self.add_word(*x, *y, carry);
            sum.push(word);
            carry = Some(over);
        }
        self.cut(Int { bits: x.bits, words: sum })
    }

    /// Adds two words and a carry (0 or 1); returns the sum and the next carry.
    fn add_word(self, x: Value<'m>, y: Value<'m>, carry: Option<Value<'m>>) -> (Value<'m>, Value<'m>) {
        let less =
            |x: Value<'m>, y: Value<'m>| self.0.zext(self.0.icmp(IntPredicate::LLVMIntULT, x, y, ""), y.ty(), "");
        let sum = self.0.add(x, y, "");
        let over = less(sum, x);
        let Some(carry) = carry else { return (sum, over) };
        let all = self.0.add(sum, carry, "");
        (all, self.0.or(over, less(all, sum), ""))
    }

    pub fn sub(self, x: &Int<'m>, y: &Int<'m>) -> Int<'m> {
        if x.bits == 1 {
            return self.xor(x, y);
        }
        let less =
            |x: Value<'m>, y: Value<'m>| self.0.zext(self.0.icmp(IntPredicate::LLVMIntULT, x, y, ""), y.ty(), "");
        let mut difference = Vec::new();
        let mut borrow: Option<Value<'m>> = None;
        for (x, y) in x.words.iter().zip(&y.words) {
            let first = self.0.sub(*x, *y, "");
            let under = less(*x, *y);
            let (word, next) = match borrow {
                None => (first, under),
                Some(borrow) => (self.0.sub(first, borrow, ""), self.0.or(under, less(first, borrow), "")),
            };
            difference.push(word);
            borrow = Some(next);
        }
        self.cut(Int { bits: x.bits, words: difference })
    }

    pub fn mul(self, x: &Int<'m>, y: &Int<'m>) -> Int<'m> {
        if x.bits == 1 {
            return self.and(x, y);
        }
        let count = x.words.len();
        if count == 1 {
            return self.cut(self.each(x, y, |x, y| self.0.mul(x, y, "")));
        }
        let zero = self.held(x.bits).null();
        let mut product = vec![zero; count];
        for (i, x) in x.words.iter().enumerate() {
            let mut carry = zero;
            for (j, y) in y.words.iter().enumerate().take(count - i) {
                let (low, high) = self.mul_words(*x, *y);
                let (sum, first) = self.add_word(product[i + j], low, None);
                let (sum, second) = self.add_word(sum, carry, None);
                product[i + j] = sum;
                // The upper word of a product is at most 2^64 - 2, and both carries are not 1 with that one.
                carry = self.0.add(high, self.0.add(first, second, ""), "");
            }
        }
        self.cut(Int { bits: x.bits, words: product })
    }

    /// Multiplies two words; returns the lower and the upper word of the product.
    fn mul_words(self, x: Value<'m>, y: Value<'m>) -> (Value<'m>, Value<'m>) {
        let b = self.0;
        let (half, low) = (x.ty().int(32), x.ty().int(0xffff_ffff));
        let parts = |n: Value<'m>| (b.and(n, low, ""), b.lshr(n, half, ""));
        let ((x0, x1), (y0, y1)) = (parts(x), parts(y));
        let (low_product, middle) = (b.mul(x0, y0, ""), b.mul(x1, y0, ""));
        let middle = b.add(middle, b.lshr(low_product, half, ""), "");
        let other = b.add(b.mul(x0, y1, ""), b.and(middle, low, ""), "");
        let high = b.add(b.mul(x1, y1, ""), b.add(b.lshr(middle, half, ""), b.lshr(other, half, ""), ""), "");
        (b.mul(x, y, ""), high)
    }

    /// Returns the lowest word of a shift's amount in the words of another integer; amounts beyond the width have no
    /// result.
    fn amount(self, by: &Int<'m>, bits: u32) -> Value<'m> {
        self.resize(&Int { bits: by.bits.min(WORD), words: vec![by.words[0]] }, held_in(bits)).words[0]
    }

    pub fn shl(self, x: &Int<'m>, by: &Int<'m>) -> Int<'m> {
        if x.bits == 1 {
            return x.clone();
        }
        let amount = self.amount(by, x.bits);
        if x.words.len() == 1 {
            return self.cut(Int { bits: x.bits, words: vec![self.0.shl(x.words[0], amount, "")] });
        }
        let shifted = self.by_words(x, amount, true);
        let mut words = vec![self.0.shl(shifted[0], self.in_word(amount), "")];
        for pair in shifted.windows(2) {
            words.push(self.funnel(pair[1], pair[0], amount, true));
        }
        self.cut(Int { bits: x.bits, words })
    }

    pub fn lshr(self, x: &Int<'m>, by: &Int<'m>) -> Int<'m> {
        if x.bits == 1 {
            return x.clone();
        }
        let amount = self.amount(by, x.bits);
        if x.words.len() == 1 {
            return Int { bits: x.bits, words: vec![self.0.lshr(x.words[0], amount, "")] };
        }
        let shifted = self.by_words(x, amount, false);
        let mut words: Vec<Value<'m>> =
            shifted.windows(2).map(|pair| self.funnel(pair[0], pair[1], amount, false)).collect();
        words.push(self.0.lshr(shifted[shifted.len() - 1], self.in_word(amount), ""));
        Int { bits: x.bits, words }
    }

    pub fn ashr(self, x: &Int<'m>, by: &Int<'m>) -> Int<'m> {
        if x.bits == 1 {
            return x.clone();
        }
        // Inverting what is negative makes it positive, and the zeros that come in ones.
        let negative = self.is_negative(x);
        let mask = self.select(negative, &self.ones(x.bits), &self.constant(x.bits, 0));
        self.xor(&self.lshr(&self.xor(x, &mask), by), &mask)
    }

    /// Shifts by whole words.
    fn by_words(self, x: &Int<'m>, amount: Value<'m>, left: bool) -> Vec<Value<'m>> {
        let count = x.words.len();
        let by = self.0.lshr(amount, amount.ty().int(6), "");
        let at = |to: usize, by: usize| if left { to.checked_sub(by) } else { Some(to + by).filter(|at| *at < count) };
        let word = |to: usize| {
            (0..count).fold(amount.ty().null(), |found, n| {
                let Some(from) = at(to, n) else { return found };
                let is = self.0.icmp(IntPredicate::LLVMIntEQ, by, by.ty().int(n as u64), "");
                self.0.select(is, x.words[from], found, "")
            })
        };
        (0..count).map(word).collect()
    }

    /// Returns the part of a shift's amount that is within a word.
    fn in_word(self, amount: Value<'m>) -> Value<'m> {
        self.0.and(amount, amount.ty().int(u64::from(WORD - 1)), "")
    }

    /// Shifts a word, and fills it up from its neighbour.
    fn funnel(self, word: Value<'m>, neighbour: Value<'m>, amount: Value<'m>, left: bool) -> Value<'m> {
        let (b, amount) = (self.0, self.in_word(amount));
        let rest = b.sub(amount.ty().int(u64::from(WORD - 1)), amount, "");
        let one = amount.ty().int(1);
        match left {
            true => b.or(b.shl(word, amount, ""), b.lshr(b.lshr(neighbour, one, ""), rest, ""), ""),
            false => b.or(b.lshr(word, amount, ""), b.shl(b.shl(neighbour, one, ""), rest, ""), ""),
        }
    }

    pub fn is_negative(self, x: &Int<'m>) -> Value<'m> {
        let last = x.words[x.words.len() - 1];
        if x.bits == 1 {
            return last;
        }
        let sign = self.0.and(last, last.ty().int(1 << ((x.bits - 1) % WORD)), "");
        self.0.icmp(IntPredicate::LLVMIntNE, sign, sign.ty().null(), "")
    }

    /// Chooses by an `i1`.
    pub fn select(self, condition: Value<'m>, x: &Int<'m>, y: &Int<'m>) -> Int<'m> {
        self.each(x, y, |x, y| self.0.select(condition, x, y, ""))
    }

    pub fn is_equal(self, x: &Int<'m>, y: &Int<'m>) -> Value<'m> {
        if x.bits == 1 {
            return self.0.xor(self.0.xor(x.words[0], y.words[0], ""), x.words[0].ty().int(1), "");
        }
        let differences = self.xor(x, y).words;
        let any = differences[1..].iter().fold(differences[0], |any, word| self.0.or(any, *word, ""));
        self.0.icmp(IntPredicate::LLVMIntEQ, any, any.ty().null(), "")
    }

    pub fn is_less(self, x: &Int<'m>, y: &Int<'m>) -> Value<'m> {
        if x.bits == 1 {
            return self.0.and(self.0.xor(x.words[0], x.words[0].ty().int(1), ""), y.words[0], "");
        }
        let mut less: Option<Value<'m>> = None;
        for (x, y) in x.words.iter().zip(&y.words) {
            let here = self.0.icmp(IntPredicate::LLVMIntULT, *x, *y, "");
            less = Some(match less {
                None => here,
                Some(below) => {
                    let same = self.0.icmp(IntPredicate::LLVMIntEQ, *x, *y, "");
                    self.0.select(same, below, here, "")
                }
            });
        }
        less.unwrap_or_else(|| self.0.types().bool().null())
    }

    pub fn is_less_signed(self, x: &Int<'m>, y: &Int<'m>) -> Value<'m> {
        let sign = self.sign(x.bits);
        self.is_less(&self.xor(x, &sign), &self.xor(y, &sign))
    }

    pub fn compare(self, how: IntPredicate, x: &Int<'m>, y: &Int<'m>) -> Value<'m> {
        use IntPredicate::*;
        let not = |value: Value<'m>| self.0.xor(value, value.ty().int(1), "");
        match how {
            LLVMIntEQ => self.is_equal(x, y),
            LLVMIntNE => not(self.is_equal(x, y)),
            LLVMIntULT => self.is_less(x, y),
            LLVMIntUGT => self.is_less(y, x),
            LLVMIntULE => not(self.is_less(y, x)),
            LLVMIntUGE => not(self.is_less(x, y)),
            LLVMIntSLT => self.is_less_signed(x, y),
            LLVMIntSGT => self.is_less_signed(y, x),
            LLVMIntSLE => not(self.is_less_signed(y, x)),
            LLVMIntSGE => not(self.is_less_signed(x, y)),
        }
    }

    /// Divides integers of one word; what a division by zero gives is open.
    pub fn divide_word(self, x: &Int<'m>, y: &Int<'m>, signed: bool, remainder: bool) -> Int<'m> {
        if x.bits == 1 {
            return self.in_eight_bits(x, y, |x, y| self.divide_word(x, y, false, remainder));
        }
        if !signed {
            return self.each(x, y, |x, y| if remainder { self.0.urem(x, y, "") } else { self.0.udiv(x, y, "") });
        }
        let held = held_in(x.bits);
        let (x_held, y_held) = (self.resize_signed(x, held), self.resize_signed(y, held));
        let divide = |x, y| if remainder { self.0.srem(x, y, "") } else { self.0.sdiv(x, y, "") };
        let Int { words, .. } = self.each(&x_held, &y_held, divide);
        self.cut(Int { bits: x.bits, words })
    }
}
