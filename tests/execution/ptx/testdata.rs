//! Checks every kernel of `testdata`.

use std::collections::BTreeSet;
use std::path::PathBuf;

use inkwell::context::Context;
use kassay::coverage::build::KernelUnderTest;
use kassay::error::Result;
use kassay::exec::{Code, Target};
use kassay::instrument::layout::Slots;
use kassay::suite::resolve::Suite;

use super::assembler;
use crate::common::kernels::{open_bare, options_of};
use crate::common::testdata::suites;

/// Calls `check` with every kernel that a suite of `testdata` names, and returns what went wrong.
fn each_kernel(check: impl Fn(&KernelUnderTest<'_>) -> Result<Vec<Code>>) -> Vec<String> {
    let mut seen: BTreeSet<(PathBuf, Option<String>, Vec<String>)> = BTreeSet::new();
    let mut failures = Vec::new();
    for path in suites() {
        let suite = Suite::load(&path).unwrap();
        if !seen.insert((suite.kernel.clone(), suite.entry.clone(), suite.options.clone())) {
            continue;
        }
        let context = Context::create();
        let opened = open_bare(&context, &suite.kernel, suite.entry.as_deref(), &options_of(&suite)).unwrap();
        let shown = format!("{}: {}", suite.kernel.display(), opened.under_test.entry);
        match check(&opened.under_test) {
            Err(e) => failures.push(format!("{shown}: {e}")),
            Ok(codes) => {
                for code in codes {
                    if let Err(complaint) = assembler::assemble(code.bytes()) {
                        failures.push(format!("{shown}: {complaint}"));
                    }
                }
            }
        }
    }
    failures
}

#[test]
fn every_kernel_gives_ptx_plain_and_with_coverage_probes() {
    let failures = each_kernel(|kernel| {
        Ok(vec![kernel.plain(Target::Ptx)?, kernel.instrumented(Slots::Groups, Target::Ptx)?.0])
    });
    assert!(failures.is_empty(), "{} failures\n{}", failures.len(), failures.join("\n"));
}
