//! What joint runs of a case on a test show.

use kassay_ir::instrument::layout::FaultKind;
use kassay_run::exec::joint::JointResult;

use super::super::baseline::TestBaseline;
use super::super::verdict::TestVerdict;

/// What the runs of one case on one test show: the results of the first repeat and of the others. Texts are made for
/// those that decide.
#[derive(Debug, Clone)]
pub struct JointVerdict(JointResult, Vec<JointResult>);

/// The fault that a guard recorded.
fn fault(result: &JointResult) -> Option<FaultKind> {
    FaultKind::read(result.words()[0]).map(|(kind, _)| kind)
}

impl JointVerdict {
    /// Returns whether a run needed more fuel than it was given.
    pub fn is_out_of_fuel(&self) -> bool {
        self.all().any(|result| fault(result) == Some(FaultKind::Fuel))
    }

    /// What the run with this number shows, of which there are as many results as repeats.
    pub fn of(results: &[Vec<JointResult>], number: usize) -> JointVerdict {
        JointVerdict(results[0][number], results[1..].iter().map(|repeat| repeat[number]).collect())
    }

    /// The results of all repeats.
    fn all(&self) -> impl Iterator<Item = &JointResult> {
        std::iter::once(&self.0).chain(&self.1)
    }

    /// Returns whether the test says nothing of the case.
    pub fn passes(&self, allows_faults: bool) -> bool {
        self.recorded_fault(allows_faults).is_none() && self.all().all(JointResult::agrees)
    }

    /// Returns whether the test detects the case.
    pub fn detects(&self, allows_faults: bool) -> bool {
        self.recorded_fault(allows_faults).is_some() || self.all().all(|result| !result.agrees())
    }

    /// The first fault that decides, as the word that guards record.
    fn recorded_fault(&self, allows_faults: bool) -> Option<(FaultKind, u32)> {
        self.all().find_map(|result| {
            let kind = fault(result).filter(|kind| *kind == FaultKind::Fuel || !allows_faults)?;
            Some((kind, result.words()[0]))
        })
    }

    /// The same verdict with its reason; see [`super::super::verdict::test_verdict`].
    pub fn in_words(&self, baseline: &TestBaseline<'_>, describe: &dyn Fn(u32) -> String) -> TestVerdict {
        match self.recorded_fault(baseline.test.launch.allows_faults) {
            Some((FaultKind::Fuel, word)) => return TestVerdict::Timeout(describe(word)),
            Some((_, word)) => return TestVerdict::RuntimeError(describe(word)),
            None => {}
        }
        let first = self.all().find_map(JointResult::difference).map(|d| d.text(&baseline.references));
        match (first, self.all().all(|result| !result.agrees())) {
            (None, _) => TestVerdict::Passed,
            (Some(difference), true) => TestVerdict::Killed(difference),
            (Some(difference), false) => TestVerdict::Flaky(difference),
        }
    }
}
