//! Decides which blocks and edges need a probe of their own and derives the others.
//!
//! Blocks and edges that imply each other form a class: a block and its dominator if the block post-dominates it; an
//! edge and a block if it is the block's only incoming or outgoing edge. A class needs no probe if it is always
//! executed, if it is the body of a loop whose classes are recorded, or if it is the union of the edges that leave or
//! enter one of its blocks. After H. Agrawal, "Dominators, super blocks, and program coverage" (POPL 1994).

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, HashMap, HashSet};

use petgraph::unionfind::UnionFind;

use crate::cfg::decisions::Event;
use crate::cfg::graph::{Cfg, Edge};
use crate::cfg::indices::BlockIndex;
use crate::cfg::loops::Loop;
use crate::cfg::sites::{Fact, FunctionSites, LoopClass};

/// A class of blocks and edges, given by its representative.
pub type Class = usize;

/// The way in which the execution of a class is determined.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Derivation {
    /// Every work-item that runs the kernel executes it.
    Always,
    /// It has a probe of its own.
    Probe,
    /// It was executed if any of these was.
    AnyOf(Vec<Class>),
    /// It was executed if the loop's body was, once or more often.
    LoopBody(usize),
    /// It was executed if the recorded boolean of this event was true or false.
    Observed(Event),
    /// The entry of a helper: it was executed if any call of the function was.
    Entered,
}

/// The callers of a function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Entry {
    /// By every work-item.
    Kernel,
    /// By its calls.
    Called,
    /// Unknown (recursion).
    Unknown,
}

/// The position of a class's probe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProbePoint {
    /// At the start of the block.
    Block(BlockIndex),
    /// In the edge's target, which has other incoming edges.
    Join(Edge),
}

/// The reachable blocks and the edges of a class, in order.
#[derive(Debug, Default)]
struct Members {
    blocks: Vec<BlockIndex>,
    edges: Vec<Edge>,
}

/// The classes of one function, and how each needed class is determined.
#[derive(Debug)]
pub struct Implication {
    /// By block, then by edge.
    class_of: Vec<Class>,
    edges: BTreeMap<Edge, usize>,
    blocks: usize,
    members: HashMap<Class, Members>,
    derivations: BTreeMap<Class, Derivation>,
    /// Classes of blocks in which items may wait forever.
    waiting: Vec<Class>,
}

impl Implication {
    /// Decides how each of the `facts` of a function is determined. The classes of the `probed` blocks (barriers) get a
    /// probe unless they are always executed. In the `waiting` blocks, items may wait forever, so their probes must not
    /// be placed after them.
    pub fn solve(
        function: &FunctionSites,
        entry: Entry,
        facts: &[Fact],
        probed: &[BlockIndex],
        waiting: &[BlockIndex],
    ) -> Implication {
        let cfg = &function.cfg;
        let mut edges = BTreeMap::new();
        for b in cfg.indices().filter(|b| cfg.reachable[*b]) {
            for e in cfg.edges_out(b) {
                let number = cfg.len() + edges.len();
                edges.insert(e, number);
            }
        }
        let class_of = classes(function, &edges);
        let waiting = waiting.iter().map(|b| class_of[*b]).collect();
        let mut members: HashMap<Class, Members> = HashMap::new();
        for b in cfg.indices().filter(|b| cfg.reachable[*b]) {
            members.entry(class_of[b]).or_default().blocks.push(b);
        }
        for (edge, number) in &edges {
            members.entry(class_of[*number]).or_default().edges.push(*edge);
        }
        let blocks = cfg.len();
        let mut solved = Implication { class_of, edges, blocks, members, derivations: BTreeMap::new(), waiting };
        match entry {
            Entry::Kernel => solved.derivations.insert(solved.class_of_block(BlockIndex::ENTRY), Derivation::Always),
            Entry::Called => solved.derivations.insert(solved.class_of_block(BlockIndex::ENTRY), Derivation::Entered),
            Entry::Unknown => None,
        };
        for block in probed {
            let class = solved.class_of_block(*block);
            if solved.derivations.get(&class) != Some(&Derivation::Always) {
                solved.derivations.insert(class, Derivation::Probe);
            }
        }
        for (i, l) in function.loops.iter().enumerate().filter(|(_, l)| !l.back_edges.is_empty()) {
            if let Some(entry) = l.body_entry() {
                solved.derivations.entry(solved.class_of_edge(entry)).or_insert(Derivation::LoopBody(i));
            }
        }
        for fact in facts {
            if let Fact::Event(event @ (Event::Select { block, .. } | Event::PhiOperand { block, .. })) = fact
                && (matches!(event, Event::Select { .. }) || function.cfg.successors(*block).len() == 1)
            {
                solved.derivations.entry(solved.class_of_block(*block)).or_insert(Derivation::Observed(*event));
            }
        }
        let needed: Vec<Class> = facts.iter().flat_map(|f| solved.classes_of_fact(function, *f)).collect();
        solved.decide(function, needed);
        solved
    }

    /// The class of a block.
    pub fn class_of_block(&self, block: BlockIndex) -> Class {
        self.class_of[block]
    }

    /// The class of an edge between reachable blocks.
    pub fn class_of_edge(&self, edge: Edge) -> Class {
        self.class_of[self.edges[&edge]]
    }

    /// Returns how a class is determined; `None` for classes that no fact needs.
    pub fn derivation(&self, class: Class) -> Option<&Derivation> {
        self.derivations.get(&class)
    }

    /// The classes with a probe, in order of class.
    pub fn probes(&self, function: &FunctionSites) -> Vec<(Class, ProbePoint)> {
        let wanted: Vec<Class> =
            self.derivations.iter().filter(|(_, k)| **k == Derivation::Probe).map(|(class, _)| *class).collect();
        let depths = depths(function);
        wanted.into_iter().map(|class| (class, self.probe_point(function, class, &depths))).collect()
    }

    /// Returns the cheapest position: the one in the fewest loops and, among these, a join rather than the arm that
    /// leads to it, because the device's compiler can still turn arms without probes into selects, which vectorisers
    /// depend on. An arm in which items wait cannot be turned into a select.
    fn probe_point(&self, function: &FunctionSites, class: Class, depths: &[usize]) -> ProbePoint {
        let cfg = &function.cfg;
        let members = self.members.get(&class);
        let blocks = members.into_iter().flat_map(|m| &m.blocks).map(|b| ((depths[*b], 1, *b), ProbePoint::Block(*b)));
        let waits = self.waiting.contains(&class);
        let edges = members
            .into_iter()
            .flat_map(|m| &m.edges)
            .filter(|e| !waits && cfg.incoming(cfg.target(**e)).len() > 1)
            .map(|e| ((depths[cfg.target(*e)], 0, e.block), ProbePoint::Join(*e)));
        blocks
            .chain(edges)
            .min_by_key(|(price, _)| *price)
            .map_or(ProbePoint::Block(BlockIndex::ENTRY), |(_, point)| point)
    }

    fn classes_of_fact(&self, function: &FunctionSites, fact: Fact) -> Vec<Class> {
        match fact {
            Fact::Event(Event::Edge(e)) => vec![self.class_of_edge(e)],
            Fact::Block(b) => vec![self.class_of_block(b)],
            Fact::Loop(i, class) => {
                loop_edge(&function.loops[i], class).map(|e| self.class_of_edge(e)).into_iter().collect()
            }
            Fact::Barrier(_) | Fact::Event(_) | Fact::Vector(..) => Vec::new(),
        }
    }

    /// Determines the needed classes, beginning with those in the most loops, so that probes end up where
    /// they are cheapest.
    fn decide(&mut self, function: &FunctionSites, needed: Vec<Class>) {
        let depths = depths(function);
        let mut weights: HashMap<Class, u64> = HashMap::new();
        for b in BlockIndex::first(self.blocks).filter(|b| function.cfg.reachable[*b]) {
            let w = weight(depths[b]);
            weights.entry(self.class_of[b]).and_modify(|x| *x = w.min(*x)).or_insert(w);
        }
        for (e, n) in &self.edges {
            let w = weight(depths[e.block]).min(weight(depths[function.cfg.target(*e)]));
            weights.entry(self.class_of[*n]).and_modify(|x| *x = w.min(*x)).or_insert(w);
        }
        let mut wanted: HashSet<Class> = needed.into_iter().collect();
        let mut next: BinaryHeap<(u64, Reverse<Class>)> =
            wanted.iter().map(|class| (weights[class], Reverse(*class))).collect();
        while let Some((_, Reverse(class))) = next.pop() {
            if self.derivations.contains_key(&class) {
                continue;
            }
            let derivation = self.derive(function, class, &wanted, &weights);
            if let Some(Derivation::AnyOf(parts)) = &derivation {
                let new = parts.iter().copied().filter(|part| wanted.insert(*part));
                next.extend(new.map(|part| (weights[&part], Reverse(part))));
            }
            self.derivations.insert(class, derivation.unwrap_or(Derivation::Probe));
        }
    }

    /// Returns the cheapest union of edges that equals `class`, if it is cheaper than a probe.
    fn derive(
        &self,
        function: &FunctionSites,
        class: Class,
        wanted: &HashSet<Class>,
        weights: &HashMap<Class, u64>,
    ) -> Option<Derivation> {
        let cfg = &function.cfg;
        let price = |parts: &[Class]| -> u64 {
            parts.iter().filter(|p| !wanted.contains(p) && !self.derivations.contains_key(p)).map(|p| weights[p]).sum()
        };
        let mut best: Option<(u64, Vec<Class>)> = None;
        for &b in self.members.get(&class).into_iter().flat_map(|m| &m.blocks) {
            let out: Vec<Class> = cfg.edges_out(b).map(|e| self.class_of_edge(e)).collect();
            let into: Vec<Class> = if b == BlockIndex::ENTRY {
                Vec::new()
            } else {
                cfg.incoming(b).into_iter().map(|e| self.class_of_edge(e)).collect()
            };
            for mut parts in [out, into] {
                parts.sort_unstable();
                parts.dedup();
                if parts.is_empty() || self.any_depends(&parts, class) {
                    continue;
                }
                let cost = price(&parts);
                if best.as_ref().is_none_or(|(c, _)| cost < *c) {
                    best = Some((cost, parts));
                }
            }
        }
        best.filter(|(cost, _)| *cost < weights[&class]).map(|(_, parts)| Derivation::AnyOf(parts))
    }

    /// Returns whether any of `classes` is, or is derived from, `on`.
    fn any_depends(&self, classes: &[Class], on: Class) -> bool {
        let mut todo = classes.to_vec();
        let mut seen = HashSet::new();
        while let Some(class) = todo.pop() {
            if class == on {
                return true;
            }
            if let Some(Derivation::AnyOf(parts)) = self.derivations.get(&class)
                && seen.insert(class)
            {
                todo.extend(parts);
            }
        }
        false
    }
}

/// The edge whose execution is equivalent to a class of a loop; `None` if no single edge is.
pub fn loop_edge(l: &Loop, class: LoopClass) -> Option<Edge> {
    match class {
        LoopClass::Boundary => l.boundary(),
        LoopClass::Zero if l.back_edges.is_empty() => l.boundary(),
        LoopClass::One if l.back_edges.is_empty() => l.body_entry(),
        _ => None,
    }
}
fn classes(function: &FunctionSites, edges: &BTreeMap<Edge, usize>) -> Vec<Class> {
    let cfg = &function.cfg;
    let mut union = UnionFind::<usize>::new(cfg.len() + edges.len());
    for (edge, number) in edges {
        let target = cfg.target(*edge);
        if only_successor(cfg, edge.block) {
            union.union(*number, edge.block.0);
        }
        if target != BlockIndex::ENTRY && cfg.incoming(target).len() == 1 {
            union.union(*number, target.0);
        }
    }
    for a in cfg.indices().filter(|b| cfg.reachable[*b]) {
        // Equivalent blocks form a chain in the dominator tree, so comparing a block with its dominators is sufficient.
        let mut dominator = function.dominance.immediate_dominator(a);
        while let Some(d) = dominator {
            if function.dominance.post_dominates(a, d) {
                union.union(a.0, d.0);
                break;
            }
            dominator = function.dominance.immediate_dominator(d);
        }
    }
    union.into_labeling()
}

fn only_successor(cfg: &Cfg, block: BlockIndex) -> bool {
    cfg.successors(block).len() == 1
}

/// Number of enclosing loops by block.
fn depths(function: &FunctionSites) -> Vec<usize> {
    let mut depths = vec![0; function.cfg.len()];
    for l in function.loops.iter().filter(|l| !l.back_edges.is_empty()) {
        l.blocks.iter().for_each(|block| depths[*block] += 1);
    }
    depths
}

/// Rough estimate of how often a block at this loop depth is executed.
fn weight(depth: usize) -> u64 {
    10u64.saturating_pow(depth as u32)
}
