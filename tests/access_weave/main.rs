//! Kernels with the simulator's hooks: they verify, become code, and their tables say what the sources do.

mod support;

use kassay::instrument::layout::Slots;
use kassay::lower::host::emit::{Effort, emit};
use support::{each_kernel, has_image};

#[test]
fn all_kernels_verify_and_become_code() {
    each_kernel(|assay| {
        if has_image(assay) {
            return;
        }
        for (races, effort) in [(false, Effort::Full), (true, Effort::Quick)] {
            let (module, table) = assay.hooked(assay.module.clone(), false, races).unwrap();
            assert_eq!(table.objects.len(), table.granule.len());
            emit(&module, &assay.entry, effort).unwrap();
        }
    });
}

#[test]
fn all_kernels_verify_with_coverage_probes() {
    each_kernel(|assay| {
        if !has_image(assay) {
            assay.hooked_text(Some(Slots::Groups), true).unwrap();
            assay.hooked_text(Some(Slots::Items), false).unwrap();
        }
    });
}
