//! How measures of random sub-suites go together: scores of two levels, and scores and coverage with finding faults.

use std::collections::HashMap;

use kassay_results::result::compare::{
    CorrelationRow, FaultCorrelationRow, FaultCorrelationWithin, LevelCorrelationWithin,
};

use super::correlation::mean;
use super::goals::Goals;
use super::kill_matrix::TestSet;
use super::study::{Judged, Study, interval, matrix_of};
use super::sub_suites::{draw, sizes};
use super::within_sizes::correlate;

/// Random sub-suites of one size.
struct Drawn {
    tests: usize,
    suites: Vec<TestSet>,
}

/// A measure of sub-suites.
struct Measured<'a> {
    name: &'a str,
    /// By size and sub-suite; `None` if there is nothing to measure.
    values: Vec<Vec<Option<f64>>>,
}

impl<'a> Measured<'a> {
    fn new(name: &'a str, drawn: &[Drawn], score: impl Fn(&TestSet) -> Option<f64>) -> Measured<'a> {
        Measured { name, values: drawn.iter().map(|at| at.suites.iter().map(&score).collect()).collect() }
    }
}

impl Study<'_> {
    /// The correlation of each two levels' scores: at each size, and within sizes.
    pub(super) fn correlation(
        &self,
        levels: &[Judged<'_>],
        pool: usize,
    ) -> (Vec<CorrelationRow>, Vec<LevelCorrelationWithin>) {
        let drawn = self.drawn(pool);
        let measured: Vec<Measured<'_>> = levels
            .iter()
            .map(|level| Measured::new(&level.run.level, &drawn, |suite| level.matrix.score(suite)))
            .collect();
        let (mut rows, mut all_within) = (Vec::new(), Vec::new());
        for (one, level) in measured.iter().enumerate() {
            for other in &measured[one + 1..] {
                let random = |size: usize| self.random(&["correlation", level.name, other.name, &size.to_string()]);
                let found = correlate(&pairs(&drawn, level, other), random);
                rows.extend(found.at_sizes.into_iter().map(|at| CorrelationRow {
                    level: level.name.to_owned(),
                    other_level: other.name.to_owned(),
                    tests: at.tests as u64,
                    suites: at.suites as u64,
                    pearson: at.pearson.map(interval),
                    kendall: at.kendall.map(interval),
                }));
                all_within.push(LevelCorrelationWithin {
                    level: level.name.to_owned(),
                    other_level: other.name.to_owned(),
                    sizes: found.within.sizes as u64,
                    defined: found.within.defined as u64,
                    suites: found.within.suites as u64,
                    pearson: found.within.pearson.map(interval),
                    kendall: found.within.kendall.map(interval),
                });
            }
        }
        rows.sort_by_key(|row| row.tests);
        (rows, all_within)
    }

    /// Holds the score of each level, and each coverage metric, against the share of the faults that are found.
    pub(super) fn against_faults<'a>(
        &'a self,
        levels: &'a [Judged<'_>],
        used: &HashMap<&str, usize>,
    ) -> (Vec<FaultCorrelationRow>, Vec<FaultCorrelationWithin>) {
        if self.faults.is_empty() {
            return (Vec::new(), Vec::new());
        }
        let drawn = self.drawn(used.len());
        let faults = matrix_of(used, self.faults.iter().map(|fault| fault.found_by.as_slice()));
        let found = Measured::new("faults", &drawn, |suite| faults.score(suite));
        let shares: HashMap<u64, f64> = (drawn.iter().zip(&found.values))
            .map(|(at, shares)| {
                let shares: Vec<f64> = shares.iter().copied().flatten().collect();
                (at.tests as u64, 100.0 * mean(&shares).unwrap_or(0.0))
            })
            .collect();
        let of_level =
            |level: &'a Judged<'_>| Measured::new(&level.run.level, &drawn, |suite| level.matrix.score(suite));
        let mut measured: Vec<Measured<'a>> = levels.iter().map(of_level).collect();
        for metric in self.metrics {
            let goals = Goals::new(metric, used);
            measured.push(Measured::new(&metric.name, &drawn, |suite| goals.score(suite)));
        }
        let (mut rows, mut all_within) = (Vec::new(), Vec::new());
        for measure in &measured {
            let random = |size: usize| self.random(&["faults", measure.name, &size.to_string()]);
            let held = correlate(&pairs(&drawn, measure, &found), random);
            rows.extend(held.at_sizes.into_iter().map(|at| FaultCorrelationRow {
                measure: measure.name.to_owned(),
                tests: at.tests as u64,
                suites: at.suites as u64,
                found: shares.get(&(at.tests as u64)).copied().unwrap_or(0.0),
                pearson: at.pearson.map(interval),
                kendall: at.kendall.map(interval),
            }));
            all_within.push(FaultCorrelationWithin {
                measure: measure.name.to_owned(),
                sizes: held.within.sizes as u64,
                defined: held.within.defined as u64,
                suites: held.within.suites as u64,
                pearson: held.within.pearson.map(interval),
                kendall: held.within.kendall.map(interval),
            });
        }
        rows.sort_by_key(|row| row.tests);
        (rows, all_within)
    }

    /// Draws the sub-suites of all sizes: the same ones for all that is measured.
    fn drawn(&self, pool: usize) -> Vec<Drawn> {
        let of_size = |tests: usize| {
            let mut random = self.random(&["sub-suites", &tests.to_string()]);
            Drawn { tests, suites: draw(pool, tests, self.samples, &mut random) }
        };
        sizes(pool).into_iter().map(of_size).collect()
    }
}

/// Both measures of each sub-suite for which they are defined, by size.
fn pairs(drawn: &[Drawn], one: &Measured<'_>, other: &Measured<'_>) -> Vec<(usize, Vec<(f64, f64)>)> {
    let both = |one: &[Option<f64>], other: &[Option<f64>]| {
        one.iter().zip(other).filter_map(|(one, other)| Some(((*one)?, (*other)?))).collect()
    };
    let values = one.values.iter().zip(&other.values);
    drawn.iter().zip(values).map(|(at, (one, other))| (at.tests, both(one, other))).collect()
}
