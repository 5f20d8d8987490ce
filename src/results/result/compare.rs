//! The result of `kassay compare`.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::mutate::{Status, TestStatus};
use super::{Device, Header};

/// The result of `kassay compare`: mutants of different levels, judged by the same tests.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CompareResult {
    /// The fields that every result begins with. `kernel` and `source` name all kernels, joined by commas.
    #[serde(flatten)]
    pub header: Header,
    /// Wall-clock seconds.
    pub elapsed_s: f64,
    /// Hash of the options and suites; shards are merged and journals resumed only if it agrees.
    pub configuration: String,
    /// `k/n`, if only a part of the suites was compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shard: Option<String>,
    /// The options that the numbers depend on.
    pub options: CompareOptions,
    /// What was found for each kernel, in the order of the suites.
    pub kernels: Vec<KernelComparison>,
    /// All kernels together.
    pub total: Total,
    /// Suites that could not be compared, and why.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failed: Vec<FailedSuite>,
    /// Further remarks for the reader, a sentence each.
    pub notes: Vec<String>,
}

impl CompareResult {
    /// The value of `schema`.
    pub const SCHEMA: &'static str = "kassay.compare/1";
}

/// The options that the numbers depend on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CompareOptions {
    /// The levels, in the order in which they are compared.
    pub levels: Vec<String>,
    /// Tests that were to be generated in addition to each suite's.
    pub tests: u64,
    /// Random suites that each estimate rests on.
    pub samples: u32,
}

/// A suite that could not be compared.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FailedSuite {
    /// The suite's path, as given.
    pub suite: String,
    /// Why not.
    pub error: String,
}

/// A kernel: its levels, one by one and against each other.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct KernelComparison {
    /// Name of the kernel function.
    pub kernel: String,
    /// Path of the kernel's file.
    pub source: String,
    /// Path of the suite, as given.
    pub suite: String,
    /// What ran mutants and faulty variants.
    #[serde(default)]
    pub device: Option<Device>,
    /// The pool of tests, in the order to which the positions in `killed_by` refer.
    pub tests: Vec<PoolTest>,
    /// For each level a row for each concept that has mutants, after one for all of them (`concept` is `all`).
    pub levels: Vec<LevelRow>,
    /// Levels that this kernel does not have.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<LeftOut>,
    /// Mutants of different levels that are the same program.
    pub twins: Vec<Twins>,
    /// How tests that suffice for one level do on another, for each ordered pair of levels.
    pub cross: Vec<CrossRow>,
    /// How the scores of two levels go together over random sub-suites, for each pair of levels and each size.
    pub correlation: Vec<CorrelationRow>,
    /// The same within all sizes together: defined if it is at one of them.
    #[serde(default)]
    pub correlation_within_sizes: Vec<LevelCorrelationWithin>,
    /// With `--faults`: the faulty variants of the kernel, and which tests find them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<FaultRow>,
    /// With `--faults`: how scores and coverage go together with the share of the faults that a random sub-suite finds,
    /// for each measure and size.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub against_faults: Vec<FaultCorrelationRow>,
    /// The same within all sizes together: defined if it is at one of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub against_faults_within_sizes: Vec<FaultCorrelationWithin>,
    /// Coverage metrics that could not be measured for `against_faults`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub metrics_left_out: Vec<MetricLeftOut>,
    /// The mutants of each level.
    pub mutants: Vec<ComparedMutant>,
}

/// A level that a kernel does not have.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LeftOut {
    /// The level.
    pub level: String,
    /// Why not.
    pub reason: String,
}

/// A coverage metric that could not be measured.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MetricLeftOut {
    /// The metric.
    pub metric: String,
    /// Why not.
    pub reason: String,
}

/// A variant of the kernel that has a fault.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FaultRow {
    /// Name of the variant's file, without the extension.
    pub fault: String,
    /// Positions of the tests that find it: the variant faults, or an output differs from the original's.
    pub found_by: Vec<u32>,
}

/// How a measure of random sub-suites of one size goes together with the share of the faults that they find.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FaultCorrelationRow {
    /// A level, for its score, or a coverage metric.
    pub measure: String,
    /// Tests in each sub-suite. It is fixed, because larger suites find more and have higher scores, whatever they
    /// test.
    pub tests: u64,
    /// Sub-suites drawn.
    pub suites: u64,
    /// The mean percentage of the faults that they find.
    pub found: f64,
    /// Pearson's correlation; null if one side is the same for all sub-suites.
    pub pearson: Option<Interval>,
    /// Kendall's τ-b, null as above.
    pub kendall: Option<Interval>,
}

/// How a measure of random sub-suites goes together with the share of the faults that they find, within sizes: each
/// sub-suite is compared with others of its size only.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FaultCorrelationWithin {
    /// A level, for its score, or a coverage metric.
    pub measure: String,
    /// Sizes of sub-suites.
    pub sizes: u64,
    /// Sizes at which both sides vary, so that the correlation at that size is defined.
    pub defined: u64,
    /// Sub-suites drawn, of all sizes.
    pub suites: u64,
    /// Pearson's partial correlation given the size; null if one side varies at no size.
    pub pearson: Option<Interval>,
    /// Kendall's τ-b with the size as a blocking variable (Korn 1984), null as above.
    pub kendall: Option<Interval>,
}

/// A test of the pool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PoolTest {
    /// The test's name.
    pub name: String,
    /// Where it comes from.
    pub origin: TestOrigin,
    /// Whether it judges mutants at every level.
    pub status: TestStatus,
    /// Why it was dropped; absent if it is used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// Where a test comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TestOrigin {
    /// The suite that was given.
    Suite,
    /// It was generated, with `--tests`.
    Generated,
}

/// The mutants of a level, or those of one concept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LevelRow {
    /// The level's name.
    pub level: String,
    /// The concept, or `all`.
    pub concept: String,
    /// All mutants.
    pub generated: u64,
    /// Those that do not compile.
    pub compile_error: u64,
    /// Those that were not run on purpose.
    pub ignored: u64,
    /// Those that are proved to behave like the original.
    pub equivalent: u64,
    /// Mutants proved to behave like the original in launches of the tests' sizes, whatever buffers and images contain.
    #[serde(default)]
    pub equivalent_for_launches: u64,
    /// Those that equal another one of the level.
    pub duplicate: u64,
    /// Those for which some test's output differs.
    pub killed: u64,
    /// Those that ran out of fuel or time.
    pub timeout: u64,
    /// Those that fault.
    pub runtime_error: u64,
    /// Those that tests reach and none detects.
    pub survived: u64,
    /// Those whose output differed in some repeats only.
    pub undecided: u64,
    /// Those that no test reaches.
    pub no_coverage: u64,
    /// Percent, as the score of `kassay mutate`; null if there is nothing to detect.
    pub score: Option<f64>,
    /// Distinguished mutants: one of each class that the same tests detect.
    pub distinguished: u64,
    /// Minimal mutants: one of each class whose detecting tests are no proper superset of another's.
    pub minimal: u64,
    /// Disjoint mutants, by the algorithm of Papadakis et al. 2016. Always as many as `minimal`.
    pub disjoint: u64,
    /// Surface mutants (Gopinath et al. 2016): by their definition the minimal ones.
    pub surface: u64,
    /// Mutants that are detected by at most 2.5 % of the tests (by one, if there are fewer than 80).
    pub hard: u64,
    /// Only for all concepts: what is mutated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<CodeSize>,
    /// Only for all concepts: what the mutants cost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<Cost>,
}

/// The size of the kernel at a level, its helper functions included: at the levels of the source and the canonical
/// form, that of the canonical form.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CodeSize {
    /// Lines with code: those of the metric `line`.
    pub lines: u64,
    /// Instructions of LLVM IR.
    pub instructions: u64,
}

/// What the mutants of a level cost.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Cost {
    /// Seconds to compile the kernel and find its mutants, to weave, and to build on the device.
    pub build_s: f64,
    /// Seconds for runs.
    pub run_s: f64,
    /// Seconds for the search for equivalent and duplicate mutants.
    pub equivalence_s: f64,
    /// Wall-clock seconds in all.
    pub elapsed_s: f64,
    /// Programs built on the device.
    pub builds: u64,
    /// Runs of a mutant or of the original on a test.
    pub executions: u64,
}

/// Mutants of different levels that are the same program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Twins {
    /// One level.
    pub level: String,
    /// The mutant there.
    pub mutant: String,
    /// The other level.
    pub other_level: String,
    /// The mutant there.
    pub other_mutant: String,
}

/// A mean with its 95 % interval by the percentile bootstrap.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Interval {
    /// The estimate.
    pub mean: f64,
    /// Lower end; null where resamples leave it undefined.
    pub low: Option<f64>,
    /// Upper end; null as above.
    pub high: Option<f64>,
}

/// How tests that suffice for one level do on another.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CrossRow {
    /// The level whose detectable mutants the suites all detect.
    pub adequate_on: String,
    /// The level whose mutants they are judged by.
    pub scored_on: String,
    /// The mean percentage of the other level's detectable mutants that such a suite detects; null if there are none.
    pub mean: Option<f64>,
    /// Lower end of its 95 % interval.
    pub low: Option<f64>,
    /// Upper end.
    pub high: Option<f64>,
    /// The mean number of tests in such a suite.
    pub suite_size: Interval,
    /// Percent of the other level's minimal mutants that some minimal mutant of the first subsumes; null if there are
    /// none.
    pub minimal_subsumed: Option<f64>,
}

/// How two measures go together over random sub-suites of one size.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CorrelationRow {
    /// One level.
    pub level: String,
    /// The other level.
    pub other_level: String,
    /// Tests in each sub-suite.
    pub tests: u64,
    /// Sub-suites drawn.
    pub suites: u64,
    /// Pearson's correlation of the scores; null if one of them is the same for all sub-suites.
    pub pearson: Option<Interval>,
    /// Kendall's τ-b, null as above.
    pub kendall: Option<Interval>,
}

/// How the scores of two levels go together within sizes: each sub-suite is compared with others of its size only.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LevelCorrelationWithin {
    /// One level.
    pub level: String,
    /// The other level.
    pub other_level: String,
    /// Sizes of sub-suites.
    pub sizes: u64,
    /// Sizes at which both scores vary, so that the correlation at that size is defined.
    pub defined: u64,
    /// Sub-suites drawn, of all sizes.
    pub suites: u64,
    /// Pearson's partial correlation given the size; null if one score varies at no size.
    pub pearson: Option<Interval>,
    /// Kendall's τ-b with the size as a blocking variable (Korn 1984), null as above.
    pub kendall: Option<Interval>,
}

/// A mutant of a level.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ComparedMutant {
    /// The level.
    pub level: String,
    /// Its id there.
    pub id: String,
    /// The operator's id.
    pub operator: String,
    /// The operator's concept.
    pub concept: String,
    /// Path of the file; empty if unknown.
    pub file: String,
    /// Line; 0 if unknown.
    pub line: u32,
    /// What the tests or a proof showed.
    pub status: Status,
    /// Id of the mutant of the level that it equals.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duplicate_of: Option<String>,
    /// Positions of the tests that detect it.
    pub killed_by: Vec<u32>,
    /// Whether it is one of the level's minimal mutants.
    pub is_minimal: bool,
    /// Whether it is one of the level's hard mutants.
    pub is_hard: bool,
}

/// All kernels together.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Total {
    /// Kernels that were compared.
    pub kernels: u64,
    /// Rows like those of a kernel, with sums; scores are those of the sums.
    pub levels: Vec<LevelRow>,
    /// For each ordered pair of levels the means of the kernels' `mean` and `minimal_subsumed`.
    pub cross: Vec<TotalCross>,
    /// Numbers of twins, by the two levels' names joined by ` = `.
    pub twins: BTreeMap<String, u64>,
    /// For each pair of levels the means of the kernels' correlations within sizes.
    #[serde(default)]
    pub correlation: Vec<TotalCorrelation>,
    /// For each measure the means of the kernels' correlations within sizes with finding faults.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub against_faults: Vec<TotalFaultCorrelation>,
}

/// How the scores of two levels go together, over all kernels.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TotalCorrelation {
    /// One level.
    pub level: String,
    /// The other level.
    pub other_level: String,
    /// Kernels with both levels.
    pub kernels: u64,
    /// Those of which the correlation is defined, which the means are of.
    pub defined: u64,
    /// Pearson's, with its 95 % interval over kernels.
    pub pearson: Option<Interval>,
    /// Kendall's.
    pub kendall: Option<Interval>,
}

/// How a measure goes together with finding faults, over all kernels.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TotalFaultCorrelation {
    /// A level, for its score, or a coverage metric.
    pub measure: String,
    /// Kernels with faulty variants and this measure.
    pub kernels: u64,
    /// Those of which the correlation is defined, which the means are of.
    pub defined: u64,
    /// Pearson's, with its 95 % interval over kernels.
    pub pearson: Option<Interval>,
    /// Kendall's.
    pub kendall: Option<Interval>,
}

/// How tests that suffice for one level do on another, over all kernels.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TotalCross {
    /// The level whose detectable mutants the suites all detect.
    pub adequate_on: String,
    /// The level whose mutants they are judged by.
    pub scored_on: String,
    /// Kernels that the means are of.
    pub kernels: u64,
    /// The mean over kernels, in percent, with its 95 % interval over kernels.
    pub score: Option<Interval>,
    /// The mean size of a suite.
    pub suite_size: Option<Interval>,
    /// The mean percentage of minimal mutants that are subsumed.
    pub minimal_subsumed: Option<Interval>,
}
