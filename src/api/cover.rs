//! Measures what the tests of a suite cover.

use kassay_base::error::{Error, Result};
use kassay_ir::cfg::folded;
use kassay_ir::instrument::layout::Slots;
use kassay_judge::coverage::build::KernelUnderTest;
use kassay_judge::coverage::def_use::{self, DefUseCode, Followed};
use kassay_judge::coverage::measure::{self, MappedPrograms, MeasureOptions, Measured, Programs};
use kassay_judge::coverage::{group_order, mcdc, summary};
use kassay_model::code::Target;
use kassay_results::result::cover::{CoverResult, Coverage, TestOutcome};
use kassay_results::result::def_use::DefUse;
use kassay_results::result::mcdc::{Criterion, Mcdc};
use kassay_results::result::{Device, Header};
use kassay_run::exec::simulator::{self, Simulator};
use kassay_run::exec::{Executor, ProgramId};
use kassay_suite::resolve::Test;
use serde::{Deserialize, Serialize};

use super::executors::{self, Loading};
use super::input::{Parsed, SyntaxTree};
use super::observer::run_parallel;
use super::opened::Opened;
use super::options::{check_range, options};
use super::run;

options! {
    /// Options of [`cover`].
    #[derive(Serialize, Deserialize)]
    pub struct CoverOptions {
        /// Whether to count work-items per outcome, for average statement coverage too (slower).
        counts: bool = false,
        /// Whether to measure MC/DC, and what shows the independent effect of a condition (slower).
        mcdc: Option<Criterion> = None,
        /// Whether to follow definitions of variables and memory to their uses, on the simulator (slower).
        def_use: bool = false,
        /// The number of runs of the original and of the instrumented kernel per test, for the overhead.
        repeats: u32 = 3,
        /// Whether notes name the conditions that clang folded into others.
        explain: bool = false,
        /// Whether the driver's own compiler makes the same of the kernel's text: each test runs with both before. What
        /// is not the same is a complaint.
        against_source: bool = false,
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
    let started = opened.begin();
    opened.check_suite()?;
    let beside = options.against_source.then(|| run::beside_sources(opened)).transpose()?.unwrap_or_default();
    let specialisations = opened.specialisations();
    let [first, others @ ..] = &specialisations[..] else { return Err(Error::internal("nothing is opened")) };
    if options.def_use && !others.is_empty() {
        return Err(Error::caller("pairs of definitions and uses are those of one program, and the tests have different values of specialisation constants")
            .help("write a suite for each set of values, or leave out --def-use"));
    }
    first.with_suite(SyntaxTree::Needed, |parsed| {
        let with_vectors = options.mcdc.map(|_| parsed.under_test.with_vectors()).transpose()?;
        let under_test = with_vectors.as_ref().unwrap_or(&parsed.under_test);
        let def_use_code = options.def_use.then(|| def_use::build(&parsed.under_test)).transpose()?;
        let Ran { mut measured, tests, device, target, note } = run_tests(first, parsed, under_test, options)?;
        let sites = &under_test.sites;
        let mut left_out = Vec::from_iter(note);
        for specialisation in others {
            specialisation.with_suite(SyntaxTree::Needed, |other| {
                let with_vectors = options.mcdc.map(|_| other.under_test.with_vectors()).transpose()?;
                let under_test = with_vectors.as_ref().unwrap_or(&other.under_test);
                let is_same = summary::rows(sites, "") == summary::rows(&under_test.sites, "");
                specialisation.check_same("sites", is_same)?;
                let ran = run_tests(specialisation, other, under_test, options)?;
                measured.extend(ran.measured);
                left_out.extend(ran.note);
                Ok(())
            })?;
        }
        opened.sort_by_test(&mut measured, |m| &m.outcome.name);
        let overhead = measure::median_ratio(measured.iter().filter_map(|m| m.ratio).collect());
        let (mut rows, mut tallies) = (Vec::new(), Vec::new());
        for m in measured {
            rows.push(m.outcome);
            tallies.extend(m.tally);
        }
        let source = opened.source();
        let mut notes = sites.notes();
        notes.extend(beside.notes.into_iter().chain(left_out));
        let followed = match &def_use_code {
            Some(code) => Some((&code.plan, follow(opened, code, &tests)?)),
            None => None,
        };
        let def_use = followed.map(|(plan, followed)| {
            let on_simulator = target == simulator::CAPABILITIES.target;
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
            notes.extend(folded::describe(sites, ast));
        }
        let mcdc = options.mcdc.map(|criterion| mcdc::measure(sites, &tallies, criterion, &source));
        let coverage = summary::coverage(sites, &tallies, options.counts);
        let entry = under_test.entry.clone();
        Ok(CoverResult {
            header: Header::new(CoverResult::SCHEMA, entry, source.clone(), Some(device), opened.seed()),
            elapsed_s: started.elapsed().as_secs_f64(),
            coverage: Coverage {
                mcdc: mcdc.as_ref().map(Mcdc::ratio),
                def_use: def_use.as_ref().map(DefUse::total),
                def_use_inter_item: def_use.as_ref().map(DefUse::inter_item),
                ..coverage
            },
            def_use,
            sites: summary::outcomes(sites, &tallies, &source),
            mcdc,
            tests: rows,
            overhead,
            complaints: beside.complaints,
            notes,
        })
    })
}

/// What a run of a specialisation's tests showed.
struct Ran {
    measured: Vec<Measured>,
    /// The tests, with work-group sizes that fit the device.
    tests: Vec<Test>,
    device: Device,
    /// The form of code that the device takes.
    target: Target,
    /// Says which tests are left out.
    note: Option<String>,
}

/// Runs the tests of a specialisation. `under_test`: its kernel, with what is to be measured.
fn run_tests(
    opened: &Opened,
    parsed: &Parsed<'_>,
    under_test: &KernelUnderTest<'_>,
    options: &CoverOptions,
) -> Result<Ran> {
    let loading = Loading::begin(opened, parsed)?.without_trapping()?;
    // The original is being built meanwhile; all executors build concurrently.
    let slots = if options.counts { Slots::Items } else { Slots::Groups };
    let capabilities = loading.capabilities();
    let (code, plan) = under_test.instrumented(slots, capabilities.target)?;
    let Loading { tests, executors, note, trapping: _ } = loading;
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
    let device = executors::device(runners[0].executor.device());
    Ok(Ran { measured, tests, device, target: capabilities.target, note })
}

/// Follows definitions to their uses in all tests.
fn follow(opened: &Opened, code: &DefUseCode, tests: &[Test]) -> Result<Vec<Followed>> {
    let mut simulators = Vec::new();
    for _ in 0..opened.workers() {
        let mut simulator = Simulator::new(1)?;
        let program = simulator.load_native(&code.code)?;
        simulators.push((simulator, program));
    }
    let timeout = opened.options().timeout;
    run_parallel(&mut simulators, tests, "tests", opened.observer(), |(simulator, program), test| {
        def_use::follow(simulator, *program, &code.plan, test, timeout)
    })
}
