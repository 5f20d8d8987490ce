//! Kernels of `testdata` and of the tests. Not a test.

use std::path::{Path, PathBuf};

use inkwell::context::Context;
use kassay::coverage::build::{Assay, File, sources_of};
use kassay::kernel::compile::{Loaded, load};
use kassay::kernel::interface::ArgKind;
use kassay::kernel::options::KernelOptions;
use kassay::kernel::source::Sources;
use kassay::lower::host::emit::{Effort, emit};
use kassay::lower::host::table::HostTable;
use kassay::suite::resolve::Suite;

/// All kernels of all fixtures.
pub fn each_kernel(mut visit: impl FnMut(&Assay<'_>)) {
    each_loaded(|assay, _, _| visit(assay));
}

/// The same, with what they were read from.
pub fn each_loaded(mut visit: impl FnMut(&Assay<'_>, &Loaded, &Sources)) {
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
        let sources = sources_of(&suite.kernel);
        for entry in &file.kernels {
            visit(&file.assay(entry, &loaded, &sources).unwrap(), &loaded, &sources);
        }
    }
}

pub fn has_image(assay: &Assay<'_>) -> bool {
    assay.interface.args.iter().any(|a| matches!(a.kind, ArgKind::Image(_)))
}

/// The table of the kernel `k` in `source`, which becomes code.
pub fn table(source: &str, cl_std: &str, races: bool) -> HostTable {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("k.cl");
    std::fs::write(&path, source).unwrap();
    let options = KernelOptions { cl_std: Some(cl_std.to_owned()), ..KernelOptions::default() };
    let loaded = load(&path, &options, true).unwrap();
    let context = Context::create();
    let assay = File::parse(&context, &loaded).unwrap().assay("k", &loaded, &sources_of(&path)).unwrap();
    let (module, table) = assay.hooked(assay.module.clone(), false, races).unwrap();
    if std::env::var("KASSAY_SHOW_HOOKED").is_ok() {
        println!("{}", module.print_to_string().to_string());
    }
    emit(&module, "k", Effort::Full).unwrap();
    table
}
