//! Checks that nothing which an execution covers is ever proved infeasible.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use kassay::instrument::layout::Slots;
use kassay::kernel::options::KernelOptions;
use kassay::suite::resolve::Suite;
use kassay::symbolic::infeasible::ProofOutcome;

use super::support::judge;
use crate::common::coverage::{Device, spread};

/// Returns the suites grouped by their kernel and its options.
fn suites() -> Vec<Vec<PathBuf>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata");
    let mut all: BTreeMap<(PathBuf, Option<String>, Vec<String>), Vec<PathBuf>> = BTreeMap::new();
    for folder in std::fs::read_dir(root).unwrap().map(|e| e.unwrap().path()).filter(|p| p.is_dir()) {
        for file in std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()) {
            let name = file.file_name().unwrap().to_string_lossy().into_owned();
            if name.starts_with("suite") && name.ends_with(".toml") {
                let suite = Suite::load(&file).unwrap();
                all.entry((suite.kernel, suite.entry, suite.options)).or_default().push(file);
            }
        }
    }
    all.into_values().collect()
}

#[test]
fn what_suites_cover_is_not_proved_infeasible() {
    let suites = suites();
    assert!(suites.len() > 50, "{}", suites.len());
    let proved = spread(&suites, Device::start, |device, files| {
        let suite = Suite::load(&files[0]).unwrap();
        let options = KernelOptions { suite_options: suite.options.clone(), ..KernelOptions::default() };
        let judged = judge(&suite.kernel, suite.entry.as_deref(), &options, &[], (200_000, 60));
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
