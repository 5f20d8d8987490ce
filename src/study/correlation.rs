//! Correlation of two measures, and intervals by bootstrap.

use average::Covariance;
use rand::Rng;

/// Resamples of a bootstrap: what Efron and Tibshirani 1993 (section 13.3) ask for where percentiles are read off.
pub const RESAMPLES: usize = 1000;

/// An estimate with its 95 % interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// From the data as it is.
    pub value: f64,
    /// The lower and the upper end: the 2.5th and the 97.5th percentile of the bootstrap. `None` if the statistic is
    /// undefined for more than half of the resamples.
    pub interval: Option<(f64, f64)>,
}

/// What Pearson's and Kendall's correlations of pairs of values are computed from. Those of several sets add up to the
/// correlation *within* the sets: deviations are those from the set's own means, and pairs are compared with others of
/// their set only. So it is Pearson's partial correlation given the set (as a factor), and Kendall's τ-b with the set
/// as a blocking variable (Korn 1984).
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Sums {
    /// Sums of squared deviations from the mean, of each side.
    squares: (f64, f64),
    /// The sum of products of deviations.
    products: f64,
    /// Numbers of two pairs that differ, by side.
    untied: (f64, f64),
    /// Concordant less discordant.
    concordance: f64,
}

impl Sums {
    /// Those of one set.
    pub fn of(pairs: &[(f64, f64)]) -> Sums {
        let count = pairs.len() as f64;
        if pairs.is_empty() {
            return Sums::default();
        }
        let covariance = pairs.iter().copied().collect::<Covariance>();
        let (x, y): (Vec<f64>, Vec<f64>) = pairs.iter().copied().unzip();
        let untied = (untied(&x), untied(&y));
        let tau = kendalls::tau_b_with_comparator(&x, &y, f64::total_cmp).ok();
        // Undefined where a side does not vary: no two pairs are concordant then.
        let concordance = tau.map(|(tau, _)| (tau * (untied.0 * untied.1).sqrt()).round());
        Sums {
            squares: (count * covariance.population_variance_x(), count * covariance.population_variance_y()),
            products: count * covariance.population_covariance(),
            untied,
            concordance: concordance.filter(|sum| sum.is_finite()).unwrap_or(0.0),
        }
    }

    /// Whether both sides vary, so that both correlations are defined.
    pub fn vary(&self) -> bool {
        self.untied.0 > 0.0 && self.untied.1 > 0.0
    }

    /// Pearson's product-moment correlation; `None` if one side does not vary.
    pub fn pearson(&self) -> Option<f64> {
        // Rounding may lead a little beyond the bounds.
        self.vary().then(|| (self.products / (self.squares.0 * self.squares.1).sqrt()).clamp(-1.0, 1.0))
    }

    /// Kendall's τ-b (Kendall 1945); `None` as above.
    pub fn kendall(&self) -> Option<f64> {
        self.vary().then(|| (self.concordance / (self.untied.0 * self.untied.1).sqrt()).clamp(-1.0, 1.0))
    }
}

impl std::iter::Sum for Sums {
    fn sum<I: Iterator<Item = Sums>>(all: I) -> Sums {
        all.fold(Sums::default(), |a, b| Sums {
            squares: (a.squares.0 + b.squares.0, a.squares.1 + b.squares.1),
            products: a.products + b.products,
            untied: (a.untied.0 + b.untied.0, a.untied.1 + b.untied.1),
            concordance: a.concordance + b.concordance,
        })
    }
}

/// The number of two of the values that differ.
fn untied(values: &[f64]) -> f64 {
    let two_of = |count: usize| count as f64 * (count as f64 - 1.0) / 2.0;
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    two_of(sorted.len()) - sorted.chunk_by(|a, b| a == b).map(|tied| two_of(tied.len())).sum::<f64>()
}

/// The arithmetic mean; `None` of nothing.
pub fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// Estimates a statistic with its 95 % interval by the percentile bootstrap (Efron and Tibshirani 1993, section 13.3):
/// the data is drawn anew [`RESAMPLES`] times, each time as many with replacement as there are. `None` if the statistic
/// is undefined for the data.
pub fn estimate<T: Copy>(
    data: &[T],
    statistic: impl Fn(&[T]) -> Option<f64>,
    random: &mut impl Rng,
) -> Option<Estimate> {
    let value = statistic(data)?;
    Some(with_interval(value, resampled(data, statistic, random).into_iter().flatten().collect()))
}

/// Computes a statistic for each of [`RESAMPLES`] resamples of the data, which is not empty.
pub fn resampled<T: Copy, S>(data: &[T], statistic: impl Fn(&[T]) -> S, random: &mut impl Rng) -> Vec<S> {
    let mut drawn = data.to_vec();
    let one = |_| {
        drawn.iter_mut().for_each(|slot| *slot = data[random.random_range(0..data.len())]);
        statistic(&drawn)
    };
    (0..RESAMPLES).map(one).collect()
}

/// Puts an estimate together from its value and those of the resamples for which it is defined.
pub fn with_interval(value: f64, mut resampled: Vec<f64>) -> Estimate {
    resampled.sort_by(f64::total_cmp);
    let is_defined = 2 * resampled.len() > RESAMPLES;
    let interval = is_defined.then(|| (quantile(&resampled, 0.025), quantile(&resampled, 0.975)));
    Estimate { value, interval }
}

/// The quantile of sorted values, linear between two (type 7 of Hyndman and Fan 1996).
///
/// # Panics
/// If there are no values.
pub fn quantile(sorted: &[f64], share: f64) -> f64 {
    let position = share * (sorted.len() - 1) as f64;
    let below = sorted[position.floor() as usize];
    let above = sorted[position.ceil() as usize];
    below + (above - below) * position.fract()
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    use super::*;

    fn close(found: Option<f64>, expected: f64) {
        let found = found.expect("it is defined");
        assert!((found - expected).abs() < 1e-12, "{found} for {expected}");
    }

    #[test]
    fn correlations_that_were_worked_out_by_hand() {
        let line = [(1.0, 3.0), (2.0, 5.0), (3.0, 7.0)];
        close(Sums::of(&line).pearson(), 1.0);
        close(Sums::of(&line).kendall(), 1.0);
        let falling = line.map(|(x, y)| (x, -y));
        close(Sums::of(&falling).pearson(), -1.0);
        close(Sums::of(&falling).kendall(), -1.0);
        // Means 2 and 2; products of deviations (-1)(-1) + 0 + (1)(0) = 1; sums of squares 2 and 2.
        close(Sums::of(&[(1.0, 1.0), (2.0, 3.0), (3.0, 2.0)]).pearson(), 0.5);
        // Of three pairs two are concordant and one discordant.
        close(Sums::of(&[(1.0, 1.0), (2.0, 3.0), (3.0, 2.0)]).kendall(), 1.0 / 3.0);
        // A tie in x: two concordant of sqrt(2 * 3).
        close(Sums::of(&[(1.0, 1.0), (1.0, 2.0), (2.0, 3.0)]).kendall(), 2.0 / 6.0_f64.sqrt());
    }

    #[test]
    fn correlations_within_sets_that_were_worked_out_by_hand() {
        let all = |sets: &[&[(f64, f64)]]| sets.iter().map(|set| Sums::of(set)).sum::<Sums>();
        // Both rise from set to set, and fall within each: together the correlation would be positive.
        let sets: [&[(f64, f64)]; 2] = [&[(1.0, 2.0), (2.0, 1.0)], &[(11.0, 12.0), (12.0, 11.0)]];
        assert_eq!((all(&sets).pearson(), all(&sets).kendall()), (Some(-1.0), Some(-1.0)));
        assert!(Sums::of(&sets.concat()).pearson().unwrap() > 0.9);
        // Products 1 (as above) and -0.5; squares 2 + 0.5 and 2 + 0.5. One concordant of three, less one.
        let sets: [&[(f64, f64)]; 2] = [&[(1.0, 1.0), (2.0, 3.0), (3.0, 2.0)], &[(5.0, 1.0), (6.0, 0.0)]];
        close(all(&sets).pearson(), 0.5 / 2.5);
        close(all(&sets).kendall(), 0.0);
        // A set in which one side alone varies adds to that side only: squares 2 and 2.5, pairs 3 and 4.
        let sets: [&[(f64, f64)]; 2] = [&[(1.0, 1.0), (2.0, 3.0), (3.0, 2.0)], &[(7.0, 1.0), (7.0, 2.0)]];
        assert!(!Sums::of(sets[1]).vary());
        close(all(&sets).pearson(), 1.0 / 5.0_f64.sqrt());
        close(all(&sets).kendall(), 1.0 / 12.0_f64.sqrt());
        // A set in which nothing varies adds nothing.
        assert_eq!(all(&[sets[0], &[(7.0, 1.0), (7.0, 1.0)]]), Sums::of(sets[0]));
    }

    #[test]
    fn what_does_not_vary_has_no_correlation() {
        for pairs in [&[][..], &[(1.0, 2.0)], &[(1.0, 2.0), (1.0, 3.0)], &[(1.0, 2.0), (3.0, 2.0)]] {
            assert_eq!((Sums::of(pairs).pearson(), Sums::of(pairs).kendall()), (None, None));
        }
        assert_eq!(mean(&[]), None);
    }

    #[test]
    fn correlations_are_those_of_scipy() {
        // SciPy 1.17.1, stats.pearsonr and stats.kendalltau (variant b).
        let x = [0.12, 0.5, 0.33, 0.9, 0.5, 0.71, 0.12, 0.64];
        let y = [0.2, 0.41, 0.41, 0.85, 0.6, 0.6, 0.1, 0.93];
        let pairs: Vec<(f64, f64)> = x.into_iter().zip(y).collect();
        close(Sums::of(&pairs).pearson(), 0.8946609970993472);
        close(Sums::of(&pairs).kendall(), 0.7692307692307694);
        let a = [3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8].map(f64::from);
        let b = [2, 7, 1, 8, 2, 8, 1, 8, 2, 8, 4, 5].map(f64::from);
        let pairs: Vec<(f64, f64)> = a.into_iter().zip(b).collect();
        close(Sums::of(&pairs).pearson(), 0.09979900759721551);
        close(Sums::of(&pairs).kendall(), 0.17109647770728875);
        // Whether a suite finds one fault, and its score.
        let found = [0, 0, 0, 1, 1, 1, 1, 0].map(f64::from);
        let score = [0.1, 0.2, 0.2, 0.9, 0.8, 0.2, 0.9, 0.1];
        let pairs: Vec<(f64, f64)> = found.into_iter().zip(score).collect();
        close(Sums::of(&pairs).pearson(), 0.7959320658216638);
        close(Sums::of(&pairs).kendall(), 0.7298004491997617);
    }

    #[test]
    fn intervals_come_close_to_those_of_scipy() {
        // SciPy 1.17.1, stats.bootstrap(method="percentile", n_resamples=200000): 0.765 to 0.8883.
        let sample = [0.91, 0.72, 0.88, 0.95, 0.61, 0.83, 0.79, 0.99, 0.70, 0.86, 0.93, 0.77];
        let found = estimate(&sample, mean, &mut ChaCha8Rng::seed_from_u64(1)).unwrap();
        let (low, high) = found.interval.unwrap();
        assert!((found.value - 0.8283333333333334).abs() < 1e-12);
        assert!((low - 0.765).abs() < 0.004 && (high - 0.8883).abs() < 0.004, "{low} to {high}");
    }

    #[test]
    fn quantiles_lie_between_the_values() {
        let values = [1.0, 2.0, 4.0, 8.0];
        assert_eq!((quantile(&values, 0.0), quantile(&values, 1.0)), (1.0, 8.0));
        assert_eq!((quantile(&values, 0.5), quantile(&values, 0.25)), (3.0, 1.75));
        assert_eq!(quantile(&[5.0], 0.975), 5.0);
    }

    #[test]
    fn intervals_of_undefined_resamples_are_left_out() {
        let mut random = ChaCha8Rng::seed_from_u64(1);
        // Half of the resamples of two pairs have one pair twice.
        let pairs = [(1.0, 1.0), (2.0, 2.0)];
        let found = estimate(&pairs, |pairs| Sums::of(pairs).pearson(), &mut random).unwrap();
        assert_eq!(found.value, 1.0);
        assert!(found.interval.is_none_or(|interval| interval == (1.0, 1.0)));
        assert_eq!(estimate(&[], mean, &mut random), None);
    }

    #[test]
    fn about_95_of_100_intervals_hold_the_true_mean() {
        let mut random = ChaCha8Rng::seed_from_u64(7);
        let mut hits = 0;
        for _ in 0..400 {
            let sample: Vec<f64> = (0..40).map(|_| random.random::<f64>()).collect();
            let (low, high) = estimate(&sample, mean, &mut random).unwrap().interval.unwrap();
            hits += u32::from(low <= 0.5 && 0.5 <= high);
        }
        assert!((364..=392).contains(&hits), "{hits} of 400");
    }
}
