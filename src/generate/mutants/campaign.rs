//! From a suite that covers a kernel's branches to one that kills its mutants.

use std::collections::HashMap;
use std::path::Path;
use std::time::{Duration, Instant};

use super::goals::{self, Searched, View};
use super::kill_search::{KillSearch, KillSearchResult, KillingInput};
use super::mutant_pool::{MutantPool, Rules};
use super::proposer::{Marked, Nobody, Proposer, Solver};
use crate::coverage::build::KernelUnderTest;
use crate::coverage::summary::{self, TestTally};
use crate::error::Result;
use crate::exec::Executor;
use crate::generate::campaign::{self as branches, Generated, Kernel, Log, Options};
use crate::generate::genotype::Genotype;
use crate::generate::interface_file::Wishes;
use crate::generate::journal::{Entry, TestEntry};
use crate::generate::launch_builder::LaunchBuilder;
use crate::generate::launches::{self, unique};
use crate::generate::model::KernelModel;
use crate::generate::search::{self, Ended, Kept, Limits, Progress, Ran, Runs, Shown, Subject, Tried};
use crate::kernel::ast::Ast;
use crate::kernel::source::Sources;
use crate::mutation::campaign::{self, CampaignContext, Request};
use crate::mutation::engine::Strategy;
use crate::mutation::{ByMutant, Mutant, Selection};
use crate::result::generate::{GoalStatus, Scores};
use crate::result::mutate::{self as rows, MutateResult, Status, TestStatus};
use crate::result::mutate_summary;
use crate::suite::launch::Launch;
use crate::suite::resolve::{Suite, Test};

/// Fuel and time of a mutant, as a multiple of the original's; wall-clock limit of one run of the original: as `kassay mutate` has them.
const FACTOR: f64 = 10.0;
const ORIGINAL: Duration = Duration::from_secs(60);

/// The share of the time that the suite for the branches may take.
const BRANCHES: f64 = 0.3;

/// The share of the time that is over when the first mutation run stops, proofs of equivalence included.
const TRIED: f64 = 0.7;

/// Instructions that are brought into normal forms before the first run, at most: about a second, as the time is limited.
const BEFORE: u64 = 200_000;

/// What the last mutation run is given, as a multiple of what the first took, and besides.
const AGAIN: f64 = 1.5;
const BESIDES: Duration = Duration::from_millis(300);

/// A kernel whose mutants are to be killed.
pub struct Job<'a, 'c> {
    pub under_test: &'a KernelUnderTest<'c>,
    pub ast: Option<&'a Ast>,
    pub sources: &'a Sources,
    pub model: &'a KernelModel,
    pub wishes: &'a Wishes,
    /// Their limits hold for all of it, the suite that covers the branches included.
    pub options: &'a Options,
    pub selection: Selection,
    /// So many mutants are drawn.
    pub sample: Option<u64>,
    /// StartingExecutors of the device; threads of the simulator.
    pub jobs: u32,
    /// Where the suite is written.
    pub folder: &'a Path,
    pub kernel: Kernel<'a>,
}

/// What runs launches.
pub struct Around<'a> {
    /// Executors of the device that decides fates, anew each time.
    pub lanes: &'a mut dyn FnMut() -> Result<Vec<Box<dyn Executor>>>,
    /// The kernel with coverage probes.
    pub runs: &'a mut dyn Runs,
    pub progress: &'a mut Progress<'a>,
    /// What the search goes on from, and writes down.
    pub log: Log<'a>,
}

/// What came of it.
pub struct Done {
    pub generated: Generated,
    /// Of the suite as it was written; `None` if it has no test.
    pub mutation: Option<MutateResult>,
    pub scores: Scores,
}

/// The limits of the search for a suite that covers the branches, with which everything begins, now.
pub fn branch_limits(limits: &Limits) -> Limits {
    let now = Instant::now();
    let share = limits.end.saturating_duration_since(now).mul_f64(BRANCHES);
    Limits { end: now + share, max_execs: limits.max_execs.map(|n| n.div_ceil(2)), ..limits.clone() }
}

/// Runs mutation testing on `branch`'s suite, searches for inputs that kill what survives, adds them, and runs it again on all.
/// Writes the suite.
///
/// # Errors
/// Of the environment; `Internal` if a pass fails.
pub fn generate(job: &Job<'_, '_>, branch: Generated, around: Around<'_>) -> Result<Done> {
    let Around { lanes, runs, progress, log } = around;
    let mut generated = branch;
    branches::write_suite(job.folder, job.kernel, job.under_test, &generated.tests)?;
    if generated.tests.is_empty() {
        generated.goals.clear();
        (generated.summary.covered, generated.summary.unknown) = (0, 0);
        generated.notes.push("mutants are killed by tests, and there is none".to_owned());
        return Ok(Done { generated, mutation: None, scores: Scores::default() });
    }
    let mut trials = Trials { job, lanes, known: None, cost: Duration::ZERO };
    let tests = trials.tests()?;
    let first = trials.first_run(&tests, &log)?;
    let tried = Instant::now();
    let mut scores = Scores { branch_suite: first.summary.score, suite: first.summary.score };

    let mutants = trials.mutants(&tests);
    let open = open(&mutants, &first);
    let limits = trials.search_limits(generated.summary.executions);
    let mut hunted = None;
    let mut refused = ByMutant::default();
    // Modules for the search take about as long as those of the run before.
    let has_time = Instant::now() + trials.cost < limits.end;
    if let (true, false, Some(test)) = (has_time, open.is_empty(), tests.first()) {
        let threads = job.jobs as usize;
        let rules = Rules { factor: FACTOR, threads, end: limits.end };
        let marked = if job.options.solve { Some(Marked::new(job.under_test, &open)?) } else { None };
        let mut pool = MutantPool::new(job.under_test, open.clone(), &test.outputs, rules)?;
        hunted = Some(hunt(job, &mut pool, marked.as_ref(), &generated.tests, &limits, (progress, &log))?);
        refused = pool.refused;
    }
    let smt_s = hunted.as_ref().map_or(0.0, |h: &KillSearchResult| h.solving.as_secs_f64());
    let mut mutation = first;
    if let Some(hunted) = &hunted {
        generated.summary.executions += hunted.tried.executions;
        generated.summary.faulted += hunted.tried.faulted;
        mutation = trials.add(&mut generated, &hunted.caught, runs, mutation)?;
    }
    scores.suite = mutation.summary.score;
    let ended = ended(hunted.as_ref().map_or(Ended::OutOfTime, |h| h.ended), job.options);
    let searched = hunted.as_ref().map(|hunted| Searched { mutants: &open, refused: &refused, hunted });
    generated.goals = goals::goals(&View {
        mutation: &mutation,
        tests: &generated.tests,
        searched,
        ended: &ended,
        source: &job.options.source,
        begun: job.options.begun,
        tried,
    });
    sum_up(job, &mut generated, smt_s);
    Ok(Done { generated, mutation: Some(mutation), scores })
}

/// Why nothing more was found.
fn ended(ended: Ended, options: &Options) -> String {
    let search = match ended {
        Ended::Fruitless if options.limits.attempts == 0 => "none of the first launches kills it".to_owned(),
        ended => branches::searched(ended, options.limits.attempts),
    };
    match (ended, options.solve) {
        (_, false) => format!("{search}; not solved for: --no-smt was given"),
        (Ended::Fruitless | Ended::Nothing, true) => format!("{search}, and solving for other values found no input"),
        _ => search,
    }
}

/// The mutants that no test decides.
fn open<'m>(mutants: &'m [Mutant], result: &MutateResult) -> ByMutant<&'m Mutant> {
    let is_open =
        |status| matches!(status, Status::Survived | Status::NoCoverage | Status::Undecided | Status::Pending);
    let rows = result.mutants.iter().filter(|row| row.duplicate_of.is_none() && is_open(row.status));
    rows.filter_map(|row| mutants.iter().find(|m| m.id == row.id)).collect()
}

/// Searches for inputs that kill what is in the arena.
fn hunt<'a>(
    job: &'a Job<'_, '_>,
    pool: &mut MutantPool<'_>,
    marked: Option<&Marked>,
    tests: &[Kept],
    limits: &Limits,
    (progress, log): (&mut Progress<'a>, &Log<'_>),
) -> Result<KillSearchResult> {
    let launch_builder = LaunchBuilder::new(job.model, branches::cost(job.wishes, job.options));
    let outcomes = search::outcomes(&job.under_test.sites);
    let goals = vec![true; outcomes.len()];
    let subject = Subject { launch_builder: &launch_builder, wishes: job.wishes, outcomes: &outcomes, goals: &goals };
    let request = launches::Request { range: job.wishes.range.clone(), seed: job.options.seed };
    let known: Vec<(Option<Genotype>, Launch)> = tests.iter().map(|k| (k.genotype.clone(), k.launch.clone())).collect();
    let mut proposer: Box<dyn Proposer> = match marked {
        Some(marked) => Box::new(Solver::new(marked, &job.under_test.interface, job.wishes)),
        None => Box::new(Nobody),
    };
    let mut told = |executions: u64, killed: usize, all: usize| progress(executions, killed, all);
    let mut record = |caught: &KillingInput, tried: &Tried| match log.journal {
        Some(journal) => {
            let after = job.options.begun.elapsed().as_secs_f64();
            let entry = TestEntry::new(&caught.as_kept(caught.name.to_owned()), *tried, after);
            journal.append(&Entry::Killer(Box::new(entry)))
        }
        None => Ok(()),
    };
    let mut hunt = KillSearch::new(pool, subject, limits, proposer.as_mut(), &mut told, &mut record);
    hunt.search(&known, killers(&log.known)?, &request)?;
    hunt.finish()
}

/// What a journal holds that kills.
fn killers(entries: &[Entry]) -> Result<Vec<(KillingInput, Tried)>> {
    let killers = entries.iter().filter_map(|entry| match entry {
        Entry::Killer(test) => Some(test.as_ref()),
        _ => None,
    });
    let caught = |test: &TestEntry| {
        let caught = KillingInput {
            name: KillingInput::name_of(test.by),
            by: test.by,
            genotype: test.genotype.clone(),
            launch: test.launch()?,
            preconditions: test.preconditions.clone(),
            kills: Vec::new(),
        };
        Ok((caught, test.tried))
    };
    killers.map(caught).collect()
}

/// Gives what is pending the fate that it had before: what was detected still is, and the rest counts as not detected.
fn carry(result: &mut MutateResult, before: &MutateResult) {
    let fates: HashMap<&str, &rows::Mutant> = before.mutants.iter().map(|row| (row.id.as_str(), row)).collect();
    let mut carried = 0;
    for row in result.mutants.iter_mut().filter(|row| row.status == Status::Pending) {
        let Some(known) = fates.get(row.id.as_str()).filter(|known| known.status != Status::Pending) else { continue };
        carried += 1;
        let why = row.reason.take();
        *row = (*known).clone();
        row.reason = row.reason.take().or(why);
    }
    if carried == 0 {
        return;
    }
    for test in &mut result.tests {
        if let Some(known) = before.tests.iter().find(|t| t.name == test.name && test.status == TestStatus::Dropped) {
            test.clone_from(known);
        }
    }
    result.notes.push(format!(
        "the time was up before {carried} mutants were run on all tests: their fates are those on the suite without its last tests"
    ));
    mutate_summary::finish(result, &campaign::class_of);
}

/// Numbers and coverage of the suite as it is now.
fn sum_up(job: &Job<'_, '_>, generated: &mut Generated, smt_s: f64) {
    let count = |status| generated.goals.iter().filter(|g| g.status == status).count() as u64;
    let summary = &mut generated.summary;
    summary.covered = count(GoalStatus::Covered);
    summary.infeasible = 0;
    summary.equivalent = count(GoalStatus::Equivalent);
    summary.unknown = count(GoalStatus::Unknown);
    summary.tests = generated.tests.len() as u64;
    summary.smt_s = smt_s;
    let tally = |k: &Kept| TestTally { name: k.name.clone(), sites: k.tally.clone(), items: k.launch.range.items() };
    let tallies: Vec<TestTally> = generated.tests.iter().map(tally).collect();
    generated.coverage = summary::coverage(&job.under_test.sites, &tallies, false);
}

/// Mutation runs on the suite in the folder.
struct Trials<'a, 'b, 'c> {
    job: &'a Job<'b, 'c>,
    lanes: &'a mut dyn FnMut() -> Result<Vec<Box<dyn Executor>>>,
    /// What the search for equivalents found in the first run.
    known: Option<campaign::Entry>,
    /// What the last run took, but for that search.
    cost: Duration,
}

impl<'b, 'c> Trials<'_, 'b, 'c> {
    /// When this share of the time is over.
    fn at(&self, share: f64) -> Instant {
        let options = self.job.options;
        options.begun + options.limits.end.saturating_duration_since(options.begun).mul_f64(share)
    }

    /// The tests as whoever reads the suite gets them.
    fn tests(&self) -> Result<Vec<Test>> {
        Suite::load(&self.job.folder.join("suite.toml"))?.resolve(&self.job.under_test.interface, 0)
    }

    fn request(&self, end: Instant) -> Request {
        Request {
            selection: self.job.selection.clone(),
            order: 1,
            sample: self.job.sample,
            repeats: None,
            full_matrix: false,
            factor: FACTOR,
            strategy: Strategy::Schemata,
            ir_level: "O0".to_owned(),
            shard: None,
            seed: 0,
            jobs: self.job.jobs,
            timeout: ORIGINAL,
            prune: true,
            batch: true,
            end: Some(end),
            doubt: false,
            most_before: BEFORE,
        }
    }

    fn campaign<'t>(&self, tests: &'t [Test]) -> CampaignContext<'t, 'c>
    where
        'b: 't,
    {
        let job = self.job;
        CampaignContext {
            under_test: job.under_test,
            ast: job.ast,
            sources: job.sources,
            tests,
            source: job.options.source.clone(),
        }
    }

    fn mutants(&self, tests: &[Test]) -> Vec<Mutant> {
        campaign::mutants(&self.campaign(tests), &self.request(self.at(1.0)))
    }

    /// The run on the suite that covers the branches, which looks for equivalents once for all runs: among what that suite leaves.
    fn first_run(&mut self, tests: &[Test], log: &Log<'_>) -> Result<MutateResult> {
        self.known = log.known.iter().find_map(|entry| match entry {
            Entry::Classified(known) => Some(known.as_ref().clone()),
            _ => None,
        });
        let end = self.at(TRIED);
        let first = self.run(tests, end, None)?;
        if self.known.is_none() {
            let found = campaign::classified(&first);
            // With more time there may be more to it.
            if let Some(journal) = log.journal.filter(|_| Instant::now() < end) {
                journal.append(&Entry::Classified(Box::new(found.clone())))?;
            }
            self.known = Some(found);
        }
        Ok(first)
    }

    /// As `kassay mutate` would on the suite in the folder. `before`: on the suite without its last tests; what the time leaves
    /// undecided has its fate from there.
    fn run(&mut self, tests: &[Test], end: Instant, before: Option<&MutateResult>) -> Result<MutateResult> {
        let begun = Instant::now();
        let lanes = (self.lanes)()?;
        let most = lanes.first().map_or(1, |lane| lane.device().max_work_group_size);
        let mut tests = tests.to_vec();
        for test in &mut tests {
            let range = &mut test.launch.range;
            range.decide_local(self.job.under_test.interface.required_local, most);
        }
        let mut known: Vec<campaign::Entry> = self.known.iter().cloned().collect();
        // What more tests cannot change is not run again where there is no time for it.
        if let Some(before) = before.filter(|_| begun + self.cost > end) {
            let detected = before.mutants.iter().filter(|row| row.status.is_detected() && row.duplicate_of.is_none());
            known.extend(detected.map(|row| campaign::Entry::Decided(Box::new(row.clone()))));
        }
        let mut result = campaign::run(&self.campaign(&tests), &self.request(end), lanes, None, known)?;
        self.cost = begun.elapsed().saturating_sub(Duration::from_secs_f64(result.timing.equivalence_s));
        if let Some(before) = before {
            result.timing.equivalence_s += before.timing.equivalence_s;
            carry(&mut result, before);
        }
        Ok(result)
    }

    /// Of the search: what is left when a second run is allowed for.
    fn search_limits(&self, made: u64) -> Limits {
        let limits = &self.job.options.limits;
        let now = Instant::now();
        let reserved = self.cost.mul_f64(AGAIN) + BESIDES;
        let end = limits.end.checked_sub(reserved).unwrap_or(now);
        Limits { end, max_execs: limits.max_execs.map(|n| n.saturating_sub(made)), ..limits.clone() }
    }

    /// Adds what was caught to the suite, and runs mutation testing on all of it; `before`: on the suite without. Tests that turn out to
    /// kill nothing, because the device does not do what the simulator did, are taken out again.
    fn add(
        &mut self,
        generated: &mut Generated,
        caught: &[KillingInput],
        runs: &mut dyn Runs,
        before: MutateResult,
    ) -> Result<MutateResult> {
        let limits = &self.job.options.limits;
        let own = generated.tests.len();
        let outcomes = search::outcomes(&self.job.under_test.sites);
        for caught in caught {
            let left = limits.end.saturating_duration_since(Instant::now());
            // What came to its end with other probes does so with these, but for the time.
            let Ran::Shown(Shown { tally, faulted, .. }) = runs.run(&caught.launch, limits.launch.min(left))? else {
                continue;
            };
            let name = unique(caught.name.to_owned(), generated.tests.iter().map(|k| k.name.as_str()));
            let covers = outcomes.iter().map(|(s, o)| tally[*s].hits[*o] > 0).collect();
            generated.tests.push(Kept { covers, tally, faulted, ..caught.as_kept(name) });
        }
        while generated.tests.len() > own {
            branches::write_suite(self.job.folder, self.job.kernel, self.job.under_test, &generated.tests)?;
            let result = self.run(&self.tests()?, limits.end, Some(&before))?;
            let is_useless = |k: &Kept| result.tests.iter().any(|t| t.name == k.name && t.kills == 0);
            let useless: Vec<String> =
                generated.tests[own..].iter().filter(|k| is_useless(k)).map(|k| k.name.clone()).collect();
            // What the time left undecided may have its use.
            if useless.is_empty() || Instant::now() + self.cost > limits.end {
                return Ok(result);
            }
            generated.tests.retain(|k| !useless.contains(&k.name));
        }
        // As it was.
        branches::write_suite(self.job.folder, self.job.kernel, self.job.under_test, &generated.tests)?;
        Ok(before)
    }
}
