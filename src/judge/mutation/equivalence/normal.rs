//! Computes the normal form of a module: two modules with the same normal form behave alike, in every launch in bounds
//! that reads nothing uninitialised.

use std::collections::HashMap;
use std::sync::Mutex;

use inkwell::module::Module;
use kassay_base::error::{Error, Result};
use kassay_ir::kernel::canonical;
use kassay_ir::llvm::{AttributeIndex, Function, Inst, Opcode, View, passes};

use super::launch_facts::LaunchFacts;
use super::opaque_calls::{self, OpaqueCalls};
use super::specialise::specialise;
use super::{assumptions, canonical_order, exact_builtins};

/// The normal form of a module.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NormalForm {
    /// The optimised code in canonical order, as text.
    Text(String),
    /// The module holds a value that an optimiser may choose freely: nothing can be claimed about it.
    Indeterminate,
}

/// Classes of normal forms, numbered in the order of their first occurrence.
#[derive(Default)]
pub(super) struct Classes(Mutex<HashMap<String, usize>>);

impl Classes {
    /// Returns the class of a normal form; `None` if nothing can be claimed about that.
    pub fn of(&self, normal: NormalForm) -> Option<usize> {
        let NormalForm::Text(text) = normal else { return None };
        let mut known = self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let next = known.len();
        Some(*known.entry(text).or_insert(next))
    }
}

const INLINING: &str = "always-inline,globaldce,function(mem2reg)";

/// Passes that simplify without assuming anything. Loops are neither deleted nor unrolled: their iteration counts stay.
const OPTIMISING: &str = "function(sroa,early-cse,instcombine<no-verify-fixpoint>,simplifycfg,sccp,reassociate,gvn,instcombine<no-verify-fixpoint>,simplifycfg,\
loop-simplify,lcssa,loop(indvars),adce,instcombine<no-verify-fixpoint>,simplifycfg,early-cse)";

/// Further passes, which use what branches and ranges say of values; they assume nothing either.
const REFINING: &str = "function(sroa,early-cse<memssa>,sccp,loop-simplify,lcssa,loop(indvars),correlated-propagation,instcombine<no-verify-fixpoint>,\
simplifycfg,jump-threading,reassociate,constraint-elimination,gvn,correlated-propagation,instcombine<no-verify-fixpoint>,simplifycfg,\
loop-simplify,lcssa,loop(indvars),correlated-propagation,adce,instcombine<no-verify-fixpoint>,simplifycfg,gvn,early-cse)";

/// Returns the normal form of a (mutated) module, which is consumed.
///
/// # Errors
/// `Internal` if a pass fails or leaves a module that does not verify.
pub fn of(mut module: Module<'_>, entry: &str) -> Result<NormalForm> {
    match promote(&mut module, entry)? {
        true => of_promoted(module),
        false => Ok(NormalForm::Indeterminate),
    }
}

/// Returns the normal form of a promoted module, which is consumed.
///
/// # Errors
/// As for [`of`].
pub fn of_promoted(mut module: Module<'_>) -> Result<NormalForm> {
    run(&mut module, OPTIMISING)?;
    finish(module)
}

/// Returns an optimised module in canonical order as text.
fn finish(module: Module<'_>) -> Result<NormalForm> {
    canonical_order::canonicalise(View::of(&module));
    canonical::verify(&module, "the normal form")?;
    let view = View::of(&module);
    if reads_uninitialised(view) {
        return Ok(NormalForm::Indeterminate);
    }
    Ok(NormalForm::Text(text(view)))
}

/// Returns the refined normal form of a module that was refined: more modules that behave alike have the same one.
///
/// # Errors
/// As for [`of`].
pub fn of_refined(module: Module<'_>) -> Result<NormalForm> {
    // What flags assert was concluded from the code, which says it too.
    View::of(&module).instructions().into_iter().for_each(Inst::drop_poison_flags);
    finish(module)
}

/// Simplifies a promoted module further, which takes longer. With `facts`, for the launches to which they apply.
///
/// # Errors
/// As for [`of`].
pub fn refine(module: &mut Module<'_>, entry: &str, facts: Option<&LaunchFacts>) -> Result<()> {
    if let Some(facts) = facts {
        specialise(View::of(module), entry, facts);
    }
    exact_builtins::lower(View::of(module));
    run(module, REFINING)?;
    // Constants that the first round finds make divisors harmless.
    OpaqueCalls::new(View::of(module)).restore_all();
    run(module, REFINING)
}

/// Drops assumptions, inserts opaque calls, inlines everything and promotes variables to SSA values. Returns false if
/// the module is [`NormalForm::Indeterminate`].
///
/// # Errors
/// As for [`of`].
pub fn promote(module: &mut Module<'_>, entry: &str) -> Result<bool> {
    let view = View::of(module);
    if is_indeterminate(view) {
        return Ok(false);
    }
    assumptions::drop_all(view);
    OpaqueCalls::new(view).before_inlining();
    for f in view.functions().into_iter().filter(|f| f.has_body() && f.name() != entry) {
        f.attributes(AttributeIndex::Function).add_flag("alwaysinline");
    }
    run(module, INLINING)?;
    OpaqueCalls::new(View::of(module)).after_inlining();
    Ok(true)
}

/// Runs passes. Without a target machine, no target's costs influence them.
fn run(module: &mut Module<'_>, passes: &str) -> Result<()> {
    let failed = |e: Error| Error::internal("bringing a mutant into its normal form failed").details(e.to_string());
    passes::run(module, None, passes).map_err(failed)
}

/// Returns whether an operand is undefined in an instruction that uses all of it, or a lane is selected by a variable.
fn is_indeterminate(module: View<'_>) -> bool {
    module.instructions().into_iter().any(|inst| {
        let lane = match inst.opcode() {
            Opcode::LLVMExtractElement => Some(inst.operand(1)),
            Opcode::LLVMInsertElement => Some(inst.operand(2)),
            _ => None,
        };
        let partly = [Opcode::LLVMInsertElement, Opcode::LLVMShuffleVector, Opcode::LLVMInsertValue];
        let is_partial = partly.contains(&inst.opcode());
        lane.is_some_and(|lane| !lane.is_constant_int())
            || !is_partial && inst.operands().into_iter().any(|v| v.is_undef() || v.is_poison())
    })
}

/// Returns whether a scalar is used that may be uninitialised. A store that initialises a variable which stays in
/// memory is not yet a use.
fn reads_uninitialised(module: View<'_>) -> bool {
    let is_uninitialised =
        |inst: &Inst<'_>| inst.callee().is_some_and(|name| name.starts_with(opaque_calls::UNINITIALISED));
    module.instructions().into_iter().filter(is_uninitialised).any(|call| !is_only_stored(call))
}

fn is_only_stored(value: Inst<'_>) -> bool {
    value.value().uses().into_iter().all(|user| user.as_opcode(Opcode::LLVMStore).is_some())
}

/// Prints the bodies as text, without names and attributes: the passes that attributes influence are done.
fn text(module: View<'_>) -> String {
    let mut all = String::new();
    for f in module.functions().into_iter().filter(|f| f.has_body()) {
        drop_names(f);
        for line in f.text().lines().filter(|line| !line.starts_with(';')) {
            // The order of the predecessors that a label's comment lists means nothing.
            let line = line.split_once(" ; preds = ").map_or(line, |(label, _)| label.trim_end());
            // Numbers of attribute groups depend on what else the module declares.
            let line = match line.rsplit_once(" #") {
                Some((head, rest)) if rest.trim_end_matches(" {").bytes().all(|b| b.is_ascii_digit()) => head,
                _ => line,
            };
            all.push_str(line);
            all.push('\n');
        }
    }
    all
}

fn drop_names(f: Function<'_>) {
    f.params().into_iter().for_each(|param| param.set_name(""));
    for block in f.blocks() {
        block.set_name("");
        block.walk().for_each(|inst| inst.set_name(""));
    }
}
