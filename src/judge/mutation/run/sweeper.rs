//! Sweepers: ways of running cases on a test. A runner asks one after the other, until nothing is left to be run.

use kassay_base::error::Result;

use super::case::{Case, Device};

/// A way of running cases on the tests of a suite.
pub trait Sweeper {
    /// Adds the verdicts of baseline `t` to those of the cases `open` that this way can run, and reports them. It may
    /// run further tests at once, and keep what they show.
    ///
    /// # Errors
    /// `Environment`, and errors of the report.
    fn judge(
        &mut self,
        t: usize,
        device: &mut Device<'_>,
        cases: &mut [Case],
        open: &[usize],
        reports: &mut Reports<'_>,
    ) -> Result<()>;

    /// Ends what the device is at, so that it may be asked for something else.
    ///
    /// # Errors
    /// `Environment`.
    fn settle(&mut self, device: &mut Device<'_>, cases: &[Case]) -> Result<()>;
}

/// Reports cases once their outcome is final.
pub struct Reports<'a> {
    /// By case: the last baseline that it is to be run on.
    last: Vec<Option<usize>>,
    reported: Vec<bool>,
    full_matrix: bool,
    on_decided: &'a (dyn Fn(&Case) -> Result<()> + Sync),
}

impl<'a> Reports<'a> {
    /// Nothing is reported yet.
    pub fn new(cases: &[Case], full_matrix: bool, on_decided: &'a (dyn Fn(&Case) -> Result<()> + Sync)) -> Reports<'a> {
        let last = cases.iter().map(|case| case.scenario.tests.iter().rposition(|runs| *runs)).collect();
        Reports { last, reported: vec![false; cases.len()], full_matrix, on_decided }
    }

    /// Reports those of the cases `which`, which have just been run on baseline `t`, that need no further test.
    ///
    /// # Errors
    /// Errors of the callback.
    pub fn report(&mut self, cases: &[Case], which: &[usize], t: usize) -> Result<()> {
        for c in which {
            let is_final = self.last[*c] == Some(t) || (!self.full_matrix && cases[*c].outcome.is_decided());
            if is_final && !std::mem::replace(&mut self.reported[*c], true) {
                (self.on_decided)(&cases[*c])?;
            }
        }
        Ok(())
    }
}
