//! Schedules: in which order a launch's work-groups and work-items run (`spec.md` section 4).

use serde::{Deserialize, Serialize};

/// Where a work-item is interrupted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Preemption {
    /// Linear number of the work-group (dimension 0 fastest), as the kernel sees its id.
    pub group: u64,
    /// Local linear id in it.
    pub item: u64,
    /// Before which of its accesses to global or local memory, counted from 0 per work-item.
    pub access: u64,
    /// Local linear id of the item of the group that runs next; without it: the next in order that can.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<u64>,
}

/// An order. Empty lists: as they come, ascending.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Schedule {
    /// The n-th launched group does the work of group `map[n]` (linear numbers, dimension 0 fastest): a permutation.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub map: Vec<u32>,
    /// The order in which the items of each group begin, and go on behind barriers: a permutation of local linear ids.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub item_order: Vec<u32>,
    /// In any order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub preemptions: Vec<Preemption>,
}

impl Schedule {
    pub fn is_natural(&self) -> bool {
        self.map.is_empty() && self.item_order.is_empty() && self.preemptions.is_empty()
    }
}
