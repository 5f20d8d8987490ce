//! Checks that every kernel of `testdata` compiles for the host.

use std::path::PathBuf;

use kassay::kernel::options::KernelOptions;
use kassay::lower::host::emit::Effort;
use kassay::suite::resolve::Suite;

use super::support::{prepared, woven};

#[test]
fn every_kernel_of_testdata_gets_code() {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("testdata");
    let mut failures = Vec::new();
    let mut suites: Vec<PathBuf> =
        root.read_dir().unwrap().map(|entry| entry.unwrap().path().join("suite.toml")).filter(|p| p.exists()).collect();
    suites.sort();
    assert!(suites.len() > 50);
    for path in suites {
        let suite = Suite::load(&path).unwrap();
        let options = KernelOptions { suite_options: suite.options.clone(), ..KernelOptions::default() };
        let made = prepared(&suite.kernel, &options, suite.entry.as_deref(), |module, entry| {
            woven(module, entry, Effort::Full)
        });
        if let Err(e) = made.and_then(|inner| inner) {
            failures.push(format!("{}: {e}", path.display()));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
