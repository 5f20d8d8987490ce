//! Computes the normal form of a module: two modules with the same normal form behave alike, in every launch in bounds
//! that reads nothing uninitialised.

use std::ffi::CStr;

use inkwell::module::Module;
use llvm_sys::LLVMOpcode;
use llvm_sys::core::*;
use llvm_sys::error::*;
use llvm_sys::prelude::*;
use llvm_sys::transforms::pass_builder::*;

use super::opaque_calls::{self, OpaqueCalls};
use super::{canonical_order, licences};
use crate::error::{Error, Result};
use crate::kernel::canonical;
use crate::kernel::ir::{self, Block, Function, Inst};

/// The normal form of a module.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NormalForm {
    /// The optimised code in canonical order, as text.
    Text(String),
    /// The module holds a value that an optimiser may choose freely: nothing can be claimed about it.
    Indeterminate,
}

const INLINING: &CStr = c"always-inline,globaldce,function(mem2reg)";

/// Passes that simplify without assuming anything. Loops are neither deleted nor unrolled: their iteration counts stay.
const OPTIMISING: &CStr = c"function(sroa,early-cse,instcombine<no-verify-fixpoint>,simplifycfg,sccp,reassociate,gvn,instcombine<no-verify-fixpoint>,simplifycfg,\
loop-simplify,lcssa,loop(indvars),adce,instcombine<no-verify-fixpoint>,simplifycfg,early-cse)";

/// Returns the normal form of a (mutated) module, which is consumed.
///
/// # Errors
/// `Internal` if a pass fails or leaves a module that does not verify.
pub fn of(module: Module<'_>, entry: &str) -> Result<NormalForm> {
    match promote(&module, entry)? {
        true => of_promoted(module),
        false => Ok(NormalForm::Indeterminate),
    }
}

/// Returns the normal form of a promoted module, which is consumed.
///
/// # Errors
/// As for [`of`].
pub fn of_promoted(module: Module<'_>) -> Result<NormalForm> {
    run(&module, OPTIMISING)?;
    canonical_order::canonicalise(&module);
    canonical::verify(&module, "the normal form")?;
    if reads_uninitialised(&module) {
        return Ok(NormalForm::Indeterminate);
    }
    Ok(NormalForm::Text(text(&module)))
}

/// Drops licences, inserts opaque calls, inlines everything and promotes variables to SSA values. Returns false if the
/// module is [`NormalForm::Indeterminate`].
///
/// # Errors
/// As for [`of`].
pub fn promote(module: &Module<'_>, entry: &str) -> Result<bool> {
    if is_indeterminate(module) {
        return Ok(false);
    }
    licences::drop_all(module);
    let opaque = OpaqueCalls::new(module);
    opaque.before_inlining();
    for f in ir::functions(module).into_iter().filter(|f| f.has_body() && f.name() != entry) {
        canonical::add_attribute(f, "alwaysinline");
    }
    run(module, INLINING)?;
    opaque.after_inlining();
    Ok(true)
}

fn run(module: &Module<'_>, passes: &CStr) -> Result<()> {
    // SAFETY: the module is borrowed; options and message are freed once. Without a target machine, no target's costs
    // influence the passes.
    unsafe {
        let options = LLVMCreatePassBuilderOptions();
        let error = LLVMRunPasses(module.as_mut_ptr(), passes.as_ptr(), std::ptr::null_mut(), options);
        LLVMDisposePassBuilderOptions(options);
        if error.is_null() {
            return Ok(());
        }
        let message = LLVMGetErrorMessage(error);
        let details = CStr::from_ptr(message).to_string_lossy().into_owned();
        LLVMDisposeErrorMessage(message);
        Err(Error::internal("bringing a mutant into its normal form failed").details(details))
    }
}

fn instructions(module: &Module<'_>) -> impl Iterator<Item = Inst> {
    ir::functions(module).into_iter().flat_map(Function::blocks).flat_map(Block::instructions)
}

/// Returns whether an operand is undefined in an instruction that uses all of it, or a lane is selected by a variable.
fn is_indeterminate(module: &Module<'_>) -> bool {
    instructions(module).any(|inst| {
        let operands = inst.operands();
        let lane = match inst.opcode() {
            LLVMOpcode::LLVMExtractElement => operands.get(1),
            LLVMOpcode::LLVMInsertElement => operands.get(2),
            _ => None,
        };
        let partly = matches!(
            inst.opcode(),
            LLVMOpcode::LLVMInsertElement | LLVMOpcode::LLVMShuffleVector | LLVMOpcode::LLVMInsertValue
        );
        // SAFETY: operands of an instruction of the borrowed module.
        unsafe {
            lane.is_some_and(|lane| LLVMIsAConstantInt(*lane).is_null())
                || operands.iter().any(|v| !partly && (LLVMIsUndef(*v) != 0 || LLVMIsPoison(*v) != 0))
        }
    })
}

/// Returns whether a scalar is used that may be uninitialised. A store that initialises a variable which stays in
/// memory is not yet a use.
fn reads_uninitialised(module: &Module<'_>) -> bool {
    instructions(module)
        .filter(|inst| inst.callee().is_some_and(|name| name.starts_with(opaque_calls::UNINITIALISED)))
        .any(|call| !only_stored(call))
}

fn only_stored(value: Inst) -> bool {
    // SAFETY: the caller's value belongs to the module being read, which owns its uses; their list ends with null.
    unsafe {
        let mut next = LLVMGetFirstUse(value.0);
        while !next.is_null() {
            if Inst(LLVMGetUser(next)).opcode() != LLVMOpcode::LLVMStore {
                return false;
            }
            next = LLVMGetNextUse(next);
        }
    }
    true
}

/// Prints the bodies as text, without names and attributes: the passes that attributes influence are done.
fn text(module: &Module<'_>) -> String {
    let mut all = String::new();
    for f in ir::functions(module).into_iter().filter(|f| f.has_body()) {
        drop_names(f);
        // SAFETY: a function of the borrowed module; `take_message` frees the string.
        let printed = unsafe { ir::take_message(LLVMPrintValueToString(f.0)) };
        for line in printed.lines().filter(|line| !line.starts_with(';')) {
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

fn drop_names(f: Function) {
    let clear = |value: LLVMValueRef| {
        // SAFETY: a value of the function, which belongs to the borrowed module; an empty name removes the name.
        unsafe { LLVMSetValueName2(value, c"".as_ptr(), 0) }
    };
    // SAFETY: a function of the borrowed module; parameter indices are below the count.
    unsafe {
        (0..LLVMCountParams(f.0)).for_each(|i| clear(LLVMGetParam(f.0, i)));
        for block in f.blocks() {
            clear(LLVMBasicBlockAsValue(block.0));
            block.instructions().into_iter().for_each(|i| clear(i.0));
        }
    }
}
