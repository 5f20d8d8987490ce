//! Finds decisions of two conditions or more, as MC/DC needs them: with the order in which their conditions are
//! evaluated and the instructions that do it.
//!
//! The conditions are those of `decisions`. Short-circuit values that end a larger one (`b || c` in
//! `x = a && (b || c)`), also negated, belong to its decision; short-circuits in operands of anything else
//! (`f(b || c)`, `(b || c) == d`) are decisions of their own. The copies of a rotated loop's condition are one
//! decision.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;

use petgraph::unionfind::UnionFind;

use super::condition_graph::{ConditionGraph, Next};
use super::decisions::{self, Condition, Event};
use super::dominance::Dominance;
use super::graph::{Cfg, Edge, Incoming, InstKind, Terminator};
use super::indices::BlockIndex;
use super::loops::Loop;
use super::short_circuits::{Group, ShortCircuits};
use crate::llvm::DebugLocation;

/// The most test vectors of a decision that is measured: what two words of bits hold.
pub const MAX_VECTORS: u64 = 64;

/// A decision of two conditions or more.
#[derive(Debug, Clone)]
pub struct CompoundDecision {
    /// `if`, `?:`, `for`, `while`, `do`; `branch` or `loop` if the IR does not show which; `value` if nothing branches
    /// on its result at once.
    pub construct: &'static str,
    /// The location of its first condition.
    pub location: Option<DebugLocation>,
    /// As in [`decisions::Decision::place`].
    pub place: (BlockIndex, usize),
    /// Its conditions, as positions in [`super::sites::FunctionSites::conditions`]; in the order of evaluation, if that
    /// is known.
    pub conditions: Vec<usize>,
    /// How its value follows from those of the conditions, or why MC/DC cannot be measured.
    pub evaluation: Result<Evaluation, Unmeasured>,
}

/// How a decision is evaluated.
#[derive(Debug, Clone)]
pub struct Evaluation {
    /// Its conditions are numbered as in [`CompoundDecision::conditions`].
    pub graph: ConditionGraph,
    /// Where conditions get their values. A condition has several places if it is a ternary, whose arms are each one,
    /// or if the decision has copies.
    pub leaves: Vec<Leaf>,
}

/// The reason why the test vectors of a decision are not recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unmeasured {
    /// There are more than [`MAX_VECTORS`].
    TooMany(u64),
    /// The order in which the conditions are evaluated is none that `&&`, `||` and `!` have.
    NoOrder,
}

impl fmt::Display for Unmeasured {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unmeasured::TooMany(paths) => write!(f, "it has {paths} test vectors; up to {MAX_VECTORS} are recorded"),
            Unmeasured::NoOrder => write!(f, "the code does not evaluate its conditions as && and || do"),
        }
    }
}

/// A place where a condition of a decision gets its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Leaf {
    /// The condition's number in the graph.
    pub condition: usize,
    /// Where the graph reads it.
    pub place: LeafPlace,
}

/// Where the value is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LeafPlace {
    /// The branch of this block takes this successor if the condition is true.
    Branch {
        /// The block that branches.
        block: BlockIndex,
        /// The position of the successor that is taken if the condition is true.
        when_true: usize,
    },
    /// The `phi` receives the value from this block.
    PhiOperand {
        /// The predecessor that the value comes from.
        block: BlockIndex,
        /// Block and position of the `phi`.
        phi: (BlockIndex, usize),
    },
}

impl LeafPlace {
    fn block(self) -> BlockIndex {
        match self {
            LeafPlace::Branch { block, .. } | LeafPlace::PhiOperand { block, .. } => block,
        }
    }
}

/// Returns the decisions of one function with two conditions or more, in order of place.
pub fn find(
    cfg: &Cfg,
    dominance: &Dominance,
    circuits: &ShortCircuits,
    loops: &[Loop],
    conditions: &[Condition],
) -> Vec<CompoundDecision> {
    let finder = Finder::new(cfg, dominance, circuits, loops, conditions);
    let mut all: Vec<CompoundDecision> = finder.sets().into_iter().filter_map(|set| finder.decision(&set)).collect();
    all.sort_by_key(|d| d.place);
    all
}

/// Where a group's result is.
enum End {
    /// Control reaches the first block if it is true, the second if it is false.
    Targets([BlockIndex; 2]),
    /// It is the value of a `phi`.
    Phi((BlockIndex, usize)),
}

struct Finder<'a> {
    cfg: &'a Cfg,
    circuits: &'a ShortCircuits,
    loops: &'a [Loop],
    conditions: &'a [Condition],
    /// By group of `circuits`: its result, and the leaves in it as pairs of condition and place.
    ends: Vec<Option<End>>,
    leaves: Vec<Vec<(usize, LeafPlace)>>,
    /// By group whose value is the last operand of another group's: that group, and whether it takes it negated.
    parents: HashMap<usize, (usize, bool)>,
}

impl<'a> Finder<'a> {
    fn new(
        cfg: &'a Cfg,
        dominance: &Dominance,
        circuits: &'a ShortCircuits,
        loops: &'a [Loop],
        conditions: &'a [Condition],
    ) -> Finder<'a> {
        let is_loop = |b: &BlockIndex| loops.iter().any(|l| l.condition == Some(*b));
        let end = |group: &Group| match group.phi {
            Some(phi) => Some(End::Phi(phi)),
            None => {
                let leaves: Vec<BlockIndex> = group.leaves.iter().copied().filter(|b| !is_loop(b)).collect();
                decisions::ends(cfg, dominance, &leaves).map(End::Targets)
            }
        };
        let ends = circuits.groups.iter().map(end).collect();
        let mut finder = Finder { cfg, circuits, loops, conditions, ends, leaves: Vec::new(), parents: HashMap::new() };
        finder.leaves = vec![Vec::new(); circuits.groups.len()];
        for (c, condition) in conditions.iter().enumerate() {
            for event in &condition.outcomes[0].events {
                let (group, place) = match *event {
                    Event::Edge(Edge { block, successor }) => {
                        (circuits.group_of(block), LeafPlace::Branch { block, when_true: successor })
                    }
                    Event::PhiOperand { block, phi, .. } => {
                        (circuits.groups.iter().position(|g| g.phi == Some(phi)), LeafPlace::PhiOperand { block, phi })
                    }
                    Event::Select { .. } => continue,
                };
                if let Some(group) = group {
                    finder.leaves[group].push((c, place));
                }
            }
        }
        finder.find_parents();
        finder
    }

    /// Finds the groups whose values are last operands of others. An operand that is such a value negated is no
    /// condition of the decision, but its operands are.
    fn find_parents(&mut self) {
        for (g, group) in self.circuits.groups.iter().enumerate() {
            let Some(phi) = group.phi else { continue };
            let InstKind::BoolPhi(incoming) = &self.cfg.blocks[phi.0].instructions[phi.1].kind else { continue };
            for (from, value) in incoming {
                let (inner, is_negated) = match *value {
                    Incoming::Phi(block, i) => ((block, i), false),
                    Incoming::NotPhi { block, phi, is_negated } => ((block, phi), is_negated),
                    Incoming::Constant(_) | Incoming::Other => continue,
                };
                let child = self.circuits.groups.iter().position(|other| other.phi == Some(inner));
                if let Some(child) = child.filter(|child| *child != g && !self.leaves[*child].is_empty()) {
                    self.parents.insert(child, (g, is_negated));
                    self.leaves[g].retain(|(_, place)| *place != LeafPlace::PhiOperand { block: *from, phi });
                }
            }
        }
    }

    /// Returns the sets of groups that form a decision each.
    fn sets(&self) -> Vec<Vec<usize>> {
        let groups = self.circuits.groups.len();
        let mut union = UnionFind::<usize>::new(groups);
        for (child, (parent, _)) in &self.parents {
            union.union(*child, *parent);
        }
        let mut by_phi: HashMap<(BlockIndex, usize), usize> = HashMap::new();
        let mut by_condition: HashMap<usize, usize> = HashMap::new();
        for (g, group) in self.circuits.groups.iter().enumerate() {
            if let Some(phi) = group.phi {
                union.union(*by_phi.entry(phi).or_insert(g), g);
            }
            for (condition, _) in &self.leaves[g] {
                union.union(*by_condition.entry(*condition).or_insert(g), g);
            }
        }
        let mut sets: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for g in (0..groups).filter(|g| !self.leaves[*g].is_empty()) {
            sets.entry(union.find(g)).or_default().push(g);
        }
        sets.into_values().collect()
    }

    fn decision(&self, set: &[usize]) -> Option<CompoundDecision> {
        let own: BTreeSet<usize> = set.iter().flat_map(|g| &self.leaves[*g]).map(|(c, _)| *c).collect();
        let own: Vec<usize> = own.into_iter().collect();
        if own.len() < 2 {
            return None;
        }
        let (conditions, evaluation) = match self.graph(set, &own) {
            Some((graph, numbers)) => {
                let mut conditions = own.clone();
                own.iter().zip(&numbers).for_each(|(condition, number)| conditions[*number] = *condition);
                let leaf = |(c, place): &(usize, LeafPlace)| {
                    let position = own.iter().position(|own| own == c)?;
                    Some(Leaf { condition: numbers[position], place: *place })
                };
                let leaves = set.iter().flat_map(|g| &self.leaves[*g]).filter_map(leaf).collect();
                let paths = graph.paths();
                let measured = (paths <= MAX_VECTORS).then_some(Evaluation { graph, leaves });
                (conditions, measured.ok_or(Unmeasured::TooMany(paths)))
            }
            None => (own, Err(Unmeasured::NoOrder)),
        };
        let first = &self.conditions[conditions[0]];
        Some(CompoundDecision {
            construct: self.construct(set),
            location: first.location.clone(),
            place: first.place,
            conditions,
            evaluation,
        })
    }

    /// Returns the graph of conditions, and their numbers in it in the order of `own`.
    fn graph(&self, set: &[usize], own: &[usize]) -> Option<(ConditionGraph, Vec<usize>)> {
        let blocks: HashMap<BlockIndex, usize> =
            set.iter().flat_map(|g| &self.leaves[*g]).map(|(c, place)| (place.block(), *c)).collect();
        let mut next: Vec<Option<[Next; 2]>> = vec![None; own.len()];
        for g in set {
            for (c, place) in &self.leaves[*g] {
                let numbered = |next: Next| match next {
                    Next::Condition(c) => own.iter().position(|other| *other == c).map(Next::Condition),
                    result => Some(result),
                };
                let follows = |value: bool| self.follows(set, *g, *place, value, &blocks).and_then(numbered);
                let both = [follows(false)?, follows(true)?];
                let known = &mut next[own.iter().position(|other| other == c)?];
                if known.is_some_and(|known| known != both) {
                    return None;
                }
                *known = Some(both);
            }
        }
        ConditionGraph::new(&next.into_iter().collect::<Option<Vec<[Next; 2]>>>()?)
    }

    /// Returns what follows if the condition at `place` in group `g` has this value.
    fn follows(
        &self,
        set: &[usize],
        g: usize,
        place: LeafPlace,
        value: bool,
        leaves: &HashMap<BlockIndex, usize>,
    ) -> Option<Next> {
        let (block, when_true) = match place {
            LeafPlace::PhiOperand { block, .. } => {
                let is_joined = self.cfg.successors(block).len() == 1;
                return is_joined.then(|| self.result(g, value)).flatten();
            }
            LeafPlace::Branch { block, when_true } => (block, when_true),
        };
        let target = self.cfg.target(Edge { block, successor: if value { when_true } else { 1 - when_true } });
        match self.ends[g] {
            Some(End::Phi(phi)) if target == phi.0 => self.joined(g, block),
            _ => self.reached(set, g, target, leaves),
        }
    }

    /// Returns the result if the `phi` of group `g` receives a constant from a block.
    fn joined(&self, g: usize, block: BlockIndex) -> Option<Next> {
        let Some(End::Phi(phi)) = self.ends[g] else { return None };
        let InstKind::BoolPhi(incoming) = &self.cfg.blocks[phi.0].instructions[phi.1].kind else { return None };
        incoming.iter().find_map(|(from, value)| match value {
            Incoming::Constant(value) if *from == block => self.result(g, *value),
            _ => None,
        })
    }

    /// Returns the result of the decision if the value of group `g`, which decides it, is `value`.
    fn result(&self, g: usize, value: bool) -> Option<Next> {
        let (mut at, mut value) = (g, value);
        for _ in 0..=self.parents.len() {
            match self.parents.get(&at) {
                Some((parent, is_negated)) => (at, value) = (*parent, value != *is_negated),
                None => return Some(Next::Result(value)),
            }
        }
        // A `phi` that depends on itself.
        None
    }

    /// Returns the condition or result to which all paths from a block lead, past code that is none of the decision's.
    fn reached(&self, set: &[usize], g: usize, from: BlockIndex, leaves: &HashMap<BlockIndex, usize>) -> Option<Next> {
        let joins =
            |block: BlockIndex| set.iter().any(|g| matches!(self.ends[*g], Some(End::Phi((join, _))) if join == block));
        let mut found: Option<Next> = None;
        let (mut work, mut seen) = (vec![from], BTreeSet::new());
        while let Some(block) = work.pop() {
            if !seen.insert(block) {
                continue;
            }
            let next = match self.ends[g] {
                Some(End::Targets([yes, _])) if block == yes => Some(Next::Result(true)),
                Some(End::Targets([_, no])) if block == no => Some(Next::Result(false)),
                // A constant operand contributes its value to the `phi`.
                _ => leaves.get(&block).copied().map(Next::Condition).or_else(|| self.joined(g, block)),
            };
            if let Some(next) = next {
                if found.is_some_and(|found| found != next) {
                    return None;
                }
                found = Some(next);
                continue;
            }
            if joins(block) || self.cfg.blocks[block].terminator == Terminator::Return {
                return None;
            }
            let successors = self.cfg.successors(block);
            match self.cfg.blocks[block].taken {
                Some(taken) => work.extend(successors.get(taken)),
                None => work.extend(successors),
            }
        }
        found
    }

    fn construct(&self, set: &[usize]) -> &'static str {
        let root = set.iter().find(|g| !self.parents.contains_key(g));
        match root.and_then(|g| self.ends[*g].as_ref()) {
            Some(End::Targets(targets)) => decisions::construct(self.cfg, *targets),
            Some(End::Phi((join, phi))) if self.cfg.blocks[*join].condition_phi == Some(*phi) => {
                let decided = |l: &&Loop| l.condition == Some(*join) || l.guard.is_some_and(|skip| skip.block == *join);
                self.loops.iter().find(decided).map_or("value", |l| l.construct)
            }
            _ => "value",
        }
    }
}
