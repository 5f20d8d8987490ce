//! Solves for what fuzzing leaves uncovered (PENG algorithm 2): proofs that outcomes are infeasible, and inputs derived
//! from path conditions of runs that come near the others. Inputs that a model proposes are run; only what the run
//! shows counts.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use super::assign::Number;
use super::interface_file::{ArgWish, Wishes};
use super::minimise;
use super::resize_buffers;
use super::search::{Ended, Kept, Search};
use crate::cfg::sites::{SiteKind, Sites};
use crate::coverage::build::KernelUnderTest;
use crate::error::Result;
use crate::exec::simulator;
use crate::instrument::marks;
use crate::kernel::interface::Interface;
use crate::kernel::source::Sources;
use crate::program::{Op, Program, promoted, reader};
use crate::result::generate::By;
use crate::solve::query;
use crate::suite::launch::Launch;
use crate::suite::scalar_layout;
use crate::symbolic::concolic::{self, Bound, Engine, Ranges};
use crate::symbolic::infeasible::{self, Most, ProofOutcome};

/// Z3's resource limits for one proof and for one path: measures of work, not of time.
const PROOF: u32 = 2_000_000;
/// See [`PROOF_RLIMIT`].
pub(super) const PATH: u32 = 1_000_000;
/// The first proofs may take at most the remaining time divided by this; those that they do not get to follow the
/// search for inputs.
const PROOFS_SHARE: u32 = 4;
/// Builtins whose results are limited by the size of the launch.
const SIZES: [&str; 7] = [
    "get_local_id",
    "get_local_size",
    "get_enqueued_local_size",
    "get_group_id",
    "get_num_groups",
    "get_global_size",
    "get_local_linear_id",
];
/// Consecutive proposals without a gain before the search gives up.
pub(super) const FRUITLESS: u32 = 60;
/// Conditions flipped per proposal.
pub(super) const ATTEMPTS: u64 = 400;
/// Instructions of one interpreted launch.
pub(super) const STEPS: u64 = 500_000;
/// Effort for goals, and for other outcomes, of which only those that are found at once are sought.
const GOALS: Effort = Effort { fruitless: FRUITLESS, attempts: ATTEMPTS, steps: STEPS, rlimit: PATH };
const BESIDES: Effort = Effort { fruitless: 1, attempts: 6, steps: 30_000, rlimit: 100_000 };

#[derive(Clone, Copy)]
struct Effort {
    /// Consecutive proposals without a gain.
    fruitless: u32,
    /// Conditions flipped per proposal.
    attempts: u64,
    /// Instructions of one interpreted launch.
    steps: u64,
    /// Z3's resource limit.
    rlimit: u32,
}

/// Result of solving.
#[derive(Debug, Clone, Default)]
pub struct Solved {
    /// By watched outcome: the result of its proof; `None` for covered outcomes and where no proof was tried.
    pub fates: Vec<Option<ProofOutcome>>,
    /// Why the search for inputs ended.
    pub ended: Option<GaveUp>,
    pub proposals: u64,
    /// Time taken, in seconds.
    pub took: f64,
}

/// Why no more inputs were proposed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GaveUp {
    /// No wanted outcome is left.
    Done,
    /// All branches on the observed paths were tried in both directions.
    NoPaths,
    Fruitless,
    OutOfTime,
    OutOfExecutions,
    /// No launch completed, so there is no path to start from.
    NoParent,
}

/// Proves and solves until nothing is left, or nothing is gained. `goals`: the kinds of sites that matter most; only
/// these are subject to proofs. `known`: earlier proofs, by watched outcome; `decided` is called for every further
/// proof. `analysis_time`: time that the inference of the kernel model took.
///
/// # Errors
/// `Internal` if the kernel cannot be read; as [`super::search::CoverageRunner::run`] and `decided`.
pub fn solve(
    search: &mut Search<'_>,
    under_test: &KernelUnderTest<'_>,
    goals: &[SiteKind],
    known: Vec<Option<ProofOutcome>>,
    decided: &mut dyn FnMut(usize, &ProofOutcome) -> Result<()>,
    sources: &Sources,
    reading: Duration,
) -> Result<Solved> {
    let begun = Instant::now();
    let mut solved = Solved { fates: known, ..Solved::default() };
    let outcomes = search.subject.outcomes;
    let open = uncovered(search);
    if open.is_empty() {
        solved.ended = Some(GaveUp::Done);
        return Ok(solved);
    }
    if let Some(over) = search.over() {
        solved.ended = Some(if over == Ended::OutOfExecutions { GaveUp::OutOfExecutions } else { GaveUp::OutOfTime });
        return Ok(solved);
    }
    // Reading takes as long as the inference of the model did, and a little more for the marks.
    if Instant::now() + reading.mul_f64(1.2) > search.limits.end {
        solved.ended = Some(GaveUp::OutOfTime);
        return Ok(solved);
    }
    let program = match program(under_test, outcomes, search.limits.end) {
        Err(e) if e.is_late() => {
            solved.ended = Some(GaveUp::OutOfTime);
            return Ok(solved);
        }
        program => program?,
    };
    let goals: BTreeSet<u32> =
        open.iter().copied().filter(|o| goals.contains(&kind(&under_test.sites, outcomes[*o as usize]))).collect();
    let proved =
        |fates: &[Option<ProofOutcome>], o: u32| matches!(fates[o as usize], Some(ProofOutcome::Infeasible { .. }));
    let asked: Vec<u32> = goals.iter().copied().filter(|o| !proved(&solved.fates, *o)).collect();
    let left = search.limits.end.saturating_duration_since(Instant::now());
    let end = Instant::now() + left / PROOFS_SHARE;
    let mut prove = |asked: &[u32], end: Instant, fates: &mut Vec<Option<ProofOutcome>>| -> Result<()> {
        let limits = query::Limits { rlimit: PROOF, end: Some(end) };
        for (outcome, fate) in
            asked.iter().zip(infeasible::prove(&program, &under_test.interface, asked, &[], sources, &limits))
        {
            decided(*outcome as usize, &fate)?;
            fates[*outcome as usize] = Some(fate);
        }
        Ok(())
    };
    prove(&asked, end, &mut solved.fates)?;
    let was_short = Instant::now() >= end;
    // Launches are interpreted with all their work-items, so the fewer the better.
    minimise::minimise(search)?;
    let wishes = search.subject.wishes;
    let engine = Engine::new(&program, &under_test.interface, &bounds(wishes), ranges(wishes));
    let mut hunt = InputSearch {
        engine,
        program: &program,
        interface: &under_test.interface,
        parents: Vec::new(),
        seen: 0,
        proposals: 0,
    };
    let ended = hunt.run(search, GOALS, &|o| goals.contains(o) && !proved(&solved.fates, *o))?;
    solved.ended = Some(ended);
    if was_short && search.over().is_none() {
        let open = uncovered(search);
        let again: Vec<u32> =
            asked.iter().copied().filter(|o| open.contains(o) && !proved(&solved.fates, *o)).collect();
        prove(&again, search.limits.end, &mut solved.fates)?;
    }
    explain(search, &program, &under_test.interface, &mut solved.fates, sources);
    if matches!(ended, GaveUp::Done | GaveUp::Fruitless | GaveUp::NoPaths) {
        hunt.run(search, BESIDES, &|o| !goals.contains(o))?;
    }
    solved.proposals = hunt.proposals;
    solved.took = begun.elapsed().as_secs_f64();
    Ok(solved)
}

/// Searches for launches that reach these outcomes, even if they fault.
///
/// # Errors
/// As [`solve`].
pub fn solve_with_faults(search: &mut Search<'_>, under_test: &KernelUnderTest<'_>, wanted: &[usize]) -> Result<()> {
    let program = match program(under_test, search.subject.outcomes, search.limits.end) {
        Err(e) if e.is_late() => return Ok(()),
        program => program?,
    };
    let wishes = search.subject.wishes;
    let engine = Engine::new(&program, &under_test.interface, &bounds(wishes), ranges(wishes)).allowing_faults();
    let mut hunt = InputSearch {
        engine,
        program: &program,
        interface: &under_test.interface,
        parents: Vec::new(),
        seen: 0,
        proposals: 0,
    };
    hunt.run(search, GOALS, &|o| wanted.contains(&(*o as usize)))?;
    Ok(())
}

/// Explains outcomes that stay open where no launch within the limits is large enough for them. That is no proof,
/// because launches elsewhere may be larger.
fn explain(
    search: &Search<'_>,
    program: &Program,
    interface: &Interface,
    fates: &mut [Option<ProofOutcome>],
    sources: &Sources,
) {
    let is_open = |o: &u32| matches!(fates[*o as usize], Some(ProofOutcome::Unknown { .. }));
    let open: Vec<u32> = uncovered(search).into_iter().filter(is_open).collect();
    let asks = |op: &Op| matches!(op, Op::Call(_, base) if SIZES.contains(&base.as_str()));
    if open.is_empty() || search.over().is_some() || !program.instructions().any(|(_, i)| asks(&i.op)) {
        return;
    }
    let end = Instant::now() + search.limits.end.saturating_duration_since(Instant::now()) / PROOFS_SHARE;
    let ranges = ranges(search.subject.wishes);
    let most = Most { items: ranges.max_items, group: ranges.max_group };
    let limits = query::Limits { rlimit: PROOF / 8, end: Some(end) };
    for (outcome, fate) in open.iter().zip(infeasible::prove_within(program, interface, &open, most, sources, &limits))
    {
        if let ProofOutcome::Infeasible { reason, preconditions } = fate
            && preconditions.iter().any(|p| most.is_said_by(p))
        {
            let reason = format!("no launch is large enough for it here ({reason})");
            fates[*outcome as usize] = Some(ProofOutcome::Unknown { reason, bound: None });
        }
    }
}

/// The user's bounds on arguments.
pub(super) fn bounds(wishes: &Wishes) -> Vec<Bound> {
    let number = |n: Number| match n {
        Number::Integer(n) => scalar_layout::Number::Integer(n),
        Number::Float(x) => scalar_layout::Number::Float(x),
    };
    let bound = |(position, wish): (usize, &ArgWish)| Bound {
        position,
        fixed: !wish.fuzz,
        least: wish.least.map(number),
        greatest: wish.greatest.map(number),
    };
    wishes.args.iter().enumerate().map(bound).collect()
}

/// The user's bounds on the NDRange.
pub(super) fn ranges(wishes: &Wishes) -> Ranges {
    Ranges {
        fixed: wishes.range.is_some(),
        local: wishes.local,
        max_items: wishes.max_items,
        max_group: simulator::device().max_work_group_size,
        usual_items: wishes.usual_items,
        ..Ranges::default()
    }
}

fn kind(sites: &Sites, outcome: (usize, usize)) -> SiteKind {
    sites.sites[outcome.0].kind
}

/// Indices of the outcomes that nothing covers.
fn uncovered(search: &Search<'_>) -> BTreeSet<u32> {
    let open = search.first().iter().enumerate().filter(|(_, first)| first.is_none());
    open.map(|(o, _)| o as u32).collect()
}

/// The kernel with a mark for every outcome, numbered like the outcomes. Gives up at `end`, with a late error.
fn program(under_test: &KernelUnderTest<'_>, outcomes: &[(usize, usize)], end: Instant) -> Result<Program> {
    let module = under_test.module.clone();
    marks::weave(&module, &under_test.sites, outcomes)?;
    let module = promoted::promote_until(&module, &under_test.entry, &under_test.machine, Some(end))?;
    reader::read(&module, &under_test.entry)
}

/// The search for inputs by concolic execution.
struct InputSearch<'p> {
    engine: Engine<'p>,
    program: &'p Program,
    interface: &'p Interface,
    /// The engine's parents, by their number.
    parents: Vec<Launch>,
    /// How many inputs of the corpus the engine knows.
    seen: usize,
    proposals: u64,
}

impl InputSearch<'_> {
    fn run(&mut self, search: &mut Search<'_>, effort: Effort, is_wanted: &dyn Fn(&u32) -> bool) -> Result<GaveUp> {
        let Effort { fruitless: patience, attempts, steps, rlimit } = effort;
        if search.kept().is_empty() {
            return Ok(GaveUp::NoParent);
        }
        let limits = concolic::Limits { rlimit, end: Some(search.limits.end), steps, attempts };
        self.engine.limit(&limits);
        let mut fruitless = 0;
        loop {
            let wanted: BTreeSet<u32> = uncovered(search).into_iter().filter(is_wanted).collect();
            if wanted.is_empty() {
                return Ok(GaveUp::Done);
            }
            match search.over() {
                Some(Ended::OutOfExecutions) => return Ok(GaveUp::OutOfExecutions),
                Some(_) => return Ok(GaveUp::OutOfTime),
                None if fruitless >= patience => return Ok(GaveUp::Fruitless),
                None => {}
            }
            for kept in &search.kept()[self.seen..] {
                self.engine.parent(&kept.launch);
                self.parents.push(kept.launch.clone());
            }
            self.seen = search.kept().len();
            let tried = self.engine.statistics().attempts;
            let Some(proposal) = self.engine.next(&wanted, &limits) else {
                // It used up its attempts, but has more to try.
                let more = self.engine.statistics().attempts - tried >= attempts;
                if more && search.over().is_none() {
                    fruitless += patience.div_ceil(3);
                    continue;
                }
                return Ok(if search.over().is_some() { GaveUp::OutOfTime } else { GaveUp::NoPaths });
            };
            self.proposals += 1;
            let Some(parent) = self.parents.get(proposal.parent) else { continue };
            let launch = proposal.apply(parent);
            let ran = self.attempt(search, launch.clone())?;
            let reached = ran.as_ref().is_some_and(|kept| kept.covers[proposal.aims_at as usize]);
            self.engine.outcome(&proposal, reached.then_some(&launch));
            let gained = match ran {
                Some(kept) => {
                    // The engine knows what it proposed, unless that was changed or did something else.
                    let is_known = reached && kept.launch == launch;
                    let gained = search.consider(kept, "solved".to_owned())?;
                    if is_known {
                        self.seen = search.kept().len();
                    }
                    gained
                }
                None => false,
            };
            fruitless = if gained { 0 } else { fruitless + 1 };
        }
    }

    /// Runs a launch; if it overruns its buffers, once more with longer ones.
    fn attempt(&self, search: &mut Search<'_>, launch: Launch) -> Result<Option<Kept>> {
        let mut preconditions = search.subject.launch_builder.model.preconditions.clone();
        let first = search.attempt_launch(launch.clone(), preconditions.clone(), By::Smt)?;
        if first.as_ref().is_some_and(|kept| kept.faulted.is_empty()) {
            return Ok(first);
        }
        let Some((launch, notes)) = resize_buffers::refitted(self.program, self.interface, &launch, search.limits.end)
        else {
            return Ok(first);
        };
        if search.over().is_some() {
            return Ok(first);
        }
        preconditions.extend(notes);
        Ok(search.attempt_launch(launch, preconditions, By::Smt)?.or(first))
    }
}
