//! Which accesses can follow each other: paths through the control-flow graphs of a kernel and its helpers, in the
//! order of the instructions that matter. A helper may return to any of its calls, so that there may be more paths than
//! the kernel has.

use std::collections::HashMap;

use super::accesses::Access;
use crate::kernel::builtins::{Builtin, Family};
use crate::llvm::{Function, Inst};

/// The memory that a barrier orders.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ordered {
    Local,
    Global,
}

/// What a node does to the order of accesses.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Order {
    /// A barrier of the group, by the memory that it orders: local, global.
    barrier: [bool; 2],
    /// A wait for asynchronous copies.
    wait: bool,
    /// An atomic access.
    atomic: bool,
    /// A barrier of a sub-group.
    sub_group: bool,
}

/// The graph of what matters.
#[derive(Debug, Default)]
pub struct Paths<'m> {
    successors: Vec<Vec<usize>>,
    order: Vec<Order>,
    nodes: HashMap<Inst<'m>, usize>,
}

/// A set of nodes.
pub type Reached = Vec<bool>;

impl<'m> Paths<'m> {
    /// Builds the graph of `functions`, the first of which is the kernel, with a node for each instruction among
    /// `accesses`.
    pub fn new(functions: &[Function<'m>], accesses: &[Access<'m>]) -> Paths<'m> {
        let mut paths = Paths::default();
        let atomics = accesses.iter().filter(|access| access.is_atomic);
        let atomics: HashMap<Inst<'m>, ()> = atomics.map(|access| (access.inst, ())).collect();
        let wanted: HashMap<Inst<'m>, ()> = accesses.iter().map(|access| (access.inst, ())).collect();
        let entries: HashMap<Function<'m>, Vec<usize>> = (functions.iter())
            .map(|function| (*function, function.blocks().iter().map(|_| paths.node(Order::default())).collect()))
            .collect();
        // By function: the ends of its blocks that return.
        let mut exits: HashMap<Function<'m>, Vec<usize>> = HashMap::new();
        let mut calls = Vec::new();
        for function in functions {
            let blocks = function.blocks();
            let entry_of: HashMap<_, usize> = blocks.iter().copied().zip(entries[function].iter().copied()).collect();
            for block in &blocks {
                let mut at = entry_of[block];
                for inst in block.walk() {
                    let callee = inst.called_function().filter(|callee| entries.contains_key(callee));
                    let order = Order { atomic: atomics.contains_key(&inst), ..order(inst) };
                    if callee.is_none() && order == Order::default() && !wanted.contains_key(&inst) {
                        continue;
                    }
                    let node = paths.node(order);
                    paths.nodes.insert(inst, node);
                    paths.successors[at].push(node);
                    at = node;
                    if let Some(callee) = callee {
                        let back = paths.node(Order::default());
                        paths.successors[node].push(entries[&callee][0]);
                        calls.push((callee, back));
                        at = back;
                    }
                }
                let next = block.terminator().successors();
                if next.is_empty() {
                    exits.entry(*function).or_default().push(at);
                }
                paths.successors[at].extend(next.iter().map(|block| entry_of[block]));
            }
        }
        for (callee, back) in calls {
            for exit in exits.get(&callee).into_iter().flatten() {
                paths.successors[*exit].push(back);
            }
        }
        paths
    }

    fn node(&mut self, order: Order) -> usize {
        self.successors.push(Vec::new());
        self.order.push(order);
        self.order.len() - 1
    }

    /// Returns the node of an instruction that matters.
    pub fn of(&self, inst: Inst<'m>) -> usize {
        self.nodes[&inst]
    }

    /// Returns what can come after `starts`, on paths that do not go on after a barrier that orders `until`.
    pub fn after(&self, starts: impl IntoIterator<Item = usize>, until: Option<Ordered>) -> Reached {
        let mut reached = vec![false; self.order.len()];
        let mut open: Vec<usize> =
            starts.into_iter().flat_map(|start| self.successors[start].iter().copied()).collect();
        while let Some(node) = open.pop() {
            let ends = until.is_some_and(|memory| self.order[node].barrier[memory as usize]);
            if !std::mem::replace(&mut reached[node], true) && !ends {
                open.extend(&self.successors[node]);
            }
        }
        reached
    }

    /// Returns whether any barrier orders the memory.
    pub fn has_barriers(&self, memory: Ordered) -> bool {
        self.order.iter().any(|order| order.barrier[memory as usize])
    }

    /// The beginnings of the intervals between barriers that order the memory: the kernel's entry, and each barrier.
    pub fn beginnings(&self, memory: Ordered) -> Vec<usize> {
        let barriers = (0..self.order.len()).filter(|node| self.order[*node].barrier[memory as usize]);
        // The kernel's entry is the first node.
        std::iter::once(0).chain(barriers).collect()
    }

    /// The barriers among `reached` that order the memory; with `waits` also waits for asynchronous copies.
    pub fn barriers(&self, reached: &Reached, memory: Ordered, waits: bool) -> Vec<usize> {
        let orders = |node: &usize| {
            let order = &self.order[*node];
            reached[*node] && (order.barrier[memory as usize] || (waits && order.wait))
        };
        (0..self.order.len()).filter(orders).collect()
    }

    /// The nodes by which work-items of a group (`groups`: of different groups) can order accesses without a barrier.
    pub fn atomics(&self, groups: bool) -> Vec<usize> {
        let orders = |node: &usize| self.order[*node].atomic || (!groups && self.order[*node].sub_group);
        (0..self.order.len()).filter(orders).collect()
    }
}

fn order(inst: Inst<'_>) -> Order {
    let none = Order::default();
    let Some(callee) = inst.called_function().filter(|callee| !callee.has_body()) else { return none };
    let Some(builtin) = Builtin::of(&callee.name()) else { return none };
    match builtin.family() {
        Family::Barrier => {
            let flags = inst.args().first().and_then(|flags| flags.as_u64()).filter(|_| !builtin.is_spirv());
            // Flags that are not known, and SPIR-V's, may name any memory.
            let barrier = flags.map_or([true; 2], |flags| [flags & 1 != 0, flags & 2 != 0]);
            Order { barrier, ..none }
        }
        Family::SubGroupBarrier => Order { sub_group: true, ..none },
        Family::EventWait => Order { wait: true, ..none },
        _ => none,
    }
}
