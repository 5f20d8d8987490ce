//! Produces the canonical form: one module per entry kernel, in which sites are enumerated and probes are woven.
//!
//! clang 21 and later put a kernel's body into `__clang_ocl_kern_imp_<name>` and call it from a stub. Here the body
//! replaces the stub, every other function becomes an internal helper (or is dropped if the kernel does not reach it),
//! and what would hinder later passes is removed: `optnone`, `noinline`, TBAA. Nothing is optimised.

use std::collections::HashSet;

use inkwell::module::Module;
use inkwell::targets::TargetMachine;
use kassay_base::error::{Error, Result};

use super::builtins;
use super::copied_members;
use super::module::{kernels, listed};
use super::parameters::only_called;
use crate::llvm::{
    AttributeIndex, Function, Inst, Linkage, MetadataKind, Opcode, SPIR_FUNC, SPIR_KERNEL, View, passes,
};

/// Name prefix of the function in which clang 21 and later keep a kernel's body.
pub const BODY_PREFIX: &str = "__clang_ocl_kern_imp_";

/// Drops everything that `entry` does not reach, so that the other kernels of a file only cost parsing time.
///
/// # Errors
/// `Caller` if there is no such kernel; `Internal` if the pass fails.
pub fn keep_only(module: &mut Module<'_>, entry: &str, machine: &TargetMachine) -> Result<()> {
    let names = kernels(module);
    if !names.iter().any(|n| n == entry) {
        return Err(no_such_kernel(entry, &names));
    }
    keep_kernels(module, &[entry.to_owned()], machine)?;
    name_variables(View::of(module));
    Ok(())
}

/// Drops everything that none of these kernels reaches.
///
/// # Errors
/// `Internal` if the pass fails.
pub fn keep_kernels(module: &mut Module<'_>, kept: &[String], machine: &TargetMachine) -> Result<()> {
    let kept: HashSet<&str> = kept.iter().map(String::as_str).collect();
    for f in View::of(module).functions().into_iter().filter(|f| f.has_body()) {
        let name = f.name();
        if !kept.contains(name.strip_prefix(BODY_PREFIX).unwrap_or(&name)) {
            f.make_internal();
        }
    }
    passes::run(module, Some(machine), "globaldce")
}

/// Drops everything that none of these kernels reaches, and prepares the rest for being lowered as it is: the kernels
/// keep their parameters, and variables of the program stay such.
///
/// # Errors
/// `Internal` if the pass fails or the result does not verify.
pub fn keep_as_they_are(module: &mut Module<'_>, kept: &[String], machine: &TargetMachine) -> Result<()> {
    for body in View::of(module).functions().into_iter().filter(|f| f.has_body() && f.name().starts_with(BODY_PREFIX)) {
        body.make_internal();
    }
    forget_addresses(View::of(module));
    keep_kernels(module, kept, machine)?;
    let view = View::of(module);
    view.strip_debug_info();
    forget_hindrances(view);
    strip_tbaa(view);
    verify(module, "keeping kernels as they are")
}

/// Names variables of the program that have no name, as those of SPIR-V may, because mutants and messages name them.
fn name_variables(view: View<'_>) {
    for (n, variable) in view.globals().into_iter().enumerate() {
        if variable.name().is_empty() {
            variable.set_name(&format!("variable.{n}"));
        }
    }
}

/// Turns `module` into the canonical form of its kernel `entry`.
///
/// # Errors
/// `Caller` if there is no such kernel, or a function has a name of kassay's own; `Internal` if the result does not
/// verify.
pub fn canonicalise(module: &mut Module<'_>, entry: &str, machine: &TargetMachine) -> Result<()> {
    let names = kernels(module);
    if !names.iter().any(|n| n == entry) {
        return Err(no_such_kernel(entry, &names));
    }
    let view = View::of(module);
    let kernel = take_body(view, entry);
    for f in view.functions().into_iter().filter(|f| f.has_body()) {
        if f != kernel {
            f.attributes(AttributeIndex::Function).remove("alwaysinline");
            // A plain `inline` helper is `available_externally`, on which the SPIR-V backend crashes.
            f.make_internal();
        }
    }
    forget_hindrances(view);
    strip_tbaa(view);
    forget_addresses(view);
    passes::run(module, Some(machine), "globaldce")?;
    let view = View::of(module);
    refuse_reserved_names(view)?;
    demote_other_kernels(view, entry);
    name_bodies_after_kernels(view);
    verify(module, "canonical form")
}

/// Removes what keeps passes from functions.
fn forget_hindrances(view: View<'_>) {
    // Translators of SPIR-V write a function's attributes at its calls, too, where they take precedence.
    let calls = view.instructions().into_iter().filter(|inst| inst.called_function().is_some());
    let calls = calls.map(|call| call.attributes(AttributeIndex::Function));
    let functions = view.functions().into_iter().filter(|f| f.has_body());
    for attributes in functions.map(|f| f.attributes(AttributeIndex::Function)).chain(calls) {
        // The first is valid beside the second only.
        attributes.remove("optnone");
        attributes.remove("noinline");
    }
}

/// Refuses functions that are called like those by which woven code and what runs it know each other.
fn refuse_reserved_names(view: View<'_>) -> Result<()> {
    const RESERVED: &str = "__kassay_";
    match view.functions().into_iter().map(|f| f.name()).find(|name| name.starts_with(RESERVED)) {
        Some(name) => Err(Error::caller(format!("the kernel has a function `{name}`"))
            .help(format!("give it another name: those that begin with `{RESERVED}` are kassay's own"))),
        None => Ok(()),
    }
}

/// The error for an entry kernel that the module lacks.
pub fn no_such_kernel(entry: &str, names: &[String]) -> Error {
    Error::caller(format!("there is no kernel `{entry}`")).help(format!("name one of: {}", listed(names)))
}

/// Verifies a module after a pass. A module that does not verify is kassay's own fault, hence an `Internal` error.
pub fn verify(module: &Module<'_>, after: &str) -> Result<()> {
    module
        .verify()
        .map_err(|e| Error::internal(format!("the module does not verify after: {after}")).details(e.to_string()))
}

/// Returns the function with the body of a kernel that is a stub: one of its name, or that of another entry point of
/// SPIR-V for the same function (see `shared_functions`).
pub fn body_of<'m>(view: View<'m>, kernel: Function<'m>) -> Option<Function<'m>> {
    let passed_on = || {
        let [call, _] = kernel.instructions()[..] else { return None };
        let body = call.called_function().filter(|body| body.name().starts_with(BODY_PREFIX))?;
        let is_same = body.value_type() == kernel.value_type() && kernel.subprogram().is_none();
        (is_same && call.operands().iter().zip(kernel.params()).all(|(arg, param)| *arg == param)).then_some(body)
    };
    view.function(&format!("{BODY_PREFIX}{}", kernel.name())).or_else(passed_on)
}

/// Replaces the stub of `entry` by the kernel's body.
fn take_body<'m>(view: View<'m>, entry: &str) -> Function<'m> {
    let stub = view.function(entry).expect("the caller found it");
    // clang gives them the same type; other code may have such a name, too.
    let is_body = |body: &Function<'m>| body.has_body() && body.value().ty() == stub.value().ty() && *body != stub;
    let Some(body) = body_of(view, stub).filter(is_body) else {
        return stub;
    };
    add_missing_metadata(stub, body);
    // SAFETY: the stub's instructions (a call of the body among them) go with it, and nothing that uses it or is made
    // of it has been looked at.
    unsafe {
        stub.value().replace_constant(body);
        stub.delete();
    }
    body.set_name(entry);
    body.set_call_conv(SPIR_KERNEL);
    body.set_linkage(Linkage::LLVMExternalLinkage);
    body.attributes(AttributeIndex::Function).remove("alwaysinline");
    body
}

/// Makes null of the addresses of functions where nothing is called through one. A block literal holds its function's,
/// but clang calls that by name; SPIR-V has no such addresses, and a function whose address is known cannot have more
/// parameters.
fn forget_addresses(view: View<'_>) {
    // `__attribute__((used))` keeps a function for what the compiler does not see; of a kernel, that is nothing.
    let lists = ["llvm.used", "llvm.compiler.used"];
    for list in view.globals().into_iter().filter(|g| lists.contains(&g.name().as_str())) {
        // SAFETY: nothing uses these lists, and no handle of one is kept.
        unsafe { list.delete() };
    }
    let may_be_called =
        |call: &Inst<'_>| call.called_function().is_none_or(|f| builtins::taking_a_block(&f.name()).is_some());
    let calls = || view.instructions().into_iter().filter(|inst| inst.is(Opcode::LLVMCall));
    if calls().any(|call| may_be_called(&call)) {
        return;
    }
    for f in view.functions().into_iter().filter(|f| f.has_body() && !only_called(*f)) {
        let own: Vec<Inst<'_>> = calls().filter(|call| call.called_function() == Some(f)).collect();
        // A null that is cast is no null to LLVM's back end.
        let casts =
            f.value().users().into_iter().filter(|user| user.as_instruction().is_none() && user.ty().is_pointer());
        for address in casts.chain([f.value()]) {
            // SAFETY: no handle of a constant that holds the address is kept: casts are no part of each other.
            unsafe { address.replace_constant(address.ty().null()) };
        }
        for call in own {
            call.set_operand(call.operand_count() - 1, f);
        }
    }
}

/// Copies to `to` the metadata of `from` whose kinds it lacks (`reqd_work_group_size` and the argument descriptions),
/// except the debug subprogram.
fn add_missing_metadata<'m>(from: Function<'m>, to: Function<'m>) {
    let has: Vec<MetadataKind> = to.all_metadata().into_iter().map(|(kind, _)| kind).collect();
    for (kind, node) in from.all_metadata() {
        if kind != MetadataKind::DEBUG && !has.contains(&kind) {
            to.set_metadata(kind, node);
        }
    }
}

/// Turns kernels other than `entry`, which the entry can only call, into ordinary helpers.
fn demote_other_kernels(view: View<'_>, entry: &str) {
    for f in view.functions() {
        if f.has_body() && f.call_conv() == SPIR_KERNEL && f.name() != entry {
            f.set_call_conv(SPIR_FUNC);
        }
    }
    for call in view.instructions() {
        if let Some(callee) = call.called_function().filter(|f| !f.is_declaration()) {
            call.set_call_conv(callee.call_conv());
        }
    }
}

/// Renames the bodies of kernels that the entry calls to the kernels' own names, which the source and the results use.
fn name_bodies_after_kernels(view: View<'_>) {
    for f in view.functions() {
        let name = f.name();
        if let Some(kernel) = name.strip_prefix(BODY_PREFIX).filter(|kernel| view.function(kernel).is_none()) {
            f.set_name(kernel);
        }
    }
}

/// Makes each `unreachable` a return of zero. An optimiser puts it where the original never comes; mutants may, and
/// what they do there has to be defined.
pub fn return_where_unreachable(view: View<'_>) {
    let builder = view.builder();
    for f in view.functions().into_iter().filter(|f| f.has_body()) {
        let ty = f.return_type();
        if !ty.is_void() && !ty.has_zero() {
            continue;
        }
        for end in f.instructions().into_iter().filter(|inst| inst.is(Opcode::LLVMUnreachable)) {
            builder.before(end);
            builder.ret((!ty.is_void()).then(|| ty.null()));
            builder.at_end(f.entry());
            end.erase()
        }
    }
}

/// Returns the liberties with floats that some instruction has: those that the user gave by options.
pub fn float_flags(view: View<'_>) -> u32 {
    view.instructions().into_iter().fold(0, |all, inst| all | inst.float_flags())
}

/// Takes away the liberties with floats that an optimiser inferred of the values that there are: those that are not
/// among the `given` ones.
pub fn keep_float_flags(view: View<'_>, given: u32) {
    view.instructions().into_iter().for_each(|inst| inst.keep_float_flags(given));
}

fn strip_tbaa(view: View<'_>) {
    copied_members::mark_copies(view);
    let kind = view.metadata_kind("tbaa");
    view.instructions().into_iter().for_each(|inst| inst.set_metadata(kind, None));
}
