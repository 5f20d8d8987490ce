//! Reads kernels for tests through the library. Not a test.

use std::path::Path;

use inkwell::context::Context;
use kassay::coverage::build::{self, KernelFile, KernelUnderTest};
use kassay::kernel::compile;
use kassay::kernel::options::KernelOptions;

/// Calls `f` with the kernel `entry` (`None`: the only one) of a file.
pub fn with_file<T>(
    path: &Path,
    entry: Option<&str>,
    options: &[String],
    f: impl FnOnce(&KernelUnderTest<'_>) -> T,
) -> T {
    let options = KernelOptions { suite_options: options.to_vec(), ..KernelOptions::default() };
    let loaded = compile::load(path, &options, false).unwrap();
    let context = Context::create();
    let file = KernelFile::parse(&context, &loaded).unwrap();
    let entry = file.choose(entry).unwrap();
    let under_test = file.under_test(&entry, &loaded, &build::sources_of(path)).unwrap();
    f(&under_test)
}
