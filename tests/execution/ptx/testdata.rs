//! Checks every kernel of `testdata`.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::path::PathBuf;

use kassay_base::error::Result;
use kassay_ir::instrument::device_races::LocalShadow;
use kassay_ir::instrument::layout::Slots;
use kassay_ir::instrument::mutants::Edit;
use kassay_ir::llvm::Context;
use kassay_judge::coverage::device_races;
use kassay_judge::mutation::build::module_builder::{Effort, ModuleBuilder, RunsPerLaunch};
use kassay_judge::mutation::catalogue::enumerate::enumerate;
use kassay_judge::mutation::catalogue::operators::Preset;
use kassay_judge::mutation::catalogue::selection::Selection;
use kassay_run::exec::{Code, Target};
use kassay_suite::resolve::Suite;

use super::assembler;
use crate::common::kernels::{Opened, open, open_bare, options_of};
use crate::common::testdata::suites;

/// Checks every kernel that one of these suites names, with its syntax tree if that is wanted: what `check` makes of it
/// assembles.
#[track_caller]
fn each_kernel(suites: Vec<PathBuf>, with_tree: bool, check: impl Fn(&Opened<'_>) -> Result<Vec<Code>>) {
    let mut seen: BTreeSet<(PathBuf, Option<String>, Vec<String>)> = BTreeSet::new();
    let mut failures = Vec::new();
    for path in suites {
        let suite = Suite::load(&path).unwrap();
        if !seen.insert((suite.kernel.clone(), suite.entry.clone(), suite.options.clone())) {
            continue;
        }
        let context = Context::create();
        let open = if with_tree { open } else { open_bare };
        let opened = open(&context, &suite.kernel, suite.entry.as_deref(), &options_of(&suite)).unwrap();
        let entry = opened.under_test.entry.clone();
        let shown = format!("{}: {entry}", suite.kernel.display());
        match check(&opened) {
            Err(e) => failures.push(format!("{shown}: {e}")),
            Ok(codes) => {
                let complaints = codes.iter().filter_map(|code| assembler::assemble(code.bytes()).err());
                failures.extend(complaints.map(|complaint| format!("{shown}: {complaint}")));
            }
        }
    }
    assert!(failures.is_empty(), "{} failures\n{}", failures.len(), failures.join("\n"));
}

#[test]
fn every_kernel_gives_ptx_plain_and_with_coverage_probes() {
    each_kernel(suites(), false, |Opened { under_test, .. }| {
        Ok(vec![under_test.plain(Target::Ptx)?, under_test.instrumented(Slots::Groups, Target::Ptx)?.0])
    });
}

#[test]
fn every_kernel_gives_ptx_with_guards_and_with_ids_of_slots() {
    each_kernel(suites(), false, |Opened { under_test, .. }| {
        let builder = ModuleBuilder::new(under_test, Target::Ptx);
        let guarded = builder.alone(&[], Effort::Full)?.map_err(kassay::Error::internal)?;
        let slots = builder.schemata(&[], false, Effort::Quick, true)?.map_err(kassay::Error::internal)?;
        Ok(vec![guarded.code, slots.code])
    });
}

#[test]
fn every_kernel_gives_ptx_with_all_its_mutants() {
    let selection = Selection::parse("all").unwrap();
    each_kernel(suites(), true, |opened| {
        let found = enumerate(&opened.subject(Preset::Full), &selection);
        let woven = found.mutants.iter().map(|mutant| &mutant.edit).filter(|edit| edit.is_woven());
        let edits: Vec<(u32, &Edit)> = (1..).zip(woven).collect();
        let builder = ModuleBuilder::new(&opened.under_test, Target::Ptx);
        let runs = if builder.can_join() { RunsPerLaunch::Joint } else { RunsPerLaunch::Batch };
        let all = builder.schemata_for(&edits, false, Effort::Quick, runs)?.map_err(kassay::Error::internal)?;
        Ok(vec![all.code])
    });
}

#[test]
fn every_kernel_that_can_be_searched_for_races_gives_ptx_that_does() {
    let woven = Cell::new(0);
    each_kernel(suites(), false, |Opened { under_test, .. }| {
        let mut codes = Vec::new();
        for local_shadow in [LocalShadow::Local, LocalShadow::Global] {
            // What is not woven is the simulator's.
            if let Ok((code, layout)) = device_races::build(under_test, local_shadow, Target::Ptx)? {
                let text = String::from_utf8_lossy(code.bytes());
                let last = text.lines().rfind(|line| line.contains(".ptr .shared"));
                if layout.takes_local && !last.is_some_and(|line| line.contains(".align 16 ")) {
                    let what = format!("the local shadow memory is not aligned: {last:?}");
                    return Err(kassay::Error::internal(what));
                }
                codes.push(code);
            }
        }
        woven.set(woven.get() + usize::from(!codes.is_empty()));
        Ok(codes)
    });
    assert!(woven.get() >= 50, "only {} kernels are searched", woven.get());
}
