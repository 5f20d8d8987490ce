//! Which blocks and edges need a probe of their own, and which follow from others.
//!
//! Blocks and edges that imply each other form a class (one dominates the other, which post-dominates it; an edge and a
//! block that it alone enters or leaves). A class is known without a probe if it is always executed, if it is the body
//! of a loop whose classes are recorded, or if it is the union of the edges that leave or enter one of its blocks. After
//! H. Agrawal, "Dominators, super blocks, and program coverage" (POPL 1994).

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, HashMap, HashSet};

use petgraph::unionfind::UnionFind;

use crate::cfg::decisions::Event;
use crate::cfg::graph::{BlockIndex, Cfg, Edge};
use crate::cfg::loops::Loop;
use crate::cfg::sites::{Fact, FunctionSites, LoopClass};

/// A class of blocks and edges, by its representative.
pub type Class = usize;

/// How it is known whether a class was executed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Known {
    /// By every work-item that runs the kernel.
    Always,
    /// By a probe of its own.
    Probe,
    /// If any of these was.
    AnyOf(Vec<Class>),
    /// If the loop's body was executed once or more than once.
    LoopBody(usize),
    /// If the recorded boolean of this event was true or false.
    Observed(Event),
    /// If any call of the function was: the entry of a helper.
    Entered,
}

/// How a function begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Entry {
    /// Every work-item executes it.
    Kernel,
    /// It is executed if one of its calls is.
    Called,
    /// Nothing is known (recursion).
    Unknown,
}

/// Where a class's probe stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spot {
    /// At the block's start.
    Block(BlockIndex),
    /// Where the edge arrives: a block that other edges enter too.
    Join(Edge),
}

/// What a class is made of, in order: blocks that can be reached, and edges.
#[derive(Debug, Default)]
struct Members {
    blocks: Vec<BlockIndex>,
    edges: Vec<Edge>,
}

#[derive(Debug)]
pub struct Implication {
    /// Per block, then per edge.
    class_of: Vec<Class>,
    edges: BTreeMap<Edge, usize>,
    blocks: usize,
    members: HashMap<Class, Members>,
    known: BTreeMap<Class, Known>,
    /// Classes of blocks in which items wait, perhaps for ever.
    waiting: Vec<Class>,
}

impl Implication {
    /// Decides it for all `facts` of a function.
    /// `probed`: blocks whose class must have a probe (barriers), unless it is always executed; `waiting`: those in which items wait,
    /// perhaps for ever, so that what shows them must not stand behind.
    pub fn solve(
        function: &FunctionSites,
        entry: Entry,
        facts: &[Fact],
        probed: &[BlockIndex],
        waiting: &[BlockIndex],
    ) -> Implication {
        let cfg = &function.cfg;
        let mut edges = BTreeMap::new();
        for b in (0..cfg.len()).filter(|b| cfg.reachable[*b]) {
            for e in cfg.edges_out(b) {
                let number = cfg.len() + edges.len();
                edges.insert(e, number);
            }
        }
        let class_of = classes(function, &edges);
        let waiting = waiting.iter().map(|b| class_of[*b]).collect();
        let mut members: HashMap<Class, Members> = HashMap::new();
        for b in (0..cfg.len()).filter(|b| cfg.reachable[*b]) {
            members.entry(class_of[b]).or_default().blocks.push(b);
        }
        for (edge, number) in &edges {
            members.entry(class_of[*number]).or_default().edges.push(*edge);
        }
        let blocks = cfg.len();
        let mut solved = Implication { class_of, edges, blocks, members, known: BTreeMap::new(), waiting };
        match entry {
            Entry::Kernel => solved.known.insert(solved.of_block(0), Known::Always),
            Entry::Called => solved.known.insert(solved.of_block(0), Known::Entered),
            Entry::Unknown => None,
        };
        for block in probed {
            let class = solved.of_block(*block);
            if solved.known.get(&class) != Some(&Known::Always) {
                solved.known.insert(class, Known::Probe);
            }
        }
        for (i, l) in function.loops.iter().enumerate().filter(|(_, l)| !l.back_edges.is_empty()) {
            if let Some(entry) = l.body_entry() {
                solved.known.entry(solved.of_edge(entry)).or_insert(Known::LoopBody(i));
            }
        }
        for fact in facts {
            if let Fact::Event(event @ (Event::Select { block, .. } | Event::PhiOperand { block, .. })) = fact
                && (matches!(event, Event::Select { .. }) || function.cfg.successors(*block).len() == 1)
            {
                solved.known.entry(solved.of_block(*block)).or_insert(Known::Observed(*event));
            }
        }
        let needed: Vec<Class> = facts.iter().flat_map(|f| solved.classes_of_fact(function, *f)).collect();
        solved.decide(function, needed);
        solved
    }

    pub fn of_block(&self, block: BlockIndex) -> Class {
        self.class_of[block]
    }

    pub fn of_edge(&self, edge: Edge) -> Class {
        self.class_of[self.edges[&edge]]
    }

    /// How a class is known; classes that no fact needs are not.
    pub fn known(&self, class: Class) -> Option<&Known> {
        self.known.get(&class)
    }

    /// The classes with a probe, in order of their spots.
    pub fn probes(&self, function: &FunctionSites) -> Vec<(Class, Spot)> {
        let wanted: Vec<Class> =
            self.known.iter().filter(|(_, k)| **k == Known::Probe).map(|(class, _)| *class).collect();
        let depths = depths(function);
        wanted.into_iter().map(|class| (class, self.spot(function, class, &depths))).collect()
    }

    /// The cheapest place: in the fewest loops; there, a join rather than the arm that leads to it, because arms without
    /// probes can still be turned into selects by the device's compiler, which vectorisers depend on. An arm in which items wait cannot.
    fn spot(&self, function: &FunctionSites, class: Class, depths: &[usize]) -> Spot {
        let cfg = &function.cfg;
        let members = self.members.get(&class);
        let blocks = members.into_iter().flat_map(|m| &m.blocks).map(|b| ((depths[*b], 1, *b), Spot::Block(*b)));
        let waits = self.waiting.contains(&class);
        let edges = members
            .into_iter()
            .flat_map(|m| &m.edges)
            .filter(|e| !waits && cfg.incoming(cfg.target(**e)).len() > 1)
            .map(|e| ((depths[cfg.target(*e)], 0, e.block), Spot::Join(*e)));
        blocks.chain(edges).min_by_key(|(price, _)| *price).map_or(Spot::Block(0), |(_, spot)| spot)
    }

    fn classes_of_fact(&self, function: &FunctionSites, fact: Fact) -> Vec<Class> {
        match fact {
            Fact::Event(Event::Edge(e)) => vec![self.of_edge(e)],
            Fact::Block(b) => vec![self.of_block(b)],
            Fact::Loop(i, class) => loop_edge(&function.loops[i], class).map(|e| self.of_edge(e)).into_iter().collect(),
            Fact::Barrier(_) | Fact::Event(_) => Vec::new(),
        }
    }

    /// Decides the needed classes, those in the most loops first, so that probes stand where they are cheapest.
    fn decide(&mut self, function: &FunctionSites, needed: Vec<Class>) {
        let depths = depths(function);
        let mut weights: HashMap<Class, u64> = HashMap::new();
        for b in (0..self.blocks).filter(|b| function.cfg.reachable[*b]) {
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
            if self.known.contains_key(&class) {
                continue;
            }
            let known = self.derive(function, class, &wanted, &weights);
            if let Some(Known::AnyOf(parts)) = &known {
                let new = parts.iter().copied().filter(|part| wanted.insert(*part));
                next.extend(new.map(|part| (weights[&part], Reverse(part))));
            }
            self.known.insert(class, known.unwrap_or(Known::Probe));
        }
    }

    /// The cheapest union of edges that stands for `class`, if it is cheaper than a probe.
    fn derive(
        &self,
        function: &FunctionSites,
        class: Class,
        wanted: &HashSet<Class>,
        weights: &HashMap<Class, u64>,
    ) -> Option<Known> {
        let cfg = &function.cfg;
        let price = |parts: &[Class]| -> u64 {
            parts.iter().filter(|p| !wanted.contains(p) && !self.known.contains_key(p)).map(|p| weights[p]).sum()
        };
        let mut best: Option<(u64, Vec<Class>)> = None;
        for &b in self.members.get(&class).into_iter().flat_map(|m| &m.blocks) {
            let out: Vec<Class> = cfg.edges_out(b).map(|e| self.of_edge(e)).collect();
            let into: Vec<Class> =
                if b == 0 { Vec::new() } else { cfg.incoming(b).into_iter().map(|e| self.of_edge(e)).collect() };
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
        best.filter(|(cost, _)| *cost < weights[&class]).map(|(_, parts)| Known::AnyOf(parts))
    }

    /// Whether what is known of one of `classes` follows from `on`, or is it.
    fn any_depends(&self, classes: &[Class], on: Class) -> bool {
        let mut todo = classes.to_vec();
        let mut seen = HashSet::new();
        while let Some(class) = todo.pop() {
            if class == on {
                return true;
            }
            if let Some(Known::AnyOf(parts)) = self.known.get(&class)
                && seen.insert(class)
            {
                todo.extend(parts);
            }
        }
        false
    }
}

/// The edge that shows a class of a loop; `None` where no single edge does.
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
            union.union(*number, edge.block);
        }
        if target != 0 && cfg.incoming(target).len() == 1 {
            union.union(*number, target);
        }
    }
    for a in (0..cfg.len()).filter(|b| cfg.reachable[*b]) {
        // Equivalent blocks form a chain along the dominator tree, so comparing with the dominators is enough.
        let mut dominator = function.dominance.immediate_dominator(a);
        while let Some(d) = dominator {
            if function.dominance.post_dominates(a, d) {
                union.union(a, d);
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

/// By block: in how many loops it is.
fn depths(function: &FunctionSites) -> Vec<usize> {
    let mut depths = vec![0; function.cfg.len()];
    for l in function.loops.iter().filter(|l| !l.back_edges.is_empty()) {
        l.blocks.iter().for_each(|block| depths[*block] += 1);
    }
    depths
}

/// How often a block in so many loops is executed, roughly.
fn weight(depth: usize) -> u64 {
    10u64.saturating_pow(depth as u32)
}
