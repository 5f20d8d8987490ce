//! Running mutants: the cases of one module on the trials of a suite.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use crate::coverage::group_order;
use crate::error::Result;
use crate::exec::{Batch, Executor, Fault, ProgramId, Run, Sweep, Variation, VariationOutcome};
use crate::instrument::layout::{FaultKind, GuardLayout, SLOT_WORDS, slot};
use crate::instrument::mutants::LaunchChange;
use crate::suite::launch::{ArgValue, Launch};

use super::baseline::{Running, TestBaseline, probe_head};
use super::module_builder::Woven;
use super::operators::launch;
use super::verdict::{self, MutantOutcome, TestVerdict};

/// Variations of one sweep: what is decided is journalled after each.
const SWEEP: usize = 512;

/// The same where the time is limited.
const SHORT_SWEEP: usize = 32;

/// Why tests are left that were not tried.
pub const UNTRIED: &str = "the time was up before it was run";

/// Why cases are left that were not run to their end.
pub const LATE: &str = "the time was up before it was run on all tests";

/// Runs that one launch holds at most.
const MOST_SLOTS: u64 = 64;

/// Launches of more work-items gain nothing from sharing (measured on a CPU; see `docs/benchmarks.md`).
pub const BATCHED_ITEMS: u64 = 2048;

/// A mutant, or a pair of them, to be run.
#[derive(Debug, Clone)]
pub struct Case {
    /// Position in the caller's list.
    pub index: usize,
    /// The words of its slot: the number of the mutant in force, and of a second one.
    pub numbers: [u32; 2],
    pub launch: Option<LaunchChange>,
    /// By position of the trial: whether to run it there.
    pub runs: Vec<bool>,
    pub fate: MutantOutcome,
    /// Trials it was run on.
    pub pairs: u64,
}

/// What running took.
#[derive(Debug, Clone, Copy, Default)]
pub struct Cost {
    pub run: Duration,
    pub executions: u64,
    pub pairs: u64,
    pub batched_pairs: u64,
}

impl Cost {
    pub fn add(&mut self, other: Cost) {
        self.run += other.run;
        self.executions += other.executions;
        self.pairs += other.pairs;
        self.batched_pairs += other.batched_pairs;
    }
}

/// Loads `woven` in every lane and runs the cases, spread over the lanes. `decided` hears of each case as soon as its fate
/// stands. Returns the cost; builds count as the caller's time.
///
/// # Errors
/// `Internal` if the device refuses the module; of the environment.
pub fn run(
    lanes: &mut [(&mut dyn Executor, ProgramId)],
    woven: &Woven,
    baselines: &[TestBaseline<'_>],
    cases: &mut [Case],
    running: &Running,
    decided: &(dyn Fn(&Case) -> Result<()> + Sync),
) -> Result<Cost> {
    let share = cases.len().div_ceil(lanes.len().max(1)).max(1);
    let total = Mutex::new(Cost::default());
    let begun = Instant::now();
    let results: Vec<Result<()>> = std::thread::scope(|scope| {
        let handles: Vec<_> = lanes
            .iter_mut()
            .zip(cases.chunks_mut(share))
            .map(|((executor, program), cases)| {
                let total = &total;
                scope.spawn(move || {
                    let cost = drive(&mut **executor, *program, woven, baselines, cases, running, decided)?;
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

fn drive(
    executor: &mut dyn Executor,
    program: ProgramId,
    woven: &Woven,
    baselines: &[TestBaseline<'_>],
    cases: &mut [Case],
    running: &Running,
    decided: &(dyn Fn(&Case) -> Result<()> + Sync),
) -> Result<Cost> {
    let mut cost = Cost::default();
    let mut told = vec![false; cases.len()];
    let size = if running.end.is_some() { SHORT_SWEEP } else { SWEEP };
    'trials: for (t, baseline) in baselines.iter().enumerate() {
        let todo: Vec<usize> = (0..cases.len())
            .filter(|c| cases[*c].runs[t] && (running.full_matrix || !cases[*c].fate.is_decided()))
            .collect();
        let (plain, changed): (Vec<usize>, Vec<usize>) = todo.into_iter().partition(|c| cases[*c].launch.is_none());
        for some in plain.chunks(size) {
            if running.is_over() {
                break 'trials;
            }
            let outcomes =
                sweep(executor, program, woven, baseline, &baseline.test.launch, cases, some, running, &mut cost)?;
            tell(baseline, cases, some, outcomes);
            report(cases, &mut told, t, running, decided)?;
        }
        for c in changed {
            if running.is_over() {
                break 'trials;
            }
            let range = &baseline.test.launch.range;
            let Some(change) = cases[c].launch else { continue };
            let outcome =
                match launch::apply(range, change, &launch::Limits::of(executor.device(), running.required_local)) {
                    Err(reason) => TestVerdict::Refused(reason),
                    Ok(range) if range == baseline.test.launch.range => TestVerdict::Passed,
                    Ok(range) => {
                        let launch = Launch::new(range, baseline.test.launch.args.clone());
                        sweep(executor, program, woven, baseline, &launch, cases, &[c], running, &mut cost)?.remove(0)
                    }
                };
            tell(baseline, cases, &[c], vec![outcome]);
        }
        report(cases, &mut told, t, running, decided)?;
    }
    let wanted = |case: &Case| case.runs.iter().filter(|runs| **runs).count() as u64;
    for case in cases.iter_mut().filter(|case| running.is_over() && case.pairs < wanted(case)) {
        case.fate.leave(LATE);
    }
    Ok(cost)
}

fn tell(baseline: &TestBaseline<'_>, cases: &mut [Case], which: &[usize], outcomes: Vec<TestVerdict>) {
    for (c, outcome) in which.iter().zip(outcomes) {
        cases[*c].fate.add(baseline.position, &baseline.test.name, &outcome);
        cases[*c].pairs += 1;
    }
}

/// Tells of the cases whose fate stands after trial `t`.
fn report(
    cases: &[Case],
    told: &mut [bool],
    t: usize,
    running: &Running,
    decided: &(dyn Fn(&Case) -> Result<()> + Sync),
) -> Result<()> {
    for (case, told) in cases.iter().zip(told).filter(|(_, told)| !**told) {
        let more = case.runs.iter().skip(t + 1).any(|runs| *runs);
        if !more || (case.fate.is_decided() && !running.full_matrix) {
            // A case whose run on this very trial is still to come is decided later.
            if case.runs[..=t].iter().filter(|r| **r).count() as u64 <= case.pairs || case.fate.is_decided() {
                *told = true;
                decided(case)?;
            }
        }
    }
    Ok(())
}

#[allow(clippy::too_many_arguments)]
fn sweep(
    executor: &mut dyn Executor,
    program: ProgramId,
    woven: &Woven,
    baseline: &TestBaseline<'_>,
    launch: &Launch,
    cases: &[Case],
    which: &[usize],
    running: &Running,
    cost: &mut Cost,
) -> Result<Vec<TestVerdict>> {
    let layout = running.layout;
    let fuel = baseline.fuel(running.factor);
    let first = layout.slot(0);
    let batch = woven
        .batched
        .then(|| batch(layout, launch, which.len()))
        .filter(|_| which.len() > 1 && launch.range.items() <= BATCHED_ITEMS);
    let mut head = probe_head(layout, launch, fuel);
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
    let pairs = which.len() as u64;
    cost.batched_pairs += if batch.is_some() { pairs } else { 0 };
    let outcome = executor.sweep(
        program,
        &Sweep {
            launch,
            probe: &head,
            probe_words: head.len() as u64,
            variations: &variations,
            references: &baseline.references,
            repeats: running.repeats,
            timeout: baseline.limit(running.factor),
            words: base..base + SLOT_WORDS,
            batch,
        },
    )?;
    cost.pairs += pairs;
    cost.executions += outcome
        .runs
        .iter()
        .map(|r| if let VariationOutcome::Ran(runs) = r { runs.len() } else { 1 } as u64)
        .sum::<u64>();
    let describe = |word| woven.guards.describe(word).unwrap_or_default();
    let allows_faults = baseline.test.launch.allows_faults;
    Ok(outcome.runs.into_iter().map(|swept| verdict::pair(&guarded(swept, base), &describe, allows_faults)).collect())
}

/// What a guard has stopped decides, before what the simulator saw of it: a loop that ran out of fuel is often what made barriers
/// diverge. `first`: where the slot's words begin.
fn guarded(swept: VariationOutcome, first: u32) -> VariationOutcome {
    let VariationOutcome::Fault(Fault::Checked { observation, .. }) = &swept else { return swept };
    let words = observation.probe.get(first as usize..(first + SLOT_WORDS) as usize).unwrap_or_default();
    match words.get(slot::FAULT as usize).copied().and_then(FaultKind::read) {
        Some(_) => VariationOutcome::Ran(vec![Run { difference: None, words: words.to_vec() }]),
        None => swept,
    }
}

/// The slots of a launch: each has a copy of every buffer.
fn batch(layout: GuardLayout, launch: &Launch, runs: usize) -> Batch {
    let strides = (0..launch.args.len() as u32)
        .map(|position| match launch.value(position) {
            // Copies begin at addresses aligned for every type.
            Some(ArgValue::Buffer(bytes)) => (bytes.len() as u64).next_multiple_of(128),
            _ => 0,
        })
        .collect();
    let room = (BATCHED_ITEMS * 4 / launch.range.items().max(1)).clamp(1, MOST_SLOTS);
    Batch {
        slots: room.min(runs as u64) as u32,
        first_word: layout.slot(0),
        slot_words: SLOT_WORDS,
        dimension: launch.range.dims.max(1) as usize - 1,
        strides,
    }
}
