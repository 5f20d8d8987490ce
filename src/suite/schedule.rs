//! Schedules: in which order a launch's work-groups and work-items run (docs/schedule.md).

use serde::{Deserialize, Serialize};

use super::launch::NdRange;

/// Where a work-item is interrupted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
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

    /// Whether it orders nothing but work-groups, which devices can be made to.
    pub fn is_map(&self) -> bool {
        self.item_order.is_empty() && self.preemptions.is_empty()
    }

    /// Whether the schedule fits a launch.
    ///
    /// # Errors
    /// What does not fit, as a clause: `map` or `item_order` that is no permutation of the launch's work-groups or of a group's
    /// work-items, a preemption of a group or item that there is none of.
    pub fn check(&self, range: &NdRange) -> Result<(), String> {
        let (groups, items) = (range.groups(), range.group_items());
        permutation("map", "work-groups", &self.map, groups)?;
        permutation("item_order", "work-items in a group", &self.item_order, items)?;
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

fn permutation(key: &str, of: &str, list: &[u32], count: u64) -> Result<(), String> {
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
    fn what_does_not_fit_a_launch_is_told() {
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
