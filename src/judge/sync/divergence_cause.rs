//! Finds the branch at which the work-items of a group diverged, so that some wait at a barrier that others
//! never reach.
//!
//! The paths of work-items are not recorded. The branch is found by control dependence, outward from the positions at
//! which the work-items ended up: the nearest branch from which both positions are reached through different
//! successors, preferably one that work-items may take differently at all.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap, VecDeque};

use kassay_base::error::Result;
use kassay_ir::cfg::decisions::Event;
use kassay_ir::cfg::graph::{Cfg, Edge, InstKind, Terminator};
use kassay_ir::cfg::indices::{BlockIndex, FunctionIndex};
use kassay_ir::cfg::sites::{Fact, FunctionSites, SiteKind, Sites};
use kassay_ir::cfg::uniformity::Uniformity;
use kassay_ir::llvm::DebugLocation;
use kassay_model::native::table::{NativeTable, SourcePlace};
use kassay_results::result::Location;
use kassay_results::result::check::Branch;
use kassay_run::exec::simulator::observation::Divergence;

use crate::coverage::build::KernelUnderTest;

/// The branches of a kernel at which work-items may diverge.
pub struct DivergenceAnalysis<'a> {
    sites: &'a Sites,
    varying: Uniformity,
    /// Path of the kernel's file as given.
    source: &'a str,
    /// Groups usually diverge alike.
    known: RefCell<HashMap<DivergenceKey, Option<Branch>>>,
}

/// Key of a divergence: the barriers waited at, and whether some work-items have ended.
type DivergenceKey = (Vec<u32>, bool);

/// A position in the call stack: function and block, from the kernel to the barrier; empty for the kernel's end.
type CallPosition = Vec<(FunctionIndex, BlockIndex)>;

/// A candidate; the least is the best.
type Candidate = (bool, usize, FunctionIndex, BlockIndex);

impl<'a> DivergenceAnalysis<'a> {
    /// Analyses a kernel's canonical form.
    ///
    /// # Errors
    /// `Internal` if private variables cannot be promoted.
    pub fn of(under_test: &'a KernelUnderTest<'_>, source: &'a str) -> Result<DivergenceAnalysis<'a>> {
        let varying = Uniformity::of(&under_test.promoted()?, &under_test.sites);
        Ok(DivergenceAnalysis { sites: &under_test.sites, varying, source, known: RefCell::default() })
    }

    /// Returns the branch or loop at which the group diverged; `None` if the code does not determine it (no
    /// debug information).
    pub fn branch(&self, table: &NativeTable, divergence: &Divergence) -> Option<Branch> {
        let key = (divergence.waiting.iter().map(|w| w.barrier).collect(), divergence.finished > 0);
        if let Some(known) = self.known.borrow().get(&key) {
            return known.clone();
        }
        let found = self.find(table, divergence);
        self.known.borrow_mut().insert(key, found.clone());
        found
    }

    fn find(&self, table: &NativeTable, divergence: &Divergence) -> Option<Branch> {
        let position = |barrier: u32| {
            let path = table.barriers.get(barrier as usize)?.path;
            self.position(&table.paths.get(path as usize)?.frames)
        };
        let here = position(divergence.waiting.first()?.barrier)?;
        let there = match divergence.waiting.get(1) {
            Some(other) => position(other.barrier)?,
            None => CallPosition::new(),
        };
        let (_, _, function, block) = self.candidates(&here, &there).into_iter().min()?;
        self.describe(function, block)
    }

    fn position(&self, frames: &[SourcePlace]) -> Option<CallPosition> {
        let mut position = CallPosition::new();
        for (depth, frame) in frames.iter().enumerate().rev() {
            let named = |f: &FunctionSites| f.cfg.function == frame.function;
            // The outermost frame is the kernel, whatever its name in the debug information.
            let outermost = (position.is_empty()).then_some(FunctionIndex::KERNEL);
            let function = outermost.or_else(|| self.sites.functions.iter().position(named).map(FunctionIndex))?;
            position.push((function, self.block(&self.sites.functions[function], frame, depth == 0)?));
        }
        Some(position)
    }

    /// Returns the block with the call at that place (`is_barrier`: with the barrier).
    fn block(&self, function: &FunctionSites, place: &SourcePlace, is_barrier: bool) -> Option<BlockIndex> {
        let at = |location: &Option<DebugLocation>| {
            location.as_ref().is_some_and(|l| (l.line, l.column) == (place.line, place.column))
        };
        let barriers = || function.barriers.iter().filter(|_| is_barrier);
        let known = barriers().find(|(b, i, _)| at(&function.cfg.blocks[*b].instructions[*i].location));
        if let Some((block, ..)) = known {
            return Some(*block);
        }
        if place.line == 0 {
            return match function.barriers[..] {
                [(block, ..)] if is_barrier => Some(block),
                _ => None,
            };
        }
        let calls = |b: &BlockIndex| {
            let instructions = &function.cfg.blocks[*b].instructions;
            instructions.iter().any(|i| matches!(i.kind, InstKind::Call(_)) && at(&i.location))
        };
        function.cfg.indices().find(calls)
    }

    fn candidates(&self, here: &CallPosition, there: &CallPosition) -> Vec<Candidate> {
        let shared = here.iter().zip(there).take_while(|(a, b)| a == b).count();
        let mut all = Vec::new();
        // If both are at the same place, any function on the call path may have made them diverge.
        let levels = if shared == here.len() { 0..shared } else { 0..shared + 1 };
        for level in levels.rev() {
            let (function, block) = here[level];
            let other = there.get(level).map(|(_, b)| *b);
            let depth = here.len() - level;
            all.extend(self.in_function(function, block, other).into_iter().map(|(d, b)| {
                let uniform = !self.varying.may_diverge(function, b);
                (uniform, depth * 10_000 + d, function, b)
            }));
        }
        if there.is_empty() {
            // Some have ended, and may have diverged in any function on the call path to the barrier.
            for (level, (function, block)) in here.iter().enumerate().skip(1) {
                let depth = here.len() - level;
                all.extend(
                    self.in_function(*function, *block, None)
                        .into_iter()
                        .map(|(d, b)| (!self.varying.may_diverge(*function, b), depth * 10_000 + d, *function, b)),
                );
            }
        }
        all
    }

    /// Returns the branches of a function that lead to `here` through one successor and to `there` (`None`: its end)
    /// through another, each with its distance.
    fn in_function(
        &self,
        function: FunctionIndex,
        here: BlockIndex,
        there: Option<BlockIndex>,
    ) -> Vec<(usize, BlockIndex)> {
        let f = &self.sites.functions[function];
        let mut all = controlling_branches(f, here);
        if let Some(there) = there {
            for (distance, block) in controlling_branches(f, there) {
                match all.iter_mut().find(|(_, b)| *b == block) {
                    Some(known) => known.0 = known.0.min(distance),
                    None => all.push((distance, block)),
                }
            }
        }
        all.retain(|(_, block)| separates(&f.cfg, *block, here, there));
        all
    }

    /// Describes a branching block by its source construct.
    fn describe(&self, function: FunctionIndex, block: BlockIndex) -> Option<Branch> {
        let f = &self.sites.functions[function];
        let of = |fact: &(FunctionIndex, Fact)| match fact {
            (g, Fact::Event(Event::Edge(edge))) => *g == function && edge.block == block,
            (g, Fact::Loop(l, _)) => {
                *g == function
                    && f.loops.get(*l).is_some_and(|l| l.condition == Some(block) || leaves(&f.cfg, l, block))
            }
            _ => false,
        };
        let is_construct = |kind| matches!(kind, SiteKind::Branch | SiteKind::Loop);
        let mut sites = self.sites.sites.iter().filter(|s| is_construct(s.kind));
        let site = sites.find(|s| s.outcomes.iter().flat_map(|o| &o.facts).any(of));
        let own = f.cfg.blocks[block].condition_location.as_ref();
        let place = site.and_then(|s| s.location.as_ref()).or(own).filter(|l| l.line > 0)?;
        let construct = site.map_or("branch", |s| s.construct.as_str());
        let file = if place.file.is_empty() { self.source } else { &place.file };
        Some(Branch {
            location: Location { file: file.to_owned(), line: place.line, column: place.column },
            construct: construct.to_owned(),
        })
    }
}

/// Returns whether `block` evaluates part of the loop's condition: it lies in the loop and leaves it to the same block
/// as the loop's own condition.
fn leaves(cfg: &Cfg, l: &kassay_ir::cfg::loops::Loop, block: BlockIndex) -> bool {
    let Some(boundary) = l.boundary() else { return false };
    cfg.edges_out(block).any(|e| cfg.target(e) == cfg.target(boundary)) && l.blocks.contains(&block)
}

/// Returns the branches that a block is control dependent on, with their distance: directly (1) or transitively.
fn controlling_branches(f: &FunctionSites, block: BlockIndex) -> Vec<(usize, BlockIndex)> {
    let mut seen = BTreeSet::new();
    let mut work = VecDeque::from([(0, block)]);
    let mut all = Vec::new();
    while let Some((distance, block)) = work.pop_front() {
        for Edge { block: controlling, .. } in f.dominance.control_dependence(&f.cfg, block) {
            if seen.insert(controlling) {
                all.push((distance + 1, controlling));
                work.push_back((distance + 1, controlling));
            }
        }
    }
    all
}

/// Returns whether one successor of the branch leads to `here` and another one to `there` without passing `here`. A
/// path ends where it reaches the branch again.
fn separates(cfg: &Cfg, branch: BlockIndex, here: BlockIndex, there: Option<BlockIndex>) -> bool {
    let ends = |b: BlockIndex| matches!(cfg.blocks[b].terminator, Terminator::Return | Terminator::Unreachable);
    let targets: BTreeSet<BlockIndex> = cfg.successors(branch).into_iter().collect();
    if targets.len() < 2 {
        return false;
    }
    let to_here = |t: &BlockIndex| reaches(cfg, *t, &|b| b == here, &|b| b == branch);
    let to_there = |t: &BlockIndex| match there {
        // Both are at the same place, reached through the other successor or in another iteration of a loop.
        Some(there) if there == here => true,
        Some(there) => reaches(cfg, *t, &|b| b == there, &|b| b == branch || b == here),
        None => reaches(cfg, *t, &ends, &|b| b == branch || b == here),
    };
    targets.iter().filter(|t| to_here(t)).any(|a| targets.iter().any(|b| a != b && to_there(b)))
}

fn reaches(
    cfg: &Cfg,
    from: BlockIndex,
    is_goal: &dyn Fn(BlockIndex) -> bool,
    is_wall: &dyn Fn(BlockIndex) -> bool,
) -> bool {
    let mut seen = BTreeSet::new();
    let mut work = vec![from];
    while let Some(block) = work.pop() {
        if is_wall(block) && !is_goal(block) || !seen.insert(block) {
            continue;
        }
        if is_goal(block) {
            return true;
        }
        work.extend(cfg.successors(block));
    }
    false
}
