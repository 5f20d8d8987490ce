//! Checks that nothing which an execution covers is ever proved infeasible.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use kassay_ir::instrument::layout::Slots;
use kassay_prove::symbolic::infeasible::ProofOutcome;
use kassay_suite::resolve::Suite;

use super::support::judge;
use crate::common::coverage::Device;
use crate::common::kernels::options_of;
use crate::common::testdata;
use crate::common::threads::spread_with;

/// Returns the suites grouped by their kernel and its options.
fn suites() -> Vec<Vec<PathBuf>> {
    let mut all: BTreeMap<(PathBuf, Option<String>, Vec<String>), Vec<PathBuf>> = BTreeMap::new();
    for file in testdata::suites() {
        let suite = Suite::load(&file).unwrap();
        all.entry((suite.kernel, suite.entry, suite.options)).or_default().push(file);
    }
    all.into_values().collect()
}

#[test]
fn what_suites_cover_is_not_proved_infeasible() {
    let suites = suites();
    assert!(suites.len() > 50, "{}", suites.len());
    let proved = spread_with(&suites, Device::start, |device, files| {
        let suite = Suite::load(&files[0]).unwrap();
        let judged = judge(&suite.kernel, suite.entry.as_deref(), &options_of(&suite), &[], (100_000, 5));
        let infeasible: BTreeSet<(String, String)> = judged
            .into_iter()
            .filter(|j| matches!(j.proof, ProofOutcome::Infeasible { .. }))
            .map(|j| (j.site, j.label))
            .collect();
        if infeasible.is_empty() {
            return 0;
        }
        for file in files {
            let [covered] = device.cover(file, [Slots::Groups]);
            for outcome in covered.sites.iter().filter(|o| o.covered) {
                let key = (outcome.id.clone(), outcome.outcome.clone());
                assert!(!infeasible.contains(&key), "{}: {key:?} is covered and proved infeasible", file.display());
            }
        }
        for (site, label) in &infeasible {
            println!("{}: {site} {label}", suite.kernel.display());
        }
        infeasible.len()
    });
    assert!(proved.iter().sum::<usize>() > 10, "{proved:?}");
}
