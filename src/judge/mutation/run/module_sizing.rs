//! Chooses how many mutants to put into a module, so that building and running them together takes least time.
//!
//! All mutants in one module run slowly; one mutant per module is slow to build. Where the optimum between the two lies
//! depends on the kernel, its launches and the device. So it is measured: modules grow while the time per mutant falls.

use std::time::Duration;

use super::baseline::TestBaseline;
use super::runner::Case;

/// If all runs in the full module take less than this multiple of its build time, smaller modules are not worth
/// building: the device optimises them, which takes longer, and there would be several.
pub const WORTHWHILE: f64 = 2.0;

/// Size of the first module: for compute-heavy kernels, modules of some 25 mutants run about as fast as the original.
const FIRST_SIZE: usize = 24;

/// Estimated share of mutants that survive one more test: most are killed by the first.
const SURVIVING: f64 = 0.4;

/// Estimates how long running the cases will take, if a run of the original on a baseline takes `time`.
pub fn estimated_time(
    baselines: &[TestBaseline<'_>],
    cases: &[Case],
    full_matrix: bool,
    time: impl Fn(&TestBaseline<'_>) -> Duration,
) -> Duration {
    let times: Vec<f64> = baselines.iter().map(|t| time(t).as_secs_f64()).collect();
    let mut sum = 0.0;
    for case in cases {
        let mut share = 1.0;
        for (t, runs) in case.scenario.tests.iter().enumerate().filter(|(_, runs)| **runs) {
            sum += if *runs { share * times[t] } else { 0.0 };
            share *= if full_matrix { 1.0 } else { SURVIVING };
        }
    }
    Duration::from_secs_f64(sum)
}

/// Chooses module sizes from the measured times of earlier modules.
#[derive(Debug)]
pub struct Sizes {
    /// Estimated run time per mutant in the full module, in seconds, if that is available.
    full: Option<f64>,
    size: usize,
    /// Whether the size is growing.
    growing: bool,
    /// Run time per mutant of the last module, in seconds.
    last_run: f64,
    /// Run and build time per mutant of the last module, in seconds.
    last_total: Option<f64>,
    modules_built: u32,
}

impl Sizes {
    /// `run_time`: estimated time of running `count` mutants in the full module, if that `is_available`.
    pub fn new(count: usize, run_time: Duration, is_available: bool) -> Sizes {
        let full = is_available.then(|| run_time.as_secs_f64() / count.max(1) as f64);
        Sizes { full, size: FIRST_SIZE, growing: true, last_run: 0.0, last_total: None, modules_built: 0 }
    }

    /// Returns whether the full module is available.
    pub fn has_full_module(&self) -> bool {
        self.full.is_some()
    }

    /// Returns the size of the next module for `rest` remaining mutants; `None`: the full module is best for them.
    pub fn next(&self, rest: usize) -> Option<usize> {
        if let (Some(full), Some(last_total)) = (self.full, self.last_total)
            && self.modules_built >= 2
            && full <= last_total
        {
            return None;
        }
        // A small remainder is not worth a build of its own.
        Some(if rest < self.size + self.size / 2 { rest } else { self.size })
    }

    /// Records the estimated run time of a module of `count` mutants.
    pub fn record_run(&mut self, count: usize, run: Duration) {
        self.last_run = run.as_secs_f64() / count.max(1) as f64;
    }

    /// Records the build time of a module of `count` mutants, and chooses the next size.
    pub fn record_build(&mut self, count: usize, build: Duration) {
        let per_mutant = self.last_run + build.as_secs_f64() / count.max(1) as f64;
        if self.last_total.is_some_and(|last_total| per_mutant > last_total) {
            self.growing = !self.growing;
        }
        self.last_total = Some(per_mutant);
        self.modules_built += 1;
        self.size = if self.growing { self.size * 2 } else { (self.size / 2).max(6) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(n: u64) -> Duration {
        Duration::from_millis(n)
    }

    #[test]
    fn modules_grow_while_the_time_per_mutant_falls() {
        let mut sizes = Sizes::new(1000, ms(100_000), true);
        let mut sizes_taken = Vec::new();
        for _ in 0..4 {
            let size = sizes.next(1000).unwrap_or(0);
            sizes_taken.push(size);
            sizes.record_run(size, ms(size as u64));
            // A fixed cost of 50 ms a build makes larger modules cheaper.
            sizes.record_build(size, ms(50));
        }
        assert_eq!(sizes_taken, [24, 48, 96, 192]);
    }

    #[test]
    fn a_module_that_runs_slowly_is_halved() {
        let mut sizes = Sizes::new(1000, ms(100_000), true);
        sizes.record_run(24, ms(24));
        sizes.record_build(24, ms(50));
        sizes.record_run(48, ms(2000));
        sizes.record_build(48, ms(50));
        assert_eq!(sizes.next(1000), Some(24));
    }

    #[test]
    fn the_full_module_is_used_where_it_is_fastest() {
        let mut sizes = Sizes::new(1000, ms(1000), true);
        for size in [24, 48] {
            sizes.record_run(size, ms(20));
            sizes.record_build(size, ms(100));
        }
        assert_eq!(sizes.next(900), None);
    }

    #[test]
    fn a_small_remainder_joins_the_last_module() {
        assert_eq!(Sizes::new(30, ms(1), false).next(30), Some(30));
    }
}
