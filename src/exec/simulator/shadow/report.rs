//! Collects conflicts for the report: one per pair of sites and scope.

use std::collections::HashMap;

use super::groups::Groups;
use super::launch::{Grid, Place};
use super::sites::Site;
use crate::exec::simulator::observation::{Access, Conflict};

/// One of the two accesses in a conflict.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Party {
    pub site: u32,
    /// The group's number in the launch ([`Groups::linear`]), and the local linear id.
    pub group: u64,
    pub item: u32,
    /// Number of accesses that the work-item had made before.
    pub number: u64,
}

/// Two sites, the smaller first, and whether their groups differ.
type Pair = (u32, u32, bool);

#[derive(Debug)]
struct Finding {
    pair: Pair,
    parties: [Party; 2],
    place: Place,
    benign: bool,
    cells: u64,
}

/// All pairs that conflicted.
#[derive(Debug, Default)]
pub struct Findings {
    numbers: HashMap<Pair, u32>,
    found: Vec<Finding>,
}

impl Findings {
    /// The number of a pair that has conflicted.
    pub fn number(&self, a: u32, b: u32, inter_group: bool) -> Option<u32> {
        self.numbers.get(&(a.min(b), a.max(b), inter_group)).copied()
    }

    /// Returns whether a pair has only conflicted with equal values.
    pub fn is_benign(&self, number: u32) -> bool {
        self.found.get(number as usize).is_some_and(|f| f.benign)
    }

    /// Records a conflict of two accesses, the earlier first, and returns the number of their pair. `equal`: both wrote
    /// the same value.
    pub fn meet(&mut self, parties: [Party; 2], place: Place, equal: bool) -> u32 {
        let [a, b] = parties.map(|p| p.site);
        let pair = (a.min(b), a.max(b), parties[0].group != parties[1].group);
        let number = *self.numbers.entry(pair).or_insert(self.found.len() as u32);
        match self.found.get_mut(number as usize) {
            Some(finding) => finding.benign &= equal,
            None => {
                let parties = if a <= b { parties } else { [parties[1], parties[0]] };
                self.found.push(Finding { pair, parties, place, benign: equal, cells: 0 });
            }
        }
        number
    }

    /// Returns whether no conflict was recorded.
    pub fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    /// Counts one more cell at which the pair conflicted.
    pub fn count(&mut self, number: u32) {
        if let Some(finding) = self.found.get_mut(number as usize) {
            finding.cells += 1;
        }
    }

    /// All conflicts, ordered by sites.
    pub fn conflicts(&self, grid: &Grid, groups: &Groups, sites: &[Site]) -> Vec<Conflict> {
        let mut found: Vec<&Finding> = self.found.iter().collect();
        found.sort_by_key(|f| f.pair);
        found.into_iter().filter_map(|f| f.conflict(grid, groups, sites)).collect()
    }
}

impl Finding {
    fn conflict(&self, grid: &Grid, groups: &Groups, sites: &[Site]) -> Option<Conflict> {
        let access = |party: Party| {
            Some(Access {
                site: party.site,
                mode: sites.get(party.site as usize)?.mode,
                global_id: grid.global_id(groups.linear(party.group), u64::from(party.item)),
                group_id: grid.group_id(groups.linear(party.group)),
                number: party.number,
            })
        };
        Some(Conflict {
            accesses: [access(self.parties[0])?, access(self.parties[1])?],
            object: self.place.object,
            offset: self.place.offset,
            inter_group: self.pair.2,
            benign: self.benign,
            count: self.cells,
        })
    }
}
