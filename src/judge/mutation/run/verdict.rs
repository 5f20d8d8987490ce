//! Computes verdicts from runs, and a mutant's outcome from its verdicts, without a device (statuses: docs/mutate.md).

use kassay_ir::instrument::layout::{FaultKind, slot};
use kassay_results::result::mutate::Status;
use kassay_run::exec::{Fault, Run, VariationOutcome};

use crate::mutation::catalogue::indices::TestIndex;

/// The reason given for mutants that were not run on all their tests.
const UNFINISHED: &str = "the time was up before it was run on all tests";

/// The end of the reason given for mutants that were over the time limit.
const ENDED: &str = " and was ended";

/// Returns whether a time-out with this reason was found by the clock and not by the loops' iterations, so that another
/// run may find another.
pub fn is_by_the_clock(reason: Option<&str>) -> bool {
    reason.is_none_or(|reason| reason.ends_with(ENDED))
}

/// The verdict of one test on a mutant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TestVerdict {
    /// All repeats agree with the reference.
    Passed,
    /// All repeats differ; holds the first difference.
    Killed(String),
    /// Some repeats differ.
    Flaky(String),
    /// It ran out of fuel or time.
    Timeout(String),
    /// A guard recorded a fault, or the worker died.
    RuntimeError(String),
    /// The device refused the launch.
    Refused(String),
    /// It detects the mutant, which an earlier test has decided, so that there is no need for words.
    Detected,
}

impl TestVerdict {
    /// Returns whether the test detects the mutant.
    pub fn detects(&self) -> bool {
        match self {
            TestVerdict::Killed(_) | TestVerdict::Timeout(_) | TestVerdict::RuntimeError(_) | TestVerdict::Detected => {
                true
            }
            TestVerdict::Passed | TestVerdict::Flaky(_) | TestVerdict::Refused(_) => false,
        }
    }
}

/// What completed runs of a mutant on a test show, by rule; [`Shown::in_words`] is the verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shown {
    /// All repeats agree with the reference.
    Passed,
    /// All repeats differ.
    Killed,
    /// Some repeats differ.
    Flaky,
    /// A guard recorded in this word that fuel was exhausted.
    Timeout(u32),
    /// A guard recorded another fault in this word.
    RuntimeError(u32),
}

impl Shown {
    /// Judges the repeats, of each of which is given the word in which guards record faults, and whether its outputs
    /// differ.
    ///
    /// A fault that a guard recorded takes precedence over outputs, which are void after it (`src/judge/README.md`).
    /// `allows_faults`: whether the test allows faults, so that of the guards only exhausted fuel counts;
    /// accesses out of bounds are skipped in the original and the mutant alike.
    pub fn of(repeats: impl Iterator<Item = (u32, bool)> + Clone, allows_faults: bool) -> Shown {
        let fault = |(word, _)| match FaultKind::read(word)?.0 {
            FaultKind::Fuel => Some(Shown::Timeout(word)),
            _ => (!allows_faults).then_some(Shown::RuntimeError(word)),
        };
        let mut differ = repeats.clone().map(|(_, differs)| differs);
        repeats.clone().find_map(fault).unwrap_or_else(|| match (differ.clone().any(|d| d), differ.all(|d| d)) {
            (false, _) => Shown::Passed,
            (true, true) => Shown::Killed,
            (true, false) => Shown::Flaky,
        })
    }

    /// Returns whether the test detects the mutant.
    pub fn detects(self) -> bool {
        matches!(self, Shown::Killed | Shown::Timeout(_) | Shown::RuntimeError(_))
    }

    /// Puts it into words. `describe` renders a fault word as text, `difference` the first difference of outputs.
    pub fn in_words(self, describe: &dyn Fn(u32) -> String, difference: impl FnOnce() -> String) -> TestVerdict {
        match self {
            Shown::Passed => TestVerdict::Passed,
            Shown::Killed => TestVerdict::Killed(difference()),
            Shown::Flaky => TestVerdict::Flaky(difference()),
            Shown::Timeout(word) => TestVerdict::Timeout(describe(word)),
            Shown::RuntimeError(word) => TestVerdict::RuntimeError(describe(word)),
        }
    }
}

/// Judges one variation of a sweep, as [`Shown::of`] does. `describe` renders a fault word as text.
pub fn test_verdict(swept: &VariationOutcome, describe: &dyn Fn(u32) -> String, allows_faults: bool) -> TestVerdict {
    let runs = match swept {
        VariationOutcome::Ran(runs) => runs,
        VariationOutcome::Fault(Fault::Timeout { limit }) => {
            return TestVerdict::Timeout(format!("was not done after {:.3} s{ENDED}", limit.as_secs_f64()));
        }
        VariationOutcome::Fault(Fault::Rejected { error, explanation }) => {
            return TestVerdict::Refused(format!("{error}: {explanation}"));
        }
        VariationOutcome::Fault(fault @ (Fault::Crash { .. } | Fault::Stopped { .. } | Fault::Checked { .. })) => {
            return TestVerdict::RuntimeError(fault.to_string());
        }
    };
    let word = |run: &Run| run.words.get(slot::FAULT as usize).copied().unwrap_or(0);
    let shown = Shown::of(runs.iter().map(|run| (word(run), run.difference.is_some())), allows_faults);
    shown.in_words(describe, || runs.iter().find_map(|run| run.difference.clone()).unwrap_or_default())
}

/// The accumulated outcome of one mutant over the tests, in the suite's order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MutantOutcome {
    /// Positions of the tests that detect it.
    pub killed_by: Vec<TestIndex>,
    status: Option<Status>,
    reason: Option<String>,
    flaky: Option<String>,
    refused: Option<String>,
    passed: bool,
}

impl MutantOutcome {
    /// Adds the verdict of the next test. `test` is its position, `name` its name.
    pub fn add(&mut self, test: TestIndex, name: &str, verdict: &TestVerdict) {
        let (status, text) = match verdict {
            TestVerdict::Passed => {
                self.passed = true;
                return;
            }
            TestVerdict::Detected => return self.killed_by.push(test),
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
        // The first test that detects it decides, so that the status with a full matrix is the same as without one.
        if self.status.is_none() {
            self.status = Some(status);
            self.reason = Some(format!("test \"{name}\": {text}"));
        }
    }

    /// Records that the backend or the device refuses the mutated kernel.
    pub fn refuse_build(&mut self, why: &str) {
        self.status = Some(Status::CompileError);
        self.reason = Some(why.to_owned());
    }

    /// Records that the mutant cannot be made or would change nothing.
    pub fn ignore(&mut self, why: &str) {
        self.status = Some(Status::Ignored);
        self.reason = Some(why.to_owned());
    }

    /// Makes the mutant pending, unless it is decided: the time was up before it was run on all its tests.
    pub fn leave_pending(&mut self) {
        if self.status.is_none() {
            self.status = Some(Status::Pending);
            self.reason = Some(UNFINISHED.to_owned());
        }
    }

    /// Returns whether the status is known, so that no further test is needed (without a full matrix).
    pub fn is_decided(&self) -> bool {
        self.status.is_some()
    }

    /// Returns the status and the reason, given whether any test reaches the mutant.
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

    fn run(difference: Option<&str>, fault: u32) -> Run {
        Run { difference: difference.map(str::to_owned), words: vec![1, 0, fault, 0, 0] }
    }

    fn verdict(runs: Vec<Run>) -> TestVerdict {
        test_verdict(&VariationOutcome::Ran(runs), &|word| format!("fault {word}"), false)
    }

    #[test]
    fn killed_means_that_all_repeats_differ() {
        assert_eq!(verdict(vec![run(None, 0)]), TestVerdict::Passed);
        assert_eq!(verdict(vec![run(Some("a"), 0), run(Some("b"), 0)]), TestVerdict::Killed("a".into()));
        assert_eq!(verdict(vec![run(None, 0), run(Some("b"), 0)]), TestVerdict::Flaky("b".into()));
    }

    #[test]
    fn a_recorded_fault_takes_precedence_over_outputs() {
        assert_eq!(verdict(vec![run(Some("a"), 1)]), TestVerdict::Timeout("fault 1".into()));
        assert_eq!(verdict(vec![run(Some("a"), 0), run(None, 0x302)]), TestVerdict::RuntimeError("fault 770".into()));
    }

    #[test]
    fn a_killing_test_outweighs_flaky_ones() {
        let mut outcome = MutantOutcome::default();
        outcome.add(TestIndex(0), "a", &TestVerdict::Flaky("x".into()));
        assert_eq!(outcome.status(true).0, Status::Undecided);
        outcome.add(TestIndex(1), "b", &TestVerdict::Killed("y".into()));
        assert_eq!(outcome.status(true), (Status::Killed, Some("test \"b\": y".into())));
        assert_eq!(outcome.killed_by, [TestIndex(1)]);
    }

    #[test]
    fn the_first_detecting_test_decides() {
        let mut outcome = MutantOutcome::default();
        outcome.add(TestIndex(0), "a", &TestVerdict::RuntimeError("x".into()));
        let first = outcome.status(true);
        outcome.add(TestIndex(1), "b", &TestVerdict::Killed("y".into()));
        assert_eq!(
            (outcome.status(true), outcome.killed_by.as_slice()),
            (first, [TestIndex(0), TestIndex(1)].as_slice())
        );
    }

    #[test]
    fn never_reached_is_no_coverage_and_refused_everywhere_is_ignored() {
        assert_eq!(MutantOutcome::default().status(false).0, Status::NoCoverage);
        assert_eq!(MutantOutcome::default().status(true).0, Status::Survived);
        let mut outcome = MutantOutcome::default();
        outcome.add(TestIndex(0), "a", &TestVerdict::Refused("x".into()));
        assert_eq!(outcome.status(true).0, Status::Ignored);
        outcome.add(TestIndex(1), "b", &TestVerdict::Passed);
        assert_eq!(outcome.status(true).0, Status::Survived);
    }

    #[test]
    fn a_dead_worker_is_a_runtime_error_and_a_hanging_one_a_timeout() {
        let crash = VariationOutcome::Fault(Fault::Crash { signal: Some(11), exit_code: None, stderr: String::new() });
        assert!(matches!(test_verdict(&crash, &|_| String::new(), false), TestVerdict::RuntimeError(_)));
        let hang = VariationOutcome::Fault(Fault::Timeout { limit: Duration::from_secs(1) });
        assert!(matches!(test_verdict(&hang, &|_| String::new(), false), TestVerdict::Timeout(_)));
    }
}
