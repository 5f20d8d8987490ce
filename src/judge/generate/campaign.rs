//! Runs the whole generation for one kernel: fuzzing, solving, launches that fault, minimisation, writing the suite.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

use kassay_base::error::{Error, Result};
use kassay_ir::cfg::sites::{SiteKind, Sites};
use kassay_model::interface::Interface;
use kassay_model::options::SpecValue;
use kassay_prove::symbolic::infeasible::ProofOutcome;
use kassay_results::result::Location;
use kassay_results::result::cover::Coverage;
use kassay_results::result::generate::{
    By, ExcludedGoal, GenerateSummary, GeneratedTest, Goal, GoalStatus, SeedReport,
};
use kassay_results::result::journal::Journal;
use kassay_results::result::mcdc::Criterion;
use kassay_suite::write::{self, NewSuite, NewTest};

use super::faulting_coverage;
use super::faulting_launches;
use super::fuzz::{self, Share};
use super::interface_file::UserConstraints;
use super::journal::{Entry, TestEntry};
use super::launch_builder::{BuildLimits, LaunchBuilder};
use super::launches::Request;
use super::minimise;
use super::model::KernelModel;
use super::output_dir;
use super::outside_invariants::{self, OutsideInvariants};
use super::pool;
use super::search::{
    self, CoverageRunner, FirstCover, Limits, Progress, ResumedInput, Search, SearchProblem, SearchResult,
    SearchStatistics, StopReason, TestInput,
};
use super::seed_run;
use super::solving::{self, SolvingResult, SolvingStop};
use crate::coverage::build::{self, KernelUnderTest};
use crate::coverage::mcdc;
use crate::coverage::summary::{self, TestTally};

/// Returns the limits on building launches. Small launches find as much as large ones, and more of them can be made; an
/// NDRange that the user asks for may be large.
pub(super) fn build_limits(constraints: &UserConstraints, options: &Options) -> BuildLimits {
    let limits = BuildLimits { end: Some(options.limits.end), ..BuildLimits::default() };
    if constraints.range.is_some() {
        return limits;
    }
    BuildLimits {
        instructions: 1 << 19,
        bytes: constraints.usual_items.saturating_mul(1 << 10).clamp(1 << 20, limits.bytes),
        ..limits
    }
}

/// Parameters of one generation.
#[derive(Debug, Clone)]
pub struct Options {
    /// What all random choices follow from.
    pub seed: u64,
    /// When the search ends.
    pub limits: Limits,
    /// Whether outcomes that fuzzing leaves uncovered are solved for.
    pub solve: bool,
    /// With fewer tests, random ones are added, whether or not they cover anything new.
    pub tests: u64,
    /// Start of the whole generation; the times of goals are relative to it.
    pub started: Instant,
    /// Path of the kernel's file, for sites without a location.
    pub source: String,
    /// Time that the inference of the kernel model took.
    pub analysis_time: Duration,
}

/// The generated suite with its coverage and goals.
#[derive(Debug, Clone)]
pub struct Generated {
    /// The inputs that were kept.
    pub tests: Vec<TestInput>,
    /// What they cover together.
    pub coverage: Coverage,
    /// What was sought, and what became of it.
    pub goals: Vec<Goal>,
    /// Totals for results.
    pub summary: GenerateSummary,
    /// What users have to know about it, one sentence each.
    pub notes: Vec<String>,
    /// What the seeds are and teach, if there are any.
    pub from: Option<SeedReport>,
    /// Inputs that break likely invariants of the seeds and cover goals that no test does.
    pub outside: Vec<TestInput>,
}

impl Generated {
    /// Returns the tests as rows of the result.
    pub fn rows(&self) -> Vec<GeneratedTest> {
        let row = |kept: &TestInput| GeneratedTest {
            name: kept.name.clone(),
            by: kept.by,
            work_items: kept.launch.range.items(),
            work_groups: kept.launch.range.groups(),
            covers: kept.covers.iter().filter(|c| **c).count() as u64,
            preconditions: kept.preconditions.clone(),
        };
        self.tests.iter().map(row).collect()
    }
}

/// The journal of a search, and what an earlier search wrote to it.
#[derive(Default)]
pub struct Log<'a> {
    /// Where this search is recorded.
    pub journal: Option<&'a Journal>,
    /// Entries of the earlier search.
    pub known: Vec<Entry>,
}

/// Searches for launches that cover the kernel's outcomes.
///
/// # Errors
/// As [`CoverageRunner::run`] and the making of first launches; `Environment` if the journal cannot be written.
pub fn generate(
    under_test: &KernelUnderTest<'_>,
    model: &KernelModel,
    constraints: &UserConstraints,
    options: &Options,
    runner: &mut dyn CoverageRunner,
    progress: &mut Progress<'_>,
    log: Log<'_>,
) -> Result<Generated> {
    let started = Instant::now();
    let launch_builder = LaunchBuilder::new(model, build_limits(constraints, options));
    let outcomes = search::outcomes(&under_test.sites);
    let is_goal: Vec<bool> = outcomes.iter().map(|(s, _)| GOALS.contains(&under_test.sites.sites[*s].kind)).collect();
    let request = Request { range: constraints.range.clone(), seed: options.seed };
    let problem = SearchProblem { launch_builder: &launch_builder, constraints, outcomes: &outcomes, goals: &is_goal };
    let before = started.saturating_duration_since(options.started);
    let view = GoalView { sites: &under_test.sites, outcomes: &outcomes, before, source: &options.source };
    let mut record = |kept: &TestInput, gained: &[usize], statistics: &SearchStatistics| match log.journal {
        Some(journal) => record_kept(journal, &view, kept, gained, statistics, options.started),
        None => Ok(()),
    };
    // What the seeds exclude is searched for at the end.
    let seeds = constraints.seeds.as_deref();
    let has_invariants = seeds.is_some_and(|seeds| !seeds.invariants.all.is_empty());
    let limits = if has_invariants {
        outside_invariants::limits_before(&options.limits, started, 0)
    } else {
        options.limits.clone()
    };
    let mut search = Search::new(problem, &limits, runner, progress, &mut record);
    search.resume(resumed_inputs(&log.known, before)?)?;
    let seed_run = seeds.map(|seeds| seed_run::run(&mut search, seeds, constraints, &launch_builder)).transpose()?;
    let mut decided = |outcome: usize, proof: &ProofOutcome| match (
        log.journal,
        view.proved(outcome, proof, options.started.elapsed()),
    ) {
        (Some(journal), Some(goal)) => journal.append(&Entry::Goal(Box::new(goal))),
        _ => Ok(()),
    };
    let sources = build::sources_of(Path::new(&options.source)).within(under_test.sandbox.clone());
    let mut proofs = journaled_proofs(&log.known, &view);
    // Of an earlier search only what is proved is known.
    (0..proofs.len()).filter(|o| proofs[*o].is_some()).for_each(|o| search.close(o));
    let mut closing = Duration::ZERO;
    let mut close = |search: &mut Search<'_>| {
        let began = Instant::now();
        let analysis = options.analysis_time;
        solving::close(search, under_test, &GOALS, &mut proofs, &mut decided, &sources, analysis)?;
        closing = began.elapsed();
        Ok(())
    };
    let ended = fuzz::fuzz(&mut search, &request, &Share::of(&limits, started, options.solve), &mut close)?;
    let mut solved = match options.solve {
        true => solving::solve(&mut search, under_test, &GOALS, proofs, &mut decided, &sources, options.analysis_time)?,
        false => SolvingResult::default(),
    };
    solved.took += closing.as_secs_f64();
    faulting_coverage::cover_with_faults(&mut search, under_test, &request, options.solve, &solved.proofs)?;
    minimise::minimise(&mut search)?;
    pool::fill(&mut search, &request, options.tests)?;
    let mut found = search.finish();
    let mut excluded = OutsideInvariants::default();
    if let Some(seeds) = seeds.filter(|_| has_invariants) {
        let searched = outside_invariants::Searched {
            under_test,
            request: &request,
            limits: &options.limits,
            solve: options.solve,
            source: Path::new(&options.source),
            analysis_time: options.analysis_time,
            proofs: &solved.proofs,
            kinds: &GOALS,
        };
        excluded = outside_invariants::search(&searched, problem, seeds, &mut found, runner, progress)?;
    }
    let mut goals = goals(&view, &found, &solved, &StopContext { fuzzing: ended, options }, &under_test.interface);
    let rows: Vec<ExcludedGoal> =
        excluded.goals.iter().filter_map(|one| one.row(&view.goal(one.outcome, None, &GOALS)?, model)).collect();
    for row in &rows {
        let is_same = |g: &&mut Goal| g.site.as_ref() == Some(&row.site) && g.outcome.as_ref() == Some(&row.outcome);
        if let Some(goal) = goals.iter_mut().filter(|g| g.status == GoalStatus::Unknown).find(is_same) {
            goal.reason = Some("only launches came there that break what the seeds have in common".to_owned());
            goal.preconditions.clone_from(&row.breaks);
        }
    }
    goals.sort_by(|a, b| a.location.cmp(&b.location));
    let count = |status| goals.iter().filter(|g| g.status == status).count() as u64;
    let summary = GenerateSummary {
        tests: found.tests.len() as u64,
        covered: count(GoalStatus::Covered),
        covered_with_fault: count(GoalStatus::CoveredWithFault),
        infeasible: count(GoalStatus::Infeasible),
        equivalent: 0,
        unknown: count(GoalStatus::Unknown),
        executions: found.statistics.executions,
        faulted: found.statistics.faulted,
        fuzz_s: started.elapsed().as_secs_f64() - solved.took,
        smt_s: solved.took,
    };
    let tally =
        |k: &TestInput| TestTally { name: k.name.clone(), sites: k.tally.clone(), items: k.launch.range.items() };
    let tallies: Vec<TestTally> = found.tests.iter().map(tally).collect();
    let coverage = coverage(&under_test.sites, &tallies);
    let mut notes = under_test.sites.notes();
    if found.tests.is_empty() {
        notes.push(match found.statistics.executions {
            0 => "no launch was made, so the suite has no test".to_owned(),
            n => format!(
                "none of {n} launches came to its end without doing what no kernel may, so the suite has no test; kassay check \
                 says what goes wrong, and the interface file can say which sizes and values fit together"
            ),
        });
    }
    let from = seeds.zip(seed_run).map(|(seeds, run)| {
        let is_goal_of_no_seed = |o: &usize| is_goal[*o] && !run.covered[*o];
        SeedReport {
            suite: seeds.suite.clone(),
            launches: seeds.all.len() as u64,
            coverage: self::coverage(&under_test.sites, &run.tallies),
            added: (0..outcomes.len()).filter(|o| is_goal_of_no_seed(o) && found.first[*o].is_some()).count() as u64,
            left_out: run.left_out,
            couplings: seeds.invariants.rows(model),
            contradictions: run.contradictions,
            excluded: rows,
        }
    });
    Ok(Generated { tests: found.tests, coverage, goals, summary, notes, from, outside: excluded.tests })
}

/// Returns the result for a kernel for which no launch can be made; `why` becomes the reason of every goal.
pub fn without_launches(under_test: &KernelUnderTest<'_>, source: &str, started: Instant, why: &Error) -> Generated {
    let why = &format!("no launch was made: {}", why.report().what);
    let outcomes = search::outcomes(&under_test.sites);
    let view = GoalView { sites: &under_test.sites, outcomes: &outcomes, before: Duration::ZERO, source };
    let time_s = started.elapsed().as_secs_f64();
    let open = |outcome| {
        let goal = view.goal(outcome, None, &GOALS)?;
        Some(Goal { reason: Some(why.to_owned()), time_s, ..goal })
    };
    let mut goals: Vec<Goal> = (0..outcomes.len()).filter_map(open).collect();
    goals.sort_by(|a, b| a.location.cmp(&b.location));
    let summary = GenerateSummary { unknown: goals.len() as u64, ..GenerateSummary::default() };
    let mut notes = under_test.sites.notes();
    notes.push(format!("{why}, so the suite has no test; --budget gives more time"));
    let coverage = coverage(&under_test.sites, &[]);
    Generated { tests: Vec::new(), coverage, goals, summary, notes, from: None, outside: Vec::new() }
}

/// Returns what tests cover, with MC/DC if test vectors are among the sites.
fn coverage(sites: &Sites, tests: &[TestTally]) -> Coverage {
    let has_vectors = sites.of_kind(SiteKind::Decision).next().is_some();
    let mcdc = || mcdc::measure(sites, tests, Criterion::Masking, "").ratio();
    Coverage { mcdc: has_vectors.then(mcdc), ..summary::coverage(sites, tests, false) }
}

/// Kinds of sites whose outcomes are goals. Decisions are there only if their test vectors are wanted.
const GOALS: [SiteKind; 2] = [SiteKind::Branch, SiteKind::Decision];

/// Turns outcomes into goals.
struct GoalView<'a> {
    sites: &'a Sites,
    /// As [`search::outcomes`] returns them.
    outcomes: &'a [(usize, usize)],
    /// Time from the start of the generation to the start of the search.
    before: Duration,
    /// Path of the kernel's file, for sites without a location.
    source: &'a str,
}

impl GoalView<'_> {
    /// Returns the goal of an outcome, by index, if its site is of one of these kinds. `first`: how it was
    /// covered first.
    fn goal(&self, outcome: usize, first: Option<FirstCover>, kinds: &[SiteKind]) -> Option<Goal> {
        let (s, o) = self.outcomes[outcome];
        let site = &self.sites.sites[s];
        if !kinds.contains(&site.kind) {
            return None;
        }
        let location = match &site.location {
            Some(l) => Location { file: l.file.clone(), line: l.line, column: l.column },
            None => Location { file: self.source.to_owned(), line: 0, column: 0 },
        };
        Some(Goal {
            site: Some(site.id.clone()),
            outcome: Some(site.outcomes[o].label.clone()),
            mutant: None,
            kind: site.kind.name().to_owned(),
            location,
            status: if first.is_some() { GoalStatus::Covered } else { GoalStatus::Unknown },
            by: first.map(|f| f.by),
            reason: None,
            bound: None,
            preconditions: Vec::new(),
            time_s: first.map_or(0.0, |f| (self.before + f.after).as_secs_f64()),
        })
    }

    /// Returns the goal of an outcome that is proved infeasible; `None` for other results of a proof.
    fn proved(&self, outcome: usize, proof: &ProofOutcome, after: Duration) -> Option<Goal> {
        let ProofOutcome::Infeasible { reason, preconditions } = proof else { return None };
        Some(Goal {
            status: GoalStatus::Infeasible,
            by: Some(By::Smt),
            reason: Some(reason.clone()),
            preconditions: preconditions.clone(),
            time_s: after.as_secs_f64(),
            ..self.goal(outcome, None, &GOALS)?
        })
    }
}

/// Appends a kept input to the journal, and the goals that it covers.
fn record_kept(
    journal: &Journal,
    view: &GoalView<'_>,
    kept: &TestInput,
    gained: &[usize],
    statistics: &SearchStatistics,
    started: Instant,
) -> Result<()> {
    let time = started.elapsed();
    journal.append(&Entry::Test(Box::new(TestEntry::new(kept, *statistics, time.as_secs_f64()))))?;
    let first = FirstCover { by: kept.by, after: time.saturating_sub(view.before) };
    for mut goal in gained.iter().filter_map(|o| view.goal(*o, Some(first), &GOALS)) {
        if !kept.is_clean() {
            goal.status = GoalStatus::CoveredWithFault;
        }
        journal.append(&Entry::Goal(Box::new(goal)))?;
    }
    Ok(())
}

/// Returns the inputs in a journal.
fn resumed_inputs(entries: &[Entry], before: Duration) -> Result<Vec<ResumedInput>> {
    let tests = entries.iter().filter_map(|e| match e {
        Entry::Test(test) => Some(test.as_ref()),
        _ => None,
    });
    let known = |test: &TestEntry| {
        let after = Duration::try_from_secs_f64(test.time_s).unwrap_or_default().saturating_sub(before);
        Ok(ResumedInput {
            name: test.name.clone(),
            first: FirstCover { by: test.by, after },
            genotype: test.genotype.clone(),
            launch: test.launch()?,
            preconditions: test.preconditions.clone(),
            statistics: test.tried,
        })
    };
    tests.map(known).collect()
}

/// Returns the proofs of infeasibility in a journal, by watched outcome.
fn journaled_proofs(entries: &[Entry], view: &GoalView<'_>) -> Vec<Option<ProofOutcome>> {
    let mut proved: HashMap<(&str, &str), &Goal> = HashMap::new();
    for entry in entries {
        if let Entry::Goal(goal) = entry
            && goal.status == GoalStatus::Infeasible
            && let (Some(site), Some(outcome)) = (&goal.site, &goal.outcome)
        {
            proved.insert((site, outcome), goal);
        }
    }
    let proof = |(s, o): &(usize, usize)| {
        let site = &view.sites.sites[*s];
        let goal = proved.get(&(site.id.as_str(), site.outcomes[*o].label.as_str()))?;
        let reason = goal.reason.clone().unwrap_or_default();
        Some(ProofOutcome::Infeasible { reason, preconditions: goal.preconditions.clone() })
    };
    view.outcomes.iter().map(proof).collect()
}

/// The end of fuzzing, with the options it ran under.
struct StopContext<'a> {
    fuzzing: StopReason,
    options: &'a Options,
}

/// Returns the goals, in the order of the watched outcomes.
fn goals(
    view: &GoalView<'_>,
    found: &SearchResult,
    solved: &SolvingResult,
    context: &StopContext<'_>,
    interface: &Interface,
) -> Vec<Goal> {
    let SearchStatistics { executions, faulted, largest } = found.statistics;
    let after = context.options.started.elapsed();
    let all = found.first.iter().enumerate().filter_map(|(outcome, first)| {
        let goal = view.goal(outcome, *first, &GOALS)?;
        if first.is_some() && found.clean[outcome] {
            return Some(goal);
        }
        if let Some(test) = found.tests.iter().find(|t| first.is_some() && t.covers[outcome]) {
            let unwritten = test.reads_unwritten.then(|| UNWRITTEN.to_owned());
            let faults = test.faulted.iter().map(|f| faulting_launches::text(f, interface)).chain(unwritten);
            let faults: Vec<String> = faults.collect();
            let reason = Some(format!("only launches that fault came there: {}", faults.join("; ")));
            return Some(Goal { status: GoalStatus::CoveredWithFault, reason, ..goal });
        }
        let proof = solved.proofs.get(outcome).and_then(Option::as_ref);
        if let Some(proved) = proof.and_then(|proof| view.proved(outcome, proof, after)) {
            return Some(proved);
        }
        let mut bound = format!("{executions} launches of up to {largest} work-items, {faulted} of which faulted");
        if let Some(ProofOutcome::Unknown { bound: Some(limit), .. }) = proof {
            let _ = write!(bound, "; {limit}");
        }
        let reason = Some(unknown_reason(context, solved, proof));
        Some(Goal { reason, bound: Some(bound), time_s: after.as_secs_f64(), ..goal })
    });
    all.collect()
}

/// Says why fuzzing ended.
pub(super) fn stop_reason_text(ended: StopReason, attempts: u64) -> String {
    match ended {
        StopReason::Fruitless if attempts == 0 => "none of the first launches covers it".to_owned(),
        StopReason::Covered | StopReason::Fruitless => format!("{attempts} attempts in a row gained nothing"),
        StopReason::OutOfTime => "the time was up".to_owned(),
        StopReason::OutOfExecutions => "the launches allowed were made".to_owned(),
        StopReason::NothingToChange => "the interface file leaves nothing to change".to_owned(),
    }
}

/// Says why an outcome is unknown: how the searches ended, and why there is no proof.
fn unknown_reason(context: &StopContext<'_>, solved: &SolvingResult, proof: Option<&ProofOutcome>) -> String {
    let mut reason = stop_reason_text(context.fuzzing, context.options.limits.attempts);
    let solving = match solved.ended {
        None => "not solved for: --no-smt was given",
        Some(SolvingStop::NoPaths) => "no path that was seen leads there by another choice of inputs",
        Some(SolvingStop::NoParent) => "not solved for, as no launch came to its end",
        Some(SolvingStop::Fruitless) => "what the solver proposed did not cover it",
        Some(SolvingStop::OutOfTime) => "the time was up while solving",
        Some(SolvingStop::OutOfExecutions) => "the launches allowed were made while solving",
        Some(SolvingStop::Done) => "solving ended",
    };
    let _ = write!(reason, "; {solving}");
    if let Some(ProofOutcome::Unknown { reason: why, .. }) = proof {
        let _ = write!(reason, "; not proved impossible: {why}");
    }
    reason
}

/// The suite's kernel and how it is compiled.
#[derive(Debug, Clone, Copy)]
pub struct Kernel<'a> {
    /// Path of its file.
    pub path: &'a Path,
    /// All options, as arguments of clang.
    pub options: &'a [String],
    /// Values of its specialisation constants.
    pub spec: &'a [SpecValue],
}

/// What is said of tests whose outputs are anything on devices.
const UNWRITTEN: &str = "reads local memory that no work-item has written";

/// Writes `folder/suite.toml` and its data, replacing what an earlier `kassay generate` wrote there.
///
/// # Errors
/// As [`output_dir::write`].
pub fn write_suite(
    folder: &Path,
    kernel: Kernel<'_>,
    under_test: &KernelUnderTest<'_>,
    tests: &[TestInput],
) -> Result<()> {
    let description = |k: &TestInput| {
        let by = match k.by {
            By::Seed => "one of the first launches",
            By::Fuzz => "found by fuzzing",
            By::Smt => "found by solving",
        };
        let unwritten = if k.reads_unwritten { format!("; {UNWRITTEN}") } else { String::new() };
        format!("covers {} outcomes; {by}{unwritten}", k.covers.iter().filter(|c| **c).count())
    };
    let suite = NewSuite {
        kernel: write::relative(folder, kernel.path),
        entry: &under_test.entry,
        options: kernel.options,
        spec: kernel.spec,
        sub_group_size: under_test.interface.sub_groups.simulated(),
        name: Some("generated"),
        description: Some("Written by kassay generate."),
        tests: tests
            .iter()
            .map(|k| NewTest {
                name: k.name.clone(),
                description: Some(description(k)),
                launch: &k.launch,
                faulted: &k.faulted,
                expectations: &[],
            })
            .collect(),
    };
    output_dir::write(folder, &suite, &under_test.interface)
}
