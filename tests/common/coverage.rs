//! Measures coverage of suites through the library, several suites on one device worker. Not a test.

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use inkwell::context::Context;
use kassay::coverage::build::{self, KernelFile};
use kassay::coverage::measure::{self, MeasureOptions, Programs};
use kassay::coverage::summary;
use kassay::exec::{DeviceRequest, Executor, OpenClExecutor, Target, WorkerOptions};
use kassay::instrument::layout::Slots;
use kassay::kernel::compile;
use kassay::kernel::options::KernelOptions;
use kassay::result::cover::{Coverage, SiteOutcome, TestStatus};
use kassay::suite::resolve::Suite;

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
        let exe = Some(PathBuf::from(env!("CARGO_BIN_EXE_kassay")));
        let options = WorkerOptions { exe, ..WorkerOptions::default() };
        Device { executor: OpenClExecutor::start(DeviceRequest::Any, options).unwrap() }
    }

    /// Returns one result for each kind of slots, from one compilation.
    pub fn cover<const N: usize>(&mut self, suite: &Path, slots: [Slots; N]) -> [Covered; N] {
        let suite = Suite::load(suite).unwrap();
        let options = KernelOptions { suite_options: suite.options.clone(), ..KernelOptions::default() };
        let loaded = compile::load(&suite.kernel, &options, true).unwrap();
        let context = Context::create();
        let file = KernelFile::parse(&context, &loaded).unwrap();
        let entry = file.choose(suite.entry.as_deref()).unwrap();
        let under_test = file.under_test(&entry, &loaded, &build::sources_of(&suite.kernel)).unwrap();
        let mut tests = suite.resolve(&under_test.interface, suite.seed.unwrap_or(0)).unwrap();
        let most = self.executor.device().max_work_group_size;
        for test in &mut tests {
            let range = &mut test.launch.range;
            range.local = Some(range.local_or_default(under_test.interface.required_local, most));
        }
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

/// Runs `work` for all items on two threads, each with a state of its own; the results are in any order.
pub fn spread<T: Sync, S, R: Send>(
    items: &[T],
    start: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, &T) -> R + Sync,
) -> Vec<R> {
    let (next, done) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let mut state = start();
                while let Some(item) = items.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let result = work(&mut state, item);
                    done.lock().unwrap().push(result);
                }
            });
        }
    });
    done.into_inner().unwrap()
}
