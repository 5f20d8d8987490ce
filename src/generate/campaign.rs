//! All of generation for one kernel, to a suite and a result.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::buffer_growth;
use super::faulting_launches;
use super::fuzz::{self, Share};
use super::interface_file::Wishes;
use super::journal::{Entry, TestEntry};
use super::launch_builder::{Cost, LaunchBuilder};
use super::launches::Request;
use super::minimise;
use super::model::KernelModel;
use super::output_dir;
use super::search::{
    self, Ended, First, Found, Kept, Known, Limits, Progress, Ran, Runs, Search, Shown, Subject, Tried,
};
use super::solving::{self, GaveUp, Solved};
use crate::cfg::sites::{SiteKind, Sites};
use crate::coverage::build::{self, KernelUnderTest, Observing};
use crate::coverage::summary::{self, TestTally};
use crate::coverage::tally::{self, Probe};
use crate::error::{Error, Result};
use crate::exec::simulator::observation::{FaultKind, Simulation, SimulationOptions};
use crate::exec::{Code, HostCode, ProgramId, Simulator};
use crate::instrument::coverage::CoveragePlan;
use crate::instrument::layout::Slots;
use crate::kernel::interface::Interface;
use crate::result::Location;
use crate::result::cover::Coverage;
use crate::result::generate::{By, GenerateSummary, GeneratedTest, Goal, GoalStatus};
use crate::result::journal::Journal;
use crate::suite::launch::{Launch, NdRange};
use crate::suite::write::{self, NewSuite, NewTest};
use crate::symbolic::infeasible::ProofOutcome;

/// Loop iterations of a launch: more than any kernel needs on small launches, little enough to end soon; what a work-item gets of them
/// at least and at most.
const FUEL: u64 = 1 << 22;
const LEAST_FUEL: u64 = 1 << 12;
const MOST_FUEL: u64 = 1 << 20;
/// Of launches that follow one that ran out of fuel, one in so many gets all of it again; the others up to `2^SCARCITY` times less.
const WHOLE: u64 = 32;
const SCARCITY: u32 = 6;

/// The kernel with probes on the simulator.
pub struct Instrumented<'a> {
    simulator: Simulator,
    program: ProgramId,
    code: Arc<HostCode>,
    plan: CoveragePlan,
    comparisons: u32,
    sites: &'a Sites,
    interface: &'a Interface,
    thrift: Thrift,
}

impl<'a> Instrumented<'a> {
    /// Whose code has to be there by `deadline`.
    ///
    /// # Errors
    /// `Internal` if the kernel cannot be woven or lowered; `Environment` if there is no memory; [`Error::late`] at the deadline.
    pub fn new(
        under_test: &'a KernelUnderTest<'_>,
        threads: usize,
        deadline: Option<Instant>,
    ) -> Result<Instrumented<'a>> {
        Instrumented::of(under_test, threads, under_test.begin_observed(Slots::Groups, deadline)?)
    }

    /// Of code that is about to be made.
    ///
    /// # Errors
    /// As [`Instrumented::new`].
    pub fn of(under_test: &'a KernelUnderTest<'_>, threads: usize, observing: Observing) -> Result<Instrumented<'a>> {
        let (code, plan, comparisons) = observing.end()?;
        let Code::Host(code) = code else {
            return Err(Error::internal("code for the simulator was asked for"));
        };
        let mut simulator = Simulator::new(threads)?;
        let program = simulator.load_host(&code)?;
        let (sites, interface) = (&under_test.sites, &under_test.interface);
        Ok(Instrumented { simulator, program, code, plan, comparisons, sites, interface, thrift: Thrift::default() })
    }
}

impl Runs for Instrumented<'_> {
    fn run(&mut self, launch: &Launch, limit: Duration) -> Result<Ran> {
        let range = &launch.range;
        let Some(words) = self.plan.layout.words_for(range) else { return Ok(Ran::Useless) };
        let allows = launch.allows_faults;
        let patience = SimulationOptions { halts: !allows, ..self.thrift.apply(patience(range)) };
        let options = SimulationOptions { probe_words: Some(words), comparisons: self.comparisons, ..patience };
        let simulation = match self.simulator.simulate(self.program, launch, &options, limit, &[]) {
            Ok(simulation) => simulation,
            // It does not fit the simulator's limits.
            Err(Error::Caller(_)) => return Ok(Ran::Useless),
            Err(e) => return Err(e),
        };
        self.thrift.note(&simulation);
        let is_allowed = simulation.faults.iter().all(|f| allows && f.kind.is_skipped());
        if !simulation.completed || !is_allowed || !simulation.divergences.is_empty() {
            let reached = buffer_growth::reached(&self.code.table, &simulation.faults);
            return Ok(if reached.is_empty() { Ran::Useless } else { Ran::Beyond(reached) });
        }
        let probe = Probe { words: &simulation.observation.probe, range };
        let tally = tally::tally(self.sites, &self.plan, probe);
        let faulted = faulting_launches::named(&self.code.table, self.interface, &simulation.faults);
        Ok(Ran::Shown(Shown { tally, compared: simulation.compared, faulted }))
    }
}

/// What launches get less of fuel because others ran out of it: a kernel that seldom ends would use up the time with few launches.
#[derive(Debug, Default)]
struct Thrift {
    /// Fuel is divided by `2^halvings`.
    halvings: u32,
    launches: u64,
}

impl Thrift {
    fn is_whole(&self) -> bool {
        self.launches.is_multiple_of(WHOLE)
    }

    fn apply(&self, options: SimulationOptions) -> SimulationOptions {
        let halvings = if self.is_whole() { 0 } else { self.halvings };
        SimulationOptions { fuel: options.fuel.map(|f| f >> halvings), ..options }
    }

    fn note(&mut self, simulation: &Simulation) {
        if simulation.faults.iter().any(|f| f.kind == FaultKind::NonTermination) {
            self.halvings = (self.halvings + 1).min(SCARCITY);
        } else if self.is_whole() {
            self.halvings = self.halvings.saturating_sub(1);
        }
        self.launches += 1;
    }
}

/// How long a launch may take, in loop iterations; it halts where it goes wrong, for then it is of no use.
pub(super) fn patience(range: &NdRange) -> SimulationOptions {
    let fuel = (FUEL / range.items().max(1)).clamp(LEAST_FUEL, MOST_FUEL);
    SimulationOptions { fuel: Some(fuel), halts: true, ..SimulationOptions::default() }
}

/// What launches may cost: small ones find as much as large ones, and more of them are made. Those that the user asks for may be large.
pub(super) fn cost(wishes: &Wishes, options: &Options) -> Cost {
    let cost = Cost { end: Some(options.limits.end), ..Cost::default() };
    if wishes.range.is_some() {
        return cost;
    }
    Cost { instructions: 1 << 19, bytes: wishes.usual_items.saturating_mul(1 << 10).clamp(1 << 20, cost.bytes), ..cost }
}

/// What to do.
#[derive(Debug, Clone)]
pub struct Options {
    pub seed: u64,
    pub limits: Limits,
    /// Whether solving is wanted for what is left.
    pub solve: bool,
    /// When everything began; the times of goals count from it.
    pub begun: Instant,
    /// The kernel's file, for sites without a place.
    pub source: String,
    /// What finding out what arguments are for took.
    pub reading: Duration,
}

/// What came of it.
#[derive(Debug, Clone)]
pub struct Generated {
    pub tests: Vec<Kept>,
    pub coverage: Coverage,
    pub goals: Vec<Goal>,
    pub summary: GenerateSummary,
    pub notes: Vec<String>,
}

impl Generated {
    /// The tests as the result has them.
    pub fn rows(&self) -> Vec<GeneratedTest> {
        let row = |kept: &Kept| GeneratedTest {
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

/// What a search goes on from, and writes down.
#[derive(Default)]
pub struct Log<'a> {
    pub journal: Option<&'a Journal>,
    /// What the journal holds of an earlier search.
    pub known: Vec<Entry>,
}

/// Searches for launches that cover the kernel's outcomes.
///
/// # Errors
/// As of [`Runs::run`] and of the first launches; `Environment` if the journal cannot be written.
pub fn generate(
    under_test: &KernelUnderTest<'_>,
    model: &KernelModel,
    wishes: &Wishes,
    options: &Options,
    runs: &mut dyn Runs,
    progress: &mut Progress<'_>,
    log: Log<'_>,
) -> Result<Generated> {
    let begun = Instant::now();
    let launch_builder = LaunchBuilder::new(model, cost(wishes, options));
    let outcomes = search::outcomes(&under_test.sites);
    let is_goal: Vec<bool> = outcomes.iter().map(|(s, _)| GOALS.contains(&under_test.sites.sites[*s].kind)).collect();
    let request = Request { range: wishes.range.clone(), seed: options.seed };
    let subject = Subject { launch_builder: &launch_builder, wishes, outcomes: &outcomes, goals: &is_goal };
    let before = begun.saturating_duration_since(options.begun);
    let view = View { sites: &under_test.sites, outcomes: &outcomes, before, source: &options.source };
    let mut record = |kept: &Kept, gained: &[usize], tried: &Tried| match log.journal {
        Some(journal) => write_down(journal, &view, kept, gained, tried, options.begun),
        None => Ok(()),
    };
    let mut search = Search::new(subject, &options.limits, runs, progress, &mut record);
    search.resume(known(&log.known, before)?)?;
    let ended = fuzz::fuzz(&mut search, &request, &Share::of(&options.limits, begun, options.solve))?;
    let solved = match options.solve {
        true => {
            let mut decided = |outcome: usize, fate: &ProofOutcome| match (
                log.journal,
                view.proved(outcome, fate, options.begun.elapsed()),
            ) {
                (Some(journal), Some(goal)) => journal.append(&Entry::Goal(Box::new(goal))),
                _ => Ok(()),
            };
            let sources = build::sources_of(Path::new(&options.source));
            solving::solve(
                &mut search,
                under_test,
                &GOALS,
                proofs(&log.known, &view),
                &mut decided,
                &sources,
                options.reading,
            )?
        }
        false => Solved::default(),
    };
    faulting_launches::cover(&mut search, under_test, &request, options.solve, &solved.fates)?;
    minimise::minimise(&mut search)?;
    let found = search.found();
    let mut goals = goals(&view, &found, &solved, &Ends { fuzzing: ended, options }, &under_test.interface);
    goals.sort_by(|a, b| a.location.cmp(&b.location));
    let count = |status| goals.iter().filter(|g| g.status == status).count() as u64;
    let summary = GenerateSummary {
        tests: found.tests.len() as u64,
        covered: count(GoalStatus::Covered),
        covered_with_fault: count(GoalStatus::CoveredWithFault),
        infeasible: count(GoalStatus::Infeasible),
        equivalent: 0,
        unknown: count(GoalStatus::Unknown),
        executions: found.tried.executions,
        faulted: found.tried.faulted,
        fuzz_s: begun.elapsed().as_secs_f64() - solved.took,
        smt_s: solved.took,
    };
    let tally = |k: &Kept| TestTally { name: k.name.clone(), sites: k.tally.clone(), items: k.launch.range.items() };
    let tallies: Vec<TestTally> = found.tests.iter().map(tally).collect();
    let coverage = summary::coverage(&under_test.sites, &tallies, false);
    let mut notes = under_test.sites.notes();
    if found.tests.is_empty() {
        notes.push(match found.tried.executions {
            0 => "no launch was made, so the suite has no test".to_owned(),
            n => format!(
                "none of {n} launches came to its end without doing what no kernel may, so the suite has no test; kassay check \
                 says what goes wrong, and the interface file can say which sizes and values fit together"
            ),
        });
    }
    Ok(Generated { tests: found.tests, coverage, goals, summary, notes })
}

/// What is said of a kernel of which no launch can be made, and `why`.
pub fn without_launches(under_test: &KernelUnderTest<'_>, source: &str, begun: Instant, why: &Error) -> Generated {
    let why = &format!("no launch was made: {}", why.report().what);
    let outcomes = search::outcomes(&under_test.sites);
    let view = View { sites: &under_test.sites, outcomes: &outcomes, before: Duration::ZERO, source };
    let time_s = begun.elapsed().as_secs_f64();
    let open = |outcome| {
        let goal = view.goal(outcome, None, &GOALS)?;
        Some(Goal { reason: Some(why.to_owned()), time_s, ..goal })
    };
    let mut goals: Vec<Goal> = (0..outcomes.len()).filter_map(open).collect();
    goals.sort_by(|a, b| a.location.cmp(&b.location));
    let summary = GenerateSummary { unknown: goals.len() as u64, ..GenerateSummary::default() };
    let mut notes = under_test.sites.notes();
    notes.push(format!("{why}, so the suite has no test; --budget gives more time"));
    let coverage = summary::coverage(&under_test.sites, &[], false);
    Generated { tests: Vec::new(), coverage, goals, summary, notes }
}

/// Kinds of sites whose outcomes are goals.
const GOALS: [SiteKind; 1] = [SiteKind::Branch];

/// What goals are read from.
struct View<'a> {
    sites: &'a Sites,
    /// Those of [`search::outcomes`].
    outcomes: &'a [(usize, usize)],
    /// From when everything began to when the search did.
    before: Duration,
    /// The kernel's file, for sites without a place.
    source: &'a str,
}

impl View<'_> {
    /// The goal of an outcome of [`View::outcomes`], if its site is of one of these kinds; `first`: how it was covered.
    fn goal(&self, outcome: usize, first: Option<First>, kinds: &[SiteKind]) -> Option<Goal> {
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
}

impl View<'_> {
    /// The goal of an outcome that a proof says is impossible.
    fn proved(&self, outcome: usize, fate: &ProofOutcome, after: Duration) -> Option<Goal> {
        let ProofOutcome::Infeasible { reason, preconditions } = fate else { return None };
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

/// Writes a kept input into the journal, and the goals that it decides.
fn write_down(
    journal: &Journal,
    view: &View<'_>,
    kept: &Kept,
    gained: &[usize],
    tried: &Tried,
    begun: Instant,
) -> Result<()> {
    let time = begun.elapsed();
    journal.append(&Entry::Test(Box::new(TestEntry::new(kept, *tried, time.as_secs_f64()))))?;
    let first = First { by: kept.by, after: time.saturating_sub(view.before) };
    for mut goal in gained.iter().filter_map(|o| view.goal(*o, Some(first), &GOALS)) {
        if !kept.faulted.is_empty() {
            goal.status = GoalStatus::CoveredWithFault;
        }
        journal.append(&Entry::Goal(Box::new(goal)))?;
    }
    Ok(())
}

/// The inputs that a journal holds.
fn known(entries: &[Entry], before: Duration) -> Result<Vec<Known>> {
    let tests = entries.iter().filter_map(|e| match e {
        Entry::Test(test) => Some(test.as_ref()),
        _ => None,
    });
    let known = |test: &TestEntry| {
        let after = Duration::try_from_secs_f64(test.time_s).unwrap_or_default().saturating_sub(before);
        Ok(Known {
            name: test.name.clone(),
            first: First { by: test.by, after },
            genotype: test.genotype.clone(),
            launch: test.launch()?,
            preconditions: test.preconditions.clone(),
            tried: test.tried,
        })
    };
    tests.map(known).collect()
}

/// The proofs that a journal holds, by watched outcome.
fn proofs(entries: &[Entry], view: &View<'_>) -> Vec<Option<ProofOutcome>> {
    let mut proved: HashMap<(&str, &str), &Goal> = HashMap::new();
    for entry in entries {
        if let Entry::Goal(goal) = entry
            && goal.status == GoalStatus::Infeasible
            && let (Some(site), Some(outcome)) = (&goal.site, &goal.outcome)
        {
            proved.insert((site, outcome), goal);
        }
    }
    let fate = |(s, o): &(usize, usize)| {
        let site = &view.sites.sites[*s];
        let goal = proved.get(&(site.id.as_str(), site.outcomes[*o].label.as_str()))?;
        let reason = goal.reason.clone().unwrap_or_default();
        Some(ProofOutcome::Infeasible { reason, preconditions: goal.preconditions.clone() })
    };
    view.outcomes.iter().map(fate).collect()
}

/// How the searches ended.
struct Ends<'a> {
    fuzzing: Ended,
    options: &'a Options,
}

/// The goals, in order of their places.
fn goals(view: &View<'_>, found: &Found, solved: &Solved, ends: &Ends<'_>, interface: &Interface) -> Vec<Goal> {
    let Tried { executions, faulted, largest } = found.tried;
    let after = ends.options.begun.elapsed();
    let all = found.first.iter().enumerate().filter_map(|(outcome, first)| {
        let goal = view.goal(outcome, *first, &GOALS)?;
        if first.is_some() && found.clean[outcome] {
            return Some(goal);
        }
        if let Some(test) = found.tests.iter().find(|t| first.is_some() && t.covers[outcome]) {
            let faults: Vec<String> = test.faulted.iter().map(|f| faulting_launches::said(f, interface)).collect();
            let reason = Some(format!("only launches that fault came there: {}", faults.join("; ")));
            return Some(Goal { status: GoalStatus::CoveredWithFault, reason, ..goal });
        }
        let fate = solved.fates.get(outcome).and_then(Option::as_ref);
        if let Some(proved) = fate.and_then(|fate| view.proved(outcome, fate, after)) {
            return Some(proved);
        }
        let mut bound = format!("{executions} launches of up to {largest} work-items, {faulted} of which faulted");
        if let Some(ProofOutcome::Unknown { bound: Some(limit), .. }) = fate {
            let _ = write!(bound, "; {limit}");
        }
        let reason = Some(reason(ends, solved, fate));
        Some(Goal { reason, bound: Some(bound), time_s: after.as_secs_f64(), ..goal })
    });
    all.collect()
}

/// Why fuzzing ended, in words.
pub(super) fn searched(ended: Ended, attempts: u64) -> String {
    match ended {
        Ended::Fruitless if attempts == 0 => "none of the first launches covers it".to_owned(),
        Ended::Covered | Ended::Fruitless => format!("{attempts} attempts in a row gained nothing"),
        Ended::OutOfTime => "the time was up".to_owned(),
        Ended::OutOfExecutions => "the launches allowed were made".to_owned(),
        Ended::Nothing => "the interface file leaves nothing to change".to_owned(),
    }
}

/// Why an outcome is unknown: how the searches ended, and why there is no proof.
fn reason(ends: &Ends<'_>, solved: &Solved, fate: Option<&ProofOutcome>) -> String {
    let mut reason = searched(ends.fuzzing, ends.options.limits.attempts);
    let solving = match solved.ended {
        None => "not solved for: --no-smt was given",
        Some(GaveUp::NoPaths) => "no path that was seen leads there by another choice of inputs",
        Some(GaveUp::NoParent) => "not solved for, as no launch came to its end",
        Some(GaveUp::Fruitless) => "what the solver proposed did not cover it",
        Some(GaveUp::OutOfTime) => "the time was up while solving",
        Some(GaveUp::OutOfExecutions) => "the launches allowed were made while solving",
        Some(GaveUp::Done) => "solving ended",
    };
    let _ = write!(reason, "; {solving}");
    if let Some(ProofOutcome::Unknown { reason: why, .. }) = fate {
        let _ = write!(reason, "; not proved impossible: {why}");
    }
    reason
}

/// How the suite's kernel is compiled.
#[derive(Debug, Clone, Copy)]
pub struct Kernel<'a> {
    /// Its file.
    pub path: &'a Path,
    /// All options, as arguments of clang.
    pub options: &'a [String],
}

/// Writes `folder/suite.toml` and its data, in place of what an earlier `kassay generate` wrote there.
///
/// # Errors
/// As of [`output_dir::write`].
pub fn write_suite(folder: &Path, kernel: Kernel<'_>, under_test: &KernelUnderTest<'_>, tests: &[Kept]) -> Result<()> {
    let description = |k: &Kept| match k.by {
        By::Seed => format!("covers {} outcomes; one of the first launches", k.covers.iter().filter(|c| **c).count()),
        By::Fuzz => format!("covers {} outcomes; found by fuzzing", k.covers.iter().filter(|c| **c).count()),
        By::Smt => format!("covers {} outcomes; found by solving", k.covers.iter().filter(|c| **c).count()),
    };
    let suite = NewSuite {
        kernel: write::relative(folder, kernel.path),
        entry: &under_test.entry,
        options: kernel.options,
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exec::simulator::observation::SimulatorFault;

    #[test]
    fn launches_after_endless_ones_get_less_fuel_and_some_all_of_it() {
        let endless = SimulatorFault {
            kind: FaultKind::NonTermination,
            site: 0,
            global_id: [0; 3],
            group_id: [0; 3],
            object: None,
            offset: 0,
            texel: None,
            span: None,
            inner: None,
            count: 1,
        };
        let endless = Simulation { faults: vec![endless], ..Simulation::default() };
        let options = SimulationOptions { fuel: Some(FUEL), ..SimulationOptions::default() };
        let mut thrift = Thrift::default();
        let mut given = Vec::new();
        for _ in 0..2 * WHOLE {
            given.extend(thrift.apply(options.clone()).fuel);
            thrift.note(&endless);
        }
        let whole: Vec<usize> = given.iter().enumerate().filter(|(_, f)| **f == FUEL).map(|(i, _)| i).collect();
        assert_eq!(whole, [0, WHOLE as usize]);
        assert_eq!(given[1..8], [1u32, 2, 3, 4, 5, 6, 6].map(|n| FUEL >> n));
        for _ in 0..u64::from(SCARCITY) * WHOLE {
            thrift.note(&Simulation::default());
        }
        thrift.note(&Simulation::default());
        assert_eq!(thrift.apply(options).fuel, Some(FUEL));
    }
}
