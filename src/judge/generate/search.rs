//! Runs launches with coverage probes and keeps the inputs that cover something new: the corpus that all search
//! strategies share.
//!
//! A strategy submits an input as a genotype, if it knows how the input was made (such inputs can be mutated and made
//! smaller), or as a finished launch.

use std::time::{Duration, Instant};

use kassay_base::error::Result;
use kassay_ir::cfg::sites::{SiteKind, Sites};
use kassay_results::result::generate::By;
use kassay_run::exec::simulator::compare::ComparisonStats;
use kassay_suite::faults::AllowedFault;
use kassay_suite::launch::Launch;

use super::branch_distance::{BranchDistances, Gain};
use super::decode::Decoder;
use super::faulting_launches;
use super::fitting;
use super::genotype::Genotype;
use super::interface_file::UserConstraints;
use super::launch_builder::{FittedPlan, LaunchBuilder};
use super::planned_launch::unique;
use crate::coverage::tally::SiteTally;

/// Decides whether outcomes of a kind of sites make an input worth keeping; line, statement and region coverage follow
/// from the others.
fn is_watched(kind: SiteKind) -> bool {
    match kind {
        SiteKind::Branch | SiteKind::Condition | SiteKind::Loop | SiteKind::Barrier | SiteKind::Decision => true,
        SiteKind::Line | SiteKind::Statement | SiteKind::Region => false,
    }
}

/// Runs launches with coverage probes.
pub trait CoverageRunner {
    /// Runs one launch, for at most `limit`.
    ///
    /// # Errors
    /// `Environment` or `Internal`; a launch that fails is [`RunOutcome::Rejected`], not an error.
    fn run(&mut self, launch: &Launch, limit: Duration) -> Result<RunOutcome>;

    /// Runs a launch that completed again and returns whether it reads local memory that no work-item has written, if
    /// such launches are not wanted: devices leave anything there.
    ///
    /// # Errors
    /// As [`CoverageRunner::run`].
    fn reads_unwritten(&mut self, launch: &Launch, limit: Duration) -> Result<bool> {
        let _ = (launch, limit);
        Ok(false)
    }
}

/// Result of running a launch.
#[derive(Debug, Clone, PartialEq)]
pub enum RunOutcome {
    /// The launch completed, without faults unless it allows them.
    Completed(RunObservation),
    /// It accessed arguments beyond their ends: position of the argument, and end of the access in bytes.
    OutOfBounds(Vec<(u32, u64)>),
    /// It did anything else that is undefined, did not terminate within its time or fuel, or cannot be launched.
    Rejected,
}

/// Observations of a completed launch.
#[derive(Debug, Clone, PartialEq)]
pub struct RunObservation {
    /// By site.
    pub tally: Vec<SiteTally>,
    /// By comparison; empty if comparisons were not recorded.
    pub compared: Vec<ComparisonStats>,
    /// The faults of a launch that allows them.
    pub faulted: Vec<AllowedFault>,
}

/// Limits of a search.
#[derive(Debug, Clone)]
pub struct Limits {
    /// When the time is up.
    pub end: Instant,
    /// Launches that may be made.
    pub max_execs: Option<u64>,
    /// Consecutive attempts without a gain before the search ends; 0: only the first launches are made.
    pub attempts: u64,
    /// Time limit of one launch.
    pub launch: Duration,
}

/// An input that ran, with its coverage. It becomes a test if it is kept.
#[derive(Debug, Clone)]
pub struct TestInput {
    /// Its name in the suite.
    pub name: String,
    /// What found it.
    pub by: By,
    /// How it was made; `None` for finished launches.
    pub(super) genotype: Option<Genotype>,
    /// What ran.
    pub launch: Launch,
    /// Assumptions under which it was made.
    pub preconditions: Vec<String>,
    /// By site: what it covered.
    pub tally: Vec<SiteTally>,
    /// By outcome, in the order of [`outcomes`].
    pub covers: Vec<bool>,
    /// The faults of a launch that allows them; mostly empty.
    pub faulted: Vec<AllowedFault>,
    /// Whether it reads local memory that no work-item has written, as far as that was asked.
    pub reads_unwritten: bool,
}

impl TestInput {
    /// Returns whether everything that it does is defined, as far as that is known.
    pub fn is_clean(&self) -> bool {
        self.faulted.is_empty() && !self.reads_unwritten
    }
}

/// The circumstances under which an outcome was covered first.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FirstCover {
    /// What found the input.
    pub by: By,
    /// Time since the search began.
    pub after: Duration,
}

/// Why a search ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopReason {
    /// Everything is covered.
    Covered,
    /// Too many attempts in a row gained nothing.
    Fruitless,
    /// The time was up.
    OutOfTime,
    /// The limit of launches was reached.
    OutOfExecutions,
    /// No argument may be changed.
    NothingToChange,
}

/// Result of a search.
#[derive(Debug, Clone)]
pub struct SearchResult {
    /// Inputs that together cover everything that is covered.
    pub tests: Vec<TestInput>,
    /// By outcome: how it was covered first, if it was.
    pub first: Vec<Option<FirstCover>>,
    /// By outcome: whether a launch without faults covers it.
    pub clean: Vec<bool>,
    /// What was tried.
    pub statistics: SearchStatistics,
}

/// Returns the watched outcomes, as pairs of the site's position and the outcome's position within it.
pub fn outcomes(sites: &Sites) -> Vec<(usize, usize)> {
    let watched = sites.sites.iter().enumerate().filter(|(_, s)| is_watched(s.kind));
    watched.flat_map(|(s, site)| (0..site.outcomes.len()).map(move |o| (s, o))).collect()
}

/// Progress callback, called after every launch: launches made, covered outcomes, all outcomes.
pub type Progress<'a> = dyn FnMut(u64, usize, usize) + 'a;

/// Called for every input that is kept, before it counts, with the outcomes that it is the first to cover and the
/// statistics so far.
pub type Record<'a> = dyn FnMut(&TestInput, &[usize], &SearchStatistics) -> Result<()> + 'a;

/// Counters of a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
pub struct SearchStatistics {
    /// Launches made.
    pub executions: u64,
    /// Those of them that were rejected.
    pub faulted: u64,
    /// Work-items of the largest completed one.
    pub largest: u64,
}

/// An input that an earlier search kept, read back from its journal.
#[derive(Debug, Clone)]
pub struct ResumedInput {
    /// Its name in the suite.
    pub name: String,
    /// How it was found.
    pub first: FirstCover,
    pub(super) genotype: Option<Genotype>,
    /// What ran.
    pub launch: Launch,
    /// Assumptions under which it was made.
    pub preconditions: Vec<String>,
    /// What had been tried by then.
    pub statistics: SearchStatistics,
}

/// The outcomes that are searched for, and the space of inputs.
#[derive(Clone, Copy)]
pub struct SearchProblem<'a> {
    /// Makes launches of genotypes.
    pub launch_builder: &'a LaunchBuilder<'a>,
    /// The user's, on arguments and NDRange.
    pub constraints: &'a UserConstraints,
    /// As [`outcomes`] returns them.
    pub outcomes: &'a [(usize, usize)],
    /// By outcome: whether it is a goal; other outcomes only make inputs worth keeping.
    pub goals: &'a [bool],
}

/// How often arguments of guessed length may grow for one input.
const MAX_GROWTHS: usize = 6;

/// A launch larger than usual may take at most the remaining time divided by this.
const LARGE_SHARE: u32 = 4;

/// Rejected launches that are kept for [`Search::allow_faults`].
const MAX_FAULTING: usize = 48;

/// A rejected launch.
struct FaultingInput {
    genotype: Option<Genotype>,
    launch: Launch,
    preconditions: Vec<String>,
    by: By,
}

/// Result of one run.
enum Attempt {
    /// `None`: the launch was rejected.
    Done(Option<Box<TestInput>>),
    /// See [`RunOutcome::OutOfBounds`].
    OutOfBounds(Vec<(u32, u64)>),
}

/// State of a search: the corpus, and what it covers.
pub struct Search<'a> {
    /// What is sought, and where.
    pub problem: SearchProblem<'a>,
    /// When it ends.
    pub limits: &'a Limits,
    decoder: Decoder<'a>,
    runner: &'a mut dyn CoverageRunner,
    progress: &'a mut Progress<'a>,
    record: &'a mut Record<'a>,
    started: Instant,
    corpus: Vec<TestInput>,
    first: Vec<Option<FirstCover>>,
    clean: Vec<bool>,
    /// Outcomes that no launch has, by proof: nothing is searched for them.
    closed: Vec<bool>,
    /// Rejected launches, while faults are not allowed: those that fault may be useful once they are.
    faulting: Vec<FaultingInput>,
    allows_faults: bool,
    statistics: SearchStatistics,
    pub(super) distances: BranchDistances,
    /// What the last launch contributed to `distances`.
    pub(super) last_gain: Gain,
}

impl<'a> Search<'a> {
    /// Starts a search with an empty corpus.
    pub fn new(
        problem: SearchProblem<'a>,
        limits: &'a Limits,
        runner: &'a mut dyn CoverageRunner,
        progress: &'a mut Progress<'a>,
        record: &'a mut Record<'a>,
    ) -> Search<'a> {
        Search {
            problem,
            limits,
            decoder: Decoder::new(problem.launch_builder, problem.constraints, limits.end),
            runner,
            progress,
            record,
            started: Instant::now(),
            corpus: Vec::new(),
            first: vec![None; problem.outcomes.len()],
            clean: vec![false; problem.outcomes.len()],
            closed: vec![false; problem.outcomes.len()],
            faulting: Vec::new(),
            allows_faults: false,
            statistics: SearchStatistics::default(),
            distances: BranchDistances::default(),
            last_gain: Gain::default(),
        }
    }

    /// Returns why no more launches may be made; `None` while they may.
    pub fn stop_reason(&self) -> Option<StopReason> {
        if self.limits.max_execs.is_some_and(|most| self.statistics.executions >= most) {
            return Some(StopReason::OutOfExecutions);
        }
        (Instant::now() >= self.limits.end).then_some(StopReason::OutOfTime)
    }

    /// Decodes and runs an input; buffers of guessed length grow if it overruns them. `fitted`: the result of its dry
    /// run, if that was already made.
    pub(super) fn attempt(
        &mut self,
        genotype: Genotype,
        fitted: Option<FittedPlan>,
        by: By,
    ) -> Result<Option<TestInput>> {
        let Some((launch, preconditions)) = self.decoder.decode(&genotype, fitted)? else { return Ok(None) };
        let mut made = (launch, preconditions);
        for _ in 0..MAX_GROWTHS {
            let reached = match self.attempt_with(Some(&genotype), &made.0, by)? {
                Attempt::Done(Some(kept)) => return Ok(Some(TestInput { preconditions: made.1, ..*kept })),
                Attempt::Done(None) => break,
                Attempt::OutOfBounds(reached) => reached,
            };
            if self.stop_reason().is_some() {
                return Ok(None);
            }
            if !self.decoder.grow(&genotype, &reached) {
                break;
            }
            match self.decoder.decode(&genotype, None)? {
                Some(larger) => made = larger,
                None => break,
            }
        }
        self.fault(Some(genotype), made, by)
    }

    /// Returns the launch of a genotype, and its preconditions; `None` as in [`Decoder::decode`].
    pub(super) fn decode(&mut self, genotype: &Genotype) -> Result<Option<(Launch, Vec<String>)>> {
        self.decoder.decode(genotype, None)
    }

    /// Runs a finished launch. `None` if it was rejected: it did something undefined or did not terminate. The input is
    /// not kept yet, see [`Search::consider`].
    ///
    /// # Errors
    /// As [`CoverageRunner::run`].
    pub fn attempt_launch(&mut self, launch: Launch, preconditions: Vec<String>, by: By) -> Result<Option<TestInput>> {
        let mut launch = Launch { allows_faults: false, margins: Vec::new(), ..launch };
        if !fitting::fit(self.problem.constraints, self.problem.launch_builder.model, &mut launch) {
            return Ok(None);
        }
        match self.attempt_with(None, &launch, by)? {
            Attempt::Done(Some(kept)) => Ok(Some(TestInput { preconditions, ..*kept })),
            _ => self.fault(None, (launch, preconditions), by),
        }
    }

    /// Runs a seed as it is, with its genotype where inputs can be made of it. Afterwards as
    /// [`Search::attempt_launch`].
    ///
    /// # Errors
    /// As [`CoverageRunner::run`].
    pub(super) fn attempt_seed(&mut self, launch: &Launch, genotype: Option<Genotype>) -> Result<Option<TestInput>> {
        match self.attempt_with(genotype.as_ref(), launch, By::Seed)? {
            Attempt::Done(found) => Ok(found.map(|found| *found)),
            Attempt::OutOfBounds(_) => Ok(None),
        }
    }

    /// Continues where another search ended: with what it found, and what that covers.
    pub(super) fn continue_from(&mut self, found: &SearchResult) {
        self.corpus.clone_from(&found.tests);
        self.first.clone_from(&found.first);
        self.clean.clone_from(&found.clean);
        self.statistics = found.statistics;
    }

    /// Returns whether launches that fault are accepted.
    pub(super) fn allows_faults(&self) -> bool {
        self.allows_faults
    }

    /// Accepts launches that fault from now on, and reruns those that were rejected.
    ///
    /// # Errors
    /// As [`CoverageRunner::run`], and if an input cannot be recorded.
    pub fn allow_faults(&mut self) -> Result<()> {
        self.allows_faults = true;
        for faulting in std::mem::take(&mut self.faulting) {
            if self.stop_reason().is_some() {
                break;
            }
            let FaultingInput { genotype, launch, preconditions, by } = faulting;
            if let Some(found) = self.fault(genotype, (launch, preconditions), by)? {
                self.consider(found, "with faults".to_owned())?;
            }
        }
        Ok(())
    }

    /// Runs a rejected launch again with its faults allowed, or stores it until they are.
    fn fault(
        &mut self,
        genotype: Option<Genotype>,
        (launch, preconditions): (Launch, Vec<String>),
        by: By,
    ) -> Result<Option<TestInput>> {
        if !self.allows_faults {
            // The first ones differ most from each other.
            if self.faulting.len() < MAX_FAULTING {
                self.faulting.push(FaultingInput { genotype, launch, preconditions, by });
            }
            return Ok(None);
        }
        if self.stop_reason().is_some() {
            return Ok(None);
        }
        let launch = Launch { allows_faults: true, ..launch };
        match self.attempt_with(genotype.as_ref(), &launch, by)? {
            Attempt::Done(Some(kept)) => Ok(Some(TestInput { preconditions, ..*kept })),
            _ => Ok(None),
        }
    }

    fn attempt_with(&mut self, genotype: Option<&Genotype>, launch: &Launch, by: By) -> Result<Attempt> {
        self.statistics.executions += 1;
        let mut left = self.limits.end.saturating_duration_since(Instant::now());
        if launch.range.items() > self.problem.constraints.usual_items {
            left /= LARGE_SHARE;
        }
        let attempt = self.run(genotype, launch, by, self.limits.launch.min(left))?;
        match &attempt {
            Attempt::Done(Some(kept)) => {
                self.statistics.largest = self.statistics.largest.max(kept.launch.range.items())
            }
            _ => self.statistics.faulted += 1,
        }
        Ok(attempt)
    }

    fn run(&mut self, genotype: Option<&Genotype>, launch: &Launch, by: By, limit: Duration) -> Result<Attempt> {
        self.last_gain = Gain::default();
        let RunObservation { tally, compared, faulted } = match self.runner.run(launch, limit)? {
            RunOutcome::Completed(shown) => shown,
            RunOutcome::OutOfBounds(reached) => return Ok(Attempt::OutOfBounds(reached)),
            RunOutcome::Rejected => return Ok(Attempt::Done(None)),
        };
        self.last_gain = self.distances.note(&compared, genotype, launch);
        let covers = self.problem.outcomes.iter().map(|(s, o)| tally[*s].hits[*o] > 0).collect();
        Ok(Attempt::Done(Some(Box::new(TestInput {
            name: String::new(),
            by,
            genotype: genotype.cloned(),
            launch: self.with_margins(launch, &faulted),
            preconditions: Vec::new(),
            tally,
            covers,
            faulted,
            reads_unwritten: false,
        }))))
    }

    /// Returns the launch as it is stored in a test: with margins if it faults, without `allows_faults` if it does not.
    fn with_margins(&self, launch: &Launch, faulted: &[AllowedFault]) -> Launch {
        let allows_faults = launch.allows_faults && !faulted.is_empty();
        let mut launch = Launch { allows_faults, margins: Vec::new(), ..launch.clone() };
        faulting_launches::give_margins(&self.problem.launch_builder.model.interface, faulted, &mut launch);
        launch
    }

    /// Continues from inputs that an earlier search kept: they run again, and what they cover counts as covered at the
    /// time recorded.
    ///
    /// # Errors
    /// As [`CoverageRunner::run`].
    pub fn resume(&mut self, known: Vec<ResumedInput>) -> Result<()> {
        for known in known {
            self.statistics = known.statistics;
            let limit = self.limits.launch;
            let run = self.run(known.genotype.as_ref(), &known.launch, known.first.by, limit)?;
            if let Attempt::Done(Some(mut kept)) = run {
                kept.reads_unwritten = self.reads_unwritten(&kept.launch)?;
                let gained = self.mark_covered(&kept, known.first);
                if !gained.is_empty() || self.corpus.is_empty() {
                    self.corpus.push(TestInput { name: known.name, preconditions: known.preconditions, ..*kept });
                }
            }
        }
        Ok(())
    }

    /// Marks the outcomes of an input as covered; returns those that it is the first to cover, or the first without
    /// a fault.
    fn mark_covered(&mut self, kept: &TestInput, first: FirstCover) -> Vec<usize> {
        let mut gained = Vec::new();
        let is_clean = kept.is_clean();
        for (o, _) in kept.covers.iter().enumerate().filter(|(_, covers)| **covers) {
            if self.first[o].is_none() || is_clean && !self.clean[o] {
                self.first[o].get_or_insert(first);
                gained.push(o);
            }
            self.clean[o] |= is_clean;
        }
        gained
    }

    /// Keeps an input if it covers something new, and reads no local memory that nothing has written, unless nothing
    /// else gets there; returns whether it is kept. `name` gets a number if it is taken.
    ///
    /// # Errors
    /// As [`CoverageRunner::run`], and if the input cannot be recorded.
    pub fn consider(&mut self, mut found: TestInput, name: String) -> Result<bool> {
        let is_new = |o: usize| self.first[o].is_none() || found.faulted.is_empty() && !self.clean[o];
        let gains = (0..self.first.len()).any(|o| found.covers[o] && is_new(o)) || self.corpus.is_empty();
        if gains && self.reads_unwritten(&found.launch)? {
            if !self.allows_faults {
                self.statistics.faulted += 1;
                if self.faulting.len() < MAX_FAULTING {
                    let TestInput { genotype, launch, preconditions, by, .. } = found;
                    self.faulting.push(FaultingInput { genotype, launch, preconditions, by });
                }
                return Ok(false);
            }
            found.reads_unwritten = true;
        }
        self.keep(found, name)
    }

    /// Returns whether a launch that completed reads local memory that no work-item has written.
    ///
    /// # Errors
    /// As [`CoverageRunner::run`].
    pub(super) fn reads_unwritten(&mut self, launch: &Launch) -> Result<bool> {
        let left = self.limits.end.saturating_duration_since(Instant::now());
        self.runner.reads_unwritten(launch, self.limits.launch.min(left))
    }

    /// Keeps an input if it covers something new; returns whether it does. `name` gets a number if it is taken.
    ///
    /// # Errors
    /// If the input cannot be recorded.
    pub(super) fn keep(&mut self, mut found: TestInput, name: String) -> Result<bool> {
        let first = FirstCover { by: found.by, after: self.started.elapsed() };
        let gained = self.mark_covered(&found, first);
        // A suite has at least one test, even if there is nothing to cover.
        if !gained.is_empty() || self.corpus.is_empty() {
            found.name = unique(name, self.corpus.iter().map(|k| k.name.as_str()));
            (self.record)(&found, &gained, &self.statistics)?;
            self.corpus.push(found);
        }
        let covered = self.first.iter().flatten().count();
        (self.progress)(self.statistics.executions, covered, self.first.len());
        Ok(!gained.is_empty())
    }

    /// Returns the counters so far.
    pub fn statistics(&self) -> SearchStatistics {
        self.statistics
    }

    /// Returns the inputs kept so far.
    pub fn corpus(&self) -> &[TestInput] {
        &self.corpus
    }

    /// Returns how each outcome was covered first, `None` if it is uncovered.
    pub fn first(&self) -> &[Option<FirstCover>] {
        &self.first
    }

    /// Searches no more for the outcome with this index, because it is proved infeasible.
    pub fn close(&mut self, outcome: usize) {
        self.closed[outcome] = true;
    }

    fn is_settled(&self, outcome: usize) -> bool {
        self.first[outcome].is_some() || self.closed[outcome]
    }

    /// Returns whether every goal is covered or proved infeasible.
    pub fn goals_covered(&self) -> bool {
        self.problem.goals.iter().enumerate().all(|(outcome, is_goal)| self.is_settled(outcome) || !is_goal)
    }

    /// Returns whether every watched outcome is covered or proved infeasible, and the corpus is not empty.
    pub fn all_covered(&self) -> bool {
        !self.corpus.is_empty() && (0..self.first.len()).all(|outcome| self.is_settled(outcome))
    }

    /// Replaces the corpus and returns the old one.
    pub(super) fn replace(&mut self, kept: Vec<TestInput>) -> Vec<TestInput> {
        std::mem::replace(&mut self.corpus, kept)
    }

    /// Ends the search.
    pub fn finish(self) -> SearchResult {
        SearchResult { tests: self.corpus, first: self.first, clean: self.clean, statistics: self.statistics }
    }
}
