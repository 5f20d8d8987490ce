//! Groups the conditional branches that belong to one short-circuit decision.
//!
//! In the raw canonical form, two conditional branches belong to one short-circuit decision exactly if they share a
//! target: clang gives every construct its own blocks, and `a && b` sends both operands to the same one. So branches
//! are grouped by shared targets. A group whose targets join in a boolean `phi` with constants is a short-circuit in a
//! value or a loop condition; its last operand is the `phi`'s other incoming value. On optimised input the same
//! grouping yields whatever structure the IR still has.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use petgraph::unionfind::UnionFind;

use super::dominance::Dominance;
use super::graph::{Cfg, Incoming, InstKind, Terminator};
use super::indices::BlockIndex;

/// Conditional branches that share targets.
#[derive(Debug, Clone)]
pub struct Group {
    /// The blocks of the branches, in order.
    pub leaves: Vec<BlockIndex>,
    /// The short-circuit `phi` in which the group ends.
    pub phi: Option<(BlockIndex, usize)>,
}

/// The groups of a function.
#[derive(Debug, Default)]
pub struct ShortCircuits {
    /// In the order of their first blocks.
    pub groups: Vec<Group>,
    /// For each leaf: the position of its group.
    of_leaf: HashMap<BlockIndex, usize>,
    /// For each join block: the position of the first group whose value is complete there.
    of_join: HashMap<BlockIndex, usize>,
}

impl ShortCircuits {
    /// Groups the conditional branches of a function.
    pub fn find(cfg: &Cfg, dominance: &Dominance) -> ShortCircuits {
        let branches: Vec<BlockIndex> = cfg.indices().filter(|b| cfg.reachable[*b] && is_decision(cfg, *b)).collect();
        // Only branches with a common target can be operands of one decision.
        let mut by_target: HashMap<BlockIndex, Vec<(usize, BlockIndex)>> = HashMap::new();
        let mut decisions = UnionFind::new(branches.len());
        let has_labels = cfg.has_labels();
        for (i, &block) in branches.iter().enumerate() {
            for target in forward_successors(cfg, dominance, block) {
                let earlier = by_target.entry(target).or_default();
                for (other, leaf) in earlier.iter() {
                    if has_labels || is_one_decision(cfg, dominance, *leaf, block) {
                        decisions.union(*other, i);
                    }
                }
                // With labels, a common target suffices: one branch represents all.
                if !has_labels || earlier.is_empty() {
                    earlier.push((i, block));
                }
            }
        }
        let mut by_decision: BTreeMap<usize, Vec<BlockIndex>> = BTreeMap::new();
        for (i, &block) in branches.iter().enumerate() {
            by_decision.entry(decisions.find(i)).or_default().push(block);
        }
        let mut phis: HashMap<BlockIndex, Vec<(usize, Vec<BlockIndex>)>> = HashMap::new();
        for ((block, phi), constants) in short_circuit_phis(cfg) {
            phis.entry(block).or_default().push((phi, constants));
        }
        let mut groups: Vec<Group> = by_decision.into_values().map(|leaves| Group { leaves, phi: None }).collect();
        for group in &mut groups {
            let targets: BTreeSet<BlockIndex> = group.leaves.iter().flat_map(|b| cfg.successors(*b)).collect();
            let mut joins = targets.iter().filter_map(|t| Some((*t, phis.get(t)?)));
            let is_leaf = |c: &BlockIndex| group.leaves.binary_search(c).is_ok();
            group.phi = joins.find_map(|(block, candidates)| {
                candidates.iter().find(|(_, constants)| constants.iter().any(is_leaf)).map(|(phi, _)| (block, *phi))
            });
        }
        groups.sort_by_key(|g| g.leaves[0]);
        let mut found = ShortCircuits { groups, ..ShortCircuits::default() };
        for (g, group) in found.groups.iter().enumerate() {
            found.of_leaf.extend(group.leaves.iter().map(|leaf| (*leaf, g)));
            if let Some((join, _)) = group.phi {
                found.of_join.entry(join).or_insert(g);
            }
        }
        found
    }

    /// The position of the group with the branch of `block`.
    pub fn group_of(&self, block: BlockIndex) -> Option<usize> {
        self.of_leaf.get(&block).copied()
    }

    /// Returns whether the branch of `block` is an operand of a short-circuit in a value or loop condition.
    pub fn is_leaf(&self, block: BlockIndex) -> bool {
        self.join_of(block).is_some()
    }

    /// The block in which the short-circuit value with the operand `block` is complete.
    pub fn join_of(&self, block: BlockIndex) -> Option<BlockIndex> {
        self.groups[*self.of_leaf.get(&block)?].phi.map(|p| p.0)
    }

    /// The block of the first operand of the short-circuit value that is complete in `join`.
    pub fn start_of(&self, join: BlockIndex) -> Option<BlockIndex> {
        Some(self.groups[*self.of_join.get(&join)?].leaves[0])
    }
}

/// Returns whether a block's branch may be a decision of its own. A test for a range of a `switch` belongs
/// to the switch, the guard of a loop to the loop; what a library decides is no decision of the source.
fn is_decision(cfg: &Cfg, block: BlockIndex) -> bool {
    cfg.blocks[block].terminator == Terminator::Branch
        && cfg.blocks[block].case_range.is_none()
        && !cfg.is_guard(block)
        && !cfg.is_of_library(block)
}

/// Boolean `phi`s that join a short-circuit: constants from branching blocks, and one value from another block.
fn short_circuit_phis(cfg: &Cfg) -> Vec<((BlockIndex, usize), Vec<BlockIndex>)> {
    let mut found = Vec::new();
    for (b, block) in BlockIndex::enumerate(&cfg.blocks).filter(|(b, _)| cfg.reachable[*b]) {
        for (i, inst) in block.instructions.iter().enumerate() {
            let InstKind::BoolPhi(incoming) = &inst.kind else { continue };
            let constants: Vec<BlockIndex> = incoming
                .iter()
                .filter(|(from, v)| {
                    matches!(v, Incoming::Constant(_)) && cfg.blocks[*from].terminator == Terminator::Branch
                })
                .map(|(from, _)| *from)
                .collect();
            // The remaining value is the last operand, which may itself be a constant.
            if !constants.is_empty() && constants.len() + 1 == incoming.len() {
                found.push(((b, i), constants));
            }
        }
    }
    found
}

/// Returns whether all incoming values of a boolean `phi` are constants.
pub fn is_constant_phi(cfg: &Cfg, (block, instruction): (BlockIndex, usize)) -> bool {
    match &cfg.blocks[block].instructions[instruction].kind {
        InstKind::BoolPhi(incoming) => incoming.iter().all(|(_, value)| matches!(value, Incoming::Constant(_))),
        _ => false,
    }
}

/// The successors of a block without those along back edges.
fn forward_successors(cfg: &Cfg, dominance: &Dominance, block: BlockIndex) -> Vec<BlockIndex> {
    let mut targets = cfg.successors(block);
    targets.retain(|t| !dominance.dominates(*t, block));
    targets.dedup();
    targets
}

/// Returns whether the branch of `a` leads to the operand that `b` ends: `b` is reached only through a forward
/// successor of `a` or, for an operand to which both `&&` and `||` lead, is one itself.
pub fn leads(cfg: &Cfg, dominance: &Dominance, a: BlockIndex, b: BlockIndex) -> bool {
    forward_successors(cfg, dominance, a).iter().any(|t| dominance.dominates(*t, b))
}

/// Returns whether the branches of `a` and `b` (`a` earlier in the function), which share a target, are operands of one
/// short-circuit, judged without labels. The input may be optimised, where nested constructs share targets too; but an
/// operand does not store anything.
fn is_one_decision(cfg: &Cfg, dominance: &Dominance, a: BlockIndex, b: BlockIndex) -> bool {
    let stores = |block: BlockIndex| cfg.blocks[block].instructions.iter().any(|i| i.kind == InstKind::Store);
    // The arms of a ternary share both targets: `if (c ? x : y)`.
    let are_arms = || cfg.successors(a) == cfg.successors(b) && !stores(a);
    !stores(b) && (leads(cfg, dominance, a, b) || are_arms())
}

/// Returns whether clang's label says that `block` ends an arm of a ternary.
pub fn is_arm(cfg: &Cfg, block: BlockIndex) -> bool {
    cfg.blocks[block].label.starts_with("cond.")
}

/// Merges the leaves that are arms of one ternary operand: those with the same targets, as far as `is_arm` admits.
pub fn merge_arms(cfg: &Cfg, leaves: &[BlockIndex], is_arm: impl Fn(BlockIndex) -> bool) -> Vec<Vec<BlockIndex>> {
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

/// Returns whether `block` tests a constant operand of `&&` or `||`, such as the `0` of `a && 0`.
pub fn is_constant_operand(cfg: &Cfg, block: BlockIndex) -> bool {
    cfg.blocks[block].taken.is_some()
        && (cfg.is_labelled(block, "land.lhs.true") || cfg.is_labelled(block, "lor.lhs.false"))
}

/// Returns the block that control reaches from `block`, skipping a constant operand.
pub fn past_constants(cfg: &Cfg, block: BlockIndex) -> BlockIndex {
    match cfg.blocks[block].taken {
        Some(taken) if is_constant_operand(cfg, block) => cfg.successors(block)[taken],
        _ => block,
    }
}
