//! The result of `kassay cover`.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::def_use::DefUse;
use super::mcdc::Mcdc;
use super::sum;
use super::{Header, Location, Ratio};

/// The result of `kassay cover`: how much of a kernel the tests of a suite cover.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CoverResult {
    /// The fields that every result begins with.
    #[serde(flatten)]
    pub header: Header,
    /// Wall-clock seconds.
    pub elapsed_s: f64,
    /// Coverage by metric, over all tests.
    pub coverage: Coverage,
    /// Def-use coverage; only with `--def-use`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub def_use: Option<DefUse>,
    /// One entry per outcome of each site, ordered by file, line and column.
    pub sites: Vec<SiteOutcome>,
    /// Decisions with their test vectors; only with `--mcdc`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mcdc: Option<Mcdc>,
    /// Outcomes of the tests, in suite order; of a host program, a test is a process in which the kernel ran.
    pub tests: Vec<TestOutcome>,
    /// Instrumented kernel time divided by the original's: the median over the tests. Null if no test completed.
    pub overhead: Option<f64>,
    /// What is not as it was asked for: thresholds that were missed, and the like, a sentence each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub complaints: Vec<String>,
    /// Further remarks for the reader, a sentence each.
    pub notes: Vec<String>,
}

impl CoverResult {
    /// The value of `schema`.
    pub const SCHEMA: &'static str = "kassay.cover/1";
}

/// Coverage by metric, over all tests.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Coverage {
    /// Outcomes of `if`, `switch` and `?:`.
    pub branch: Ratio,
    /// Outcomes of the operands of `&&` and `||`.
    pub condition: Ratio,
    /// Loops, by how often their bodies were executed.
    #[serde(rename = "loop")]
    pub loops: LoopCoverage,
    /// Barriers; covered if in some work-group every work-item executed it.
    pub barrier: Ratio,
    /// Lines with code.
    pub line: Ratio,
    /// Statements; expressions, jumps and heads of control statements count, declarations do not.
    pub statement: Ratio,
    /// Regions of code between branch points (LIU 5.2).
    pub least_branch: Ratio,
    /// Conditions whose independent effect is shown (MC/DC); only with `--mcdc`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mcdc: Option<Ratio>,
    /// Pairs of a definition and a use, of all kinds; only with `--def-use`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub def_use: Option<Ratio>,
    /// Those pairs in which one work-item uses what another one has defined; only with `--def-use`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub def_use_inter_item: Option<Ratio>,
    /// Percent; only with `--counts`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub average_statement: Option<f64>,
}

/// Loops covered by class (PENG 4.2.1.2), and the numbers of loops to which the classes apply.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LoopCoverage {
    /// Number of loops.
    pub total: u64,
    /// Loops whose body a work-item did not execute at all in some entry of the loop.
    pub zero: u64,
    /// Loops whose body a work-item executed exactly once in some entry of the loop.
    pub one: u64,
    /// Loops whose body a work-item executed more than once in some entry of the loop.
    pub many: u64,
    /// Loops whose condition became false for a work-item.
    pub boundary: u64,
    /// Numbers of loops to which `zero` and `boundary` apply; `one` and `many` apply to all.
    pub applicable: LoopApplicable,
}

/// Numbers of loops to which a class applies: `zero` not to a do-while, `boundary` not to a `for (;;)`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LoopApplicable {
    /// Loops that test their condition before the body, unless it is constantly true.
    pub zero: u64,
    /// Loops whose condition is not constantly true.
    pub boundary: u64,
}

impl LoopCoverage {
    /// Returns the applicable classes of all loops together, as `--fail-under loop=` counts them.
    pub fn classes(&self) -> Ratio {
        Ratio {
            covered: sum([self.zero, self.one, self.many, self.boundary]),
            total: sum([self.total, self.total, self.applicable.zero, self.applicable.boundary]),
        }
    }
}

/// What a metric measures.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Measure {
    /// Number of covered outcomes, and of all.
    Ratio(Ratio),
    /// It was not measured.
    Unmeasured,
    /// Mean over statements, in percent; `None` if it was not measured.
    Mean(Option<f64>),
}

impl Measure {
    /// Returns the value in percent; `None` if there is nothing to cover, or it was not measured.
    pub fn percent(self) -> Option<f64> {
        match self {
            Measure::Ratio(ratio) => ratio.percent(),
            Measure::Unmeasured => None,
            Measure::Mean(percent) => percent,
        }
    }
}

/// What is measured only if it is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    /// Counts of work-items (`--counts`).
    Counts,
    /// Test vectors (`--mcdc`).
    Vectors,
    /// Pairs of definitions and uses (`--def-use`).
    DefUse,
}

/// A coverage metric.
#[derive(Debug)]
pub struct Metric {
    /// Name in results and in `--fail-under`.
    pub key: &'static str,
    /// Name in reports.
    pub label: &'static str,
    /// Kind of the sites that it counts, as spelt in [`SiteOutcome::kind`]; `pair` for pairs of definitions and uses.
    pub site_kind: &'static str,
    /// What has to be measured for it besides the outcomes of sites.
    pub needs: Option<Need>,
    /// Reads it from a result.
    pub measure: fn(&Coverage) -> Measure,
}

/// All metrics, in the order in which reports show them.
pub const METRICS: [Metric; 11] = [
    metric("branch", "branch", "branch", |c| Measure::Ratio(c.branch)),
    metric("condition", "condition", "condition", |c| Measure::Ratio(c.condition)),
    metric("loop", "loop", "loop", |c| Measure::Ratio(c.loops.classes())),
    metric("barrier", "barrier", "barrier", |c| Measure::Ratio(c.barrier)),
    metric("line", "line", "line", |c| Measure::Ratio(c.line)),
    metric("statement", "statement", "statement", |c| Measure::Ratio(c.statement)),
    metric("least_branch", "least branch", "region", |c| Measure::Ratio(c.least_branch)),
    Metric {
        needs: Some(Need::Vectors),
        ..metric("mcdc", "MC/DC", "decision", |c| c.mcdc.map_or(Measure::Unmeasured, Measure::Ratio))
    },
    Metric {
        needs: Some(Need::DefUse),
        ..metric("def_use", "def-use", "pair", |c| c.def_use.map_or(Measure::Unmeasured, Measure::Ratio))
    },
    Metric {
        needs: Some(Need::DefUse),
        ..metric("def_use_inter_item", "def-use inter-item", "pair", |c| {
            c.def_use_inter_item.map_or(Measure::Unmeasured, Measure::Ratio)
        })
    },
    Metric {
        needs: Some(Need::Counts),
        ..metric("average_statement", "average statement", "statement", |c| Measure::Mean(c.average_statement))
    },
];

const fn metric(
    key: &'static str,
    label: &'static str,
    site_kind: &'static str,
    measure: fn(&Coverage) -> Measure,
) -> Metric {
    Metric { key, label, site_kind, needs: None, measure }
}

impl LoopCoverage {
    /// Returns the classes by name, each with the loops that show it, of those that have it.
    pub fn by_class(&self) -> [(&'static str, Ratio); 4] {
        let class = |covered, total| Ratio { covered, total };
        [
            ("zero", class(self.zero, self.applicable.zero)),
            ("one", class(self.one, self.total)),
            ("many", class(self.many, self.total)),
            ("boundary", class(self.boundary, self.applicable.boundary)),
        ]
    }
}

/// One outcome of one site.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SiteOutcome {
    /// Stable id of the site, shared by its outcomes.
    pub id: String,
    /// `branch`, `condition`, `loop`, `barrier`, `line`, `statement`, `region`.
    pub kind: String,
    /// Source construct: `if`, `switch`, `?:`, `for`, `while`, `do`, `&&`, `barrier` …; `branch` if it is unknown.
    pub construct: String,
    /// Name of the function that contains it.
    pub function: String,
    /// Its location; `line` 0: unknown.
    #[serde(flatten)]
    pub location: Location,
    /// For branches and conditions `true`, `false`, `case N` or `default`; for loops `zero`, `one`, `many` or
    /// `boundary`; for barriers `all`; for lines, statements and regions `executed`.
    pub outcome: String,
    /// Whether some work-item in some test reached it.
    pub covered: bool,
    /// By test name: 0 or 1; with `--counts` the number of work-items that reached it.
    pub hits_by_test: BTreeMap<String, u64>,
    /// For branches: work-groups in which more than one outcome was taken; for barriers: work-groups of which only some
    /// work-items arrived. Summed over the tests. Not known of host programs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub divergent_groups: Option<u64>,
}

/// How a test ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TestStatus {
    /// The original and the instrumented kernel ran to completion; what the test covers counts.
    Completed,
    /// One of the two kernels exceeded the time limit and was stopped; the test covers nothing.
    Timeout,
    /// One of the two kernels, or the driver, took its process down, or the device stopped it; the test covers nothing.
    Crashed,
    /// The device refused a launch, such as a work-group that is too large for it; the test covers nothing.
    Rejected,
    /// A check of the simulator failed.
    Faulted,
    /// The instrumented and the original kernel disagree.
    OutputDiffers,
}

impl TestStatus {
    /// Returns the word that results and reports use.
    pub fn name(self) -> &'static str {
        match self {
            TestStatus::Completed => "completed",
            TestStatus::Timeout => "timeout",
            TestStatus::Crashed => "crashed",
            TestStatus::Rejected => "rejected",
            TestStatus::Faulted => "faulted",
            TestStatus::OutputDiffers => "output-differs",
        }
    }
}

/// The outcome of one test.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TestOutcome {
    /// Name of the test.
    pub name: String,
    /// How the test ended.
    pub status: TestStatus,
    /// Explanation of a status other than `completed`; also the first allowed fault.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Number of work-items of the launch; of a host program, of its last one.
    pub work_items: u64,
    /// Number of work-groups of the launch, likewise.
    pub work_groups: u64,
    /// Kernel time of the original in seconds, median of the repeats.
    pub original_s: Option<f64>,
    /// Kernel time of the instrumented kernel in seconds, median of the repeats.
    pub instrumented_s: Option<f64>,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    /// Output of the kernel's printf.
    pub printf: String,
}
