//! Turns a kernel and everything it calls into one function for this host, in which every instruction of the source is
//! still present.

use inkwell::module::Module;
use kassay_base::error::{Error, Result};
use kassay_model::code::Effort;
use kassay_model::native::abi;

pub use super::inline::refuse_large;
use super::machine::{machine, retarget};
use super::{annotate, builtins, handles, inline, plain};
use crate::kernel::canonical;
use crate::llvm::{AddressSpace, Function, Inst, View};
use crate::lower::{builtins as lowered_builtins, memory_intrinsics, traps, undefined};

/// The kind of metadata by which CUDA's front end marks the jumps of a kernel's `return` statements.
pub const RETURNS: &str = "kassay.returns";

/// The functions that may still be called once everything is inlined, besides LLVM's intrinsics.
const ALLOWED_CALLEES: [&str; 18] = [
    abi::ITEM,
    "printf",
    abi::placeholder::BARRIER,
    abi::placeholder::EXCHANGE,
    abi::placeholder::WARP,
    abi::placeholder::FENCE,
    abi::placeholder::ASYNC_COPY,
    abi::placeholder::WAIT,
    abi::placeholder::IMAGE_READ,
    abi::placeholder::IMAGE_WRITE,
    abi::placeholder::IMAGE_QUERY,
    abi::placeholder::MEMORY,
    abi::placeholder::COMPARISON,
    abi::placeholder::PAIR,
    abi::placeholder::FLOW,
    abi::placeholder::RETURNS,
    abi::placeholder::TRAP,
    abi::placeholder::LEAVE,
];

/// Retargets a (woven) module to this host, links the bodies of the builtins that it calls, and inlines everything into
/// the kernel. The kernel is then the only function left and calls nothing but placeholders ([`abi::placeholder`]),
/// [`abi::ITEM`], `printf` and LLVM's intrinsics. Unused loads and divisions of helper functions are kept. Images,
/// samplers and events are pointers.
///
/// Debug locations hold the call path (`inlinedAt`). Memory accesses and placeholders that come from builtins are
/// marked, see [`abi::mark`].
///
/// # Errors
/// `Caller` if the kernel calls a function that is not defined, calls itself, calls through a pointer, contains inline
/// assembly, uses a writable program-scope variable, or is too large; `Environment` without libclc;
/// `Internal` if a builtin is unknown, or a pass fails.
pub fn prepare<'c>(module: Module<'c>, entry: &str) -> Result<Module<'c>> {
    let mut module = linked(module)?;
    inlined(&mut module, entry)?;
    Ok(module)
}

/// The first step of [`prepare`]: returns a module for this host, with the bodies of the builtins that it calls. It is
/// fast for every kernel, and caches builtins.
///
/// # Errors
/// As [`prepare`].
pub fn linked(module: Module<'_>) -> Result<Module<'_>> {
    undefined::refuse(&module)?;
    lowered_builtins::for_native(&module);
    let mut module = handles::rewrite(module)?;
    let machine = machine(Effort::Full)?;
    retarget(&module, &machine);
    View::of(&module).functions().into_iter().for_each(plain::strip_function);
    annotate::forget(View::of(&module));
    refuse_pointers(&module)?;
    traps::mark(View::of(&module));
    refuse_program_variables(&module)?;
    builtins::link(&mut module, &machine, |name| ALLOWED_CALLEES.contains(&name))?;
    Ok(module)
}

/// The second step of [`prepare`], on a module returned by [`linked`].
///
/// # Errors
/// As [`prepare`].
pub fn inlined(module: &mut Module<'_>, entry: &str) -> Result<()> {
    memory_intrinsics::expand(module)?;
    note_returns(module);
    // After one, the processor would go on with whatever code is there.
    canonical::return_where_unreachable(View::of(module));
    memory_intrinsics::refuse(module)?;
    let machine = machine(Effort::Full)?;
    inline::everything(module, entry, &machine)?;
    check(module, entry)?;
    canonical::verify(module, "inlining for this host")
}

/// Places [`abi::placeholder::RETURNS`] at the `return` statements that CUDA's front end has marked. [`prepare`] does
/// it, too, but not before passes that others run may have merged the jumps.
pub fn note_returns(module: &Module<'_>) {
    let view = View::of(module);
    let kind = view.metadata_kind(RETURNS);
    let builder = view.builder();
    let jumps: Vec<Inst<'_>> = view.instructions().into_iter().filter(|inst| inst.metadata(kind).is_some()).collect();
    if jumps.is_empty() {
        return;
    }
    let function = view.add_function(abi::placeholder::RETURNS, view.void_type().function(&[], false));
    for jump in jumps {
        jump.set_metadata(kind, None);
        builder.before(jump);
        builder.call(function, &[], "");
    }
}

/// Refuses calls through pointers and inline assembly.
fn refuse_pointers(module: &Module<'_>) -> Result<()> {
    for call in View::of(module).instructions() {
        let Some(callee) = call.called_value().filter(|callee| callee.as_function().is_none()) else { continue };
        let place = call.location().map(|l| format!(" ({l})")).unwrap_or_default();
        if callee.is_inline_asm() {
            // It would run unchecked, on a processor that it was not written for.
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

/// Refuses writable program-scope variables: they outlive launches, while every run here starts from scratch, and
/// accesses to them are not checked.
fn refuse_program_variables(module: &Module<'_>) -> Result<()> {
    for variable in View::of(module).globals() {
        let is_global = variable.ty().space() == Some(AddressSpace::Global);
        if !variable.is_constant() && is_global && variable.is_used() {
            let name = variable.name();
            let what =
                format!("the kernel uses the program-scope variable `{name}`, which the simulator does not take");
            return Err(Error::caller(what).help("pass it as an argument, or declare it `constant`"));
        }
    }
    Ok(())
}

/// The call by which a function comes back to itself, perhaps through others.
fn call_of_itself<'m>(function: Function<'m>) -> Option<Inst<'m>> {
    let mut known = Vec::new();
    let mut open = vec![function];
    while let Some(caller) = open.pop() {
        for (call, callee) in caller.instructions().into_iter().filter_map(|inst| Some((inst, inst.called_function()?)))
        {
            if callee == function {
                return Some(call);
            }
            if !known.contains(&callee) {
                known.push(callee);
                open.push(callee);
            }
        }
    }
    None
}

/// Checks that only the kernel has a body, and that it calls only what it may.
fn check(module: &Module<'_>, entry: &str) -> Result<()> {
    for f in View::of(module).functions().into_iter().filter(|f| f.name() != entry) {
        let name = f.name();
        if let Some(call) = call_of_itself(f).filter(|_| f.has_body()) {
            let place = call.location().filter(|at| at.line > 0).map(|at| format!(" ({at})")).unwrap_or_default();
            return Err(Error::caller(format!("`{name}` cannot be inlined into the kernel: it calls itself{place}"))
                .help("kassay has no recursion, which OpenCL C forbids (section 6.11 of OpenCL C 3.0) and CUDA allows; use a loop"));
        }
        if f.has_body() {
            return Err(Error::caller(format!(
                "the kernel keeps the address of `{name}`, which the simulator cannot have"
            ))
            .help("OpenCL C has no pointers to functions, and no blocks that are called otherwise than by name"));
        }
        if f.is_used() && !name.starts_with("llvm.") && !ALLOWED_CALLEES.contains(&name.as_str()) {
            return Err(Error::internal(format!("`{name}` is left without a body")));
        }
    }
    Ok(())
}
