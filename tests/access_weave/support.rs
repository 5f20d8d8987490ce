//! Kernels of `testdata` and of the tests. Not a test.

use std::path::{Path, PathBuf};

use inkwell::module::Module;
use inkwell::passes::PassBuilderOptions;
use inkwell::targets::TargetMachine;
use kassay::kernel::canonical;
use kassay::kernel::ir;
use kassay::kernel::options::KernelOptions;
use kassay::suite::resolve::Suite;

pub fn each_kernel(mut visit: impl FnMut(&Path, KernelOptions)) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata");
    let mut suites: Vec<PathBuf> =
        std::fs::read_dir(root).unwrap().map(|e| e.unwrap().path().join("suite.toml")).collect();
    suites.retain(|s| s.exists());
    suites.sort();
    assert!(suites.len() > 50);
    for suite in suites {
        let suite = Suite::load(&suite).unwrap();
        let options = KernelOptions { suite_options: suite.options.clone(), ..KernelOptions::default() };
        visit(&suite.kernel, options);
    }
}

pub fn inlined(module: &Module<'_>, entry: &str, machine: &TargetMachine) {
    for f in ir::functions(module).into_iter().filter(|f| f.has_body() && f.name() != entry) {
        canonical::remove_attribute(f, "noinline");
        canonical::add_attribute(f, "alwaysinline");
    }
    module.run_passes("always-inline,globaldce", machine, PassBuilderOptions::create()).unwrap();
}
