//! Finds the guards of rotated loops.
//!
//! Optimisers turn `while (c) body` into `if (c) do body while (c)`. The `if` is the loop's guard: it is no decision of
//! its own, but decides whether the loop runs zero times.

use super::dominance::Dominance;
use super::graph::{Cfg, Edge, InstKind, Terminator};
use super::indices::BlockIndex;
use super::natural_loops;
use crate::llvm::{Block, Function, Inst, Opcode, Value};

/// Finds the guards of the loops of a function, whose graph is `cfg`. Only loops that carry values in registers count:
/// elsewhere no optimiser has been at work, and an `if` around a `do` is one. Returns each loop's header with the edge
/// that skips the loop.
pub fn find(cfg: &Cfg, dominance: &Dominance, function: Function<'_>) -> Vec<(BlockIndex, Edge)> {
    let dominates = |a, b| dominance.dominates(BlockIndex(a), BlockIndex(b));
    let blocks = function.blocks();
    let mut guards = Vec::new();
    for found in natural_loops::find(&cfg.all_successors(), dominates) {
        let header = BlockIndex(found.header);
        let is_inside = |b: BlockIndex| found.blocks.contains(&b.0);
        let carries_values = cfg.blocks[header].instructions.iter().any(|i| i.kind == InstKind::Phi);
        let [latch] = found.latches.iter().map(|b| BlockIndex(*b)).collect::<Vec<_>>()[..] else { continue };
        if !carries_values || cfg.blocks[latch].terminator != Terminator::Branch {
            continue;
        }
        let Some(exit) = cfg.successors(latch).into_iter().find(|b| !is_inside(*b)) else { continue };
        let outside: Vec<Edge> = cfg.incoming(header).into_iter().filter(|e| !is_inside(e.block)).collect();
        let [entry] = outside[..] else { continue };
        let Some((guard, skip)) = deciding_edge(cfg, entry) else { continue };
        let compared = sources(blocks[latch], Some((blocks[header], blocks[entry.block])));
        let guarded = sources(blocks[guard.block], None);
        // Comparing values loaded through the same pointer is no sign of comparing the same value.
        let shared = compared.iter().any(|v| !v.ty().is_pointer() && guarded.contains(v));
        if shared && past_jumps(cfg, cfg.target(skip)) == past_jumps(cfg, exit) {
            guards.push((header, skip));
        }
    }
    guards
}

/// Follows an edge back to the branch that decides on it, along blocks that only lead there and do not store anything.
/// Returns the branch's edge and its other one.
fn deciding_edge(cfg: &Cfg, mut edge: Edge) -> Option<(Edge, Edge)> {
    loop {
        match cfg.blocks[edge.block].terminator {
            Terminator::Branch => return Some((edge, Edge { block: edge.block, successor: 1 - edge.successor })),
            Terminator::Goto if cfg.blocks[edge.block].taken.is_none() => {
                if cfg.blocks[edge.block].instructions.iter().any(|i| i.kind == InstKind::Store) {
                    return None;
                }
                let [before] = cfg.incoming(edge.block)[..] else { return None };
                edge = before;
            }
            _ => return None,
        }
    }
}

/// The block that control reaches from `block` without executing anything.
fn past_jumps(cfg: &Cfg, mut block: BlockIndex) -> BlockIndex {
    let only_jumps = |b: BlockIndex| {
        let kinds = cfg.blocks[b].instructions.iter().map(|i| &i.kind);
        kinds.clone().all(|k| matches!(k, InstKind::Goto | InstKind::Phi | InstKind::BoolPhi(_)))
    };
    for _ in 0..cfg.len() {
        match cfg.successors(block)[..] {
            [next] if only_jumps(block) => block = next,
            _ => break,
        }
    }
    block
}

/// Collects the values, other than constants, that the condition of a block's branch is computed from, the condition
/// included, up to a few operations back. Where `entered` names a loop's header and the block before it, the block is
/// the loop's end; what the loop carries into its next turn then stands for the value with which it begins.
fn sources<'m>(block: Block<'m>, entered: Option<(Block<'m>, Block<'m>)>) -> Vec<Value<'m>> {
    const DEPTH: usize = 4;
    let carried: Vec<[Option<Value<'m>>; 3]> = entered.map_or_else(Vec::new, |(header, before)| {
        let values = |phi: Inst<'m>| [Some(phi.value()), phi.incoming_from(block), phi.incoming_from(before)];
        header.phis().into_iter().map(values).collect()
    });
    let mut found: Vec<Value<'m>> = block.terminator().branch_condition().into_iter().collect();
    let mut level = found.clone();
    for _ in 0..DEPTH {
        let mut next = Vec::new();
        for value in level {
            next.extend(carried.iter().filter(|c| c[..2].contains(&Some(value))).filter_map(|c| c[2]));
            let inst = value.as_instruction().filter(|inst| !inst.is_call() && !inst.is(Opcode::LLVMPHI));
            next.extend(inst.map(Inst::operands).unwrap_or_default());
        }
        next.retain(|v| !v.is_constant() && !found.contains(v));
        found.extend(&next);
        level = next;
    }
    found
}
