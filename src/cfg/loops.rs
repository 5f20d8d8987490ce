//! Loops: natural loops with all exits, and the source loops that have no back edge (`while (c) { return; }`).

use std::collections::BTreeSet;

use petgraph::graph::NodeIndex;
use petgraph::visit::EdgeRef;

use super::dominance::Dominance;
use super::graph::{BlockIndex, Cfg, Edge, Terminator};
use super::short_circuits::ShortCircuits;

/// One loop of a function.
#[derive(Debug, Clone)]
pub struct Loop {
    /// The block that the back edges enter; where there is none, the block of the condition's first operand.
    pub header: BlockIndex,
    /// All blocks from which the header is reached again, header included; for a loop without back edge only the blocks of
    /// its condition.
    pub blocks: BTreeSet<BlockIndex>,
    /// Edges from the body back to the header; empty for a loop that can never repeat.
    pub back_edges: Vec<Edge>,
    /// The block whose conditional branch decides whether to go on; `None` for endless forms (`for(;;)`).
    pub condition: Option<BlockIndex>,
    /// Which successor of the condition's branch goes on.
    pub continue_successor: usize,
    /// The condition is tested after the body (`do`), or there is none: the body is executed at least once.
    pub body_first: bool,
    pub construct: &'static str,
}

impl Loop {
    /// The edge on which the condition is false.
    pub fn boundary(&self) -> Option<Edge> {
        self.condition.map(|block| Edge { block, successor: 1 - self.continue_successor })
    }

    /// The edge on which the body is entered, if a condition stands before it.
    pub fn body_entry(&self) -> Option<Edge> {
        match self.condition {
            Some(block) if !self.body_first => Some(Edge { block, successor: self.continue_successor }),
            _ => None,
        }
    }

    /// Edges from inside to outside.
    pub fn exits(&self, cfg: &Cfg) -> Vec<Edge> {
        self.blocks.iter().flat_map(|b| cfg.edges_out(*b)).filter(|e| !self.blocks.contains(&cfg.target(*e))).collect()
    }

    /// Edges from outside to the header.
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
        loops.retain(|l| !is_of_goto(cfg, l));
        add_without_back_edge(cfg, circuits, &mut loops);
    }
    loops.sort_by_key(|l| l.header);
    loops
}

/// Natural loops, those with one header joined; loops that clang makes for its own ends (compare-and-swap) left out.
fn natural_loops(cfg: &Cfg, dominance: &Dominance) -> Vec<Loop> {
    let mut loops: Vec<Loop> = Vec::new();
    for edge in cfg.graph.edge_references() {
        let (from, header) = (edge.source().index(), edge.target().index());
        if !cfg.reachable[from] || !dominance.dominates(header, from) || is_of_compiler(cfg, header) {
            continue;
        }
        let back = Edge { block: from, successor: *edge.weight() };
        let body = body_of(cfg, header, from);
        match loops.iter_mut().find(|l| l.header == header) {
            Some(l) => {
                l.blocks.extend(body);
                l.back_edges.push(back);
            }
            None => loops.push(Loop {
                header,
                blocks: body,
                back_edges: vec![back],
                condition: None,
                continue_successor: 0,
                body_first: true,
                construct: "loop",
            }),
        }
    }
    loops
}

/// Loops that stand for no loop of the source.
fn is_of_compiler(cfg: &Cfg, header: BlockIndex) -> bool {
    ["atomic_op", "atomicrmw.start", "arrayinit.body", "omp.arraycpy.body"].iter().any(|p| cfg.is_labelled(header, p))
}

/// Whether `goto` makes this loop: clang neither names its header as that of a loop nor marks its back edges.
fn is_of_goto(cfg: &Cfg, l: &Loop) -> bool {
    let label = &cfg.blocks[l.header].label;
    !["for.", "while.", "do."].iter().any(|prefix| label.starts_with(prefix))
        && !l.back_edges.iter().any(|e| cfg.blocks[e.block].ends_loop)
}

fn body_of(cfg: &Cfg, header: BlockIndex, latch: BlockIndex) -> BTreeSet<BlockIndex> {
    let mut body = BTreeSet::from([header]);
    let mut work = vec![latch];
    while let Some(block) = work.pop() {
        if body.insert(block) {
            work.extend(
                cfg.graph
                    .neighbors_directed(NodeIndex::new(block), petgraph::Direction::Incoming)
                    .map(|n| n.index())
                    .filter(|b| cfg.reachable[*b]),
            );
        }
    }
    body
}

/// Finds the condition of a natural loop: before the body (`for`, `while`) if the header, or the end of the short-circuit
/// that starts there, ends in a branch that leaves; after it (`do`) if a branch back to the header does.
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
    let leaves = |b: BlockIndex| {
        let successors = cfg.successors(b);
        cfg.blocks[b].terminator == Terminator::Branch
            && l.blocks.contains(&successors[0]) != l.blocks.contains(&successors[1])
    };
    let stays = |b: BlockIndex| usize::from(!l.blocks.contains(&cfg.successors(b)[0]));
    let latch = l.back_edges.iter().map(|e| e.block).find(|b| leaves(*b) && !circuits.is_leaf(*b));
    let before = match l.construct {
        // Optimisers turn these round: the body is the header, and a branch back to it decides.
        "for" | "while" => latch.is_none() || !(labelled(header, "for.body") || labelled(header, "while.body")),
        "do" => false,
        // Without labels, a conditional branch back to the header is taken for the condition of a `do`, which optimisers make
        // of other loops too.
        _ => latch.is_none(),
    };
    if before {
        // The condition may span blocks (short-circuit, ternary): the first branch that leaves, on the way from the
        // header along blocks that only evaluate it.
        l.condition = condition_before_body(cfg, circuits, header, &leaves)
            .filter(|block| is_loop_condition(cfg, *block, l.construct));
        l.body_first = l.condition.is_none();
    } else {
        l.condition = latch;
        if l.construct == "loop" {
            l.construct = "do";
        }
    }
    l.continue_successor = l.condition.map_or(0, stays);
}

/// With clang's labels, a `for` or `while` condition's true edge enters the body's block; a branch that merely stands first
/// in an endless loop's body (`for (;;) { if (c) break; … }`) does not.
fn is_loop_condition(cfg: &Cfg, block: BlockIndex, construct: &str) -> bool {
    match construct {
        "for" => cfg.successors(block).iter().any(|b| cfg.is_labelled(*b, "for.body")),
        "while" => cfg.successors(block).iter().any(|b| cfg.is_labelled(*b, "while.body")),
        _ => true,
    }
}

/// The block whose branch ends the condition that starts at `header`.
fn condition_before_body(
    cfg: &Cfg,
    circuits: &ShortCircuits,
    header: BlockIndex,
    leaves: &dyn Fn(BlockIndex) -> bool,
) -> Option<BlockIndex> {
    let mut block = header;
    let mut seen = BTreeSet::new();
    loop {
        if leaves(block) && !circuits.is_leaf(block) {
            return Some(block);
        }
        if !seen.insert(block) {
            return None;
        }
        // A short-circuit or ternary inside the condition ends in a join; go on there.
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

/// Where the two arms of a ternary meet, if `block` ends in one.
fn ternary_join(cfg: &Cfg, block: BlockIndex) -> Option<BlockIndex> {
    let successors = cfg.successors(block);
    if !cfg.is_labelled(successors[0], "cond.true") {
        return None;
    }
    (block..cfg.len()).find(|b| cfg.is_labelled(*b, "cond.end") && cfg.incoming(*b).len() > 1)
}

/// Source loops whose body always leaves: `for.cond`/`while.cond` blocks with a conditional branch into `for.body`/`while.body`
/// that no back edge enters.
fn add_without_back_edge(cfg: &Cfg, circuits: &ShortCircuits, loops: &mut Vec<Loop>) {
    for block in 0..cfg.len() {
        if !cfg.reachable[block] || cfg.blocks[block].terminator != Terminator::Branch {
            continue;
        }
        let successors = cfg.successors(block);
        for (construct, body) in [("for", "for.body"), ("while", "while.body")] {
            let Some(continue_successor) = successors.iter().position(|b| cfg.is_labelled(*b, body)) else { continue };
            // A branch into a body that is a loop's header: the guard of a loop that was turned round.
            let body = successors[continue_successor];
            if loops.iter().any(|l| l.condition == Some(block) || (!l.back_edges.is_empty() && l.header == body)) {
                continue;
            }
            let start = circuits.start_of(block).unwrap_or(block);
            loops.push(Loop {
                header: start,
                blocks: (start..=block).collect(),
                back_edges: Vec::new(),
                condition: Some(block),
                continue_successor,
                body_first: false,
                construct,
            });
        }
    }
}
