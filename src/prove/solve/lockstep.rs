//! Compares two functions that perform the same effects in the same order, possibly with different values, and asks
//! whether the values are equal.
//!
//! If blocks and instructions with effects correspond one to one, the functions behave alike provided that at every
//! such instruction all operands are equal, given that everything before was (and so loads, calls and phis yielded the
//! same). The conditions of branches that lead to an instruction hold there.

use std::collections::{HashMap, HashSet};

use inkwell::module::Module;
use kassay_ir::llvm::{Block, DataLayout, Function, Inst, Opcode, Type, Value, View};
use petgraph::algo::dominators::{Dominators, simple_fast};
use petgraph::graph::{DiGraph, NodeIndex};

use super::expression::{Term, Terms};
use super::launch_query::KnownLaunch;
use super::operation::Sort;
use super::purity::{computes_term, depth_first};
use super::question::{CHANGING, Comparison, Incoming, Phi, Question};
use super::values::Values;

/// Functions that may differ at more places than this are not compared.
const MAX_QUESTIONS: usize = 12;

/// The equalities that must hold for `mutant` to behave like `original`; `None` if the two do not correspond, or differ
/// at too many places. Both modules must be free of poison: see `mutation::equivalence`. `launch`: what is known of
/// the launch.
pub fn compare(original: &Module<'_>, mutant: &Module<'_>, launch: Option<&KnownLaunch>) -> Option<Comparison> {
    let (one, two) = (Side::of(original)?, Side::of(mutant)?);
    if one.blocks.len() != two.blocks.len() || !one.corresponds(&two) {
        return None;
    }
    let mut terms = Terms::unfolded();
    launch.into_iter().for_each(|launch| terms.assume(launch));
    let left = one.operands(&mut terms)?;
    let right = two.operands(&mut terms)?;
    let guards = Guards::of(&one, &left);
    let phis = one.phis(&left, &guards, &mut terms);
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
            let after = guards.set_before(l.block, &phis);
            questions.push(Question { left: *left, right: *right, conditions, after });
        }
    }
    let phis = phis.into_iter().map(|(_, phi)| phi).collect();
    Some(Comparison { terms, questions, phis })
}

/// The only function with a body in a module.
struct Side<'m> {
    function: Function<'m>,
    blocks: Vec<Block<'m>>,
    index: HashMap<Block<'m>, usize>,
    /// The instructions of each block that are not terms, such as loads, stores and phis.
    effects: Vec<Vec<Inst<'m>>>,
    layout: DataLayout<'m>,
}

/// The operands of an instruction with effects, as of the end of `block`; for the operands of a phi, on the edge
/// to block `to`.
struct Operands {
    block: usize,
    edge_to: Option<usize>,
    is_branch: bool,
    values: Vec<Term>,
}

impl<'m> Side<'m> {
    fn of(module: &'m Module<'_>) -> Option<Side<'m>> {
        let view = View::of(module);
        let bodies: Vec<Function<'_>> = view.functions().into_iter().filter(|f| f.has_body()).collect();
        let [function] = bodies[..] else { return None };
        let blocks = depth_first(function);
        let index = blocks.iter().enumerate().map(|(i, b)| (*b, i)).collect();
        let effects =
            blocks.iter().map(|b| b.instructions().into_iter().filter(|i| !computes_term(*i)).collect()).collect();
        Some(Side { function, blocks, index, effects, layout: view.layout() })
    }

    fn corresponds(&self, other: &Side<'m>) -> bool {
        self.effects.iter().zip(&other.effects).all(|(mine, others)| {
            mine.len() == others.len()
                && mine.iter().zip(others).all(|(m, o)| self.matches_except_operands(*m, other, *o))
        })
    }

    /// Returns whether two instructions are identical except for their operands.
    fn matches_except_operands(&self, mine: Inst<'m>, other: &Side<'m>, theirs: Inst<'m>) -> bool {
        use Opcode::*;
        // The modules share a context, so types and constants can be compared by address.
        if mine.opcode() != theirs.opcode() || mine.ty() != theirs.ty() {
            return false;
        }
        let types = |inst: Inst<'m>| -> Vec<Type<'m>> { inst.operands().into_iter().map(Value::ty).collect() };
        if types(mine) != types(theirs) {
            return false;
        }
        let targets = |side: &Side<'m>, inst: Inst<'m>| -> Vec<Option<usize>> {
            inst.successors().iter().map(|b| side.index.get(b).copied()).collect()
        };
        match mine.opcode() {
            LLVMLoad | LLVMStore => {
                mine.is_volatile() == theirs.is_volatile()
                    && mine.ordering() == theirs.ordering()
                    && mine.sync_scope() == theirs.sync_scope()
                    && mine.alignment() == theirs.alignment()
            }
            LLVMAlloca => mine.allocated_type() == theirs.allocated_type(),
            LLVMCall => {
                mine.callee().is_some()
                    && mine.callee() == theirs.callee()
                    && mine.called_type() == theirs.called_type()
                    && mine.operand_bundle_count() + theirs.operand_bundle_count() == 0
            }
            LLVMBr => targets(self, mine) == targets(other, theirs),
            LLVMSwitch => targets(self, mine) == targets(other, theirs) && cases(mine) == cases(theirs),
            LLVMPHI => incoming(self, mine).is_some() && incoming(self, mine) == incoming(other, theirs),
            LLVMRet | LLVMUnreachable => true,
            _ => false,
        }
    }

    /// The operands of each instruction with effects as terms, in order.
    fn operands(&self, terms: &mut Terms) -> Option<Vec<Operands>> {
        let mut values = Values::new(terms, self.layout);
        for (i, param) in self.function.params().into_iter().enumerate() {
            values.name(param, &format!("argument {i}"));
        }
        for (b, effects) in self.effects.iter().enumerate() {
            for (i, inst) in effects.iter().enumerate() {
                values.name(inst.value(), &format!("{CHANGING}{b} instruction {i}"));
            }
        }
        // A block comes after its dominators, so that the operands of its instructions are known.
        for inst in self.blocks.iter().flat_map(|b| b.instructions()).filter(|i| computes_term(*i)) {
            values.define(inst);
        }
        let mut all = Vec::new();
        for (block, inst) in self.effects.iter().enumerate().flat_map(|(b, all)| all.iter().map(move |i| (b, *i))) {
            if inst.is(Opcode::LLVMPHI) {
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

impl<'m> Side<'m> {
    /// The integer phis, with their blocks and with what they are set to.
    fn phis(&self, operands: &[Operands], guards: &Guards, terms: &mut Terms) -> Vec<(usize, Phi)> {
        let mut of_phis = operands.iter().filter(|o| o.edge_to.is_some());
        let mut phis: Vec<(usize, Phi)> = Vec::new();
        let mut edges: Vec<Vec<usize>> = Vec::new();
        for (block, effects) in self.effects.iter().enumerate() {
            for (i, inst) in effects.iter().enumerate().filter(|(_, inst)| inst.is(Opcode::LLVMPHI)) {
                let sources: Vec<&Operands> = of_phis.by_ref().take(inst.incoming().len()).collect();
                let Some(width) = inst.ty().int_width() else { continue };
                let value = terms.symbol(format!("{CHANGING}{block} instruction {i}.0"), Sort::Bits(width));
                let incoming = |source: &&Operands| {
                    let mut conditions = guards.at(source.block);
                    conditions.extend(guards.of_edge(source.block, block));
                    Incoming { value: source.values[0], conditions, after: Vec::new() }
                };
                edges.push(sources.iter().map(|source| source.block).collect());
                phis.push((block, Phi { value, incoming: sources.iter().map(incoming).collect() }));
            }
        }
        let after: Vec<Vec<Vec<usize>>> =
            edges.iter().map(|from| from.iter().map(|from| guards.set_before(*from, &phis)).collect()).collect();
        for ((_, phi), after) in phis.iter_mut().zip(after) {
            phi.incoming.iter_mut().zip(after).for_each(|(edge, after)| edge.after = after);
        }
        phis
    }
}

/// Blocks and called functions are not values: they are compared by `matches_except_operands`.
fn is_value(operand: Value<'_>) -> bool {
    !operand.is_block() && operand.as_function().is_none()
}

/// The blocks that a phi's operands come from.
fn incoming<'m>(side: &Side<'m>, phi: Inst<'m>) -> Option<Vec<usize>> {
    phi.incoming().into_iter().map(|(_, block)| side.index.get(&block).copied()).collect()
}

/// The case values, which are no operands.
fn cases(switch: Inst<'_>) -> Vec<Value<'_>> {
    switch.switch_cases().into_iter().map(|(value, _)| value).collect()
}

/// The branch conditions under which blocks are reached.
struct Guards {
    conditions: HashMap<usize, (Term, [usize; 2])>,
    /// For each block with a single predecessor, that predecessor.
    entries: HashMap<usize, usize>,
    dominators: Dominators<NodeIndex>,
}

impl Guards {
    fn of(side: &Side<'_>, operands: &[Operands]) -> Guards {
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

    /// The phis, by position, that are set whenever the end of a block is reached.
    fn set_before(&self, block: usize, phis: &[(usize, Phi)]) -> Vec<usize> {
        let dominators: HashSet<usize> =
            self.dominators.dominators(NodeIndex::new(block)).into_iter().flatten().map(NodeIndex::index).collect();
        (0..phis.len()).filter(|phi| dominators.contains(&phis[*phi].0)).collect()
    }

    /// The conditions that hold whenever a block is executed: those of the single-predecessor edges
    /// into its dominators.
    fn at(&self, block: usize) -> Vec<(Term, bool)> {
        let dominators = self.dominators.dominators(NodeIndex::new(block)).into_iter().flatten();
        let edges = dominators.filter_map(|b| Some((*self.entries.get(&b.index())?, b.index())));
        edges.filter_map(|(from, to)| self.of_edge(from, to)).collect()
    }
}
