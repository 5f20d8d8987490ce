//! Hashes the iteration counts of the loops around a barrier into one number.

use std::collections::HashMap;

use super::emit::Emitter;
use crate::llvm::{Inst, Value};

/// An odd constant that spreads numbers over all bits (2^64 divided by the golden ratio).
const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;

/// Counter variables, by the instruction that they are read for; outermost loop first.
#[derive(Default)]
pub struct Counters<'m> {
    pub by_inst: HashMap<Inst<'m>, Vec<Inst<'m>>>,
}

impl<'m> Counters<'m> {
    /// Builds the number for `inst` at the builder's position.
    pub fn iteration(&self, e: &Emitter<'m>, inst: Inst<'m>) -> Value<'m> {
        let mut number = e.const_i64(0);
        for counter in self.by_inst.get(&inst).into_iter().flatten() {
            let count = e.load(e.long, *counter);
            let spread = e.builder.mul(number, e.const_i64(SPREAD), "");
            number = e.builder.add(spread, count, "");
        }
        number
    }
}

/// Builds an increment of a counter at the builder's position.
pub fn increment<'m>(e: &Emitter<'m>, counter: Inst<'m>) {
    let next = e.builder.add(e.load(e.long, counter), e.const_i64(1), "");
    e.builder.store(next, counter);
}
