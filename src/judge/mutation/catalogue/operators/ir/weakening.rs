//! Which memory orders are weaker than others. They are given by the numbers of OpenCL C's `memory_order`, as clang has
//! them: 0 relaxed, 2 acquire, 3 release, 4 acquire and release, 5 sequentially consistent.

/// Returns the order of a compare-exchange that fails, where that of one that succeeds becomes another: the given one,
/// unless that would be the stronger of the two (6.15.12.7.4 does not allow it), else the strongest that fits.
pub fn fitting_failure(success: i64, failure: i64) -> i64 {
    match (success, failure) {
        (5, failure) => failure,
        (2 | 4, 2 | 5) => 2,
        _ => 0,
    }
}

/// Returns the orders that are weaker than one, of an access that reads and writes as said.
pub fn weaker(order: i64, (reads, writes): (bool, bool)) -> Vec<i64> {
    let all: &[i64] = match order {
        5 => &[4, 2, 3, 0],
        4 => &[2, 3, 0],
        2 | 3 => &[0],
        _ => &[],
    };
    let fits = |order: &i64| match order {
        4 => reads && writes,
        2 => reads,
        3 => writes,
        _ => true,
    };
    all.iter().copied().filter(fits).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_access_has_only_the_orders_that_it_can_have() {
        assert_eq!(weaker(5, (true, true)), [4, 2, 3, 0]);
        assert_eq!(weaker(5, (true, false)), [2, 0]);
        assert_eq!(weaker(5, (false, true)), [3, 0]);
        assert_eq!(weaker(4, (true, true)), [2, 3, 0]);
        assert!(weaker(0, (true, true)).is_empty());
    }

    #[test]
    fn a_failure_is_ordered_no_stronger_than_success() {
        assert_eq!([5, 4, 3, 2, 0].map(|success| fitting_failure(success, 5)), [5, 2, 0, 2, 0]);
        assert_eq!([5, 4, 3, 2, 0].map(|success| fitting_failure(success, 2)), [2, 2, 0, 2, 0]);
        assert_eq!([5, 4, 3, 2, 0].map(|success| fitting_failure(success, 0)), [0; 5]);
    }
}
