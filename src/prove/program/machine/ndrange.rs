//! Selects the work-groups and work-items of a launch that an interpreter executes.

use kassay_suite::launch::ResolvedRange;

use super::WorkItem;

/// In launches of more work-items, interpreters execute only the groups at the ends of each dimension.
pub const MANY_ITEMS: u64 = 1 << 12;

/// The ids to execute in each dimension.
pub type Ids = [Vec<u64>; 3];

/// Returns all ids below these counts.
pub fn all_ids(counts: [u64; 3]) -> Ids {
    counts.map(|count| (0..count).collect())
}

/// Returns the first two and the `last` last of `count` ids, and `also` if it is among them, ascending.
pub fn boundary_ids(count: u64, last: u64, also: Option<u64>) -> Vec<u64> {
    let mut ids: Vec<u64> = [0, 1].into_iter().chain(count.saturating_sub(last)..count).chain(also).collect();
    ids.retain(|id| *id < count);
    ids.sort_unstable();
    ids.dedup();
    ids
}

/// Returns the combinations of ids; those of dimension 0 vary fastest.
pub fn combinations(ids: &Ids) -> impl Iterator<Item = [u64; 3]> + '_ {
    let [of_x, of_y, of_z] = ids;
    of_z.iter().flat_map(move |z| of_y.iter().flat_map(move |y| of_x.iter().map(move |x| [*x, *y, *z])))
}

/// Returns the number of an element whose ids vary fastest in dimension 0.
pub fn linear([x, y, z]: [u64; 3], counts: [u64; 3]) -> u64 {
    z.wrapping_mul(counts[1]).wrapping_add(y).wrapping_mul(counts[0]).wrapping_add(x)
}

/// Creates the work-items of a group with these local ids, as far as they lie within the NDRange.
pub fn items<L, T>(
    range: &ResolvedRange,
    group: [u64; 3],
    ids: &Ids,
    mut own: impl FnMut([u64; 3]) -> T,
) -> Vec<WorkItem<L, T>> {
    let is_within = |local: &[u64; 3]| (0..3).all(|d| group[d] * range.local[d] + local[d] < range.global[d]);
    combinations(ids).filter(is_within).map(|local| WorkItem::new(group, local, own(local))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_at_the_ends_are_distinct_and_ascend() {
        assert_eq!(boundary_ids(9, 2, Some(4)), [0, 1, 4, 7, 8]);
        assert_eq!(boundary_ids(9, 1, None), [0, 1, 8]);
        assert_eq!(boundary_ids(2, 2, Some(5)), [0, 1]);
        assert_eq!(boundary_ids(1, 1, Some(0)), [0]);
        assert_eq!(boundary_ids(0, 2, None), [0; 0]);
    }

    #[test]
    fn a_partial_group_has_fewer_items() {
        let range = ResolvedRange { dims: 2, global: [3, 2, 1], local: [2, 2, 1], offset: [0; 3] };
        let items: Vec<WorkItem<u64, ()>> = items(&range, [1, 0, 0], &all_ids(range.local), |_| ());
        let ids: Vec<[u64; 3]> = items.iter().map(|item| item.local_id).collect();
        assert_eq!(ids, [[0, 0, 0], [0, 1, 0]]);
        assert_eq!(linear([1, 1, 0], [2, 2, 1]), 3);
    }
}
