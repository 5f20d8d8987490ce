//! Checks kernels with the simulator's hooks: they verify, compile, and their tables describe the sources.

mod mutants;
mod runs;
pub mod support;
mod tables;

use kassay_ir::instrument::layout::Slots;
use kassay_ir::lower::native::emit::{Effort, emit};

use support::each_kernel;

#[test]
fn all_kernels_verify_and_become_code() {
    each_kernel(|under_test| {
        for (races, effort) in [(false, Effort::Full), (true, Effort::Quick)] {
            let (module, table) = under_test.hooked(under_test.module.clone(), false, races).unwrap();
            assert_eq!(table.objects.len(), table.granule.len());
            emit(&module, &under_test.entry, effort).unwrap();
        }
    });
}

#[test]
fn all_kernels_verify_with_coverage_probes() {
    each_kernel(|under_test| {
        under_test.hooked_text(Some(Slots::Groups), true).unwrap();
        under_test.hooked_text(Some(Slots::Items), false).unwrap();
    });
}
