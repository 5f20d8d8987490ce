//! Checks that kernels with mutants or guards verify with hooks.

use kassay_ir::instrument::guard;
use kassay_ir::instrument::ids;
use kassay_ir::instrument::layout::GuardLayout;
use kassay_ir::instrument::mutants::{Edit, schemata};
use kassay_ir::llvm::View;
use kassay_ir::lower::native::emit::{Effort, emit};
use kassay_judge::mutation::catalogue::enumerate::enumerate;
use kassay_judge::mutation::catalogue::operators::Subject;
use kassay_judge::mutation::catalogue::selection::Selection;

use super::support::each_loaded;

#[test]
fn all_kernels_verify_with_mutants() {
    each_loaded(|under_test, loaded, sources| {
        let subject = Subject {
            module: View::of(&under_test.module),
            entry: &under_test.entry,
            interface: &under_test.interface,
            sites: &under_test.sites,
            ast: loaded.ast.as_ref(),
            sources,
            preset: Default::default(),
            level: Default::default(),
            cache: Default::default(),
        };
        let found = enumerate(&subject, &Selection::default()).mutants;
        let woven: Vec<(u32, &Edit)> = (1..).zip(found.iter().map(|m| &m.edit).filter(|e| e.is_woven())).collect();
        let layout = GuardLayout { args: under_test.interface.args.len() as u32 };
        let module = under_test.module.clone();
        schemata::weave(&module, &under_test.sites, &woven, false).unwrap();
        ids::plain(&module, layout).unwrap();
        let (module, _) = under_test.hooked(module, true, true).unwrap();
        emit(&module, &under_test.entry, Effort::Quick).unwrap();
    });
}

#[test]
fn all_kernels_verify_with_guards() {
    each_loaded(|under_test, _, _| {
        let layout = GuardLayout { args: under_test.interface.args.len() as u32 };
        let mut module = under_test.module.clone();
        guard::inline_and_promote(&mut module, &under_test.entry, &under_test.machine).unwrap();
        guard::weave(&mut module, &under_test.entry, layout, true, &under_test.machine).unwrap();
        ids::plain(&module, layout).unwrap();
        under_test.hooked(module, true, true).unwrap();
    });
}
