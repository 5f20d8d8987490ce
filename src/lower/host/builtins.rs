//! Provides the bodies of the builtins that a kernel calls: kassay's own (`runtime-cl/host.cl`), else those of LLVM's
//! libclc for NVPTX, which is target-independent IR.
//!
//! The module for one set of builtins is assembled once per process and kept as bitcode.

use std::collections::{BTreeMap, HashMap};
use std::ffi::CString;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use inkwell::memory_buffer::MemoryBuffer;
use inkwell::module::Module;
use inkwell::targets::TargetMachine;
use llvm_sys::core::*;
use llvm_sys::linker::LLVMLinkModules2;
use llvm_sys::prelude::*;
use llvm_sys::{LLVMLinkage, LLVMTypeKind};

use super::mangling::name_in_libclc;
use super::prepare::run;
use super::{annotate, emit, gpu_assumptions, handles, plain};
use crate::error::{Error, Result};
use crate::kernel::builtins::demangle;
use crate::kernel::cache::{self, Key};
use crate::kernel::canonical;
use crate::kernel::ir::{self, Block, Function};

/// `runtime-cl/host.cl` as bitcode (see `build.rs`).
const HOST_BITCODE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/host.bc"));

/// The environment variable with the path of libclc's bitcode, if it is not in a distribution's location.
const LIBCLC_VARIABLE: &str = "KASSAY_LIBCLC";
const LIBCLC_PATHS: [&str; 3] =
    ["/usr/lib/clc/nvptx64--.bc", "/usr/share/clc/nvptx64--.bc", "/usr/local/share/clc/nvptx64--.bc"];

/// Assembled bitcode, by libclc's path and the builtins' names and types.
type BuiltinCache = HashMap<(PathBuf, Vec<(String, String)>), Arc<Vec<u8>>>;
static CACHE: LazyLock<Mutex<BuiltinCache>> = LazyLock::new(Mutex::default);

/// Adds the body of every called function that has none, except those for which `is_external` holds.
///
/// # Errors
/// `Environment` without libclc; `Internal` if neither library has a function of that name.
pub fn link(module: &Module<'_>, machine: &TargetMachine, is_external: impl Fn(&str) -> bool) -> Result<()> {
    let wanted: BTreeMap<String, LLVMTypeRef> =
        undefined(module).into_iter().filter(|(name, _)| !is_external(name)).collect();
    if wanted.is_empty() {
        return Ok(());
    }
    let path = libclc()?;
    // SAFETY: the types are alive.
    let spelled = |ty: &LLVMTypeRef| unsafe { ir::take_message(LLVMPrintTypeToString(*ty)) };
    let key = (path.clone(), wanted.iter().map(|(name, ty)| (name.clone(), spelled(ty))).collect::<Vec<_>>());
    let known = CACHE.lock().unwrap_or_else(PoisonError::into_inner).get(&key).cloned();
    let bitcode = match known {
        Some(bitcode) => bitcode,
        None => {
            let place = cache::is_open().then(|| {
                let key_of = Key::new("builtins").with(&emit::host());
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
    module.link_in_module(builtins).map_err(unreadable)
}

fn unreadable(e: impl std::fmt::Display) -> Error {
    Error::internal("the builtins cannot be linked").details(e.to_string())
}

/// Returns the functions that are used but have no body, with their types.
fn undefined(module: &Module<'_>) -> Vec<(String, LLVMTypeRef)> {
    let functions = ir::functions(module).into_iter().filter(|f| !f.has_body() && !f.name().starts_with("llvm."));
    // SAFETY: alive.
    let used = functions.filter(|f| unsafe { !LLVMGetFirstUse(f.0).is_null() });
    // SAFETY: alive.
    used.map(|f| (f.name(), unsafe { LLVMGlobalGetValueType(f.0) })).collect()
}

fn missing(what: String) -> Error {
    Error::environment(what).help(format!(
        "install Debian's package libclc-22, or name its file nvptx64--.bc in the variable {LIBCLC_VARIABLE}"
    ))
}

/// Returns the path of libclc's bitcode for NVPTX.
fn libclc() -> Result<PathBuf> {
    let path = match std::env::var_os(LIBCLC_VARIABLE) {
        Some(path) => PathBuf::from(path),
        None => LIBCLC_PATHS
            .map(PathBuf::from)
            .into_iter()
            .find(|path| path.is_file())
            .ok_or_else(|| missing("the simulator needs LLVM's libclc, which was not found".into()))?,
    };
    let is_bitcode = |path: &Path| {
        use std::io::Read;
        let mut head = [0; 4];
        std::fs::File::open(path)?.read_exact(&mut head)?;
        std::io::Result::Ok(&head == b"BC\xc0\xde")
    };
    match is_bitcode(&path) {
        Ok(true) => Ok(path),
        Ok(false) => Err(missing(format!("{} is no LLVM bitcode", path.display()))),
        Err(e) => Err(missing(format!("{} cannot be read: {e}", path.display()))),
    }
}

/// Identifies the installed libclc for cache keys.
pub(super) fn stamp() -> Vec<u8> {
    let Ok(path) = libclc() else { return Vec::new() };
    let mut stamp = path.as_os_str().as_encoded_bytes().to_vec();
    stamp.extend(cache::stamp(&path));
    stamp
}

/// A library from which only linked functions are read.
struct Library(LLVMModuleRef);

impl Library {
    /// # Safety
    /// The context must outlive the library.
    #[expect(deprecated, reason = "what replaces it tells the context of broken bitcode, which then ends the process")]
    unsafe fn open(context: LLVMContextRef, bitcode: &Source<'_>) -> Result<Library> {
        let mut message = std::ptr::null_mut();
        let mut buffer = std::ptr::null_mut();
        let mut library = std::ptr::null_mut();
        // SAFETY: the buffer is the module's own once it is read; messages are freed.
        unsafe {
            match bitcode {
                Source::Embedded => {
                    buffer = LLVMCreateMemoryBufferWithMemoryRange(
                        HOST_BITCODE.as_ptr().cast(),
                        HOST_BITCODE.len(),
                        c"host".as_ptr(),
                        0,
                    )
                }
                Source::File(path) => {
                    let name = CString::new(path.as_os_str().as_encoded_bytes()).unwrap_or_default();
                    if LLVMCreateMemoryBufferWithContentsOfFile(name.as_ptr(), &mut buffer, &mut message) != 0 {
                        let why = ir::take_message(message);
                        return Err(missing(format!("{} cannot be read: {why}", path.display())));
                    }
                }
            }
            if llvm_sys::bit_reader::LLVMGetBitcodeModuleInContext(context, buffer, &mut library, &mut message) != 0 {
                let why = ir::take_message(message);
                return Err(match bitcode {
                    Source::Embedded => unreadable(why),
                    Source::File(path) => missing(format!("{} cannot be read: {why}", path.display())),
                });
            }
            // So that linking takes only the functions that are needed.
            let mut next = LLVMGetFirstFunction(library);
            while !next.is_null() {
                if LLVMIsDeclaration(next) == 0 && LLVMGetLinkage(next) == LLVMLinkage::LLVMExternalLinkage {
                    LLVMSetLinkage(next, LLVMLinkage::LLVMLinkOnceODRLinkage);
                }
                next = LLVMGetNextFunction(next);
            }
            let mut next = LLVMGetFirstGlobal(library);
            while !next.is_null() {
                if LLVMIsDeclaration(next) == 0 && LLVMGetLinkage(next) == LLVMLinkage::LLVMExternalLinkage {
                    LLVMSetLinkage(next, LLVMLinkage::LLVMLinkOnceODRLinkage);
                }
                next = LLVMGetNextGlobal(next);
            }
        }
        Ok(Library(library))
    }

    fn defines(&self, name: &str) -> bool {
        let Ok(name) = CString::new(name) else { return false };
        // SAFETY: the library is alive.
        unsafe {
            let f = LLVMGetNamedFunction(self.0, name.as_ptr());
            !f.is_null() && LLVMIsDeclaration(f) == 0
        }
    }

    /// Links the functions that `into` declares.
    fn link(self, into: &Module<'_>, machine: &TargetMachine) -> Result<()> {
        // SAFETY: both are alive and of one context; the library is gone afterwards.
        unsafe {
            let triple = machine.get_triple();
            LLVMSetTarget(self.0, triple.as_str().as_ptr());
            LLVMSetDataLayout(self.0, machine.get_target_data().get_data_layout().as_str().as_ptr());
            let library = std::mem::ManuallyDrop::new(self);
            match LLVMLinkModules2(into.as_mut_ptr(), library.0) {
                0 => Ok(()),
                _ => Err(Error::internal("the builtins cannot be linked")),
            }
        }
    }
}

impl Drop for Library {
    fn drop(&mut self) {
        // SAFETY: it was not linked.
        unsafe { LLVMDisposeModule(self.0) };
    }
}

/// libclc, opened when first needed: reading its list of functions takes a third of the time from a short kernel
/// to its launch.
struct LazyLibclc<'a> {
    context: LLVMContextRef,
    path: &'a Path,
    open: Option<Library>,
}

impl LazyLibclc<'_> {
    fn get(&mut self) -> Result<&Library> {
        let library = match self.open.take() {
            Some(library) => library,
            // SAFETY: whoever made this promised that the context outlives it.
            None => unsafe { Library::open(self.context, &Source::File(self.path))? },
        };
        Ok(self.open.insert(library))
    }
}

enum Source<'a> {
    Embedded,
    File(&'a Path),
}

/// Assembles a module with the bodies of the wanted builtins, in each of which everything is inlined.
fn assemble<'c>(
    of: &Module<'c>,
    wanted: &BTreeMap<String, LLVMTypeRef>,
    path: &Path,
    machine: &TargetMachine,
    is_external: impl Fn(&str) -> bool,
) -> Result<Module<'c>> {
    let context = of.get_context();
    // SAFETY: alive.
    let raw = unsafe { LLVMGetModuleContext(of.as_mut_ptr()) };
    // SAFETY: the context is that of a living module and outlives both libraries.
    let (own, mut libclc) =
        unsafe { (Library::open(raw, &Source::Embedded)?, LazyLibclc { context: raw, path, open: None }) };
    let module = context.create_module("builtins");
    emit::retarget(&module, machine);
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
    own.link(&module, machine)?;
    // The functions that kassay's own ones call have no pointer parameters to memory other than private, so their names
    // are the same in both libraries.
    for (name, _) in undefined(&module) {
        if !is_external(&name) && !libclc.get()?.defines(&name) {
            return Err(unknown(of, &[&name]));
        }
    }
    if let Some(libclc) = libclc.open {
        libclc.link(&module, machine)?;
    }
    let module = handles::rewrite(module)?;
    for f in ir::functions(&module) {
        plain::strip_function(f);
    }
    for (name, ty) in wanted {
        if !adapt(&module, name, &names[name], *ty)? {
            return Err(unknown(of, &[name]));
        }
    }
    for f in ir::functions(&module).into_iter().filter(|f| f.has_body() && !wanted.contains_key(&f.name())) {
        canonical::add_attribute(f, "alwaysinline");
        // SAFETY: alive.
        unsafe { LLVMSetLinkage(f.0, LLVMLinkage::LLVMInternalLinkage) };
    }
    // SAFETY: alive; the list ends with null.
    unsafe {
        let mut next = LLVMGetFirstGlobal(module.as_mut_ptr());
        while !next.is_null() {
            LLVMSetLinkage(next, LLVMLinkage::LLVMInternalLinkage);
            next = LLVMGetNextGlobal(next);
        }
    }
    for name in wanted.keys() {
        if let Some(f) = ir::function(&module, name) {
            // SAFETY: alive. Else nothing would keep those that came with linkonce.
            unsafe { LLVMSetLinkage(f.0, LLVMLinkage::LLVMExternalLinkage) };
        }
    }
    run(&module, machine, "always-inline,globaldce")?;
    for name in wanted.keys() {
        if let Some(f) = ir::function(&module, name) {
            let base = demangle(name).map_or(name.as_str(), |(base, _)| base);
            gpu_assumptions::confine(&module, f);
            if !base.starts_with("convert_") {
                gpu_assumptions::saturate(&module, f);
            }
            annotate::builtin(&module, f, base);
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
    let calls = ir::functions(module).into_iter().flat_map(Function::blocks).flat_map(Block::instructions);
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
    for name in names {
        if ir::function(module, name).is_none() {
            // SAFETY: alive; the name is copied.
            unsafe {
                let context = LLVMGetModuleContext(module.as_mut_ptr());
                let ty = LLVMFunctionType(LLVMVoidTypeInContext(context), std::ptr::null_mut(), 0, 0);
                let name = CString::new(name.as_str()).unwrap_or_default();
                LLVMAddFunction(module.as_mut_ptr(), name.as_ptr(), ty);
            }
        }
    }
}

/// Makes the library's function available under the kernel's name and type, casting pointers between address spaces.
/// Returns `false` if there is no such function.
fn adapt(module: &Module<'_>, name: &str, body: &str, ty: LLVMTypeRef) -> Result<bool> {
    let Some(body) = ir::function(module, body).filter(|f| f.has_body()) else { return Ok(false) };
    let wrong = || Error::internal(format!("the builtin `{name}` is called with types that it does not have"));
    // SAFETY: everything is alive and of one context; parameters are counted before they are asked for.
    unsafe {
        let has = LLVMGlobalGetValueType(body.0);
        if has == ty && body.name() == name {
            return Ok(true);
        }
        if body.name() == name {
            let renamed = format!("{name}.body");
            LLVMSetValueName2(body.0, renamed.as_ptr().cast(), renamed.len());
        }
        let symbol = CString::new(name).unwrap_or_default();
        let adapter = LLVMAddFunction(module.as_mut_ptr(), symbol.as_ptr(), ty);
        let context = LLVMGetModuleContext(module.as_mut_ptr());
        let builder = LLVMCreateBuilderInContext(context);
        LLVMPositionBuilderAtEnd(builder, LLVMAppendBasicBlockInContext(context, adapter, c"".as_ptr()));
        let count = LLVMCountParams(adapter);
        let mut fits = count == LLVMCountParams(body.0);
        let mut arguments = Vec::new();
        for i in 0..count {
            if fits {
                let target = LLVMTypeOf(LLVMGetParam(body.0, i));
                let value = cast(builder, LLVMGetParam(adapter, i), target);
                fits &= value.is_some();
                arguments.extend(value);
            }
        }
        if fits {
            let value =
                LLVMBuildCall2(builder, has, body.0, arguments.as_mut_ptr(), arguments.len() as u32, c"".as_ptr());
            let result = LLVMGetReturnType(ty);
            if LLVMGetTypeKind(result) == LLVMTypeKind::LLVMVoidTypeKind {
                LLVMBuildRetVoid(builder);
            } else if let Some(value) = cast(builder, value, result) {
                LLVMBuildRet(builder, value);
            } else {
                fits = false;
            }
        }
        LLVMDisposeBuilder(builder);
        if fits { Ok(true) } else { Err(wrong()) }
    }
}

/// # Safety
/// All must be alive and of one context.
unsafe fn cast(builder: LLVMBuilderRef, value: LLVMValueRef, to: LLVMTypeRef) -> Option<LLVMValueRef> {
    // SAFETY: see above.
    unsafe {
        let from = LLVMTypeOf(value);
        if from == to {
            return Some(value);
        }
        let is_pointer = |ty| LLVMGetTypeKind(ty) == LLVMTypeKind::LLVMPointerTypeKind;
        (is_pointer(from) && is_pointer(to)).then(|| LLVMBuildAddrSpaceCast(builder, value, to, c"".as_ptr()))
    }
}
