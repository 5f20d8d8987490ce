//! Computes the metrics: totals over sites and tests.

use std::collections::BTreeMap;

use kassay_ir::cfg::sites::{LoopClass, Site, SiteKind, Sites};
use kassay_results::result::cover::{Coverage, LoopApplicable, LoopCoverage, SiteOutcome};
use kassay_results::result::{Location, Ratio};

use super::tally::SiteTally;

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

/// A site as metrics and results need it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SiteRow<'a> {
    /// Its id in results.
    pub id: &'a str,
    /// Its metric.
    pub kind: SiteKind,
    /// The construct of the source: `if`, `for`, `switch`.
    pub construct: &'a str,
    /// Name of the function that contains it.
    pub function: &'a str,
    /// Line 0 of the kernel's file if it is unknown.
    pub location: Location,
    /// Names of the outcomes.
    pub outcomes: Vec<&'a str>,
}

/// Returns the sites in their order. `main_file` is the kernel's file.
pub fn rows<'a>(sites: &'a Sites, main_file: &str) -> Vec<SiteRow<'a>> {
    let row = |site: &'a Site| SiteRow {
        id: &site.id,
        kind: site.kind,
        construct: &site.construct,
        function: &sites.functions[site.function].cfg.function,
        location: match &site.location {
            Some(l) => Location { file: l.file.clone(), line: l.line, column: l.column },
            None => Location { file: main_file.to_owned(), line: 0, column: 0 },
        },
        outcomes: site.outcomes.iter().map(|o| o.label.as_str()).collect(),
    };
    sites.sites.iter().map(row).collect()
}

/// The metrics of all tests together, without MC/DC ([`super::mcdc`]) and def-use ([`super::def_use`]). `counts` says
/// that hits are numbers of work-items, which average statement coverage needs.
pub fn coverage(sites: &Sites, tests: &[TestTally], counts: bool) -> Coverage {
    coverage_of(&rows(sites, ""), tests, counts)
}

/// As [`coverage`], for sites that were written down before.
pub fn coverage_of(sites: &[SiteRow<'_>], tests: &[TestTally], counts: bool) -> Coverage {
    let covered = |s: usize, o: usize| tests.iter().any(|t| t.sites[s].hits[o] > 0);
    let ratio = |kind: SiteKind| {
        let mut ratio = Ratio::default();
        for (s, site) in sites.iter().enumerate().filter(|(_, s)| s.kind == kind) {
            ratio.total += site.outcomes.len() as u64;
            ratio.covered += (0..site.outcomes.len()).filter(|o| covered(s, *o)).count() as u64;
        }
        ratio
    };
    let mut loops = LoopCoverage::default();
    let mut applicable = LoopApplicable::default();
    for (s, site) in sites.iter().enumerate().filter(|(_, s)| s.kind == SiteKind::Loop) {
        loops.total += 1;
        for (o, outcome) in site.outcomes.iter().enumerate() {
            let hit = u64::from(covered(s, o));
            match *outcome {
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
        mcdc: None,
        def_use: None,
        def_use_inter_item: None,
        average_statement: if counts { average_statement(sites, tests) } else { None },
    }
}

/// Average statement coverage (LIU 5.2): per statement the share of work-items that execute it, averaged over the
/// statements, in percent. The work-items of all tests count together.
fn average_statement(sites: &[SiteRow<'_>], tests: &[TestTally]) -> Option<f64> {
    let items: u128 = tests.iter().map(|t| u128::from(t.items)).sum();
    let statements = sites.iter().enumerate().filter(|(_, site)| site.kind == SiteKind::Statement);
    let hits: Vec<u128> = statements.map(|(s, _)| tests.iter().map(|t| u128::from(t.sites[s].hits[0])).sum()).collect();
    // In whole numbers, so that the order of statements and tests does not matter.
    let all = items * hits.len() as u128;
    (all > 0).then(|| 100.0 * hits.iter().sum::<u128>() as f64 / all as f64)
}

/// One entry per outcome of each site, in order of file, line and column; none for test vectors.
pub fn outcomes(sites: &Sites, tests: &[TestTally], main_file: &str) -> Vec<SiteOutcome> {
    outcomes_of(&rows(sites, main_file), tests)
}

/// As [`outcomes`], for sites that were written down before.
pub fn outcomes_of(sites: &[SiteRow<'_>], tests: &[TestTally]) -> Vec<SiteOutcome> {
    let mut all = Vec::new();
    for (s, site) in sites.iter().enumerate().filter(|(_, site)| site.kind != SiteKind::Decision) {
        let divergent = matches!(site.kind, SiteKind::Branch | SiteKind::Barrier)
            .then(|| tests.iter().map(|t| t.sites[s].divergent_groups).fold(0, u64::saturating_add));
        for (o, outcome) in site.outcomes.iter().enumerate() {
            let hits_by_test: BTreeMap<String, u64> =
                tests.iter().map(|t| (t.name.clone(), t.sites[s].hits[o])).collect();
            all.push(SiteOutcome {
                id: site.id.to_owned(),
                kind: site.kind.name().to_owned(),
                construct: site.construct.to_owned(),
                function: site.function.to_owned(),
                location: site.location.clone(),
                outcome: (*outcome).to_owned(),
                covered: hits_by_test.values().any(|h| *h > 0),
                hits_by_test,
                divergent_groups: divergent,
            });
        }
    }
    all.sort_by(|a, b| a.location.cmp(&b.location));
    all
}
