//! Which tests cover what, by coverage metric, for studies that judge sub-suites.

use kassay_base::error::{Error, Result};
use kassay_judge::coverage::mcdc;
use kassay_results::result::compare::MetricLeftOut;
use kassay_results::result::cover::{CoverResult, METRICS};
use kassay_results::result::def_use::DefUsePair;
use kassay_results::result::mcdc::{Criterion, McdcCondition, McdcDecision};
use kassay_study::goals::{Goal, Metric};

use super::cover::{CoverOptions, cover};
use super::opened::Opened;

/// Measures the metrics of a suite's tests: those of sites, `mcdc` (masking), `def_use` (pairs of all kinds) and
/// `def_use_inter_item` (pairs of definitions and uses in different work-items). A metric is absent if the kernel has
/// nothing that it counts. Def-use is also absent, with the reason, if definitions cannot be followed in the kernel.
///
/// # Errors
/// As [`cover`].
pub(super) fn measure(opened: &Opened) -> Result<(Vec<Metric>, Vec<MetricLeftOut>)> {
    let options = CoverOptions::new().mcdc(Some(Criterion::Masking)).repeats(1);
    let (result, left_out) = match cover(opened, &options.clone().def_use(true)) {
        // Such as too many pairs. If it is something else, it fails again.
        Err(Error::Caller(report)) => {
            (cover(opened, &options)?, vec![MetricLeftOut { metric: "def_use".into(), reason: report.what }])
        }
        result => (result?, Vec::new()),
    };
    Ok((metrics(&result), left_out))
}

fn metrics(result: &CoverResult) -> Vec<Metric> {
    let mut metrics: Vec<Metric> = Vec::new();
    for outcome in &result.sites {
        let covered_by = outcome.hits_by_test.iter().filter(|(_, hits)| **hits > 0).map(|(test, _)| test.clone());
        let at = metrics.iter().position(|metric| metric.name == outcome.kind).unwrap_or_else(|| {
            metrics.push(Metric { name: outcome.kind.clone(), goals: Vec::new() });
            metrics.len() - 1
        });
        metrics[at].goals.push(Goal::of(covered_by.collect()));
    }
    let order = |metric: &Metric| METRICS.iter().position(|known| known.site_kind == metric.name);
    metrics.sort_by_key(order);
    let decisions = result.mcdc.iter().flat_map(|mcdc| &mcdc.decisions);
    let pairs = |is_meant: &dyn Fn(&DefUsePair) -> bool| {
        let pairs = result.def_use.iter().flat_map(|def_use| &def_use.pairs);
        pairs.filter(|pair| is_meant(pair)).map(|pair| Goal::of(pair.tests.clone())).collect()
    };
    let more = [
        ("mcdc", decisions.flat_map(conditions).collect::<Vec<Goal>>()),
        ("def_use", pairs(&|_| true)),
        ("def_use_inter_item", pairs(&|pair| pair.kind.is_inter_item())),
    ];
    let named = more.into_iter().map(|(name, goals)| Metric { name: name.to_owned(), goals });
    metrics.extend(named.filter(|metric| !metric.goals.is_empty()));
    metrics
}

/// The conditions of a decision that count. Two vectors that show one may come from different tests.
fn conditions(decision: &McdcDecision) -> Vec<Goal> {
    let tests = |vector: usize| -> Vec<String> {
        let hits = &decision.vectors[vector].hits_by_test;
        hits.iter().filter(|(_, hits)| **hits > 0).map(|(test, _)| test.clone()).collect()
    };
    let goal = |(number, condition): (usize, &McdcCondition)| {
        let pairs = mcdc::pairs(decision, number, Criterion::Masking);
        let ways = pairs.into_iter().map(|pair| pair.map(tests).to_vec()).collect();
        condition.reason.is_none().then_some(Goal { ways })
    };
    let counts = decision.reason.is_none();
    decision.conditions.iter().enumerate().filter(|_| counts).filter_map(goal).collect()
}
