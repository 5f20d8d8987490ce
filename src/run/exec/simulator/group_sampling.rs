//! Selects the groups to run of a launch that is too large for race detection as a whole.

/// The maximum number of work-items in a sample: a launch of this size takes about a second.
const MAX_SAMPLED_ITEMS: u64 = 1 << 20;

/// Number of blocks besides those at corners and in the middle.
const EXTRA_BLOCKS: u64 = 5;

/// Samples the groups of a launch. Returns ascending linear numbers: blocks of groups that are neighbours in each
/// dimension, at the corners, in the middle and elsewhere. `items`: work-items of a group; `most`: maximum number of
/// groups, whatever their size.
pub fn sample(groups: [u64; 3], items: u64, most: u64) -> Vec<u64> {
    let most = most.min(MAX_SAMPLED_ITEMS / items.max(1)).max(2);
    let dims: Vec<usize> = (0..3).filter(|d| groups[*d] > 1).collect();
    let blocks = 3_u64.pow(dims.len() as u32) + EXTRA_BLOCKS;
    let share = (most / blocks).max(1);
    // Size of a block in groups by dimension; later dimensions get more.
    let mut side = [1; 3];
    let mut left = share;
    for (place, d) in dims.iter().enumerate() {
        let others = (dims.len() - place) as u32;
        side[*d] = root(left, others).clamp(1, groups[*d]);
        left /= side[*d];
    }
    let at = |block: u64, d: usize| {
        let last = groups[d] - side[d];
        let corners = blocks - EXTRA_BLOCKS;
        if block < corners {
            let place = dims.iter().position(|k| *k == d).unwrap_or(0) as u32;
            return [0, last / 2, last][(block / 3_u64.pow(place) % 3) as usize];
        }
        // Far from each other and from the other blocks: multiples of the golden ratio.
        let turn = (block - corners + 1) * (d as u64 + 1);
        ((u128::from(turn.wrapping_mul(0x9e37_79b9_7f4a_7c15)) * u128::from(last + 1)) >> 64) as u64
    };
    let mut numbers = Vec::new();
    for block in 0..blocks {
        let start = [0, 1, 2].map(|d| if groups[d] > 1 { at(block, d) } else { 0 });
        for z in start[2]..start[2] + side[2] {
            for y in start[1]..start[1] + side[1] {
                let row = (z * groups[1] + y) * groups[0];
                numbers.extend((start[0]..start[0] + side[0]).map(|x| row + x));
            }
        }
    }
    numbers.sort_unstable();
    numbers.dedup();
    numbers.truncate(usize::try_from(most).unwrap_or(usize::MAX));
    numbers
}

/// The largest number whose `power`-th power is at most `n`.
fn root(n: u64, power: u32) -> u64 {
    (1..).take_while(|r: &u64| r.checked_pow(power).is_some_and(|p| p <= n)).last().unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_has_first_and_last_groups_and_neighbours_in_each_dimension() {
        for groups in [[1 << 25, 1, 1], [1 << 13, 1 << 12, 1], [1 << 9, 1 << 8, 1 << 8], [1, 1 << 25, 1]] {
            let all: u64 = groups.iter().product();
            for items in [1, 64, 8192] {
                let numbers = sample(groups, items, u64::MAX);
                assert!(numbers.len() as u64 * items <= MAX_SAMPLED_ITEMS && numbers.len() > 1, "{groups:?} {items}");
                assert_eq!((numbers[0], numbers[numbers.len() - 1]), (0, all - 1), "{groups:?} {items}");
                let strides = [1, groups[0], groups[0] * groups[1]];
                for d in (0..3).filter(|d| groups[*d] > 1 && items < 8192) {
                    assert!(numbers.binary_search(&strides[d]).is_ok(), "{groups:?} {items}: dimension {d}");
                }
            }
        }
    }
}
