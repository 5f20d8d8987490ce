//! Applies mutants unconditionally, in modules of their own.

use inkwell::module::Module;
use kassay_base::error::Result;

use super::edit::Edit;
use super::emitter::Emitter;
use super::resolve::resolve;
use super::variant;
use super::weaver::{Activation, Form, Weaver};
use crate::cfg::sites::Sites;
use crate::kernel::canonical;
use crate::llvm::View;
use crate::llvm::assumptions::drop_woven_effects;

/// Applies `edit` to the canonical form that `sites` were read from. A change of the launch leaves the module as it is.
///
/// # Errors
/// `Internal` if the edit does not fit the module, or needs a pass of its own ([`Edit::Privatise`]).
pub fn apply(module: &Module<'_>, sites: &Sites, edit: &Edit) -> Result<()> {
    apply_all(module, sites, &[edit])
}

/// Applies several edits at once; where two replace the same value or action, the later one takes effect.
///
/// # Errors
/// As [`apply`].
pub fn apply_all(module: &Module<'_>, sites: &Sites, edits: &[&Edit]) -> Result<()> {
    // Edits of instructions come first: their places are those of the original's bodies.
    let (variants, edits): (Vec<&Edit>, Vec<&Edit>) = edits.iter().partition(|edit| matches!(edit, Edit::Variant(_)));
    let view = View::of(module);
    let resolved = resolve(view, sites, edits.iter().copied())?;
    let emitter = Emitter::new(view);
    let activations = vec![Activation::Always; edits.len()];
    let weaver = Weaver { emitter: &emitter, activations: &activations, numbers: None, form: Form::Branch };
    for changes in resolved.changes.values() {
        weaver.instruction(changes)?;
    }
    weaver.edges(&resolved.edges.values().collect::<Vec<_>>())?;
    for edit in variants {
        if let Edit::Variant(variant) = edit {
            variant::replace(module, variant)?;
        }
    }
    drop_woven_effects(View::of(module));
    canonical::verify(module, "a mutant")
}
