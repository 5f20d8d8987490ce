//! What `kassay check` proves of a kernel, besides what it runs.

use kassay_model::words::Words;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::scope::Scope;

/// What every proof assumes, a clause each: the first one is not needed for the bounds of arrays.
pub const STANDING: [&str; 3] = [
    "buffers of different arguments do not overlap",
    "a launch has as many dimensions as the kernel reads ids of, and its work-groups have one size",
    "sizes, offsets and ids are below 2^31",
];

/// A property of the kernel, and what is known of it for launches that were not run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Proof {
    /// The property.
    pub property: Property,
    /// For race freedom: within a work-group, or between work-groups.
    pub scope: Option<Scope>,
    /// What is known.
    pub status: Status,
    /// The launches for which it is proved; null if it is not.
    pub holds_for: Option<ProvedFor>,
    /// For `launches-of-local-size`: that size, one entry per dimension.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub local_size: Option<Vec<u64>>,
    /// What a launch has to keep to for the proof to hold for it, a clause each; the first is the condition that was
    /// found, if one was needed.
    pub preconditions: Vec<String>,
    /// The condition among the preconditions, if one was needed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub condition: Option<String>,
    /// Reasons why it is not proved, a sentence each.
    pub why_not: Vec<String>,
    /// For `refuted`: the name of the input that shows it, or the launch (see `replayed`).
    pub counterexample: Option<String>,
    /// Whether what refutes it is a launch that was made of a solver's model and then run, which is none of the inputs:
    /// no host need make it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub replayed: bool,
    /// Questions that were asked to the solver.
    pub queries: u64,
    /// Milliseconds that it took.
    pub milliseconds: u64,
}

/// A property that can be proved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Property {
    /// All work-items of a group come to the same barriers.
    Convergence,
    /// No two work-items race.
    RaceFreedom,
    /// Accesses to arrays of known size are within them.
    Bounds,
}

/// What is known of a property.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// It holds.
    Proved,
    /// It does not: an input shows it.
    Refuted,
    /// Neither is known.
    Unknown,
    /// The kernel does something that proofs do not cover.
    Unsupported,
}

/// The launches for which something is proved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ProvedFor {
    /// All: any arguments, contents and sizes.
    AllLaunches,
    /// All with one size of work-groups.
    LaunchesOfLocalSize,
    /// Those with the global and local sizes that were run, with any arguments and contents.
    GivenLaunches,
}

/// Whether no launch races and all barriers converge, as far as proofs tell; with `unconditionally`, without a
/// condition that was found, and for all sizes.
pub fn are_race_free(proofs: &[Proof], unconditionally: bool) -> bool {
    let is_proved = |proof: &Proof| {
        let widest = proof.holds_for == Some(ProvedFor::AllLaunches) && proof.condition.is_none();
        proof.status == Status::Proved && (widest || !unconditionally)
    };
    !proofs.is_empty() && proofs.iter().filter(|p| p.property != Property::Bounds).all(is_proved)
}

impl Proof {
    /// The property as text, such as `race freedom within a work-group`.
    pub fn subject(&self) -> &'static str {
        match (self.property, self.scope) {
            (Property::Convergence, _) => "convergence of barriers",
            (Property::RaceFreedom, Some(Scope::IntraGroup)) => "race freedom within work-groups",
            (Property::RaceFreedom, Some(Scope::InterGroup)) => "race freedom between work-groups",
            (Property::RaceFreedom, None) => "race freedom",
            (Property::Bounds, _) => "bounds of declared arrays",
        }
    }

    /// What is known of it, as text: `for all launches if ...`.
    pub fn known(&self, words: Words) -> String {
        let text = match (self.status, self.holds_for) {
            (Status::Proved, Some(ProvedFor::AllLaunches)) => "for all launches".to_owned(),
            (Status::Proved, Some(ProvedFor::LaunchesOfLocalSize)) => {
                format!("for launches with {} of {}", words.say("work-groups"), self.group_size())
            }
            (Status::Proved, _) => "for launches of the sizes that were run".to_owned(),
            (Status::Refuted, _) => match (&self.counterexample, self.replayed) {
                (Some(launch), true) => format!("refuted by a launch with {launch}"),
                (Some(input), false) => format!("refuted by the input \"{input}\""),
                (None, _) => "refuted".to_owned(),
            },
            (Status::Unknown, _) => "unknown".to_owned(),
            (Status::Unsupported, _) => "not tried".to_owned(),
        };
        match &self.condition {
            Some(condition) => format!("{text} if {condition}"),
            None => text,
        }
    }

    /// The work-group size, without dimensions of size 1 at its end.
    fn group_size(&self) -> String {
        let all = self.local_size.as_deref().unwrap_or_default();
        let last = all.iter().rposition(|n| *n != 1).unwrap_or(0);
        all.iter().take(last + 1).map(u64::to_string).collect::<Vec<_>>().join(" x ")
    }

    /// What it assumes, but for its condition and for what every proof assumes.
    pub fn assumed(&self, words: Words) -> impl Iterator<Item = &str> {
        let is_standing = move |clause: &str| STANDING.iter().any(|standing| words.say(standing) == clause);
        let is_own = |clause: &&String| Some(*clause) != self.condition.as_ref();
        self.preconditions.iter().filter(is_own).map(String::as_str).filter(move |clause| !is_standing(clause))
    }
}
