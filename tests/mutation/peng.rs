//! Compares PENG's mutants, counted by hand from the source (`[peng]` in `testdata/*/hand.toml`), with those that
//! `inspect` counts.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use kassay::OpenOptions;
use kassay::result::inspect::InspectResult;
use kassay_ir::instrument::mutants::Edit;
use kassay_ir::llvm::Context;
use kassay_judge::coverage::build::sources_of;
use kassay_judge::mutation::Selection;
use kassay_judge::mutation::catalogue::source_level;
use kassay_model::options::KernelOptions;
use kassay_suite::resolve::Suite;
use serde::Deserialize;

use crate::common::program::kassay;
use crate::common::testdata::{folders, testdata};

#[derive(Debug, Deserialize)]
struct HandCount {
    entry: String,
    peng: BTreeMap<String, u64>,
    /// The number of these that are left out with a reason, because no operand of an instruction holds them.
    #[serde(default)]
    peng_left_out: BTreeMap<String, u64>,
}

/// Returns the folders whose mutants were counted by hand.
fn counted() -> Vec<(PathBuf, HandCount)> {
    (folders(&testdata("")).into_iter().filter(|folder| folder.join("hand.toml").is_file()))
        .filter_map(|folder| {
            let text = std::fs::read_to_string(folder.join("hand.toml")).unwrap();
            let all: toml::Table = text.parse().unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
            let hand = all.contains_key("peng").then(|| all.try_into().unwrap())?;
            Some((folder, hand))
        })
        .collect()
}

/// Returns the mutants by operator, without operators that have none.
fn inspect(folder: &Path, entry: &str) -> BTreeMap<String, u64> {
    let suite = Suite::load(&folder.join("suite.toml")).unwrap();
    let mut command = kassay();
    command.args(["inspect", "--operators", "peng", "--format", "json", "--entry", entry]).arg(&suite.kernel);
    command.args(suite.options.iter().map(|option| format!("--clang-arg={option}")));
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let result: InspectResult = serde_json::from_slice(&output.stdout).unwrap();
    result.kernels[0].mutants_by_operator.iter().filter(|(_, n)| **n > 0).map(|(id, n)| (id.clone(), *n)).collect()
}

#[test]
fn the_preset_peng_matches_the_hand_counts() {
    let counted = counted();
    assert!(counted.len() >= 20, "only {} kernels", counted.len());
    let differences: Vec<String> = (counted.iter())
        .filter_map(|(folder, hand)| {
            let mut found = inspect(folder, &hand.entry);
            for (operator, count) in &hand.peng_left_out {
                *found.entry(operator.clone()).or_default() += count;
            }
            (found != hand.peng).then(|| format!("{}: by hand {:?}, found {found:?}", hand.entry, hand.peng))
        })
        .collect();
    assert!(differences.is_empty(), "{differences:#?}");
}

/// Mutants of the source's text, which are compiled but not run, by operator; without what does not compile.
fn of_source(folder: &Path, entry: &str) -> BTreeMap<String, u64> {
    let suite = folder.join("suite.toml");
    let context = Context::create();
    let parsed =
        OpenOptions::new().syntax_tree(true).entry(Some(entry.to_owned())).parse_suite(&context, &suite).unwrap();
    let suite = Suite::load(&suite).unwrap();
    let options = KernelOptions { suite_options: suite.options.clone(), ..KernelOptions::default() };
    let (sources, peng) = (sources_of(&suite.kernel), Selection::parse("peng").unwrap());
    let found = source_level::find(&parsed.under_test, &parsed.loaded, &sources, &options, &peng, 2).unwrap();
    let mut counts = BTreeMap::new();
    for mutant in &found.mutants {
        assert!(matches!(mutant.edit, Edit::Variant(_)), "{}: {:?}", mutant.id, mutant.edit);
        *counts.entry(mutant.operator.to_owned()).or_default() += 1;
    }
    counts
}

#[test]
fn mutants_of_the_source_match_the_hand_counts() {
    let mut counted: Vec<_> = counted().into_iter().filter(|(_, hand)| hand.peng_left_out.is_empty()).collect();
    counted.sort_by_key(|(_, hand)| hand.peng.values().sum::<u64>());
    counted.truncate(12);
    assert!(counted.len() >= 10, "only {} kernels", counted.len());
    let differences: Vec<String> = (counted.iter())
        .filter_map(|(folder, hand)| {
            let found = of_source(folder, &hand.entry);
            (found != hand.peng).then(|| format!("{}: by hand {:?}, found {found:?}", hand.entry, hand.peng))
        })
        .collect();
    assert!(differences.is_empty(), "{differences:#?}");
}
