//! Checks on random kernels that everything woven into them verifies, for every operator and every kind of weaving.
//!
//! The tests try a few; `KASSAY_SOAK=1000 cargo nextest run --ignore-default-filter --test random_kernels --no-capture`
//! tries a thousand, from `KASSAY_SOAK_FROM` on. Kernels that once failed are in `found/`.

#[path = "../common/mod.rs"]
mod common;
mod generator;
mod weaves;

use common::testdata::{files_below, repository};

/// The number of kernels in an ordinary run of the tests.
const FEW: u64 = 6;

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok()?.parse().ok()
}

#[test]
fn whatever_is_woven_into_random_kernels_verifies() {
    let folder = tempfile::tempdir().unwrap();
    let (first, soak) = (number("KASSAY_SOAK_FROM").unwrap_or(0), number("KASSAY_SOAK"));
    let mut failed = Vec::new();
    for seed in first..first + soak.unwrap_or(FEW) {
        let text = generator::kernel(seed);
        let file = folder.path().join(format!("seed_{seed}.cl"));
        std::fs::write(&file, &text).unwrap();
        let errors = weaves::all(&file, seed);
        if !errors.is_empty() {
            println!("seed {seed}:\n{}", errors.join("\n"));
            failed.push(seed);
        }
        if soak.is_some() && seed % 20 == 19 {
            println!("{} kernels, seeds that failed: {failed:?}", seed + 1 - first);
        }
    }
    assert!(failed.is_empty(), "kernels of these seeds cannot be woven: {failed:?}");
}

#[test]
fn kernels_that_once_failed_are_woven() {
    let files = files_below(&repository("tests/random_kernels/found"), "cl");
    assert!(!files.is_empty());
    let errors: Vec<String> = files.iter().flat_map(|file| weaves::all(file, 0)).collect();
    assert!(errors.is_empty(), "{}", errors.join("\n"));
}
