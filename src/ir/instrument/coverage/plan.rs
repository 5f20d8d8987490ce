//! Plans the coverage of a kernel: which bits exist, and which of them each outcome needs. Pure data.

use std::collections::{BTreeMap, BTreeSet};

use crate::cfg::decisions::Event;
use crate::cfg::graph::InstKind;
use crate::cfg::indices::{BlockIndex, FunctionIndex};
use crate::cfg::sites::{Fact, LoopClass, Sites};
use crate::instrument::implication::{Class, Derivation, Entry, Implication, ProbePoint, loop_edge};
use crate::instrument::layout::{Bits, CoverageLayout, Slots};

/// The observation in a slot from which a fact follows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Evidence {
    /// It holds for every work-item that runs.
    pub always: bool,
    /// It holds if any of these bits is set.
    pub bits: BTreeSet<u32>,
}

/// The bits of one kernel and their meaning. Pure data.
#[derive(Debug)]
pub struct CoveragePlan {
    /// Where the bits are in the probe buffer.
    pub layout: CoverageLayout,
    pub(super) functions: Vec<FunctionPlan>,
}

/// The probes of one function.
#[derive(Debug)]
pub(super) struct FunctionPlan {
    implication: Implication,
    /// The function's callers: function and block.
    calls: Vec<(FunctionIndex, BlockIndex)>,
    pub(super) probes: Vec<(ProbePoint, u32)>,
    class_bits: BTreeMap<Class, u32>,
    /// By loop with back edges: the first of its three bits (zero, one, many).
    pub(super) loop_bits: BTreeMap<usize, u32>,
    /// Conditions of `select`s and last operands of short-circuits, with the bit for true; the bit for false
    /// is the next.
    pub(super) value_bits: Vec<(ValuePlace, u32)>,
    /// By decision whose test vectors are recorded (a position in [`FunctionSites::compound`]): the bit of its first
    /// vector; those of the others follow.
    ///
    /// [`FunctionSites::compound`]: crate::cfg::sites::FunctionSites::compound
    pub(super) vector_bits: BTreeMap<usize, u32>,
}

/// A boolean whose value is recorded when it is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum ValuePlace {
    Select { block: BlockIndex, instruction: usize },
    PhiOperand { block: BlockIndex, phi: (BlockIndex, usize) },
}

impl ValuePlace {
    fn of(event: Event) -> Option<(ValuePlace, bool)> {
        match event {
            Event::Edge(_) => None,
            Event::Select { block, instruction, truth } => Some((ValuePlace::Select { block, instruction }, truth)),
            Event::PhiOperand { block, phi, truth } => Some((ValuePlace::PhiOperand { block, phi }, truth)),
        }
    }
}

impl CoveragePlan {
    /// Allocates the bits for all facts of `sites`; those of barriers come first.
    pub fn new(sites: &Sites, slots: Slots) -> CoveragePlan {
        let facts_of = |f: FunctionIndex| -> Vec<Fact> {
            let all = sites.sites.iter().flat_map(|s| &s.outcomes).flat_map(|o| &o.facts);
            let mut facts: Vec<Fact> = all.filter(|(of, _)| *of == f).map(|(_, fact)| *fact).collect();
            facts.sort_unstable();
            facts.dedup();
            facts
        };
        let calls = calls(sites);
        let mut bits = Bits::default();
        let mut functions: Vec<FunctionPlan> = Vec::new();
        for (f, function) in FunctionIndex::enumerate(&sites.functions) {
            let barrier_blocks: Vec<BlockIndex> = function.barriers.iter().map(|b| b.0).collect();
            let mut facts = facts_of(f);
            facts.extend(
                calls.iter().flatten().filter(|(caller, _)| *caller == f).map(|(_, block)| Fact::Block(*block)),
            );
            let entry = match f {
                FunctionIndex::KERNEL => Entry::Kernel,
                _ if reaches(&calls, f, f) => Entry::Unknown,
                _ => Entry::Called,
            };
            let has_barriers = |g: FunctionIndex| !sites.functions[g].barriers.is_empty();
            let waits = |g: FunctionIndex| {
                FunctionIndex::first(calls.len()).any(|h| has_barriers(h) && (g == h || reaches(&calls, g, h)))
            };
            let calling = FunctionIndex::first(calls.len()).filter(|g| waits(*g)).flat_map(|g| &calls[g]);
            let calling = calling.filter(|(caller, _)| *caller == f).map(|(_, block)| *block);
            let waiting: Vec<BlockIndex> = barrier_blocks.iter().copied().chain(calling).collect();
            let implication = Implication::solve(function, entry, &facts, &barrier_blocks, &waiting);
            let mut class_bits = BTreeMap::new();
            for block in barrier_blocks {
                let class = implication.class_of_block(block);
                if implication.derivation(class) == Some(&Derivation::Probe) {
                    class_bits.entry(class).or_insert_with(|| bits.take(1));
                }
            }
            functions.push(FunctionPlan {
                implication,
                calls: calls[f].clone(),
                probes: Vec::new(),
                class_bits,
                loop_bits: BTreeMap::new(),
                value_bits: Vec::new(),
                vector_bits: BTreeMap::new(),
            });
        }
        let barrier_bits = functions.iter().map(|p| p.class_bits.len() as u32).sum();
        for (f, (function, plan)) in FunctionIndex::enumerate(sites.functions.iter().zip(&mut functions)) {
            for (class, point) in plan.implication.probes(function) {
                let bit = *plan.class_bits.entry(class).or_insert_with(|| bits.take(1));
                plan.probes.push((point, bit));
            }
            for (i, _) in function.loops.iter().enumerate().filter(|(_, l)| !l.back_edges.is_empty()) {
                plan.loop_bits.insert(i, bits.take(3));
            }
            for fact in facts_of(f) {
                if let Fact::Event(event) = fact
                    && let Some((place, _)) = ValuePlace::of(event)
                    && !plan.value_bits.iter().any(|(p, _)| *p == place)
                {
                    plan.value_bits.push((place, bits.take(2)));
                }
                if let Fact::Vector(decision, _) = fact
                    && let Ok(evaluation) = &function.compound[decision].evaluation
                {
                    let paths = evaluation.graph.paths() as u32;
                    plan.vector_bits.entry(decision).or_insert_with(|| bits.take(paths));
                }
            }
        }
        let words = bits.words().max(1);
        let missed_words = if slots.are_per_item() { 0 } else { u32::div_ceil(barrier_bits, 32) };
        CoveragePlan { layout: CoverageLayout { slots, words, missed_words, barrier_bits }, functions }
    }

    /// Returns the evidence for `fact` of function `f`.
    pub fn evidence(&self, sites: &Sites, f: FunctionIndex, fact: Fact) -> Evidence {
        let plan = &self.functions[f];
        let mut evidence = Evidence::default();
        match fact {
            Fact::Block(block) => self.class_evidence(f, plan.implication.class_of_block(block), &mut evidence),
            Fact::Barrier(i) => {
                let block = sites.functions[f].barriers[i].0;
                self.class_evidence(f, plan.implication.class_of_block(block), &mut evidence);
            }
            Fact::Event(Event::Edge(edge)) => {
                self.class_evidence(f, plan.implication.class_of_edge(edge), &mut evidence)
            }
            Fact::Event(event) => {
                if let Some((place, truth)) = ValuePlace::of(event)
                    && let Some((_, bit)) = plan.value_bits.iter().find(|(p, _)| *p == place)
                {
                    evidence.bits.insert(bit + u32::from(!truth));
                }
            }
            Fact::Loop(i, class) => {
                if let Some(edge) = loop_edge(&sites.functions[f].loops[i], class) {
                    self.class_evidence(f, plan.implication.class_of_edge(edge), &mut evidence);
                } else if let Some(first) = plan.loop_bits.get(&i) {
                    evidence.bits.insert(first + class as u32);
                }
            }
            Fact::Vector(decision, way) => {
                evidence.bits.extend(plan.vector_bits.get(&decision).map(|first| first + way))
            }
        }
        evidence
    }

    fn class_evidence(&self, f: FunctionIndex, class: Class, evidence: &mut Evidence) {
        let plan = &self.functions[f];
        match plan.implication.derivation(class) {
            Some(Derivation::Always) => evidence.always = true,
            Some(Derivation::Probe) => evidence.bits.extend(plan.class_bits.get(&class)),
            Some(Derivation::AnyOf(parts)) => parts.iter().for_each(|p| self.class_evidence(f, *p, evidence)),
            Some(Derivation::LoopBody(i)) => {
                let first = plan.loop_bits[i];
                evidence.bits.extend([first + LoopClass::One as u32, first + LoopClass::Many as u32]);
            }
            Some(Derivation::Observed(event)) => {
                let place = ValuePlace::of(*event).map(|(place, _)| place);
                if let Some((_, bit)) = plan.value_bits.iter().find(|(p, _)| Some(*p) == place) {
                    evidence.bits.extend([*bit, bit + 1]);
                }
            }
            Some(Derivation::Entered) => {
                for (caller, block) in &plan.calls {
                    self.class_evidence(*caller, self.functions[*caller].implication.class_of_block(*block), evidence);
                }
            }
            None => {}
        }
    }
}

/// Returns the callers of each function.
fn calls(sites: &Sites) -> Vec<Vec<(FunctionIndex, BlockIndex)>> {
    let mut all = vec![Vec::new(); sites.functions.len()];
    for (f, function) in FunctionIndex::enumerate(&sites.functions) {
        for (b, block) in BlockIndex::enumerate(&function.cfg.blocks).filter(|(b, _)| function.cfg.reachable[*b]) {
            for inst in &block.instructions {
                if let InstKind::Call(name) = &inst.kind
                    && let Some(callee) =
                        sites.functions.iter().position(|g| g.cfg.function == *name).map(FunctionIndex)
                {
                    all[callee].push((f, b));
                }
            }
        }
    }
    all
}

/// Returns whether a chain of calls leads from function `from` to `to`; `calls` holds the callers of each function.
fn reaches(calls: &[Vec<(FunctionIndex, BlockIndex)>], from: FunctionIndex, to: FunctionIndex) -> bool {
    let mut seen = BTreeSet::new();
    let mut work = vec![to];
    while let Some(f) = work.pop() {
        for (caller, _) in &calls[f] {
            if *caller == from {
                return true;
            }
            if seen.insert(*caller) {
                work.push(*caller);
            }
        }
    }
    false
}
