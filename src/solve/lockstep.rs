//! Compares two functions that perform the same effects in the same order, possibly with different values, and asks
//! whether the values are equal.
//!
//! If blocks and instructions with effects correspond one to one, the functions behave alike provided that at every
//! such instruction all operands are equal, given that everything before was (and so loads, calls and phis yielded the
//! same). The conditions of branches that lead to an instruction hold there.

use std::collections::HashMap;

use inkwell::module::Module;
use llvm_sys::LLVMOpcode;
use llvm_sys::core::*;
use llvm_sys::prelude::*;
use llvm_sys::target::*;
use petgraph::algo::dominators::{Dominators, simple_fast};
use petgraph::graph::{DiGraph, NodeIndex};

use super::expression::{Term, Terms};
use super::proof::Question;
use super::purity::{is_term, reachable_blocks};
use super::values::Values;
use crate::kernel::ir::{self, Block, Function, Inst};

/// Functions that may differ at more places than this are not compared.
const MAX_QUESTIONS: usize = 12;

/// The equalities that must hold for `mutant` to behave like `original`; `None` if the two do not correspond, or differ
/// at too many places. Both modules must be free of poison: see `mutation::equivalence`.
pub fn compare(original: &Module<'_>, mutant: &Module<'_>) -> Option<(Terms, Vec<Question>)> {
    let (one, two) = (Side::of(original)?, Side::of(mutant)?);
    if one.blocks.len() != two.blocks.len() || !one.corresponds(&two) {
        return None;
    }
    let mut terms = Terms::unfolded();
    let left = one.operands(&mut terms)?;
    let right = two.operands(&mut terms)?;
    let guards = Guards::of(&one, &left);
    let mut questions = Vec::new();
    for (l, r) in left.iter().zip(&right) {
        if l.values.len() != r.values.len() {
            return None;
        }
        for (left, right) in l.values.iter().zip(&r.values).filter(|(left, right)| left != right) {
            if questions.len() == MAX_QUESTIONS {
                return None;
            }
            let mut conditions = guards.at(l.block);
            conditions.extend(l.edge_to.and_then(|to| guards.of_edge(l.block, to)));
            questions.push(Question { left: *left, right: *right, conditions });
        }
    }
    Some((terms, questions))
}

/// The only function with a body in a module.
struct Side {
    function: Function,
    blocks: Vec<Block>,
    index: HashMap<Block, usize>,
    /// The instructions of each block that are not terms, such as loads, stores and phis.
    effects: Vec<Vec<Inst>>,
    data: LLVMTargetDataRef,
}

/// The operands of an instruction with effects, as of the end of `block`; for the operands of a phi, on the edge
/// to block `to`.
struct Operands {
    block: usize,
    edge_to: Option<usize>,
    is_branch: bool,
    values: Vec<Term>,
}

impl Side {
    fn of(module: &Module<'_>) -> Option<Side> {
        let bodies: Vec<Function> = ir::functions(module).into_iter().filter(|f| f.has_body()).collect();
        let [function] = bodies[..] else { return None };
        let blocks = reachable_blocks(function);
        let index = blocks.iter().enumerate().map(|(i, b)| (*b, i)).collect();
        let effects = blocks.iter().map(|b| b.instructions().into_iter().filter(|i| !is_term(*i)).collect()).collect();
        // SAFETY: the module is alive and owns its data layout.
        let data = unsafe { LLVMGetModuleDataLayout(module.as_mut_ptr()) };
        Some(Side { function, blocks, index, effects, data })
    }

    fn corresponds(&self, other: &Side) -> bool {
        self.effects.iter().zip(&other.effects).all(|(mine, others)| {
            mine.len() == others.len()
                && mine.iter().zip(others).all(|(m, o)| self.matches_except_operands(*m, other, *o))
        })
    }

    /// Returns whether two instructions are identical except for their operands.
    fn matches_except_operands(&self, mine: Inst, other: &Side, theirs: Inst) -> bool {
        use LLVMOpcode::*;
        // SAFETY: both instructions belong to living modules and each property is read only from opcodes that have it;
        // the modules share a context, so types can be compared by address.
        unsafe {
            let (m, o) = (mine.0, theirs.0);
            if mine.opcode() != theirs.opcode() || LLVMTypeOf(m) != LLVMTypeOf(o) {
                return false;
            }
            let types = |inst: Inst| -> Vec<LLVMTypeRef> { inst.operands().iter().map(|v| LLVMTypeOf(*v)).collect() };
            if types(mine) != types(theirs) {
                return false;
            }
            let targets = |side: &Side, inst: Inst| -> Vec<Option<usize>> {
                inst.successors().iter().map(|b| side.index.get(b).copied()).collect()
            };
            match mine.opcode() {
                LLVMLoad | LLVMStore => {
                    LLVMGetVolatile(m) == LLVMGetVolatile(o)
                        && LLVMGetOrdering(m) == LLVMGetOrdering(o)
                        && LLVMGetAlignment(m) == LLVMGetAlignment(o)
                }
                LLVMAlloca => LLVMGetAllocatedType(m) == LLVMGetAllocatedType(o),
                LLVMCall => {
                    mine.callee().is_some()
                        && mine.callee() == theirs.callee()
                        && LLVMGetCalledFunctionType(m) == LLVMGetCalledFunctionType(o)
                        && LLVMGetNumOperandBundles(m) + LLVMGetNumOperandBundles(o) == 0
                }
                LLVMBr => targets(self, mine) == targets(other, theirs),
                LLVMSwitch => targets(self, mine) == targets(other, theirs) && cases(mine) == cases(theirs),
                LLVMPHI => incoming(self, mine).is_some() && incoming(self, mine) == incoming(other, theirs),
                LLVMRet | LLVMUnreachable => true,
                _ => false,
            }
        }
    }

    /// The operands of each instruction with effects as terms, in order.
    fn operands(&self, terms: &mut Terms) -> Option<Vec<Operands>> {
        // SAFETY: the data layout belongs to the module that the caller of `compare` borrows.
        let mut values = unsafe { Values::new(terms, self.data) };
        // SAFETY: the function belongs to a living module, and indices are below its parameter count.
        let params = unsafe { (0..LLVMCountParams(self.function.0)).map(|i| LLVMGetParam(self.function.0, i)) };
        for (i, param) in params.enumerate() {
            values.name(param, &format!("argument {i}"));
        }
        for (b, effects) in self.effects.iter().enumerate() {
            for (i, inst) in effects.iter().enumerate() {
                values.name(inst.0, &format!("block {b} instruction {i}"));
            }
        }
        // A block comes after its dominators, so that the operands of its instructions are known.
        for inst in self.blocks.iter().flat_map(|b| b.instructions()).filter(|i| is_term(*i)) {
            values.define(inst);
        }
        let mut all = Vec::new();
        for (block, inst) in self.effects.iter().enumerate().flat_map(|(b, all)| all.iter().map(move |i| (b, *i))) {
            if inst.opcode() == LLVMOpcode::LLVMPHI {
                for (from, value) in incoming(self, inst)?.into_iter().zip(inst.operands()) {
                    let values = values.of(value);
                    all.push(Operands { block: from, edge_to: Some(block), is_branch: false, values });
                }
                continue;
            }
            let operand_terms =
                inst.operands().into_iter().filter(|v| is_value(*v)).flat_map(|v| values.of(v)).collect();
            let is_branch = inst.branch_condition().is_some();
            all.push(Operands { block, edge_to: None, is_branch, values: operand_terms });
        }
        Some(all)
    }
}

/// Blocks and called functions are not values: they are compared by `matches_except_operands`.
fn is_value(operand: LLVMValueRef) -> bool {
    // SAFETY: `operand` belongs to an instruction of a living module.
    unsafe { LLVMValueIsBasicBlock(operand) == 0 && LLVMIsAFunction(operand).is_null() }
}

/// The blocks that a phi's operands come from.
fn incoming(side: &Side, phi: Inst) -> Option<Vec<usize>> {
    // SAFETY: `phi` is a phi of a living module, and indices are below its incoming count.
    unsafe {
        let block = |i| side.index.get(&Block(LLVMGetIncomingBlock(phi.0, i))).copied();
        (0..LLVMCountIncoming(phi.0)).map(block).collect()
    }
}

/// The case values as text: LLVM-C does not expose them as operands.
fn cases(switch: Inst) -> Vec<String> {
    // SAFETY: `switch` is a switch of a living module, each successor from 1 on has a case value, and `take_message`
    // frees the printed text.
    unsafe {
        let count = LLVMGetNumSuccessors(switch.0);
        (1..count).map(|i| ir::take_message(LLVMPrintValueToString(LLVMGetSwitchCaseValue(switch.0, i)))).collect()
    }
}

/// The branch conditions under which blocks are reached.
struct Guards {
    conditions: HashMap<usize, (Term, [usize; 2])>,
    /// For each block with a single predecessor, that predecessor.
    entries: HashMap<usize, usize>,
    dominators: Dominators<NodeIndex>,
}

impl Guards {
    fn of(side: &Side, operands: &[Operands]) -> Guards {
        let mut graph: DiGraph<(), ()> = DiGraph::new();
        let nodes: Vec<NodeIndex> = side.blocks.iter().map(|_| graph.add_node(())).collect();
        let mut predecessors: HashMap<usize, Vec<usize>> = HashMap::new();
        let mut conditions = HashMap::new();
        let branches: HashMap<usize, &Operands> =
            operands.iter().filter(|o| o.is_branch).map(|o| (o.block, o)).collect();
        for (b, block) in side.blocks.iter().enumerate() {
            let successors: Vec<usize> =
                block.terminator().successors().iter().filter_map(|s| side.index.get(s).copied()).collect();
            for s in &successors {
                graph.add_edge(nodes[b], nodes[*s], ());
                predecessors.entry(*s).or_default().push(b);
            }
            if let (Some(branch), &[yes, no]) = (branches.get(&b), &successors[..])
                && let (&[condition], true) = (&branch.values[..], yes != no)
            {
                conditions.insert(b, (condition, [yes, no]));
            }
        }
        let entries =
            predecessors.into_iter().filter(|(to, from)| from.len() == 1 && *to != 0).map(|(to, f)| (to, f[0]));
        Guards { conditions, entries: entries.collect(), dominators: simple_fast(&graph, NodeIndex::new(0)) }
    }

    /// The condition that holds on the edge from one block to another, with its truth value.
    fn of_edge(&self, from: usize, to: usize) -> Option<(Term, bool)> {
        let (condition, [yes, _]) = self.conditions.get(&from)?;
        Some((*condition, to == *yes))
    }

    /// The conditions that hold whenever a block is executed: those of the single-predecessor edges
    /// into its dominators.
    fn at(&self, block: usize) -> Vec<(Term, bool)> {
        let dominators = self.dominators.dominators(NodeIndex::new(block)).into_iter().flatten();
        let edges = dominators.filter_map(|b| Some((*self.entries.get(&b.index())?, b.index())));
        edges.filter_map(|(from, to)| self.of_edge(from, to)).collect()
    }
}
