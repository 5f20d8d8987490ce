//! Integers as sequences of bits: counting, reversing, rotating; taking them apart and putting them together.

use super::int::{Int, Ints, WORD, held_in, words};
use crate::llvm::Value;

/// Returns a word in which so many bits are set, as many not, and so on.
fn every_other(bits: u32) -> u64 {
    u64::MAX / ((1 << bits) + 1)
}

impl<'m> Ints<'_, 'm> {
    fn number(self, like: &Int<'m>, value: u32) -> Int<'m> {
        self.constant(like.bits, value.into())
    }

    /// Shifts by a constant; by the width and more, all bits go.
    fn right(self, x: &Int<'m>, by: u32) -> Int<'m> {
        if by >= x.bits { self.constant(x.bits, 0) } else { self.lshr(x, &self.constant(32, by.into())) }
    }

    fn left(self, x: &Int<'m>, by: u32) -> Int<'m> {
        if by >= x.bits { self.constant(x.bits, 0) } else { self.shl(x, &self.constant(32, by.into())) }
    }

    /// Counts the bits that are set.
    pub fn count(self, x: &Int<'m>) -> Int<'m> {
        if x.bits == 1 {
            return x.clone();
        }
        let mut sum: Option<Value<'m>> = None;
        for word in &x.words {
            let (mut word, held) = (*word, held_in(x.bits));
            let mut step = 1;
            while step < held {
                let mask = word.ty().int(every_other(step));
                let upper = self.0.lshr(word, word.ty().int(step.into()), "");
                word = self.0.add(self.0.and(word, mask, ""), self.0.and(upper, mask, ""), "");
                step *= 2;
            }
            sum = Some(sum.map_or(word, |sum| self.0.add(sum, word, "")));
        }
        let counted = Int { bits: held_in(x.bits), words: sum.into_iter().collect() };
        self.resize(&counted, x.bits)
    }

    /// Counts the zeros above the highest bit that is set; the width, if there is none.
    pub fn leading_zeros(self, x: &Int<'m>) -> Int<'m> {
        let mut spread = x.clone();
        let mut step = 1;
        while step < x.bits {
            spread = self.or(&spread, &self.right(&spread, step));
            step *= 2;
        }
        self.count(&self.not(&spread))
    }

    /// Counts the zeros below the lowest bit that is set; the width, if there is none.
    pub fn trailing_zeros(self, x: &Int<'m>) -> Int<'m> {
        self.count(&self.and(&self.not(x), &self.sub(x, &self.number(x, 1))))
    }

    /// Reverses the order of the bits (`unit` 1) or the bytes (8).
    pub fn reversed(self, x: &Int<'m>, unit: u32) -> Int<'m> {
        if x.bits <= unit {
            return x.clone();
        }
        let held = held_in(x.bits);
        let reverse = |word: Value<'m>| {
            let (mut word, mut step) = (word, unit);
            while step < held {
                let (mask, by) = (word.ty().int(every_other(step)), word.ty().int(step.into()));
                let down = self.0.and(self.0.lshr(word, by, ""), mask, "");
                let up = self.0.shl(self.0.and(word, mask, ""), by, "");
                word = self.0.or(down, up, "");
                step *= 2;
            }
            word
        };
        let bits = held * words(x.bits) as u32;
        let whole = Int { bits, words: x.words.iter().rev().map(|word| reverse(*word)).collect() };
        self.resize(&self.right(&whole, bits - x.bits), x.bits)
    }

    /// Shifts the first of two integers by a number less than their width, and fills it up from the second (`left`), or
    /// the other way round.
    pub fn funnel_shift(self, x: &Int<'m>, y: &Int<'m>, by: &Int<'m>, left: bool) -> Int<'m> {
        if x.bits == 1 {
            return if left { x.clone() } else { y.clone() };
        }
        let rest = self.sub(&self.number(x, x.bits - 1), by);
        match left {
            true => self.or(&self.shl(x, by), &self.lshr(&self.right(y, 1), &rest)),
            false => self.or(&self.shl(&self.left(x, 1), &rest), &self.lshr(y, by)),
        }
    }

    /// Puts integers one after the other, the first one lowest.
    pub fn joined(self, parts: &[Int<'m>]) -> Int<'m> {
        let bits = parts.iter().map(|part| part.bits).sum();
        let word = self.0.types().int(WORD);
        let mut joined: Vec<Option<Value<'m>>> = vec![None; words(bits)];
        let mut at = 0;
        for part in parts {
            let mut left = part.bits;
            for held in &part.words {
                let used = left.min(WORD);
                let wide = self.resize(&Int { bits: held_in(part.bits), words: vec![*held] }, WORD).words[0];
                let (first, shift) = ((at / WORD) as usize, at % WORD);
                let mut add = |to: usize, bits: Value<'m>| {
                    joined[to] = Some(joined[to].map_or(bits, |there| self.0.or(there, bits, "")));
                };
                add(first, if shift == 0 { wide } else { self.0.shl(wide, word.int(shift.into()), "") });
                if shift + used > WORD {
                    add(first + 1, self.0.lshr(wide, word.int((WORD - shift).into()), ""));
                }
                at += used;
                left -= used;
            }
        }
        let whole = joined.into_iter().map(|bits| bits.unwrap_or_else(|| word.null())).collect();
        self.narrowed(Int { bits, words: whole })
    }

    /// Takes bits out of an integer.
    pub fn slice(self, x: &Int<'m>, from: u32, bits: u32) -> Int<'m> {
        let word = self.0.types().int(WORD);
        let wide: Vec<Value<'m>> = x
            .words
            .iter()
            .map(|held| self.resize(&Int { bits: held_in(x.bits), words: vec![*held] }, WORD).words[0])
            .collect();
        let (first, shift) = ((from / WORD) as usize, from % WORD);
        let at = |n: usize| wide.get(n).copied().unwrap_or_else(|| word.null());
        let piece = |n: usize| {
            if shift == 0 {
                return at(first + n);
            }
            let low = self.0.lshr(at(first + n), word.int(shift.into()), "");
            match first + n + 1 < wide.len() {
                true => self.0.or(low, self.0.shl(at(first + n + 1), word.int((WORD - shift).into()), ""), ""),
                false => low,
            }
        };
        let whole = (0..words(bits)).map(piece).collect();
        // What is beyond the width is not zero yet.
        self.resize(&Int { bits: words(bits) as u32 * WORD, words: whole }, bits)
    }

    /// Holds an integer, which is in words of 64 bits, as it is to be held.
    fn narrowed(self, x: Int<'m>) -> Int<'m> {
        match held_in(x.bits) {
            WORD => x,
            _ => self.resize(&Int { bits: WORD, words: x.words }, x.bits),
        }
    }
}
