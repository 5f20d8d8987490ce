//! All of generation for one kernel, to a suite and a result.

use std::path::Path;
use std::time::{Duration, Instant};

use super::fitting::Workshop;
use super::fuzz;
use super::interface_file::Wishes;
use super::launches::Request;
use super::model::KernelModel;
use super::search::{self, Ended, Found, Kept, Limits, Progress, Runs, Search, Subject};
use crate::cfg::sites::{SiteKind, Sites};
use crate::coverage::build::Assay;
use crate::coverage::summary::{self, TestTally};
use crate::coverage::tally::{self, Probe, SiteTally};
use crate::error::{Error, Result};
use crate::exec::simulator::observation::SimulationOptions;
use crate::exec::{Code, ProgramId, Simulator, Target};
use crate::instrument::coverage::CoveragePlan;
use crate::instrument::layout::Slots;
use crate::result::Location;
use crate::result::cover::Coverage;
use crate::result::generate::{By, GenerateSummary, GeneratedTest, Goal, GoalStatus};
use crate::suite::launch::Launch;
use crate::suite::write::{self, Writing, WritingTest};

/// Loop iterations of one work-item: more than any kernel needs on small launches, little enough to end within a second.
const FUEL: u64 = 1 << 20;

/// The kernel with probes on the simulator.
pub struct Lane<'a> {
    simulator: Simulator,
    program: ProgramId,
    plan: CoveragePlan,
    sites: &'a Sites,
}

impl<'a> Lane<'a> {
    /// # Errors
    /// `Internal` if the kernel cannot be woven or lowered; `Environment` if there is no memory.
    pub fn new(assay: &'a Assay<'_>, threads: usize) -> Result<Lane<'a>> {
        let (code, plan) = assay.instrumented(Slots::Groups, Target::Host)?;
        let Code::Host(code) = code else {
            return Err(Error::internal("code for the simulator was asked for"));
        };
        let mut simulator = Simulator::new(threads)?;
        let program = simulator.load_host(&code)?;
        Ok(Lane { simulator, program, plan, sites: &assay.sites })
    }
}

impl Runs for Lane<'_> {
    fn run(&mut self, launch: &Launch, limit: Duration) -> Result<Option<Vec<SiteTally>>> {
        let range = &launch.range;
        let groups = range.groups();
        let Some(words) = self.plan.layout.buffer_words(groups, range.items()) else { return Ok(None) };
        let options = SimulationOptions { probe_words: Some(words), fuel: Some(FUEL), ..SimulationOptions::default() };
        let simulation = match self.simulator.simulate(self.program, launch, &options, limit, &[]) {
            Ok(simulation) => simulation,
            // It does not fit the simulator's limits.
            Err(Error::Caller(_)) => return Ok(None),
            Err(e) => return Err(e),
        };
        if !simulation.completed || !simulation.faults.is_empty() || !simulation.divergences.is_empty() {
            return Ok(None);
        }
        let probe = Probe { words: &simulation.observation.probe, groups, group_size: range.group_items() };
        Ok(Some(tally::tally(self.sites, &self.plan, probe)))
    }
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

/// Searches for launches that cover the kernel's outcomes. `source`: the kernel's file, for sites without a place.
///
/// # Errors
/// As of [`Runs::run`] and of the first launches.
pub fn generate(
    assay: &Assay<'_>,
    model: &KernelModel,
    wishes: &Wishes,
    options: &Options,
    runs: &mut dyn Runs,
    progress: &mut Progress<'_>,
    source: &str,
) -> Result<Generated> {
    let begun = Instant::now();
    let workshop = Workshop::new(model);
    let outcomes = search::outcomes(&assay.sites);
    let request = Request { range: wishes.range.clone(), seed: options.seed };
    let subject = Subject { workshop: &workshop, wishes, outcomes: &outcomes };
    let mut search = Search::new(subject, &options.limits, runs, progress);
    let ended = fuzz::fuzz(&mut search, &request)?;
    let found = search.finish()?;
    let fuzz_s = begun.elapsed().as_secs_f64();
    let before = begun.saturating_duration_since(options.begun);
    let view = View { sites: &assay.sites, outcomes: &outcomes, found: &found, before, source };
    let goals = goals(&view, &GOALS, &reason(ended, options), options.begun.elapsed());
    let count = |status| goals.iter().filter(|g| g.status == status).count() as u64;
    let summary = GenerateSummary {
        tests: found.tests.len() as u64,
        covered: count(GoalStatus::Covered),
        infeasible: count(GoalStatus::Infeasible),
        unknown: count(GoalStatus::Unknown),
        executions: found.executions,
        faulted: found.faulted,
        fuzz_s,
        smt_s: 0.0,
    };
    let tally = |k: &Kept| TestTally { name: k.name.clone(), sites: k.tally.clone(), items: k.launch.range.items() };
    let tallies: Vec<TestTally> = found.tests.iter().map(tally).collect();
    let coverage = summary::coverage(&assay.sites, &tallies, false);
    let mut notes = assay.sites.notes();
    if found.tests.is_empty() {
        notes.push(match found.executions {
            0 => "no launch was made, so the suite has no test".to_owned(),
            n => format!(
                "none of {n} launches came to its end without doing what no kernel may, so the suite has no test; kassay check \
                 says what goes wrong, and the interface file can say which sizes and values fit together"
            ),
        });
    }
    Ok(Generated { tests: found.tests, coverage, goals, summary, notes })
}

/// Kinds of sites whose outcomes are goals.
const GOALS: [SiteKind; 1] = [SiteKind::Branch];

/// What goals are read from.
struct View<'a> {
    sites: &'a Sites,
    /// Those of [`search::outcomes`].
    outcomes: &'a [(usize, usize)],
    found: &'a Found,
    /// From when everything began to when the search did.
    before: Duration,
    /// The kernel's file, for sites without a place.
    source: &'a str,
}

/// The outcomes of sites of some kinds, in order of their places. `reason`: why none of the searchers found more; `after`: when they
/// gave up.
fn goals(view: &View<'_>, kinds: &[SiteKind], reason: &str, after: Duration) -> Vec<Goal> {
    let found = view.found;
    let bound = format!(
        "{} launches of up to {} work-items, {} of which faulted",
        found.executions, found.largest, found.faulted
    );
    let mut goals = Vec::new();
    for ((s, o), first) in view.outcomes.iter().zip(&found.first) {
        let site = &view.sites.sites[*s];
        if !kinds.contains(&site.kind) {
            continue;
        }
        let location = match &site.location {
            Some(l) => Location { file: l.file.clone(), line: l.line, column: l.column },
            None => Location { file: view.source.to_owned(), line: 0, column: 0 },
        };
        goals.push(Goal {
            site: Some(site.id.clone()),
            outcome: Some(site.outcomes[*o].label.clone()),
            mutant: None,
            kind: site.kind.name().to_owned(),
            location,
            status: if first.is_some() { GoalStatus::Covered } else { GoalStatus::Unknown },
            by: first.map(|f| f.by),
            reason: first.is_none().then(|| reason.to_owned()),
            bound: first.is_none().then(|| bound.clone()),
            preconditions: Vec::new(),
            time_s: first.map_or(after, |f| view.before + f.after).as_secs_f64(),
        });
    }
    goals.sort_by(|a, b| a.location.cmp(&b.location));
    goals
}

fn reason(ended: Ended, options: &Options) -> String {
    let attempts = options.limits.attempts;
    let search = match ended {
        Ended::Fruitless if attempts == 0 => "none of the first launches covers it".to_owned(),
        Ended::Covered | Ended::Fruitless => format!("{attempts} attempts in a row gained nothing"),
        Ended::OutOfTime => "the time was up".to_owned(),
        Ended::OutOfExecutions => "the launches allowed were made".to_owned(),
        Ended::Nothing => "the interface file leaves nothing to change".to_owned(),
    };
    let why = if options.solve { "solving is not built yet" } else { "--no-smt was given" };
    format!("{search}; not solved for: {why}")
}

/// How the suite's kernel is compiled.
#[derive(Debug, Clone, Copy)]
pub struct Kernel<'a> {
    /// Its file.
    pub path: &'a Path,
    /// All options, as arguments of clang.
    pub options: &'a [String],
}

/// Writes `folder/suite.toml` and its data.
///
/// # Errors
/// As of [`write::write`].
pub fn write_suite(folder: &Path, kernel: Kernel<'_>, assay: &Assay<'_>, tests: &[Kept]) -> Result<()> {
    let description = |k: &Kept| match k.by {
        By::Seed => format!("covers {} outcomes; one of the first launches", k.covers.iter().filter(|c| **c).count()),
        By::Fuzz => format!("covers {} outcomes; found by fuzzing", k.covers.iter().filter(|c| **c).count()),
        By::Smt => format!("covers {} outcomes; found by solving", k.covers.iter().filter(|c| **c).count()),
    };
    let suite = Writing {
        kernel: write::relative(folder, kernel.path),
        entry: &assay.entry,
        options: kernel.options,
        name: Some("generated"),
        description: Some("Written by kassay generate."),
        tests: tests
            .iter()
            .map(|k| WritingTest {
                name: k.name.clone(),
                description: Some(description(k)),
                launch: &k.launch,
                expectations: &[],
            })
            .collect(),
    };
    write::write(folder, &suite, &assay.interface)?;
    Ok(())
}
