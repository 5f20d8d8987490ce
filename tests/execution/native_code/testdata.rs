//! Checks that every kernel of `testdata` compiles for the host.

use kassay_ir::lower::native::emit::Effort;
use kassay_suite::resolve::Suite;

use super::support::{prepared, woven};
use crate::common::kernels::options_of;
use crate::common::testdata::main_suites;

#[test]
fn every_kernel_of_testdata_gets_code() {
    let mut failures = Vec::new();
    for path in main_suites() {
        let suite = Suite::load(&path).unwrap();
        let made = prepared(&suite.kernel, &options_of(&suite), suite.entry.as_deref(), |module, entry| {
            woven(module, entry, Effort::Full)
        });
        if let Err(e) = made.and_then(|inner| inner) {
            failures.push(format!("{}: {e}", path.display()));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
