//! Weaves many mutants into one module, each selected by its number (mutant schemata; Untch, Offutt, Harrold: Mutation
//! analysis using mutant schemata, ISSTA 1993).

use std::collections::BTreeSet;
use std::sync::Arc;

use inkwell::module::Module;
use kassay_base::error::{Error, Result};

use super::edit::{Edit, Place, Variant};
use super::emitter::Emitter;
use super::resolve::resolve;
use super::thread_arguments;
use super::variant;
use super::weaver::{Activation, Form, Weaver};
use crate::cfg::indices::{BlockIndex, FunctionIndex};
use crate::cfg::sites::Sites;
use crate::kernel::canonical;
use crate::llvm::View;
use crate::llvm::assumptions::drop_woven_effects;

/// Weaves `mutants`, each with its number (from 1), into the canonical form that `sites` were read from. The kernel
/// gets an additional last argument, the probe buffer (`global uint *`). The word
/// [`slot::MUTANT`](crate::instrument::layout::slot::MUTANT) of the run's slot, which is located by the declared
/// function `__kassay_slot`, selects the active mutant; 0: none. With `pairs`, the word `SECOND` selects another one.
///
/// # Errors
/// `Internal` if an edit does not fit the module or needs one of its own, or the woven module does not verify.
pub fn weave(module: &Module<'_>, sites: &Sites, mutants: &[(u32, &Edit)], pairs: bool) -> Result<()> {
    weave_as(module, sites, mutants, pairs, Form::Branch)
}

/// As [`weave`], with a given form of choosing between values.
///
/// # Errors
/// As [`weave`].
pub fn weave_as(module: &Module<'_>, sites: &Sites, mutants: &[(u32, &Edit)], pairs: bool, form: Form) -> Result<()> {
    if let Some((number, _)) = mutants.iter().find(|(_, edit)| !edit.is_woven()) {
        return Err(Error::internal(format!("mutant {number} cannot share a module with others")));
    }
    let of_text = |(number, edit): &(u32, &Edit)| match edit {
        Edit::Variant(variant) => Some((*number, Arc::clone(variant))),
        _ => None,
    };
    let variants: Vec<(u32, Arc<Variant>)> = mutants.iter().filter_map(of_text).collect();
    if !variants.is_empty() {
        if variants.len() < mutants.len() || pairs {
            return Err(Error::internal("variants share no module with other mutants, and make no pairs"));
        }
        let variants: Vec<(u32, &Variant)> = variants.iter().map(|(number, variant)| (*number, &**variant)).collect();
        return variant::weave(module, sites, &variants);
    }
    let view = View::of(module);
    let mut resolved = resolve(view, sites, mutants.iter().map(|(_, edit)| *edit))?;
    let (changes, edges) = (&resolved.changes, &resolved.edges);
    let own: BTreeSet<FunctionIndex> = changes.keys().map(|p| p.function).chain(edges.keys().map(|e| e.0)).collect();
    let own = |f: FunctionIndex| own.contains(&f);
    let needs = thread_arguments::needs(&resolved.functions, sites, &own)?;
    let emitter = Emitter::new(view);
    let activations: Vec<Activation> = mutants.iter().map(|(number, _)| Activation::Number(*number)).collect();
    // Passing numbers to helpers replaces call instructions, so it is done last; until then, stand-ins take the place
    // of the numbers.
    let stand_ins: Vec<_> =
        resolved.functions.iter().map(|f| thread_arguments::stand_in(&emitter, *f, pairs)).collect();
    for (f, stand_in) in FunctionIndex::enumerate(&stand_ins) {
        let weaver = Weaver { emitter: &emitter, activations: &activations, numbers: Some(*stand_in), form };
        let begin = |function| Place { function, block: BlockIndex::ENTRY, instruction: 0 };
        for changes in resolved.changes.range(begin(f)..begin(f.next())).map(|(_, changes)| changes) {
            weaver.instruction(changes)?;
        }
        weaver.edges(
            &resolved
                .edges
                .range((f, BlockIndex::ENTRY, 0)..(f.next(), BlockIndex::ENTRY, 0))
                .map(|(_, e)| e)
                .collect::<Vec<_>>(),
        )?;
    }
    let numbers = thread_arguments::numbers(&emitter, &mut resolved.functions, &needs, pairs);
    for (stand_in, numbers) in stand_ins.into_iter().zip(numbers) {
        thread_arguments::settle(stand_in, numbers);
    }
    drop_woven_effects(View::of(module));
    canonical::verify(module, "weaving mutants")
}
