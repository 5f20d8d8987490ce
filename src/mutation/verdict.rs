//! Verdicts: from runs to the fate of a mutant, without a device (specification, section 2).

use crate::exec::{Fault, VariationOutcome};
use crate::instrument::layout::{FaultKind, slot};
use crate::result::mutate::Status;

/// How a mutant did on one test.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TestVerdict {
    /// All repeats agree with the reference.
    Passed,
    /// All repeats differ; the first difference.
    Killed(String),
    /// Some repeats differ.
    Flaky(String),
    /// Out of fuel or time.
    Timeout(String),
    /// A fault that a guard recorded, or a dead worker.
    RuntimeError(String),
    /// The device refuses the launch.
    Refused(String),
}

impl TestVerdict {
    /// Whether the test detects the mutant.
    pub fn detects(&self) -> bool {
        matches!(self, TestVerdict::Killed(_) | TestVerdict::Timeout(_) | TestVerdict::RuntimeError(_))
    }
}

/// Reads what a sweep says of one variation. `describe` words a fault word.
///
/// A fault that a guard recorded decides before outputs do: what a slot holds afterwards is void (invariant 12).
/// `allows_faults`: the test does, so that only a lack of fuel counts; accesses out of bounds are skipped in kernel and mutant.
pub fn pair(swept: &VariationOutcome, describe: &dyn Fn(u32) -> String, allows_faults: bool) -> TestVerdict {
    let runs = match swept {
        VariationOutcome::Ran(runs) => runs,
        VariationOutcome::Fault(Fault::Timeout { limit }) => {
            return TestVerdict::Timeout(format!("was not done after {:.3} s and was ended", limit.as_secs_f64()));
        }
        VariationOutcome::Fault(Fault::Rejected { error, explanation }) => {
            return TestVerdict::Refused(format!("{error}: {explanation}"));
        }
        VariationOutcome::Fault(fault @ (Fault::Crash { .. } | Fault::Checked { .. })) => {
            return TestVerdict::RuntimeError(crate::coverage::measure::describe(fault).1);
        }
    };
    for run in runs {
        let word = run.words.get(slot::FAULT as usize).copied().unwrap_or(0);
        match FaultKind::read(word) {
            Some((FaultKind::Fuel, _)) => return TestVerdict::Timeout(describe(word)),
            Some(_) if !allows_faults => return TestVerdict::RuntimeError(describe(word)),
            _ => {}
        }
    }
    let first = runs.iter().find_map(|run| run.difference.clone());
    match (first, runs.iter().all(|run| run.difference.is_some())) {
        (None, _) => TestVerdict::Passed,
        (Some(difference), true) => TestVerdict::Killed(difference),
        (Some(difference), false) => TestVerdict::Flaky(difference),
    }
}

/// What the runs of one mutant add up to, in the suite's order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MutantOutcome {
    /// Positions of the tests that detect it.
    pub killed_by: Vec<usize>,
    status: Option<Status>,
    reason: Option<String>,
    flaky: Option<String>,
    refused: Option<String>,
    passed: bool,
}

impl MutantOutcome {
    /// Takes the outcome of the next test into account. `test` is its position, `name` its name.
    pub fn add(&mut self, test: usize, name: &str, outcome: &TestVerdict) {
        let (status, text) = match outcome {
            TestVerdict::Passed => {
                self.passed = true;
                return;
            }
            TestVerdict::Flaky(text) => {
                self.flaky.get_or_insert_with(|| format!("test \"{name}\": some repeats differ: {text}"));
                return;
            }
            TestVerdict::Refused(text) => {
                self.refused.get_or_insert_with(|| format!("test \"{name}\": it cannot be launched so: {text}"));
                return;
            }
            TestVerdict::Killed(text) => (Status::Killed, text),
            TestVerdict::Timeout(text) => (Status::Timeout, text),
            TestVerdict::RuntimeError(text) => (Status::RuntimeError, text),
        };
        self.killed_by.push(test);
        // The first test that detects it decides, so that a full matrix says the same as runs that end with it.
        if self.status.is_none() {
            self.status = Some(status);
            self.reason = Some(format!("test \"{name}\": {text}"));
        }
    }

    /// The backend or the device refuses the mutated kernel.
    pub fn refuse_build(&mut self, why: &str) {
        self.status = Some(Status::CompileError);
        self.reason = Some(why.to_owned());
    }

    /// It cannot be made, or would change nothing.
    pub fn ignore(&mut self, why: &str) {
        self.status = Some(Status::Ignored);
        self.reason = Some(why.to_owned());
    }

    /// Nothing stands yet, and no more is run of it.
    pub fn leave(&mut self, why: &str) {
        if self.status.is_none() {
            self.status = Some(Status::Pending);
            self.reason = Some(why.to_owned());
        }
    }

    /// Whether no further test is needed (without a full matrix).
    pub fn is_decided(&self) -> bool {
        self.status.is_some()
    }

    /// The status, given whether any test reaches the mutant.
    pub fn status(&self, reached: bool) -> (Status, Option<String>) {
        match (self.status, &self.flaky, &self.refused) {
            (Some(status), ..) => (status, self.reason.clone()),
            (None, Some(text), _) => (Status::Undecided, Some(text.clone())),
            (None, None, Some(text)) if !self.passed => (Status::Ignored, Some(text.clone())),
            (None, ..) if reached => (Status::Survived, None),
            (None, ..) => (Status::NoCoverage, Some("no test reaches it".to_owned())),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::exec::Run;

    fn run(difference: Option<&str>, fault: u32) -> Run {
        Run { difference: difference.map(str::to_owned), words: vec![1, 0, fault, 0, 0] }
    }

    fn verdict(runs: Vec<Run>) -> TestVerdict {
        pair(&VariationOutcome::Ran(runs), &|word| format!("fault {word}"), false)
    }

    #[test]
    fn killed_means_that_all_repeats_differ() {
        assert_eq!(verdict(vec![run(None, 0)]), TestVerdict::Passed);
        assert_eq!(verdict(vec![run(Some("a"), 0), run(Some("b"), 0)]), TestVerdict::Killed("a".into()));
        assert_eq!(verdict(vec![run(None, 0), run(Some("b"), 0)]), TestVerdict::Flaky("b".into()));
    }

    #[test]
    fn a_recorded_fault_decides_before_the_outputs() {
        assert_eq!(verdict(vec![run(Some("a"), 1)]), TestVerdict::Timeout("fault 1".into()));
        assert_eq!(verdict(vec![run(Some("a"), 0), run(None, 0x302)]), TestVerdict::RuntimeError("fault 770".into()));
    }

    #[test]
    fn one_test_that_kills_outweighs_others_that_are_flaky() {
        let mut fate = MutantOutcome::default();
        fate.add(0, "a", &TestVerdict::Flaky("x".into()));
        assert_eq!(fate.status(true).0, Status::Undecided);
        fate.add(1, "b", &TestVerdict::Killed("y".into()));
        assert_eq!(fate.status(true), (Status::Killed, Some("test \"b\": y".into())));
        assert_eq!(fate.killed_by, [1]);
    }

    #[test]
    fn the_first_test_that_detects_it_decides_whatever_follows() {
        let mut fate = MutantOutcome::default();
        fate.add(0, "a", &TestVerdict::RuntimeError("x".into()));
        let first = fate.status(true);
        fate.add(1, "b", &TestVerdict::Killed("y".into()));
        assert_eq!((fate.status(true), fate.killed_by.as_slice()), (first, [0, 1].as_slice()));
    }

    #[test]
    fn what_is_never_run_is_not_covered_and_what_is_refused_everywhere_ignored() {
        assert_eq!(MutantOutcome::default().status(false).0, Status::NoCoverage);
        assert_eq!(MutantOutcome::default().status(true).0, Status::Survived);
        let mut fate = MutantOutcome::default();
        fate.add(0, "a", &TestVerdict::Refused("x".into()));
        assert_eq!(fate.status(true).0, Status::Ignored);
        fate.add(1, "b", &TestVerdict::Passed);
        assert_eq!(fate.status(true).0, Status::Survived);
    }

    #[test]
    fn a_dead_worker_is_an_error_and_a_hanging_one_a_time_out() {
        let crash = VariationOutcome::Fault(Fault::Crash { signal: Some(11), exit_code: None, stderr: String::new() });
        assert!(matches!(pair(&crash, &|_| String::new(), false), TestVerdict::RuntimeError(_)));
        let hang = VariationOutcome::Fault(Fault::Timeout { limit: Duration::from_secs(1) });
        assert!(matches!(pair(&hang, &|_| String::new(), false), TestVerdict::Timeout(_)));
    }
}
