//! Solves for what fuzzing leaves uncovered (PENG algorithm 2): proofs that outcomes are infeasible, and inputs derived
//! from path conditions of runs that come near the others. Inputs that a model proposes are run; only what the run
//! shows counts.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use kassay_base::error::Result;
use kassay_ir::cfg::sites::{SiteKind, Sites};
use kassay_ir::kernel::builtins::{self, Effect};
use kassay_ir::kernel::source::Sources;
use kassay_model::interface::Interface;
use kassay_prove::program::{Op, Program, promoted, reader};
use kassay_prove::solve::query;
use kassay_prove::symbolic::concolic::{self, Bound, Engine, Ranges};
use kassay_prove::symbolic::infeasible::{self, LaunchLimits, ProofOutcome};
use kassay_results::result::generate::By;
use kassay_run::exec::simulator;
use kassay_suite::launch::Launch;
use kassay_suite::scalar_layout;

use super::assign::Number;
use super::interface_file::{ArgConstraints, UserConstraints};
use super::minimise;
use super::resize_buffers;
use super::search::{Search, StopReason, TestInput};
use crate::coverage::build::KernelUnderTest;

/// Z3's resource limits for one proof and for one path: measures of work, not of time.
const PROOF_RLIMIT: u32 = 2_000_000;
/// See [`PROOF_RLIMIT`].
pub(super) const PATH_RLIMIT: u32 = 1_000_000;
/// The first proofs may take at most the remaining time divided by this; those that they do not get to follow the
/// search for inputs.
const PROOFS_SHARE: u32 = 4;
/// What is proved before anything is searched for may take the remaining time divided by this, and a part of the work
/// of later proofs.
const CLOSING_SHARE: u32 = 10;
/// See [`CLOSING_SHARE`].
const CLOSING_EFFORT: u32 = 4;
/// Consecutive proposals without a gain before the search gives up.
pub(super) const MAX_FRUITLESS: u32 = 60;
/// Conditions flipped per proposal.
pub(super) const MAX_FLIPS: u64 = 400;
/// Instructions of one interpreted launch.
pub(super) const MAX_STEPS: u64 = 500_000;
/// Effort for goals, and for other outcomes, of which only those that are found at once are sought.
const GOAL_EFFORT: Effort =
    Effort { fruitless: MAX_FRUITLESS, attempts: MAX_FLIPS, steps: MAX_STEPS, rlimit: PATH_RLIMIT };
const OTHER_EFFORT: Effort = Effort { fruitless: 1, attempts: 6, steps: 30_000, rlimit: 100_000 };

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
pub struct SolvingResult {
    /// By watched outcome: the result of its proof; `None` for covered outcomes and where no proof was tried.
    pub proofs: Vec<Option<ProofOutcome>>,
    /// Why the search for inputs ended.
    pub ended: Option<SolvingStop>,
    /// Inputs that the solver proposed.
    pub proposals: u64,
    /// Time taken, in seconds.
    pub took: f64,
}

/// Why no more inputs were proposed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SolvingStop {
    /// No wanted outcome is left.
    Done,
    /// All branches on the observed paths were tried in both directions.
    NoPaths,
    /// Too many proposals in a row gained nothing.
    Fruitless,
    /// The time was up.
    OutOfTime,
    /// The limit of launches was reached.
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
    analysis_time: Duration,
) -> Result<SolvingResult> {
    let started = Instant::now();
    let mut solved = SolvingResult { proofs: known, ..SolvingResult::default() };
    let outcomes = search.problem.outcomes;
    let open = uncovered(search);
    if open.is_empty() {
        solved.ended = Some(SolvingStop::Done);
        return Ok(solved);
    }
    if let Some(stop) = search.stop_reason() {
        solved.ended = Some(if stop == StopReason::OutOfExecutions {
            SolvingStop::OutOfExecutions
        } else {
            SolvingStop::OutOfTime
        });
        return Ok(solved);
    }
    // Reading takes as long as the inference of the model did, and a little more for the marks.
    if Instant::now() + analysis_time.mul_f64(1.2) > search.limits.end {
        solved.ended = Some(SolvingStop::OutOfTime);
        return Ok(solved);
    }
    let program = match program(under_test, outcomes, search.limits.end) {
        Err(e) if e.is_late() => {
            solved.ended = Some(SolvingStop::OutOfTime);
            return Ok(solved);
        }
        program => program?,
    };
    let goals: BTreeSet<u32> =
        open.iter().copied().filter(|o| goals.contains(&kind(&under_test.sites, outcomes[*o as usize]))).collect();
    let proved =
        |proofs: &[Option<ProofOutcome>], o: u32| matches!(proofs[o as usize], Some(ProofOutcome::Infeasible { .. }));
    let asked: Vec<u32> = goals.iter().copied().filter(|o| !proved(&solved.proofs, *o)).collect();
    let left = search.limits.end.saturating_duration_since(Instant::now());
    let end = Instant::now() + left / PROOFS_SHARE;
    let mut prove = |asked: &[u32], end: Instant, proofs: &mut Vec<Option<ProofOutcome>>| -> Result<()> {
        let limits = query::Limits { rlimit: PROOF_RLIMIT, end: Some(end) };
        for (outcome, proof) in
            asked.iter().zip(infeasible::prove(&program, &under_test.interface, asked, &[], sources, &limits))
        {
            decided(*outcome as usize, &proof)?;
            proofs[*outcome as usize] = Some(proof);
        }
        Ok(())
    };
    prove(&asked, end, &mut solved.proofs)?;
    let was_short = Instant::now() >= end;
    // Launches are interpreted with all their work-items, so the fewer the better.
    minimise::minimise(search)?;
    let constraints = search.problem.constraints;
    let engine = Engine::new(&program, &under_test.interface, &bounds(constraints), ranges(constraints));
    let mut input_search = InputSearch::new(engine, &program, &under_test.interface);
    let ended = input_search.run(search, GOAL_EFFORT, &|o| goals.contains(o) && !proved(&solved.proofs, *o))?;
    solved.ended = Some(ended);
    if was_short && search.stop_reason().is_none() {
        let open = uncovered(search);
        let again: Vec<u32> =
            asked.iter().copied().filter(|o| open.contains(o) && !proved(&solved.proofs, *o)).collect();
        prove(&again, search.limits.end, &mut solved.proofs)?;
    }
    explain(search, &program, &under_test.interface, &mut solved.proofs, sources);
    if matches!(ended, SolvingStop::Done | SolvingStop::Fruitless | SolvingStop::NoPaths) {
        input_search.run(search, OTHER_EFFORT, &|o| !goals.contains(o))?;
    }
    solved.proposals = input_search.proposals;
    solved.took = started.elapsed().as_secs_f64();
    Ok(solved)
}

/// Closes the goals that are soon proved infeasible, before anything is searched for them. `proofs`: by watched
/// outcome; what is proved is added.
///
/// # Errors
/// `Internal` if the kernel cannot be read; as `decided` of [`solve`].
pub fn close(
    search: &mut Search<'_>,
    under_test: &KernelUnderTest<'_>,
    goals: &[SiteKind],
    proofs: &mut [Option<ProofOutcome>],
    decided: &mut dyn FnMut(usize, &ProofOutcome) -> Result<()>,
    sources: &Sources,
    analysis_time: Duration,
) -> Result<()> {
    let outcomes = search.problem.outcomes;
    let is_asked = |o: &u32| {
        let outcome = *o as usize;
        proofs[outcome].is_none() && goals.contains(&kind(&under_test.sites, outcomes[outcome]))
    };
    let asked: Vec<u32> = uncovered(search).into_iter().filter(is_asked).collect();
    let end = Instant::now() + search.limits.end.saturating_duration_since(Instant::now()) / CLOSING_SHARE;
    if asked.is_empty() || Instant::now() + analysis_time.mul_f64(1.2) > end {
        return Ok(());
    }
    let program = match program(under_test, outcomes, end) {
        Err(e) if e.is_late() => return Ok(()),
        program => program?,
    };
    let limits = query::Limits { rlimit: PROOF_RLIMIT / CLOSING_EFFORT, end: Some(end) };
    let found = infeasible::prove(&program, &under_test.interface, &asked, &[], sources, &limits);
    for (outcome, proof) in asked.into_iter().zip(found) {
        let outcome = outcome as usize;
        // What is not proved now is asked again with more effort.
        if matches!(proof, ProofOutcome::Infeasible { .. }) {
            decided(outcome, &proof)?;
            search.close(outcome);
            proofs[outcome] = Some(proof);
        }
    }
    Ok(())
}

/// Searches for launches that reach these outcomes, even if they fault.
///
/// # Errors
/// As [`solve`].
pub fn solve_with_faults(search: &mut Search<'_>, under_test: &KernelUnderTest<'_>, wanted: &[usize]) -> Result<()> {
    let program = match program(under_test, search.problem.outcomes, search.limits.end) {
        Err(e) if e.is_late() => return Ok(()),
        program => program?,
    };
    let constraints = search.problem.constraints;
    let engine =
        Engine::new(&program, &under_test.interface, &bounds(constraints), ranges(constraints)).allowing_faults();
    let mut input_search = InputSearch::new(engine, &program, &under_test.interface);
    input_search.run(search, GOAL_EFFORT, &|o| wanted.contains(&(*o as usize)))?;
    Ok(())
}

/// Explains outcomes that stay open where no launch within the limits is large enough for them. That is no proof,
/// because launches elsewhere may be larger.
fn explain(
    search: &Search<'_>,
    program: &Program,
    interface: &Interface,
    proofs: &mut [Option<ProofOutcome>],
    sources: &Sources,
) {
    let is_open = |o: &u32| matches!(proofs[*o as usize], Some(ProofOutcome::Unknown { .. }));
    let open: Vec<u32> = uncovered(search).into_iter().filter(is_open).collect();
    let asks = |op: &Op| matches!(op, Op::Call(_, base) if builtins::has(base, Effect::LimitedByLaunchSize));
    if open.is_empty() || search.stop_reason().is_some() || !program.instructions().any(|(_, i)| asks(&i.op)) {
        return;
    }
    let end = Instant::now() + search.limits.end.saturating_duration_since(Instant::now()) / PROOFS_SHARE;
    let ranges = ranges(search.problem.constraints);
    let most = LaunchLimits { items: ranges.max_items, group: ranges.max_group };
    let limits = query::Limits { rlimit: PROOF_RLIMIT / 8, end: Some(end) };
    for (outcome, proof) in open.iter().zip(infeasible::prove_within(program, interface, &open, most, sources, &limits))
    {
        if let ProofOutcome::Infeasible { reason, preconditions } = proof
            && preconditions.iter().any(|p| most.is_stated_by(p))
        {
            let reason = format!("no launch is large enough for it here ({reason})");
            proofs[*outcome as usize] = Some(ProofOutcome::Unknown { reason, bound: None });
        }
    }
}

/// Returns the user's bounds on arguments.
pub(super) fn bounds(constraints: &UserConstraints) -> Vec<Bound> {
    let number = |n: Number| match n {
        Number::Integer(n) => scalar_layout::Number::Integer(n),
        Number::Float(x) => scalar_layout::Number::Float(x),
    };
    let bound = |(position, constraint): (usize, &ArgConstraints)| Bound {
        position,
        fixed: !constraint.fuzz,
        least: constraint.least.map(number),
        greatest: constraint.greatest.map(number),
    };
    constraints.args.iter().enumerate().map(bound).collect()
}

/// Returns the user's bounds on the NDRange.
pub(super) fn ranges(constraints: &UserConstraints) -> Ranges {
    Ranges {
        fixed: constraints.range.is_some(),
        local: constraints.local,
        max_items: constraints.max_items,
        max_group: simulator::device().max_work_group_size,
        usual_items: constraints.usual_items,
        ..Ranges::default()
    }
}

fn kind(sites: &Sites, outcome: (usize, usize)) -> SiteKind {
    sites.sites[outcome.0].kind
}

/// Returns the indices of the outcomes that nothing covers.
fn uncovered(search: &Search<'_>) -> BTreeSet<u32> {
    let open = search.first().iter().enumerate().filter(|(_, first)| first.is_none());
    open.map(|(o, _)| o as u32).collect()
}

/// Returns the kernel with a mark for every outcome, numbered like the outcomes. Gives up at `end`, with a late error.
fn program(under_test: &KernelUnderTest<'_>, outcomes: &[(usize, usize)], end: Instant) -> Result<Program> {
    let module = under_test.marked(outcomes)?;
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
    known_inputs: usize,
    proposals: u64,
}

impl<'p> InputSearch<'p> {
    /// Begins a search in which the engine knows no input yet.
    fn new(engine: Engine<'p>, program: &'p Program, interface: &'p Interface) -> InputSearch<'p> {
        InputSearch { engine, program, interface, parents: Vec::new(), known_inputs: 0, proposals: 0 }
    }

    fn run(
        &mut self,
        search: &mut Search<'_>,
        effort: Effort,
        is_wanted: &dyn Fn(&u32) -> bool,
    ) -> Result<SolvingStop> {
        let Effort { fruitless: max_fruitless, attempts, steps, rlimit } = effort;
        if search.corpus().is_empty() {
            return Ok(SolvingStop::NoParent);
        }
        let limits = concolic::Limits { rlimit, end: Some(search.limits.end), steps, attempts };
        self.engine.limit(&limits);
        let mut fruitless = 0;
        loop {
            let wanted: BTreeSet<u32> = uncovered(search).into_iter().filter(is_wanted).collect();
            if wanted.is_empty() {
                return Ok(SolvingStop::Done);
            }
            match search.stop_reason() {
                Some(StopReason::OutOfExecutions) => return Ok(SolvingStop::OutOfExecutions),
                Some(_) => return Ok(SolvingStop::OutOfTime),
                None if fruitless >= max_fruitless => return Ok(SolvingStop::Fruitless),
                None => {}
            }
            for kept in &search.corpus()[self.known_inputs..] {
                self.engine.parent(&kept.launch);
                self.parents.push(kept.launch.clone());
            }
            self.known_inputs = search.corpus().len();
            let attempts_before = self.engine.statistics().attempts;
            let Some(proposal) = self.engine.next(&wanted, &limits) else {
                // It used up its attempts, but has more to try.
                let more = self.engine.statistics().attempts - attempts_before >= attempts;
                if more && search.stop_reason().is_none() {
                    fruitless += max_fruitless.div_ceil(3);
                    continue;
                }
                return Ok(if search.stop_reason().is_some() { SolvingStop::OutOfTime } else { SolvingStop::NoPaths });
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
                        self.known_inputs = search.corpus().len();
                    }
                    gained
                }
                None => false,
            };
            fruitless = if gained { 0 } else { fruitless + 1 };
        }
    }

    /// Runs a launch; if it overruns its buffers, once more with longer ones.
    fn attempt(&self, search: &mut Search<'_>, launch: Launch) -> Result<Option<TestInput>> {
        let mut preconditions = search.problem.launch_builder.model.preconditions.clone();
        let first = search.attempt_launch(launch.clone(), preconditions.clone(), By::Smt)?;
        if first.as_ref().is_some_and(|kept| kept.faulted.is_empty()) {
            return Ok(first);
        }
        let Some((launch, notes)) = resize_buffers::resized(self.program, self.interface, &launch, search.limits.end)
        else {
            return Ok(first);
        };
        if search.stop_reason().is_some() {
            return Ok(first);
        }
        preconditions.extend(notes);
        Ok(search.attempt_launch(launch, preconditions, By::Smt)?.or(first))
    }
}
