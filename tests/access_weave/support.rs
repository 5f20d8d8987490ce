//! Kernels of `testdata` and of the tests. Not a test.

use std::path::{Path, PathBuf};

use inkwell::context::Context;
use kassay::coverage::build::{Assay, File, sources_of};
use kassay::kernel::compile::load;
use kassay::kernel::interface::ArgKind;
use kassay::kernel::options::KernelOptions;
use kassay::suite::resolve::Suite;

/// All kernels of all fixtures.
pub fn each_kernel(mut visit: impl FnMut(&Assay<'_>)) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata");
    let folders = std::fs::read_dir(root).unwrap().map(|e| e.unwrap().path().join("suite.toml"));
    let mut suites: Vec<PathBuf> = folders.filter(|s| s.exists()).collect();
    suites.sort();
    assert!(suites.len() > 50);
    for suite in suites {
        let suite = Suite::load(&suite).unwrap();
        let options = KernelOptions { suite_options: suite.options.clone(), ..KernelOptions::default() };
        let loaded = load(&suite.kernel, &options, true).unwrap();
        let context = Context::create();
        let file = File::parse(&context, &loaded).unwrap();
        for entry in &file.kernels {
            visit(&file.assay(entry, &loaded, &sources_of(&suite.kernel)).unwrap());
        }
    }
}

pub fn has_image(assay: &Assay<'_>) -> bool {
    assay.interface.args.iter().any(|a| matches!(a.kind, ArgKind::Image(_)))
}
