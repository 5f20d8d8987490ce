//! `kassay mutate`.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Header;
use crate::suite::schedule::Schedule;

/// How well a suite finds faults.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MutateResult {
    #[serde(flatten)]
    pub header: Header,
    /// Wall-clock seconds.
    pub elapsed_s: f64,
    /// Hash of all that decides ids and verdicts: results with the same can be merged, a journal with the same resumed.
    pub configuration: String,
    /// `k/n`, of a run on a part of the mutants.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shard: Option<String>,
    pub options: MutateOptions,
    /// By file: the hash of the text that locations refer to ([`crate::hash::of_text`]), so that reports can tell when it has
    /// changed since.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub texts: BTreeMap<String, String>,
    /// Of the first-order mutants, as are `operators`, `classes` and `lines`.
    pub summary: Summary,
    /// Of the pairs, with `--order 2`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pairs: Option<Summary>,
    /// By operator id.
    pub operators: BTreeMap<String, Summary>,
    /// By operator class.
    pub classes: BTreeMap<String, Summary>,
    /// By `file:line`, of those that have a place in the source.
    pub lines: BTreeMap<String, Summary>,
    pub timing: Timing,
    /// First-order mutants in the order of the source; with `--order 2` the pairs behind them.
    pub mutants: Vec<Mutant>,
    /// Tests as they went on the original.
    pub tests: Vec<TestOutcome>,
    /// With `--order 2`: survivors by the fate of their parts (LIU, table 8.4). Not in a shard's result: the parts may be in
    /// another.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub second_order: Option<SecondOrder>,
    /// What the simulator could not judge of mutants of synchronisation: their verdicts are the device's.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_simulated: Vec<NotSimulated>,
    /// What the reader should know besides, a sentence each.
    pub notes: Vec<String>,
}

impl MutateResult {
    /// What `schema` says.
    pub const SCHEMA: &'static str = "kassay.mutate/1";
}

/// The options that verdicts depend on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MutateOptions {
    /// Ids of the operators used, or the name of a preset.
    pub operators: String,
    pub order: u32,
    /// How many mutants were drawn, if not all.
    pub sample: Option<u64>,
    /// As asked for; null: 1, and 3 where atomics, barriers or local memory are in play.
    pub repeats: Option<u32>,
    pub full_matrix: bool,
    /// Fuel and time as a multiple of the original's.
    pub timeout_factor: f64,
    /// `schemata` or `rebuild`.
    pub strategy: String,
    /// `raw`, `O0`, `O1`, `O2`: the form of the IR that mutants are made in.
    pub ir_level: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// Outputs differed from the reference in all repeats of some test.
    Killed,
    Survived,
    /// Out of fuel, or over the time limit.
    Timeout,
    /// An access out of bounds, a division by zero, a dead worker, a refused launch.
    RuntimeError,
    /// The device refused the mutated kernel.
    CompileError,
    /// No test reaches it.
    NoCoverage,
    /// Not to be run: see `reason`.
    Ignored,
    /// Of another shard, or not yet run.
    Pending,
    /// No test kills it, but some repeat differed.
    Undecided,
    /// Proved to behave like the original (for launches in bounds).
    Equivalent,
}

/// A mutant and its fate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Mutant {
    /// Stable: same source and options, same ids. Of a pair: its parts' joined by ` + `.
    pub id: String,
    /// Operator id; of a pair: both, joined by `+`.
    pub operator: String,
    pub function: String,
    pub original: String,
    pub replacement: String,
    pub location: Location,
    /// Where it is spelt, if that is in a macro's body.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spelling: Option<Location>,
    pub status: Status,
    /// Names of the tests that killed it, in the suite's order; without `--full-matrix` at most one. Those that ended in
    /// a fault or time-out too.
    pub killed_by: Vec<String>,
    /// Names of the tests that reach it.
    pub covered_by: Vec<String>,
    /// The id of the mutant it equals; its status is then that one's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duplicate_of: Option<String>,
    /// Why it has its status: the first difference, the fault with its place, the proof.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The simulator's schedule under which the first test of `killed_by` detects it, where the simulator decided and the schedule is
    /// not the natural one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schedule: Option<Schedule>,
    /// Ids of the two parts of a pair.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<String>,
}

/// A range of the source, `end` behind its last character; lines and columns from 1, 0 where unknown.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
pub struct Location {
    pub file: String,
    pub start: Position,
    pub end: Position,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
pub struct Position {
    pub line: u32,
    pub column: u32,
}

/// Numbers of mutants by status, which add up to `total`; a duplicate counts in `duplicate` whatever its status.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Summary {
    pub total: u64,
    pub killed: u64,
    pub survived: u64,
    pub timeout: u64,
    pub runtime_error: u64,
    pub compile_error: u64,
    pub no_coverage: u64,
    pub undecided: u64,
    pub equivalent: u64,
    pub duplicate: u64,
    pub ignored: u64,
    pub pending: u64,
    /// Percent: (killed + runtime-error + timeout) / (total − equivalent − duplicate − ignored − compile-error − pending).
    /// Null where nothing is left to divide by.
    pub score: Option<f64>,
    /// The same with time-outs neither detected nor counted.
    pub score_without_timeouts: Option<f64>,
    /// Percent of mutants that some test reaches (LIU 6.1.1), duplicates, ignored and pending ones left out.
    pub mutation_coverage: Option<f64>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Timing {
    /// Weaving, lowering and the device's builds, seconds.
    pub build_s: f64,
    /// Runs of the original, of infection probes and of mutants.
    pub run_s: f64,
    /// The search for equivalents and duplicates.
    pub equivalence_s: f64,
    /// Programs built on the device.
    pub builds: u64,
    /// Runs of a mutant or the original on a test, repeats counted.
    pub executions: u64,
    /// Pairs of a mutant and a test that reaches it, not run because the mutant's value never differed.
    pub pruned_pairs: u64,
    /// Pairs of a mutant and a test that were run.
    pub pairs: u64,
    /// Mutants in each module built.
    pub module_sizes: Vec<u64>,
    /// Pairs run by launches that hold several.
    pub batched_pairs: u64,
    /// Modules in which the device's compiler changed what the original computes; their mutants were run unoptimised.
    #[serde(default)]
    pub distrusted_modules: u64,
    /// Kernel time of the original by test, seconds, medians.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub originals_s: BTreeMap<String, f64>,
}

/// How a test went on the original.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TestOutcome {
    pub name: String,
    pub status: TestStatus,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// First-order mutants that it kills, that it reaches; duplicates are not counted again.
    pub kills: u64,
    pub reaches: u64,
}

/// Whether a test judges mutants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TestStatus {
    Used,
    /// The original fails the test, or is not stable on it.
    Dropped,
}

impl TestStatus {
    /// Returns the word that results and reports use.
    pub fn name(self) -> &'static str {
        match self {
            TestStatus::Used => "used",
            TestStatus::Dropped => "dropped",
        }
    }
}

/// A test, or a mutant, of which the simulator says nothing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NotSimulated {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub test: Option<String>,
    /// Its id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mutant: Option<String>,
    pub reason: String,
}

/// LIU's table 8.4: surviving pairs by their parts. As there, what no test detects survives, also where it is known to be
/// equivalent; of a part the same, but for the equivalents, which have columns of their own.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SecondOrder {
    /// Without duplicates, and without those that were not run (ignored, compile-error, pending).
    pub pairs: u64,
    pub survived: u64,
    pub by_two_equivalent: u64,
    pub by_two_survived: u64,
    pub by_equivalent_and_survived: u64,
    pub by_one_equivalent_or_survived: u64,
    /// Both parts are detected, and yet the pair survives.
    pub others: u64,
}
