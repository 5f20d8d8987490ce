//! `kassay cover`.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Header, Location, Ratio};

/// What `kassay cover` found: how much of a kernel its tests cover.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CoverResult {
    #[serde(flatten)]
    pub header: Header,
    /// Wall-clock seconds.
    pub elapsed_s: f64,
    pub coverage: Coverage,
    /// One entry per outcome of each site, in order of file, line, column.
    pub sites: Vec<SiteOutcome>,
    pub tests: Vec<TestOutcome>,
    /// Kernel time, instrumented / original: the median over the tests. Null if no test completed.
    pub overhead: Option<f64>,
    /// What the reader should know besides, a sentence each.
    pub notes: Vec<String>,
}

impl CoverResult {
    /// What `schema` says.
    pub const SCHEMA: &'static str = "kassay.cover/1";
}

/// Coverage by metric, all tests together.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Coverage {
    pub branch: Ratio,
    pub condition: Ratio,
    #[serde(rename = "loop")]
    pub loops: LoopCoverage,
    pub barrier: Ratio,
    pub line: Ratio,
    pub statement: Ratio,
    pub least_branch: Ratio,
    /// In percent, with `--counts`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub average_statement: Option<f64>,
}

/// Loops by class (PENG 4.2.1.2): how many show it, and to how many it applies.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LoopCoverage {
    pub total: u64,
    pub zero: u64,
    pub one: u64,
    pub many: u64,
    pub boundary: u64,
    pub applicable: LoopApplicable,
}

/// Loops that have the class at all: `zero` a do-while has not, `boundary` a `for (;;)` has not.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LoopApplicable {
    pub zero: u64,
    pub boundary: u64,
}

impl LoopCoverage {
    /// All applicable classes of all loops together, as `--fail-under loop=` counts them.
    pub fn classes(&self) -> Ratio {
        Ratio {
            covered: self.zero + self.one + self.many + self.boundary,
            total: self.total * 2 + self.applicable.zero + self.applicable.boundary,
        }
    }
}

/// What a metric measures.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Measure {
    /// What is covered, of how much.
    Ratio(Ratio),
    /// A mean over statements in percent; `None` where it was not measured.
    Mean(Option<f64>),
}

impl Measure {
    /// In percent; `None` if there is nothing to cover, or it was not measured.
    pub fn percent(self) -> Option<f64> {
        match self {
            Measure::Ratio(ratio) => ratio.percent(),
            Measure::Mean(percent) => percent,
        }
    }
}

/// A coverage metric.
#[derive(Debug)]
pub struct Metric {
    /// As results and `--fail-under` name it.
    pub key: &'static str,
    /// As reports name it.
    pub label: &'static str,
    /// The kind of the sites that it counts, as [`SiteOutcome::kind`] spells it.
    pub site_kind: &'static str,
    /// Whether it needs numbers of work-items (`--counts`).
    pub needs_counts: bool,
    /// Reads it from a result.
    pub measure: fn(&Coverage) -> Measure,
}

/// All metrics, in the order in which reports show them.
pub const METRICS: [Metric; 8] = [
    metric("branch", "branch", "branch", |c| Measure::Ratio(c.branch)),
    metric("condition", "condition", "condition", |c| Measure::Ratio(c.condition)),
    metric("loop", "loop", "loop", |c| Measure::Ratio(c.loops.classes())),
    metric("barrier", "barrier", "barrier", |c| Measure::Ratio(c.barrier)),
    metric("line", "line", "line", |c| Measure::Ratio(c.line)),
    metric("statement", "statement", "statement", |c| Measure::Ratio(c.statement)),
    metric("least_branch", "least branch", "region", |c| Measure::Ratio(c.least_branch)),
    Metric {
        needs_counts: true,
        ..metric("average_statement", "average statement", "statement", |c| Measure::Mean(c.average_statement))
    },
];

const fn metric(
    key: &'static str,
    label: &'static str,
    site_kind: &'static str,
    measure: fn(&Coverage) -> Measure,
) -> Metric {
    Metric { key, label, site_kind, needs_counts: false, measure }
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
    /// The site's stable id, shared by its outcomes.
    pub id: String,
    /// `branch`, `condition`, `loop`, `barrier`, `line`, `statement`, `region`.
    pub kind: String,
    /// The source construct: `if`, `switch`, `?:`, `for`, `while`, `do`, `&&`, `barrier` …; `branch` where the IR does not tell.
    pub construct: String,
    /// The function it stands in.
    pub function: String,
    #[serde(flatten)]
    pub location: Location,
    /// Branches and conditions: `true`, `false`, `case N`, `default`; loops: `zero`, `one`, `many`, `boundary`; barriers:
    /// `all`; lines, statements and regions: `executed`.
    pub outcome: String,
    /// Whether some work-item of some test took it.
    pub covered: bool,
    /// By test name: 0 or 1; with `--counts` the number of work-items that covered it.
    pub hits_by_test: BTreeMap<String, u64>,
    /// Branches: work-groups in which more than one outcome was taken; barriers: work-groups of which only a part
    /// arrived. Summed over tests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub divergent_groups: Option<u64>,
}

/// How a test ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TestStatus {
    Completed,
    Timeout,
    Crashed,
    Rejected,
    /// A check of the simulator found something.
    Faulted,
    /// Instrumented and original kernel disagree.
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

/// How one test went.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TestOutcome {
    pub name: String,
    pub status: TestStatus,
    /// What happened, if not `completed`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    pub work_items: u64,
    pub work_groups: u64,
    /// Seconds on the device, medians.
    pub original_s: Option<f64>,
    pub instrumented_s: Option<f64>,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    /// What the kernel printed.
    pub printf: String,
}
