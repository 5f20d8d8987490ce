//! Represents schedules: the order in which the work-groups and work-items of a launch run (docs/schedule.md).

use serde::{Deserialize, Serialize};

use super::nd_range::NdRange;

/// A point at which a work-item is interrupted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Preemption {
    /// Linear number of the work-group (dimension 0 fastest), by the id that the kernel sees.
    pub group: u64,
    /// Local linear id of the work-item.
    pub item: u64,
    /// Index of the access to global or local memory before which it is interrupted, from 0 per work-item.
    pub access: u64,
    /// Local linear id of the work-item of the group that runs next; if absent, the next in order that can run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<u64>,
}

/// An order of execution. Empty lists stand for ascending order.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Schedule {
    /// A permutation: the n-th launched group does the work of group `map[n]` (linear numbers, dimension 0 fastest).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub map: Vec<u32>,
    /// Permutation of local linear ids: the order in which the items of each group start, and resume after barriers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub item_order: Vec<u32>,
    /// Interruptions, in any order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub preemptions: Vec<Preemption>,
}

impl Schedule {
    /// Returns whether everything runs in ascending order without interruptions.
    pub fn is_natural(&self) -> bool {
        self.map.is_empty() && self.item_order.is_empty() && self.preemptions.is_empty()
    }

    /// Returns whether it orders work-groups only, which devices support too.
    pub fn is_map(&self) -> bool {
        self.item_order.is_empty() && self.preemptions.is_empty()
    }

    /// Checks that the schedule fits a launch.
    ///
    /// # Errors
    /// A clause that says what does not fit: `map` or `item_order` is not a permutation of the launch's work-groups or
    /// of a group's work-items, or a preemption names a group or an item that does not exist.
    pub fn check(&self, range: &NdRange) -> Result<(), String> {
        let (groups, items) = (range.groups(), range.group_items());
        check_permutation("map", "work-groups", &self.map, groups)?;
        check_permutation("item_order", "work-items in a group", &self.item_order, items)?;
        for p in &self.preemptions {
            if p.group >= groups {
                return Err(format!("a preemption is of work-group {}, but the launch has {groups}", p.group));
            }
            if let Some(item) = [Some(p.item), p.to].into_iter().flatten().find(|item| *item >= items) {
                return Err(format!("a preemption names work-item {item}, but a group has {items}"));
            }
        }
        Ok(())
    }
}

fn check_permutation(key: &str, of: &str, list: &[u32], count: u64) -> Result<(), String> {
    if list.is_empty() {
        return Ok(());
    }
    if list.len() as u64 != count {
        return Err(format!("`{key}` has {} entries, but there are {count} {of}", list.len()));
    }
    let mut seen = vec![false; list.len()];
    for n in list {
        match seen.get_mut(*n as usize) {
            Some(seen) if !*seen => *seen = true,
            Some(_) => return Err(format!("`{key}` names {n} twice")),
            None => return Err(format!("`{key}` names {n}, but the highest number is {}", count - 1)),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn check_reports_what_does_not_fit_the_launch() {
        let range = NdRange { dims: 2, global: [4, 4, 1], local: Some([2, 2, 1]), offset: [0; 3] };
        let check = |schedule: Schedule| schedule.check(&range);
        let natural = Schedule::default();
        assert_eq!(check(natural.clone()), Ok(()));
        assert_eq!(check(Schedule { map: vec![3, 0, 2, 1], item_order: vec![1, 0, 3, 2], ..natural.clone() }), Ok(()));
        assert!(check(Schedule { map: vec![0, 1], ..natural.clone() }).is_err_and(|e| e.contains("2 entries")));
        assert!(check(Schedule { map: vec![0, 1, 1, 2], ..natural.clone() }).is_err_and(|e| e.contains("twice")));
        assert!(
            check(Schedule { item_order: vec![0, 1, 2, 4], ..natural.clone() }).is_err_and(|e| e.contains("highest"))
        );
        let preemption = |group, item, to| Preemption { group, item, access: 0, to };
        let with = |p| Schedule { preemptions: vec![p], ..natural.clone() };
        assert_eq!(check(with(preemption(3, 3, Some(0)))), Ok(()));
        assert!(check(with(preemption(4, 0, None))).is_err());
        assert!(check(with(preemption(0, 0, Some(4)))).is_err());
    }
}
