//! A kernel and all it calls as one function for this host, in which every instruction of the source still stands.

use inkwell::module::Module;
use inkwell::targets::TargetMachine;
use inkwell::values::AsValueRef;
use llvm_sys::core::*;

pub use super::inline::refuse_large;
use super::{abi, builtins, emit, handles, inline, plain};
use crate::error::{Error, Result};
use crate::kernel::canonical;
use crate::kernel::ir::{self, Block, Function};
use crate::lower::undefined;

/// What may still be called once everything is inlined, LLVM's intrinsics apart.
const LEFT: [&str; 12] = [
    abi::ITEM,
    "printf",
    abi::placeholder::BARRIER,
    abi::placeholder::EXCHANGE,
    abi::placeholder::FENCE,
    abi::placeholder::ASYNC_COPY,
    abi::placeholder::WAIT,
    abi::placeholder::IMAGE_READ,
    abi::placeholder::IMAGE_WRITE,
    abi::placeholder::IMAGE_QUERY,
    abi::placeholder::COMPARISON,
    abi::placeholder::LEAVE,
];

/// LLVM's number for global memory on SPIR-V.
const GLOBAL: u32 = 1;

/// Retargets a (woven) module to this host, links the bodies of the builtins that it calls, and inlines everything into the kernel.
/// What is left is the kernel alone, which calls nothing but placeholders ([`abi::placeholder`]), [`abi::ITEM`], `printf` and LLVM's
/// intrinsics. Loads and divisions of helper functions that nothing uses are kept. Images, samplers and events are pointers.
///
/// Debug locations tell the way of calls (`inlinedAt`). Memory accesses and placeholders that builtins brought are marked, see
/// [`abi::mark`].
///
/// # Errors
/// `Caller` if the kernel calls a function that is not defined, calls itself, calls through a pointer, holds assembly, uses a writable variable of the program, or is too large; `Environment` without libclc;
/// `Internal` if a builtin is not known here, or a pass fails.
pub fn prepare<'c>(module: Module<'c>, entry: &str) -> Result<Module<'c>> {
    let module = linked(module)?;
    inlined(&module, entry)?;
    Ok(module)
}

/// What [`prepare`] does first: a module for this host, with the bodies of the builtins that it calls. It takes little time, whatever the
/// kernel, and remembers builtins.
///
/// # Errors
/// As of [`prepare`].
pub fn linked(module: Module<'_>) -> Result<Module<'_>> {
    undefined::refuse(&module)?;
    let module = handles::rewrite(module)?;
    let machine = emit::machine(emit::Effort::Full)?;
    emit::retarget(&module, &machine);
    for f in ir::functions(&module) {
        plain::function(f);
    }
    refuse_pointers(&module)?;
    refuse_program_variables(&module)?;
    builtins::link(&module, &machine, |name| LEFT.contains(&name))?;
    Ok(module)
}

/// What [`prepare`] does then, to a module that is [`linked`].
///
/// # Errors
/// As of [`prepare`].
pub fn inlined(module: &Module<'_>, entry: &str) -> Result<()> {
    let machine = emit::machine(emit::Effort::Full)?;
    inline::everything(module, entry, &machine)?;
    check(module, entry)?;
    canonical::verify(module, "inlining for this host")
}

/// Calls of what is no function by name.
fn refuse_pointers(module: &Module<'_>) -> Result<()> {
    for call in ir::functions(module).into_iter().flat_map(Function::blocks).flat_map(Block::instructions) {
        // SAFETY: alive; asked of calls only.
        let callee = unsafe {
            match !LLVMIsACallInst(call.0).is_null() && call.callee().is_none() {
                true => LLVMGetCalledValue(call.0),
                false => continue,
            }
        };
        let place = call.location().map(|l| format!(" ({}:{}:{})", l.file, l.line, l.column)).unwrap_or_default();
        // SAFETY: alive.
        if unsafe { !LLVMIsAInlineAsm(callee).is_null() } {
            // It would run as it stands, unchecked, on a processor it was not written for.
            return Err(Error::caller(format!(
                "the kernel holds inline assembly{place}, which the simulator cannot run"
            ))
            .help("write it in OpenCL C, or leave it out with a macro (-D)"));
        }
        return Err(Error::caller(format!("the kernel calls through a pointer to a function{place}"))
            .help("OpenCL C has no pointers to functions, and no blocks that are called otherwise than by name; call the function itself"));
    }
    Ok(())
}

/// Variables of the program that kernels write: they outlive launches, which every run here begins anew, and nobody watches them.
fn refuse_program_variables(module: &Module<'_>) -> Result<()> {
    for variable in module.get_globals() {
        let global = variable.as_value_ref();
        // SAFETY: alive.
        let is_writable = unsafe {
            let space = LLVMGetPointerAddressSpace(LLVMTypeOf(global));
            LLVMIsGlobalConstant(global) == 0 && space == GLOBAL && !LLVMGetFirstUse(global).is_null()
        };
        if is_writable {
            let name = variable.get_name().to_string_lossy();
            let what =
                format!("the kernel uses the program-scope variable `{name}`, which the simulator does not take");
            return Err(Error::caller(what).help("pass it as an argument, or declare it `constant`"));
        }
    }
    Ok(())
}

/// Nothing but the kernel has a body, and it calls only what is to be left.
fn check(module: &Module<'_>, entry: &str) -> Result<()> {
    for f in ir::functions(module).into_iter().filter(|f| f.name() != entry) {
        let name = f.name();
        if f.has_body() {
            return Err(Error::caller(format!("`{name}` cannot be inlined into the kernel: it calls itself"))
                .help("OpenCL C forbids recursion (section 6.11 of OpenCL C 3.0); use a loop"));
        }
        // SAFETY: alive.
        let used = unsafe { !LLVMGetFirstUse(f.0).is_null() };
        if used && !name.starts_with("llvm.") && !LEFT.contains(&name.as_str()) {
            return Err(Error::internal(format!("`{name}` is left without a body")));
        }
    }
    Ok(())
}

/// Runs passes of LLVM's new pass manager.
///
/// # Errors
/// `Internal` if one fails.
pub(super) fn run(module: &Module<'_>, machine: &TargetMachine, passes: &str) -> Result<()> {
    module
        .run_passes(passes, machine, inkwell::passes::PassBuilderOptions::create())
        .map_err(|e| Error::internal(format!("{passes} failed: {e}")))
}
