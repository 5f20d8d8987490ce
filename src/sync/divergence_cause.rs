//! Which branch sent the work-items of a group different ways, so that some wait at a barrier that others never reach.
//!
//! Nobody records the ways that items go. The branch is found by control dependence, outward from where they ended up: the nearest
//! one from which both ends are reached over different sides, and that items may take differently at all.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap, VecDeque};

use inkwell::passes::PassBuilderOptions;

use crate::cfg::decisions::Event;
use crate::cfg::graph::{BlockIndex, Cfg, Edge, InstKind, Terminator};
use crate::cfg::sites::{Fact, FunctionSites, SiteKind, Sites};
use crate::cfg::uniformity::Uniformity;
use crate::coverage::build::KernelUnderTest;
use crate::error::{Error, Result};
use crate::exec::simulator::observation::Divergence;
use crate::kernel::ir::DebugLocation;
use crate::lower::host::table::{HostTable, SourcePlace};
use crate::result::Location;
use crate::result::check::Branch;

/// A kernel's branches.
pub struct Splits<'a> {
    sites: &'a Sites,
    varying: Uniformity,
    /// The kernel's file as given.
    source: &'a str,
    /// Groups diverge alike.
    known: RefCell<HashMap<Parted, Option<Branch>>>,
}

/// How a group parted: the barriers waited at, and whether some items have ended.
type Parted = (Vec<u32>, bool);

/// Where work-items are: by function, from the kernel to where they wait; nothing: at the kernel's end.
type Way = Vec<(usize, BlockIndex)>;

/// A candidate: better ones are less.
type Candidate = (bool, usize, usize, BlockIndex);

impl<'a> Splits<'a> {
    /// Reads a kernel's canonical form.
    ///
    /// # Errors
    /// `Internal` if private variables cannot be promoted.
    pub fn of(under_test: &'a KernelUnderTest<'_>, source: &'a str) -> Result<Splits<'a>> {
        let promoted = under_test.module.clone();
        // Blocks stay those of the sites.
        promoted
            .run_passes("function(sroa<preserve-cfg>)", &under_test.machine, PassBuilderOptions::create())
            .map_err(|e| Error::internal(format!("promoting private variables failed: {e}")))?;
        let varying = Uniformity::of(&promoted, &under_test.sites);
        Ok(Splits { sites: &under_test.sites, varying, source, known: RefCell::default() })
    }

    /// The branch or loop that split the group; `None` where the code does not tell (no debug information).
    pub fn branch(&self, table: &HostTable, divergence: &Divergence) -> Option<Branch> {
        let key = (divergence.waiting.iter().map(|w| w.barrier).collect(), divergence.finished > 0);
        if let Some(known) = self.known.borrow().get(&key) {
            return known.clone();
        }
        let found = self.find(table, divergence);
        self.known.borrow_mut().insert(key, found.clone());
        found
    }

    fn find(&self, table: &HostTable, divergence: &Divergence) -> Option<Branch> {
        let way = |barrier: u32| {
            let path = table.barriers.get(barrier as usize)?.path;
            self.way(&table.paths.get(path as usize)?.frames)
        };
        let here = way(divergence.waiting.first()?.barrier)?;
        let there = match divergence.waiting.get(1) {
            Some(other) => way(other.barrier)?,
            None => Way::new(),
        };
        let (_, _, function, block) = self.candidates(&here, &there).into_iter().min()?;
        self.describe(function, block)
    }

    fn way(&self, frames: &[SourcePlace]) -> Option<Way> {
        let mut way = Way::new();
        for (depth, frame) in frames.iter().enumerate().rev() {
            let named = |f: &FunctionSites| f.cfg.function == frame.function;
            // The outermost one is the kernel, whatever debug information calls it.
            let outermost = (way.is_empty()).then_some(0);
            let function = outermost.or_else(|| self.sites.functions.iter().position(named))?;
            way.push((function, self.block(&self.sites.functions[function], frame, depth == 0)?));
        }
        Some(way)
    }

    /// The block with the call (`is_barrier`: of a barrier) at that place.
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
        (0..function.cfg.len()).find(calls)
    }

    fn candidates(&self, here: &Way, there: &Way) -> Vec<Candidate> {
        let shared = here.iter().zip(there).take_while(|(a, b)| a == b).count();
        let mut all = Vec::new();
        // Where both are at one place, they came round differently: any function on the way may have split them.
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
            // Some have ended: they may have gone another way in any function that leads to the barrier.
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

    /// Branches of a function that lead to `here` over one side and to `there` (`None`: its end) over another, with how far
    /// away they are.
    fn in_function(&self, function: usize, here: BlockIndex, there: Option<BlockIndex>) -> Vec<(usize, BlockIndex)> {
        let f = &self.sites.functions[function];
        let mut all = deciders(f, here);
        if let Some(there) = there {
            for (distance, block) in deciders(f, there) {
                match all.iter_mut().find(|(_, b)| *b == block) {
                    Some(known) => known.0 = known.0.min(distance),
                    None => all.push((distance, block)),
                }
            }
        }
        all.retain(|(_, block)| splits(&f.cfg, *block, here, there));
        all
    }

    /// What a branching block is in the source.
    fn describe(&self, function: usize, block: BlockIndex) -> Option<Branch> {
        let f = &self.sites.functions[function];
        let of = |fact: &(usize, Fact)| match fact {
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

/// Whether `block` is one of the operands of the loop's condition: it stands before the body and leaves the loop.
fn leaves(cfg: &Cfg, l: &crate::cfg::loops::Loop, block: BlockIndex) -> bool {
    let Some(boundary) = l.boundary() else { return false };
    cfg.edges_out(block).any(|e| cfg.target(e) == cfg.target(boundary)) && l.blocks.contains(&block)
}

/// The branches that a block is control dependent on, directly (1) or over others.
fn deciders(f: &FunctionSites, block: BlockIndex) -> Vec<(usize, BlockIndex)> {
    let mut seen = BTreeSet::new();
    let mut work = VecDeque::from([(0, block)]);
    let mut all = Vec::new();
    while let Some((distance, block)) = work.pop_front() {
        for Edge { block: decider, .. } in f.dominance.control_dependence(&f.cfg, block) {
            if seen.insert(decider) {
                all.push((distance + 1, decider));
                work.push_back((distance + 1, decider));
            }
        }
    }
    all
}

/// Whether one side of the branch leads to `here` and another one to `there` without passing `here`; sides end where the
/// branch is reached again.
fn splits(cfg: &Cfg, branch: BlockIndex, here: BlockIndex, there: Option<BlockIndex>) -> bool {
    let ends = |b: BlockIndex| matches!(cfg.blocks[b].terminator, Terminator::Return | Terminator::Unreachable);
    let targets: BTreeSet<BlockIndex> = cfg.successors(branch).into_iter().collect();
    if targets.len() < 2 {
        return false;
    }
    let to_here = |t: &BlockIndex| reaches(cfg, *t, &|b| b == here, &|b| b == branch);
    let to_there = |t: &BlockIndex| match there {
        // They came to the same place: over the other side, or round the loop once more.
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
