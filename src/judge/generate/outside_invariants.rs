//! Searches outside the likely invariants of seeds: for goals that no launch which keeps them came to. What is found
//! stays apart from the suite, and says which likely invariants stand in the way.

use std::path::Path;
use std::time::{Duration, Instant};

use kassay_base::error::Result;
use kassay_ir::cfg::sites::SiteKind;
use kassay_prove::symbolic::infeasible::ProofOutcome;
use kassay_results::result::generate::{ExcludedGoal, Goal};

use super::fuzz::{self, Share};
use super::interface_file::UserConstraints;
use super::launches::Request;
use super::likely_invariants::{LikelyInvariant, LikelyInvariants};
use super::model::KernelModel;
use super::planned_launch::unique;
use super::search::{CoverageRunner, FirstCover, Limits, Progress, Search, SearchProblem, SearchResult, TestInput};
use super::seeds::Seeds;
use super::solving;
use crate::coverage::build::{self, KernelUnderTest};

/// The search that keeps the likely invariants leaves one part in this many of its time and launches.
const PART: u32 = 4;

/// The preparations of solving take up to this many times as long as the analysis of the kernel.
const PREPARATIONS: u32 = 4;

/// Returns the limits of a search that leaves a part to the next one; `made`: launches made before it.
pub(super) fn limits_before(all: &Limits, started: Instant, made: u64) -> Limits {
    let left = all.end.saturating_duration_since(started);
    let max_execs = all.max_execs.map(|n| n - n.saturating_sub(made) / u64::from(PART));
    Limits { end: all.end - left / PART, max_execs, ..all.clone() }
}

/// What was searched for before.
pub(super) struct Searched<'a, 'c> {
    pub under_test: &'a KernelUnderTest<'c>,
    pub request: &'a Request,
    /// Of everything together.
    pub limits: &'a Limits,
    /// Whether outcomes are solved for.
    pub solve: bool,
    /// Path of the kernel's file.
    pub source: &'a Path,
    /// Time that the inference of the kernel model took.
    pub analysis_time: Duration,
    /// By watched outcome.
    pub proofs: &'a [Option<ProofOutcome>],
    /// Kinds of sites whose outcomes are goals.
    pub kinds: &'a [SiteKind],
}

/// What launches reach that break likely invariants.
#[derive(Default)]
pub(super) struct OutsideInvariants<'s> {
    pub tests: Vec<TestInput>,
    pub goals: Vec<Excluded<'s>>,
}

/// A goal that only launches reach which break likely invariants.
pub(super) struct Excluded<'s> {
    /// The watched outcome.
    pub outcome: usize,
    breaks: Vec<&'s LikelyInvariant>,
    test: String,
}

impl Excluded<'_> {
    /// Returns the row of the result; `None` for a goal that is no outcome.
    pub(super) fn row(&self, goal: &Goal, model: &KernelModel) -> Option<ExcludedGoal> {
        Some(ExcludedGoal {
            site: goal.site.clone()?,
            outcome: goal.outcome.clone()?,
            location: goal.location.clone(),
            breaks: self.breaks.iter().map(|c| c.rule.text(model)).collect(),
            test: self.test.clone(),
        })
    }
}

/// Searches without likely invariants for goals that are open. Launches that keep them all the same are added to what
/// was `found` before.
///
/// # Errors
/// As [`super::search::CoverageRunner::run`].
pub(super) fn search<'s>(
    searched: &Searched<'_, '_>,
    problem: SearchProblem<'_>,
    seeds: &'s Seeds,
    found: &mut SearchResult,
    runner: &mut dyn CoverageRunner,
    progress: &mut Progress<'_>,
) -> Result<OutsideInvariants<'s>> {
    let is_infeasible = |o: usize| matches!(searched.proofs.get(o), Some(Some(ProofOutcome::Infeasible { .. })));
    // Only goals: other outcomes make no input worth keeping here.
    let is_open = |first: &[Option<FirstCover>], o: usize| problem.goals[o] && first[o].is_none() && !is_infeasible(o);
    let open: Vec<usize> = (0..problem.goals.len()).filter(|o| is_open(&found.first, *o)).collect();
    if open.is_empty() || searched.limits.attempts == 0 {
        return Ok(OutsideInvariants::default());
    }
    let constraints = UserConstraints { keeps_invariants: false, ..problem.constraints.clone() };
    let problem = SearchProblem { constraints: &constraints, ..problem };
    let mut record = |_: &TestInput, _: &[usize], _: &_| Ok(());
    // The rest is for finding out which likely invariants stand in the way.
    let limits = limits_before(searched.limits, Instant::now(), found.statistics.executions);
    let mut search = Search::new(problem, &limits, runner, progress, &mut record);
    search.continue_from(found);
    if search.stop_reason().is_none() {
        // What is still open is the same whatever the likely invariants: launches differ from those before by another
        // seed.
        let request = Request { seed: searched.request.seed ^ 1, ..searched.request.clone() };
        let share = Share::of(&limits, Instant::now(), searched.solve);
        let share = Share { max_execs: share_of_launches(&search, &limits, searched.solve), ..share };
        fuzz::fuzz(&mut search, &request, &share, &mut |_| Ok(()))?;
    }
    // Preparations take several times as long as the analysis did; with less time left there would be nothing to show.
    let left = limits.end.saturating_duration_since(Instant::now());
    let is_wanted = open.iter().any(|o| search.first()[*o].is_none()) && left > searched.analysis_time * PREPARATIONS;
    if searched.solve && search.stop_reason().is_none() && is_wanted {
        let sources = build::sources_of(searched.source).within(searched.under_test.sandbox.clone());
        let known = searched.proofs.to_vec();
        // What is undecided has been tried to be proved; here only inputs count.
        let kinds = searched.kinds;
        let analysis = searched.analysis_time;
        solving::solve(&mut search, searched.under_test, kinds, known, &mut |_, _| Ok(()), &sources, analysis)?;
    }
    let after = search.finish();
    found.statistics = after.statistics;
    let mut search = Search::new(problem, searched.limits, runner, progress, &mut record);
    search.continue_from(&after);
    let mut outside = OutsideInvariants::default();
    for test in after.tests {
        let gains: Vec<usize> = open.iter().copied().filter(|o| test.covers[*o]).collect();
        for outcome in gains {
            let test = least_broken(&mut search, &seeds.invariants, &test, outcome)?;
            let breaks = seeds.invariants.broken(&test.launch);
            if breaks.is_empty() {
                adopt(found, test, &after.first);
                continue;
            }
            let name = match outside.tests.iter().find(|known| known.launch == test.launch) {
                Some(known) => known.name.clone(),
                None => {
                    let name = unique(test.name.clone(), outside.tests.iter().map(|t| t.name.as_str()));
                    outside.tests.push(TestInput { name: name.clone(), ..test });
                    name
                }
            };
            outside.goals.push(Excluded { outcome, breaks, test: name });
        }
    }
    found.statistics = search.finish().statistics;
    // One launch is enough for each, that which breaks least, unless the suite covers the goal by now.
    outside.goals.sort_by_key(|one| (one.outcome, one.breaks.len()));
    outside.goals.dedup_by_key(|one| one.outcome);
    outside.goals.retain(|one| found.first[one.outcome].is_none());
    outside.tests.retain(|test| outside.goals.iter().any(|one| one.test == test.name));
    Ok(outside)
}

/// Adds a test that keeps all likely invariants to what was found, unless it covers nothing new by now.
fn adopt(found: &mut SearchResult, test: TestInput, first: &[Option<FirstCover>]) {
    let gains = |o: usize| test.covers[o] && (found.first[o].is_none() || !found.clean[o] && test.is_clean());
    if !(0..test.covers.len()).any(gains) {
        return;
    }
    for (o, _) in test.covers.iter().enumerate().filter(|(_, covers)| **covers) {
        found.first[o] = found.first[o].or(first[o]);
        found.clean[o] |= test.is_clean();
    }
    let name = unique(test.name.clone(), found.tests.iter().map(|t| t.name.as_str()));
    found.tests.push(TestInput { name, ..test });
}

/// Returns a launch that covers the outcome as the test does, and keeps as many of the likely invariants as can be kept
/// one after the other.
fn least_broken(
    search: &mut Search<'_>,
    invariants: &LikelyInvariants,
    test: &TestInput,
    outcome: usize,
) -> Result<TestInput> {
    let mut best = test.clone();
    let mut kept = invariants.only(|invariant| invariant.rule.holds(&best.launch));
    for broken in invariants.broken(&test.launch) {
        if search.stop_reason().is_some() {
            break;
        }
        let more = invariants.only(|invariant| invariant == broken || kept.all.contains(invariant));
        let mut launch = best.launch.clone();
        if !more.restore(&mut launch) {
            continue;
        }
        let made = search.attempt_launch(launch, best.preconditions.clone(), best.by)?;
        if let Some(made) = made.filter(|made| made.covers[outcome] && made.is_clean()) {
            best = TestInput { name: best.name, ..made };
            kept = more;
        }
    }
    Ok(best)
}

/// Returns how many launches fuzzing may have made at its end, half of those left if solving follows.
fn share_of_launches(search: &Search<'_>, limits: &Limits, solving: bool) -> Option<u64> {
    let made = search.statistics().executions;
    let share = |all: u64| if solving { made + all.saturating_sub(made).div_ceil(2) } else { all };
    limits.max_execs.map(share)
}
