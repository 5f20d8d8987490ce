//! Solves data-flow problems on LLVM's functions: visits the instructions of all functions, and passes facts from
//! arguments to parameters and from returned values to calls.
//!
//! Context-insensitive: the facts of all calls of a function are joined.

use std::hash::Hash;

use super::dataflow::{Facts, Lattice};
use super::graph::BlockIndex;
use crate::llvm::{Function, Inst, Opcode, Value};

/// An instruction of the functions that are analysed.
#[derive(Debug, Clone, Copy)]
pub struct Place<'m> {
    /// The function's position among those analysed.
    pub function: usize,
    pub block: BlockIndex,
    pub inst: Inst<'m>,
}

/// The facts of an analysis.
pub type FactsOf<'m, A> = Facts<<A as Analysis<'m>>::Location, <A as Analysis<'m>>::Fact>;

/// An analysis of the values in functions.
pub trait Analysis<'m> {
    type Location: Copy + Eq + Hash;
    type Fact: Lattice;

    /// The location of a value.
    fn value(value: Value<'m>) -> Self::Location;

    /// Applies the transfer function of an instruction, unless it calls a function with a body, and returns the fact of
    /// its result. `operands` ends with the callee of a call.
    fn transfer(&self, place: Place<'m>, operands: &[Value<'m>], facts: &mut FactsOf<'m, Self>) -> Option<Self::Fact>;

    /// The fact that an argument of a call brings to the parameter.
    fn argument(&self, call: Place<'m>, argument: Value<'m>, facts: &FactsOf<'m, Self>) -> Option<Self::Fact>;

    /// The fact that a returned value brings to the result of a call.
    fn returned(&self, value: Value<'m>, facts: &FactsOf<'m, Self>) -> Option<Self::Fact>;

    /// Applies what a call of a function with a body does beyond passing values, and returns what that brings to its
    /// result.
    fn call(&self, _call: Place<'m>, _callee: Function<'m>, _facts: &mut FactsOf<'m, Self>) -> Option<Self::Fact> {
        None
    }

    /// Applies the transfer function of the execution of a block, before those of its instructions.
    fn enter(&self, _function: usize, _block: BlockIndex, _facts: &mut FactsOf<'m, Self>) {}
}

enum Node<'m> {
    Block { function: usize, block: BlockIndex },
    Inst(Place<'m>),
}

/// Joins to `facts` what follows from them in `functions`.
pub fn solve<'m, A: Analysis<'m>>(functions: &[Function<'m>], analysis: &A, facts: &mut FactsOf<'m, A>) {
    let mut nodes = Vec::new();
    for (function, code) in functions.iter().enumerate() {
        for (block, instructions) in code.blocks().into_iter().enumerate() {
            nodes.push(Node::Block { function, block });
            nodes.extend(instructions.walk().map(|inst| Node::Inst(Place { function, block, inst })));
        }
    }
    facts.solve(nodes.len(), |node, facts| match nodes[node] {
        Node::Block { function, block } => analysis.enter(function, block, facts),
        Node::Inst(place) => visit(analysis, place, facts),
    });
}

fn visit<'m, A: Analysis<'m>>(analysis: &A, place: Place<'m>, facts: &mut FactsOf<'m, A>) {
    let inst = place.inst;
    let operands = inst.operands();
    let result = A::value(inst.value());
    let Some(callee) = inst.called_function().filter(|f| f.has_body()) else {
        if let Some(fact) = analysis.transfer(place, &operands, facts) {
            facts.join(result, fact);
        }
        return;
    };
    for (param, argument) in callee.params().into_iter().zip(operands) {
        if let Some(fact) = analysis.argument(place, argument, facts) {
            facts.join(A::value(param), fact);
        }
    }
    if let Some(fact) = analysis.call(place, callee, facts) {
        facts.join(result, fact);
    }
    for value in returns(callee) {
        if let Some(fact) = analysis.returned(value, facts) {
            facts.join(result, fact);
        }
    }
}

/// The values that a function returns.
fn returns(function: Function<'_>) -> Vec<Value<'_>> {
    let ends = function.blocks().into_iter().map(|block| block.terminator());
    ends.filter(|t| t.is(Opcode::LLVMRet)).flat_map(Inst::operands).collect()
}
