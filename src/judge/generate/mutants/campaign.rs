//! Extends a suite that covers a kernel's branches to one that kills its mutants.

use std::collections::HashMap;
use std::path::Path;
use std::time::{Duration, Instant};

use kassay_base::error::Result;
use kassay_ir::kernel::ast::Ast;
use kassay_ir::kernel::source::Sources;
use kassay_results::result::generate::{GoalStatus, Scores};
use kassay_results::result::mutate::{self as rows, MutateResult, Status, TestStatus};
use kassay_results::result::mutate_summary;
use kassay_run::exec::Executor;
use kassay_suite::launch::Launch;
use kassay_suite::resolve::{Suite, Test};

use super::goals::{self, GoalView, SearchedMutants};
use super::kill_search::{KillSearch, KillSearchResult, KillingInput};
use super::proposer::{ConcolicProposer, MarkedProgram, NullProposer, Proposer};
use crate::coverage::build::KernelUnderTest;
use crate::coverage::summary::{self, TestTally};
use crate::generate::campaign::{self as branches, Generated, Kernel, Log, Options};
use crate::generate::genotype::Genotype;
use crate::generate::interface_file::UserConstraints;
use crate::generate::journal::{Entry, TestEntry};
use crate::generate::launch_builder::LaunchBuilder;
use crate::generate::launches;
use crate::generate::model::KernelModel;
use crate::generate::planned_launch::unique;
use crate::generate::search::{
    self, CoverageRunner, Limits, Progress, RunObservation, RunOutcome, SearchProblem, SearchStatistics, StopReason,
    TestInput,
};
use crate::mutation::campaign::content_hashes::ContentHashes;
use crate::mutation::campaign::{self, CampaignContext, Request};
use crate::mutation::catalogue::level::MutationLevel;
use crate::mutation::run::engine::{Batching, Strategy};
use crate::mutation::run::mutant_pool::{MutantPool, PoolOptions};
use crate::mutation::{ByMutant, Mutant, Selection};

/// Fuel and time of a mutant as a multiple of the original's, and wall-clock limit of one run of the original, as in
/// `kassay mutate`.
const FACTOR: f64 = 10.0;
const ORIGINAL_TIMEOUT: Duration = Duration::from_secs(60);

/// Fraction of the time that the suite for the branches may take.
const BRANCH_SUITE_SHARE: f64 = 0.3;

/// Fraction of the time after which the first mutation run stops, proofs of equivalence included.
const FIRST_RUN_SHARE: f64 = 0.7;

/// Limit of instructions normalised before the first run: about a second, because time is limited.
const MAX_INSTRUCTIONS_BEFORE: u64 = 200_000;

/// Time reserved for the last mutation run: a multiple of what the first took, plus a constant.
const RERUN_FACTOR: f64 = 1.5;
const RERUN_RESERVE: Duration = Duration::from_millis(300);

/// A kernel whose mutants are to be killed.
pub struct Job<'a, 'c> {
    /// The kernel in canonical form.
    pub under_test: &'a KernelUnderTest<'c>,
    /// Its syntax tree, if there is source.
    pub ast: Option<&'a Ast>,
    /// The texts of its files.
    pub sources: &'a Sources,
    /// What its code says of its arguments.
    pub model: &'a KernelModel,
    /// What the user says of them.
    pub constraints: &'a UserConstraints,
    /// Its limits apply to everything, including the suite that covers the branches.
    pub options: &'a Options,
    /// The mutants that are wanted.
    pub selection: Selection,
    /// Number of mutants to draw at random.
    pub sample: Option<u64>,
    /// Executors of the device; threads of the simulator.
    pub jobs: u32,
    /// Folder of the suite.
    pub folder: &'a Path,
    /// The kernel, as results name it.
    pub kernel: Kernel<'a>,
}

/// Executors, runner, progress callback and journal of the generation.
pub struct CampaignServices<'a> {
    /// Starts fresh executors of the device that decides the mutants' outcomes.
    pub executors: &'a mut dyn FnMut() -> Result<Vec<Box<dyn Executor>>>,
    /// The kernel with coverage probes.
    pub runner: &'a mut dyn CoverageRunner,
    /// Told what has been done so far.
    pub progress: &'a mut Progress<'a>,
    /// The journal, and what an earlier search wrote to it.
    pub log: Log<'a>,
}

/// Result of the generation.
pub struct CampaignResult {
    /// The tests and what they cover.
    pub generated: Generated,
    /// The mutation result of the suite as written; `None` if it has no test.
    pub mutation: Option<MutateResult>,
    /// Mutation scores of the suite for the branches and of the suite as written.
    pub scores: Scores,
}

/// Returns the limits, from now on, of the search for a suite that covers the branches, which comes first.
pub fn branch_limits(limits: &Limits) -> Limits {
    let now = Instant::now();
    let share = limits.end.saturating_duration_since(now).mul_f64(BRANCH_SUITE_SHARE);
    Limits { end: now + share, max_execs: limits.max_execs.map(|n| n.div_ceil(2)), ..limits.clone() }
}

/// Runs mutation testing on the suite in `branch`, searches for inputs that kill what survives, adds them, and runs it
/// again on all tests. Writes the suite.
///
/// # Errors
/// `Environment` if executors or files fail; `Internal` if a pass fails.
pub fn generate(job: &Job<'_, '_>, branch: Generated, services: CampaignServices<'_>) -> Result<CampaignResult> {
    let CampaignServices { executors, runner, progress, log } = services;
    let mut generated = branch;
    branches::write_suite(job.folder, job.kernel, job.under_test, &generated.tests)?;
    if generated.tests.is_empty() {
        generated.goals.clear();
        (generated.summary.covered, generated.summary.unknown) = (0, 0);
        generated.notes.push("mutants are killed by tests, and there is none".to_owned());
        return Ok(CampaignResult { generated, mutation: None, scores: Scores::default() });
    }
    let mut mutation_runs = MutationRuns { job, executors, known: None, last_run_time: Duration::ZERO };
    let tests = mutation_runs.tests()?;
    let first = mutation_runs.first_run(&tests, &log)?;
    let first_run_end = Instant::now();
    let mut scores = Scores { branch_suite: first.summary.score, suite: first.summary.score };

    let mutants = mutation_runs.mutants(&tests);
    let open = open(&mutants, &first);
    let limits = mutation_runs.search_limits(generated.summary.executions);
    let mut kill_result = None;
    let mut refused = ByMutant::default();
    // Building the modules for the search takes about as long as building those of the first run.
    let has_time = Instant::now() + mutation_runs.last_run_time < limits.end;
    if let (true, false, Some(test)) = (has_time, open.is_empty(), tests.first()) {
        let threads = job.jobs as usize;
        let pool_options = PoolOptions { factor: FACTOR, threads, end: limits.end };
        let marked = if job.options.solve { Some(MarkedProgram::new(job.under_test, &open)?) } else { None };
        let mut pool = MutantPool::new(job.under_test, open.clone(), &test.outputs, pool_options)?;
        kill_result =
            Some(search_for_kills(job, &mut pool, marked.as_ref(), &generated.tests, &limits, (progress, &log))?);
        refused = pool.refused;
    }
    let smt_s = kill_result.as_ref().map_or(0.0, |h: &KillSearchResult| h.solving.as_secs_f64());
    let mut mutation = first;
    if let Some(kill_result) = &kill_result {
        generated.summary.executions += kill_result.statistics.executions;
        generated.summary.faulted += kill_result.statistics.faulted;
        mutation = mutation_runs.add(&mut generated, &kill_result.killing_inputs, runner, mutation)?;
    }
    scores.suite = mutation.summary.score;
    let ended = ended(kill_result.as_ref().map_or(StopReason::OutOfTime, |h| h.ended), job.options);
    let searched =
        kill_result.as_ref().map(|kill_result| SearchedMutants { mutants: &open, refused: &refused, kill_result });
    generated.goals = goals::goals(&GoalView {
        mutation: &mutation,
        tests: &generated.tests,
        searched,
        ended: &ended,
        source: &job.options.source,
        started: job.options.started,
        first_run_end,
    });
    sum_up(job, &mut generated, smt_s);
    Ok(CampaignResult { generated, mutation: Some(mutation), scores })
}

/// Says why nothing more was found.
fn ended(ended: StopReason, options: &Options) -> String {
    let search = match ended {
        StopReason::Fruitless if options.limits.attempts == 0 => "none of the first launches kills it".to_owned(),
        ended => branches::stop_reason_text(ended, options.limits.attempts),
    };
    match (ended, options.solve) {
        (_, false) => format!("{search}; not solved for: --no-smt was given"),
        (StopReason::Fruitless | StopReason::NothingToChange, true) => {
            format!("{search}, and solving for other values found no input")
        }
        _ => search,
    }
}

/// Returns the mutants that no test decides.
fn open<'m>(mutants: &'m [Mutant], result: &MutateResult) -> ByMutant<&'m Mutant> {
    let is_open =
        |status| matches!(status, Status::Survived | Status::NoCoverage | Status::Undecided | Status::Pending);
    let rows = result.mutants.iter().filter(|row| row.duplicate_of.is_none() && is_open(row.status));
    rows.filter_map(|row| mutants.iter().find(|m| m.id == row.id)).collect()
}

/// Searches for inputs that kill the mutants in the pool.
fn search_for_kills<'a>(
    job: &'a Job<'_, '_>,
    pool: &mut MutantPool<'_>,
    marked: Option<&MarkedProgram>,
    tests: &[TestInput],
    limits: &Limits,
    (progress, log): (&mut Progress<'a>, &Log<'_>),
) -> Result<KillSearchResult> {
    let launch_builder = LaunchBuilder::new(job.model, branches::build_limits(job.constraints, job.options));
    let outcomes = search::outcomes(&job.under_test.sites);
    let goals = vec![true; outcomes.len()];
    let problem = SearchProblem {
        launch_builder: &launch_builder,
        constraints: job.constraints,
        outcomes: &outcomes,
        goals: &goals,
    };
    let request = launches::Request { range: job.constraints.range.clone(), seed: job.options.seed };
    let known: Vec<(Option<Genotype>, Launch)> = tests.iter().map(|k| (k.genotype.clone(), k.launch.clone())).collect();
    let mut proposer: Box<dyn Proposer> = match marked {
        Some(marked) => Box::new(ConcolicProposer::new(marked, &job.under_test.interface, job.constraints)),
        None => Box::new(NullProposer),
    };
    let mut report = |executions: u64, killed: usize, all: usize| progress(executions, killed, all);
    let mut record = |killing: &KillingInput, statistics: &SearchStatistics| match log.journal {
        Some(journal) => {
            let after = job.options.started.elapsed().as_secs_f64();
            let entry = TestEntry::new(&killing.as_test_input(killing.name.to_owned()), *statistics, after);
            journal.append(&Entry::Killer(Box::new(entry)))
        }
        None => Ok(()),
    };
    let mut search = KillSearch::new(pool, problem, limits, proposer.as_mut(), &mut report, &mut record);
    search.search(&known, journaled_killers(&log.known)?, &request)?;
    search.finish()
}

/// Returns the killing inputs in a journal.
fn journaled_killers(entries: &[Entry]) -> Result<Vec<(KillingInput, SearchStatistics)>> {
    let killers = entries.iter().filter_map(|entry| match entry {
        Entry::Killer(test) => Some(test.as_ref()),
        _ => None,
    });
    let killing = |test: &TestEntry| {
        let killing = KillingInput {
            name: KillingInput::name_of(test.by),
            by: test.by,
            genotype: test.genotype.clone(),
            launch: test.launch()?,
            preconditions: test.preconditions.clone(),
            kills: Vec::new(),
        };
        Ok((killing, test.tried))
    };
    killers.map(killing).collect()
}

/// Gives pending mutants the outcome that they had before: what was detected still is, and the rest counts as
/// not detected.
fn carry_over(result: &mut MutateResult, before: &MutateResult) {
    let earlier: HashMap<&str, &rows::Mutant> = before.mutants.iter().map(|row| (row.id.as_str(), row)).collect();
    let mut carried = 0;
    for row in result.mutants.iter_mut().filter(|row| row.status == Status::Pending) {
        let Some(known) = earlier.get(row.id.as_str()).filter(|known| known.status != Status::Pending) else {
            continue;
        };
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

/// Updates the summary and the coverage to the suite in its current state.
fn sum_up(job: &Job<'_, '_>, generated: &mut Generated, smt_s: f64) {
    let count = |status| generated.goals.iter().filter(|g| g.status == status).count() as u64;
    let summary = &mut generated.summary;
    summary.covered = count(GoalStatus::Covered);
    summary.infeasible = 0;
    summary.equivalent = count(GoalStatus::Equivalent);
    summary.unknown = count(GoalStatus::Unknown);
    summary.tests = generated.tests.len() as u64;
    summary.smt_s = smt_s;
    let tally =
        |k: &TestInput| TestTally { name: k.name.clone(), sites: k.tally.clone(), items: k.launch.range.items() };
    let tallies: Vec<TestTally> = generated.tests.iter().map(tally).collect();
    generated.coverage = summary::coverage(&job.under_test.sites, &tallies, false);
}

/// Mutation runs on the suite in the folder.
struct MutationRuns<'a, 'b, 'c> {
    job: &'a Job<'b, 'c>,
    executors: &'a mut dyn FnMut() -> Result<Vec<Box<dyn Executor>>>,
    /// Equivalences that the first run found.
    known: Option<campaign::Entry>,
    /// Time that the last run took, without the search for equivalents.
    last_run_time: Duration,
}

impl<'b, 'c> MutationRuns<'_, 'b, 'c> {
    /// Returns the moment at which this fraction of the time is over.
    fn at(&self, share: f64) -> Instant {
        let options = self.job.options;
        options.started + options.limits.end.saturating_duration_since(options.started).mul_f64(share)
    }

    /// Returns the tests as they are read back from the suite.
    fn tests(&self) -> Result<Vec<Test>> {
        Suite::load(&self.job.folder.join("suite.toml"))?.resolve(&self.job.under_test.interface, 0)
    }

    fn request(&self, end: Instant) -> Request {
        Request {
            selection: self.job.selection.clone(),
            order: 1,
            sample: self.job.sample,
            changes: None,
            repeats: None,
            full_matrix: false,
            factor: FACTOR,
            strategy: Strategy::Schemata,
            level: MutationLevel::CANONICAL,
            shard: None,
            seed: self.job.options.seed,
            jobs: self.job.jobs,
            timeout: ORIGINAL_TIMEOUT,
            prune: true,
            batching: Batching::Auto,
            end: Some(end),
            // Further launches are what is sought.
            launch_facts: false,
            doubt: false,
            most_before: MAX_INSTRUCTIONS_BEFORE,
            baseline: None,
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
            dimensions: campaign::dimensions(tests),
            source: job.options.source.clone(),
            source_mutants: None,
            contents: ContentHashes::default(),
        }
    }

    fn mutants(&self, tests: &[Test]) -> Vec<Mutant> {
        campaign::mutants(&self.campaign(tests), &self.request(self.at(1.0)))
    }

    /// Makes the run on the suite that covers the branches. It searches for equivalents among the mutants that this
    /// suite leaves; later runs reuse the result.
    fn first_run(&mut self, tests: &[Test], log: &Log<'_>) -> Result<MutateResult> {
        self.known = log.known.iter().find_map(|entry| match entry {
            Entry::Classified(known) => Some(known.as_ref().clone()),
            _ => None,
        });
        let end = self.at(FIRST_RUN_SHARE);
        let first = self.run(tests, end, None)?;
        if self.known.is_none() {
            let found = campaign::classified(&first);
            // With more time, more might be found.
            if let Some(journal) = log.journal.filter(|_| Instant::now() < end) {
                journal.append(&Entry::Classified(Box::new(found.clone())))?;
            }
            self.known = Some(found);
        }
        Ok(first)
    }

    /// Runs what `kassay mutate` would on the suite in the folder. `before`: the result on the suite without its last
    /// tests; mutants that remain undecided for lack of time keep their outcome from there.
    fn run(&mut self, tests: &[Test], end: Instant, before: Option<&MutateResult>) -> Result<MutateResult> {
        let started = Instant::now();
        let executors = (self.executors)()?;
        let most = executors.first().map_or(1, |executor| executor.device().max_work_group_size);
        let mut tests = tests.to_vec();
        for test in &mut tests {
            let range = &mut test.launch.range;
            range.decide_local(self.job.under_test.interface.required_local, most);
        }
        let mut known: Vec<campaign::Entry> = self.known.iter().cloned().collect();
        // Mutants whose outcome more tests cannot change are not run again if there is no time for it.
        if let Some(before) = before.filter(|_| started + self.last_run_time > end) {
            let detected = before.mutants.iter().filter(|row| row.status.is_detected() && row.duplicate_of.is_none());
            known.extend(detected.map(|row| campaign::Entry::Decided(Box::new(row.clone()))));
        }
        let mut result = campaign::run(&self.campaign(&tests), &self.request(end), (executors, None), None, known)?;
        self.last_run_time = started.elapsed().saturating_sub(Duration::from_secs_f64(result.timing.equivalence_s));
        if let Some(before) = before {
            result.timing.equivalence_s += before.timing.equivalence_s;
            carry_over(&mut result, before);
        }
        Ok(result)
    }

    /// Returns the limits of the search: what is left after reserving time for a second run.
    fn search_limits(&self, made: u64) -> Limits {
        let limits = &self.job.options.limits;
        let now = Instant::now();
        let reserved = self.last_run_time.mul_f64(RERUN_FACTOR) + RERUN_RESERVE;
        let end = limits.end.checked_sub(reserved).unwrap_or(now);
        Limits { end, max_execs: limits.max_execs.map(|n| n.saturating_sub(made)), ..limits.clone() }
    }

    /// Adds killing inputs to the suite, and runs mutation testing on all of it. `before`: the result on the suite
    /// without them. Tests that turn out to kill nothing, because the device behaves differently from the simulator,
    /// are removed again.
    fn add(
        &mut self,
        generated: &mut Generated,
        killing_inputs: &[KillingInput],
        runner: &mut dyn CoverageRunner,
        before: MutateResult,
    ) -> Result<MutateResult> {
        let limits = &self.job.options.limits;
        let own = generated.tests.len();
        let outcomes = search::outcomes(&self.job.under_test.sites);
        for killing in killing_inputs {
            let left = limits.end.saturating_duration_since(Instant::now());
            // What completed with other probes also does with these, time permitting.
            let RunOutcome::Completed(RunObservation { tally, faulted, .. }) =
                runner.run(&killing.launch, limits.launch.min(left))?
            else {
                continue;
            };
            if runner.reads_unwritten(&killing.launch, limits.launch.min(left))? {
                continue;
            }
            let name = unique(killing.name.to_owned(), generated.tests.iter().map(|k| k.name.as_str()));
            let covers = outcomes.iter().map(|(s, o)| tally[*s].hits[*o] > 0).collect();
            generated.tests.push(TestInput { covers, tally, faulted, ..killing.as_test_input(name) });
        }
        while generated.tests.len() > own {
            branches::write_suite(self.job.folder, self.job.kernel, self.job.under_test, &generated.tests)?;
            let result = self.run(&self.tests()?, limits.end, Some(&before))?;
            let is_useless = |k: &TestInput| result.tests.iter().any(|t| t.name == k.name && t.kills == 0);
            let useless: Vec<String> =
                generated.tests[own..].iter().filter(|k| is_useless(k)).map(|k| k.name.clone()).collect();
            // Mutants left undecided for lack of time may justify these tests.
            if useless.is_empty() || Instant::now() + self.last_run_time > limits.end {
                return Ok(result);
            }
            generated.tests.retain(|k| !useless.contains(&k.name));
        }
        // Restores the suite.
        branches::write_suite(self.job.folder, self.job.kernel, self.job.under_test, &generated.tests)?;
        Ok(before)
    }
}
