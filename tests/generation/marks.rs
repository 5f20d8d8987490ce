//! Checks that every outcome of every kernel has a mark after promotion.

use std::collections::BTreeSet;
use std::path::Path;

use kassay_ir::cfg::sites::{SiteKind, Sites};
use kassay_ir::instrument::marks;
use kassay_ir::kernel::compile;
use kassay_ir::llvm::Context;
use kassay_judge::coverage::build::{self, KernelFile};
use kassay_model::options::KernelOptions;
use kassay_prove::program::{Op, Program, promoted, reader};
use kassay_suite::resolve::Suite;

use crate::common::TestResult;
use crate::common::kernels::source_file;
use crate::common::testdata::main_suites;

/// Returns the outcomes of branches, conditions, loops, barriers and decisions.
fn wanted(sites: &Sites) -> Vec<(usize, usize)> {
    let kinds = [SiteKind::Branch, SiteKind::Condition, SiteKind::Loop, SiteKind::Barrier, SiteKind::Decision];
    let watched = sites.sites.iter().enumerate().filter(|(_, s)| kinds.contains(&s.kind));
    watched.flat_map(|(s, site)| (0..site.outcomes.len()).map(move |o| (s, o))).collect()
}

/// Returns, for each kernel of a file, the program with marks and the number of goals.
fn marked(path: &Path, options: &KernelOptions) -> TestResult<Vec<(Program, usize)>> {
    let loaded = compile::load(path, options, true)?;
    let context = Context::create();
    let file = KernelFile::parse(&context, &loaded)?;
    let mut all = Vec::new();
    for entry in &file.kernels {
        let under_test = file.under_test(entry, &loaded, &build::sources_of(path))?;
        let sites = under_test.sites.with_vectors();
        let wanted = wanted(&sites);
        let module = under_test.module.clone();
        marks::weave(&module, &sites, &wanted)?;
        let promoted = promoted::promote(&module, &under_test.entry, &under_test.machine)?;
        all.push((reader::read(&promoted, &under_test.entry)?, wanted.len()));
    }
    Ok(all)
}

fn goals(program: &Program) -> BTreeSet<i64> {
    let calls = program.instructions().filter(|(_, i)| matches!(&i.op, Op::Call(name, _) if name == marks::MARK));
    calls.filter_map(|(_, call)| program.constant(*call.operands.first()?)).collect()
}

#[test]
fn every_outcome_has_a_mark() -> TestResult {
    for suite in main_suites() {
        let Suite { kernel: path, options: suite_options, .. } = Suite::load(&suite)?;
        for (program, count) in marked(&path, &KernelOptions { suite_options, ..KernelOptions::default() })? {
            let all: BTreeSet<i64> = (0..count as i64).collect();
            assert_eq!(goals(&program), all, "{}", path.display());
        }
    }
    Ok(())
}

#[test]
fn a_helper_has_its_marks_wherever_it_is_called() -> TestResult {
    let (_folder, path) = source_file(
        "int sign(int x) { return x < 0 ? -1 : 1; }
        kernel void k(global int *y, int a, int b) { y[0] = sign(a); y[1] = sign(b); }",
    );
    let [(program, count)] = &marked(&path, &KernelOptions::default())?[..] else { return Err("one kernel".into()) };
    assert_eq!(*count, 2);
    let calls = program.instructions().filter(|(_, i)| matches!(&i.op, Op::Call(name, _) if name == marks::MARK));
    assert_eq!(calls.count(), 4);
    Ok(())
}
