//! Cases: scenarios that are being run, and what running them costs.

use std::time::Duration;

use kassay_ir::instrument::mutants::{Edit, LaunchChange};
use kassay_run::exec::{Executor, ProgramId};

use super::baseline::RunSettings;
use super::verdict::MutantOutcome;
use crate::mutation::catalogue::indices::MutantIndex;

/// What to run: the active mutants, and the tests.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Scenario {
    /// One mutant, or the two of a pair.
    pub mutants: Vec<MutantIndex>,
    /// By position of the baseline: whether to run the mutants on it.
    pub tests: Vec<bool>,
}

impl Scenario {
    /// Returns the number of tests to run.
    pub fn test_count(&self) -> u64 {
        self.tests.iter().filter(|runs| **runs).count() as u64
    }
}

/// A scenario that is being run.
#[derive(Debug, Clone)]
pub struct Case {
    /// Position in the caller's list of scenarios.
    pub index: usize,
    /// What is run.
    pub scenario: Scenario,
    /// The first words of its slot: the number of the mutant in force, and that of a second one; 0: none.
    pub numbers: [u32; 2],
    /// A change of the NDRange, for launch mutants.
    pub launch: Option<LaunchChange>,
    /// What its tests have shown so far.
    pub outcome: MutantOutcome,
    /// Number of baselines it was run on.
    pub pairs: u64,
}

impl Case {
    /// Creates the case of a scenario that has not run. `edit` returns the edit of a mutant.
    pub fn new<'m>(index: usize, scenario: Scenario, edit: impl Fn(MutantIndex) -> &'m Edit) -> Case {
        let launch = scenario.mutants.iter().find_map(|m| match edit(*m) {
            Edit::Launch(change) => Some(*change),
            _ => None,
        });
        Case { index, scenario, numbers: [0; 2], launch, outcome: MutantOutcome::default(), pairs: 0 }
    }
}

/// What running cases has cost; `pairs` counts pairs of a case and a test.
#[derive(Debug, Clone, Copy, Default)]
pub struct RunCost {
    /// Wall-clock time.
    pub run: Duration,
    /// Runs, each of a mutant, or of the original, on a test.
    pub executions: u64,
    /// Pairs of a case and a test that were run.
    pub pairs: u64,
    /// Those of them that shared a launch with others.
    pub batched_pairs: u64,
}

impl RunCost {
    /// Adds the figures of `other`.
    pub fn add(&mut self, other: RunCost) {
        self.run += other.run;
        self.executions += other.executions;
        self.pairs += other.pairs;
        self.batched_pairs += other.batched_pairs;
    }
}

/// What runs cases, and what that has cost.
pub struct Device<'e> {
    /// What runs them.
    pub executor: &'e mut dyn Executor,
    /// The module on it.
    pub program: ProgramId,
    /// What it has cost so far.
    pub cost: RunCost,
}

/// Returns whether a case is to be run on baseline `t`.
pub fn is_wanted(case: &Case, t: usize, settings: &RunSettings) -> bool {
    case.scenario.tests[t] && (settings.full_matrix || !case.outcome.is_decided())
}
