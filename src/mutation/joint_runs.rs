//! Runs cases on many tests at once, in joint launches, ahead of the loop over the tests that asks for their verdicts: as many tests at
//! a time as the device has room for. What joint launches cannot hold, or lose, that loop runs as on other devices.

use std::collections::BTreeMap;
use std::ops::Range;
use std::time::Duration;

use crate::error::Result;
use crate::exec::joint::{self, JointLaunch, JointOutcome, JointResult, JointRun, JointSweep};
use crate::exec::{Executor, ProgramId};
use crate::instrument::layout::{FaultKind, GuardLayout};
use crate::instrument::mutants::LaunchChange;
use crate::suite::launch::{Launch, NdRange};

use super::baseline::{self, RunSettings, TestBaseline};
use super::case::{Case, RunCost, is_wanted};
use super::module_builder::{JointModule, Woven};
use super::operators::launch;
use super::verdict::TestVerdict;

/// Most runs in one launch of a GPU: more are no faster (see `docs/benchmarks.md`).
const MOST_RUNS: u32 = 1 << 16;

/// Most runs in one launch of a device that is no GPU.
const MOST_RUNS_ELSEWHERE: u32 = 1 << 11;

/// Most runs that are made ahead at a time.
const MOST_AHEAD: usize = 1 << 19;

/// Most results that are kept before they are asked for.
const MOST_RESULTS: usize = 1 << 21;

/// Most tests at a time if there is a deadline.
const TESTS_BEFORE_DEADLINE: usize = 4;

/// Fuel of a first run, as a multiple of the original's. Most mutants that need more never end, and a launch takes as long as its
/// slowest run: those that run out of it are run again, together, with all the fuel that they may have.
const FIRST_FACTOR: f64 = 2.0;

/// Longest time that a launch may take.
const MOST_TIME: Duration = Duration::from_secs(120);

/// The joint runs of cases on tests.
pub struct JointRuns<'a, 't> {
    woven: &'a Woven,
    module: &'a JointModule,
    baselines: &'a [TestBaseline<'t>],
    settings: &'a RunSettings,
    /// By baseline: whether joint launches can hold it.
    joins: Vec<bool>,
    /// By baseline: whether it was run ahead of time, or is one by one.
    is_done: Vec<bool>,
    /// By baseline: the cases that were run on it, in order, with the results of all repeats.
    results: BTreeMap<usize, Vec<(usize, JointVerdict)>>,
    /// How many results these are.
    count: usize,
}

/// What the runs of one case on one test show: the results of the first repeat and of the others. Texts are made for those that decide.
#[derive(Debug, Clone)]
pub struct JointVerdict(JointResult, Vec<JointResult>);

impl<'a, 't> JointRuns<'a, 't> {
    /// Begins without results. `None` if the module is not made for joint launches.
    pub fn new(
        woven: &'a Woven,
        baselines: &'a [TestBaseline<'t>],
        settings: &'a RunSettings,
    ) -> Option<JointRuns<'a, 't>> {
        let module = woven.joint.as_ref()?;
        let joins = baselines.iter().map(|b| joint::cannot_join(&b.test.launch, &b.references).is_none()).collect();
        let is_done = vec![false; baselines.len()];
        Some(JointRuns { woven, module, baselines, settings, joins, is_done, results: BTreeMap::new(), count: 0 })
    }

    /// Returns the verdicts of baseline `t` on cases whose runs joint launches can hold; runs them now, together with those on further
    /// tests, if they have not been run. Cases that have been decided since may be among them.
    ///
    /// # Errors
    /// `Environment`.
    pub fn verdicts(
        &mut self,
        t: usize,
        executor: &mut dyn Executor,
        program: ProgramId,
        cases: &[Case],
        cost: &mut RunCost,
    ) -> Result<Vec<(usize, JointVerdict)>> {
        if !self.is_done[t] {
            self.run_ahead(t, executor, program, cases, cost)?;
        }
        let made = self.results.remove(&t).unwrap_or_default();
        self.count -= made.len();
        Ok(made)
    }

    /// Adds a verdict of baseline `t` to a case.
    pub fn add(&self, t: usize, case: &mut Case, verdict: JointVerdict) {
        let baseline = &self.baselines[t];
        case.pairs += 1;
        let allows_faults = baseline.test.launch.allows_faults;
        if case.outcome.is_decided() && verdict.detects(allows_faults) {
            return case.outcome.add_detecting(baseline.position);
        }
        let describe = |word| self.woven.guards.describe(word).unwrap_or_default();
        let verdict = verdict.in_words(baseline, &describe);
        case.outcome.add(baseline.position, &baseline.test.name, &verdict);
    }

    /// Runs the cases on baseline `t` and on as many of the following ones as are worth it. Those whose work-groups have the same size
    /// share launches: if all tests are run anyway, others are left for later.
    fn run_ahead(
        &mut self,
        t: usize,
        executor: &mut dyn Executor,
        program: ProgramId,
        cases: &[Case],
        cost: &mut RunCost,
    ) -> Result<()> {
        let most_runs = if executor.device().kind == "gpu" { MOST_RUNS } else { MOST_RUNS_ELSEWHERE };
        // What a test that decides would leave undone is not run ahead any further than one launch has room.
        let ahead = if self.settings.full_matrix { MOST_AHEAD } else { most_runs as usize };
        let most = ahead.min(MOST_AHEAD / self.settings.repeats.max(1) as usize);
        let most = most.min(MOST_RESULTS.saturating_sub(self.count));
        let most_tests = if self.settings.end.is_some() { TESTS_BEFORE_DEADLINE } else { usize::MAX };
        let limits = launch::Limits::of(executor.device(), self.settings.required_local);
        // By size of work-groups, because all of a launch have the same.
        let mut classes: BTreeMap<[u64; 3], Vec<Group>> = BTreeMap::new();
        let (mut count, mut tests, mut taken) = (0, 0, Vec::new());
        let local = |u: usize| self.baselines[u].test.launch.range.decided().local;
        let fits = |u: usize| !self.is_done[u] && (!self.settings.full_matrix || local(u) == local(t));
        let following: Vec<usize> = (t..self.baselines.len()).filter(|u| fits(*u)).collect();
        for u in following {
            let groups = self.groups(u, cases, &limits);
            let runs: usize = groups.iter().map(|group| group.which.len()).sum();
            if (count > 0 && count + runs > most) || tests >= most_tests {
                break;
            }
            count += runs;
            tests += usize::from(runs > 0);
            for group in groups {
                classes.entry(group.range(self.baselines).decided().local).or_default().push(group);
            }
            self.is_done[u] = true;
            taken.push(u);
        }
        for class in classes.into_values() {
            let is_cautious = self.settings.factor > FIRST_FACTOR;
            let first = if is_cautious { FIRST_FACTOR } else { self.settings.factor };
            let Some(results) = self.sweep(&class, first, most_runs, executor, program, cases, cost)? else { continue };
            let places = self.keep(&class, &results);
            if !is_cautious {
                continue;
            }
            let (hungry, places) = self.out_of_fuel(&class, &places);
            if !hungry.is_empty() {
                let factor = self.settings.factor;
                match self.sweep(&hungry, factor, most_runs, executor, program, cases, cost)? {
                    Some(results) => self.replace(&hungry, &places, &results),
                    None => self.forget(&hungry),
                }
            }
        }
        for u in taken {
            if let Some(known) = self.results.get_mut(&u) {
                // Stable, because what it sorts is a few sorted parts.
                known.sort_by_key(|(c, _)| *c);
                self.count += known.len();
            }
        }
        Ok(())
    }

    /// Returns the cases that are to be run on baseline `t`, by what their mutants make of its NDRange. Those that need no run are left out.
    fn groups(&self, t: usize, cases: &[Case], limits: &launch::Limits) -> Vec<Group> {
        let baseline = &self.baselines[t];
        let mut groups: Vec<(Option<LaunchChange>, Group)> = Vec::new();
        if !self.joins[t] {
            return Vec::new();
        }
        for (c, case) in cases.iter().enumerate().filter(|(_, case)| is_wanted(case, t, self.settings)) {
            match groups.iter_mut().find(|(change, _)| *change == case.launch) {
                Some((_, group)) => group.which.push(c),
                None => groups.push((case.launch, Group { t, changed: None, which: vec![c] })),
            }
        }
        let runs = |(change, group): (Option<LaunchChange>, Group)| {
            let launch = &baseline.test.launch;
            let Some(change) = change else { return Some(group) };
            let range = launch::apply(&launch.range, change, limits).ok().filter(|range| *range != launch.range)?;
            let changed = Launch::new(range, launch.args.clone());
            let joins = joint::cannot_join(&changed, &baseline.references).is_none();
            joins.then_some(Group { changed: Some(changed), ..group })
        };
        groups.into_iter().filter_map(runs).collect()
    }

    /// Runs cases once per repeat; `None` if nothing is known of the runs. Results are in the order of the groups.
    #[allow(clippy::too_many_arguments)]
    fn sweep(
        &self,
        class: &[Group],
        factor: f64,
        most_runs: u32,
        executor: &mut dyn Executor,
        program: ProgramId,
        cases: &[Case],
        cost: &mut RunCost,
    ) -> Result<Option<Vec<Vec<JointResult>>>> {
        let launches: Vec<JointLaunch<'_>> = class.iter().map(|group| self.launch(group, factor)).collect();
        let of_group = |(launch, group): (u32, &Group)| {
            let run = |c: &usize| JointRun { launch, words: cases[*c].numbers };
            group.which.iter().map(run).collect::<Vec<_>>()
        };
        let runs: Vec<JointRun> = (0..).zip(class).flat_map(of_group).collect();
        let baselines = || class.iter().map(|group| &self.baselines[group.t]);
        let limit = baselines().map(|b| b.limit(self.settings.factor)).max().unwrap_or_default();
        // At worst one run after the other.
        let run_time = baselines().map(|b| b.run_time).max().unwrap_or_default();
        let all = run_time.mul_f64(self.settings.factor * f64::from(most_runs.min(runs.len() as u32)));
        let outcome = executor.sweep_jointly(
            program,
            &JointSweep {
                values: &self.module.values,
                written: &self.module.written,
                launches: &launches,
                runs: &runs,
                repeats: self.settings.repeats,
                most_runs,
                outputs: false,
                timeout: limit + all.min(MOST_TIME),
            },
        )?;
        let JointOutcome::Ran { results, .. } = outcome else { return Ok(None) };
        let pairs = runs.len() as u64;
        cost.executions += pairs * u64::from(self.settings.repeats.max(1));
        cost.batched_pairs += pairs;
        Ok(Some(results))
    }

    /// Returns the launch of a group, with fuel as a multiple of the original's.
    fn launch<'g>(&'g self, group: &'g Group, factor: f64) -> JointLaunch<'g> {
        let (baseline, launch) = (&self.baselines[group.t], group.launch(self.baselines));
        let block = block_of(self.module, self.settings.layout, launch, baseline.fuel(factor));
        JointLaunch { launch, block, references: &baseline.references }
    }

    /// Keeps results. Returns for each group where, among those of its baseline, the results of its cases are.
    fn keep(&mut self, class: &[Group], results: &[Vec<JointResult>]) -> Vec<Range<usize>> {
        let mut numbers = 0..;
        let of_group = |group: &Group| {
            let known = self.results.entry(group.t).or_default();
            let begin = known.len();
            known.extend(
                group.which.iter().zip(&mut numbers).map(|(c, number)| (*c, JointVerdict::of(results, number))),
            );
            begin..known.len()
        };
        class.iter().map(of_group).collect()
    }

    /// Puts results in the places of earlier ones.
    fn replace(&mut self, class: &[Group], places: &[Vec<usize>], results: &[Vec<JointResult>]) {
        let mut numbers = 0..;
        for (group, places) in class.iter().zip(places) {
            let known = self.results.entry(group.t).or_default();
            for (place, number) in places.iter().zip(&mut numbers) {
                known[*place].1 = JointVerdict::of(results, number);
            }
        }
    }

    /// Forgets results, so that the cases are run otherwise.
    fn forget(&mut self, class: &[Group]) {
        for group in class {
            if let Some(known) = self.results.get_mut(&group.t) {
                known.retain(|(c, _)| group.which.binary_search(c).is_err());
            }
        }
    }

    /// Returns the cases of these groups that ran out of fuel, and where their results are.
    fn out_of_fuel(&self, class: &[Group], places: &[Range<usize>]) -> (Vec<Group>, Vec<Vec<usize>>) {
        let of_group = |(group, places): (&Group, &Range<usize>)| {
            let known = self.results.get(&group.t).map(Vec::as_slice).unwrap_or_default();
            let is_hungry = |at: &usize| known[*at].1.all().any(|result| fault(result) == Some(FaultKind::Fuel));
            let at: Vec<usize> = places.clone().filter(is_hungry).collect();
            let which = at.iter().map(|at| known[*at].0).collect();
            (!at.is_empty()).then(|| (Group { which, ..group.clone() }, at))
        };
        class.iter().zip(places).filter_map(of_group).unzip()
    }
}

/// Cases that are run on the same launch.
#[derive(Debug, Clone)]
struct Group {
    /// The baseline.
    t: usize,
    /// Its launch as mutants change it; `None`: as it is.
    changed: Option<Launch>,
    /// The cases, in order.
    which: Vec<usize>,
}

impl Group {
    fn launch<'a>(&'a self, baselines: &'a [TestBaseline<'_>]) -> &'a Launch {
        self.changed.as_ref().unwrap_or(&baselines[self.t].test.launch)
    }

    fn range<'a>(&'a self, baselines: &'a [TestBaseline<'_>]) -> &'a NdRange {
        &self.launch(baselines).range
    }
}

/// Returns the block of parameters of a launch, for work-items that may make so many loop iterations.
pub fn block_of(module: &JointModule, layout: GuardLayout, launch: &Launch, fuel: u32) -> Vec<u32> {
    let mut block = joint::block(&module.values, launch);
    // The header of an ordinary launch has fuel and extents where a block of parameters has them.
    let head = baseline::probe_head(layout, launch, fuel);
    for (word, known) in block.iter_mut().zip(&head[..layout.slot(0) as usize]) {
        *word = if *word == 0 { *known } else { *word };
    }
    block
}

/// The fault that a guard recorded.
fn fault(result: &JointResult) -> Option<FaultKind> {
    FaultKind::read(result.words()[0]).map(|(kind, _)| kind)
}

impl JointVerdict {
    /// What the run with this number shows, of which there are as many results as repeats.
    fn of(results: &[Vec<JointResult>], number: usize) -> JointVerdict {
        JointVerdict(results[0][number], results[1..].iter().map(|repeat| repeat[number]).collect())
    }

    fn all(&self) -> impl Iterator<Item = &JointResult> {
        std::iter::once(&self.0).chain(&self.1)
    }

    /// Returns whether the test detects the case.
    fn detects(&self, allows_faults: bool) -> bool {
        self.recorded_fault(allows_faults).is_some() || self.all().all(|result| !result.agrees())
    }

    /// The first fault that decides, as the word that guards record.
    fn recorded_fault(&self, allows_faults: bool) -> Option<(FaultKind, u32)> {
        self.all().find_map(|result| {
            let kind = fault(result).filter(|kind| *kind == FaultKind::Fuel || !allows_faults)?;
            Some((kind, result.words()[0]))
        })
    }

    /// The same verdict with its reason; see [`super::verdict::test_verdict`].
    fn in_words(&self, baseline: &TestBaseline<'_>, describe: &dyn Fn(u32) -> String) -> TestVerdict {
        match self.recorded_fault(baseline.test.launch.allows_faults) {
            Some((FaultKind::Fuel, word)) => return TestVerdict::Timeout(describe(word)),
            Some((_, word)) => return TestVerdict::RuntimeError(describe(word)),
            None => {}
        }
        let first = self.all().find_map(JointResult::difference).map(|d| d.text(&baseline.references));
        match (first, self.all().all(|result| !result.agrees())) {
            (None, _) => TestVerdict::Passed,
            (Some(difference), true) => TestVerdict::Killed(difference),
            (Some(difference), false) => TestVerdict::Flaky(difference),
        }
    }
}
