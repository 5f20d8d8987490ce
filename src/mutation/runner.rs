//! Runs the cases of one module on the baselines of a suite.

use std::sync::Mutex;
use std::time::Instant;

use crate::coverage::group_order;
use crate::error::Result;
use crate::exec::{Batch, Executor, Fault, ProgramId, Run, Sweep, Variation, VariationOutcome};
use crate::instrument::layout::{FaultKind, GuardLayout, SLOT_WORDS, slot};
use crate::suite::launch::{ArgValue, Launch};

use super::baseline::{RunSettings, TestBaseline, head_for};
pub use super::case::{Case, RunCost, Scenario, is_wanted};
use super::joint_runs::{Device, JointRuns};
use super::module_builder::Woven;
use super::operators::launch;
use super::verdict::{self, TestVerdict};

/// Variations per sweep; decided mutants are journalled after each sweep.
const SWEEP_SIZE: usize = 512;

/// Variations per sweep if there is a deadline.
const SHORT_SWEEP_SIZE: usize = 32;

/// Most runs in one launch.
const MAX_SLOTS: u64 = 64;

/// Launches of more work-items gain nothing from batching (measured on a CPU; see `docs/benchmarks.md`).
pub const BATCHED_ITEMS: u64 = 2048;

/// Runs the cases on `executors`, each given with its loaded program of `woven`; every executor runs an equal share of
/// the cases. `on_decided` is called with each case as soon as its outcome is final. Returns the cost.
///
/// # Errors
/// `Environment`, and errors of `on_decided`.
pub fn run(
    executors: &mut [(&mut dyn Executor, ProgramId)],
    woven: &Woven,
    baselines: &[TestBaseline<'_>],
    cases: &mut [Case],
    settings: &RunSettings,
    on_decided: &(dyn Fn(&Case) -> Result<()> + Sync),
) -> Result<RunCost> {
    let share = cases.len().div_ceil(executors.len().max(1)).max(1);
    let total = Mutex::new(RunCost::default());
    let begun = Instant::now();
    let results: Vec<Result<()>> = std::thread::scope(|scope| {
        let handles: Vec<_> = executors
            .iter_mut()
            .zip(cases.chunks_mut(share))
            .map(|((executor, program), cases)| {
                let total = &total;
                scope.spawn(move || {
                    let cost = run_share(&mut **executor, *program, woven, baselines, cases, settings, on_decided)?;
                    if let Ok(mut total) = total.lock() {
                        total.add(cost);
                    }
                    Ok(())
                })
            })
            .collect();
        handles.into_iter().map(|h| h.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))).collect()
    });
    results.into_iter().collect::<Result<()>>()?;
    let mut cost = total.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    cost.run = begun.elapsed();
    Ok(cost)
}

/// Runs one executor's share of the cases, test by test.
fn run_share(
    executor: &mut dyn Executor,
    program: ProgramId,
    woven: &Woven,
    baselines: &[TestBaseline<'_>],
    cases: &mut [Case],
    settings: &RunSettings,
    on_decided: &(dyn Fn(&Case) -> Result<()> + Sync),
) -> Result<RunCost> {
    let mut device = Device { executor, program, cost: RunCost::default() };
    let mut reports = Reports::new(cases, settings.full_matrix, on_decided);
    let size = if settings.end.is_some() { SHORT_SWEEP_SIZE } else { SWEEP_SIZE };
    let mut joint = JointRuns::new(woven, baselines, settings);
    'tests: for (t, baseline) in baselines.iter().enumerate() {
        if settings.is_over() {
            break;
        }
        let mut done = Vec::new();
        if let Some(joint) = &mut joint {
            done = joint.judge(t, &mut device, cases)?;
            reports.report(cases, &done, t)?;
        }
        let mut made = vec![false; cases.len()];
        done.into_iter().for_each(|c| made[c] = true);
        let todo: Vec<usize> = (0..cases.len()).filter(|c| !made[*c] && is_wanted(&cases[*c], t, settings)).collect();
        if let Some(joint) = joint.as_mut().filter(|_| !todo.is_empty()) {
            joint.settle(&mut device, cases)?;
        }
        let (plain, changed): (Vec<usize>, Vec<usize>) = todo.into_iter().partition(|c| cases[*c].launch.is_none());
        for some in plain.chunks(size) {
            if settings.is_over() {
                break 'tests;
            }
            let verdicts = sweep(&mut device, woven, baseline, &baseline.test.launch, cases, some, settings)?;
            add_verdicts(baseline, cases, some, verdicts);
            reports.report(cases, some, t)?;
        }
        for c in changed {
            if settings.is_over() {
                break 'tests;
            }
            let range = &baseline.test.launch.range;
            let Some(change) = cases[c].launch else { continue };
            let verdict = match launch::apply(
                range,
                change,
                &launch::Limits::of(device.executor.device(), settings.required_local),
            ) {
                Err(reason) => TestVerdict::Refused(reason),
                Ok(range) if range == baseline.test.launch.range => TestVerdict::Passed,
                Ok(range) => {
                    let launch = Launch::new(range, baseline.test.launch.args.clone());
                    sweep(&mut device, woven, baseline, &launch, cases, &[c], settings)?.remove(0)
                }
            };
            add_verdicts(baseline, cases, &[c], vec![verdict]);
            reports.report(cases, &[c], t)?;
        }
    }
    if let Some(joint) = &mut joint {
        joint.settle(&mut device, cases)?;
    }
    for case in cases.iter_mut().filter(|case| settings.is_over() && case.pairs < case.scenario.test_count()) {
        case.outcome.leave_pending();
    }
    Ok(device.cost)
}

/// Adds the verdicts of a test to the cases `which`.
fn add_verdicts(baseline: &TestBaseline<'_>, cases: &mut [Case], which: &[usize], verdicts: Vec<TestVerdict>) {
    for (c, verdict) in which.iter().zip(verdicts) {
        cases[*c].outcome.add(baseline.position, &baseline.test.name, &verdict);
        cases[*c].pairs += 1;
    }
}

/// Reports cases once their outcome is final.
struct Reports<'a> {
    /// By case: the last baseline that it is to be run on.
    last: Vec<Option<usize>>,
    reported: Vec<bool>,
    full_matrix: bool,
    on_decided: &'a (dyn Fn(&Case) -> Result<()> + Sync),
}

impl<'a> Reports<'a> {
    fn new(cases: &[Case], full_matrix: bool, on_decided: &'a (dyn Fn(&Case) -> Result<()> + Sync)) -> Reports<'a> {
        let last = cases.iter().map(|case| case.scenario.tests.iter().rposition(|runs| *runs)).collect();
        Reports { last, reported: vec![false; cases.len()], full_matrix, on_decided }
    }

    /// Reports those of the cases `which`, which have just been run on baseline `t`, that need no further test.
    fn report(&mut self, cases: &[Case], which: &[usize], t: usize) -> Result<()> {
        for c in which {
            let is_final = self.last[*c] == Some(t) || (!self.full_matrix && cases[*c].outcome.is_decided());
            if is_final && !std::mem::replace(&mut self.reported[*c], true) {
                (self.on_decided)(&cases[*c])?;
            }
        }
        Ok(())
    }
}

fn sweep(
    device: &mut Device<'_>,
    woven: &Woven,
    baseline: &TestBaseline<'_>,
    launch: &Launch,
    cases: &[Case],
    which: &[usize],
    settings: &RunSettings,
) -> Result<Vec<TestVerdict>> {
    let layout = settings.layout;
    let fuel = baseline.fuel(settings.factor);
    let first = layout.slot(0);
    let batch = woven
        .batched
        .then(|| batch(layout, launch, which.len()))
        .filter(|_| which.len() > 1 && launch.range.items() <= BATCHED_ITEMS);
    let mut head = head_for(woven, layout, launch, fuel);
    let base = if batch.is_some() { 0 } else { first };
    if let Some(batch) = &batch {
        head.truncate(first as usize);
        head.resize(layout.words(batch.slots, 0) as usize, 0);
        layout.set_batch(&mut head, batch.slots, &batch.strides);
        group_order::put_map(&mut head, &launch.schedule);
    }
    let variations: Vec<Variation> = which
        .iter()
        .map(|c| Variation {
            words: vec![(base + slot::MUTANT, cases[*c].numbers[0]), (base + slot::SECOND, cases[*c].numbers[1])],
        })
        .collect();
    let allows_faults = baseline.test.launch.allows_faults;
    let pairs = which.len() as u64;
    device.cost.batched_pairs += if batch.is_some() { pairs } else { 0 };
    let swept = device.executor.sweep(
        device.program,
        &Sweep {
            launch,
            probe: &head,
            probe_words: head.len() as u64,
            variations: &variations,
            references: &baseline.references,
            repeats: settings.repeats,
            timeout: baseline.limit(settings.factor),
            words: base..base + SLOT_WORDS,
            // Outputs are void after a fault, unless the test allows faults.
            decisive: (batch.is_none() && !allows_faults).then_some(base + slot::FAULT),
            batch,
        },
    )?;
    device.cost.pairs += pairs;
    device.cost.executions +=
        swept.runs.iter().map(|r| if let VariationOutcome::Ran(runs) = r { runs.len() } else { 1 } as u64).sum::<u64>();
    let describe = |word| woven.guards.describe(word).unwrap_or_default();
    Ok(swept
        .runs
        .into_iter()
        .map(|swept| verdict::test_verdict(&guard_fault_first(swept, base), &describe, allows_faults))
        .collect())
}

/// Lets a fault recorded by a guard take precedence over what the simulator saw afterwards: exhausted fuel is often
/// what made barriers diverge. `first`: index of the slot's first word.
fn guard_fault_first(swept: VariationOutcome, first: u32) -> VariationOutcome {
    let VariationOutcome::Fault(Fault::Checked { observation, .. }) = &swept else { return swept };
    let words = observation.probe.get(first as usize..(first + SLOT_WORDS) as usize).unwrap_or_default();
    match words.get(slot::FAULT as usize).copied().and_then(FaultKind::read) {
        Some(_) => VariationOutcome::Ran(vec![Run { difference: None, words: words.to_vec() }]),
        None => swept,
    }
}

/// Lays out the slots of a batched launch; each slot has its own copy of every buffer.
fn batch(layout: GuardLayout, launch: &Launch, runs: usize) -> Batch {
    let strides = (0..launch.args.len() as u32)
        .map(|position| match launch.value(position) {
            // Copies begin at addresses aligned for every type.
            Some(ArgValue::Buffer(bytes)) => (bytes.len() as u64).next_multiple_of(128),
            _ => 0,
        })
        .collect();
    let room = (BATCHED_ITEMS * 4 / launch.range.items().max(1)).clamp(1, MAX_SLOTS);
    Batch {
        slots: room.min(runs as u64) as u32,
        first_word: layout.slot(0),
        slot_words: SLOT_WORDS,
        dimension: launch.range.dims.max(1) as usize - 1,
        strides,
    }
}
