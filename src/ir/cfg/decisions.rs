//! Finds decisions and their conditions.
//!
//! `short_circuits` groups the branches; here each group becomes a decision with its outcomes and operands.

use super::dominance::Dominance;
use super::graph::{Cfg, Edge, Incoming, InstKind, Terminator};
use super::indices::BlockIndex;
use super::loops::Loop;
use super::short_circuits::{self, ShortCircuits, is_constant_operand, is_constant_phi, leads, past_constants};
use crate::llvm::DebugLocation;

/// An event in an execution that shows that an outcome was taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Event {
    /// Control took this edge.
    Edge(Edge),
    /// Control left `block` while the condition of the `select` at position `instruction` in it was `truth`.
    Select {
        /// The block that control leaves.
        block: BlockIndex,
        /// Position of the `select` in it.
        instruction: usize,
        /// The value of its condition.
        truth: bool,
    },
    /// Control left `block` while the value that the boolean `phi` (block and position) receives from it was `truth`.
    PhiOperand {
        /// The predecessor that control leaves.
        block: BlockIndex,
        /// Block and position of the `phi`.
        phi: (BlockIndex, usize),
        /// The value that it receives.
        truth: bool,
    },
}

/// One outcome of a decision or condition: covered by any of its events.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// Its name in results, unique within the decision or condition: `true`, `false`, `case 1`, `default`.
    pub label: String,
    /// What shows it; any of them suffices.
    pub events: Vec<Event>,
}

/// A branch point of the source with its outcomes.
#[derive(Debug, Clone)]
pub struct Decision {
    /// `if`, `?:`, `switch`, or `branch` if the IR does not show which.
    pub construct: &'static str,
    /// Where its condition begins in the source; `None` without debug information.
    pub location: Option<DebugLocation>,
    /// The block in which its evaluation begins; for a `select` also the instruction's
    /// position, otherwise `usize::MAX`.
    pub place: (BlockIndex, usize),
    /// In the order of results.
    pub outcomes: Vec<Outcome>,
}

/// An operand of a short-circuit decision.
#[derive(Debug, Clone)]
pub struct Condition {
    /// Where it begins in the source; `None` without debug information.
    pub location: Option<DebugLocation>,
    /// As in [`Decision::place`].
    pub place: (BlockIndex, usize),
    /// `true` and `false`.
    pub outcomes: Vec<Outcome>,
}

/// The decisions and conditions of one function, both in order of place.
pub fn find(
    cfg: &Cfg,
    dominance: &Dominance,
    circuits: &ShortCircuits,
    loops: &[Loop],
    from_spirv: bool,
) -> (Vec<Decision>, Vec<Condition>) {
    let mut decisions = Vec::new();
    let mut conditions = Vec::new();
    // The operands of rotated loops' conditions, by the loop: those of the guards, and those after the bodies.
    let (mut copies, mut originals) = (Vec::new(), Vec::new());
    for group in &circuits.groups {
        let is_loop = |b: &BlockIndex| loops.iter().any(|l| l.condition == Some(*b));
        let leaves: Vec<BlockIndex> = group.leaves.iter().copied().filter(|b| !is_loop(b)).collect();
        if leaves.is_empty() {
            continue;
        }
        if let Some(phi) = group.phi {
            let operands = value_conditions(cfg, &leaves, phi);
            let decides = |block: BlockIndex| block == phi.0 && cfg.blocks[block].condition_phi == Some(phi.1);
            if let Some(rotated) = loops.iter().position(|l| l.guard.is_some_and(|skip| decides(skip.block))) {
                copies.push((rotated, operands));
                continue;
            }
            if let Some(rotated) = loops.iter().position(|l| l.guard.is_some() && l.condition.is_some_and(decides)) {
                originals.push((rotated, operands));
                continue;
            }
            // If the last operand is constant, a single other operand is a decision of its own.
            if operands.len() > 1 || !is_constant_phi(cfg, phi) {
                conditions.extend(operands);
            }
            continue;
        }
        if is_compiler_generated(cfg, &leaves) {
            continue;
        }
        match to_decision(cfg, dominance, &leaves) {
            Some(decision) => {
                let chain = in_chain(cfg, dominance, &leaves);
                if let Some([yes, no]) = ends(cfg, dominance, &leaves).filter(|_| !chain.is_empty()) {
                    conditions.extend(operands(cfg, &chain, (yes, no)));
                }
                decisions.push(decision);
            }
            // Optimised code may share targets in ways that no source decision does: each branch then
            // stands for itself.
            None => decisions.extend(leaves.iter().filter_map(|b| to_decision(cfg, dominance, &[*b]))),
        }
    }
    conditions.extend(joined_copies(copies, originals));
    for (b, block) in BlockIndex::enumerate(&cfg.blocks).filter(|(b, _)| cfg.reachable[*b]) {
        decisions.extend(switch(cfg, b));
        for (i, inst) in block.instructions.iter().enumerate() {
            if let InstKind::Select { as_number, condition_location } = &inst.kind
                && !(from_spirv && *as_number)
                && !inst.is_of_library
            {
                decisions.push(select(b, i, condition_location.clone()));
            }
        }
    }
    decisions.sort_by_key(|d| d.place);
    conditions.sort_by_key(|c| c.place);
    (decisions, conditions)
}

/// Joins each operand of a rotated loop's guard with the operand after the loop's body that it is a copy of: one place
/// in the source, whose outcomes both show. Where their numbers differ, an optimiser has simplified one of the two, and
/// each operand stands for itself.
fn joined_copies(copies: Vec<(usize, Vec<Condition>)>, mut originals: Vec<(usize, Vec<Condition>)>) -> Vec<Condition> {
    let mut own = Vec::new();
    for (rotated, guard) in copies {
        match originals.iter_mut().find(|(of, all)| *of == rotated && all.len() == guard.len()) {
            Some((_, all)) => {
                for (condition, copy) in all.iter_mut().zip(guard) {
                    for (outcome, shown) in condition.outcomes.iter_mut().zip(copy.outcomes) {
                        outcome.events.extend(shown.events);
                    }
                }
            }
            None => own.extend(guard),
        }
    }
    own.extend(originals.into_iter().flat_map(|(_, all)| all));
    own
}

/// Returns whether these branches are clang's own, without a counterpart in the source.
fn is_compiler_generated(cfg: &Cfg, leaves: &[BlockIndex]) -> bool {
    let generated_labels =
        ["cmpxchg.store_expected", "cmpxchg.continue", "atomic_cont", "atomic_op", "arrayinit.end", "arrayinit.body"];
    leaves.iter().flat_map(|b| cfg.successors(*b)).any(|t| generated_labels.iter().any(|p| cfg.is_labelled(t, p)))
}

/// The outcomes of a group: its targets other than the next operand, in the function's order.
fn outcome_targets(cfg: &Cfg, dominance: &Dominance, leaves: &[BlockIndex]) -> Vec<BlockIndex> {
    let mut targets: Vec<BlockIndex> = leaves
        .iter()
        .flat_map(|b| cfg.successors(*b).into_iter().map(move |t| (*b, t)))
        .filter(|(b, t)| dominance.dominates(*t, *b) || !leaves.iter().any(|l| *l != *b && dominance.dominates(*t, *l)))
        .flat_map(|(_, t)| if is_constant_operand(cfg, t) { cfg.successors(t) } else { vec![t] })
        .collect();
    targets.sort_unstable();
    targets.dedup();
    targets
}

/// The leaves that lead to another leaf or that another leaf leads to: a chain of `&&` and `||`. The arms of a ternary
/// only share targets and do not count.
fn in_chain(cfg: &Cfg, dominance: &Dominance, leaves: &[BlockIndex]) -> Vec<BlockIndex> {
    let leads = |from: BlockIndex, to: BlockIndex| leads(cfg, dominance, from, to);
    leaves.iter().copied().filter(|a| leaves.iter().any(|b| leads(*a, *b) || leads(*b, *a))).collect()
}

/// The targets of a group for the outcomes `true` and `false`; `None` if it has not two.
pub(super) fn ends(cfg: &Cfg, dominance: &Dominance, leaves: &[BlockIndex]) -> Option<[BlockIndex; 2]> {
    let targets = outcome_targets(cfg, dominance, leaves);
    Some(true_first(cfg, dominance, leaves, targets[..].try_into().ok()?))
}

/// The construct whose condition leads to these targets, if it is true and if it is false.
pub(super) fn construct(cfg: &Cfg, targets: [BlockIndex; 2]) -> &'static str {
    if targets.iter().any(|t| cfg.is_labelled(*t, "if.then") || cfg.is_labelled(*t, "if.else")) {
        "if"
    } else if cfg.is_labelled(targets[0], "cond.true") {
        "?:"
    } else {
        "branch"
    }
}

fn to_decision(cfg: &Cfg, dominance: &Dominance, leaves: &[BlockIndex]) -> Option<Decision> {
    let [first, second] = ends(cfg, dominance, leaves)?;
    let construct = construct(cfg, [first, second]);
    let events = |target: BlockIndex| {
        leaves
            .iter()
            .flat_map(|b| cfg.edges_out(*b))
            .filter(|e| past_constants(cfg, cfg.target(*e)) == target)
            .map(Event::Edge)
            .collect::<Vec<_>>()
    };
    Some(Decision {
        construct,
        location: cfg.blocks[leaves[0]].condition_location.clone(),
        place: (leaves[0], usize::MAX),
        outcomes: vec![
            Outcome { label: "true".into(), events: events(first) },
            Outcome { label: "false".into(), events: events(second) },
        ],
    })
}

/// Puts the target for the outcome `true` of a group first. In clang's order the first arm directly follows the
/// condition, whether or not `!` inverted the branch. Where the producer sorted the blocks anew, clang's label of the
/// arm decides; failing that, the sense of the last branch.
fn true_first(
    cfg: &Cfg,
    dominance: &Dominance,
    leaves: &[BlockIndex],
    [first, second]: [BlockIndex; 2],
) -> [BlockIndex; 2] {
    let is_first_arm = |t: &BlockIndex| cfg.is_labelled(*t, "if.then") || cfg.is_labelled(*t, "cond.true");
    let in_order = if cfg.is_in_source_order {
        true
    } else if let Some(arm) = [first, second].iter().position(is_first_arm) {
        arm == 0
    } else {
        let is_last = |leaf: &&BlockIndex| !leaves.iter().any(|other| leads(cfg, dominance, **leaf, *other));
        leaves.iter().find(is_last).is_none_or(|last| past_constants(cfg, cfg.successors(*last)[0]) != second)
    };
    if in_order { [first, second] } else { [second, first] }
}

/// The operands of a short-circuit in an `if` or ternary; leaves with the same two targets are arms of one operand.
fn operands(cfg: &Cfg, leaves: &[BlockIndex], (yes, no): (BlockIndex, BlockIndex)) -> Vec<Condition> {
    merge_arms(cfg, leaves)
        .into_iter()
        .map(|arms| {
            let targets = cfg.successors(arms[0]);
            let truth = operand_true(cfg, targets[0], targets[1], Some((yes, no)));
            condition(cfg, &arms, targets[truth])
        })
        .collect()
}

/// The operands of a short-circuit in a value or loop condition.
fn value_conditions(cfg: &Cfg, leaves: &[BlockIndex], phi: (BlockIndex, usize)) -> Vec<Condition> {
    let InstKind::BoolPhi(incoming) = &cfg.blocks[phi.0].instructions[phi.1].kind else { return Vec::new() };
    let mut all: Vec<Condition> = merge_arms(cfg, leaves)
        .into_iter()
        .map(|arms| {
            let targets = cfg.successors(arms[0]);
            let constant = incoming.iter().find_map(|(from, v)| match v {
                Incoming::Constant(b) if arms.contains(from) => Some(*b),
                _ => None,
            });
            let truth = match constant {
                // A false operand of `&&` contributes the constant `false`, a true operand of `||` the constant `true`.
                Some(value) => usize::from((targets[0] == phi.0) != value),
                None => operand_true(cfg, targets[0], targets[1], None),
            };
            condition(cfg, &arms, targets[truth])
        })
        .collect();
    for (from, value) in incoming {
        if *value == Incoming::Other {
            let outcome = |truth: bool| Outcome {
                label: truth.to_string(),
                events: vec![Event::PhiOperand { block: *from, phi, truth }],
            };
            let location =
                cfg.blocks[*from].instructions.iter().filter_map(|i| i.location.clone()).find(|l| l.line > 0);
            all.push(Condition {
                location: location.or_else(|| cfg.blocks[phi.0].instructions[phi.1].location.clone()),
                place: (*from, usize::MAX),
                outcomes: vec![outcome(true), outcome(false)],
            });
        }
    }
    all
}

/// Merges the leaves that are arms of one ternary operand. Without labels, leaves with the same targets count as arms.
fn merge_arms(cfg: &Cfg, leaves: &[BlockIndex]) -> Vec<Vec<BlockIndex>> {
    let has_labels = cfg.has_labels();
    short_circuits::merge_arms(cfg, leaves, |b| !has_labels || short_circuits::is_arm(cfg, b))
}

/// The index of the successor that an operand takes when it is true. clang's label of the next operand decides;
/// failing that, an operand that jumps to an outcome of the decision (`||` if to the true one); failing that, the
/// sense of the branch.
fn operand_true(cfg: &Cfg, first: BlockIndex, second: BlockIndex, outcomes: Option<(BlockIndex, BlockIndex)>) -> usize {
    for prefix in ["land.lhs.true", "land.rhs"] {
        if let Some(i) = [first, second].iter().position(|t| cfg.is_labelled(*t, prefix)) {
            return i;
        }
    }
    for prefix in ["lor.lhs.false", "lor.rhs"] {
        if let Some(i) = [first, second].iter().position(|t| cfg.is_labelled(*t, prefix)) {
            return 1 - i;
        }
    }
    match outcomes {
        Some((yes, no)) if first == yes || second == no => 0,
        Some((yes, no)) if second == yes || first == no => 1,
        _ => 0,
    }
}

fn condition(cfg: &Cfg, arms: &[BlockIndex], when_true: BlockIndex) -> Condition {
    let events = |truth: bool| {
        arms.iter()
            .flat_map(|b| cfg.edges_out(*b))
            .filter(|e| (cfg.target(*e) == when_true) == truth)
            .map(Event::Edge)
            .collect::<Vec<_>>()
    };
    Condition {
        location: cfg.blocks[arms[0]].condition_location.clone(),
        place: (arms[0], usize::MAX),
        outcomes: vec![
            Outcome { label: "true".into(), events: events(true) },
            Outcome { label: "false".into(), events: events(false) },
        ],
    }
}

fn switch(cfg: &Cfg, block: BlockIndex) -> Option<Decision> {
    let Terminator::Switch { cases } = &cfg.blocks[block].terminator else { return None };
    if cfg.is_of_library(block) {
        return None;
    }
    let edge = |successor| vec![Event::Edge(Edge { block, successor })];
    let mut outcomes: Vec<Outcome> = cases
        .iter()
        .enumerate()
        .map(|(i, value)| Outcome { label: format!("case {value}"), events: edge(i + 1) })
        .collect();
    // clang tests wide ranges one after the other on the path to the default.
    let mut default = Edge { block, successor: 0 };
    loop {
        let tester = cfg.target(default);
        let Some((first, last)) = cfg.blocks[tester].case_range else { break };
        let within = Event::Edge(Edge { block: tester, successor: 0 });
        outcomes.push(Outcome { label: format!("case {first} ... {last}"), events: vec![within] });
        default = Edge { block: tester, successor: 1 };
    }
    outcomes.push(Outcome { label: "default".into(), events: vec![Event::Edge(default)] });
    let location = cfg.blocks[block].condition_location.clone();
    Some(Decision { construct: "switch", location, place: (block, usize::MAX), outcomes })
}

fn select(block: BlockIndex, instruction: usize, location: Option<DebugLocation>) -> Decision {
    let outcome =
        |truth: bool| Outcome { label: truth.to_string(), events: vec![Event::Select { block, instruction, truth }] };
    Decision { construct: "?:", location, place: (block, instruction), outcomes: vec![outcome(true), outcome(false)] }
}
