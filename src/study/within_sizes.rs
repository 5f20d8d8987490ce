//! Correlations of two measures over random sub-suites of several sizes: at each size, and within all sizes together.
//!
//! Larger suites have higher values of any measure, so sub-suites are compared with others of their size only. At many
//! sizes one measure may be the same for all sub-suites: nearly all of them find all faults, or nearly none finds any.
//! What can be learnt from the others is in the correlation within sizes.

use rand::Rng;

use super::correlation::{Estimate, RESAMPLES, Sums, resampled, with_interval};

/// How two measures of random sub-suites go together.
#[derive(Debug, Clone, PartialEq)]
pub struct Correlated {
    /// By size, in the order given.
    pub at_sizes: Vec<AtSize>,
    /// Within all sizes.
    pub within: Within,
}

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

/// How two measures of random sub-suites go together within sizes ([`Sums`]).
#[derive(Debug, Clone, PartialEq)]
pub struct Within {
    /// How many sizes there are.
    pub sizes: usize,
    /// At how many of them both measures vary, so that the correlation at that size is defined.
    pub defined: usize,
    /// Sub-suites of all sizes for which both measures are defined.
    pub suites: usize,
    /// Pearson's correlation; `None` if a measure does not vary at any size.
    pub pearson: Option<Estimate>,
    /// Kendall's τ-b; `None` as above.
    pub kendall: Option<Estimate>,
}

/// Correlates two measures. `pairs` has, by the number of tests in a sub-suite, both measures of each sub-suite.
/// `random` returns the random numbers for the bootstrap of a size. That of all sizes together resamples each size by
/// itself.
pub fn correlate<R: Rng>(pairs: &[(usize, Vec<(f64, f64)>)], mut random: impl FnMut(usize) -> R) -> Correlated {
    let mut all_resamples = vec![Sums::default(); RESAMPLES];
    let (mut at_sizes, mut sums) = (Vec::new(), Vec::new());
    for (tests, pairs) in pairs {
        let own = Sums::of(pairs);
        let resamples = match pairs.is_empty() {
            true => Vec::new(),
            false => resampled(pairs, Sums::of, &mut random(*tests)),
        };
        at_sizes.push(AtSize {
            tests: *tests,
            suites: pairs.len(),
            pearson: estimate(&own, &resamples, Sums::pearson),
            kendall: estimate(&own, &resamples, Sums::kendall),
        });
        sums.push(own);
        for (all, one) in all_resamples.iter_mut().zip(resamples) {
            *all = [*all, one].into_iter().sum();
        }
    }
    let all: Sums = sums.iter().copied().sum();
    let within = Within {
        sizes: pairs.len(),
        defined: sums.iter().filter(|sums| sums.vary()).count(),
        suites: at_sizes.iter().map(|at| at.suites).sum(),
        pearson: estimate(&all, &all_resamples, Sums::pearson),
        kendall: estimate(&all, &all_resamples, Sums::kendall),
    };
    Correlated { at_sizes, within }
}

fn estimate(sums: &Sums, resamples: &[Sums], statistic: fn(&Sums) -> Option<f64>) -> Option<Estimate> {
    Some(with_interval(statistic(sums)?, resamples.iter().filter_map(statistic).collect()))
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    use super::super::kill_matrix::tests::matrix;
    use super::super::sub_suites::draw;
    use super::*;

    fn random(size: usize) -> ChaCha8Rng {
        ChaCha8Rng::seed_from_u64(size as u64)
    }

    #[test]
    fn a_measure_correlates_with_itself_and_not_with_a_constant() {
        let matrix = matrix(6, &[&[0], &[1, 2], &[3], &[4, 5], &[2, 5]]);
        let scores: Vec<f64> = draw(6, 2, 60, &mut random(5)).iter().filter_map(|suite| matrix.score(suite)).collect();
        let same: Vec<(f64, f64)> = scores.iter().map(|score| (*score, *score)).collect();
        let found = correlate(&[(2, same)], random);
        for Estimate { value, interval } in [found.at_sizes[0].pearson.unwrap(), found.at_sizes[0].kendall.unwrap()] {
            assert!((value - 1.0).abs() < 1e-12 && interval.unwrap().0 > 1.0 - 1e-12);
        }
        // With one size there is nothing else to compare.
        assert_eq!(found.within.pearson, found.at_sizes[0].pearson);
        assert_eq!(found.within.kendall, found.at_sizes[0].kendall);
        let constant: Vec<(f64, f64)> = scores.iter().map(|score| (*score, 0.5)).collect();
        let found = correlate(&[(2, constant)], random);
        assert_eq!((found.at_sizes[0].suites, found.at_sizes[0].pearson, found.at_sizes[0].kendall), (60, None, None));
        assert_eq!((found.within.defined, found.within.pearson, found.within.kendall), (0, None, None));
    }

    #[test]
    fn sizes_at_which_nothing_varies_do_not_make_the_whole_undefined() {
        // As worked out in `correlation`: 0.5 and 1/3 at the first size, undefined at the others.
        let pairs = [
            (1, vec![(1.0, 1.0), (2.0, 3.0), (3.0, 2.0)]),
            (2, vec![(9.0, 9.0); 3]),
            (3, vec![(9.0, 9.0), (9.0, 9.0)]),
            (4, Vec::new()),
        ];
        let Correlated { at_sizes, within } = correlate(&pairs, random);
        assert_eq!(at_sizes.iter().map(|at| at.pearson.is_some()).collect::<Vec<_>>(), [true, false, false, false]);
        assert_eq!((within.sizes, within.defined, within.suites), (4, 1, 8));
        assert!((within.pearson.unwrap().value - 0.5).abs() < 1e-12);
        assert!((within.kendall.unwrap().value - 1.0 / 3.0).abs() < 1e-12);
    }

    #[test]
    fn what_sizes_have_in_common_is_no_correlation() {
        // Two measures that have nothing to do with each other, but grow with the size.
        let mut numbers = random(7);
        let mut at =
            |size: f64| (0..200).map(|_| (size + numbers.random::<f64>(), size + numbers.random::<f64>())).collect();
        let pairs: Vec<(usize, Vec<(f64, f64)>)> = vec![(1, at(1.0)), (2, at(2.0)), (3, at(3.0))];
        let together: Vec<(f64, f64)> = pairs.iter().flat_map(|(_, pairs)| pairs.clone()).collect();
        assert!(Sums::of(&together).pearson().unwrap() > 0.8);
        let within = correlate(&pairs, random).within;
        for Estimate { value, interval } in [within.pearson.unwrap(), within.kendall.unwrap()] {
            let (low, high) = interval.unwrap();
            assert!(value.abs() < 0.1 && low < value && value < high && high - low < 0.2, "{value}: {low} to {high}");
        }
    }
}
