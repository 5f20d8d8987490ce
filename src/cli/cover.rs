//! `kassay cover`: measures what the tests of a suite cover.

use std::path::PathBuf;
use std::str::FromStr;
use std::time::Instant;

use clap::Args;
use inkwell::context::Context;

use super::options::{ExecutionFlags, KernelFlags, OutputFlags, complain, shown, warn};
use super::session::{self, DeviceSchedules, Session};
use crate::cfg::folded;
use crate::coverage::measure::{self, MappedPrograms, MeasureOptions, Programs};
use crate::coverage::{build, group_order, summary};
use crate::error::Result;
use crate::exec::{Executor, ProgramId};
use crate::instrument::layout::Slots;
use crate::report::text::{self, CoverOptions};
use crate::result::Header;
use crate::result::cover::{CoverResult, Coverage, METRICS, Metric, TestStatus};

/// Measure the coverage of a suite's tests
#[derive(Debug, Args)]
pub struct CoverArgs {
    /// A suite file, TOML or JSON
    pub suite: PathBuf,
    /// Count work-items per outcome and report average statement coverage (slower)
    #[arg(long)]
    pub counts: bool,
    /// Exit with 1 if a metric is below its percentage, such as branch=90,loop=50
    #[arg(long, value_name = "METRIC=PERCENT", value_delimiter = ',')]
    pub fail_under: Vec<Threshold>,
    /// Leave the source out of the text
    #[arg(long)]
    pub summary: bool,
    /// Runs of the original and of the instrumented kernel per test, for the overhead
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub repeats: u32,
    #[command(flatten)]
    pub kernel: KernelFlags,
    #[command(flatten)]
    pub execution: ExecutionFlags,
    #[command(flatten)]
    pub output: OutputFlags,
}

/// A metric of [`Coverage`] and the percentage that it must reach.
#[derive(Debug, Clone)]
pub struct Threshold {
    metric: &'static Metric,
    percent: f64,
}

impl FromStr for Threshold {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let (metric, percent) = text.split_once('=').ok_or("not of the form METRIC=PERCENT")?;
        let Some(metric) = METRICS.iter().find(|m| m.key == metric) else {
            return Err(format!("`{metric}` is no metric; there are {}", METRICS.each_ref().map(|m| m.key).join(", ")));
        };
        match percent.parse::<f64>() {
            Ok(percent) if (0.0..=100.0).contains(&percent) => Ok(Threshold { metric, percent }),
            _ => Err(format!("`{percent}` is no percentage from 0 to 100")),
        }
    }
}

impl Threshold {
    /// Returns the percentage reached if it is too low. A metric with nothing to cover is never too low.
    fn missed(&self, coverage: &Coverage) -> Option<f64> {
        (self.metric.measure)(coverage).percent().filter(|reached| *reached < self.percent)
    }
}

/// Launch time in seconds below which the measured overhead is mostly noise.
const MEASURABLE_S: f64 = 1e-3;

/// An executor with the original and the instrumented kernel loaded.
struct Runner {
    executor: Box<dyn Executor>,
    plain: ProgramId,
    instrumented: ProgramId,
    mapped: Option<MappedPrograms>,
}

/// Measures coverage and delivers the result. Returns the exit code: 1 if a test did not complete or a metric is below
/// its threshold.
///
/// # Errors
/// Those of the suite, the kernel and the device.
pub fn run(args: &CoverArgs) -> Result<u8> {
    let begun = Instant::now();
    args.output.check()?;
    let counts = args.counts || args.fail_under.iter().any(|t| t.metric.needs_counts);
    let context = Context::create();
    let Session { under_test, loaded, tests, executors, seed, kernel } =
        Session::open(&context, &args.suite, &args.kernel, &args.execution, true, DeviceSchedules::GroupOrders)?;
    warn(&loaded, args.output.verbose, args.output.quiet);
    // The original is being built meanwhile; all executors build concurrently.
    let slots = if counts { Slots::Items } else { Slots::Groups };
    let capabilities = session::capabilities(&executors);
    let (code, plan) = under_test.instrumented(slots, capabilities.target)?;
    let mut runners = Vec::new();
    for (mut executor, plain) in executors {
        executor.finish_load(plain)?;
        let instrumented = executor.begin_load(&code)?;
        runners.push(Runner { executor, plain, instrumented, mapped: None });
    }
    for runner in &mut runners {
        runner.executor.finish_load(runner.instrumented)?;
    }
    if group_order::is_needed(capabilities, &tests) {
        let plain = group_order::build(&under_test, capabilities.target)?;
        let (instrumented, _) = group_order::instrumented(&under_test, slots, capabilities.target)?;
        for runner in &mut runners {
            runner.mapped = Some(MappedPrograms {
                plain: plain.load(runner.executor.as_mut())?,
                instrumented: runner.executor.load(&instrumented)?,
            });
        }
    }
    let inexact = under_test.precision().bound() > 0;
    let options = MeasureOptions { timeout: session::timeout(&args.execution), repeats: args.repeats };
    let measured = session::run_parallel(&mut runners, &tests, "tests", args.output.quiet, |runner, test| {
        let programs = Programs {
            plain: runner.plain,
            instrumented: runner.instrumented,
            mapped: runner.mapped,
            plan: &plan,
            sites: &under_test.sites,
            inexact,
        };
        measure::test(runner.executor.as_mut(), &programs, test, &options)
    })?;
    let overhead = measure::median_ratio(measured.iter().filter_map(|m| m.ratio).collect());
    let (mut rows, mut tallies) = (Vec::new(), Vec::new());
    for m in measured {
        rows.push(m.outcome);
        tallies.extend(m.tally);
    }
    let source = shown(&kernel);
    let mut notes = under_test.sites.notes();
    if overhead.is_some() && rows.iter().filter_map(|t| t.original_s).all(|s| s < MEASURABLE_S) {
        notes.push("every launch takes less than a millisecond: the overhead is mostly noise".to_owned());
    }
    if let (true, Some(ast)) = (args.output.verbose, &loaded.ast) {
        notes.extend(folded::describe(&under_test.sites, ast));
    }
    let result = CoverResult {
        header: Header::new(
            CoverResult::SCHEMA,
            under_test.entry.clone(),
            source.clone(),
            Some(session::device(runners[0].executor.device())),
            seed,
        ),
        elapsed_s: begun.elapsed().as_secs_f64(),
        coverage: summary::coverage(&under_test.sites, &tallies, counts),
        sites: summary::outcomes(&under_test.sites, &tallies, &source),
        tests: rows,
        overhead,
        notes,
    };
    let sources = build::sources_of(&kernel);
    args.output.deliver(&result, |style| {
        text::cover(&result, CoverOptions { summary_only: args.summary }, &|file| sources.text(file), style)
    })?;
    let mut findings = result.tests.iter().any(|t| t.status != TestStatus::Completed);
    for threshold in &args.fail_under {
        if let Some(reached) = threshold.missed(&result.coverage) {
            findings = true;
            complain(&format!("{} coverage is {reached:.1} %, below {} %", threshold.metric.key, threshold.percent));
        }
    }
    Ok(u8::from(findings))
}
