//! Provides the bodies of the builtins that a kernel calls: kassay's own (`runtime-cl/host.cl`), else those of LLVM's
//! libclc for NVPTX, which is target-independent IR.
//!
//! The module for one set of builtins is assembled once per process and kept as bitcode.

use std::collections::BTreeMap;
use std::path::Path;

use inkwell::module::Module;
use inkwell::targets::TargetMachine;
use kassay_base::error::Result;

use super::machine::{self, retarget};
use super::{annotate, gpu_assumptions, handles, plain};
use crate::kernel::builtins::{self, Family, demangle};
use crate::kernel::canonical;
use crate::llvm::{AttributeIndex, Linkage, Type, View, passes};
use crate::lower::libclc::adapters::adapt;
use crate::lower::libclc::assembled;
use crate::lower::libclc::library::{LazyLibclc, Library, Source, declare, undefined};
use crate::lower::libclc::mangling::{Constants, name_in_libclc};
use crate::lower::libclc::unknown::unknown;

/// `runtime-cl/host.cl` as bitcode (see `build.rs`).
const NATIVE_BITCODE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/host.bc"));

/// What lacks a builtin that neither library has, and what helps, for messages.
const WHO: &str = "the simulator";
const HELP: &str = "leave that out of what is run here, or run the kernel on an OpenCL device (--device opencl)";

/// Adds the body of every called function that has none, except those for which `is_external` holds.
///
/// # Errors
/// `Environment` without libclc; `Internal` if neither library has a function of that name.
pub fn link(module: &mut Module<'_>, machine: &TargetMachine, is_external: impl Fn(&str) -> bool) -> Result<()> {
    let wanted: BTreeMap<String, Type<'_>> =
        undefined(module).into_iter().filter(|(name, _)| !is_external(name)).collect();
    if wanted.is_empty() {
        return Ok(());
    }
    let bitcode = assembled::bitcode("builtins", &wanted, machine::host, |path| {
        assemble(module, &wanted, path, machine, is_external)
    })?;
    assembled::link(module, &bitcode)
}

/// Assembles a module with the bodies of the wanted builtins, in each of which everything is inlined.
fn assemble<'c>(
    of: &Module<'c>,
    wanted: &BTreeMap<String, Type<'_>>,
    path: &Path,
    machine: &TargetMachine,
    is_external: impl Fn(&str) -> bool,
) -> Result<Module<'c>> {
    let context = of.get_context();
    let own = Library::open(context, &Source::Embedded(NATIVE_BITCODE))?;
    let mut libclc = LazyLibclc::new(context, path);
    let mut module = context.create_module("builtins");
    retarget(&module, machine);
    // Names in the library by the names that the kernel uses.
    let mut names: BTreeMap<String, String> = BTreeMap::new();
    let mut missing: Vec<&str> = Vec::new();
    for name in wanted.keys() {
        let found = match own.defines(name) {
            true => Some(name.to_owned()),
            false => match name_in_libclc(name, Constants::Constant) {
                Some(found) if libclc.get()?.defines(&found) => Some(found),
                _ => None,
            },
        };
        match found {
            Some(found) => drop(names.insert(name.clone(), found)),
            None => missing.push(name),
        }
    }
    if !missing.is_empty() {
        return Err(unknown(of, &missing, WHO, HELP));
    }
    declare(&module, names.values());
    own.link(&mut module)?;
    // The functions that kassay's own ones call have no pointer parameters to memory other than private, so their names
    // are the same in both libraries.
    for (name, _) in undefined(&module) {
        if !is_external(&name) && !libclc.get()?.defines(&name) {
            return Err(unknown(of, &[&name], WHO, HELP));
        }
    }
    libclc.link(&mut module)?;
    let mut module = handles::rewrite(module)?;
    let view = View::of(&module);
    view.functions().into_iter().for_each(plain::strip_function);
    for (name, ty) in wanted {
        if !adapt(view, name, &names[name], *ty)? {
            return Err(unknown(of, &[name], WHO, HELP));
        }
    }
    for f in view.functions().into_iter().filter(|f| f.has_body() && !wanted.contains_key(&f.name())) {
        f.attributes(AttributeIndex::Function).add_flag("alwaysinline");
        f.set_linkage(Linkage::LLVMInternalLinkage);
    }
    for global in view.globals() {
        global.set_linkage(Linkage::LLVMInternalLinkage);
    }
    for f in wanted.keys().filter_map(|name| view.function(name)) {
        // Else nothing would keep those that came with linkonce.
        f.set_linkage(Linkage::LLVMExternalLinkage);
    }
    passes::run(&mut module, Some(machine), "always-inline,globaldce")?;
    let view = View::of(&module);
    for name in wanted.keys() {
        if let Some(f) = view.function(name) {
            let base = demangle(name).map_or(name.as_str(), |(base, _)| base);
            gpu_assumptions::confine(view, f);
            if builtins::family(name) != Some(Family::Conversion) {
                gpu_assumptions::saturate(view, f);
            }
            annotate::builtin(view, f, base);
        }
    }
    canonical::verify(&module, "putting builtins together")?;
    Ok(module)
}
