//! Runs cases on one test at a time: each in launches of its own, or, if that is small, several in one batched launch.

use kassay_base::error::Result;
use kassay_ir::instrument::layout::{FaultKind, GuardLayout, SLOT_WORDS, slot};
use kassay_run::exec::{Batch, Fault, Run, Sweep, Variation, VariationOutcome};
use kassay_suite::launch::{ArgValue, Launch};

use super::baseline::{RunSettings, TestBaseline, head_for};
use super::case::{Case, Device};
use super::sweeper::{Cases, Strategy};
use super::verdict::{self, TestVerdict};
use crate::coverage::group_order;
use crate::mutation::build::module_builder::Woven;
use crate::mutation::catalogue::operators::launch::Limits;

/// Variations per sweep; decided mutants are journalled after each sweep.
const SWEEP_SIZE: usize = 512;

/// Variations per sweep if there is a deadline.
const SHORT_SWEEP_SIZE: usize = 32;

/// Most runs in one launch.
const MAX_SLOTS: u64 = 64;

/// Launches of more work-items gain nothing from batching (measured on a CPU; see `docs/benchmarks.md`).
pub const BATCHED_ITEMS: u64 = 2048;

/// The runs of cases on one test at a time.
pub struct SingleRuns<'a, 't> {
    /// The module that the mutants are in.
    pub woven: &'a Woven,
    /// The tests.
    pub baselines: &'a [TestBaseline<'t>],
    /// What all runs share.
    pub settings: &'a RunSettings,
}

impl Strategy for SingleRuns<'_, '_> {
    fn judge(&mut self, t: usize, device: &mut Device<'_>, cases: &mut Cases<'_>, open: &[usize]) -> Result<()> {
        let (plain, changed): (Vec<usize>, Vec<usize>) = open.iter().partition(|c| cases[**c].launch.is_none());
        let size = if self.settings.end.is_some() { SHORT_SWEEP_SIZE } else { SWEEP_SIZE };
        for some in plain.chunks(size).chain(changed.chunks(1)) {
            if self.settings.is_over() {
                break;
            }
            let verdicts = self.verdicts(&self.baselines[t], device, cases, some)?;
            cases.add(t, some.iter().copied().zip(verdicts))?;
        }
        Ok(())
    }

    /// Nothing outlasts a call.
    fn settle(&mut self, _: &mut Device<'_>, _: &[Case]) -> Result<()> {
        Ok(())
    }
}

impl SingleRuns<'_, '_> {
    /// Runs cases with one NDRange on a baseline. A case that changes the NDRange is alone.
    fn verdicts(
        &self,
        baseline: &TestBaseline<'_>,
        device: &mut Device<'_>,
        cases: &[Case],
        some: &[usize],
    ) -> Result<Vec<TestVerdict>> {
        let Some(change) = some.first().and_then(|c| cases[*c].launch) else {
            return sweep(device, self.woven, baseline, &baseline.test.launch, cases, some, self.settings);
        };
        match baseline.changed(change, &Limits::of(device.executor.device(), self.settings.required_local)) {
            Err(reason) => Ok(vec![TestVerdict::Refused(reason)]),
            Ok(None) => Ok(vec![TestVerdict::Passed]),
            Ok(Some(launch)) => sweep(device, self.woven, baseline, &launch, cases, some, self.settings),
        }
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
