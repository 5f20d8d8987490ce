//! How findings of `kassay check` can be mended, as `--fix` finds out.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Location;
use super::proofs::ProvedFor;

/// A change of the source that mends findings, or why there is none.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Repair {
    /// Position in `findings` of the finding that this is about, from 0.
    pub finding: u64,
    /// Positions of further findings that this is about.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<u64>,
    /// The changes, which belong together; none if it cannot be repaired.
    pub edits: Vec<RepairEdit>,
    /// The changes as a unified diff of the kernel's file; empty if there are none.
    pub diff: String,
    /// What is known of the changed kernel, the weakest first.
    pub verified: Vec<Verified>,
    /// Conditions on launches under which that is proved, a clause each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<String>,
    /// Number of findings of the changed kernel that remain: those that it does not mend.
    #[serde(default)]
    pub remaining: u64,
    /// Number of changed kernels that were tried until this one was found.
    pub tried: u64,
    /// Number of single changes that were thought of.
    pub candidates: u64,
    /// Why there is no repair.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why_not: Option<String>,
}

/// One change of the source.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RepairEdit {
    /// Where it begins.
    #[serde(flatten)]
    pub location: Location,
    /// What it does, such as "insert `barrier(CLK_LOCAL_MEM_FENCE);` after line 7".
    pub what: String,
    /// The pieces of the text that are replaced; none overlap.
    pub replacements: Vec<Replacement>,
}

/// A piece of the text, and what takes its place. Lines and columns count from 1, columns in bytes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Replacement {
    /// The line in which it begins.
    pub line: u32,
    /// The column at which it begins.
    pub column: u32,
    /// The line in which it ends.
    pub end_line: u32,
    /// The column behind its last byte.
    pub end_column: u32,
    /// The new text.
    pub text: String,
}

/// What is known of a changed kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Verified {
    /// What it mends is not found any more in any explored input, and nothing new; other findings remain.
    FewerFindings,
    /// Nothing is found in any explored input.
    CleanInExploredInputs,
    /// The outputs of inputs in which nothing was found before are the same.
    SameOutputs,
    /// The outputs are the same in all schedules that were tried.
    SameOutputsInExploredSchedules,
    /// The outputs do not depend on the schedule in any explored input.
    ScheduleIndependent,
    /// Race freedom and convergence of barriers are proved for the given launches, with any arguments and contents.
    ProvedForGivenLaunches,
    /// They are proved for all launches of the work-group size of the explored inputs.
    ProvedForLaunchesOfLocalSize,
    /// They are proved for all launches, under `conditions` if there are any.
    ProvedForAllLaunches,
}

impl Verified {
    /// What a proof for these launches says.
    pub fn by_proof(holds_for: ProvedFor) -> Verified {
        match holds_for {
            ProvedFor::AllLaunches => Verified::ProvedForAllLaunches,
            ProvedFor::LaunchesOfLocalSize => Verified::ProvedForLaunchesOfLocalSize,
            ProvedFor::GivenLaunches => Verified::ProvedForGivenLaunches,
        }
    }

    /// What it says, as a clause; nothing if others say more.
    pub fn words(self) -> &'static str {
        match self {
            Verified::FewerFindings => "nothing new is found in the explored inputs",
            Verified::CleanInExploredInputs => "nothing is found in the explored inputs",
            Verified::SameOutputs => "inputs that were clean before keep their outputs",
            Verified::SameOutputsInExploredSchedules => "outputs are the same in all schedules that were tried",
            Verified::ScheduleIndependent => "outputs do not depend on the schedule",
            Verified::ProvedForGivenLaunches => "proved race free for the given launches",
            Verified::ProvedForLaunchesOfLocalSize => "proved race free for this work-group size",
            Verified::ProvedForAllLaunches => "proved race free for all launches",
        }
    }
}

impl Repair {
    /// Whether there is one.
    pub fn is_one(&self) -> bool {
        !self.edits.is_empty()
    }

    /// All findings that it is about.
    pub fn findings(&self) -> impl Iterator<Item = u64> + '_ {
        std::iter::once(self.finding).chain(self.also.iter().copied())
    }

    /// Whether the changed kernel is proved to be race free.
    pub fn is_proved(&self) -> bool {
        self.verified.iter().any(|verified| *verified >= Verified::ProvedForGivenLaunches)
    }
}
