//! Random sub-suites of a pool of tests.

use rand::Rng;
use rand::seq::index;

use super::kill_matrix::TestSet;

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
    fn the_right_share_of_suites_finds_a_planted_fault() {
        // Two of six tests find it: of all pairs of tests, 1 - (4 choose 2) / (6 choose 2) = 0.6 do.
        let fault = matrix(6, &[&[1, 4]]);
        let drawn = draw(6, 2, 4000, &mut ChaCha8Rng::seed_from_u64(11));
        let found = drawn.iter().filter(|suite| fault.score(suite) == Some(1.0)).count();
        assert!((2280..2520).contains(&found), "{found} of 4000");
    }
}
