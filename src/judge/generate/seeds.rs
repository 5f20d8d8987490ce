//! Seeds: the launches of a suite with which a search begins, and what they have in common.

use kassay_suite::launch::Launch;

use super::likely_invariants::{self, LikelyInvariants};
use super::model::KernelModel;

/// A launch to begin with.
#[derive(Debug, Clone, PartialEq)]
pub struct Seed {
    /// Name of its test.
    pub name: String,
    /// With its work-group size decided.
    pub launch: Launch,
}

/// The launches of a suite, and what they have in common.
#[derive(Debug, Clone, PartialEq)]
pub struct Seeds {
    /// Path of the suite.
    pub suite: String,
    /// In the order of the suite.
    pub all: Vec<Seed>,
    /// What they have in common.
    pub invariants: LikelyInvariants,
}

impl Seeds {
    /// Learns from the launches of a suite's tests. `usual_items`: work-items that launches made of them may have,
    /// unless one of them has more. `max_group`: work-items that a group may have whose size the suite leaves open.
    pub fn learn(
        suite: String,
        tests: impl Iterator<Item = (String, Launch)>,
        model: &KernelModel,
        usual_items: u64,
        max_group: u64,
    ) -> Seeds {
        let mut all: Vec<Seed> = tests.map(|(name, launch)| Seed { name, launch }).collect();
        // Nothing can be learnt from work-group sizes that the driver chooses.
        let is_open = all.iter().any(|seed| seed.launch.range.local.is_none());
        let mut shown: Vec<Launch> = all.iter().map(|seed| seed.launch.clone()).collect();
        if is_open {
            shown.iter_mut().for_each(|launch| launch.range.local = None);
        }
        let shown: Vec<&Launch> = shown.iter().collect();
        let invariants = likely_invariants::learn(model, &shown, usual_items);
        for seed in &mut all {
            seed.launch.range.decide_local(model.interface.required_local, max_group);
        }
        Seeds { suite, all, invariants }
    }
}
