//! The sweeper: runs cases test by test, and adds up their verdicts. How they are run is up to strategies, of which it
//! asks one after the other, until no case is left.

use std::ops::Deref;

use kassay_base::error::Result;

use super::baseline::{RunSettings, TestBaseline};
use super::case::{Case, Device, is_wanted};
use super::verdict::TestVerdict;

/// A way of running cases on the tests of a suite.
pub trait Strategy {
    /// Gives those of the cases `open` that this way can run their verdicts of baseline `t`. It may run further tests
    /// at once, and keep what they show.
    ///
    /// # Errors
    /// `Environment`, and those of [`Cases::add`].
    fn judge(&mut self, t: usize, device: &mut Device<'_>, cases: &mut Cases<'_>, open: &[usize]) -> Result<()>;

    /// Ends what the device is at, so that it may be asked for something else.
    ///
    /// # Errors
    /// `Environment`.
    fn settle(&mut self, device: &mut Device<'_>, cases: &[Case]) -> Result<()>;
}

/// Runs cases on the tests of a suite.
pub struct Sweeper<'a> {
    /// What one leaves, the next one runs.
    pub strategies: Vec<Box<dyn Strategy + 'a>>,
    /// What all runs share.
    pub settings: &'a RunSettings,
}

impl Sweeper<'_> {
    /// Runs cases, each on the tests that it is to be run on. Those that the deadline leaves undecided are pending.
    ///
    /// # Errors
    /// `Environment`, and those of [`Cases::add`].
    pub fn run(&mut self, device: &mut Device<'_>, cases: &mut Cases<'_>) -> Result<()> {
        for t in 0..cases.baselines.len() {
            if self.settings.is_over() {
                break;
            }
            self.run_on(t, device, cases)?;
        }
        self.strategies.iter_mut().try_for_each(|strategy| strategy.settle(device, cases))?;
        let is_over = self.settings.is_over();
        for case in cases.all.iter_mut().filter(|case| is_over && case.pairs < case.scenario.test_count()) {
            case.outcome.leave_pending();
        }
        Ok(())
    }

    /// Runs the cases that want baseline `t`.
    fn run_on(&mut self, t: usize, device: &mut Device<'_>, cases: &mut Cases<'_>) -> Result<()> {
        let mut open: Vec<usize> = (0..cases.len()).filter(|c| is_wanted(&cases[*c], t, self.settings)).collect();
        let before: Vec<u64> = cases.iter().map(|case| case.pairs).collect();
        for at in 0..self.strategies.len() {
            if at > 0 {
                open.retain(|c| cases[*c].pairs == before[*c]);
                if open.is_empty() {
                    break;
                }
                // The device is asked for something else.
                self.strategies[at - 1].settle(device, cases)?;
            }
            self.strategies[at].judge(t, device, cases, &open)?;
        }
        Ok(())
    }
}

/// Cases that are being run, of which each is reported once its outcome is final.
pub struct Cases<'a> {
    all: &'a mut [Case],
    baselines: &'a [TestBaseline<'a>],
    full_matrix: bool,
    /// By case: the last baseline that it is to be run on.
    last: Vec<Option<usize>>,
    reported: Vec<bool>,
    on_decided: &'a (dyn Fn(&Case) -> Result<()> + Sync),
}

impl<'a> Cases<'a> {
    /// Nothing is reported yet.
    pub fn new(
        all: &'a mut [Case],
        baselines: &'a [TestBaseline<'a>],
        settings: &RunSettings,
        on_decided: &'a (dyn Fn(&Case) -> Result<()> + Sync),
    ) -> Cases<'a> {
        let last = all.iter().map(|case| case.scenario.tests.iter().rposition(|runs| *runs)).collect();
        let reported = vec![false; all.len()];
        Cases { all, baselines, full_matrix: settings.full_matrix, last, reported, on_decided }
    }

    /// Adds the verdicts of baseline `t` to the cases with these numbers, and reports those that need no further test.
    ///
    /// # Errors
    /// Errors of the report.
    pub fn add(&mut self, t: usize, verdicts: impl IntoIterator<Item = (usize, TestVerdict)>) -> Result<()> {
        let baseline = &self.baselines[t];
        for (c, verdict) in verdicts {
            let case = &mut self.all[c];
            case.outcome.add(baseline.position, &baseline.test.name, &verdict);
            case.pairs += 1;
            let is_final = self.last[c] == Some(t) || (!self.full_matrix && case.outcome.is_decided());
            if is_final && !std::mem::replace(&mut self.reported[c], true) {
                (self.on_decided)(case)?;
            }
        }
        Ok(())
    }
}

impl Deref for Cases<'_> {
    type Target = [Case];

    fn deref(&self) -> &[Case] {
        self.all
    }
}
