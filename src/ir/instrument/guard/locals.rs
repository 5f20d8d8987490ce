//! Fills local memory with a pattern before the kernel begins. OpenCL leaves its initial contents undefined, so a
//! mutant that does not write it first would read what the previous launch left there, or whatever a compiler makes of
//! an undefined value, and no verdict would hold for another module of the same mutant.

use kassay_base::error::Result;

use super::emit::Emitter;
use crate::instrument::layout::{GuardLayout, argument};
use crate::llvm::{AddressSpace, Value};

/// Alignment required by four-byte writes.
const ALIGNMENT: u32 = 4;

/// Fills the kernel's local variables and local arguments at its entry. Returns whether there were any, in which case
/// the group has to synchronise before it continues.
///
/// # Errors
/// `Internal` if the runtime lacks a function.
pub fn fill(emitter: &Emitter<'_>, layout: GuardLayout) -> Result<bool> {
    let (fill, extent) = (emitter.runtime("__kassay_fill")?, emitter.runtime("__kassay_extent")?);
    let variables = variables(emitter);
    emitter.at_entry();
    for (variable, bytes) in &variables {
        emitter.call(fill, &[*variable, emitter.const_i64(*bytes)]);
    }
    let arguments = arguments(emitter, layout);
    for (position, pointer) in &arguments {
        let word = emitter.const_i32(layout.argument(*position) + argument::EXTENT);
        let bytes = emitter.call(extent, &[emitter.parameters, word]);
        emitter.call(fill, &[*pointer, bytes]);
    }
    Ok(!variables.is_empty() || !arguments.is_empty())
}

/// Returns the used local variables with their sizes in bytes, and aligns them for word writes.
fn variables<'m>(emitter: &Emitter<'m>) -> Vec<(Value<'m>, u64)> {
    let mut found = Vec::new();
    for global in emitter.view.globals() {
        let variable = global.value();
        if is_local(variable) && variable.is_used() {
            variable.set_alignment(variable.alignment().unwrap_or_default().max(ALIGNMENT));
            found.push((variable, emitter.view.layout().abi_size(global.value_type())));
        }
    }
    found
}

/// Returns the kernel's own arguments that are used and point to local memory.
fn arguments<'m>(emitter: &Emitter<'m>, layout: GuardLayout) -> Vec<(u32, Value<'m>)> {
    let all = (0..layout.args).filter_map(|position| Some((position, emitter.kernel.param(position)?)));
    all.filter(|(_, value)| value.ty().is_pointer() && is_local(*value) && value.is_used()).collect()
}

fn is_local(pointer: Value<'_>) -> bool {
    pointer.ty().space() == Some(AddressSpace::Local)
}
