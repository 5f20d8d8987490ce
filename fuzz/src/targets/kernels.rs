//! Kernels that are not source text.

use std::path::Path;

use kassay::{InspectOptions, OpenOptions};
use kassay_ir::kernel::spirv::read;
use kassay_model::options::KernelOptions;

use super::blames_input;
use super::folder::{file, folder};

/// A module, up to where a translator is given it.
pub fn spirv_words(input: &[u8]) {
    if let Some(prepared) = blames_input(read::prepare(Path::new("k.spv"), input, &KernelOptions::default())) {
        // Some malformed modules are only refused once they are rewritten.
        let _ = blames_input(read::prepare(Path::new("k.spv"), &prepared.input.bytes(), &KernelOptions::default()));
    }
}

/// SPIR-V, through a translator.
pub fn spirv(input: &[u8]) {
    inspect("k.spv", input);
}

/// Bitcode or LLVM IR, told apart by its first bytes.
pub fn bitcode(input: &[u8]) {
    let is_bitcode = input.starts_with(b"BC\xc0\xde") || input.starts_with(b"\xde\xc0\x17\x0b");
    inspect(if is_bitcode { "k.bc" } else { "k.ll" }, input);
}

fn inspect(name: &str, input: &[u8]) {
    let path = file(&folder("kernels", |_| ()), name, input);
    // Translators may crash on what seems to be valid: that is reported as their fault.
    let _ = kassay::inspect(&path, &OpenOptions::new(), &InspectOptions::new()).map_err(|error| error.to_string());
}
