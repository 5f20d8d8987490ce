//! Measures coverage of suites through the library, several suites on one device worker. Not a test.

use std::path::Path;
use std::time::Duration;

use kassay::result::cover::{Coverage, SiteOutcome, TestStatus};
use kassay_ir::instrument::layout::Slots;
use kassay_ir::llvm::Context;
use kassay_judge::coverage::measure::{self, MeasureOptions, Programs};
use kassay_judge::coverage::summary;
use kassay_run::exec::{Executor, OpenClExecutor, Target};

use super::devices;
use super::kernels::open_suite;

/// The coverage of a suite.
#[derive(Debug)]
pub struct Covered {
    pub entry: String,
    pub coverage: Coverage,
    pub sites: Vec<SiteOutcome>,
}

/// A device worker.
pub struct Device {
    executor: OpenClExecutor,
}

impl Device {
    pub fn start() -> Device {
        Device { executor: devices::opencl().unwrap() }
    }

    /// Returns one result for each kind of slots, from one compilation.
    pub fn cover<const N: usize>(&mut self, suite: &Path, slots: [Slots; N]) -> [Covered; N] {
        let context = Context::create();
        let mut opened = open_suite(&context, suite).unwrap();
        opened.choose_local(self.executor.device());
        let (under_test, tests) = (&opened.kernel.under_test, &opened.tests);
        let entry = &under_test.entry;
        let plain = self.executor.load(&under_test.plain(Target::SpirV).unwrap()).unwrap();
        let measure_options = MeasureOptions { timeout: Duration::from_secs(60), repeats: 1 };
        let results = slots.map(|slots| {
            let (code, plan) = under_test.instrumented(slots, Target::SpirV).unwrap();
            let instrumented = self.executor.load(&code).unwrap();
            let programs = Programs {
                plain,
                instrumented,
                mapped: None,
                plan: &plan,
                sites: &under_test.sites,
                inexact: under_test.precision().bound() > 0,
            };
            let tally = |test| {
                let measured = measure::test(&mut self.executor, &programs, test, &measure_options).unwrap();
                let outcome = measured.outcome;
                assert_eq!(outcome.status, TestStatus::Completed, "{}: {}: {:?}", entry, outcome.name, outcome.reason);
                measured.tally.unwrap()
            };
            let tallies: Vec<_> = tests.iter().map(tally).collect();
            self.executor.unload(instrumented);
            Covered {
                entry: entry.clone(),
                coverage: summary::coverage(&under_test.sites, &tallies, slots == Slots::Items),
                sites: summary::outcomes(&under_test.sites, &tallies, "kernel"),
            }
        });
        self.executor.unload(plain);
        results
    }
}
