//! Computes the metrics: totals over sites and tests.

use std::collections::BTreeMap;

use super::tally::SiteTally;
use crate::cfg::sites::{LoopClass, SiteKind, Sites};
use crate::result::cover::{Coverage, LoopApplicable, LoopCoverage, SiteOutcome};
use crate::result::{Location, Ratio};

/// The tally of one completed test.
#[derive(Debug, Clone)]
pub struct TestTally {
    /// Name of the test.
    pub name: String,
    /// Tallies of the sites, in the order of `Sites::sites`.
    pub sites: Vec<SiteTally>,
    /// Number of work-items of the launch.
    pub items: u64,
}

/// The metrics of all tests together. `counts` says that hits are numbers of work-items, which average
/// statement coverage needs.
pub fn coverage(sites: &Sites, tests: &[TestTally], counts: bool) -> Coverage {
    let covered = |s: usize, o: usize| tests.iter().any(|t| t.sites[s].hits[o] > 0);
    let ratio = |kind: SiteKind| {
        let mut ratio = Ratio::default();
        for (s, site) in sites.sites.iter().enumerate().filter(|(_, s)| s.kind == kind) {
            ratio.total += site.outcomes.len() as u64;
            ratio.covered += (0..site.outcomes.len()).filter(|o| covered(s, *o)).count() as u64;
        }
        ratio
    };
    let mut loops = LoopCoverage::default();
    let mut applicable = LoopApplicable::default();
    for (s, site) in sites.sites.iter().enumerate().filter(|(_, s)| s.kind == SiteKind::Loop) {
        loops.total += 1;
        for (o, outcome) in site.outcomes.iter().enumerate() {
            let hit = u64::from(covered(s, o));
            match outcome.label.as_str() {
                l if l == LoopClass::Zero.name() => {
                    applicable.zero += 1;
                    loops.zero += hit;
                }
                l if l == LoopClass::One.name() => loops.one += hit,
                l if l == LoopClass::Many.name() => loops.many += hit,
                _ => {
                    applicable.boundary += 1;
                    loops.boundary += hit;
                }
            }
        }
    }
    loops.applicable = applicable;
    Coverage {
        branch: ratio(SiteKind::Branch),
        condition: ratio(SiteKind::Condition),
        loops,
        barrier: ratio(SiteKind::Barrier),
        line: ratio(SiteKind::Line),
        statement: ratio(SiteKind::Statement),
        least_branch: ratio(SiteKind::Region),
        average_statement: if counts { average_statement(sites, tests) } else { None },
    }
}

/// Average statement coverage (LIU 5.2): per statement the share of work-items that execute it, averaged over the
/// statements, in percent. The work-items of all tests count together.
fn average_statement(sites: &Sites, tests: &[TestTally]) -> Option<f64> {
    let items: u64 = tests.iter().map(|t| t.items).sum();
    let shares: Vec<f64> = sites
        .sites
        .iter()
        .enumerate()
        .filter(|(_, site)| site.kind == SiteKind::Statement)
        .map(|(s, _)| tests.iter().map(|t| t.sites[s].hits[0]).sum::<u64>() as f64 / items as f64)
        .collect();
    (items > 0 && !shares.is_empty()).then(|| 100.0 * shares.iter().sum::<f64>() / shares.len() as f64)
}

/// One entry per outcome of each site, in order of file, line and column.
pub fn outcomes(sites: &Sites, tests: &[TestTally], main_file: &str) -> Vec<SiteOutcome> {
    let mut all = Vec::new();
    for (s, site) in sites.sites.iter().enumerate() {
        let location = match &site.location {
            Some(l) => Location { file: l.file.clone(), line: l.line, column: l.column },
            None => Location { file: main_file.to_owned(), line: 0, column: 0 },
        };
        let divergent = matches!(site.kind, SiteKind::Branch | SiteKind::Barrier)
            .then(|| tests.iter().map(|t| t.sites[s].divergent_groups).sum());
        for (o, outcome) in site.outcomes.iter().enumerate() {
            let hits_by_test: BTreeMap<String, u64> =
                tests.iter().map(|t| (t.name.clone(), t.sites[s].hits[o])).collect();
            all.push(SiteOutcome {
                id: site.id.clone(),
                kind: site.kind.name().to_owned(),
                construct: site.construct.clone(),
                function: sites.functions[site.function].cfg.function.clone(),
                location: location.clone(),
                outcome: outcome.label.clone(),
                covered: hits_by_test.values().any(|h| *h > 0),
                hits_by_test,
                divergent_groups: divergent,
            });
        }
    }
    all.sort_by(|a, b| a.location.cmp(&b.location));
    all
}
