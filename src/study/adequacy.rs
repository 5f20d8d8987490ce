//! How well tests that suffice for one set of mutants do for another.

use rand::Rng;

use super::correlation::{Estimate, estimate, mean};
use super::kill_matrix::KillMatrix;
use super::mutant_sets::adequate_suite;

/// What minimal suites that are adequate for one set achieve on another.
#[derive(Debug, Clone, PartialEq)]
pub struct CrossAdequacy {
    /// The mean number of tests in a suite.
    pub tests: Estimate,
    /// The mean share of the other set's killed mutants that a suite kills, from 0 to 1; `None` if no test of the pool
    /// kills any of these.
    pub score: Option<Estimate>,
}

/// Draws minimal suites that kill all mutants of `of` that any test of the pool kills, and judges them on `on`. Mutants
/// of `on` that no test kills do not count, as no suite could kill them. `None` if no suites are asked for.
pub fn cross_adequacy(
    of: &KillMatrix,
    on: &KillMatrix,
    samples: usize,
    random: &mut impl Rng,
) -> Option<CrossAdequacy> {
    let suites: Vec<_> = (0..samples).map(|_| adequate_suite(of, random)).collect();
    let killed = on.of(&on.killed().collect::<Vec<_>>());
    let sizes: Vec<f64> = suites.iter().map(|suite| suite.count_ones(..) as f64).collect();
    let scores: Vec<f64> = suites.iter().filter_map(|suite| killed.score(suite)).collect();
    Some(CrossAdequacy { tests: estimate(&sizes, mean, random)?, score: estimate(&scores, mean, random) })
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    use super::super::kill_matrix::tests::matrix;
    use super::*;

    #[test]
    fn suites_for_a_finer_set_suffice_for_a_coarser_one_and_not_the_other_way() {
        let fine = matrix(4, &[&[0], &[1], &[2]]);
        // Each minimal suite has one of the tests 0 and 1; none is needed for what no test kills.
        let coarse = matrix(4, &[&[0, 1], &[0, 1, 2], &[]]);
        let mut random = ChaCha8Rng::seed_from_u64(2);
        let there = cross_adequacy(&fine, &coarse, 200, &mut random).unwrap();
        assert_eq!((there.tests.value, there.tests.interval), (3.0, Some((3.0, 3.0))));
        assert_eq!(there.score.unwrap().value, 1.0);
        let back = cross_adequacy(&coarse, &fine, 200, &mut random).unwrap();
        assert_eq!(back.tests.value, 1.0);
        assert!((back.score.unwrap().value - 1.0 / 3.0).abs() < 1e-12);
    }

    #[test]
    fn the_interval_of_a_mean_that_varies_holds_it() {
        // A suite for the first set has test 0 or test 1, each as likely; only test 0 kills the second set's mutant.
        let mut random = ChaCha8Rng::seed_from_u64(4);
        let found = cross_adequacy(&matrix(2, &[&[0, 1]]), &matrix(2, &[&[0]]), 200, &mut random).unwrap();
        let (low, high) = found.score.unwrap().interval.unwrap();
        assert!(low < 0.5 && 0.5 < high && high - low < 0.2, "{low} to {high}");
    }

    #[test]
    fn without_killed_mutants_there_is_no_score() {
        let mut random = ChaCha8Rng::seed_from_u64(6);
        let found = cross_adequacy(&matrix(2, &[&[0]]), &matrix(2, &[&[]]), 10, &mut random).unwrap();
        assert_eq!(found.score, None);
        assert_eq!(cross_adequacy(&matrix(2, &[&[0]]), &matrix(2, &[&[0]]), 0, &mut random), None);
    }
}
