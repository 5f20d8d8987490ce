//! Collects conflicts for the report: one per pair of sites and scope.

use rustc_hash::FxHashMap;

use super::groups::Groups;
use super::launch::{Grid, Place};
use super::sites::Site;
use crate::exec::simulator::observation::{Access, Conflict};

/// One of the two accesses in a conflict.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConflictSide {
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
    sides: [ConflictSide; 2],
    place: Place,
    benign: bool,
    cells: u64,
}

/// All pairs that conflicted.
#[derive(Debug, Default)]
pub struct Findings {
    numbers: FxHashMap<Pair, u32>,
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
    pub fn add_conflict(&mut self, sides: [ConflictSide; 2], place: Place, equal: bool) -> u32 {
        let [a, b] = sides.map(|p| p.site);
        let pair = (a.min(b), a.max(b), sides[0].group != sides[1].group);
        let number = *self.numbers.entry(pair).or_insert(self.found.len() as u32);
        match self.found.get_mut(number as usize) {
            Some(finding) => finding.benign &= equal,
            None => {
                let sides = if a <= b { sides } else { [sides[1], sides[0]] };
                self.found.push(Finding { pair, sides, place, benign: equal, cells: 0 });
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
        let access = |side: ConflictSide| {
            Some(Access {
                site: side.site,
                mode: sites.get(side.site as usize)?.mode,
                global_id: grid.global_id(groups.linear(side.group), u64::from(side.item)),
                group_id: grid.group_id(groups.linear(side.group)),
                number: side.number,
            })
        };
        Some(Conflict {
            accesses: [access(self.sides[0])?, access(self.sides[1])?],
            object: self.place.object,
            offset: self.place.offset,
            inter_group: self.pair.2,
            benign: self.benign,
            count: self.cells,
        })
    }
}
