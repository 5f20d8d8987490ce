//! Runs the tests of a suite on an executor, without and with probes.

use std::time::Duration;

use kassay_base::error::{Error, Result};
use kassay_ir::cfg::sites::Sites;
use kassay_ir::instrument::coverage::CoveragePlan;
use kassay_results::result::cover::{TestOutcome, TestStatus};
use kassay_run::exec::{Executor, Fault, Observation, ProgramId, RunOptions, RunResult, VIOLATION};
use kassay_suite::compare::{self, Tolerance};
use kassay_suite::resolve::Test;

use super::group_order::{self, MappedProgram};
use super::summary::TestTally;
use super::tally::{self, Probe};

/// Options for running tests.
#[derive(Debug, Clone)]
pub struct MeasureOptions {
    /// Wall-clock limit of one run.
    pub timeout: Duration,
    /// The number of runs of each version of the kernel, for the ratio of times.
    pub repeats: u32,
}

/// A loaded kernel, without and with probes.
pub struct Programs<'a> {
    /// The kernel without probes.
    pub plain: ProgramId,
    /// The kernel with probes.
    pub instrumented: ProgramId,
    /// For tests that map work-groups on devices.
    pub mapped: Option<MappedPrograms>,
    /// What the bits of the probe buffer mean.
    pub plan: &'a CoveragePlan,
    /// The sites that they cover.
    pub sites: &'a Sites,
    /// Whether the kernel has operations whose precision is up to the device.
    pub inexact: bool,
}

/// Both versions of a kernel that reads its ids through a map.
#[derive(Debug, Clone, Copy)]
pub struct MappedPrograms {
    /// The kernel without probes.
    pub plain: MappedProgram,
    /// The kernel with probes.
    pub instrumented: ProgramId,
}

/// The outcome of one test: its row for the result, and its tally if the run with probes completed.
#[derive(Debug)]
pub struct Measured {
    /// How the test ended, as results show it.
    pub outcome: TestOutcome,
    /// What it covered; `None` if the run with probes did not complete.
    pub tally: Option<TestTally>,
    /// Kernel time with probes divided by the original's.
    pub ratio: Option<f64>,
}

/// Runs one test on both versions. Its local size must be decided, so that the number of work-groups is known.
///
/// # Errors
/// Only failures of the environment and of the caller; the kernel's own faults are part of the result.
pub fn test(
    executor: &mut dyn Executor,
    programs: &Programs<'_>,
    test: &Test,
    options: &MeasureOptions,
) -> Result<Measured> {
    let range = &test.launch.range;
    let groups = range.groups();
    let mapped = programs.mapped.as_ref().filter(|_| !test.launch.schedule.map.is_empty());
    let head = match mapped {
        Some(_) => group_order::coverage_probe(&programs.plan.layout, &test.launch)?,
        None => Vec::new(),
    };
    let words =
        programs.plan.layout.words_for(range).map(|words| words.max(head.len() as u64)).ok_or_else(|| {
            Error::caller(format!("test `{}`: the launch is too large for the probe buffer", test.name))
        })?;
    let mut outcome = TestOutcome {
        name: test.name.clone(),
        status: TestStatus::Completed,
        reason: None,
        work_items: range.items(),
        work_groups: groups,
        original_s: None,
        instrumented_s: None,
        printf: String::new(),
    };
    let run =
        |probe_words| RunOptions { timeout: options.timeout, repeats: options.repeats, probe_words, outputs: true };
    let original = match mapped {
        Some(code) => code.plain.run(executor, &test.launch, &run(None))?,
        None => executor.run(programs.plain, &test.launch, &run(None))?,
    };
    let (plain, checked) = match observation_of(original) {
        Ok(seen) => seen,
        Err(fault) => return Ok(without_tally(outcome, "the original kernel", &fault)),
    };
    outcome.original_s = median(&plain.kernel_times);
    outcome.printf.clone_from(&plain.printf);
    let program = mapped.map_or(programs.instrumented, |code| code.instrumented);
    let with_probes = executor.run_with_probe(program, &test.launch, &run(Some(words)), &head)?;
    let (woven, checked_too) = match observation_of(with_probes) {
        Ok(seen) => seen,
        Err(fault) => return Ok(without_tally(outcome, "the instrumented kernel", &fault)),
    };
    outcome.instrumented_s = median(&woven.kernel_times);
    if let Some(what) = checked.or(checked_too) {
        // What was covered up to that point counts.
        outcome.status = TestStatus::Faulted;
        outcome.reason = Some(format!("the kernel {VIOLATION}: {what}"));
    } else if let Some(what) = plain.allowed.as_ref().or(woven.allowed.as_ref()) {
        outcome.reason = Some(format!("as the test allows, the kernel {VIOLATION}: {what}"));
    }
    if outcome.status == TestStatus::Completed
        && let Some(difference) = difference(programs.inexact, test, &plain, &woven)
    {
        outcome.status = TestStatus::OutputDiffers;
        outcome.reason = Some(difference);
    }
    let probe = Probe { words: &woven.probe, range };
    let sites = tally::tally(programs.sites, programs.plan, probe);
    let ratio = match (outcome.original_s, outcome.instrumented_s) {
        (Some(original), Some(instrumented)) if original > 0.0 => Some(instrumented / original),
        _ => None,
    };
    let tally = TestTally { name: test.name.clone(), sites, items: range.items() };
    Ok(Measured { outcome, tally: Some(tally), ratio })
}

/// The observation of a run, and what a check of the simulator found in it, if anything.
fn observation_of(result: RunResult) -> std::result::Result<(Observation, Option<String>), Fault> {
    match result {
        Ok(observation) => Ok((observation, None)),
        Err(Fault::Checked { what, observation }) => Ok((*observation, Some(what))),
        Err(fault) => Err(fault),
    }
}

fn without_tally(mut outcome: TestOutcome, which: &str, fault: &Fault) -> Measured {
    outcome.status = match fault {
        Fault::Timeout { .. } => TestStatus::Timeout,
        Fault::Crash { .. } | Fault::Stopped { .. } => TestStatus::Crashed,
        Fault::Rejected { .. } => TestStatus::Rejected,
        Fault::Checked { .. } => TestStatus::Faulted,
    };
    outcome.reason = Some(format!("{which} {fault}"));
    Measured { outcome, tally: None, ratio: None }
}

/// Minimum tolerance between the floats of the two versions, for kernels with operations whose precision is up to the
/// device: it may compile these operations in two ways, which is not a finding. Integers must be equal, and so must all
/// outputs of other kernels, except for the suite's tolerance.
const INEXACT_TOLERANCE: Tolerance = Tolerance { abs: 1e-6, rel: 1e-4 };

/// Describes the first difference between the outputs of two runs that exceeds the tolerance for it.
fn difference(inexact: bool, test: &Test, plain: &Observation, woven: &Observation) -> Option<String> {
    plain.outputs.iter().zip(&woven.outputs).find_map(|((position, a), (_, b))| {
        let output = test.outputs.iter().find(|o| o.position == *position)?;
        let slack = if inexact { INEXACT_TOLERANCE } else { Tolerance::default() };
        let Tolerance { abs, rel } = output.tolerance;
        let tolerance = Tolerance { abs: abs.max(slack.abs), rel: rel.max(slack.rel) };
        let first = compare::compare(a, b, Some(&output.ty), tolerance).first?;
        let (index, actual, expected) = (first.index, first.actual, first.expected);
        Some(format!(
            "argument `{}` differs from the original's at {index}: {actual} instead of {expected}",
            output.label
        ))
    })
}

fn median(times: &[Duration]) -> Option<f64> {
    let mut seconds: Vec<f64> = times.iter().map(Duration::as_secs_f64).collect();
    seconds.sort_by(f64::total_cmp);
    seconds.get(seconds.len() / 2).copied()
}

/// The median of ratios; `None` without any.
pub fn median_ratio(mut ratios: Vec<f64>) -> Option<f64> {
    ratios.sort_by(f64::total_cmp);
    let n = ratios.len();
    match n {
        0 => None,
        _ if n % 2 == 1 => Some(ratios[n / 2]),
        _ => Some((ratios[n / 2 - 1] + ratios[n / 2]) / 2.0),
    }
}
