//! Which conditional branches belong together.
//!
//! In the raw canonical form, two conditional branches belong to one short-circuit decision exactly if they share a target:
//! clang gives every construct blocks of its own, and `a && b` sends both operands to the same one. So branches are
//! grouped by shared targets. A group whose targets meet in a boolean `phi` with constants is a short-circuit in a value
//! or a loop condition; its last operand is the `phi`'s other incoming value. On optimised input the same grouping shows
//! what the IR still tells.

use super::dominance::Dominance;
use super::graph::{BlockIndex, Cfg, Incoming, InstKind, Terminator};

/// Conditional branches that share targets.
#[derive(Debug, Clone)]
pub struct Group {
    /// The blocks of the branches, in order.
    pub leaves: Vec<BlockIndex>,
    /// The short-circuit `phi` that the group ends in.
    pub phi: Option<(BlockIndex, usize)>,
}

/// The groups of a function.
#[derive(Debug)]
pub struct ShortCircuits {
    pub groups: Vec<Group>,
}

impl ShortCircuits {
    pub fn find(cfg: &Cfg, dominance: &Dominance) -> ShortCircuits {
        let phis = short_circuit_phis(cfg);
        let branches: Vec<BlockIndex> = (0..cfg.len()).filter(|b| cfg.reachable[*b] && is_decision(cfg, *b)).collect();
        let mut groups: Vec<Group> = Vec::new();
        for &block in &branches {
            let mut joined = Group { leaves: vec![block], phi: None };
            let mut others = Vec::new();
            for group in groups {
                if group.leaves.iter().any(|other| one_decision(cfg, dominance, *other, block)) {
                    joined.leaves.extend(group.leaves);
                } else {
                    others.push(group);
                }
            }
            joined.leaves.sort_unstable();
            others.push(joined);
            groups = others;
        }
        for group in &mut groups {
            let targets: Vec<BlockIndex> = group.leaves.iter().flat_map(|b| cfg.successors(*b)).collect();
            group.phi = phis
                .iter()
                .find(|(phi, constants)| targets.contains(&phi.0) && constants.iter().any(|c| group.leaves.contains(c)))
                .map(|(phi, _)| *phi);
        }
        groups.sort_by_key(|g| g.leaves[0]);
        ShortCircuits { groups }
    }

    /// Whether the branch of `block` is an operand of a short-circuit in a value or loop condition.
    pub fn is_leaf(&self, block: BlockIndex) -> bool {
        self.join_of(block).is_some()
    }

    /// The block in which the short-circuit value that `block` is an operand of is complete.
    pub fn join_of(&self, block: BlockIndex) -> Option<BlockIndex> {
        self.groups.iter().find(|g| g.leaves.contains(&block)).and_then(|g| g.phi).map(|p| p.0)
    }

    /// The first operand's block of the short-circuit value that is complete in `join`.
    pub fn start_of(&self, join: BlockIndex) -> Option<BlockIndex> {
        self.groups.iter().find(|g| g.phi.is_some_and(|p| p.0 == join)).map(|g| g.leaves[0])
    }
}

/// Whether the block's branch may be a decision of its own: a test for a range of a `switch` belongs to that.
fn is_decision(cfg: &Cfg, block: BlockIndex) -> bool {
    cfg.blocks[block].terminator == Terminator::Branch && cfg.blocks[block].case_range.is_none()
}

/// Boolean `phi`s that join a short-circuit: constants from branching blocks and one value from another block.
fn short_circuit_phis(cfg: &Cfg) -> Vec<((BlockIndex, usize), Vec<BlockIndex>)> {
    let mut found = Vec::new();
    for (b, block) in cfg.blocks.iter().enumerate().filter(|(b, _)| cfg.reachable[*b]) {
        for (i, inst) in block.instructions.iter().enumerate() {
            let InstKind::BoolPhi(incoming) = &inst.kind else { continue };
            let constants: Vec<BlockIndex> = incoming
                .iter()
                .filter(|(from, v)| {
                    matches!(v, Incoming::Constant(_)) && cfg.blocks[*from].terminator == Terminator::Branch
                })
                .map(|(from, _)| *from)
                .collect();
            // The other value is the last operand, which may be a constant too.
            if !constants.is_empty() && constants.len() + 1 == incoming.len() {
                found.push(((b, i), constants));
            }
        }
    }
    found
}

pub fn is_constant_phi(cfg: &Cfg, (block, instruction): (BlockIndex, usize)) -> bool {
    match &cfg.blocks[block].instructions[instruction].kind {
        InstKind::BoolPhi(incoming) => incoming.iter().all(|(_, value)| matches!(value, Incoming::Constant(_))),
        _ => false,
    }
}

/// Whether the branches of `a` and `b` (`a` earlier in the function) are operands of one short-circuit.
fn one_decision(cfg: &Cfg, dominance: &Dominance, a: BlockIndex, b: BlockIndex) -> bool {
    let forward = |block: BlockIndex| {
        let mut targets = cfg.successors(block);
        targets.retain(|t| !dominance.dominates(*t, block));
        targets
    };
    let (ta, tb) = (forward(a), forward(b));
    if !ta.iter().any(|t| tb.contains(t)) {
        return false;
    }
    // Without labels the input may be optimised, where nested constructs share targets too; an operand stores nothing.
    cfg.has_labels()
        || (ta.iter().any(|t| dominance.dominates(*t, b))
            && !cfg.blocks[b].instructions.iter().any(|i| i.kind == InstKind::Store))
}
