//! Reads kernels through the library.

use std::path::{Path, PathBuf};

use kassay::OpenOptions;
use kassay::Parsed;
use kassay_base::cache;
use kassay_base::error::Result;
use kassay_ir::kernel::compile::Loaded;
use kassay_ir::kernel::source::Sources;
use kassay_ir::llvm::{Context, View};
use kassay_judge::coverage::build::{KernelUnderTest, sources_of};
use kassay_judge::mutation::catalogue::operators::{Preset, Subject};
use kassay_model::options::KernelOptions;
use kassay_run::exec::DeviceInfo;
use kassay_suite::resolve::{Suite, Test};

/// Writes a source text to `k.cl` in a folder of its own, which is deleted with the first value.
pub fn source_file(text: &str) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("k.cl");
    std::fs::write(&path, text).unwrap();
    (folder, path)
}

/// Returns the options that a suite gives clang.
pub fn options_of(suite: &Suite) -> KernelOptions {
    KernelOptions { suite_options: suite.options.clone(), ..KernelOptions::default() }
}

/// Returns the options for a version of OpenCL C, such as `CL2.0`.
pub fn cl_std(version: &str) -> KernelOptions {
    KernelOptions { cl_std: Some(version.to_owned()), ..KernelOptions::default() }
}

/// A kernel with the file it was read from.
pub struct Opened<'c> {
    pub loaded: Loaded,
    pub sources: Sources,
    pub under_test: KernelUnderTest<'c>,
}

impl Opened<'_> {
    /// Returns what operators look at.
    pub fn subject(&self, preset: Preset) -> Subject<'_> {
        let Opened { loaded, sources, under_test } = self;
        Subject {
            module: View::of(&under_test.module),
            entry: &under_test.entry,
            interface: &under_test.interface,
            sites: &under_test.sites,
            ast: loaded.ast.as_ref(),
            sources,
            preset,
            level: Default::default(),
            cache: Default::default(),
        }
    }
}

/// Reads the kernel `entry` (`None`: the only one) of a file, with its syntax tree.
pub fn open<'c>(context: &'c Context, path: &Path, entry: Option<&str>, options: &KernelOptions) -> Result<Opened<'c>> {
    Ok(opened(path, open_options(entry, options).parse_kernel(context, path)?))
}

/// As [`open`], without the syntax tree.
pub fn open_bare<'c>(
    context: &'c Context,
    path: &Path,
    entry: Option<&str>,
    options: &KernelOptions,
) -> Result<Opened<'c>> {
    Ok(opened(path, open_options(entry, options).syntax_tree(false).parse_kernel(context, path)?))
}

fn opened<'c>(path: &Path, parsed: Parsed<'c>) -> Opened<'c> {
    Opened { loaded: parsed.loaded, sources: sources_of(path), under_test: parsed.under_test }
}

/// Keeps what is compiled for other tests of the same program: its build is part of all keys.
fn keep_compiled() {
    cache::open(Path::new(env!("CARGO_TARGET_TMPDIR")).join("cache"), cache::BOUND);
}

/// Returns the options for opening a kernel that is compiled with `options`.
fn open_options(entry: Option<&str>, options: &KernelOptions) -> OpenOptions {
    keep_compiled();
    OpenOptions::new()
        .entry(entry.map(str::to_owned))
        .defines(options.defines.clone())
        .include_dirs(options.include_dirs.clone())
        .cl_std(options.cl_std.clone())
        .clang_args([&options.clang_args[..], &options.suite_options].concat())
}

/// Calls `f` with the kernel `entry` (`None`: the only one) of a file, read without its syntax tree.
pub fn with_file<T>(
    path: &Path,
    entry: Option<&str>,
    options: &[String],
    f: impl FnOnce(&KernelUnderTest<'_>) -> T,
) -> T {
    let options = KernelOptions { suite_options: options.to_vec(), ..KernelOptions::default() };
    let context = Context::create();
    f(&open_bare(&context, path, entry, &options).unwrap().under_test)
}

/// Calls `f` with the only kernel of a source text.
pub fn with_source<T>(source: &str, f: impl FnOnce(&KernelUnderTest<'_>) -> T) -> T {
    let (_folder, path) = source_file(source);
    with_file(&path, None, &[], f)
}

/// A suite with its kernel and its tests.
pub struct OpenedSuite<'c> {
    pub suite: Suite,
    pub kernel: Opened<'c>,
    pub tests: Vec<Test>,
}

/// Reads a suite and its kernel.
pub fn open_suite<'c>(context: &'c Context, path: &Path) -> Result<OpenedSuite<'c>> {
    keep_compiled();
    let suite = Suite::load(path)?;
    let Parsed { under_test, loaded, tests } = OpenOptions::new().parse_suite(context, path)?;
    let sources = sources_of(&suite.kernel);
    Ok(OpenedSuite { suite, kernel: Opened { loaded, sources, under_test }, tests })
}

impl OpenedSuite<'_> {
    /// Leaves out the tests that no device of OpenCL runs, those of several groups with barriers of the grid, and gives
    /// the others a local size.
    pub fn prepare_for(&mut self, device: &DeviceInfo) {
        if self.kernel.under_test.grid_barrier().is_some() {
            self.tests.retain(|test| test.launch.range.group_counts() == [1; 3]);
        }
        self.choose_local(device);
    }

    /// Gives tests without a local size the one that they get on a device.
    pub fn choose_local(&mut self, device: &DeviceInfo) {
        let required = self.kernel.under_test.interface.required_local;
        for test in &mut self.tests {
            let range = &mut test.launch.range;
            range.local = Some(range.local_or_default(required, device.max_work_group_size));
        }
    }
}
