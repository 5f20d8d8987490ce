//! Reads kernels from text, in canonical form.

use std::path::Path;

use inkwell::context::Context;
use inkwell::module::Module;
use kassay::cfg::sites::Sites;
use kassay::kernel::options::KernelOptions;
use kassay::kernel::{canonical, compile, implicit, module, signature};
use kassay::lower::spirv;
use kassay::mutation::equivalence::normal::{self, NormalForm};

use crate::common::kernels::source_file;

/// Returns the bitcode and the sites of the canonical form of the kernel `k`.
pub fn canonical_form(source: &str) -> (Vec<u8>, Sites) {
    let (_folder, file) = source_file(source);
    canonical_file(&file, "k", &KernelOptions::default())
}

pub fn canonical_file(file: &Path, entry: &str, options: &KernelOptions) -> (Vec<u8>, Sites) {
    let loaded = compile::load(file, options, true).unwrap_or_else(|e| panic!("{}: {e:?}", file.display()));
    let context = Context::create();
    let module = module::parse(&context, &loaded.bitcode, &loaded.source).unwrap();
    let mut interface = signature::interface(&module, entry).unwrap();
    canonical::canonicalise(&module, entry, &spirv::machine().unwrap()).unwrap();
    implicit::append(&module, &mut interface).unwrap();
    let sources = kassay::coverage::build::sources_of(file);
    let sites = Sites::read(&module, entry, false, loaded.ast.as_ref(), &sources);
    (module.write_bitcode_to_memory().as_slice().to_vec(), sites)
}

/// Parses bitcode as the search for equivalents does.
pub fn parse<'c>(context: &'c Context, bitcode: &[u8]) -> Module<'c> {
    let module = module::parse(context, bitcode, Path::new("k")).unwrap();
    // SAFETY: `module` owns the LLVM module and is alive; the call only removes debug information from it.
    unsafe { llvm_sys::debuginfo::LLVMStripModuleDebugInfo(module.as_mut_ptr()) };
    module
}

pub fn normal_form(source: &str) -> NormalForm {
    let (bitcode, _) = canonical_form(source);
    let context = Context::create();
    normal::of(parse(&context, &bitcode), "k").unwrap()
}
