//! Solves data-flow problems on LLVM's functions: visits the instructions of all functions, and passes elements from
//! arguments to parameters and from returned values to the results of calls.
//!
//! Context-insensitive: what all calls of a function pass is joined.

use std::hash::Hash;

use super::dataflow::{Lattice, State};
use super::indices::{BlockIndex, FunctionIndex};
use crate::llvm::{Function, Inst, Opcode, Value};

/// An instruction of the functions that are analysed.
#[derive(Debug, Clone, Copy)]
pub struct Place<'m> {
    /// The function's position among those analysed.
    pub function: FunctionIndex,
    /// The block, in the function's control-flow graph.
    pub block: BlockIndex,
    /// The instruction itself.
    pub inst: Inst<'m>,
}

/// The state of an analysis.
pub type StateOf<'m, A> = State<<A as Analysis<'m>>::Location, <A as Analysis<'m>>::Element>;

/// An analysis of the values in functions.
pub trait Analysis<'m> {
    /// What has an element of the lattice.
    type Location: Copy + Eq + Hash;
    /// What is known of a location.
    type Element: Lattice;

    /// The location of a value.
    fn value(value: Value<'m>) -> Self::Location;

    /// Applies the transfer function of an instruction, unless it calls a function with a body, and returns the
    /// element of its result. `operands` ends with the callee of a call.
    fn transfer(
        &self,
        place: Place<'m>,
        operands: &[Value<'m>],
        state: &mut StateOf<'m, Self>,
    ) -> Option<Self::Element>;

    /// The element that an argument of a call brings to the parameter.
    fn argument(&self, call: Place<'m>, argument: Value<'m>, state: &StateOf<'m, Self>) -> Option<Self::Element>;

    /// The element that a returned value brings to the result of a call.
    fn returned(&self, value: Value<'m>, state: &StateOf<'m, Self>) -> Option<Self::Element>;

    /// Applies what a call of a function with a body does beyond passing values, and returns what that brings to its
    /// result.
    fn call(&self, _call: Place<'m>, _callee: Function<'m>, _state: &mut StateOf<'m, Self>) -> Option<Self::Element> {
        None
    }

    /// Applies the transfer function of the execution of a block, before those of its instructions.
    fn enter(&self, _function: FunctionIndex, _block: BlockIndex, _state: &mut StateOf<'m, Self>) {}
}

enum Node<'m> {
    Block { function: FunctionIndex, block: BlockIndex },
    Inst(Place<'m>),
}

/// Joins to `state` what follows from it in `functions`, which are visited in their order.
pub fn solve<'m, A: Analysis<'m>>(functions: &[Function<'m>], analysis: &A, state: &mut StateOf<'m, A>) {
    let mut nodes = Vec::new();
    for (function, code) in FunctionIndex::enumerate(functions) {
        for (block, instructions) in BlockIndex::enumerate(code.blocks()) {
            nodes.push(Node::Block { function, block });
            nodes.extend(instructions.walk().map(|inst| Node::Inst(Place { function, block, inst })));
        }
    }
    state.solve(nodes.len(), |node, state| match nodes[node] {
        Node::Block { function, block } => analysis.enter(function, block, state),
        Node::Inst(place) => visit(analysis, place, state),
    });
}

fn visit<'m, A: Analysis<'m>>(analysis: &A, place: Place<'m>, state: &mut StateOf<'m, A>) {
    let inst = place.inst;
    let operands = inst.operands();
    let result = A::value(inst.value());
    let Some(callee) = inst.called_function().filter(|f| f.has_body()) else {
        if let Some(element) = analysis.transfer(place, &operands, state) {
            state.join(result, element);
        }
        return;
    };
    for (param, argument) in callee.params().into_iter().zip(operands) {
        if let Some(element) = analysis.argument(place, argument, state) {
            state.join(A::value(param), element);
        }
    }
    if let Some(element) = analysis.call(place, callee, state) {
        state.join(result, element);
    }
    for value in returns(callee) {
        if let Some(element) = analysis.returned(value, state) {
            state.join(result, element);
        }
    }
}

/// The values that a function returns.
fn returns(function: Function<'_>) -> Vec<Value<'_>> {
    let ends = function.blocks().into_iter().map(|block| block.terminator());
    ends.filter(|t| t.is(Opcode::LLVMRet)).flat_map(Inst::operands).collect()
}
