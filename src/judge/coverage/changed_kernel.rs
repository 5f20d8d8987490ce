//! A kernel whose text was changed, with the interface of the original: launches of one are launches of the other.

use std::collections::BTreeSet;

use kassay_base::error::Result;
use kassay_ir::kernel::compile::Loaded;
use kassay_ir::kernel::implicit;
use kassay_ir::kernel::source::Sources;
use kassay_ir::llvm::{Context, View};
use kassay_model::interface::{ArgSource, Interface};

use super::build::{KernelFile, KernelUnderTest};

/// Calls `work` with the kernel that `bitcode` holds, which was compiled as `loaded` was. `shared`: positions of
/// arguments that share memory in launches. `None` if it takes other arguments than the original.
///
/// # Errors
/// Errors of the canonical form and of the interface, and those of `work`.
pub fn with<R>(
    original: &KernelUnderTest<'_>,
    loaded: &Loaded,
    bitcode: &[u8],
    shared: &BTreeSet<u32>,
    work: impl FnOnce(&KernelUnderTest<'_>) -> Result<R>,
) -> Result<Option<R>> {
    let context = Context::create();
    let loaded = Loaded {
        bitcode: bitcode.to_vec(),
        format: loaded.format,
        source: loaded.source.clone(),
        warnings: String::new(),
        spirv: None,
        ast: None,
        file_lookups: Vec::new(),
        sub_group_size: loaded.sub_group_size,
        launched: loaded.launched.clone(),
    };
    let file = KernelFile::parse(&context, &loaded)?;
    let mut changed = file.under_test(&original.entry, &loaded, &Sources::default())?;
    let sources =
        |interface: &Interface| -> Vec<ArgSource> { interface.args.iter().map(|arg| arg.source.clone()).collect() };
    if sources(&changed.interface) != sources(&original.interface) {
        return Ok(None);
    }
    // With what is declared of the original.
    changed.interface = original.interface.clone();
    changed.sandbox = original.sandbox.clone();
    changed.lowering = original.lowering;
    if let (Some(kernel), false) = (View::of(&changed.module).function(&changed.entry), shared.is_empty()) {
        implicit::note_sharing(kernel, shared);
    }
    work(&changed).map(Some)
}
