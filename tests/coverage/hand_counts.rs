//! Compares figures that were counted by hand (`testdata/*/hand.toml`) with what `inspect` counts and what the suites
//! cover, with and without counts of work-items.

use std::path::{Path, PathBuf};

use kassay::result::cover::Coverage;
use kassay::result::inspect::InspectResult;
use kassay_ir::instrument::layout::Slots;
use kassay_suite::resolve::Suite;
use serde::Deserialize;

use crate::common::coverage::{Covered, Device};
use crate::common::program::kassay;
use crate::common::testdata;
use crate::common::threads::spread_with;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct HandCount {
    entry: String,
    /// Counts of mutants, which `tests/mutation/peng.rs` checks.
    #[serde(rename = "peng")]
    _peng: Option<toml::Table>,
    #[serde(rename = "peng_left_out")]
    _peng_left_out: Option<toml::Table>,
    counts: Counts,
    coverage: toml::Table,
}

#[derive(Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Counts {
    branches: u64,
    branch_outcomes: u64,
    conditions: u64,
    loops: u64,
    barriers: u64,
    statements: u64,
    least_branch: u64,
}

/// Returns the hand counts of sites and coverage in `testdata`, each with the suites of its folder.
fn folders() -> Vec<(HandCount, Vec<PathBuf>)> {
    (testdata::folders(&testdata::testdata("")).into_iter().filter(|folder| folder.join("hand.toml").is_file()))
        .filter_map(|folder| {
            let text = std::fs::read_to_string(folder.join("hand.toml")).unwrap();
            let all: toml::Table = text.parse().unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
            if !all.contains_key("counts") {
                return None;
            }
            let hand = all.try_into().unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
            Some((hand, testdata::suites_in(&folder)))
        })
        .collect()
}

fn inspect(suite: &Path, entry: &str) -> Counts {
    let suite = Suite::load(suite).unwrap();
    let mut command = kassay();
    command.args(["inspect", "--format", "json", "--entry", entry]).arg(&suite.kernel);
    command.args(suite.options.iter().map(|option| format!("--clang-arg={option}")));
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let result: InspectResult = serde_json::from_slice(&output.stdout).unwrap();
    let kernel = &result.kernels[0];
    Counts {
        branches: kernel.counts.branches,
        branch_outcomes: kernel.counts.branch_outcomes,
        conditions: kernel.counts.conditions,
        loops: kernel.counts.loops,
        barriers: kernel.counts.barriers,
        statements: kernel.counts.statements,
        least_branch: kernel.sites.iter().filter(|site| site.kind == "region").count() as u64,
    }
}

/// Returns the metrics that a hand count names, as a table of the same form.
fn as_table(coverage: &Coverage, names: &toml::Table) -> toml::Table {
    let all = toml::Table::try_from(coverage).unwrap();
    all.into_iter().filter(|(name, _)| names.contains_key(name)).collect()
}

fn divergence(covered: &Covered) -> Vec<(&str, &str, bool, Option<u64>)> {
    let sites = covered.sites.iter();
    sites.map(|s| (s.id.as_str(), s.outcome.as_str(), s.covered, s.divergent_groups)).collect()
}

#[test]
fn counts_and_coverage_match_the_hand_counts() {
    let folders = folders();
    assert!(folders.len() >= 10, "only {} hand counts", folders.len());
    let compared = spread_with(&folders, Device::start, |device, (hand, suites)| {
        let mut compared = 0;
        for suite in suites {
            let [counts, groups] = device.cover(suite, [Slots::Items, Slots::Groups]);
            if counts.entry != hand.entry {
                continue;
            }
            compared += 1;
            let name = suite.display();
            assert_eq!(inspect(suite, &hand.entry), hand.counts, "{name}: counts");
            assert_eq!(as_table(&counts.coverage, &hand.coverage), hand.coverage, "{name}: coverage with --counts");
            let average = Coverage { average_statement: None, ..counts.coverage.clone() };
            assert_eq!(groups.coverage, average, "{name}: coverage without --counts");
            assert_eq!(divergence(&groups), divergence(&counts), "{name}: outcomes and divergent groups");
        }
        assert!(compared > 0, "no suite for {}", hand.entry);
        compared
    });
    assert_eq!(compared.len(), folders.len());
}
