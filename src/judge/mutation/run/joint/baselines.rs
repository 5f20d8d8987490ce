//! Baselines of many tests at once, in joint launches: where a device takes milliseconds for each request, hundreds of
//! tests would otherwise take longer than their mutants.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use kassay_base::error::Result;
use kassay_ir::instrument::layout::GuardLayout;
use kassay_run::exec::joint::{self, JointLaunch, JointOutcome, JointResult, JointRun, JointSweep};
use kassay_run::exec::{Executor, ProgramId, Reference};
use kassay_suite::launch::ArgValue;
use kassay_suite::resolve::Test;

use super::super::baseline::{BaselineOptions, DropReason, TestBaseline};
use super::block_of;
use crate::mutation::build::module_builder::Woven;
use crate::mutation::catalogue::indices::TestIndex;

/// Suites of fewer tests are run one by one, which also measures how long the device takes for each.
const LEAST_TESTS: usize = 16;

/// What all runs need.
pub struct Program<'a> {
    pub executor: &'a mut dyn Executor,
    pub program: ProgramId,
    pub woven: &'a Woven,
    pub layout: GuardLayout,
    pub options: BaselineOptions,
}

/// Establishes the baselines of those tests that joint launches can hold, as [`establish`] of the room above does one
/// by one. The others, and all of a launch that ends the worker, are left out. Kernel times of single tests are not
/// known.
///
/// [`establish`]: super::super::baseline::establish
///
/// # Errors
/// `Environment`.
pub fn establish<'t>(
    mut program: Program<'_>,
    tests: &[(TestIndex, &'t Test)],
) -> Result<BTreeMap<TestIndex, TestBaseline<'t>>> {
    let mut known = BTreeMap::new();
    if program.woven.joint.is_none() || tests.len() < LEAST_TESTS {
        return Ok(known);
    }
    let mut classes: BTreeMap<[u64; 3], Vec<(TestIndex, &'t Test)>> = BTreeMap::new();
    for (position, test) in tests {
        let is_buffer = |p: u32| matches!(test.launch.args.get(p as usize), Some(ArgValue::Buffer(_)));
        let can = joint::cannot_join(&test.launch, &[]).is_none() && test.outputs.iter().all(|o| is_buffer(o.position));
        if let Some(local) = test.launch.range.local.filter(|_| can) {
            classes.entry(local).or_default().push((*position, test));
        }
    }
    for class in classes.into_values() {
        known.extend(program.class(&class)?.into_iter().map(|baseline| (baseline.position, baseline)));
    }
    Ok(known)
}

impl Program<'_> {
    /// Establishes the baselines of tests whose work-groups have the same size.
    fn class<'t>(&mut self, tests: &[(TestIndex, &'t Test)]) -> Result<Vec<TestBaseline<'t>>> {
        let of: Vec<(&Test, &[Reference])> = tests.iter().map(|(_, test)| (*test, &[][..])).collect();
        let Some(first) = self.sweep(&of, 1, true)? else { return Ok(Vec::new()) };
        let run = |(n, (position, test)): (usize, &(TestIndex, &'t Test))| {
            let [fault, _, fuel_used] = first.results[0][n].words();
            TestBaseline::of_run(self.woven, (*position, test), &first.outputs[n], [fault, fuel_used])
        };
        let all: Vec<TestBaseline<'t>> = tests.iter().enumerate().map(run).collect();
        let (mut done, rest): (Vec<_>, Vec<_>) = all.into_iter().partition(|baseline| baseline.dropped.is_some());
        let joins = |b: &TestBaseline<'_>| joint::cannot_join(&b.test.launch, &b.references).is_none();
        let mut rest: Vec<TestBaseline<'t>> = rest.into_iter().filter(joins).collect();
        let of: Vec<(&Test, &[Reference])> = rest.iter().map(|b| (b.test, &b.references[..])).collect();
        let repeats = self.options.repeats.max(1);
        let Some(again) = self.sweep(&of, repeats, false)? else { return Ok(done) };
        let runs = (rest.len() as u32 * repeats).max(1);
        for (n, baseline) in rest.iter_mut().enumerate() {
            baseline.timed(again.kernel_time / runs, again.wall_time / runs);
            let differs = again.results.iter().find_map(|repeat| repeat[n].difference());
            let text = differs.map(|difference| difference.text(&baseline.references));
            baseline.dropped = text.map(DropReason::Unstable);
        }
        done.append(&mut rest);
        Ok(done)
    }

    /// Runs the original once per repeat on each of these tests; `None` if nothing is known of the runs.
    fn sweep(&mut self, tests: &[(&Test, &[Reference])], repeats: u32, outputs: bool) -> Result<Option<Swept>> {
        let Some(module) = self.woven.joint.as_ref().filter(|_| !tests.is_empty()) else { return Ok(None) };
        let launches: Vec<JointLaunch<'_>> = tests
            .iter()
            .map(|(test, references)| JointLaunch {
                launch: &test.launch,
                block: block_of(module, self.layout, &test.launch, i32::MAX as u32),
                references,
            })
            .collect();
        let runs: Vec<JointRun> = (0..tests.len() as u32).map(|launch| JointRun { launch, words: [0; 2] }).collect();
        let started = Instant::now();
        let outcome = self.executor.sweep_jointly(
            self.program,
            &JointSweep {
                values: &module.values,
                written: &module.written,
                launches: &launches,
                runs: &runs,
                repeats,
                most_runs: runs.len() as u32,
                outputs,
                timeout: self.options.timeout,
            },
        )?;
        let JointOutcome::Ran { results, outputs, kernel_time, .. } = outcome else { return Ok(None) };
        Ok(Some(Swept { results, outputs, kernel_time, wall_time: started.elapsed() }))
    }
}

/// What runs of the original left.
struct Swept {
    results: Vec<Vec<JointResult>>,
    outputs: Vec<Vec<(u32, Vec<u8>)>>,
    kernel_time: Duration,
    wall_time: Duration,
}
