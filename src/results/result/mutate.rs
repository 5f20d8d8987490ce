//! The result of `kassay mutate`.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use kassay_suite::schedule::Schedule;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Header;

/// The name of a test, of which rows of many mutants share one copy.
pub type TestName = Arc<str>;

/// Names of tests in suite order, of which rows of many mutants share one list.
pub type TestNames = Arc<[TestName]>;

/// The result of `kassay mutate`: how well a suite detects faults.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MutateResult {
    /// The fields that every result begins with.
    #[serde(flatten)]
    pub header: Header,
    /// Wall-clock seconds.
    pub elapsed_s: f64,
    /// Hash of everything that determines ids and verdicts; shards are merged and journals resumed only if it agrees.
    pub configuration: String,
    /// `k/n`, if only a part of the mutants was run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shard: Option<String>,
    /// The options that verdicts depend on.
    pub options: MutateOptions,
    /// By file: hash of the text that locations refer to, so that reports can detect later changes (FNV-1a, 64 bits,
    /// in hexadecimal).
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub texts: BTreeMap<String, String>,
    /// Covers the first-order mutants, as do `operators`, `classes` and `lines`.
    pub summary: Summary,
    /// Summary of the pairs, with `--order 2`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pairs: Option<Summary>,
    /// Summaries by operator id.
    pub operators: BTreeMap<String, Summary>,
    /// Summaries by operator class.
    pub classes: BTreeMap<String, Summary>,
    /// Summaries by `file:line`, for mutants with a source location.
    pub lines: BTreeMap<String, Summary>,
    /// Times and amounts of work.
    pub timing: Timing,
    /// First-order mutants in source order, followed by the pairs with `--order 2`.
    pub mutants: Vec<Mutant>,
    /// Outcomes of the tests on the original.
    pub tests: Vec<TestOutcome>,
    /// With `--order 2`: surviving pairs by the statuses of their parts (LIU, table 8.4). Absent in a shard's result,
    /// because the parts may belong to another shard.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub second_order: Option<SecondOrder>,
    /// Tests and synchronisation mutants that the simulator could not judge; the device's verdict stands for them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_simulated: Vec<NotSimulated>,
    /// With `--level source`: what no edit of the source's text mutates.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub excluded: Vec<Excluded>,
    /// What a later run compares to take fates over from this one; absent where that is not possible.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub basis: Option<Basis>,
    /// How it compares with an earlier result (`--baseline`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub baseline: Option<Comparison>,
    /// What is not as it was asked for: thresholds that were missed, and the like, a sentence each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub complaints: Vec<String>,
    /// The solver that proofs come from, with its version: another one may prove more or less.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub solver: Option<String>,
    /// Further remarks for the reader, a sentence each.
    pub notes: Vec<String>,
}

/// Hashes of what decides the fates of mutants, by which a later run knows what has not changed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Basis {
    /// The code of the kernel with everything that it calls, without debug information.
    pub code: String,
    /// The options that can change a verdict.
    pub options: String,
    /// By name: what a test launches and expects, with its tolerances.
    pub tests: BTreeMap<String, String>,
}

/// How a result compares with that of an earlier run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Comparison {
    /// The file of the earlier result.
    pub file: String,
    /// Number of mutants whose fate is that of the earlier result, without a run (`mutants[].taken_over`).
    pub taken_over: u64,
    /// Why nothing could be taken over, or not everything.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why_not: Option<String>,
    /// Mutants that no test detects and that the earlier result does not have, or has as detected.
    pub new_survivors: Vec<NewSurvivor>,
}

/// A mutant that survives and did not do so in an earlier result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NewSurvivor {
    /// Its id, in this result.
    pub id: String,
    /// Its status in the earlier result; absent if it was not there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<Status>,
}

impl MutateResult {
    /// The value of `schema`.
    pub const SCHEMA: &'static str = "kassay.mutate/1";
}

/// The options that verdicts depend on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MutateOptions {
    /// Ids of the operators used, or the name of a preset.
    pub operators: String,
    /// 1 for single mutants only, 2 for pairs in addition.
    pub order: u32,
    /// Number of mutants drawn, if not all were used.
    pub sample: Option<u64>,
    /// What changed the lines whose mutants were made, such as a diff or `git diff REV`; absent: mutants of all lines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changes: Option<String>,
    /// Value of `--repeats`; null: 1, or 3 for kernels with atomics, barriers or local memory.
    pub repeats: Option<u32>,
    /// Whether each mutant was run on every test that reaches it, even after a test had killed it (`--full-matrix`).
    pub full_matrix: bool,
    /// Limit on fuel and time, as a multiple of the original's.
    pub timeout_factor: f64,
    /// `schemata` or `rebuild`.
    pub strategy: String,
    /// `raw`, `O0`, `O1`, `O2` or `O3`: optimisation level of the IR in which mutants are made.
    pub ir_level: String,
    /// `source`: the text of the source; `canonical`: operators of the source on the IR; `ir:raw`, `ir:O1`, `ir:O2` or
    /// `ir:O3`: operators of the IR.
    #[serde(default = "canonical")]
    pub level: String,
}

/// The level of results that name none.
pub(super) fn canonical() -> String {
    "canonical".to_owned()
}

/// A place that an operator does not mutate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Excluded {
    /// Operator id.
    pub operator: String,
    /// Name of the function that contains it.
    pub function: String,
    /// Range of what is not mutated. Lines are 0 if unknown.
    pub location: Location,
    /// Why.
    pub reason: String,
}

/// The status of a mutant (docs/mutate.md).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// Outputs differed from the reference in all repeats of some test.
    Killed,
    /// Reached by tests, but not distinguished from the original by any.
    Survived,
    /// Ran out of fuel or exceeded the time limit.
    Timeout,
    /// An access out of bounds, a division by zero, a dead worker, or a refused launch.
    RuntimeError,
    /// The device refused the mutated kernel.
    CompileError,
    /// No test reaches it.
    NoCoverage,
    /// Not run on purpose; see `reason`.
    Ignored,
    /// Belongs to another shard, or not yet run.
    Pending,
    /// Not killed by any test, but outputs differed in some repeat.
    Undecided,
    /// Proved to behave like the original in launches that stay in bounds.
    Equivalent,
    /// Reached by tests, and proved to behave like the original in launches with the sizes and the arguments by value
    /// of these tests, whatever buffers and images contain.
    EquivalentForLaunches,
}

/// A mutant and its status.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Mutant {
    /// Stable id: the same source and options give the same ids. For a pair: the ids of its parts, joined by ` + `.
    pub id: String,
    /// Operator id; for a pair both ids, joined by `+`.
    pub operator: String,
    /// Name of the function that contains it; for a launch mutant the kernel, for a pair the function of its first
    /// part.
    pub function: String,
    /// Source text that is changed; may be empty.
    pub original: String,
    /// Replacement text; empty for a deletion.
    pub replacement: String,
    /// Range of `original`, in a macro that of its expansion; for a pair that of its first part. Lines are 0 if
    /// unknown.
    pub location: Location,
    /// Spelling location, if it lies in the body of a macro.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spelling: Option<Location>,
    /// What the tests or a proof showed of it.
    pub status: Status,
    /// Names of the tests that detected it, including by a fault or a time-out, in suite order; at most one
    /// without `--full-matrix`.
    #[schemars(with = "Vec<TestName>")]
    pub killed_by: TestNames,
    /// Names of the tests that reach it.
    #[schemars(with = "Vec<TestName>")]
    pub covered_by: TestNames,
    /// Id of the mutant that it equals, whose status it takes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duplicate_of: Option<String>,
    /// Reason for the status: the first difference, the fault with its location, or the proof.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Schedule of the simulator under which the first test of `killed_by` detects it, if the simulator decided and the
    /// schedule is not the natural one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schedule: Option<Schedule>,
    /// Ids of the two parts of a pair.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<String>,
    /// For a host program's kernel: what decided. Absent of duplicates and of mutants that cannot run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decided_by: Option<DecidedBy>,
    /// Hash of what it changes, in code with the hash `basis.code`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edit: Option<String>,
    /// Whether its fate was taken over from an earlier result: no test was run on it.
    #[serde(default, skip_serializing_if = "is_false")]
    pub taken_over: bool,
}

/// What decided about a mutant of a host program's kernel.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DecidedBy {
    /// A run of the program with it.
    #[default]
    Process,
    /// All launches of the program: it leaves the same bytes as the original in each.
    Launches,
    /// A run of the original that tells which mutants are reached, and which change a value.
    Reach,
    /// A proof that it is equivalent to the original.
    Proof,
}

/// A source range; `end` is just past its last character. Lines and columns count from 1; 0 if unknown.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
pub struct Location {
    /// Path of the file; empty if unknown.
    pub file: String,
    /// Position of the first character.
    pub start: Position,
    /// Position just past the last character.
    pub end: Position,
}

/// A position in a source file; columns are in bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
pub struct Position {
    /// Line, from 1; 0 if unknown.
    pub line: u32,
    /// Column in bytes, from 1; 0 if unknown.
    pub column: u32,
}

/// `line:column`, as far as it is known.
impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        kassay_base::error::Position { line: self.line, column: self.column }.fmt(f)
    }
}

/// Numbers of mutants by status, which add up to `total`. A duplicate counts only in `duplicate`, whatever its status.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Summary {
    /// All mutants, including duplicates.
    pub total: u64,
    /// Mutants for which an output differed from the reference in all repeats of some test.
    pub killed: u64,
    /// Mutants that tests reach and none distinguishes from the original.
    pub survived: u64,
    /// Mutants that ran out of fuel or exceeded the time limit.
    pub timeout: u64,
    /// Mutants with an access out of bounds, a division by zero, barrier divergence on the simulator, a dead worker or
    /// a refused launch.
    pub runtime_error: u64,
    /// Mutants whose kernel the device refused.
    pub compile_error: u64,
    /// Mutants that no test reaches.
    pub no_coverage: u64,
    /// Mutants not killed by any test, although outputs differed in some repeat.
    pub undecided: u64,
    /// Mutants proved to behave like the original in launches that stay in bounds.
    pub equivalent: u64,
    /// Mutants proved to behave like the original in launches of the tests' sizes, whatever buffers and images contain.
    #[serde(default)]
    pub equivalent_for_launches: u64,
    /// Mutants that equal another one (`duplicate_of`).
    pub duplicate: u64,
    /// Mutants that were not run on purpose, such as launches beyond the limits of the device.
    pub ignored: u64,
    /// Mutants of other shards, or not yet run.
    pub pending: u64,
    /// Percent: (killed + runtime-error + timeout) /
    /// (total − equivalent − equivalent-for-launches − duplicate − ignored − compile-error − pending). Null if the
    /// divisor is 0.
    pub score: Option<f64>,
    /// The same with time-outs excluded from both numbers.
    pub score_without_timeouts: Option<f64>,
    /// Percent of mutants that some test reaches (LIU 6.1.1), without duplicates, ignored and pending ones.
    pub mutation_coverage: Option<f64>,
}

/// Times and amounts of work.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Timing {
    /// Seconds for instrumentation, lowering and builds on the device.
    pub build_s: f64,
    /// Seconds for runs of the original, of infection probes and of mutants.
    pub run_s: f64,
    /// Seconds for the search for equivalent and duplicate mutants, but for those in which the device ran mutants
    /// meanwhile.
    pub equivalence_s: f64,
    /// Seconds in which the simulator judged mutants whose outcome on a device depends on chance.
    #[serde(default)]
    pub simulator_s: f64,
    /// Programs built on the device.
    pub builds: u64,
    /// Runs of a mutant or of the original on a test, including repeats.
    pub executions: u64,
    /// Mutant-test pairs not run because the test reaches the mutant but its value never differs from the original's.
    pub pruned_pairs: u64,
    /// Mutant-test pairs that were run.
    pub pairs: u64,
    /// Mutants of a host program's kernel that its launches decided, without a run of the program.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub by_launches: u64,
    /// Number of mutants in each module built.
    pub module_sizes: Vec<u64>,
    /// Mutant-test pairs run in launches that hold several.
    pub batched_pairs: u64,
    /// Modules in which the device's compiler changed the original's outputs; their mutants were run unoptimised.
    #[serde(default)]
    pub distrusted_modules: u64,
    /// By test: kernel time of the original in seconds, median of its runs.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub originals_s: BTreeMap<String, f64>,
}

fn is_false(value: &bool) -> bool {
    !*value
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// The outcome of a test on the original.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TestOutcome {
    /// Name of the test.
    pub name: String,
    /// Whether it judges mutants.
    pub status: TestStatus,
    /// Why it was dropped; absent if it is used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// First-order mutants that it kills, without duplicates.
    pub kills: u64,
    /// First-order mutants that it reaches, without duplicates.
    pub reaches: u64,
}

/// Whether a test judges mutants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TestStatus {
    /// The original completes it with stable outputs, which meet its expectations if it has any.
    Used,
    /// The original fails the test, or its outputs are not stable.
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

/// A test or a mutant that the simulator could not judge.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NotSimulated {
    /// Name of the test; absent if it is a mutant that could not be judged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub test: Option<String>,
    /// Id of the mutant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mutant: Option<String>,
    /// Why the simulator could not judge it.
    pub reason: String,
}

/// LIU's table 8.4: surviving pairs by their parts. As there, a pair that no test detects survives, even if it is known
/// to be equivalent; so does a part, but equivalent parts have columns of their own.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SecondOrder {
    /// Pairs, without duplicates and those that were not run (ignored, compile-error, pending).
    pub pairs: u64,
    /// Pairs that no test detects, including equivalent ones.
    pub survived: u64,
    /// Surviving pairs of which both parts are equivalent.
    pub by_two_equivalent: u64,
    /// Surviving pairs of which both parts survive.
    pub by_two_survived: u64,
    /// Surviving pairs of which one part is equivalent and the other survives.
    pub by_equivalent_and_survived: u64,
    /// Surviving pairs of which one part is equivalent or survives and the other is detected.
    pub by_one_equivalent_or_survived: u64,
    /// The pair survives although both parts are detected.
    pub others: u64,
}
