//! Makes tests beside a suite's own, for studies that need many.

use std::time::{Duration, Instant};

use kassay_base::error::Result;
use kassay_judge::coverage::observed;
use kassay_judge::generate::campaign::{self, Log, Options};
use kassay_judge::generate::instrumented::Instrumented;
use kassay_judge::generate::interface_file::UserConstraints;
use kassay_judge::generate::roles;
use kassay_judge::generate::search::{Limits, TestInput};
use kassay_judge::sync::inputs;
use kassay_suite::resolve::Test;

use super::input::SyntaxTree;
use super::opened::Opened;

/// Launches for each test that is wanted. The number limits the search, not time, so that equal seeds give equal tests.
const LAUNCHES: u64 = 60;
/// Launches in addition, for the search that comes first.
const LAUNCHES_FIRST: u64 = 400;
/// As for `generate`.
const ATTEMPTS: u64 = 200;
/// Longest time for one kernel.
const BUDGET: Duration = Duration::from_secs(120);

/// Time limit for the original on a test, at any level. Tests take milliseconds where they are generated; but in one on
/// which the kernel does what OpenCL leaves open, such as a signed overflow, the optimised kernel may go on for ever.
const ORIGINAL_LIMIT: Duration = Duration::from_secs(5);

/// Generates tests for the kernel of a suite: those that cover its branches, and random ones, `wanted` in all if so
/// many can be made. They expect nothing of their own: mutants are judged by what the original does.
///
/// # Errors
/// `Caller` if the simulator cannot run the kernel; those of the analysis.
pub(super) fn more_tests(opened: &Opened, wanted: u64) -> Result<Vec<Test>> {
    opened.with(SyntaxTree::Needed, |parsed| {
        let under_test = &parsed.under_test;
        under_test.fits_the_simulator()?;
        let started = Instant::now();
        let deadline = started.checked_add(BUDGET);
        let observing = observed::begin(under_test, deadline)?;
        let model = roles::infer_until(under_test, deadline)?;
        let mut instrumented = Instrumented::load(under_test, opened.options().jobs as usize, observing)?;
        let options = Options {
            seed: opened.seed(),
            limits: Limits {
                end: started + BUDGET,
                max_execs: Some(LAUNCHES_FIRST + wanted.saturating_mul(LAUNCHES)),
                attempts: ATTEMPTS,
                launch: opened.options().timeout,
            },
            solve: true,
            tests: wanted,
            started,
            source: opened.source(),
            analysis_time: started.elapsed(),
        };
        let constraints = UserConstraints::none(&under_test.interface);
        let mut ignored = |_: u64, _: usize, _: usize| {};
        let generated = campaign::generate(
            under_test,
            &model,
            &constraints,
            &options,
            &mut instrumented,
            &mut ignored,
            Log::default(),
        )?;
        // With the suite's tolerances.
        let outputs = match parsed.tests.first() {
            Some(test) => test.outputs.clone(),
            None => inputs::outputs(&under_test.interface),
        };
        let test = |input: TestInput| Test {
            outputs: outputs.clone(),
            name: format!("generated {}", input.name),
            faulted: Vec::new(),
            limit: Some(ORIGINAL_LIMIT),
            expectations: Vec::new(),
            launch: input.launch,
        };
        // A test that faults says nothing of mutants that do, too.
        Ok(generated.tests.into_iter().filter(|input| input.faulted.is_empty()).map(test).collect())
    })
}
