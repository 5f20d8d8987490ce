//! Provides the bodies of the builtins that a kernel calls: kassay's own (`runtime-cl/host.cl`), else those of LLVM's
//! libclc for NVPTX, which is target-independent IR.
//!
//! The module for one set of builtins is assembled once per process and kept as bitcode.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use inkwell::context::ContextRef;
use inkwell::memory_buffer::MemoryBuffer;
use inkwell::module::Module;
use inkwell::targets::TargetMachine;

use super::libclc::missing;
use super::machine::{self, retarget};
use super::mangling::name_in_libclc;
use super::{annotate, gpu_assumptions, handles, libclc, plain};
use crate::error::{Error, Result};
use crate::kernel::builtins::{self, Family, demangle};
use crate::kernel::cache::{self, Key};
use crate::kernel::canonical;
use crate::llvm::{self, AttributeIndex, Block, Builder, Function, Linkage, Type, Value, View, passes};

/// `runtime-cl/host.cl` as bitcode (see `build.rs`).
const HOST_BITCODE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/host.bc"));

/// Assembled bitcode, by libclc's path and the builtins' names and types.
type BuiltinCache = HashMap<(PathBuf, Vec<(String, String)>), Arc<Vec<u8>>>;
static CACHE: LazyLock<Mutex<BuiltinCache>> = LazyLock::new(Mutex::default);

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
    let path = libclc::path()?;
    let key = (path.clone(), wanted.iter().map(|(name, ty)| (name.clone(), ty.text())).collect::<Vec<_>>());
    let known = CACHE.lock().unwrap_or_else(PoisonError::into_inner).get(&key).cloned();
    let bitcode = match known {
        Some(bitcode) => bitcode,
        None => {
            let place = cache::is_open().then(|| {
                let key_of = Key::new("builtins").with(&machine::host());
                key.1.iter().fold(key_of, |sum, (name, ty)| sum.with(name.as_bytes()).with(ty.as_bytes()))
            });
            let bitcode = match place.as_ref().and_then(cache::find) {
                Some(bitcode) => Arc::new(bitcode),
                None => {
                    let made = assemble(module, &wanted, &path, machine, is_external)?;
                    let bitcode = made.write_bitcode_to_memory().as_slice().to_vec();
                    if let Some(place) = place {
                        cache::keep(&place, &bitcode);
                    }
                    Arc::new(bitcode)
                }
            };
            CACHE.lock().unwrap_or_else(PoisonError::into_inner).insert(key, bitcode.clone());
            bitcode
        }
    };
    let buffer = MemoryBuffer::create_from_memory_range_copy(&bitcode, "builtins");
    let builtins = Module::parse_bitcode_from_buffer(&buffer, module.get_context()).map_err(unreadable)?;
    llvm::link(module, builtins).map_err(unreadable)
}

fn unreadable(e: impl std::fmt::Display) -> Error {
    Error::internal("the builtins cannot be linked").details(e.to_string())
}

/// Returns the functions that are used but have no body, with their types.
fn undefined<'m>(module: &'m Module<'_>) -> Vec<(String, Type<'m>)> {
    let functions = View::of(module).functions().into_iter();
    let wanted = functions.filter(|f| !f.has_body() && !f.name().starts_with("llvm.") && f.is_used());
    wanted.map(|f| (f.name(), f.value_type())).collect()
}

/// A library from which only linked functions are read.
struct Library<'c>(Module<'c>);

impl<'c> Library<'c> {
    fn open(context: ContextRef<'c>, bitcode: &Source<'_>) -> Result<Library<'c>> {
        let buffer = match bitcode {
            Source::Embedded => MemoryBuffer::create_from_memory_range(HOST_BITCODE, "host"),
            Source::File(path) => file(path).map_err(|why| bitcode.unreadable(&why))?,
        };
        let library = llvm::read_lazily(context, buffer).map_err(|why| bitcode.unreadable(&why))?;
        // So that linking takes only the functions that are needed.
        let view = View::of(&library);
        for f in view.functions() {
            if !f.is_declaration() && f.linkage() == Linkage::LLVMExternalLinkage {
                f.set_linkage(Linkage::LLVMLinkOnceODRLinkage);
            }
        }
        for global in view.globals() {
            if !global.is_declaration() && global.linkage() == Linkage::LLVMExternalLinkage {
                global.set_linkage(Linkage::LLVMLinkOnceODRLinkage);
            }
        }
        Ok(Library(library))
    }

    fn defines(&self, name: &str) -> bool {
        View::of(&self.0).function(name).is_some_and(|f| !f.is_declaration())
    }

    /// Links the functions that `into` declares.
    fn link(self, into: &mut Module<'c>, machine: &TargetMachine) -> Result<()> {
        retarget(&self.0, machine);
        llvm::link(into, self.0).map_err(|_| Error::internal("the builtins cannot be linked"))
    }
}

fn file(path: &Path) -> std::result::Result<MemoryBuffer<'static>, String> {
    path.to_str().ok_or("its path is not Unicode")?;
    MemoryBuffer::create_from_file(path).map_err(|e| e.to_string())
}

/// libclc, opened when first needed: reading its list of functions takes a third of the time from a short kernel
/// to its launch.
struct LazyLibclc<'c, 'a> {
    context: ContextRef<'c>,
    path: &'a Path,
    open: Option<Library<'c>>,
}

impl<'c> LazyLibclc<'c, '_> {
    fn get(&mut self) -> Result<&Library<'c>> {
        let library = match self.open.take() {
            Some(library) => library,
            None => Library::open(self.context, &Source::File(self.path))?,
        };
        Ok(self.open.insert(library))
    }
}

enum Source<'a> {
    Embedded,
    File(&'a Path),
}

impl Source<'_> {
    fn unreadable(&self, why: &str) -> Error {
        match self {
            Source::Embedded => unreadable(why),
            Source::File(path) => missing(format!("{} cannot be read: {why}", path.display())),
        }
    }
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
    let own = Library::open(context, &Source::Embedded)?;
    let mut libclc = LazyLibclc { context, path, open: None };
    let mut module = context.create_module("builtins");
    retarget(&module, machine);
    // Names in the library by the names that the kernel uses.
    let mut names: BTreeMap<String, String> = BTreeMap::new();
    let mut missing: Vec<&str> = Vec::new();
    for name in wanted.keys() {
        let found = match own.defines(name) {
            true => Some(name.to_owned()),
            false => match name_in_libclc(name) {
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
        return Err(unknown(of, &missing));
    }
    declare(&module, names.values());
    own.link(&mut module, machine)?;
    // The functions that kassay's own ones call have no pointer parameters to memory other than private, so their names
    // are the same in both libraries.
    for (name, _) in undefined(&module) {
        if !is_external(&name) && !libclc.get()?.defines(&name) {
            return Err(unknown(of, &[&name]));
        }
    }
    if let Some(libclc) = libclc.open {
        libclc.link(&mut module, machine)?;
    }
    let mut module = handles::rewrite(module)?;
    let view = View::of(&module);
    view.functions().into_iter().for_each(plain::strip_function);
    for (name, ty) in wanted {
        if !adapt(view, name, &names[name], *ty)? {
            return Err(unknown(of, &[name]));
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

/// Suffixes that clang appends to the names of builtins that it implements by its own functions.
const VARIANTS: [&str; 6] = ["_basic", "_varargs", "_events", "_impl", "_2", "_4"];

/// Returns a builtin's name as written in the source.
fn as_written(name: &str) -> &str {
    if let Some((base, _)) = demangle(name) {
        return base;
    }
    let mut name = name.trim_start_matches("__");
    while let Some(shorter) = VARIANTS.iter().find_map(|v| name.strip_suffix(v)) {
        name = shorter;
    }
    name
}

/// Builds the error for builtins that are missing; `names` are those in the kernel's module.
fn unknown(module: &Module<'_>, names: &[&str]) -> Error {
    let calls = View::of(module).functions().into_iter().flat_map(Function::blocks).flat_map(Block::walk);
    let mut calls = calls.filter(|i| i.callee().is_some_and(|c| names.contains(&c.as_str())));
    let place = calls.find_map(|call| call.location()).filter(|l| l.line > 0);
    let place = place.map(|l| format!("{}:{}:{}: ", l.file, l.line, l.column)).unwrap_or_default();
    let shown = |name: &&str| match as_written(name) {
        written if demangle(name).is_some() => format!("`{written}` ({name})"),
        written => format!("`{written}`"),
    };
    let mut all: Vec<String> = names.iter().map(shown).collect();
    all.dedup();
    Error::internal(format!("{place}the simulator has no {}", all.join(", no ")))
        .help("leave that out of what is run here, or run the kernel on an OpenCL device (--device opencl)")
}

/// Declares functions so that linking adds their bodies. The type is arbitrary, because the body determines it.
fn declare<'a>(module: &Module<'_>, names: impl Iterator<Item = &'a String>) {
    let view = View::of(module);
    for name in names {
        view.function_or_declared(name, view.void_type().function(&[], false));
    }
}

/// Makes the library's function available under the kernel's name and type, casting pointers between address spaces.
/// Returns `false` if there is no such function.
fn adapt<'m>(view: View<'m>, name: &str, body: &str, ty: Type<'m>) -> Result<bool> {
    let Some(body) = view.function(body).filter(|f| f.has_body()) else { return Ok(false) };
    let wrong = || Error::internal(format!("the builtin `{name}` is called with types that it does not have"));
    let has = body.value_type();
    if has == ty && body.name() == name {
        return Ok(true);
    }
    if body.name() == name {
        body.set_name(&format!("{name}.body"));
    }
    let adapter = view.add_function(name, ty);
    let builder = view.builder();
    builder.at_end(adapter.append_block(""));
    if adapter.param_count() != body.param_count() {
        return Err(wrong());
    }
    let pairs = adapter.params().into_iter().zip(body.params());
    let arguments: Option<Vec<Value<'_>>> = pairs.map(|(given, taken)| cast(&builder, given, taken.ty())).collect();
    let value = builder.call_as(has, body, &arguments.ok_or_else(wrong)?, "").value();
    let result = adapter.return_type();
    match result.is_void() {
        true => builder.ret(None),
        false => builder.ret(Some(cast(&builder, value, result).ok_or_else(wrong)?)),
    };
    Ok(true)
}

fn cast<'m>(builder: &Builder<'m>, value: Value<'m>, to: Type<'m>) -> Option<Value<'m>> {
    let fits = value.ty() == to || (value.ty().is_pointer() && to.is_pointer());
    fits.then(|| builder.address_space_cast(value, to, ""))
}
