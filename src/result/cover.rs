//! `kassay cover`.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Device, Location, Ratio};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CoverResult {
    /// `kassay.cover/1`
    pub schema: String,
    pub version: String,
    pub kernel: String,
    pub source: String,
    pub device: Option<Device>,
    pub seed: u64,
    pub elapsed_s: f64,
    pub coverage: Coverage,
    /// One entry per outcome of each site, in order of file, line, column.
    pub sites: Vec<SiteOutcome>,
    pub tests: Vec<TestOutcome>,
    /// Kernel time, instrumented / original: the median over the tests. Null if no test completed.
    pub overhead: Option<f64>,
    pub notes: Vec<String>,
}

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

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SiteOutcome {
    /// The site's stable id, shared by its outcomes.
    pub id: String,
    /// `branch`, `condition`, `loop`, `barrier`, `line`, `statement`, `region`.
    pub kind: String,
    pub construct: String,
    pub function: String,
    #[serde(flatten)]
    pub location: Location,
    /// Branches and conditions: `true`, `false`, `case N`, `default`; loops: `zero`, `one`, `many`, `boundary`; barriers:
    /// `all`; lines, statements and regions: `executed`.
    pub outcome: String,
    pub covered: bool,
    /// By test name: 0 or 1; with `--counts` the number of work-items that covered it.
    pub hits_by_test: BTreeMap<String, u64>,
    /// Branches: work-groups in which more than one outcome was taken; barriers: work-groups of which only a part
    /// arrived. Summed over tests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub divergent_groups: Option<u64>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TestOutcome {
    pub name: String,
    /// `completed`, `timeout`, `crashed`, `rejected`, `output-differs` (instrumented and original disagree).
    pub status: String,
    /// What happened, if not `completed`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    pub work_items: u64,
    pub work_groups: u64,
    /// Seconds on the device, medians.
    pub original_s: Option<f64>,
    pub instrumented_s: Option<f64>,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub printf: String,
}
