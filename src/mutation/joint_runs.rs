//! Runs cases on many tests at once, in joint launches, ahead of the loop over the tests that asks for their verdicts: as many tests at
//! a time as the device has room for. What joint launches cannot hold, or lose, that loop runs as on other devices.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::error::Result;
use crate::exec::joint::{self, JointLaunch, JointOutcome, JointResult, JointRun, JointSweep};
use crate::exec::{Executor, ProgramId};
use crate::instrument::layout::FaultKind;

use super::baseline::{self, RunSettings, TestBaseline};
use super::module_builder::{JointModule, Woven};
use super::runner::{Case, RunCost, is_wanted};
use super::verdict::TestVerdict;

/// Most runs in one launch of a GPU: more are no faster (see `docs/benchmarks.md`).
const MOST_RUNS: u32 = 1 << 16;

/// Most runs in one launch of a device that is no GPU.
const MOST_RUNS_ELSEWHERE: u32 = 1 << 11;

/// Most results that are kept before they are asked for.
const MOST_RESULTS: usize = 1 << 19;

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
    /// The first baseline that nothing was run on ahead of time.
    next: usize,
    /// By baseline: the cases that were run on it, with the results of all repeats.
    results: BTreeMap<usize, Vec<(usize, Vec<JointResult>)>>,
}

/// What the runs of one case on one test show; texts are made for those that decide.
#[derive(Debug, Clone)]
pub struct JointVerdict(Vec<JointResult>);

impl<'a, 't> JointRuns<'a, 't> {
    /// Begins without results. `None` if the module is not made for joint launches.
    pub fn new(
        woven: &'a Woven,
        baselines: &'a [TestBaseline<'t>],
        settings: &'a RunSettings,
    ) -> Option<JointRuns<'a, 't>> {
        let module = woven.joint.as_ref()?;
        let joins = baselines.iter().map(|b| joint::cannot_join(&b.test.launch, &b.references).is_none()).collect();
        Some(JointRuns { woven, module, baselines, settings, joins, next: 0, results: BTreeMap::new() })
    }

    /// Returns the verdicts of baseline `t` on the cases that want it and whose runs joint launches can hold; runs them now,
    /// together with those on further tests, if they have not been run.
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
        if t >= self.next {
            self.run_ahead(t, executor, program, cases, cost)?;
        }
        let made = self.results.remove(&t).unwrap_or_default();
        let wanted = made.into_iter().filter(|(c, _)| is_wanted(&cases[*c], t, self.settings));
        Ok(wanted.map(|(c, results)| (c, JointVerdict(results))).collect())
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

    /// Runs the cases on baseline `t` and on as many of the following ones as make one launch.
    fn run_ahead(
        &mut self,
        t: usize,
        executor: &mut dyn Executor,
        program: ProgramId,
        cases: &[Case],
        cost: &mut RunCost,
    ) -> Result<()> {
        let most_runs = if executor.device().kind == "gpu" { MOST_RUNS } else { MOST_RUNS_ELSEWHERE };
        let most = (most_runs as usize).min(MOST_RESULTS / self.settings.repeats.max(1) as usize);
        let most_tests = if self.settings.end.is_some() { TESTS_BEFORE_DEADLINE } else { usize::MAX };
        // By size of work-groups, because all of a launch have the same.
        let mut classes: BTreeMap<[u64; 3], Vec<(usize, Vec<usize>)>> = BTreeMap::new();
        let (mut count, mut tests) = (0, 0);
        self.next = t;
        while self.next < self.baselines.len() && tests < most_tests {
            let which: Vec<usize> = match self.joins[self.next] {
                true => (0..cases.len())
                    .filter(|c| cases[*c].launch.is_none() && is_wanted(&cases[*c], self.next, self.settings))
                    .collect(),
                false => Vec::new(),
            };
            if count > 0 && count + which.len() > most {
                break;
            }
            count += which.len();
            tests += usize::from(!which.is_empty());
            if !which.is_empty() {
                let local = self.baselines[self.next].test.launch.range.decided().local;
                classes.entry(local).or_default().push((self.next, which));
            }
            self.next += 1;
        }
        for class in classes.into_values() {
            let is_cautious = self.settings.factor > FIRST_FACTOR;
            let first = if is_cautious { FIRST_FACTOR } else { self.settings.factor };
            let Some(results) = self.sweep(&class, first, most_runs, executor, program, cases, cost)? else { continue };
            self.keep(&class, results);
            if is_cautious {
                let hungry = self.out_of_fuel(&class);
                if !hungry.is_empty() {
                    let factor = self.settings.factor;
                    match self.sweep(&hungry, factor, most_runs, executor, program, cases, cost)? {
                        Some(results) => self.keep(&hungry, results),
                        None => self.forget(&hungry),
                    }
                }
            }
        }
        Ok(())
    }

    /// Runs cases, listed by baseline, once per repeat; `None` if nothing is known of the runs. Results are in the order of the list.
    #[allow(clippy::too_many_arguments)]
    fn sweep(
        &self,
        class: &[(usize, Vec<usize>)],
        factor: f64,
        most_runs: u32,
        executor: &mut dyn Executor,
        program: ProgramId,
        cases: &[Case],
        cost: &mut RunCost,
    ) -> Result<Option<Vec<Vec<JointResult>>>> {
        let launch = |(t, _): &(usize, Vec<usize>)| {
            let baseline = &self.baselines[*t];
            let mut block = joint::block(&self.module.values, &baseline.test.launch);
            // The header of an ordinary launch has fuel and extents where a block of parameters has them.
            let head = baseline::probe_head(self.settings.layout, &baseline.test.launch, baseline.fuel(factor));
            let before_slot = self.settings.layout.slot(0) as usize;
            for (word, known) in block.iter_mut().zip(&head[..before_slot]) {
                *word = if *word == 0 { *known } else { *word };
            }
            JointLaunch { launch: &baseline.test.launch, block, references: &baseline.references }
        };
        let launches: Vec<JointLaunch<'_>> = class.iter().map(launch).collect();
        let of_launch = |(launch, (_, which)): (u32, &'_ (usize, Vec<usize>))| {
            let run = |c: &usize| JointRun { launch, words: cases[*c].numbers };
            which.iter().map(run).collect::<Vec<_>>()
        };
        let runs: Vec<JointRun> = (0..).zip(class).flat_map(of_launch).collect();
        let baselines = || class.iter().map(|(t, _)| &self.baselines[*t]);
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
                timeout: limit + all.min(MOST_TIME),
            },
        )?;
        let JointOutcome::Ran { results, .. } = outcome else { return Ok(None) };
        let pairs = runs.len() as u64;
        cost.executions += pairs * u64::from(self.settings.repeats.max(1));
        cost.pairs += pairs;
        cost.batched_pairs += pairs;
        Ok(Some(results))
    }

    /// Keeps results, in place of earlier ones of the same cases.
    fn keep(&mut self, class: &[(usize, Vec<usize>)], results: Vec<Vec<JointResult>>) {
        let mut number = 0;
        for (t, which) in class {
            let known = self.results.entry(*t).or_default();
            for c in which {
                let of_case: Vec<JointResult> = results.iter().map(|repeat| repeat[number]).collect();
                number += 1;
                match known.binary_search_by_key(c, |(known, _)| *known) {
                    Ok(at) => known[at].1 = of_case,
                    Err(at) => known.insert(at, (*c, of_case)),
                }
            }
        }
    }

    /// Forgets results, so that the cases are run otherwise.
    fn forget(&mut self, class: &[(usize, Vec<usize>)]) {
        for (t, which) in class {
            if let Some(known) = self.results.get_mut(t) {
                known.retain(|(c, _)| which.binary_search(c).is_err());
            }
        }
    }

    /// Returns the cases that ran out of fuel, by baseline.
    fn out_of_fuel(&self, class: &[(usize, Vec<usize>)]) -> Vec<(usize, Vec<usize>)> {
        let of_test = |(t, _): &(usize, Vec<usize>)| {
            let known = self.results.get(t).map(Vec::as_slice).unwrap_or_default();
            let hungry = known.iter().filter(|(_, results)| results.iter().any(|r| fault(r) == Some(FaultKind::Fuel)));
            let which: Vec<usize> = hungry.map(|(c, _)| *c).collect();
            (!which.is_empty()).then_some((*t, which))
        };
        class.iter().filter_map(of_test).collect()
    }
}

/// The fault that a guard recorded.
fn fault(result: &JointResult) -> Option<FaultKind> {
    FaultKind::read(result.words()[0]).map(|(kind, _)| kind)
}

impl JointVerdict {
    /// Returns whether the test detects the case.
    fn detects(&self, allows_faults: bool) -> bool {
        self.recorded_fault(allows_faults).is_some() || self.0.iter().all(|result| !result.agrees())
    }

    /// The first fault that decides, as the word that guards record.
    fn recorded_fault(&self, allows_faults: bool) -> Option<(FaultKind, u32)> {
        self.0.iter().find_map(|result| {
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
        let first = self.0.iter().find_map(JointResult::difference).map(|d| d.text(&baseline.references));
        match (first, self.0.iter().all(|result| !result.agrees())) {
            (None, _) => TestVerdict::Passed,
            (Some(difference), true) => TestVerdict::Killed(difference),
            (Some(difference), false) => TestVerdict::Flaky(difference),
        }
    }
}
