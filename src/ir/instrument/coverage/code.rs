//! Makes code that sets bits.

use std::iter;

use crate::llvm::{Block, Builder, Function, Inst, Type, Value};

/// Makes code in one module.
pub struct ProbeCode<'m> {
    pub builder: Builder<'m>,
    pub int: Type<'m>,
    /// The function that sets bits of a word.
    pub cover: Function<'m>,
}

impl<'m> ProbeCode<'m> {
    pub fn number(&self, n: u32) -> Value<'m> {
        self.int.int(u64::from(n))
    }

    pub fn call(&self, callee: Function<'m>, arguments: &[Value<'m>]) {
        self.builder.call(callee, arguments, "");
    }

    pub fn before(&self, inst: Inst<'m>) {
        self.builder.before(inst);
    }

    pub fn set_bit(&self, words: Value<'m>, bit: u32) {
        self.call(self.cover, &[words, self.number(bit / 32), self.number(1 << (bit % 32))]);
    }

    /// Builds a `phi` in `join` that takes a number from each predecessor.
    pub fn phi(&self, join: Block<'m>, number: &dyn Fn(Block<'m>) -> Value<'m>) -> Value<'m> {
        // In front of the block's debug records too: no record may precede a phi.
        self.builder.before_records(join.walk().next().expect("the block has a terminator"));
        let mut entries = Vec::new();
        for from in join.value().user_instructions().into_iter().rev().map(Inst::block) {
            // One for each edge.
            let edges = from.terminator().successors().into_iter().filter(|s| *s == join).count();
            entries.extend(iter::repeat_n((number(from), from), edges));
        }
        self.builder.phi(self.int, &entries, "").value()
    }

    /// Inserts a new block on an edge and returns it.
    pub fn split(&self, source: Block<'m>, successor: usize) -> Block<'m> {
        let terminator = source.terminator();
        let target = terminator.successors()[successor];
        let new = target.insert_before("kassay.edge");
        self.builder.at_end(new);
        self.builder.br(target);
        terminator.set_successor(successor as u32, new);
        target.redirect_phis(source, new);
        new
    }
}
