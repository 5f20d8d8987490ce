//! Opens suites at a level of the IR and enumerates their mutants.

use std::path::{Path, PathBuf};

use kassay::{Level, MutationLevel, OpenOptions, OperatorLevel};
use kassay_ir::kernel::source::Sources;
use kassay_ir::llvm::{Context, View};
use kassay_judge::coverage::build::{KernelUnderTest, sources_of};
use kassay_judge::mutation::catalogue::operators::Subject;
use kassay_judge::mutation::enumerate;
use kassay_judge::mutation::{Enumeration, Selection};

use crate::common::testdata::suite;

/// The levels of the IR.
pub const LEVELS: [Level; 4] = [Level::Raw, Level::O1, Level::O2, Level::O3];

/// Calls `work` with the kernel of a suite of `testdata/` at a level, and the mutants of these operators of the IR.
pub fn with_mutants<T>(
    kernel: &str,
    level: Level,
    operators: &str,
    work: impl FnOnce(&KernelUnderTest<'_>, Enumeration) -> T,
) -> T {
    let path: PathBuf = suite(kernel);
    let context = Context::create();
    let parsed = OpenOptions::new().level(MutationLevel::Ir(level)).syntax_tree(false).parse_suite(&context, &path);
    let under_test = parsed.unwrap_or_else(|e| panic!("{kernel} at {level:?}: {e}")).under_test;
    let sources = sources_of(Path::new("nothing.cl"));
    let found = mutants(&under_test, &sources, operators);
    work(&under_test, found)
}

/// Returns the mutants of these operators of the IR.
pub fn mutants(under_test: &KernelUnderTest<'_>, sources: &Sources, operators: &str) -> Enumeration {
    let selection = Selection::parse_at(operators, OperatorLevel::Ir).unwrap();
    let subject = Subject {
        module: View::of(&under_test.module),
        entry: &under_test.entry,
        interface: &under_test.interface,
        sites: &under_test.sites,
        ast: None,
        sources,
        preset: selection.preset(),
        level: selection.level(),
        cache: Default::default(),
    };
    enumerate(&subject, &selection)
}
