//! Reads kernels from text, in canonical form.

use std::path::Path;

use inkwell::module::Module;
use kassay_ir::cfg::sites::Sites;
use kassay_ir::kernel::module;
use kassay_ir::llvm::{Context, View};
use kassay_judge::mutation::equivalence::normal::{self, NormalForm};
use kassay_model::options::KernelOptions;

use crate::common::kernels::{open, source_file};

/// Returns the bitcode and the sites of the canonical form of the kernel `k`.
pub fn canonical_form(source: &str) -> (Vec<u8>, Sites) {
    let (_folder, file) = source_file(source);
    canonical_file(&file, "k", &KernelOptions::default())
}

pub fn canonical_file(file: &Path, entry: &str, options: &KernelOptions) -> (Vec<u8>, Sites) {
    let context = Context::create();
    let opened = open(&context, file, Some(entry), options).unwrap_or_else(|e| panic!("{}: {e:?}", file.display()));
    let under_test = opened.under_test;
    (under_test.module.write_bitcode_to_memory().as_slice().to_vec(), under_test.sites)
}

/// Parses bitcode as the search for equivalents does.
pub fn parse<'c>(context: &'c Context, bitcode: &[u8]) -> Module<'c> {
    let module = module::parse(context, bitcode, Path::new("k")).unwrap();
    View::of(&module).strip_debug_info();
    module
}

pub fn normal_form(source: &str) -> NormalForm {
    let (bitcode, _) = canonical_form(source);
    let context = Context::create();
    normal::of(parse(&context, &bitcode), "k").unwrap()
}
