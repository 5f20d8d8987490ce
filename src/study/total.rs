//! Sums comparisons up over kernels.

use std::collections::BTreeMap;

use kassay_results::result::compare::{
    Cost, CrossRow, Interval, KernelComparison, LevelRow, Total, TotalCorrelation, TotalCross, TotalFaultCorrelation,
};
use kassay_results::result::sum;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use super::correlation::{estimate, mean};
use super::study::interval;

/// Sums up. The rows are in the order in which they first occur; `seed` is that of the intervals over kernels.
pub fn total(kernels: &[KernelComparison], seed: u64) -> Total {
    let mut levels: Vec<LevelRow> = Vec::new();
    let mut crosses: Vec<(String, String)> = Vec::new();
    let mut twins: BTreeMap<String, u64> = BTreeMap::new();
    for kernel in kernels {
        for row in &kernel.levels {
            match levels.iter_mut().find(|sum| sum.level == row.level && sum.concept == row.concept) {
                Some(sum) => add(sum, row),
                None => levels.push(row.clone()),
            }
        }
        for row in &kernel.cross {
            let pair = (row.adequate_on.clone(), row.scored_on.clone());
            if !crosses.contains(&pair) {
                crosses.push(pair);
            }
        }
        for pair in &kernel.twins {
            *twins.entry(format!("{} = {}", pair.level, pair.other_level)).or_default() += 1;
        }
    }
    levels.iter_mut().for_each(|row| row.score = score(row));
    // One level's concepts together.
    let order: Vec<String> = levels.iter().map(|row| row.level.clone()).collect();
    levels.sort_by_key(|row| order.iter().position(|level| *level == row.level));
    let cross = crosses.into_iter().map(|(of, on)| total_cross(kernels, of, on, seed)).collect();
    Total {
        kernels: kernels.len() as u64,
        levels,
        cross,
        twins,
        correlation: correlation(kernels, seed),
        against_faults: against_faults(kernels, seed),
    }
}

/// The correlations of what has the same name, of several kernels.
struct Gathered<K> {
    name: K,
    pearson: Vec<Option<f64>>,
    kendall: Vec<Option<f64>>,
}

/// Gathers correlations by name, in the order in which names first occur.
fn gather<K: PartialEq>(rows: impl Iterator<Item = (K, Option<Interval>, Option<Interval>)>) -> Vec<Gathered<K>> {
    let mut all: Vec<Gathered<K>> = Vec::new();
    for (name, pearson, kendall) in rows {
        let at = all.iter().position(|known| known.name == name).unwrap_or_else(|| {
            all.push(Gathered { name, pearson: Vec::new(), kendall: Vec::new() });
            all.len() - 1
        });
        all[at].pearson.push(pearson.map(|estimate| estimate.mean));
        all[at].kendall.push(kendall.map(|estimate| estimate.mean));
    }
    all
}

/// The mean of those that are defined, with its interval over kernels.
fn over_kernels(values: &[Option<f64>], random: &mut ChaCha8Rng) -> Option<Interval> {
    let values: Vec<f64> = values.iter().copied().flatten().collect();
    estimate(&values, mean, random).map(interval)
}

fn correlation(kernels: &[KernelComparison], seed: u64) -> Vec<TotalCorrelation> {
    let rows = kernels.iter().flat_map(|kernel| &kernel.correlation_within_sizes);
    let named = rows.map(|row| ((row.level.clone(), row.other_level.clone()), row.pearson, row.kendall));
    let total = |Gathered { name: (level, other_level), pearson, kendall }: Gathered<(String, String)>| {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        TotalCorrelation {
            level,
            other_level,
            kernels: pearson.len() as u64,
            defined: pearson.iter().flatten().count() as u64,
            pearson: over_kernels(&pearson, &mut random),
            kendall: over_kernels(&kendall, &mut random),
        }
    };
    gather(named).into_iter().map(total).collect()
}

fn against_faults(kernels: &[KernelComparison], seed: u64) -> Vec<TotalFaultCorrelation> {
    let rows = kernels.iter().flat_map(|kernel| &kernel.against_faults_within_sizes);
    let named = rows.map(|row| (row.measure.clone(), row.pearson, row.kendall));
    let total = |Gathered { name: measure, pearson, kendall }: Gathered<String>| {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        TotalFaultCorrelation {
            measure,
            kernels: pearson.len() as u64,
            defined: pearson.iter().flatten().count() as u64,
            pearson: over_kernels(&pearson, &mut random),
            kendall: over_kernels(&kendall, &mut random),
        }
    };
    gather(named).into_iter().map(total).collect()
}

/// Adds all numbers; the score is left to [`score`].
fn add(sum: &mut LevelRow, row: &LevelRow) {
    sum.generated = sum.generated.saturating_add(row.generated);
    sum.compile_error = sum.compile_error.saturating_add(row.compile_error);
    sum.ignored = sum.ignored.saturating_add(row.ignored);
    sum.equivalent = sum.equivalent.saturating_add(row.equivalent);
    sum.equivalent_for_launches = sum.equivalent_for_launches.saturating_add(row.equivalent_for_launches);
    sum.duplicate = sum.duplicate.saturating_add(row.duplicate);
    sum.killed = sum.killed.saturating_add(row.killed);
    sum.timeout = sum.timeout.saturating_add(row.timeout);
    sum.runtime_error = sum.runtime_error.saturating_add(row.runtime_error);
    sum.survived = sum.survived.saturating_add(row.survived);
    sum.undecided = sum.undecided.saturating_add(row.undecided);
    sum.no_coverage = sum.no_coverage.saturating_add(row.no_coverage);
    sum.distinguished = sum.distinguished.saturating_add(row.distinguished);
    sum.minimal = sum.minimal.saturating_add(row.minimal);
    sum.disjoint = sum.disjoint.saturating_add(row.disjoint);
    sum.surface = sum.surface.saturating_add(row.surface);
    sum.hard = sum.hard.saturating_add(row.hard);
    if let (Some(sum), Some(code)) = (&mut sum.code, &row.code) {
        sum.lines = sum.lines.saturating_add(code.lines);
        sum.instructions = sum.instructions.saturating_add(code.instructions);
    }
    if let (Some(sum), Some(cost)) = (&mut sum.cost, &row.cost) {
        let Cost { build_s, run_s, equivalence_s, elapsed_s, builds, executions } = cost;
        sum.build_s += build_s;
        sum.run_s += run_s;
        sum.equivalence_s += equivalence_s;
        sum.elapsed_s += elapsed_s;
        sum.builds = sum.builds.saturating_add(*builds);
        sum.executions = sum.executions.saturating_add(*executions);
    }
}

/// The percentage of mutants that are detected, of those that count.
fn score(row: &LevelRow) -> Option<f64> {
    let detected = sum([row.killed, row.timeout, row.runtime_error]);
    let all = sum([detected, row.survived, row.undecided, row.no_coverage]);
    (all > 0).then(|| 100.0 * detected as f64 / all as f64)
}

fn total_cross(kernels: &[KernelComparison], adequate_on: String, scored_on: String, seed: u64) -> TotalCross {
    let rows: Vec<&CrossRow> = kernels
        .iter()
        .flat_map(|kernel| &kernel.cross)
        .filter(|row| row.adequate_on == adequate_on && row.scored_on == scored_on)
        .collect();
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut over_kernels = |of: &dyn Fn(&CrossRow) -> Option<f64>| -> Option<Interval> {
        let values: Vec<f64> = rows.iter().filter_map(|row| of(row)).collect();
        estimate(&values, mean, &mut random).map(interval)
    };
    let score = over_kernels(&|row| row.mean);
    let suite_size = over_kernels(&|row| Some(row.suite_size.mean));
    let minimal_subsumed = over_kernels(&|row| row.minimal_subsumed);
    TotalCross { adequate_on, scored_on, kernels: rows.len() as u64, score, suite_size, minimal_subsumed }
}
