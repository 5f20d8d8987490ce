//! Baselines of many tests at once, in joint launches: where a device takes milliseconds for each request, hundreds of
//! tests would otherwise take longer than their mutants.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use kassay_base::error::Result;
use kassay_run::exec::Reference;
use kassay_run::exec::joint::{self, JointLaunch, JointOutcome, JointResult, JointRun, JointSweep};
use kassay_suite::launch::ArgValue;
use kassay_suite::resolve::Test;

use super::super::baseline::{DropReason, Original, Repeats, TestBaseline, head_for};
use crate::mutation::catalogue::indices::TestIndex;

/// Suites of fewer tests are run one by one, which also measures how long the device takes for each.
const LEAST_TESTS: usize = 16;

/// Returns the baselines of tests, in their order: of those that joint launches can hold from these, and of the others,
/// and of all of a launch that ends the worker, as [`Original::establish`] makes them. With a deadline `end`, tests are
/// run one by one, and those that come after it are dropped.
///
/// # Errors
/// `Environment`.
pub fn establish<'t>(
    original: &mut Original<'_>,
    tests: &[(TestIndex, &'t Test)],
    end: Option<Instant>,
) -> Result<Vec<TestBaseline<'t>>> {
    let mut known = if end.is_none() { establish_jointly(original, tests)? } else { BTreeMap::new() };
    let one = |test: &(TestIndex, &'t Test)| match known.remove(&test.0) {
        Some(baseline) => Ok(baseline),
        None if end.is_some_and(|end| Instant::now() >= end) => Ok(TestBaseline::useless(*test, DropReason::OutOfTime)),
        None => original.establish(*test),
    };
    tests.iter().map(one).collect()
}

/// Establishes the baselines of those tests that joint launches can hold. Kernel times of single tests are not known.
fn establish_jointly<'t>(
    original: &mut Original<'_>,
    tests: &[(TestIndex, &'t Test)],
) -> Result<BTreeMap<TestIndex, TestBaseline<'t>>> {
    let mut known = BTreeMap::new();
    if tests.len() < LEAST_TESTS {
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
        known.extend(establish_class(original, &class)?.into_iter().map(|baseline| (baseline.position, baseline)));
    }
    Ok(known)
}

/// Establishes the baselines of tests whose work-groups have the same size.
fn establish_class<'t>(original: &mut Original<'_>, tests: &[(TestIndex, &'t Test)]) -> Result<Vec<TestBaseline<'t>>> {
    let of: Vec<(&Test, &[Reference])> = tests.iter().map(|(_, test)| (*test, &[][..])).collect();
    let Some(first) = sweep(original, &of, 1, true)? else { return Ok(Vec::new()) };
    let run = |(n, test): (usize, &(TestIndex, &'t Test))| {
        let [fault, _, fuel_used] = first.results[0][n].words();
        TestBaseline::of_run(original.woven, *test, &first.outputs[n], [fault, fuel_used])
    };
    let all = tests.iter().enumerate().map(run);
    let (mut done, mut rest): (Vec<_>, Vec<_>) = all.partition(|baseline| baseline.dropped.is_some());
    rest.retain(|b| joint::cannot_join(&b.test.launch, &b.references).is_none());
    let of: Vec<(&Test, &[Reference])> = rest.iter().map(|b| (b.test, &b.references[..])).collect();
    let repeats = original.repeats.max(1);
    let Some(again) = sweep(original, &of, repeats, false)? else { return Ok(done) };
    let runs = (rest.len() as u32 * repeats).max(1);
    for (n, baseline) in rest.iter_mut().enumerate() {
        let difference = again.results.iter().find_map(|repeat| repeat[n].difference());
        baseline.add_repeats(Repeats {
            kernel_time: again.kernel_time / runs,
            wall_time: again.wall_time / runs,
            difference: difference.map(|difference| difference.text(&baseline.references)),
        });
    }
    done.append(&mut rest);
    Ok(done)
}

/// Runs the original once per repeat on each of these tests; `None` if nothing is known of the runs.
fn sweep(
    original: &mut Original<'_>,
    tests: &[(&Test, &[Reference])],
    repeats: u32,
    outputs: bool,
) -> Result<Option<Swept>> {
    let Some(module) = original.woven.joint.as_ref().filter(|_| !tests.is_empty()) else { return Ok(None) };
    let launches: Vec<JointLaunch<'_>> = tests
        .iter()
        .map(|(test, references)| JointLaunch {
            launch: &test.launch,
            block: head_for(original.woven, original.layout, &test.launch, i32::MAX as u32),
            references,
        })
        .collect();
    let runs: Vec<JointRun> = (0..tests.len() as u32).map(|launch| JointRun { launch, words: [0; 2] }).collect();
    let started = Instant::now();
    let outcome = original.executor.sweep_jointly(
        original.program,
        &JointSweep {
            values: &module.values,
            written: &module.written,
            launches: &launches,
            runs: &runs,
            repeats,
            most_runs: runs.len() as u32,
            outputs,
            timeout: original.timeout,
        },
    )?;
    let JointOutcome::Ran { results, outputs, kernel_time, .. } = outcome else { return Ok(None) };
    Ok(Some(Swept { results, outputs, kernel_time, wall_time: started.elapsed() }))
}

/// What runs of the original left.
struct Swept {
    results: Vec<Vec<JointResult>>,
    outputs: Vec<Vec<(u32, Vec<u8>)>>,
    kernel_time: Duration,
    wall_time: Duration,
}
