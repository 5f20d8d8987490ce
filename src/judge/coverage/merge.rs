//! Merges results of `kassay cover` of one kernel, with other tests or on other devices, into one.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};

use kassay_base::error::{Error, Result};
use kassay_ir::cfg::sites::SiteKind;
use kassay_results::result::cover::{CoverResult, Coverage, SiteOutcome, TestOutcome};
use kassay_results::result::def_use::DefUse;
use kassay_results::result::mcdc::{Mcdc, McdcDecision};
use kassay_results::result::merge::{distinct, join_devices};

use super::mcdc;
use super::measure::median_ratio;
use super::summary::{SiteRow, TestTally, coverage_of};
use super::tally::SiteTally;

/// A result and the file that it was read from.
pub type Part = (PathBuf, CoverResult);

/// Merges results: what a test of one of them covers is covered, and MC/DC is judged anew, as two vectors that show a
/// condition may come from different results. Tests keep their names; one whose name an earlier result has gets that of
/// its file appended. Times are summed, devices joined.
///
/// # Errors
/// `Caller` if there is no result, or results are not of the same kernel, with the same sites and the same metrics.
pub fn merge(mut parts: Vec<Part>) -> Result<CoverResult> {
    let help = "name results of `kassay cover` of one kernel, with the same options";
    let (Some((_, first)), others) = (parts.first(), parts.get(1..).unwrap_or_default()) else {
        return Err(Error::caller("there is no result to merge").help(help));
    };
    others.iter().try_for_each(|other| check_same(&parts[0], other))?;
    parts.iter().try_for_each(check_whole)?;
    let mut notes = distinct(parts.iter().flat_map(|(_, part)| &part.notes));
    if others.iter().any(|(_, other)| other.header.seed != first.header.seed) {
        notes.push("the results have different seeds: `seed` is that of the first".to_owned());
    }
    let mut header = first.header.clone();
    header.device = join_devices(parts.iter().filter_map(|(_, part)| part.header.device.as_ref()));
    make_names_distinct(&mut parts);

    let elapsed_s = parts.iter().map(|(_, part)| part.elapsed_s).sum();
    let mut results = parts.into_iter().map(|(_, part)| part);
    let mut merged = results.next().ok_or_else(|| Error::internal("there is no result to merge"))?;
    for other in results {
        sites(&mut merged.sites, other.sites);
        if let (Some(own), Some(mcdc)) = (&mut merged.mcdc, other.mcdc) {
            for (own, decision) in own.decisions.iter_mut().zip(mcdc.decisions) {
                vectors(own, decision);
            }
        }
        merged.def_use = match (merged.def_use, other.def_use) {
            (Some(own), Some(pairs)) => Some(own.merged(&pairs)),
            _ => None,
        };
        merged.tests.extend(other.tests);
    }
    let mcdc = merged.mcdc.map(|own| mcdc::judge(own.decisions, own.criterion));
    let ratio = |test: &TestOutcome| {
        let original = test.original_s.filter(|s| *s > 0.0)?;
        Some(test.instrumented_s? / original)
    };
    Ok(CoverResult {
        header,
        elapsed_s,
        coverage: Coverage {
            mcdc: mcdc.as_ref().map(Mcdc::ratio),
            def_use: merged.def_use.as_ref().map(DefUse::total),
            def_use_inter_item: merged.def_use.as_ref().map(DefUse::inter_item),
            ..coverage(&merged.sites, &merged.tests, has_counts(&merged.coverage))
        },
        mcdc,
        overhead: median_ratio(merged.tests.iter().filter_map(ratio).collect()),
        complaints: Vec::new(),
        notes,
        ..merged
    })
}

/// Unites outcomes by site and name. Those of a site stay together; new ones are last.
pub(super) fn sites(all: &mut Vec<SiteOutcome>, others: Vec<SiteOutcome>) {
    let mut new: Vec<SiteOutcome> = Vec::new();
    {
        let mut known: HashMap<(&str, &str), usize> = HashMap::new();
        for (at, outcome) in all.iter().enumerate() {
            known.entry((&outcome.id, &outcome.outcome)).or_insert(at);
        }
        let places: Vec<Option<usize>> =
            others.iter().map(|other| known.get(&(other.id.as_str(), other.outcome.as_str())).copied()).collect();
        for (place, other) in places.into_iter().zip(others) {
            let Some(own) = place.and_then(|place| all.get_mut(place)) else {
                new.push(other);
                continue;
            };
            own.covered |= other.covered;
            own.hits_by_test.extend(other.hits_by_test);
            own.divergent_groups = own.divergent_groups.zip(other.divergent_groups).map(|(a, b)| a + b);
        }
    }
    if new.is_empty() {
        return;
    }
    all.extend(new);
    // An outcome that only some variants have, such as a `case` whose value is a macro, goes to those of its site.
    let mut first: HashMap<String, usize> = HashMap::new();
    for (at, outcome) in all.iter().enumerate() {
        first.entry(outcome.id.clone()).or_insert(at);
    }
    all.sort_by_key(|outcome| first.get(&outcome.id).copied());
}

/// Unites who executed the vectors of a decision.
pub(super) fn vectors(own: &mut McdcDecision, other: McdcDecision) {
    for (own, vector) in own.vectors.iter_mut().zip(other.vectors) {
        own.hits_by_test.extend(vector.hits_by_test);
    }
}

fn has_counts(coverage: &Coverage) -> bool {
    coverage.average_statement.is_some()
}

/// Rejects results of different kernels or with different metrics, and names the difference.
fn check_same((path, one): &Part, (other_path, other): &Part) -> Result<()> {
    let (path, other_path) = (path.display(), other_path.display());
    let criterion = |result: &CoverResult| result.mcdc.as_ref().map(|mcdc| mcdc.criterion);
    let texts = [
        ("versions of kassay", &one.header.version, &other.header.version),
        ("kernels", &one.header.kernel, &other.header.kernel),
        ("files", &one.header.source, &other.header.source),
    ];
    if let Some((what, x, y)) = texts.into_iter().find(|(_, x, y)| x != y) {
        return Err(Error::caller(format!(
            "{path} and {other_path} cannot be merged: their {what} are `{x}` and `{y}`"
        ))
        .help("merge results of one kernel"));
    }
    let options = [
        ("--counts", has_counts(&one.coverage) == has_counts(&other.coverage)),
        ("--mcdc", criterion(one) == criterion(other)),
        ("--def-use", one.def_use.is_some() == other.def_use.is_some()),
    ];
    if let Some((option, _)) = options.into_iter().find(|(_, is_same)| !is_same) {
        return Err(Error::caller(format!("{path} and {other_path} were not made with the same {option}"))
            .help("measure the same in all results"));
    }
    let sites = |result: &CoverResult| -> Vec<(String, String)> {
        result.sites.iter().map(|site| (site.id.clone(), site.outcome.clone())).collect()
    };
    let vectors = |result: &CoverResult| -> Vec<(String, Vec<(String, bool)>)> {
        let decisions = result.mcdc.iter().flat_map(|mcdc| &mcdc.decisions);
        let vectors = |d: &McdcDecision| d.vectors.iter().map(|v| (v.values.clone(), v.result)).collect();
        decisions.map(|decision| (decision.id.clone(), vectors(decision))).collect()
    };
    let pairs = |result: &CoverResult| -> Vec<String> {
        result.def_use.iter().flat_map(|def_use| &def_use.pairs).map(|pair| pair.id.clone()).collect()
    };
    let is_same = sites(one) == sites(other) && vectors(one) == vectors(other) && pairs(one) == pairs(other);
    match is_same {
        true => Ok(()),
        false => Err(Error::caller(format!("{path} and {other_path} do not have the same sites"))
            .help("merge results of the same source, compiled with the same options")),
    }
}

/// Rejects a result that kassay has not written so.
fn check_whole((path, result): &Part) -> Result<()> {
    let wrong = |what: String| {
        Error::caller(format!("{} contradicts itself: {what}", path.display()))
            .help("take the result as `kassay cover` wrote it")
    };
    if let Some(site) = result.sites.iter().find(|site| SiteKind::of_name(&site.kind).is_none()) {
        return Err(wrong(format!("site `{}` is of the unknown kind `{}`", site.id, site.kind)));
    }
    let mut decisions = result.mcdc.iter().flat_map(|mcdc| &mcdc.decisions);
    decisions.try_for_each(|decision| mcdc::check(decision).map_err(wrong))
}

/// Appends the name of its file to the name of each test that an earlier result has, too.
fn make_names_distinct(parts: &mut [Part]) {
    let mut taken: BTreeSet<String> = BTreeSet::new();
    for (path, part) in parts {
        let renamed: BTreeMap<String, String> = part
            .tests
            .iter()
            .map(|test| (test.name.clone(), distinct_name(&test.name, path, &taken)))
            .filter(|(name, new)| name != new)
            .collect();
        rename(part, &renamed);
        taken.extend(part.tests.iter().map(|test| test.name.clone()));
    }
}

fn distinct_name(name: &str, path: &Path, taken: &BTreeSet<String>) -> String {
    let mut new = name.to_owned();
    while taken.contains(&new) {
        new = format!("{new} ({})", path.display());
    }
    new
}

/// Gives tests other names.
pub(super) fn rename(result: &mut CoverResult, renamed: &BTreeMap<String, String>) {
    let new = |name: &String| renamed.get(name).unwrap_or(name).clone();
    let hits = |hits: &mut BTreeMap<String, u64>| {
        *hits = std::mem::take(hits).into_iter().map(|(name, hits)| (new(&name), hits)).collect();
    };
    result.tests.iter_mut().for_each(|test| test.name = new(&test.name));
    result.sites.iter_mut().for_each(|site| hits(&mut site.hits_by_test));
    let decisions = result.mcdc.iter_mut().flat_map(|mcdc| &mut mcdc.decisions);
    decisions.flat_map(|decision| &mut decision.vectors).for_each(|vector| hits(&mut vector.hits_by_test));
    for pair in result.def_use.iter_mut().flat_map(|def_use| &mut def_use.pairs) {
        pair.tests.iter_mut().for_each(|name| *name = new(name));
    }
}

/// The metrics of sites, from their outcomes.
pub(super) fn coverage(outcomes: &[SiteOutcome], tests: &[TestOutcome], counts: bool) -> Coverage {
    let sites: Vec<&[SiteOutcome]> = outcomes.chunk_by(|a, b| a.id == b.id).collect();
    let rows: Vec<SiteRow<'_>> = (sites.iter())
        .filter_map(|outcomes| {
            let site = outcomes.first()?;
            Some(SiteRow {
                id: &site.id,
                kind: SiteKind::of_name(&site.kind)?,
                construct: &site.construct,
                function: &site.function,
                location: site.location.clone(),
                outcomes: outcomes.iter().map(|outcome| outcome.outcome.as_str()).collect(),
            })
        })
        .collect();
    // Those that did not run have no hits, and do not count.
    let ran = |test: &&TestOutcome| outcomes.iter().any(|outcome| outcome.hits_by_test.contains_key(&test.name));
    let tally = |test: &TestOutcome| {
        let hits = |outcome: &SiteOutcome| outcome.hits_by_test.get(&test.name).copied().unwrap_or(0);
        let of_site =
            |outcomes: &&[SiteOutcome]| SiteTally { hits: outcomes.iter().map(hits).collect(), divergent_groups: 0 };
        TestTally { name: test.name.clone(), sites: sites.iter().map(of_site).collect(), items: test.work_items }
    };
    let tallies: Vec<TestTally> = tests.iter().filter(ran).map(tally).collect();
    coverage_of(&rows, &tallies, counts)
}
