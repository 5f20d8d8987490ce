//! Matches short-circuit formulas with the CFG: which block evaluates which operand, and which edges a changed
//! formula needs.
//!
//! The edges of a formula are computed as clang emits them and compared, one by one, with those of the IR; the formula
//! is matched only if every edge agrees.

use std::collections::{BTreeMap, HashMap};

use kassay_ir::cfg::dominance::Dominance;
use kassay_ir::cfg::graph::{Cfg, Incoming, InstKind};
use kassay_ir::cfg::indices::{BlockIndex, FunctionIndex};
use kassay_ir::cfg::short_circuits::{self, Group, ShortCircuits, is_constant_operand, past_constants};
use kassay_ir::instrument::mutants::EdgeChange;
use kassay_ir::llvm::DebugLocation;

use super::formula::Formula;

/// Where the evaluation of an operand leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Exit {
    /// The value of the formula is known.
    Outcome(bool),
    /// A leaf is evaluated next.
    Leaf(usize),
}

/// A predicate on the locations of a short-circuit's branches: whether it may be the one searched for.
type LocationTest<'a> = &'a dyn Fn(&[DebugLocation]) -> bool;

/// A formula matched with the CFG of a function.
#[derive(Debug, Clone)]
pub struct Circuit {
    /// The blocks whose branches test each leaf; none for the last operand of a value, several for a ternary.
    pub leaves: Vec<Vec<BlockIndex>>,
    /// The boolean `phi` that holds its value, if it is a value or a loop condition.
    pub phi: Option<(BlockIndex, usize)>,
    formula: Formula,
    targets: HashMap<Exit, BlockIndex>,
}

/// The short-circuits of a function that are not yet matched with a formula.
pub struct UnmatchedCircuits<'a> {
    cfg: &'a Cfg,
    dominance: &'a Dominance,
    groups: Vec<Group>,
}

impl<'a> UnmatchedCircuits<'a> {
    /// Finds the short-circuits of a function.
    pub fn of(cfg: &'a Cfg, dominance: &'a Dominance) -> UnmatchedCircuits<'a> {
        UnmatchedCircuits { cfg, dominance, groups: ShortCircuits::find(cfg, dominance).groups }
    }

    /// Matches `formula` with the first short-circuit that has its edges and its location, and removes that
    /// short-circuit. `is_root`: whether a location is that of the outermost operator, where clang puts the last
    /// branch, except with a `!` around the entire formula or a constant last operand; then the branch is at least
    /// within the condition, as `is_inside` decides.
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

    /// Returns the unmatched short-circuits, each with the formula derived from its edges (negations inside operands
    /// are not visible in edges).
    pub fn rest(&self) -> Vec<Circuit> {
        self.groups.iter().filter_map(|group| Circuit::derived(self.cfg, self.dominance, group)).collect()
    }
}

impl Circuit {
    /// Returns the formula that the circuit computes.
    pub fn formula(&self) -> &Formula {
        &self.formula
    }

    fn matched(cfg: &Cfg, dominance: &Dominance, group: &Group, formula: &Formula) -> Option<Circuit> {
        let mut leaves = leaves(cfg, group);
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
            // For `&&`, `false` comes directly from the left operand.
            if !matches!(formula, Formula::Pair { is_and, .. } if *is_and != value) {
                return None;
            }
            targets.insert(Exit::Outcome(value), phi.0);
            targets.insert(Exit::Outcome(!value), phi.0);
            // The last of them: blocks of earlier operands dominate the right operand too.
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

    /// Checks every edge against the formula, and records from the edges where leaves begin and outcomes lead.
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

    /// Records where the opposite value of a constant operand would lead, which may not be the target of any leaf's
    /// edge (`a && 0`).
    fn learn_from_constants(&mut self, cfg: &Cfg) {
        let known: Vec<(bool, Exit)> = constants(&self.formula);
        let [(value, other)] = known[..] else { return };
        let targets = self.leaves.iter().flatten().flat_map(|b| cfg.successors(*b));
        let block = targets
            .into_iter()
            .find(|t| is_constant_operand(cfg, *t) && cfg.blocks[*t].taken == Some(usize::from(!value)));
        if let Some(block) = block {
            self.targets.entry(other).or_insert(cfg.successors(block)[usize::from(value)]);
        }
    }

    /// Derives the formula from the edges, for input without a syntax tree.
    fn derived(cfg: &Cfg, dominance: &Dominance, group: &Group) -> Option<Circuit> {
        let leaves = leaves(cfg, group);
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
                // clang places the first arm directly after the condition.
                reader.of(0, leaves.len(), ends[0], ends[1])?
            }
        };
        Circuit::matched(cfg, dominance, group, &numbered(&formula, &mut 0))
    }

    /// Returns the edges that make the circuit compute `formula`. Operands that are no longer needed are not evaluated,
    /// except for the first one, which is evaluated before the decision starts to branch.
    ///
    /// `None` if that is impossible, because the value of the last operand is not available to a branch.
    pub fn rewired(&self, cfg: &Cfg, function: FunctionIndex, formula: &Formula) -> Option<Vec<EdgeChange>> {
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

/// Most leaves of a formula that is derived without a syntax tree.
const MAX_LEAVES: usize = 24;

/// Returns the leaves of a group, those that clang's labels show to be arms of one ternary merged.
fn leaves(cfg: &Cfg, group: &Group) -> Vec<Vec<BlockIndex>> {
    short_circuits::merge_arms(cfg, &group.leaves, |b| short_circuits::is_arm(cfg, b))
}

/// Returns whether a group's `phi` takes `false` from its branches, as that of `&&` does.
fn is_false_at(cfg: &Cfg, group: &Group) -> bool {
    let Some((block, instruction)) = group.phi else { return false };
    let InstKind::BoolPhi(incoming) = &cfg.blocks[block].instructions[instruction].kind else { return false };
    incoming.iter().any(|(from, v)| group.leaves.contains(from) && *v == Incoming::Constant(false))
}

/// Numbers the operators in pre-order: outermost first, left before right.
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

/// Derives a formula from edges.
struct FormulaReader<'a> {
    cfg: &'a Cfg,
    dominance: &'a Dominance,
    leaves: &'a [Vec<BlockIndex>],
}

impl FormulaReader<'_> {
    /// Returns the formula of the leaves from `low` (inclusive) to `high` (exclusive) whose true exit is `yes` and
    /// whose false exit is `no`.
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

    /// Returns where the evaluation of a leaf begins: the nearest dominator among the targets of the leaves from
    /// `low` on.
    fn begin(&self, low: usize, leaf: usize) -> Option<BlockIndex> {
        let targets = self.leaves[low..leaf].iter().flatten().flat_map(|b| self.cfg.successors(*b));
        targets.filter(|t| self.leaves[leaf].iter().all(|b| self.dominance.dominates(*t, *b))).max()
    }
}

/// Returns for each leaf where it leads when it is true and when it is false.
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

/// Returns the constant operands of a formula, each with the exit that its opposite would take.
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

/// Returns where the evaluation of a formula begins.
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
