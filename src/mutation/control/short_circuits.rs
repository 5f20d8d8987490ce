//! Short-circuit formulas wired into the CFG: which block evaluates which operand, and which edges a changed formula
//! needs.
//!
//! The wiring of a formula is computed as clang does it and compared, edge by edge, with what stands in the IR; only where
//! every edge agrees is the formula taken for found.

use std::collections::{BTreeMap, HashMap};

use super::formula::Formula;
use crate::cfg::dominance::Dominance;
use crate::cfg::graph::{BlockIndex, Cfg, Incoming, InstKind};
use crate::cfg::short_circuits::{Group, ShortCircuits};
use crate::instrument::mutants::EdgeChange;
use crate::kernel::ir::DebugLocation;

/// Where a way through a formula leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Exit {
    /// The formula is known to be so.
    Outcome(bool),
    /// To the evaluation of a leaf.
    Leaf(usize),
}

/// Whether a short-circuit with its branches at these places may be the one looked for.
type LocationTest<'a> = &'a dyn Fn(&[DebugLocation]) -> bool;

/// A formula found in a function.
#[derive(Debug, Clone)]
pub struct Circuit {
    /// The blocks whose branches test each leaf; none for the last operand of a value, several for a ternary.
    pub leaves: Vec<Vec<BlockIndex>>,
    /// The boolean `phi` that holds its value, for a value or a loop condition.
    pub phi: Option<(BlockIndex, usize)>,
    formula: Formula,
    targets: HashMap<Exit, BlockIndex>,
}

/// The short-circuits of a function that formulas have not yet been found for.
pub struct UnmatchedCircuits<'a> {
    cfg: &'a Cfg,
    dominance: &'a Dominance,
    groups: Vec<Group>,
}

impl<'a> UnmatchedCircuits<'a> {
    pub fn of(cfg: &'a Cfg, dominance: &'a Dominance) -> UnmatchedCircuits<'a> {
        UnmatchedCircuits { cfg, dominance, groups: ShortCircuits::find(cfg, dominance).groups }
    }

    /// The first short-circuit that is wired like `formula` and stands where the source has it; it is not found again.
    /// `is_root`: whether a place is that of the outermost operator, where clang puts the last branch but for a `!` around
    /// the whole or a constant last operand; then it is within the whole, as `is_inside` says.
    pub fn take(
        &mut self,
        formula: &Formula,
        is_value: bool,
        is_root: &dyn Fn(&DebugLocation) -> bool,
        is_inside: &dyn Fn(&DebugLocation) -> bool,
    ) -> Option<Circuit> {
        let places = |group: &Group| -> Vec<DebugLocation> {
            let place = |b: &BlockIndex| self.cfg.blocks[*b].instructions.last()?.location.clone();
            group.leaves.iter().filter_map(place).collect()
        };
        let passes: [LocationTest<'_>; 3] =
            [&|places| places.last().is_some_and(is_root), &|places| places.iter().any(is_root), &|places| {
                !places.is_empty() && places.iter().all(is_inside)
            }];
        let (position, circuit) = passes.iter().find_map(|pass| {
            self.groups.iter().enumerate().find_map(|(i, group)| {
                let here = group.phi.is_some() == is_value && pass(&places(group));
                Some((i, Circuit::matched(self.cfg, self.dominance, group, formula).filter(|_| here)?))
            })
        })?;
        self.groups.remove(position);
        Some(circuit)
    }

    /// The short-circuits that are left, each with the formula that its edges show (negations inside operands do not
    /// show).
    pub fn rest(&self) -> Vec<Circuit> {
        self.groups.iter().filter_map(|group| Circuit::derived(self.cfg, self.dominance, group)).collect()
    }
}

impl Circuit {
    pub fn formula(&self) -> &Formula {
        &self.formula
    }

    fn matched(cfg: &Cfg, dominance: &Dominance, group: &Group, formula: &Formula) -> Option<Circuit> {
        let mut leaves = merge_arms(cfg, &group.leaves);
        let mut targets = HashMap::new();
        if let Some(phi) = group.phi {
            leaves.push(Vec::new());
            let InstKind::BoolPhi(incoming) = &cfg.blocks[phi.0].instructions[phi.1].kind else { return None };
            let constants = |from: &BlockIndex| group.leaves.contains(from);
            let (from, _) = incoming.iter().find(|(from, _)| !constants(from))?;
            let value = incoming.iter().find_map(|(from, v)| match v {
                Incoming::Constant(value) if constants(from) => Some(*value),
                _ => None,
            })?;
            // `false` comes straight from the left operand of `&&`.
            if !matches!(formula, Formula::Pair { is_and, .. } if *is_and != value) {
                return None;
            }
            targets.insert(Exit::Outcome(value), phi.0);
            targets.insert(Exit::Outcome(!value), phi.0);
            // The nearest of them: earlier operands' blocks are on the way there too.
            let successors = group.leaves.iter().flat_map(|b| cfg.successors(*b));
            let right = successors.filter(|t| *t != phi.0 && dominance.dominates(*t, *from)).max()?;
            targets.insert(Exit::Leaf(leaves.len() - 1), right);
        }
        if formula.leaves() != (0..leaves.len()).collect::<Vec<_>>() {
            return None;
        }
        let circuit = Circuit { leaves, phi: group.phi, formula: formula.clone(), targets };
        circuit.with_checked_edges(cfg, dominance)
    }

    /// Checks every edge against the formula, and learns from the edges where leaves begin and outcomes lead.
    fn with_checked_edges(mut self, cfg: &Cfg, dominance: &Dominance) -> Option<Circuit> {
        let wires = wires(&self.formula);
        for (leaf, blocks) in self.leaves.iter().enumerate() {
            let (yes, no) = wires.get(&leaf)?;
            for block in blocks {
                let successors = cfg.successors(*block);
                for (exit, target) in [(yes, successors[0]), (no, successors[1])] {
                    let target = past_constants(cfg, target);
                    if *self.targets.entry(*exit).or_insert(target) != target {
                        return None;
                    }
                }
            }
        }
        self.learn_from_constants(cfg);
        let target = |exit| self.targets.get(&exit).copied();
        let starts_before = |leaf: usize| {
            target(Exit::Leaf(leaf)).is_some_and(|t| self.leaves[leaf].iter().all(|b| dominance.dominates(t, *b)))
        };
        let is_distinct = self.phi.is_some()
            || target(Exit::Outcome(true)).is_some() && target(Exit::Outcome(true)) != target(Exit::Outcome(false));
        (is_distinct && (1..self.leaves.len()).all(starts_before)).then_some(self)
    }

    /// Where the other outcome of an operand that is constant leads: no leaf's edge may show it (`a && 0`).
    fn learn_from_constants(&mut self, cfg: &Cfg) {
        let known: Vec<(bool, Exit)> = constants(&self.formula);
        let [(value, other)] = known[..] else { return };
        let targets = self.leaves.iter().flatten().flat_map(|b| cfg.successors(*b));
        let block =
            targets.into_iter().find(|t| is_constant(cfg, *t) && cfg.blocks[*t].taken == Some(usize::from(!value)));
        if let Some(block) = block {
            self.targets.entry(other).or_insert(cfg.successors(block)[usize::from(value)]);
        }
    }

    /// The formula that the edges show, for input without a syntax tree.
    fn derived(cfg: &Cfg, dominance: &Dominance, group: &Group) -> Option<Circuit> {
        let leaves = merge_arms(cfg, &group.leaves);
        let reader = FormulaReader { cfg, dominance, leaves: &leaves };
        let formula = match group.phi {
            Some((join, _)) => {
                let targets = cfg.successors(*group.leaves.last()?);
                let right = targets.into_iter().find(|t| *t != join)?;
                let operand = Box::new(Formula::Leaf(leaves.len()));
                let pair = |left, is_and| Formula::Pair { operator: 0, is_and, left: Box::new(left), right: operand };
                match reader.of(0, leaves.len(), right, join) {
                    Some(left) if is_false_at(cfg, group) => pair(left, true),
                    _ => pair(reader.of(0, leaves.len(), join, right)?, false),
                }
            }
            None => {
                if !(2..=MAX_LEAVES).contains(&leaves.len()) {
                    return None;
                }
                let mut ends = cfg.successors(*group.leaves.last()?);
                ends.sort_unstable();
                // clang lays the first arm out right behind the condition.
                reader.of(0, leaves.len(), ends[0], ends[1])?
            }
        };
        Circuit::matched(cfg, dominance, group, &numbered(&formula, &mut 0))
    }

    /// The edges that make the circuit compute `formula`. Operands that are no longer needed are not evaluated, but for
    /// the first one, which is evaluated before the decision begins to branch.
    ///
    /// `None` where it cannot: the value of the last operand is not known to a branch.
    pub fn rewired(&self, cfg: &Cfg, function: usize, formula: &Formula) -> Option<Vec<EdgeChange>> {
        let mut wires = wires(formula);
        let first = start(formula, Exit::Outcome(true), Exit::Outcome(false));
        if first != Exit::Leaf(0) {
            wires.insert(0, (first, first));
        }
        if self.phi.is_some() {
            let last = self.leaves.len() - 1;
            let plain = (Exit::Outcome(true), Exit::Outcome(false));
            if wires.remove(&last).is_some_and(|wire| wire != plain) {
                return None;
            }
        }
        let before = self::wires(&self.formula);
        let mut edges = Vec::new();
        for (leaf, (yes, no)) in wires {
            for block in self.leaves.get(leaf)? {
                let (was_yes, was_no) = before.get(&leaf)?;
                for (successor, exit, was) in [(0, yes, *was_yes), (1, no, *was_no)] {
                    if exit == was {
                        continue;
                    }
                    let to = *self.targets.get(&exit)?;
                    let phi = match exit {
                        Exit::Outcome(value) => self.phi.map(|_| value),
                        Exit::Leaf(_) => None,
                    };
                    debug_assert!(successor < cfg.successors(*block).len());
                    edges.push(EdgeChange { function, block: *block, successor, to, phi });
                }
            }
        }
        Some(edges)
    }
}

/// Formulas over more leaves are not looked for without a syntax tree.
const MAX_LEAVES: usize = 24;

/// Whether a group's `phi` takes `false` from its branches, as that of `&&` does.
fn is_false_at(cfg: &Cfg, group: &Group) -> bool {
    let Some((block, instruction)) = group.phi else { return false };
    let InstKind::BoolPhi(incoming) = &cfg.blocks[block].instructions[instruction].kind else { return false };
    incoming.iter().any(|(from, v)| group.leaves.contains(from) && *v == Incoming::Constant(false))
}

/// Operators numbered outermost first, left before right.
fn numbered(formula: &Formula, next: &mut usize) -> Formula {
    match formula {
        Formula::Not(inner) => Formula::Not(Box::new(numbered(inner, next))),
        Formula::Pair { is_and, left, right, .. } => {
            let operator = *next;
            *next += 1;
            let left = Box::new(numbered(left, next));
            Formula::Pair { operator, is_and: *is_and, left, right: Box::new(numbered(right, next)) }
        }
        _ => formula.clone(),
    }
}

/// Reads a formula off the edges.
struct FormulaReader<'a> {
    cfg: &'a Cfg,
    dominance: &'a Dominance,
    leaves: &'a [Vec<BlockIndex>],
}

impl FormulaReader<'_> {
    /// The formula of the leaves from `low` to before `high` that leads to `yes` and `no`.
    fn of(&self, low: usize, high: usize, yes: BlockIndex, no: BlockIndex) -> Option<Formula> {
        if high - low == 1 {
            let successors = self.cfg.successors(self.leaves[low][0]);
            let to: Vec<BlockIndex> = successors.into_iter().map(|t| past_constants(self.cfg, t)).collect();
            return match to[..] {
                [a, b] if (a, b) == (yes, no) => Some(Formula::Leaf(low)),
                [a, b] if (a, b) == (no, yes) => Some(Formula::Not(Box::new(Formula::Leaf(low)))),
                _ => None,
            };
        }
        (low + 1..high).rev().find_map(|split| {
            let begin = self.begin(low, split)?;
            let right = self.of(split, high, yes, no)?;
            let pair = |left, is_and| Formula::Pair {
                operator: 0,
                is_and,
                left: Box::new(left),
                right: Box::new(right.clone()),
            };
            let and = self.of(low, split, begin, no).map(|left| pair(left, true));
            and.or_else(|| self.of(low, split, yes, begin).map(|left| pair(left, false)))
        })
    }

    /// Where the evaluation of a leaf begins: the nearest block before it that leaves from `low` on lead to.
    fn begin(&self, low: usize, leaf: usize) -> Option<BlockIndex> {
        let targets = self.leaves[low..leaf].iter().flatten().flat_map(|b| self.cfg.successors(*b));
        targets.filter(|t| self.leaves[leaf].iter().all(|b| self.dominance.dominates(*t, *b))).max()
    }
}

/// For each leaf, where it leads when it is true and when false.
fn wires(formula: &Formula) -> BTreeMap<usize, (Exit, Exit)> {
    let mut found = BTreeMap::new();
    wire(formula, Exit::Outcome(true), Exit::Outcome(false), &mut found);
    found
}

fn wire(formula: &Formula, yes: Exit, no: Exit, found: &mut BTreeMap<usize, (Exit, Exit)>) {
    match formula {
        Formula::Constant(_) => {}
        Formula::Leaf(leaf) => {
            found.insert(*leaf, (yes, no));
        }
        Formula::Not(inner) => wire(inner, no, yes, found),
        Formula::Pair { is_and, left, right, .. } => {
            let next = start(right, yes, no);
            if *is_and {
                wire(left, next, no, found)
            } else {
                wire(left, yes, next, found)
            }
            wire(right, yes, no, found);
        }
    }
}

/// The constant operands of a formula, each with where its opposite would lead.
fn constants(formula: &Formula) -> Vec<(bool, Exit)> {
    fn collect(formula: &Formula, yes: Exit, no: Exit, found: &mut Vec<(bool, Exit)>) {
        match formula {
            Formula::Constant(value) => found.push((*value, if *value { no } else { yes })),
            Formula::Leaf(_) => {}
            Formula::Not(inner) => collect(inner, no, yes, found),
            Formula::Pair { is_and, left, right, .. } => {
                let next = start(right, yes, no);
                let (left_yes, left_no) = if *is_and { (next, no) } else { (yes, next) };
                collect(left, left_yes, left_no, found);
                collect(right, yes, no, found);
            }
        }
    }
    let mut found = Vec::new();
    collect(formula, Exit::Outcome(true), Exit::Outcome(false), &mut found);
    found
}

/// Where the evaluation of a formula begins.
fn start(formula: &Formula, yes: Exit, no: Exit) -> Exit {
    match formula {
        Formula::Constant(value) => {
            if *value {
                yes
            } else {
                no
            }
        }
        Formula::Leaf(leaf) => Exit::Leaf(*leaf),
        Formula::Not(inner) => start(inner, no, yes),
        Formula::Pair { is_and: true, left, right, .. } => start(left, start(right, yes, no), no),
        Formula::Pair { is_and: false, left, right, .. } => start(left, yes, start(right, yes, no)),
    }
}

/// Joins the leaves that are the arms of a ternary operand.
fn merge_arms(cfg: &Cfg, leaves: &[BlockIndex]) -> Vec<Vec<BlockIndex>> {
    let is_arm = |b: BlockIndex| cfg.blocks[b].label.starts_with("cond.");
    let mut merged: Vec<Vec<BlockIndex>> = Vec::new();
    for &leaf in leaves {
        let same = |arms: &&mut Vec<BlockIndex>| {
            is_arm(arms[0]) && is_arm(leaf) && cfg.successors(arms[0]) == cfg.successors(leaf)
        };
        match merged.iter_mut().find(same) {
            Some(arms) => arms.push(leaf),
            None => merged.push(vec![leaf]),
        }
    }
    merged
}

/// Where control goes on from `block` past a constant operand, such as the `0` of `a && 0`.
fn past_constants(cfg: &Cfg, block: BlockIndex) -> BlockIndex {
    match cfg.blocks[block].taken {
        Some(taken) if is_constant(cfg, block) => cfg.successors(block)[taken],
        _ => block,
    }
}

/// Whether a block tests a constant operand.
fn is_constant(cfg: &Cfg, block: BlockIndex) -> bool {
    let is_operand = cfg.is_labelled(block, "land.lhs.true") || cfg.is_labelled(block, "lor.lhs.false");
    is_operand && cfg.blocks[block].taken.is_some()
}
