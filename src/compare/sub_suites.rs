//! Random sub-suites of a pool of tests, and how two measures of them go together.

use rand::Rng;
use rand::seq::index;

use super::correlation::{Estimate, estimate, kendall, pearson};
use super::kill_matrix::TestSet;

/// How two measures of random sub-suites of one size go together.
#[derive(Debug, Clone, PartialEq)]
pub struct AtSize {
    /// Tests in each sub-suite.
    pub tests: usize,
    /// Sub-suites for which both measures are defined.
    pub suites: usize,
    /// Pearson's correlation; `None` if a measure has one value for all of them.
    pub pearson: Option<Estimate>,
    /// Kendall's τ-b; `None` as above.
    pub kendall: Option<Estimate>,
}

/// Draws sub-suites of one size, each of them as likely as any other.
pub fn draw(pool: usize, size: usize, samples: usize, random: &mut impl Rng) -> Vec<TestSet> {
    let one = |_| {
        let mut suite = TestSet::with_capacity(pool);
        suite.extend(index::sample(random, pool, size));
        suite
    };
    (0..samples).map(one).collect()
}

/// The sizes at which sub-suites of a pool are drawn: one test, and up to nine more in equal steps below the whole.
pub fn sizes(pool: usize) -> Vec<usize> {
    let mut sizes: Vec<usize> = (1..=10).map(|step| pool * step / 11).map(|size| size.max(1)).collect();
    sizes.retain(|size| *size < pool);
    sizes.dedup();
    sizes
}

/// Correlates two measures over sub-suites of one size; a pair has both measures of a sub-suite. At one size, a suite
/// cannot score higher just because it has more tests.
pub fn at_size(tests: usize, pairs: &[(f64, f64)], random: &mut impl Rng) -> AtSize {
    AtSize {
        tests,
        suites: pairs.len(),
        pearson: estimate(pairs, pearson, random),
        kendall: estimate(pairs, kendall, random),
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    use super::super::kill_matrix::tests::matrix;
    use super::*;

    #[test]
    fn sub_suites_have_their_size_and_each_test_is_as_likely() {
        let mut random = ChaCha8Rng::seed_from_u64(3);
        let drawn = draw(10, 3, 5000, &mut random);
        assert!(drawn.iter().all(|suite| suite.count_ones(..) == 3));
        for test in 0..10 {
            let often = drawn.iter().filter(|suite| suite.contains(test)).count();
            assert!((1400..1600).contains(&often), "test {test}: {often} of 5000");
        }
    }

    #[test]
    fn sizes_grow_from_one_test_to_below_all() {
        assert_eq!(sizes(66), [6, 12, 18, 24, 30, 36, 42, 48, 54, 60]);
        assert_eq!(sizes(4), [1, 2, 3]);
        assert_eq!(sizes(1), [0_usize; 0]);
        assert_eq!(sizes(0), [0_usize; 0]);
    }

    #[test]
    fn a_measure_correlates_with_itself_and_not_with_a_constant() {
        let mut random = ChaCha8Rng::seed_from_u64(5);
        let matrix = matrix(6, &[&[0], &[1, 2], &[3], &[4, 5], &[2, 5]]);
        let scores: Vec<f64> = draw(6, 2, 60, &mut random).iter().filter_map(|suite| matrix.score(suite)).collect();
        let same: Vec<(f64, f64)> = scores.iter().map(|score| (*score, *score)).collect();
        let found = at_size(2, &same, &mut random);
        for Estimate { value, interval } in [found.pearson.unwrap(), found.kendall.unwrap()] {
            assert!((value - 1.0).abs() < 1e-12 && interval.unwrap().0 > 1.0 - 1e-12);
        }
        let constant: Vec<(f64, f64)> = scores.iter().map(|score| (*score, 0.5)).collect();
        let found = at_size(2, &constant, &mut random);
        assert_eq!((found.suites, found.pearson, found.kendall), (60, None, None));
    }

    #[test]
    fn the_right_share_of_suites_finds_a_planted_fault() {
        // Two of six tests find it: of all pairs of tests, 1 - (4 choose 2) / (6 choose 2) = 0.6 do.
        let fault = matrix(6, &[&[1, 4]]);
        let drawn = draw(6, 2, 4000, &mut ChaCha8Rng::seed_from_u64(11));
        let found = drawn.iter().filter(|suite| fault.score(suite) == Some(1.0)).count();
        assert!((2280..2520).contains(&found), "{found} of 4000");
    }
}
