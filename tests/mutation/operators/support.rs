//! Compiles kernels and prepares them for operators.

use std::path::{Path, PathBuf};

use kassay_ir::cfg::sites::Sites;
use kassay_ir::kernel::ast::Ast;
use kassay_ir::kernel::compile;
use kassay_ir::kernel::implicit::HeldPointers;
use kassay_ir::kernel::source::Sources;
use kassay_ir::kernel::{canonical, implicit, module, signature};
use kassay_ir::llvm::{Context, View};
use kassay_ir::lower::spirv;
use kassay_judge::mutation::catalogue::operators::{Preset, Subject};
use kassay_model::options::KernelOptions;

use crate::common::kernels::source_file;
use crate::common::testdata::{has_extension, kernel_files};

/// How much is known about a kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Known {
    Syntax,
    /// Debug information and the source file.
    Tokens,
    Opcodes,
}

/// Calls `work` with each kernel of a file.
pub fn kernels(path: &Path, options: &KernelOptions, known: Known, preset: Preset, mut work: impl FnMut(&Subject<'_>)) {
    let loaded = compile::load(path, options, true).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let context = Context::create();
    let parsed = module::parse(&context, &loaded.bitcode, path).unwrap();
    if known == Known::Opcodes {
        parsed.strip_debug_info();
    }
    let machine = spirv::machine().unwrap();
    let sources = Sources::beside(path);
    let ast: Option<&Ast> = loaded.ast.as_ref().filter(|_| known == Known::Syntax);
    for entry in module::kernels(&parsed) {
        let mut own = parsed.clone();
        let mut interface = signature::interface(&own, &entry).unwrap();
        canonical::canonicalise(&mut own, &entry, &machine).unwrap();
        implicit::append(&own, &mut interface, &[], HeldPointers::Indices).unwrap();
        let sites = Sites::read(&own, &entry, false, ast, &sources);
        let subject = Subject {
            module: View::of(&own),
            entry: &entry,
            interface: &interface,
            sites: &sites,
            ast,
            sources: &sources,
            preset,
            level: Default::default(),
            cache: Default::default(),
        };
        work(&subject);
    }
}

/// Calls `work` with the only kernel of a source text.
pub fn kernel<R>(source: &str, known: Known, preset: Preset, work: impl Fn(&Subject<'_>) -> R) -> R {
    let (_folder, path) = source_file(source);
    let mut result = None;
    kernels(&path, &KernelOptions::default(), known, preset, |subject| result = Some(work(subject)));
    result.expect("a kernel")
}

/// Returns the kernel files of `testdata` that are source, with the options of their suites.
pub fn testdata() -> Vec<(PathBuf, KernelOptions)> {
    let mut files = kernel_files();
    files.retain(|(path, _)| has_extension(path, "cl") || has_extension(path, "clcpp"));
    files
}
