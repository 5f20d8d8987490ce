//! Running LLVM's passes.

use std::ffi::{CStr, c_char};

use inkwell::module::Module;
use inkwell::targets::TargetMachine;
use kassay_base::error::{Error, Result};
use llvm_sys::error::{LLVMDisposeErrorMessage, LLVMGetErrorMessage};
use llvm_sys::transforms::pass_builder::{
    LLVMCreatePassBuilderOptions, LLVMDisposePassBuilderOptions, LLVMPassBuilderOptionsSetLoopVectorization,
    LLVMPassBuilderOptionsSetSLPVectorization, LLVMRunPasses,
};

use super::text::name as c_name;
use super::{View, inlining};

/// Runs passes, given as LLVM's `opt` takes them, such as `function(sroa),globaldce`. Without a machine, costs decide
/// nothing.
///
/// The module verifies before: LLVM's passes take well-formed code only. They delete and replace what they like, so
/// handles end with this.
///
/// # Errors
/// `Internal` if a pass does not exist or fails.
pub fn run(module: &mut Module<'_>, machine: Option<&TargetMachine>, passes: &str) -> Result<()> {
    run_with(module, machine, passes, true)
}

/// Like [`run`], without vectorisers: for targets whose work-items are lanes themselves.
///
/// # Errors
/// As [`run`].
pub fn run_scalar(module: &mut Module<'_>, machine: &TargetMachine, passes: &str) -> Result<()> {
    run_with(module, Some(machine), passes, false)
}

const ALWAYS_INLINE: &str = "always-inline";

fn run_with(module: &mut Module<'_>, machine: Option<&TargetMachine>, passes: &str, vectorise: bool) -> Result<()> {
    let Some((before, after)) = passes.split_once(ALWAYS_INLINE) else {
        return run_as_given(module, machine, passes, vectorise);
    };
    if !before.is_empty() {
        run_as_given(module, machine, before.trim_end_matches(','), vectorise)?;
    }
    let plan = inlining::Plan::of(View::of(module));
    plan.begin();
    for number in 0..plan.runs() {
        plan.prepare(number);
        run_as_given(module, machine, ALWAYS_INLINE, vectorise)?;
    }
    match after.trim_start_matches(',') {
        "" => Ok(()),
        after => run_with(module, machine, after, vectorise),
    }
}

fn run_as_given(module: &Module<'_>, machine: Option<&TargetMachine>, passes: &str, vectorise: bool) -> Result<()> {
    let machine = machine.map_or(std::ptr::null_mut(), TargetMachine::as_mut_ptr);
    let text = c_name(passes);
    // SAFETY: nothing else borrows the module, and the text ends with NUL; options and message are freed once.
    unsafe {
        let options = LLVMCreatePassBuilderOptions();
        if !vectorise {
            LLVMPassBuilderOptionsSetLoopVectorization(options, 0);
            LLVMPassBuilderOptionsSetSLPVectorization(options, 0);
        }
        let error = LLVMRunPasses(module.as_mut_ptr(), text.as_ptr(), machine, options);
        LLVMDisposePassBuilderOptions(options);
        if error.is_null() {
            return Ok(());
        }
        let message = LLVMGetErrorMessage(error);
        let why = CStr::from_ptr(message).to_string_lossy().into_owned();
        LLVMDisposeErrorMessage(message);
        Err(Error::internal(format!("the passes `{passes}` failed: {why}")))
    }
}

/// Sets an option of LLVM's for the whole process, such as `-enable-tail-merge=false`. LLVM ends the process if it does
/// not know it.
///
/// # Safety
/// No other thread is in LLVM meanwhile.
pub unsafe fn set_option(option: &CStr) {
    let arguments: [*const c_char; 2] = [c"kassay".as_ptr(), option.as_ptr()];
    // SAFETY: two C strings, which LLVM copies; the rest as the caller promises.
    unsafe { llvm_sys::support::LLVMParseCommandLineOptions(2, arguments.as_ptr(), std::ptr::null()) }
}
