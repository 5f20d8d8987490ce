//! Def-use coverage, a part of the result of `kassay cover`.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Location, Ratio};

/// How a definition and a use of it are related.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PairKind {
    /// Of a private variable.
    Private,
    /// Of local or global memory, by the same work-item.
    SameWorkItem,
    /// By different work-items of a group, with a barrier in between that orders the memory.
    AcrossBarrier,
    /// By different work-items of a group between two barriers.
    WithinGroup,
    /// By work-items of different groups.
    AcrossGroups,
    /// The host has defined what the kernel uses.
    HostToKernel,
}

impl PairKind {
    /// All kinds, in the order in which reports show them.
    pub const ALL: [PairKind; 6] = [
        PairKind::Private,
        PairKind::SameWorkItem,
        PairKind::AcrossBarrier,
        PairKind::WithinGroup,
        PairKind::AcrossGroups,
        PairKind::HostToKernel,
    ];

    /// Returns whether definition and use are in different work-items.
    pub fn is_inter_item(self) -> bool {
        matches!(self, PairKind::AcrossBarrier | PairKind::WithinGroup | PairKind::AcrossGroups)
    }

    /// Returns the name in reports.
    pub fn label(self) -> &'static str {
        match self {
            PairKind::Private => "private",
            PairKind::SameWorkItem => "same work-item",
            PairKind::AcrossBarrier => "across a barrier",
            PairKind::WithinGroup => "within a group",
            PairKind::AcrossGroups => "across groups",
            PairKind::HostToKernel => "host to kernel",
        }
    }
}

/// Def-use coverage (all-uses) of a kernel, over all tests.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DefUse {
    /// One entry per kind.
    pub summary: Vec<KindSummary>,
    /// All pairs, ordered by the place of the use, and then of the definition.
    pub pairs: Vec<DefUsePair>,
    /// Number of definitions and uses in different work-items that met in a test although nothing orders them, as in
    /// a race. They are not among the pairs.
    pub unordered: u64,
    /// Kernel time with definitions followed, on one thread, divided by the original's: the median over the tests. Null
    /// if the device is not the simulator.
    pub overhead: Option<f64>,
}

/// The pairs of one kind.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct KindSummary {
    /// The kind.
    pub kind: PairKind,
    /// Number of pairs.
    pub pairs: u64,
    /// Number of those that some test exercises.
    pub covered: u64,
    /// Their share in percent; null without pairs.
    pub percent: Option<f64>,
}

/// A definition, and a use that it can reach.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DefUsePair {
    /// Stable id.
    pub id: String,
    /// Name of the variable, argument or array; of several that it may be, joined by commas.
    pub variable: String,
    /// How the definition and the use are related.
    pub kind: PairKind,
    /// The definition; null: the host's.
    pub definition: Option<AccessPlace>,
    /// The use.
    #[serde(rename = "use")]
    pub usage: AccessPlace,
    /// Whether the value that is used decides a branch (a p-use).
    pub predicate: bool,
    /// Whether some test exercises the pair.
    pub covered: bool,
    /// Names of the tests that do.
    pub tests: Vec<String>,
}

/// A place where memory is defined or used.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct AccessPlace {
    /// Name of the function that contains it.
    pub function: String,
    /// Its location; `line` 0: unknown, `column` 0: unknown.
    #[serde(flatten)]
    pub location: Location,
    /// `store`, `load`, `parameter` (a parameter gets its value), `copy`, `fill`, `atomic`, or the name of the builtin
    /// or function.
    pub operation: String,
}

impl DefUse {
    /// Puts a result together from its pairs.
    pub fn new(pairs: Vec<DefUsePair>, unordered: u64, overhead: Option<f64>) -> DefUse {
        let summary = PairKind::ALL.map(|kind| {
            let of_kind = || pairs.iter().filter(|pair| pair.kind == kind);
            let ratio = Ratio {
                covered: of_kind().filter(|pair| pair.covered).count() as u64,
                total: of_kind().count() as u64,
            };
            KindSummary { kind, pairs: ratio.total, covered: ratio.covered, percent: ratio.percent() }
        });
        DefUse { summary: summary.to_vec(), pairs, unordered, overhead }
    }

    /// Returns the pairs of all kinds together.
    pub fn total(&self) -> Ratio {
        self.of_kinds(|_| true)
    }

    /// Returns the pairs of definitions and uses in different work-items.
    pub fn inter_item(&self) -> Ratio {
        self.of_kinds(PairKind::is_inter_item)
    }

    fn of_kinds(&self, is_meant: fn(PairKind) -> bool) -> Ratio {
        let mut ratio = Ratio::default();
        for kind in self.summary.iter().filter(|kind| is_meant(kind.kind)) {
            ratio.covered = ratio.covered.saturating_add(kind.covered);
            ratio.total = ratio.total.saturating_add(kind.pairs);
        }
        ratio
    }

    /// Adds the result of other tests of the same kernel: a pair is covered if one of the two covers it. Pairs are
    /// recognised by their ids; those that only one result has are kept.
    #[must_use]
    pub fn merged(mut self, other: &DefUse) -> DefUse {
        let mut positions: BTreeMap<String, usize> =
            self.pairs.iter().enumerate().map(|(at, pair)| (pair.id.clone(), at)).collect();
        for pair in &other.pairs {
            match positions.get(&pair.id) {
                Some(at) => {
                    let own = &mut self.pairs[*at];
                    own.covered |= pair.covered;
                    let more: Vec<String> = pair.tests.iter().filter(|t| !own.tests.contains(t)).cloned().collect();
                    own.tests.extend(more);
                }
                None => {
                    positions.insert(pair.id.clone(), self.pairs.len());
                    self.pairs.push(pair.clone());
                }
            }
        }
        DefUse::new(self.pairs, self.unordered.max(other.unordered), None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(id: &str, kind: PairKind, tests: &[&str]) -> DefUsePair {
        let location = Location { file: "k.cl".into(), line: 1, column: 1 };
        DefUsePair {
            id: id.into(),
            variable: "x".into(),
            kind,
            definition: None,
            usage: AccessPlace { function: "k".into(), location, operation: "load".into() },
            predicate: false,
            covered: !tests.is_empty(),
            tests: tests.iter().map(|t| (*t).to_owned()).collect(),
        }
    }

    #[test]
    fn merged_results_cover_what_either_covers() {
        let a = vec![pair("1", PairKind::Private, &["t"]), pair("2", PairKind::Private, &[])];
        let b = vec![pair("1", PairKind::Private, &["t", "u"]), pair("2", PairKind::Private, &["u"])];
        let (a, b) = (DefUse::new(a, 0, None), DefUse::new(b, 3, None));
        let both = a.clone().merged(&b);
        assert_eq!((a.total().covered, both.total().covered, both.total().total), (1, 2, 2));
        assert_eq!(both.pairs[0].tests, ["t", "u"]);
        assert_eq!(both.unordered, 3);
        assert_eq!(b.merged(&a).summary, both.summary);
    }
}
