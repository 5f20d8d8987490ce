//! The part of coverage results about MC/DC.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Location, Ratio};

/// MC/DC: the decisions of two conditions or more, the test vectors that were executed, and the conditions whose
/// independent effect they show.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Mcdc {
    /// What shows an independent effect.
    pub criterion: Criterion,
    /// The decisions, ordered by file, line and column.
    pub decisions: Vec<McdcDecision>,
}

impl Mcdc {
    /// Returns the conditions that are covered, and those that can be, of the decisions that are measured.
    pub fn ratio(&self) -> Ratio {
        let measured = self.decisions.iter().filter(|d| d.reason.is_none()).flat_map(|d| &d.conditions);
        let mut ratio = Ratio::default();
        for condition in measured.filter(|c| c.reason.is_none()) {
            ratio.total += 1;
            ratio.covered += u64::from(condition.covered);
        }
        ratio
    }
}

/// What two test vectors must be to show the independent effect of a condition on the result of its decision.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Criterion {
    /// The condition has different values, and the results differ; no other condition masks it in either vector.
    #[default]
    Masking,
    /// The condition has different values, and the results differ; all other conditions that both evaluate are equal.
    Unique,
}

impl Criterion {
    /// Returns the word that results and reports use.
    pub fn name(self) -> &'static str {
        match self {
            Criterion::Masking => "masking",
            Criterion::Unique => "unique",
        }
    }
}

/// A decision of two conditions or more.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct McdcDecision {
    /// Stable id.
    pub id: String,
    /// Source construct: `if`, `?:`, `for`, `while`, `do`; `value` where the result is used as a value; `branch` or
    /// `loop` if it is unknown.
    pub construct: String,
    /// Name of the function that contains it.
    pub function: String,
    /// The location of its first condition; `line` 0: unknown.
    #[serde(flatten)]
    pub location: Location,
    /// Its conditions, in the order of evaluation.
    pub conditions: Vec<McdcCondition>,
    /// The test vectors that its operators allow, executed or not.
    pub vectors: Vec<McdcVector>,
    /// Why it is not measured, and not part of the totals.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// A condition of a decision.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct McdcCondition {
    /// Id of the condition's site, as in `sites`.
    pub site: String,
    /// Its location; `line` 0: unknown.
    #[serde(flatten)]
    pub location: Location,
    /// Whether two executed vectors show its independent effect.
    pub covered: bool,
    /// Two vectors that show it, the one in which the condition is true first. Of a condition that is not covered:
    /// those of which the fewest are missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pair: Option<[String; 2]>,
    /// The vectors of `pair` that no test executes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<String>,
    /// Why no two vectors can show it; it is not part of the totals.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// A way to evaluate a decision.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct McdcVector {
    /// A letter for each condition, in their order: `T`, `F`, or `-` if it is not evaluated.
    pub values: String,
    /// The result of the decision.
    pub result: bool,
    /// Whether some work-item in some test executed it.
    pub executed: bool,
    /// By test name: 0 or 1; with `--counts` the number of work-items that executed it.
    pub hits_by_test: BTreeMap<String, u64>,
}
