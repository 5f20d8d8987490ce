//! Kernels that hold mutants, or guards, with hooks.

use kassay::instrument::guard;
use kassay::instrument::ids;
use kassay::instrument::layout::GuardLayout;
use kassay::instrument::mutants::{Edit, schemata};
use kassay::lower::host::emit::{Effort, emit};
use kassay::mutation::enumerate::enumerate;
use kassay::mutation::operators::Subject;
use kassay::mutation::selection::Selection;

use crate::support::each_loaded;

#[test]
fn all_kernels_verify_with_mutants() {
    each_loaded(|assay, loaded, sources| {
        let subject = Subject {
            module: assay.module(),
            entry: &assay.entry,
            interface: &assay.interface,
            sites: &assay.sites,
            ast: loaded.ast.as_ref(),
            sources,
            preset: Default::default(),
            read: Default::default(),
        };
        let found = enumerate(&subject, &Selection::default()).mutants;
        let woven: Vec<(u32, &Edit)> = (1..).zip(found.iter().map(|m| &m.edit).filter(|e| e.is_woven())).collect();
        let layout = GuardLayout { args: assay.interface.args.len() as u32 };
        let module = assay.module.clone();
        schemata::weave(&module, &assay.sites, &woven, false).unwrap();
        ids::plain(&module, layout).unwrap();
        let (module, _) = assay.hooked(module, true, true).unwrap();
        emit(&module, &assay.entry, Effort::Quick).unwrap();
    });
}

#[test]
fn all_kernels_verify_with_guards() {
    each_loaded(|assay, _, _| {
        let layout = GuardLayout { args: assay.interface.args.len() as u32 };
        let module = assay.module.clone();
        guard::inline_and_promote(&module, &assay.entry, &assay.machine).unwrap();
        guard::weave(&module, &assay.entry, layout, true, &assay.machine).unwrap();
        ids::plain(&module, layout).unwrap();
        assay.hooked(module, true, true).unwrap();
    });
}
