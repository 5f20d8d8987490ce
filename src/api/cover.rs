//! Measures what the tests of a suite cover.

use super::executors::{self, Loading};
use super::input::SyntaxTree;
use super::observer::run_parallel;
use super::opened::Opened;
use super::options::{check_range, options};
use crate::cfg::folded;
use crate::coverage::def_use::{self, DefUseCode, Followed};
use crate::coverage::measure::{self, MappedPrograms, MeasureOptions, Programs};
use crate::coverage::{group_order, summary};
use crate::error::Result;
use crate::exec::simulator::{self, Simulator};
use crate::exec::{Executor, ProgramId};
use crate::instrument::layout::Slots;
use crate::result::Header;
use crate::result::cover::{CoverResult, TestOutcome};
use crate::suite::resolve::Test;

options! {
    /// Options of [`cover`].
    pub struct CoverOptions {
        /// Whether to count work-items per outcome, for average statement coverage too (slower).
        counts: bool = false,
        /// Whether to follow definitions of variables and memory to their uses, on the simulator (slower).
        def_use: bool = false,
        /// The number of runs of the original and of the instrumented kernel per test, for the overhead.
        repeats: u32 = 3,
        /// Whether notes name the conditions that clang folded into others.
        explain: bool = false,
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

/// Runs the tests of a suite and measures what they cover.
///
/// ```
/// # fn main() -> kassay::Result<()> {
/// use kassay::{CoverOptions, OpenOptions, cover};
///
/// let opened = OpenOptions::new().device("sim".into()).open("testdata/vector_add/suite.toml")?;
/// let result = cover(&opened, &CoverOptions::new())?;
/// assert_eq!(result.coverage.branch.percent(), Some(100.0));
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// `Caller` if a kernel without a suite was opened, or the device does not support a test; `Environment` if there is
/// no device or it fails. Faults of the kernel are part of the result.
pub fn cover(opened: &Opened, options: &CoverOptions) -> Result<CoverResult> {
    check_range("repeats", options.repeats, 1..=1000)?;
    let begun = opened.begin();
    opened.with_suite(SyntaxTree::Needed, |parsed| {
        let under_test = &parsed.under_test;
        let loading = Loading::begin(opened, parsed)?;
        // The original is being built meanwhile; all executors build concurrently.
        let slots = if options.counts { Slots::Items } else { Slots::Groups };
        let capabilities = loading.capabilities();
        let (code, plan) = under_test.instrumented(slots, capabilities.target)?;
        let def_use_code = options.def_use.then(|| def_use::build(under_test)).transpose()?;
        let Loading { tests, executors } = loading;
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
            let plain = group_order::build(under_test, capabilities.target)?;
            let (instrumented, _) = group_order::instrumented(under_test, slots, capabilities.target)?;
            for runner in &mut runners {
                runner.mapped = Some(MappedPrograms {
                    plain: plain.load(runner.executor.as_mut())?,
                    instrumented: runner.executor.load(&instrumented)?,
                });
            }
        }
        let (sites, inexact) = (&under_test.sites, under_test.precision().bound() > 0);
        let measuring = MeasureOptions { timeout: opened.options().timeout, repeats: options.repeats };
        let measured = run_parallel(&mut runners, &tests, "tests", opened.observer(), |runner, test| {
            let programs = Programs {
                plain: runner.plain,
                instrumented: runner.instrumented,
                mapped: runner.mapped,
                plan: &plan,
                sites,
                inexact,
            };
            measure::test(runner.executor.as_mut(), &programs, test, &measuring)
        })?;
        let overhead = measure::median_ratio(measured.iter().filter_map(|m| m.ratio).collect());
        let (mut rows, mut tallies) = (Vec::new(), Vec::new());
        for m in measured {
            rows.push(m.outcome);
            tallies.extend(m.tally);
        }
        let source = opened.source();
        let mut notes = under_test.sites.notes();
        let followed = match &def_use_code {
            Some(code) => Some((&code.plan, follow(opened, code, &tests)?)),
            None => None,
        };
        let def_use = followed.map(|(plan, followed)| {
            let on_simulator = capabilities.target == simulator::CAPABILITIES.target;
            let ratio = |(row, test): (&TestOutcome, &Followed)| {
                let original = row.original_s.filter(|s| on_simulator && *s > 0.0)?;
                Some(test.time?.as_secs_f64() / original)
            };
            let overhead = measure::median_ratio(rows.iter().zip(&followed).filter_map(ratio).collect());
            let result = def_use::result(plan, &followed, &source, overhead);
            notes.extend(def_use::notes(plan, &followed, &result, on_simulator));
            result
        });
        if overhead.is_some() && rows.iter().filter_map(|t| t.original_s).all(|s| s < MEASURABLE_S) {
            notes.push("every launch takes less than a millisecond: the overhead is mostly noise".to_owned());
        }
        if let (true, Some(ast)) = (options.explain, &parsed.loaded.ast) {
            notes.extend(folded::describe(&under_test.sites, ast));
        }
        Ok(CoverResult {
            header: Header::new(
                CoverResult::SCHEMA,
                under_test.entry.clone(),
                source.clone(),
                Some(executors::device(runners[0].executor.device())),
                opened.seed(),
            ),
            elapsed_s: begun.elapsed().as_secs_f64(),
            coverage: summary::coverage(&under_test.sites, &tallies, options.counts),
            def_use,
            sites: summary::outcomes(&under_test.sites, &tallies, &source),
            tests: rows,
            overhead,
            notes,
        })
    })
}

/// Follows definitions to their uses in all tests.
fn follow(opened: &Opened, code: &DefUseCode, tests: &[Test]) -> Result<Vec<Followed>> {
    let mut simulators = Vec::new();
    for _ in 0..opened.workers() {
        let mut simulator = Simulator::new(1)?;
        let program = simulator.load_host(&code.code)?;
        simulators.push((simulator, program));
    }
    let timeout = opened.options().timeout;
    run_parallel(&mut simulators, tests, "tests", opened.observer(), |(simulator, program), test| {
        def_use::follow(simulator, *program, &code.plan, test, timeout)
    })
}
