//! Runs cases on many tests at once, in joint launches, before the loop over the tests that asks for their verdicts:
//! as many tests at a time as the device has room for. What joint launches cannot hold, or lose, that loop runs as on
//! other devices.

pub mod baselines;
mod window;

use std::collections::BTreeMap;
use std::ops::RangeFrom;
use std::time::Duration;

use kassay_base::error::Result;
use kassay_ir::instrument::layout::FaultKind;
use kassay_ir::instrument::mutants::LaunchChange;
use kassay_run::exec::Executor;
use kassay_run::exec::joint::{self, JointDifference, JointLaunch, JointOutcome, JointResult, JointRun, JointSweep};

use self::window::{Group, Job, Window, jobs};
use super::baseline::{RunSettings, TestBaseline, head_for};
use super::case::{Case, Device, is_wanted};
use super::sweeper::{Cases, Strategy};
use super::verdict::{Shown, TestVerdict};
use crate::mutation::build::module_builder::{JointModule, Woven};
use crate::mutation::catalogue::operators::launch::Limits;

/// Most runs in one launch of a GPU: more are no faster (see `docs/benchmarks.md`).
const MOST_RUNS: u32 = 1 << 16;

/// Most runs in one launch of a device that is no GPU.
const MOST_RUNS_ELSEWHERE: u32 = 1 << 11;

/// Most runs in one joint sweep, with repeats.
const MOST_SWEPT: usize = 1 << 19;

/// Most runs that are prefetched at a time on a GPU, if all tests are run anyway. So many, because launches are of
/// tests whose work-groups have one size, and a launch of few runs takes as long as one of many.
const MOST_PREFETCHED: usize = 1 << 22;

/// Most results that are kept before they are asked for.
const MOST_RESULTS: usize = 1 << 23;

/// Most tests at a time if there is a deadline.
const TESTS_BEFORE_DEADLINE: usize = 4;

/// Fuel of a first run, as a multiple of the original's. Most mutants that need more never end, and a launch takes as
/// long as its slowest run: those that run out of it are run again, together, with all the fuel that they may have.
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
    /// By baseline: whether it was prefetched, or is run one by one.
    is_done: Vec<bool>,
    /// By baseline that was run: what its runs show.
    results: BTreeMap<usize, Known>,
    /// By case: the first baseline in the suite that is known to detect it, and whose verdict is kept in words; the
    /// greatest number if there is none.
    detected_by: Vec<usize>,
    /// How many results these are, but for those of the window.
    count: usize,
    /// The sweep in flight.
    window: Option<Window>,
}

/// What the runs on one baseline show.
#[derive(Debug, Default)]
struct Known {
    /// The cases, in order once the window is complete. There may be millions.
    cases: Vec<(u32, Kept)>,
    /// What needs words, with the first difference of outputs.
    shown: Vec<(Shown, Option<JointDifference>)>,
}

/// What is kept of the runs of a case.
#[derive(Debug, Clone, Copy)]
enum Kept {
    /// They pass.
    Passed,
    /// The test detects the case, which an earlier one decides.
    Detected,
    /// What they show has this number.
    Shown(u32),
}

/// A job, and for each repeat the results of its runs.
type Finished = (Job, Vec<Vec<JointResult>>);

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
        let results = BTreeMap::new();
        let (detected_by, count, window) = (Vec::new(), 0, None);
        Some(JointRuns { woven, module, baselines, settings, joins, is_done, results, detected_by, count, window })
    }

    /// Has the device begin the tests after baseline `t`, if all are to be run: what it found in this one is looked at
    /// meanwhile.
    fn prefetch_next(&mut self, t: usize, device: &mut Device<'_>, cases: &[Case]) -> Result<()> {
        let has_room = self.window.is_none() && self.count + self.most_prefetched(device.executor) <= MOST_RESULTS;
        let mut next = (t..self.baselines.len()).filter(|u| !self.is_done[*u]);
        let Some(next) = next.next().filter(|_| self.settings.full_matrix && has_room) else { return Ok(()) };
        self.window = Some(self.window_at(next, device.executor, cases));
        self.begin(device, cases)
    }

    /// Returns the verdicts of baseline `t` on the cases that want it, as far as they are known.
    fn take(&mut self, t: usize, cases: &[Case]) -> Vec<(usize, TestVerdict)> {
        let known = self.results.remove(&t).unwrap_or_default();
        self.count -= known.cases.len();
        let wanted = known.cases.iter().filter(|(c, _)| is_wanted(&cases[*c as usize], t, self.settings));
        let verdict = |(c, kept): &(u32, Kept)| {
            let verdict = match kept {
                Kept::Passed => TestVerdict::Passed,
                Kept::Detected => TestVerdict::Detected,
                Kept::Shown(number) => self.verdict(t, &cases[*c as usize], known.shown[*number as usize]),
            };
            (*c as usize, verdict)
        };
        wanted.map(verdict).collect()
    }

    /// Returns the verdict of baseline `t` on a case.
    fn verdict(&self, t: usize, case: &Case, (shown, first): (Shown, Option<JointDifference>)) -> TestVerdict {
        if case.outcome.is_decided() && shown.detects() {
            return TestVerdict::Detected;
        }
        let describe = |word| self.woven.guards.describe(word).unwrap_or_default();
        let difference = || first.map(|first| first.text(&self.baselines[t].references)).unwrap_or_default();
        shown.in_words(&describe, difference)
    }

    /// Returns how many runs are prefetched at a time.
    fn most_prefetched(&self, executor: &dyn Executor) -> usize {
        let most = match (self.settings.full_matrix, executor.device().kind == "gpu") {
            (true, true) => MOST_PREFETCHED,
            (true, false) => MOST_SWEPT,
            // What a test that decides would leave undone is not prefetched any further than one launch has room.
            (false, _) => most_runs(executor) as usize,
        };
        most / self.settings.repeats.max(1) as usize
    }

    /// Returns how many runs a job may have.
    fn most_swept(&self) -> usize {
        MOST_SWEPT / self.settings.repeats.max(1) as usize
    }

    /// Returns what is to be run for baseline `t`: it, and as many of the following ones as are worth it. Those whose
    /// work-groups have the same size share launches.
    fn window_at(&mut self, t: usize, executor: &dyn Executor, cases: &[Case]) -> Window {
        let most = self.most_prefetched(executor).min(MOST_RESULTS.saturating_sub(self.count));
        let most_tests = if self.settings.end.is_some() { TESTS_BEFORE_DEADLINE } else { usize::MAX };
        let limits = Limits::of(executor.device(), self.settings.required_local);
        let (mut wanted, mut taken) = (Vec::new(), Vec::new());
        let (mut count, mut tests) = (0, 0);
        for u in (t..self.baselines.len()).filter(|u| !self.is_done[*u]) {
            let groups = self.groups(u, cases, &limits);
            let runs: usize = groups.iter().map(|group| group.which.len()).sum();
            if (count > 0 && count + runs > most) || tests >= most_tests {
                break;
            }
            count += runs;
            tests += usize::from(runs > 0);
            wanted.extend(groups);
            taken.push(u);
        }
        taken.iter().for_each(|u| self.is_done[*u] = true);
        let factor = self.settings.factor.min(FIRST_FACTOR);
        let jobs = jobs(wanted, self.baselines, factor, self.most_swept());
        Window { taken, jobs, out_of_fuel: Vec::new(), running: None }
    }

    /// Does all that is left of the sweep in flight, and enters what it shows.
    fn complete(&mut self, device: &mut Device<'_>, cases: &[Case]) -> Result<()> {
        while self.window.as_ref().is_some_and(Window::is_open) {
            let finished = self.finish(device)?;
            // While the device is at the next job, the results of this one are looked at.
            self.begin(device, cases)?;
            self.keep(finished, device, cases);
        }
        for u in self.window.take().into_iter().flat_map(|window| window.taken) {
            if let Some(known) = self.results.get_mut(&u) {
                // Stable, because what it sorts is a few sorted parts.
                known.cases.sort_by_key(|(c, _)| *c);
                self.count += known.cases.len();
            }
        }
        Ok(())
    }

    /// Has the device begin the next job, if there is one.
    fn begin(&mut self, device: &mut Device<'_>, cases: &[Case]) -> Result<()> {
        let most = self.most_swept();
        let Some(window) = &mut self.window else { return Ok(()) };
        if window.jobs.is_empty() {
            let out_of_fuel = std::mem::take(&mut window.out_of_fuel);
            window.jobs = jobs(out_of_fuel, self.baselines, self.settings.factor, most);
        }
        let Some(job) = window.jobs.pop() else { return Ok(()) };
        self.start(&job, device, cases)?;
        if let Some(window) = &mut self.window {
            window.running = Some(job);
        }
        Ok(())
    }

    /// Waits for the job that the device is at. `None` if there is none, or it is lost.
    fn finish(&mut self, device: &mut Device<'_>) -> Result<Option<Finished>> {
        let Some(job) = self.window.as_mut().and_then(|window| window.running.take()) else { return Ok(None) };
        let JointOutcome::Ran { results, .. } = device.executor.finish_jointly()? else { return Ok(None) };
        Ok(Some((job, results)))
    }

    /// Keeps what a job has shown, and which runs need more fuel. What is lost is run otherwise.
    fn keep(&mut self, finished: Option<Finished>, device: &mut Device<'_>, cases: &[Case]) {
        let Some((job, results)) = finished else { return };
        self.detected_by.resize(cases.len(), usize::MAX);
        let pairs = results.first().map_or(0, Vec::len) as u64;
        device.cost.executions += pairs * u64::from(self.settings.repeats.max(1));
        device.cost.batched_pairs += pairs;
        let mut numbers = 0..;
        for group in job.groups {
            let more = self.settings.factor > job.factor;
            let which = self.keep_group(&group, &results, &mut numbers, cases, more);
            if let Some(window) = self.window.as_mut().filter(|_| !which.is_empty()) {
                window.out_of_fuel.push(Group { which, ..group });
            }
        }
    }

    /// Keeps the results of a group, whose numbers follow. Returns the cases that ran out of fuel, if they may have
    /// more.
    fn keep_group(
        &mut self,
        group: &Group,
        results: &[Vec<JointResult>],
        numbers: &mut RangeFrom<usize>,
        cases: &[Case],
        more: bool,
    ) -> Vec<usize> {
        let allows_faults = self.baselines[group.t].test.launch.allows_faults;
        let known = self.results.entry(group.t).or_default();
        known.cases.reserve(group.which.len());
        let mut out_of_fuel = Vec::new();
        for (c, number) in group.which.iter().zip(numbers) {
            let repeats = results.iter().map(|repeat| &repeat[number]);
            if more && repeats.clone().any(is_out_of_fuel) {
                out_of_fuel.push(*c);
                continue;
            }
            let shown = Shown::of(repeats.clone().map(|run| (run.words()[0], !run.agrees())), allows_faults);
            // Who has decided, or will, comes earlier in the suite.
            let is_decided = self.detected_by[*c] < group.t || cases[*c].outcome.is_decided();
            let kept = match shown {
                Shown::Passed => Kept::Passed,
                _ if shown.detects() && is_decided => Kept::Detected,
                _ => {
                    if shown.detects() {
                        self.detected_by[*c] = group.t;
                    }
                    known.shown.push((shown, repeats.clone().find_map(JointResult::difference)));
                    Kept::Shown(known.shown.len() as u32 - 1)
                }
            };
            known.cases.push((*c as u32, kept));
        }
        out_of_fuel
    }

    /// Returns the cases that are to be run on baseline `t`, by what their mutants make of its NDRange. Those that need
    /// no run are left out.
    fn groups(&self, t: usize, cases: &[Case], limits: &Limits) -> Vec<Group> {
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
            let Some(change) = change else { return Some(group) };
            let changed = baseline.changed(change, limits).ok()??;
            let joins = joint::cannot_join(&changed, &baseline.references).is_none();
            joins.then_some(Group { changed: Some(changed), ..group })
        };
        groups.into_iter().filter_map(runs).collect()
    }

    /// Has the device begin to run the cases of a job, once per repeat. Results will be in the order of the groups.
    fn start(&self, job: &Job, device: &mut Device<'_>, cases: &[Case]) -> Result<()> {
        let launches: Vec<JointLaunch<'_>> = job.groups.iter().map(|group| self.launch(group, job.factor)).collect();
        let of_group = |(launch, group): (u32, &Group)| {
            let run = |c: &usize| JointRun { launch, words: cases[*c].numbers };
            group.which.iter().map(run).collect::<Vec<_>>()
        };
        let runs: Vec<JointRun> = (0..).zip(&job.groups).flat_map(of_group).collect();
        let most_runs = most_runs(device.executor);
        let baselines = || job.groups.iter().map(|group| &self.baselines[group.t]);
        let limit = baselines().map(|b| b.limit(self.settings.factor)).max().unwrap_or_default();
        // At worst one run after the other.
        let run_time = baselines().map(|b| b.run_time).max().unwrap_or_default();
        let all = run_time.mul_f64(self.settings.factor * f64::from(most_runs.min(runs.len() as u32)));
        device.executor.begin_jointly(
            device.program,
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
        )
    }

    /// Returns the launch of a group, with fuel as a multiple of the original's.
    fn launch<'g>(&'g self, group: &'g Group, factor: f64) -> JointLaunch<'g> {
        let (baseline, launch) = (&self.baselines[group.t], group.launch(self.baselines));
        let block = head_for(self.woven, self.settings.layout, launch, baseline.fuel(factor));
        JointLaunch { launch, block, references: &baseline.references }
    }
}

impl Strategy for JointRuns<'_, '_> {
    /// Runs the cases whose runs joint launches can hold, together with those on further tests, if they have not been
    /// run.
    fn judge(&mut self, t: usize, device: &mut Device<'_>, cases: &mut Cases<'_>, _: &[usize]) -> Result<()> {
        let is_awaited = self.window.as_ref().is_some_and(|window| window.taken.contains(&t));
        if is_awaited || !self.is_done[t] {
            self.complete(device, cases)?;
        }
        if !self.is_done[t] {
            self.window = Some(self.window_at(t, device.executor, cases));
            self.complete(device, cases)?;
        }
        self.prefetch_next(t, device, cases)?;
        let verdicts = self.take(t, cases);
        device.cost.pairs += verdicts.len() as u64;
        cases.add(t, verdicts)
    }

    /// Waits for the job that the device is at, if there is one, and keeps the results. What is lost is run otherwise.
    fn settle(&mut self, device: &mut Device<'_>, cases: &[Case]) -> Result<()> {
        let finished = self.finish(device)?;
        self.keep(finished, device, cases);
        Ok(())
    }
}

/// Returns whether a run needed more fuel than it was given.
fn is_out_of_fuel(result: &JointResult) -> bool {
    FaultKind::read(result.words()[0]).is_some_and(|(kind, _)| kind == FaultKind::Fuel)
}

/// The most runs in one launch of a device.
fn most_runs(executor: &dyn Executor) -> u32 {
    if executor.device().kind == "gpu" { MOST_RUNS } else { MOST_RUNS_ELSEWHERE }
}
