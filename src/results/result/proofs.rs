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

/// How many elements a buffer needs, for launches that were not run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Length {
    /// Name of the argument.
    pub buffer: String,
    /// So many are enough, as an expression of scalars and sizes: `ni * nj`, `max(n, m + 1)`; null: see `bytes`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub elements: Option<String>,
    /// So many bytes are enough, where they are no number of elements.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<String>,
    /// The condition among the preconditions, if one was needed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub condition: Option<String>,
    /// What a launch has to keep to for it to be enough, a clause each.
    pub preconditions: Vec<String>,
}

impl Length {
    /// As text: `` `a` needs `ni * nj` elements ``.
    pub fn text(&self) -> String {
        let (number, unit) = match (&self.elements, &self.bytes) {
            (Some(elements), _) => (elements.as_str(), "element"),
            (None, Some(bytes)) => (bytes.as_str(), "byte"),
            (None, None) => ("0", "byte"),
        };
        let many = if number == "1" { "" } else { "s" };
        // Numbers are no expressions.
        let quote = if number.bytes().all(|b| b.is_ascii_digit()) { "" } else { "`" };
        let text = format!("`{}` needs {quote}{number}{quote} {unit}{many}", self.buffer);
        match &self.condition {
            Some(condition) => format!("{text} if {condition}"),
            None => text,
        }
    }
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

/// Launches for which all of convergence and race freedom is proved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProvedLaunches {
    /// Which they are.
    pub holds_for: ProvedFor,
    /// For `launches-of-local-size`: that size, one entry per dimension.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub local_size: Option<Vec<u64>>,
    /// What they have to keep to, a condition each; empty: nothing but what every proof assumes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<String>,
}

impl ProvedLaunches {
    /// The launches of which these proofs say that they neither race nor diverge; `None`: there are none.
    pub fn of(proofs: &[Proof]) -> Option<ProvedLaunches> {
        if !are_race_free(proofs, false) {
            return None;
        }
        let needed = || proofs.iter().filter(|proof| proof.property != Property::Bounds);
        let narrowest = needed().max_by_key(|proof| proof.holds_for)?;
        let mut conditions: Vec<String> = Vec::new();
        for condition in needed().filter_map(|proof| proof.condition.as_ref()) {
            if !conditions.contains(condition) {
                conditions.push(condition.clone());
            }
        }
        Some(ProvedLaunches { holds_for: narrowest.holds_for?, local_size: narrowest.local_size.clone(), conditions })
    }

    /// As text: `all launches if ...`.
    pub fn text(&self, words: Words) -> String {
        let which = launches(self.holds_for, self.local_size.as_deref(), words);
        match &self.conditions[..] {
            [] => which,
            conditions => format!("{which} if {}", conditions.join(" and ")),
        }
    }
}

/// Launches of which something is proved, as text.
fn launches(holds_for: ProvedFor, local_size: Option<&[u64]>, words: Words) -> String {
    match holds_for {
        ProvedFor::AllLaunches => "all launches".to_owned(),
        ProvedFor::LaunchesOfLocalSize => {
            format!("launches with {} of {}", words.say("work-groups"), group_size(local_size.unwrap_or_default()))
        }
        ProvedFor::GivenLaunches => "launches of the sizes that were run".to_owned(),
    }
}

/// A work-group size, without dimensions of size 1 at its end.
fn group_size(all: &[u64]) -> String {
    let last = all.iter().rposition(|n| *n != 1).unwrap_or(0);
    all.iter().take(last + 1).map(u64::to_string).collect::<Vec<_>>().join(" x ")
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
            (Status::Proved, holds_for) => {
                let holds_for = holds_for.unwrap_or(ProvedFor::GivenLaunches);
                format!("for {}", launches(holds_for, self.local_size.as_deref(), words))
            }
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

    /// What it assumes, but for its condition and for what every proof assumes.
    pub fn assumed(&self, words: Words) -> impl Iterator<Item = &str> {
        let is_standing = move |clause: &str| STANDING.iter().any(|standing| words.say(standing) == clause);
        let is_own = |clause: &&String| Some(*clause) != self.condition.as_ref();
        self.preconditions.iter().filter(is_own).map(String::as_str).filter(move |clause| !is_standing(clause))
    }
}
