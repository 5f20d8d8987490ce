//! The normal form of a module: two modules that share it behave alike, in every launch in bounds that reads nothing
//! uninitialised.

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

/// What a module says, or that it cannot be told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NormalForm {
    Text(String),
    /// It holds a value that an optimiser may choose at will: nothing can be claimed.
    Indeterminate,
}

const INLINING: &CStr = c"always-inline,globaldce,function(mem2reg)";

/// Passes that simplify without assuming anything. Loops are neither deleted nor unrolled: how often they iterate stays.
const OPTIMISING: &CStr = c"function(sroa,early-cse,instcombine<no-verify-fixpoint>,simplifycfg,sccp,reassociate,gvn,instcombine<no-verify-fixpoint>,simplifycfg,\
loop-simplify,lcssa,loop(indvars),adce,instcombine<no-verify-fixpoint>,simplifycfg,early-cse)";

/// The normal form of a (mutated) module, which is consumed.
///
/// # Errors
/// `Internal` if a pass fails or leaves a module that does not verify.
pub fn of(module: Module<'_>, entry: &str) -> Result<NormalForm> {
    match promote(&module, entry)? {
        true => of_promoted(module),
        false => Ok(NormalForm::Indeterminate),
    }
}

/// The normal form of a promoted module, which is consumed.
///
/// # Errors
/// As [`of`].
pub fn of_promoted(module: Module<'_>) -> Result<NormalForm> {
    run(&module, OPTIMISING)?;
    canonical_order::canonicalise(&module);
    canonical::verify(&module, "the normal form")?;
    if reads_uninitialised(&module) {
        return Ok(NormalForm::Indeterminate);
    }
    Ok(NormalForm::Text(text(&module)))
}

/// Inlines everything and promotes whole variables, without licences, and opaque where needed. False if the module is
/// [`Normal::Open`].
///
/// # Errors
/// As [`of`].
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
    // SAFETY: the module is alive; options and message are freed once. No target: costs decide nothing.
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

/// Whether an operand is undefined where all of it is used, or a lane is chosen by a variable.
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
        // SAFETY: alive.
        unsafe {
            lane.is_some_and(|lane| LLVMIsAConstantInt(*lane).is_null())
                || operands.iter().any(|v| !partly && (LLVMIsUndef(*v) != 0 || LLVMIsPoison(*v) != 0))
        }
    })
}

/// Whether a scalar is used that may be uninitialised. What only fills a variable that stays in memory is not used yet.
fn reads_uninitialised(module: &Module<'_>) -> bool {
    instructions(module)
        .filter(|inst| inst.callee().is_some_and(|name| name.starts_with(opaque_calls::UNINITIALISED)))
        .any(|call| !only_stored(call))
}

fn only_stored(value: Inst) -> bool {
    // SAFETY: alive; the list of uses ends with null.
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

/// The bodies as text, without names and attributes: what attributes let passes do is done.
fn text(module: &Module<'_>) -> String {
    let mut all = String::new();
    for f in ir::functions(module).into_iter().filter(|f| f.has_body()) {
        drop_names(f);
        // SAFETY: alive; the message is freed.
        let printed = unsafe { ir::take_message(LLVMPrintValueToString(f.0)) };
        for line in printed.lines().filter(|line| !line.starts_with(';')) {
            // Numbers of attribute groups follow from what else the module declares.
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
        // SAFETY: alive; an empty name removes it.
        unsafe { LLVMSetValueName2(value, c"".as_ptr(), 0) }
    };
    // SAFETY: alive; parameters within their count.
    unsafe {
        (0..LLVMCountParams(f.0)).for_each(|i| clear(LLVMGetParam(f.0, i)));
        for block in f.blocks() {
            clear(LLVMBasicBlockAsValue(block.0));
            block.instructions().into_iter().for_each(|i| clear(i.0));
        }
    }
}
