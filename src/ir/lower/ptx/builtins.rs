//! Provides the bodies of the builtins that a kernel calls on NVIDIA GPUs: kassay's own (`runtime-cl/ptx.cl`), else
//! those of LLVM's libclc for NVPTX.

use std::collections::BTreeMap;
use std::path::Path;

use inkwell::module::Module;
use inkwell::targets::TargetMachine;
use kassay_base::error::Result;
use kassay_model::ptx::{ARCHITECTURE, FEATURES};

use super::{collectives, printf, retarget};
use crate::kernel::canonical;
use crate::llvm::{AttributeIndex, Function, Linkage, Type, View};
use crate::lower::libclc::adapters::adapt;
use crate::lower::libclc::library::{LazyLibclc, Library, Source, declare, undefined};
use crate::lower::libclc::mangling::{Constants, name_in_libclc};
use crate::lower::libclc::unknown::unknown;
use crate::lower::libclc::{self, assembled};

/// `runtime-cl/ptx.cl` as bitcode (see `build.rs`).
const BITCODE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/ptx.bc"));

/// What lacks a builtin that neither library has, and what helps, for messages.
const WHO: &str = "code for NVIDIA GPUs";
const HELP: &str =
    "leave that out of what is run here, or run the kernel on another device (--device opencl, --device sim)";

/// What the device or a later step provides.
fn is_external(name: &str) -> bool {
    name == printf::DEVICE_FUNCTION || name == collectives::SCRATCH
}

/// Adds the body of every called function that has none. The module is retargeted already.
///
/// # Errors
/// `Environment` without libclc; `Internal` if neither library has a function of that name.
pub fn link(module: &mut Module<'_>, machine: &TargetMachine) -> Result<()> {
    let wanted: BTreeMap<String, Type<'_>> =
        undefined(module).into_iter().filter(|(name, _)| !is_external(name)).collect();
    if wanted.is_empty() {
        return Ok(());
    }
    let bitcode =
        assembled::bitcode("builtins-ptx", &wanted, made_for, |path| assemble(module, &wanted, path, machine))?;
    assembled::link(module, &bitcode)
}

/// Returns everything besides the builtins' names and types that determines their code, for cache keys.
fn made_for() -> Vec<u8> {
    let mut all = format!("{ARCHITECTURE} {FEATURES}").into_bytes();
    all.extend(libclc::stamp());
    all
}

/// Assembles a module with the bodies of the wanted builtins.
fn assemble<'c>(
    of: &Module<'c>,
    wanted: &BTreeMap<String, Type<'_>>,
    path: &Path,
    machine: &TargetMachine,
) -> Result<Module<'c>> {
    let own = Library::open(of.get_context(), &Source::Embedded(BITCODE))?;
    let mut libclc = LazyLibclc::new(of.get_context(), path);
    let (own_names, others): (Vec<String>, Vec<String>) = wanted.keys().cloned().partition(|name| own.defines(name));
    let mut module = of.get_context().create_module("builtins");
    declare(&module, own_names.iter());
    own.link(&mut module)?;
    let mut module = retarget::retarget(module, machine)?;
    // Functions of libclc by the names that the kernel and kassay's own functions use.
    let inner: Vec<String> =
        undefined(&module).into_iter().map(|(name, _)| name).filter(|name| !is_external(name)).collect();
    let mut bodies: BTreeMap<&str, String> = BTreeMap::new();
    let mut missing = Vec::new();
    for name in others.iter().chain(&inner) {
        match in_libclc(name, libclc.get()?) {
            Some(found) => drop(bodies.insert(name, found)),
            None => missing.push(name.as_str()),
        }
    }
    if !missing.is_empty() {
        return Err(unknown(of, &missing, WHO, HELP));
    }
    declare(&module, bodies.values());
    libclc.link(&mut module)?;
    let view = View::of(&module);
    view.functions().into_iter().for_each(plain);
    for (name, body) in &bodies {
        let declared = || view.function(name).map(Function::value_type);
        let fits = match wanted.get(*name).copied().or_else(declared) {
            Some(ty) => adapt(view, name, body, ty)?,
            None => false,
        };
        if !fits {
            return Err(unknown(of, &[name], WHO, HELP));
        }
    }
    for f in view.functions().into_iter().filter(|f| f.has_body() && !wanted.contains_key(&f.name())) {
        f.set_linkage(Linkage::LLVMInternalLinkage);
    }
    for global in view.globals() {
        global.set_linkage(Linkage::LLVMInternalLinkage);
    }
    for f in wanted.keys().filter_map(|name| view.function(name)) {
        // Else nothing would keep those that came with linkonce.
        f.set_linkage(Linkage::LLVMExternalLinkage);
    }
    canonical::verify(&module, "putting builtins for PTX together")?;
    Ok(module)
}

/// Returns the name of libclc's function for a builtin. The kernel's constants are in global memory.
fn in_libclc(name: &str, libclc: &Library<'_>) -> Option<String> {
    let names = [Constants::Global, Constants::Constant].map(|constants| name_in_libclc(name, constants));
    names.into_iter().flatten().find(|name| libclc.defines(name))
}

/// Removes what would keep a builtin from being optimised for the target.
fn plain(f: Function<'_>) {
    let attributes = f.attributes(AttributeIndex::Function);
    for name in ["noinline", "optnone"] {
        attributes.remove(name);
    }
    for key in ["target-cpu", "target-features"] {
        attributes.remove_text(key);
    }
}
