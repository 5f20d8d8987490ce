//! Nothing that an execution covers is ever proved infeasible.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use kassay::instrument::layout::Slots;
use kassay::kernel::options::KernelOptions;
use kassay::suite::resolve::Suite;
use kassay::symbolic::infeasible::Fate;

use super::coverage_support::{Lane, spread};
use super::support::judge;

fn suites() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata");
    let mut all = Vec::new();
    for folder in std::fs::read_dir(root).unwrap().map(|e| e.unwrap().path()).filter(|p| p.is_dir()) {
        for file in std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()) {
            let name = file.file_name().unwrap().to_string_lossy().into_owned();
            if name.starts_with("suite") && name.ends_with(".toml") {
                all.push(file);
            }
        }
    }
    all.sort();
    all
}

#[test]
fn what_suites_cover_is_not_proved_infeasible() {
    let suites = suites();
    assert!(suites.len() > 50, "{}", suites.len());
    let proved = spread(&suites, Lane::start, |lane, path| {
        let suite = Suite::load(path).unwrap();
        let options = KernelOptions { suite_options: suite.options.clone(), ..KernelOptions::default() };
        let begin = std::time::Instant::now();
        let judged = judge(&suite.kernel, suite.entry.as_deref(), &options, &[]);
        eprintln!("TIME {} {} {:?}", path.display(), judged.len(), begin.elapsed());
        let infeasible: BTreeSet<(String, String)> = judged
            .iter()
            .filter(|j| matches!(j.fate, Fate::Infeasible { .. }))
            .map(|j| (j.site.clone(), j.label.clone()))
            .collect();
        if infeasible.is_empty() {
            return 0;
        }
        let [covered] = lane.cover(path, [Slots::Groups]);
        for outcome in covered.sites.iter().filter(|o| o.covered) {
            let key = (outcome.id.clone(), outcome.outcome.clone());
            assert!(!infeasible.contains(&key), "{}: {key:?} is covered and proved infeasible", path.display());
        }
        for (site, label) in &infeasible {
            eprintln!("{}: {site} {label}", covered.entry);
        }
        infeasible.len()
    });
    assert!(proved.iter().sum::<usize>() > 10, "{proved:?}");
}
