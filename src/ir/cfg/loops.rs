//! Finds loops: natural loops with all their exits, and source loops that have no back edge (`while (c) { return; }`).

use std::collections::BTreeSet;

use super::dominance::Dominance;
use super::graph::{Cfg, Edge, InstInfo, InstKind, Terminator};
use super::indices::BlockIndex;
use super::natural_loops::{self, NaturalLoop};
use super::short_circuits::ShortCircuits;

/// One loop of a function.
#[derive(Debug, Clone)]
pub struct Loop {
    /// The target of the back edges; without back edges, the block of the condition's first operand.
    pub header: BlockIndex,
    /// The blocks from which the header can be reached again, including the header (the natural loop); for a loop
    /// without back edges, only the blocks of its condition.
    pub blocks: BTreeSet<BlockIndex>,
    /// The edges from the body back to the header; empty for a loop that can never repeat.
    pub back_edges: Vec<Edge>,
    /// The block whose conditional branch decides whether to continue; `None` for loops without
    /// a condition (`for (;;)`).
    pub condition: Option<BlockIndex>,
    /// The index of the successor by which the condition's branch continues the loop.
    pub continue_successor: usize,
    /// Whether the condition is tested after the body (`do`) or is missing, so that the body is executed at least once.
    pub body_first: bool,
    /// For a rotated loop, whose condition is tested after the body and, by a branch of its own, before the loop: the
    /// edge of that branch which skips the loop.
    pub guard: Option<Edge>,
    /// `for`, `while`, `do`, or `loop` if the IR does not show which.
    pub construct: &'static str,
}

impl Loop {
    /// The edge taken when the condition is false.
    pub fn boundary(&self) -> Option<Edge> {
        self.condition.map(|block| Edge { block, successor: 1 - self.continue_successor })
    }

    /// The edge by which the body is entered, if a condition precedes it.
    pub fn body_entry(&self) -> Option<Edge> {
        match self.condition {
            Some(block) if !self.body_first => Some(Edge { block, successor: self.continue_successor }),
            _ => None,
        }
    }

    /// The edges that leave the loop.
    pub fn exits(&self, cfg: &Cfg) -> Vec<Edge> {
        self.blocks.iter().flat_map(|b| cfg.edges_out(*b)).filter(|e| !self.blocks.contains(&cfg.target(*e))).collect()
    }

    /// The edges that enter the header from outside.
    pub fn entries(&self, cfg: &Cfg) -> Vec<Edge> {
        cfg.incoming(self.header).into_iter().filter(|e| !self.blocks.contains(&e.block)).collect()
    }
}

/// All loops of a function, in the order of their headers.
pub fn find(cfg: &Cfg, dominance: &Dominance, circuits: &ShortCircuits) -> Vec<Loop> {
    let mut loops = natural_loops(cfg, dominance);
    for l in &mut loops {
        classify(cfg, circuits, l);
    }
    if cfg.has_labels() {
        loops.retain(|l| !is_goto_loop(cfg, l));
        add_loops_without_back_edge(cfg, circuits, &mut loops);
    }
    loops.sort_by_key(|l| l.header);
    loops
}

/// Finds natural loops, except those that clang generates itself (compare-and-swap).
fn natural_loops(cfg: &Cfg, dominance: &Dominance) -> Vec<Loop> {
    let unclassified = |NaturalLoop { header, blocks, latches }| Loop {
        header: BlockIndex(header),
        blocks: blocks.into_iter().map(BlockIndex).collect(),
        back_edges: latches
            .iter()
            .flat_map(|b| cfg.edges_out(BlockIndex(*b)))
            .filter(|e| cfg.target(*e).0 == header)
            .collect(),
        condition: None,
        continue_successor: 0,
        body_first: true,
        guard: cfg.guards.iter().find(|(guarded, _)| guarded.0 == header).map(|(_, skip)| *skip),
        construct: "loop",
    };
    let dominates = |a, b| dominance.dominates(BlockIndex(a), BlockIndex(b));
    let all = natural_loops::find(&cfg.all_successors(), dominates).into_iter();
    let is_of_library = |l: &NaturalLoop| l.latches.iter().all(|latch| cfg.is_of_library(BlockIndex(*latch)));
    all.filter(|l| !is_compiler_generated(cfg, BlockIndex(l.header)) && !is_of_library(l)).map(unclassified).collect()
}

/// Returns whether the loop with this header has no counterpart in the source.
fn is_compiler_generated(cfg: &Cfg, header: BlockIndex) -> bool {
    ["atomic_op", "atomicrmw.start", "arrayinit.body", "omp.arraycpy.body"].iter().any(|p| cfg.is_labelled(header, p))
}

/// Returns whether a `goto` forms this loop: clang neither labels its header as that of a loop nor marks
/// its back edges.
fn is_goto_loop(cfg: &Cfg, l: &Loop) -> bool {
    let label = &cfg.blocks[l.header].label;
    !["for.", "while.", "do."].iter().any(|prefix| label.starts_with(prefix))
        && !l.back_edges.iter().any(|e| cfg.blocks[e.block].ends_loop)
}

/// Finds the condition of a natural loop. It precedes the body (`for`, `while`) if the header, or the end of the
/// short-circuit that starts there, ends in a branch that leaves the loop; it follows the body (`do`) if a branch back
/// to the header can leave the loop.
fn classify(cfg: &Cfg, circuits: &ShortCircuits, l: &mut Loop) {
    let labelled = |b, prefix| cfg.is_labelled(b, prefix);
    let header = l.header;
    l.construct = if labelled(header, "for.cond") || labelled(header, "for.body") {
        "for"
    } else if labelled(header, "while.cond") || labelled(header, "while.body") {
        "while"
    } else if labelled(header, "do.body") {
        "do"
    } else {
        "loop"
    };
    let exits_loop = |b: BlockIndex| {
        let successors = cfg.successors(b);
        cfg.blocks[b].terminator == Terminator::Branch
            && l.blocks.contains(&successors[0]) != l.blocks.contains(&successors[1])
    };
    let successor_in_loop = |b: BlockIndex| usize::from(!l.blocks.contains(&cfg.successors(b)[0]));
    let latch = l.back_edges.iter().map(|e| e.block).find(|b| exits_loop(*b) && !circuits.is_leaf(*b));
    let before = match l.construct {
        // Loop rotation makes the body the header, and a branch back to it decides.
        "for" | "while" => latch.is_none() || !(labelled(header, "for.body") || labelled(header, "while.body")),
        "do" => false,
        // Without labels, a conditional branch back to the header is taken for the condition of a `do`, into which
        // optimisers also turn other loops.
        _ => latch.is_none(),
    };
    if before {
        // The condition may span several blocks (short-circuit, ternary): it ends in the first branch that leaves the
        // loop, on the path from the header along blocks that only evaluate the condition.
        l.condition = condition_before_body(cfg, circuits, header, &exits_loop)
            .filter(|block| is_loop_condition(cfg, *block, l.construct))
            .filter(|block| cfg.has_labels() || !leaves_endless_loop(cfg, l, *block));
        l.body_first = l.condition.is_none();
    } else {
        l.condition = latch;
        if l.construct == "loop" && l.guard.is_none() {
            l.construct = "do";
        }
    }
    l.continue_successor = l.condition.map_or(0, successor_in_loop);
}

/// With clang's labels, the true edge of a `for` or `while` condition enters the body's block. A branch that is merely
/// the first in the body of an endless loop (`for (;;) { if (c) break; … }`) does not.
fn is_loop_condition(cfg: &Cfg, block: BlockIndex, construct: &str) -> bool {
    match construct {
        "for" => cfg.successors(block).iter().any(|b| cfg.is_labelled(*b, "for.body")),
        "while" => cfg.successors(block).iter().any(|b| cfg.is_labelled(*b, "while.body")),
        _ => true,
    }
}

/// Judges without labels whether the first branch that leaves a loop belongs to the body of an endless one
/// (`for (;;) { if (c) break; … }`): clang continues a loop where its condition is true, and leaves the body through a
/// block of its own that stands within the loop. Optimisers that carry values around the loop in registers also remove
/// such blocks.
fn leaves_endless_loop(cfg: &Cfg, l: &Loop, block: BlockIndex) -> bool {
    let is_optimised = cfg.blocks[l.header].instructions.iter().any(|i| i.kind == InstKind::Phi);
    let successors = cfg.successors(block);
    let leaves_if_true = !l.blocks.contains(&successors[0]);
    let exit = if leaves_if_true { successors[0] } else { successors[1] };
    let is_break = matches!(cfg.blocks[exit].instructions[..], [InstInfo { kind: InstKind::Goto, .. }]);
    let is_within = cfg.is_in_source_order && l.blocks.last().is_some_and(|last| exit < *last);
    leaves_if_true || (!is_optimised && is_break && is_within)
}

/// The block whose branch ends the condition that starts at `header`.
fn condition_before_body(
    cfg: &Cfg,
    circuits: &ShortCircuits,
    header: BlockIndex,
    exits_loop: &dyn Fn(BlockIndex) -> bool,
) -> Option<BlockIndex> {
    let mut block = header;
    let mut seen = BTreeSet::new();
    loop {
        if exits_loop(block) && !circuits.is_leaf(block) {
            return Some(block);
        }
        if !seen.insert(block) {
            return None;
        }
        // A short-circuit or ternary inside the condition ends in a join: continue there.
        block = if let Some(join) = circuits.join_of(block) {
            join
        } else if cfg.blocks[block].terminator == Terminator::Branch {
            ternary_join(cfg, block)?
        } else if let [next] = cfg.successors(block)[..] {
            if cfg.incoming(next).len() > 1 && !cfg.is_labelled(next, "cond.end") {
                return None;
            }
            next
        } else {
            return None;
        };
    }
}

/// The block where the two arms of a ternary join, if `block` ends in one.
fn ternary_join(cfg: &Cfg, block: BlockIndex) -> Option<BlockIndex> {
    let successors = cfg.successors(block);
    if !cfg.is_labelled(successors[0], "cond.true") {
        return None;
    }
    cfg.indices().skip(block.0).find(|b| cfg.is_labelled(*b, "cond.end") && cfg.incoming(*b).len() > 1)
}

/// Adds source loops whose body always leaves: `for.cond` and `while.cond` blocks with a conditional branch into a
/// `for.body` or `while.body` that no back edge enters.
fn add_loops_without_back_edge(cfg: &Cfg, circuits: &ShortCircuits, loops: &mut Vec<Loop>) {
    for block in cfg.indices() {
        if !cfg.reachable[block] || cfg.blocks[block].terminator != Terminator::Branch {
            continue;
        }
        let successors = cfg.successors(block);
        for (construct, body) in [("for", "for.body"), ("while", "while.body")] {
            let Some(continue_successor) = successors.iter().position(|b| cfg.is_labelled(*b, body)) else { continue };
            // A branch into a body that is a loop's header is the guard of a rotated loop.
            let body = successors[continue_successor];
            if loops.iter().any(|l| l.condition == Some(block) || (!l.back_edges.is_empty() && l.header == body)) {
                continue;
            }
            let start = circuits.start_of(block).unwrap_or(block);
            loops.push(Loop {
                header: start,
                blocks: (start.0..=block.0).map(BlockIndex).collect(),
                back_edges: Vec::new(),
                condition: Some(block),
                continue_successor,
                body_first: false,
                guard: None,
                construct,
            });
        }
    }
}
